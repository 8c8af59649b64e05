"""The uniform ablation: what the model loses if every step reads the mean of the values."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from regard.analysis.audit.altered import altered, uniform
from regard.answering import BATCH_TOKENS
from regard.data.readers import Example
from regard.fast.switch import plain
from regard.likelihood import loss_per_symbol
from regard.model import EncoderDecoder
from regard.run import Run


class Quality(NamedTuple):
    loss: float  # −log p per symbol of the given targets, END counted
    metrics: dict[str, float]  # of the model's own answers, in percent


class Ablation(NamedTuple):
    as_it_is: Quality
    uniform: Quality

    @property
    def rise(self) -> float:
        """Nats per symbol that the loss rises by"""
        return self.uniform.loss - self.as_it_is.loss


@torch.no_grad()
def ablate(run: Run, model: EncoderDecoder, examples: Sequence[Example]) -> Ablation:
    """Both on the pairs of the file: the weights of all steps are 1/S, and answers are searched for anew."""
    changed = Run(run.path, run.recipe, run.codec, [model])
    with plain():
        before = _quality(changed, examples)
    with altered(model, uniform):
        return Ablation(before, _quality(changed, examples))


def _quality(run: Run, examples: Sequence[Example]) -> Quality:
    encodings = run.task.encode(run.codec, examples)
    loss = loss_per_symbol(run.task, run.models[0], encodings, run.device, BATCH_TOKENS)
    return Quality(loss, run.evaluate(examples).metrics)
