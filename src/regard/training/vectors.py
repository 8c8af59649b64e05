"""First weights out of a file: symbol tables that begin with pretrained word vectors, and perhaps stay as they began.

Only the first weights change, once, before training: a resumed run does not open the file again, a loaded one never.
"""

import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from regard.data.vectors import read_vectors
from regard.data.vocabulary import SPECIALS, Vocabulary
from regard.encoders.recurrent import Embed
from regard.errors import DataError, UsageError
from regard.recipe import Recipe
from regard.training.engine import Engine

logger = logging.getLogger("regard")


class Pretrained(NamedTuple):
    """One side's tables, all over the same vocabulary, and the file that they begin with."""

    side: str
    file: str
    vocabulary: Vocabulary
    weights: list[str]  # their names in the model


def pretrained_tables(model: nn.Module, codec: Any, recipe: Recipe) -> list[Pretrained]:
    """Which tables begin with vectors: all that encoders have for the source, the decoder's words for the target."""
    files = {"source": recipe.data.embeddings, "target": recipe.data.embeddings_target}
    if recipe.model.freeze and not any(files.values()):
        raise UsageError("model.freeze keeps word vectors as they are, but there are none: give --embeddings too")
    return [_tables(model, codec, side, file) for side, file in files.items() if file]


def begin_with_vectors(model: nn.Module, codec: Any, recipe: Recipe, engine: Engine, read: bool) -> None:
    """Give a new model its vectors, as the leader reads them, and mark what is frozen; without `read`, only that."""
    tables = pretrained_tables(model, codec, recipe)
    if tables and read:
        filled = {name: one for table in tables for name, one in _filled(model, table)} if engine.leads else {}
        for name, weight in engine.tensors_from_leader(filled).items():
            model.get_parameter(name).data.copy_(weight)
    for table in tables if recipe.model.freeze else ():
        for name in table.weights:
            model.get_parameter(name).requires_grad_(False)


def _tables(model: nn.Module, codec: Any, side: str, file: str) -> Pretrained:
    half = getattr(codec, side, None)
    if half is None and side == "source":
        half = getattr(codec, "question", None)  # of tasks that look at a picture, the text beside it
    vocabulary = getattr(half, "vocabulary", None)
    found = [name for name, table in _embeddings(model, side) if vocabulary and table.num_embeddings == len(vocabulary)]
    if vocabulary is None or not found:
        option = {"source": "data.embeddings", "target": "data.embeddings_target"}[side]
        raise UsageError(f"{option}={file}: this task has no table of the {side}'s symbols to begin with them")
    return Pretrained(side, file, vocabulary, [f"{name}.weight" for name in found])


def _embeddings(model: nn.Module, side: str) -> Iterator[tuple[str, nn.Embedding]]:
    for name, module in model.named_modules():
        if name.startswith("asides.") and ".back." in name:  # a model that goes the other way: its sides are not these
            continue
        if side == "source" and isinstance(module, Embed):
            yield f"{name}.table", module.table
        if side == "target" and isinstance(module, nn.Embedding) and name.rpartition(".")[2] == "words":
            yield name, module


def _filled(model: nn.Module, table: Pretrained) -> Iterator[tuple[str, Tensor]]:
    """The tables' first weights: vectors where the file has them, elsewhere what was drawn."""
    symbols = table.vocabulary.symbols[len(SPECIALS) :]
    vectors = read_vectors(table.file, symbols, model.get_parameter(table.weights[0]).size(1))
    if not vectors:
        raise DataError(
            f"{table.file} has none of the {table.side}'s {len(symbols):,} symbols: word vectors need "
            f"{table.side}.symbols=words or tokens, in the file's language"
        )
    share = f"{len(vectors):,} of {len(symbols):,} {table.side} symbols have vectors"
    logger.info("%s: %s (%.0f %%)", table.file, share, 100 * len(vectors) / len(symbols))
    numbers = table.vocabulary.encode(vectors)
    rows = torch.from_numpy(np.stack(list(vectors.values())))  # (M, E)
    for name in table.weights:
        weight = model.get_parameter(name).detach().clone()  # (N, E)
        weight[numbers] = rows
        yield name, weight
