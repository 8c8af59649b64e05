"""Premise, hypothesis → class: does it follow, is it contradicted, or neither?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from regard.attention.pool import MaxPool, MeanPool, Pool, StructuredPool
from regard.attention.score import SCORES
from regard.attention.soft import Attention
from regard.data.readers import Reading
from regard.decoders.choice import Chooser, Classifier
from regard.decoders.pairs import PairChoice
from regard.encoders.pairs import PairReader
from regard.encoders.pairs.alignment import SoftAlignment
from regard.encoders.pairs.sentences import GatedSentences
from regard.encoders.pairs.words import WordByWord
from regard.encoders.recurrent import TextEncoder
from regard.errors import UsageError
from regard.model import initialise
from regard.recipe import Recipe
from regard.tasks import choosing
from regard.tasks.checking import readers
from regard.tasks.choices import Codec
from regard.tasks.choosing import METRIC, answer, batch, codec, encode, loss, measure
from regard.tasks.parts import make_dropout, make_reader
from regard.unused import Unused, within

CODEC = Codec
SECTIONS = (*choosing.SECTIONS, "entail")
UNUSED: Unused = {
    **readers("entail", "score", also=("data.where_column",)),
    ("entail.reader", "alignment"): within("choose", "levels", "pool", "rows", "penalty"),
    ("entail.reader", "words"): within("choose", "levels", "pool", "rows", "penalty"),
    ("entail.reader", "sentences"): ("choose.levels", "choose.pool", "model.score"),
}
BESIDE = "hypothesis"


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    if recipe.data.features_column is None:
        raise UsageError("entail reads two texts: set data.features_column to the column of the hypothesis")
    return choosing.read(path, recipe, skip_bad_lines)


def build(codec: Codec, recipe: Recipe) -> Chooser:
    """One encoder reads both texts, and the reader that the recipe names puts them together.

    Dropout comes after that: before it, the same word would look different in the two texts.
    """
    encoder = make_reader(len(codec.source.vocabulary), replace(recipe.model, dropout=0.0))
    pair = READERS[recipe.entail.reader](encoder, recipe)
    classifier = Classifier(pair.size, recipe.choose.hidden, len(codec.labels), make_dropout(recipe.model))
    model = Chooser(PairChoice(pair, classifier), recipe.choose.penalty)
    initialise(model)
    return model


def _alignment(encoder: TextEncoder, recipe: Recipe) -> PairReader:
    size = recipe.choose.size
    score = SCORES[recipe.model.score](encoder.size, encoder.size, size)
    pools: list[Pool] = [MeanPool(size, 0, 0), MaxPool(size, 0, 0)]
    return SoftAlignment(encoder, score, pools, encoder.size, size, make_dropout(recipe.model))


def _words(encoder: TextEncoder, recipe: Recipe) -> PairReader:
    score = SCORES[recipe.model.score](2 * encoder.size, encoder.size, recipe.choose.size)
    return WordByWord(encoder, Attention(score, encoder.size), encoder.size)


def _sentences(encoder: TextEncoder, recipe: Recipe) -> PairReader:
    size = recipe.choose.size
    return GatedSentences(encoder, StructuredPool(encoder.size, size, recipe.choose.rows), encoder.size, size)


READERS: dict[str, Callable[[TextEncoder, Recipe], PairReader]] = {
    "alignment": _alignment,
    "words": _words,
    "sentences": _sentences,
}
