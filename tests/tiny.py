"""Small models with random weights, built as a task builds them, and sources to ask them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batching import Padded
from regard.data.readers import Example
from regard.decoders.step import Decoded
from regard.model import EncoderDecoder
from regard.recipe import Model, Recipe, Side
from regard.tasks.codec import Codec
from regard.tasks.sequence import build

EXAMPLES = [  # 7 sources of 7 lengths, not in order
    Example("cab", "uvw"),
    Example("fedcbaf", "y"),
    Example("e", "wwxyu"),
    Example("badefc", "xu"),
    Example("ff", "vyxwvux"),
    Example("decaf", "wxvu"),
    Example("abba", "yyuxwv"),
]
CODEC = Codec.learn(EXAMPLES, Side(), Side(), features=False, lowercase=False)
N = len(CODEC.target.vocabulary)  # 4 special symbols and u … y
SIZES = {"embed": 5, "hidden": 6, "readout": 7, "compare": 11, "term_width": 3, "jump": 2, "dropout": 0.0}

ATTENTIONS: dict[str, dict[str, Any]] = {
    **{score: {"score": score} for score in ("dot", "scaled", "projected", "bilinear", "additive", "mlp")},
    "sparsemax": {"normalise": "sparsemax", "score": "bilinear"},
    "entmax15": {"normalise": "entmax15"},
    "heads": {"heads": 2},
    "window": {"window": 2},
    "location": {"terms": ("location",)},
    "coverage": {"terms": ("coverage",)},
    "biases": {"terms": ("position", "markov", "fertility")},
    "everything": {"terms": ("location", "coverage"), "heads": 2, "window": 2, "normalise": "entmax15"},
    "monotonic": {"attention": "monotonic"},
    "fixed": {"attention": "fixed"},
    "none": {"attention": "none"},
}


def model(seed: int = 0, codec: Codec = CODEC, std: float = 1.0, **options: Any) -> EncoderDecoder:
    """In fp64, and no number is zero or one by initialisation: not a bias, not the vector of the padding."""
    torch.manual_seed(seed)
    made = build(codec, Recipe(model=Model(**{**SIZES, **options}))).double().eval()
    for weight in made.parameters():
        nn.init.normal_(weight, std=std)
    return made


def padded(*sequences: list[int], width: int = 0, filler: int = 0) -> Padded:
    """A rectangle of at least this width with this symbol beyond the ends."""
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    data = torch.full((len(sequences), max(int(lengths.max()), width)), filler)
    for row, sequence in enumerate(sequences):
        data[row, : len(sequence)] = torch.tensor(sequence)
    return Padded(data, lengths)


def unroll(decoder: Any, tokens: Tensor, state: Any, memory: Any) -> Decoded:
    """What `forward` gives, by `step` alone."""
    logits, weights = [], []
    for token in tokens.unbind(1):
        step = decoder.step(token, state, memory)
        state = step.state
        logits.append(step.logits)
        weights.append(step.weights)
    return Decoded(torch.stack(logits, 1), torch.stack(weights, 1))


def tensors(tree: Any) -> list[Tensor]:
    """The leaves of nested tuples, where some may be None."""
    return [tree] if isinstance(tree, Tensor) else [leaf for branch in tree or () for leaf in tensors(branch)]


def arrays(module: nn.Module) -> Iterator[NDArray[np.float64]]:
    """The module's own parameters, in their order."""
    return (weight.detach().numpy() for weight in module.parameters())


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))


def softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(x) / np.exp(x).sum()
