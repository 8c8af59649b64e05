"""Text → class: a review → pos or neg, by two levels with attention on both (HAN), or as one sequence. Or a picture's
class, or a clip's, by the same pools over what is seen."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from torch import nn

from regard.attention.pool import POOLS
from regard.data.readers import Example, Reading
from regard.decoders.choice import Chooser, Classifier, FlatReader, LevelsReader
from regard.encoders.hierarchy import HierarchicalEncoder
from regard.errors import UsageError
from regard.model import initialise
from regard.recipe import Look, Recipe
from regard.tasks import choosing
from regard.tasks.checking import ASKED, CLIPS, FITS, readers
from regard.tasks.choices import Codec
from regard.tasks.choosing import METRIC, answer, batch, encode, loss, measure
from regard.tasks.eyes import ClipEye, PictureEye
from regard.tasks.looking import LookingCodec
from regard.tasks.optics import (
    begin_trained,
    make_clip_encoder,
    make_clip_eye,
    make_picture_encoder,
    make_picture_eye,
)
from regard.tasks.parts import make_dropout, make_layers, make_reader
from regard.tasks.seeing import read_seen
from regard.unused import Unused, within

SECTIONS = (*choosing.SECTIONS, "look")
LOOK = within("look", *(one.name for one in fields(Look)))
UNUSED: Unused = {
    **readers("classify", also=("data.where_column", *ASKED)),
    **{("choose.pool", pool): within("choose", "size", "rows", "penalty") for pool in ("last", "mean", "max")},
    ("choose.pool", "attention"): within("choose", "rows", "penalty"),
    ("choose.of", "text"): LOOK,
    ("choose.of", "picture"): (*CLIPS, "choose.levels"),
    ("choose.of", "clip"): ("choose.levels",),
    **FITS,
    ("look.local", False): ("look.motions",),
    ("look.states", "none"): within("model", "cell", "hidden", "encoder_layers", "bidirectional", "residual"),
}


class CODEC:
    """Of texts one codec, of what is seen another: which it is stands in what was kept."""

    @staticmethod
    def from_json(content: Any) -> Codec | LookingCodec:
        sees = isinstance(content, dict) and "eye" in content
        return LookingCodec.from_json(content) if sees else Codec.from_json(content)


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    if recipe.data.features_column is not None:
        raise UsageError(
            "classify reads one source: leave data.features_column out; for pairs of texts there is --task entail, for "
            "questions about pictures --task answer"
        )
    if recipe.choose.of == "text":
        return choosing.read(path, recipe, skip_bad_lines)
    return read_seen(path, recipe, _eye(recipe), skip_bad_lines)


def codec(examples: Sequence[Example], recipe: Recipe) -> Codec | LookingCodec:
    if recipe.choose.of == "text":
        return choosing.codec(examples, recipe)
    return LookingCodec.learn(examples, recipe, _eye(recipe), asks=False)


def _eye(recipe: Recipe) -> PictureEye | ClipEye:
    return make_clip_eye(recipe.look) if recipe.choose.of == "clip" else make_picture_eye(recipe.look)


def build(codec: Codec | LookingCodec, recipe: Recipe) -> Chooser:
    if recipe.choose.pool == "structured" and recipe.choose.levels == 2:
        raise UsageError("a structured pool reads a text as one sequence: set choose.levels=1")
    reader = _looks(codec, recipe) if isinstance(codec, LookingCodec) else _reads(codec, recipe)
    model = Chooser(reader, recipe.choose.penalty)
    initialise(model)
    if isinstance(reader, FlatReader):
        begin_trained(reader.encoder, recipe.look)
    return model


def _reads(codec: Codec, recipe: Recipe) -> FlatReader | LevelsReader:
    options, choose = recipe.model, recipe.choose
    pool, given = POOLS[choose.pool], (choose.size, choose.rows)
    words = make_reader(len(codec.source.vocabulary), options)
    lower = pool(words.size, *given)
    if choose.levels == 1:
        return FlatReader(words, lower, _classifier(lower.size, codec, recipe))
    sentences = make_layers(lower.size, options)
    encoder = HierarchicalEncoder(words, lower, sentences, codec.separator)
    upper = pool(sentences.size, *given)
    return LevelsReader(encoder, upper, _classifier(upper.size, codec, recipe))


def _looks(codec: LookingCodec, recipe: Recipe) -> FlatReader:
    make = make_clip_encoder if recipe.choose.of == "clip" else make_picture_encoder
    encoder: nn.Module = make(recipe.look, recipe.model)
    size: Any = encoder.size
    pool = POOLS[recipe.choose.pool](size, recipe.choose.size, recipe.choose.rows)
    return FlatReader(encoder, pool, _classifier(pool.size, codec, recipe))


def _classifier(size: int, codec: Codec | LookingCodec, recipe: Recipe) -> Classifier:
    return Classifier(size, recipe.choose.hidden, len(codec.labels), make_dropout(recipe.model))
