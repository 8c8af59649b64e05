"""Text → class: a review → pos or neg. By two levels with attention on both (HAN), or as one sequence."""

from regard.attention.pool import POOLS
from regard.decoders.choice import Chooser, Classifier, FlatReader, LevelsReader
from regard.encoders.hierarchy import HierarchicalEncoder
from regard.errors import UsageError
from regard.model import initialise
from regard.recipe import Recipe
from regard.tasks.checking import readers
from regard.tasks.choosing import (
    METRIC,
    SECTIONS,
    Codec,
    answer,
    batch,
    codec,
    encode,
    loss,
    measure,
    read,
)
from regard.tasks.parts import make_dropout, make_layers, make_reader
from regard.unused import Unused, within

CODEC = Codec
UNUSED: Unused = {
    **readers("classify", also=("data.where_column",)),
    **{("choose.pool", pool): within("choose", "size", "rows", "penalty") for pool in ("last", "mean", "max")},
    ("choose.pool", "attention"): within("choose", "rows", "penalty"),
}


def build(codec: Codec, recipe: Recipe) -> Chooser:
    _check(recipe)
    options, choose = recipe.model, recipe.choose
    pool, given = POOLS[choose.pool], (choose.size, choose.rows)
    words = make_reader(len(codec.source.vocabulary), options)
    lower = pool(words.size, *given)
    if choose.levels == 1:
        reader: FlatReader | LevelsReader = FlatReader(words, lower, _classifier(lower.size, codec, recipe))
    else:
        sentences = make_layers(lower.size, options)
        encoder = HierarchicalEncoder(words, lower, sentences, codec.separator)
        upper = pool(sentences.size, *given)
        reader = LevelsReader(encoder, upper, _classifier(upper.size, codec, recipe))
    model = Chooser(reader, choose.penalty)
    initialise(model)
    return model


def _classifier(size: int, codec: Codec, recipe: Recipe) -> Classifier:
    return Classifier(size, recipe.choose.hidden, len(codec.labels), make_dropout(recipe.model))


def _check(recipe: Recipe) -> None:
    if recipe.data.features_column is not None:
        raise UsageError("classify reads one text: leave data.features_column out; for pairs there is --task entail")
    if recipe.choose.pool == "structured" and recipe.choose.levels == 2:
        raise UsageError("a structured pool reads a text as one sequence: set choose.levels=1")
