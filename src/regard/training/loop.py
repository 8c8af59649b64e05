"""The one training loop, for every task, on one process or many, resumable at every update."""

import logging
import math
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard import __version__
from regard.card import model_card
from regard.data.batching import EpochPlan, mix
from regard.errors import RegardError, UsageError
from regard.files import write_text
from regard.folder import Folder, read_tensors
from regard.run import Run
from regard.training.ahead import ahead
from regard.training.checkpoint import Progress, load_state, part, random_state, save_state, set_random_state
from regard.training.engine import Engine
from regard.training.evaluation import Evaluation, Evaluator
from regard.training.keeping import Keeper
from regard.training.learner import Learner
from regard.training.precision import arithmetic
from regard.training.prepare import Job
from regard.training.progress import Bar, Board, Log, describe_epoch, summary_writer
from regard.training.schedule import learning_rate
from regard.training.signals import Stopped, StopRequest
from regard.training.vectors import begin_with_vectors

logger = logging.getLogger("regard")


class Share(NamedTuple):
    """What one process learns from of a batch."""

    batch: Any  # tensors, as the task makes them
    counts: bool  # False: there are fewer pairs than processes; it takes part, but counts for nothing


class Trainer:
    """Epochs of updates, an evaluation after each, the best weights kept."""

    def __init__(self, job: Job, folder: Folder, engine: Engine, shown: bool, resume: bool = False):
        if not engine.agree(f"{job.fingerprint} {job.recipe}"):
            raise UsageError("the processes do not have the same pairs and options: give all of them the same command")
        self.job, self.folder, self.engine = job, folder, engine
        self.options = job.recipe.training
        if self.options.tensorboard:
            summary_writer()  # that it is missing should be known before anything is begun
        self.shown = shown and engine.leads
        most, tokens = self.options.batch_size * engine.world, self.options.batch_tokens * engine.world
        self.plan = EpochPlan(job.encodings, tokens, most, self.options.seed)
        self.symbols = [one.counted for one in job.encodings]  # that each pair counts for
        self.evaluator = Evaluator(job, engine.device)
        self.keeper = Keeper(folder, job.recipe, engine.leads)
        torch.manual_seed(mix(self.options.seed))  # the same first weights in every process
        model = job.task.build(job.codec, job.recipe)
        goes_on = resume and engine.from_leader([float(folder.training.exists())]) == [1.0]
        begin_with_vectors(model, job.codec, job.recipe, engine, read=not goes_on)
        self.learner = Learner(model, self.options, engine)
        torch.manual_seed(mix(self.options.seed, engine.rank, 1))  # from here each process draws its own dropout
        self.progress = Progress(job.fingerprint)
        if goes_on:
            self._resume()

    def _resume(self) -> None:
        """Go back to where the folder says that training stood; nothing is written."""
        progress, tensors = load_state(self.folder, self.engine)
        if progress.fingerprint != self.job.fingerprint:
            raise UsageError(
                f"--resume: the pairs (training or dev) are not those that {self.folder.path} was begun with; "
                "use the same files, or another --out"
            )
        self.learner.restore(tensors)
        states, mine = part(tensors, "random"), random_state(self.engine.device)
        if len(states) == self.engine.world and states[str(self.engine.rank)].shape == mine.shape:
            set_random_state(states[str(self.engine.rank)], self.engine.device)
        elif self.engine.leads:
            logger.warning("begun with other processes or on another device: the result will differ from theirs")
        self.progress = progress

    def run(self) -> None:
        if self.progress.done and self._over():
            if self.progress.epoch < self.options.epochs and self.engine.leads:
                logger.warning(
                    "it stopped early after epoch %d: a larger training.patience goes on", self.progress.epoch
                )
            return
        self.progress.done = False
        self.board: Board | None = None
        if self.engine.leads:
            self.log = Log(self.folder.log, self.progress.log_size)
            if self.options.tensorboard:
                self.board = Board(self.folder.path / "tensorboard", self.progress.update)
        groups = self._groups(self.progress.epoch)
        self.bar = Bar(len(groups) * self.options.epochs, self.progress.update, self.shown)
        self.saved = self.clock = time.monotonic()
        try:
            with StopRequest() as stop:
                while not self._over():
                    self._epoch(groups, stop)
                    groups = [] if self._over() else self._groups(self.progress.epoch)
            self._finish()
        finally:
            self.bar.close()
            if self.board:
                self.board.close()

    def result(self) -> Run:
        """The best weights, also for processes on machines without the folder."""
        weights = read_tensors(self.folder.weights)[0] if self.engine.leads else {}
        self.evaluator.load(self.engine.tensors_from_leader(weights))
        return Run(self.folder.path, self.job.recipe, self.job.codec, [self.evaluator.model])

    def _over(self) -> bool:
        given_up = 0 < self.options.patience <= self.progress.worse
        return self.progress.epoch >= self.options.epochs or given_up

    def _groups(self, epoch: int) -> list[list[list[int]]]:
        """The batches of each update of an epoch."""
        batches, size = self.plan.batches(epoch), self.options.accumulate
        return [batches[begin : begin + size] for begin in range(0, len(batches), size)]

    def _epoch(self, groups: list[list[list[int]]], stop: StopRequest) -> None:
        self.learner.model.train()
        left = [numbers for group in groups[self.progress.batch :] for numbers in group]
        with closing(self._made(left)) as batches:
            while self.progress.batch < len(groups):
                fraction = (self.progress.epoch + self.progress.batch / len(groups)) / self.options.epochs
                self._update(groups[self.progress.batch], batches, fraction)
                self._pause(stop)
        self._close_epoch()

    def _made(self, left: list[list[int]]) -> Generator[Share, None, None]:
        """Batches as tensors: where files must be read for them, while the one before is still learnt from."""
        return ahead(self._batch, left) if self.job.codec.opens_files else (self._batch(one) for one in left)

    def _batch(self, numbers: list[int]) -> Share:
        mine = numbers[self.engine.rank :: self.engine.world]
        return Share(self.job.task.batch(self.job.encodings, mine or numbers[:1]), bool(mine))

    def _update(self, group: list[list[int]], batches: Iterator[Share], fraction: float) -> None:
        """One step of the optimiser on the mean loss per symbol over all batches of the group and all processes."""
        progress, engine, model = self.progress, self.engine, self.learner.model
        symbols = sum(self.symbols[number] for numbers in group for number in numbers)
        nll = 0.0
        for number in range(len(group)):
            with engine.keep_gradients_local(model) if number < len(group) - 1 else nullcontext():
                nll += self._backward(next(batches), symbols, fraction)
        length, (nll,) = self.learner.length(), engine.total([nll])
        if not (math.isfinite(length) and math.isfinite(nll)):
            raise self._not_finite(group)
        progress.rate = learning_rate(self.options, progress.update, fraction, progress.falls)
        self.learner.step(progress.rate, progress.update, length)
        progress.batch, progress.update = progress.batch + 1, progress.update + 1
        progress.nll, progress.symbols = progress.nll + nll, progress.symbols + symbols
        self.bar.update(progress.epoch + 1, nll / symbols, symbols)

    def _backward(self, share: Share, symbols: int, fraction: float) -> float:
        """Gradients of this process's share of a batch; its part of −Σ log p."""
        engine, options = self.engine, self.options
        weight = 1.0 if share.counts else 0.0
        batch = share.batch.to(engine.device)
        with arithmetic(options.precision, engine.device):
            loss = self.job.task.loss(self.learner.model, batch, options.smoothing, options.own_words * fraction)
        (loss.total * (weight * engine.world / symbols)).backward()  # processes' gradients are averaged, not summed
        return weight * float(loss.nll)

    def _not_finite(self, group: list[list[int]]) -> RegardError:
        places = [self.job.train[number].place for numbers in group for number in numbers]
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        return RegardError(
            f"the loss is not a number any more at update {self.progress.update + 1}, in the batch of {shown}: nothing "
            "was saved after it; lower training.learning_rate or training.clip, and --resume from the last good state"
        )

    def _pause(self, stop: StopRequest) -> None:
        """After an update: save when it is time, stop when somebody's process was asked to."""
        due = self.engine.leads and time.monotonic() - self.saved > self.options.save_seconds
        asked, save = self.engine.total([float(stop.signal), float(due)])
        if asked or save:
            self._save()
        if asked:
            raise Stopped(stop.signal or signal.SIGTERM)

    def _close_epoch(self) -> None:
        progress = self.progress
        loss = progress.nll / max(progress.symbols, 1)
        progress.epoch, progress.batch, progress.nll, progress.symbols = progress.epoch + 1, 0, 0.0, 0
        event: dict[str, object] = {"event": "epoch", "epoch": progress.epoch, "update": progress.update}
        event |= {"loss": round(loss, 6), "learning_rate": progress.rate}
        event |= {"symbols_per_second": round(self.bar.rate), "seconds": round(self._seconds(), 1)}
        scalars = {"train/loss": loss}
        if progress.epoch % self.options.evaluate_every == 0 or progress.epoch == self.options.epochs:
            weights = self.learner.candidate()
            evaluation = self._evaluate(weights)
            better = self.keeper.judge(progress, evaluation, weights)
            event |= {"dev_loss": round(evaluation.loss, 6), "dev": evaluation.metrics, "best": better}
            scalars |= {"dev/loss": evaluation.loss, **evaluation.metrics}
        if self.board:
            self.board.write(scalars, self.evaluator.example() if "dev" in event else None, progress.update)
        if self.engine.leads:
            self.log.write(event)
            self.bar.say(describe_epoch(event))
        self._save()

    def _evaluate(self, weights: dict[str, Tensor]) -> Evaluation:
        """Every process evaluates the same weights; the leader's numbers count, so that all decide alike."""
        mine = self.evaluator(weights)
        names = sorted(mine.metrics)
        loss, score, *values = self.engine.from_leader([mine.loss, mine.score, *(mine.metrics[name] for name in names)])
        return Evaluation(loss, score, dict(zip(names, values, strict=True)))

    def _finish(self) -> None:
        if self.options.average == "checkpoints" and len(self.progress.kept) > 1:
            weights = self.engine.tensors_from_leader(self.keeper.mean(self.progress) if self.engine.leads else {})
            self.keeper.offer(self.progress, self._evaluate(weights), weights)
        self.progress.done = True
        if self.engine.leads:
            card = model_card(self.job.recipe, self.progress.best_metrics, self._facts())
            write_text(self.folder.path / "README.md", card)
        self._save()

    def _facts(self) -> dict[str, object]:
        return {
            "training pairs": len(self.job.train),
            "dev pairs": len(self.job.dev),
            "epochs": self.progress.epoch,
            "best epoch": self.progress.best_epoch,
            "minutes": round(self._seconds() / 60, 1),
            "seed": self.options.seed,
            "regard": __version__,
            "torch": torch.__version__,
        }

    def _seconds(self) -> float:
        now = time.monotonic()
        self.progress.seconds, self.clock = self.progress.seconds + now - self.clock, now
        return self.progress.seconds

    def _save(self) -> None:
        self._seconds()
        tensors = self.learner.tensors()
        random = self.engine.gather(random_state(self.engine.device))
        if self.engine.leads:
            self.progress.log_size = self.log.size
            save_state(self.folder, self.progress, tensors, random)
            self.keeper.tidy(self.progress)
        self.saved = time.monotonic()
