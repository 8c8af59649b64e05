"""How good weights are on the dev pairs: loss by teacher forcing, the task's metrics by greedy answers."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import RegardError
from regard.likelihood import loss_per_symbol
from regard.metrics import LOWER_IS_BETTER
from regard.run import Run
from regard.training.prepare import Job


class Evaluation(NamedTuple):
    loss: float  # −log p per symbol
    score: float  # what early stopping watches, lower is better
    metrics: dict[str, float]


class Evaluator:
    """Holds a model of its own, so that sharded or averaged weights are evaluated like any others."""

    def __init__(self, job: Job, device: torch.device):
        self.job = job
        self.device = device
        wanted = job.recipe.training.metric
        self.watched = job.task.METRIC if wanted == "auto" else wanted
        self.model = job.task.build(job.codec, job.recipe).to(device).eval()
        self.run = Run(Path(), job.recipe, job.codec, [self.model])
        self.greedy = {"beam": 1} if self.run.writes else {}

    def load(self, weights: dict[str, Tensor]) -> None:
        self.model.load_state_dict(weights, strict=False)  # tied weights stand there once

    def __call__(self, weights: dict[str, Tensor]) -> Evaluation:
        self.load(weights)
        loss = self._loss()
        if not math.isfinite(loss):
            raise RegardError(
                "the dev loss is not a number any more: these weights were not kept; lower training.learning_rate or "
                "training.clip, and --resume from the last good state"
            )
        if self.watched == "loss":
            return Evaluation(loss, loss, {"loss": loss})
        metrics = self.run.evaluate(self.job.dev, batch_size=256, **self.greedy).metrics
        score = metrics[self.watched]
        return Evaluation(loss, score if self.watched in LOWER_IS_BETTER else -score, metrics)

    def example(self) -> NDArray[Any] | None:
        """Where the weights evaluated last look in the first dev pair, for the eye."""
        return self.run.answer(self.job.dev[:1], **self.greedy)[0].attention

    def _loss(self) -> float:
        tokens = self.job.recipe.training.batch_tokens
        return loss_per_symbol(self.job.task, self.model, self.job.dev_encodings, self.device, tokens)
