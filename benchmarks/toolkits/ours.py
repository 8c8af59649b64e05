"""regard: `regard.train` with evaluation and saving left to the end, `run.predict` with attention in every answer."""

from pathlib import Path
from unittest.mock import patch

import regard
from regard.training.loop import Trainer
from toolkits.clock import Clock
from toolkits.part import Answer, Job, main
from toolkits.sizes import CLIP, DROPOUT, RATE, Size


def train(job: Job, clock: Clock) -> None:
    class Timed(Trainer):
        """Starts with the first update; stops after the last, before the evaluation."""

        def run(self) -> None:
            clock.start()
            super().run()

        def _close_epoch(self) -> None:
            clock.stop()
            super()._close_epoch()

    learn(Timed, job.size, f"{job.pairs}.tsv", job.data / "dev.tsv", job.model, job.batch, job.epochs)


def learn(trainer: type[Trainer], size: Size, pairs: str, dev: Path, out: Path, batch: int, epochs: int) -> None:
    """`regard.train` by this trainer, with the sizes that all toolkits have."""
    options = {
        "source.symbols": "tokens",
        "target.symbols": "tokens",
        "model.embed": size.embed,
        "model.hidden": size.hidden,
        "model.compare": size.hidden,
        "model.readout": size.hidden,
        "model.encoder_layers": size.layers,
        "model.decoder_layers": size.layers,
        "model.tie": False,
        "model.ctc": 0.0,
        "model.reverse": 0.0,
        "model.dropout": DROPOUT,
        "training.batch_size": batch,
        "training.batch_tokens": 1_000_000,
        "training.learning_rate": RATE,
        "training.schedule": "constant",
        "training.warmup": 0,
        "training.clip": CLIP,
        "training.smoothing": 0.0,
        "training.average": "none",
        "training.evaluate_every": epochs,
        "training.save_seconds": 1_000_000,
    }
    with patch("regard.training.Trainer", trainer):
        regard.train(pairs, task=size.task, dev=dev, out=out, epochs=epochs, device="cpu", set=options, progress=False)


def load(job: Job) -> Answer:
    run = regard.load(job.model, device="cpu")

    def answer(lines: list[str]) -> list[str]:
        return [one.output for one in run.predict(lines, beam=job.beam)]

    return answer


def weights(model: Path) -> int:
    return (model / "model.safetensors").stat().st_size


if __name__ == "__main__":
    main(train, load, weights)
