"""A picture and a question → one of the answers that training has seen: both concatenated, or side by side with
a layer for the picture (Ren et al. 2015), or the question looks at it once or several times (Yang et al. 2016)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from regard.attention.pool import AttentionPool
from regard.data.readers import Example, Reading
from regard.data.vocabulary import UNKNOWN
from regard.decoders.asking import QuestionReader
from regard.decoders.choice import Chooser, Classifier
from regard.dropout import Dropout
from regard.encoders.asking import Beside, Concatenated, StackedAttention
from regard.errors import UsageError
from regard.model import initialise
from regard.recipe import MOST_HOPS, Recipe
from regard.tasks import choosing
from regard.tasks.checking import CLIPS, FITS, readers
from regard.tasks.choosing import METRIC, Choosing, answer, batch, loss, measure
from regard.tasks.looking import LookingCodec
from regard.tasks.optics import begin_trained, make_picture_encoder, make_picture_eye
from regard.tasks.parts import make_dropout, make_reader
from regard.tasks.seeing import read_seen, written
from regard.unused import Unused, within

SECTIONS = ("data", "source", "model", "training", "choose", "look")
BESIDE = "question"
CODEC = LookingCodec
UNUSED: Unused = {
    **readers("answer", also=("data.where_column", *within("choose", "levels", "pool", "rows", "penalty"), *CLIPS)),
    **FITS,
    ("look.hops", 0): ("look.names",),  # not look.sharpness: the recipe of looks has one, and may be told not to look
    **{("look.hops", hops): ("look.layer",) for hops in range(1, MOST_HOPS + 1)},
}


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    if recipe.data.features_column is None:
        raise UsageError("answer reads a question beside each picture: set data.features_column to its column")
    return written(read_seen(path, recipe, make_picture_eye(recipe.look), skip_bad_lines), recipe.data.lowercase)


def codec(examples: Sequence[Example], recipe: Recipe) -> LookingCodec:
    return LookingCodec.learn(examples, recipe, make_picture_eye(recipe.look), asks=True)


def encode(codec: LookingCodec, examples: Sequence[Example]) -> list[Choosing]:
    """With the words of all questions and answers about the same picture: they tell what is to be seen in it."""
    said: dict[str, set[int]] = defaultdict(set)
    for example in examples:
        said[example.path] |= set(codec.words(example.features) + codec.words(example.target)) - {UNKNOWN}
    encodings = choosing.encode(codec, examples)
    return [
        encoding._replace(said=tuple(sorted(said[example.path])))
        for encoding, example in zip(encodings, examples, strict=True)
    ]


def build(codec: LookingCodec, recipe: Recipe) -> Chooser:
    assert codec.question is not None
    options, hops = recipe.model, recipe.look.hops
    eye: Any = make_picture_encoder(recipe.look, options)
    words = make_reader(len(codec.question.vocabulary), options)
    sizes, dropout = (eye.size, words.size), Dropout(options.dropout, variational=True)  # a channel, at all places
    names = len(codec.question.vocabulary) if recipe.look.names > 0 else 0
    plain = Beside if recipe.look.layer else Concatenated
    asks: Concatenated | Beside | StackedAttention
    if hops:
        asks = StackedAttention(*sizes, recipe.choose.size, hops, dropout, names, recipe.look.sharpness)
    else:
        asks = plain(*sizes, dropout)
    classifier = Classifier(asks.size, recipe.choose.hidden, len(codec.labels), make_dropout(options))
    pool = AttentionPool(words.size, recipe.choose.size, 1) if recipe.look.words else None
    model = Chooser(QuestionReader(eye, words, asks, classifier, pool), naming=recipe.look.names)
    initialise(model)
    if isinstance(asks, StackedAttention):
        asks.begin()
    begin_trained(eye, recipe.look)
    return model
