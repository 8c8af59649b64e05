"""What the tasks share that look at a picture or a clip and write what they see.

A source is the path of a file, as seen from the table that names it, or a `data:` URL that somebody sent. Everything
behind the encoder is what tasks/sequence.py has for texts.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from torch import nn

from regard.data.encoding import Encoding
from regard.data.examining import examine
from regard.data.readers import Columns, Example, Reading, read_pairs
from regard.data.rows import STDIN, split_path
from regard.data.text import normalise
from regard.data.vocabulary import BEGIN, END
from regard.errors import DataError, UsageError
from regard.model import EncoderDecoder, initialise
from regard.prediction import Prediction
from regard.recipe import Recipe
from regard.tasks.codec import Given, Half
from regard.tasks.eyes import ClipEye, Eye, PictureEye, Sight, eye_from_json
from regard.tasks.optics import begin_trained, make_clip_encoder, make_clip_eye, make_picture_encoder, make_picture_eye
from regard.tasks.sequence import assemble

SECTIONS = ("data", "target", "model", "training", "search", "look")


@dataclass(frozen=True)
class SeeingCodec:
    """How sources are seen, and the symbols of what is written about them."""

    target: Half
    eye: PictureEye | ClipEye
    lowers: bool  # whether targets are lower-cased

    features = False
    copies = False
    lowercase = False  # whoever reads a path for this codec leaves its capitals alone
    opens_files = True

    @cached_property
    def source(self) -> Half:
        raise UsageError("a picture has no symbols: this is for runs that read texts")

    def clean(self, source: str) -> str:
        return source.strip()

    def source_symbols(self, example: Example) -> list[str]:
        """The names of its places: of cells row:column, of frames their numbers."""
        return self.given(example).symbols

    def given(self, example: Example) -> Given:
        sight = self.eye.open(example.path)
        return Given(sight.names, sight)

    def unknown(self, symbols: Sequence[str]) -> list[str]:
        return []

    def foreign(self, source: Sequence[str]) -> list[str]:
        return []

    def target_symbols(self, text: str | Sequence[str]) -> list[str]:
        if not isinstance(text, str):
            return list(text)
        return self.target.segmenter.split(normalise(text, self.lowers))

    def target_numbers(self, target: Sequence[str], source: Sequence[str]) -> list[int]:
        return self.target.vocabulary.encode(target)

    def shown(self, example: Example, prediction: Prediction) -> Prediction:
        return replace(prediction, sight=self.eye.open(example.path))

    def encode(self, example: Example) -> Encoding:
        numbers = self.target_numbers(self.target_symbols(example.target), ())
        return Encoding(self.eye.open(example.path), [BEGIN, *numbers, END])

    def turned(self) -> "SeeingCodec":
        raise UsageError("model.agreement writes sources back from targets, which pictures cannot be: leave it out")

    def to_json(self) -> dict[str, Any]:
        return {"target": self.target.to_json(), "eye": self.eye.to_json(), "lowercase": self.lowers}

    @classmethod
    def from_json(cls, content: Any) -> "SeeingCodec":
        if not isinstance(content, dict) or set(content) != {"target", "eye", "lowercase"}:
            raise DataError("expected target, eye and lowercase")
        if not isinstance(content["lowercase"], bool):
            raise DataError(f"lowercase is {content['lowercase']!r:.40}; expected true or false")
        return cls(Half.from_json(content["target"]), eye_from_json(content["eye"]), content["lowercase"])


CODEC = SeeingCodec


def read_seen(path: str | Sequence[str], recipe: Recipe, eye: Eye, skip_bad_lines: bool) -> Reading:
    """Rows whose file can be used; the others are bad lines. Targets stay as they are.

    Headers only are read, unless bad files are to be skipped: one that is damaged further on would otherwise be met in
    the midst of training."""
    data = recipe.data
    columns = Columns(data.source_column, data.target_column, data.features_column, names_files=True)
    reading = read_pairs(path, columns, skip_bad_lines=skip_bad_lines)
    folder = table_folder(path)
    reading = reading._replace(examples=[replace(one, folder=folder) for one in reading.examples])
    opening = partial(_decoded, eye) if skip_bad_lines else eye.open
    wrong = examine([one.path for one in reading.examples], opening).wrong
    return reading.sound(lambda one: wrong.get(one.path, ""), skip_bad_lines)


def _decoded(eye: Eye, source: str) -> Sight:
    sight = eye.open(source)
    sight.decode()
    return sight


def table_folder(path: str | Sequence[str]) -> str:
    first = split_path(path)[0]
    return "" if first == STDIN else os.path.dirname(first)


def _read(path: str | Sequence[str], recipe: Recipe, eye: Eye, skip_bad_lines: bool) -> Reading:
    """With targets as they are to be written."""
    return written(read_seen(path, recipe, eye, skip_bad_lines), recipe.data.lowercase)


def written(reading: Reading, lowercase: bool) -> Reading:
    """With targets as a run writes them."""
    examples = [replace(one, target=normalise(one.target, lowercase)) for one in reading.examples]
    return reading._replace(examples=examples)


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    return _read(path, recipe, make_picture_eye(recipe.look), skip_bad_lines)


def codec(examples: Sequence[Example], recipe: Recipe) -> SeeingCodec:
    return learn(examples, recipe, make_picture_eye(recipe.look))


def build(codec: SeeingCodec, recipe: Recipe) -> EncoderDecoder:
    return put_together(make_picture_encoder(recipe.look, recipe.model), codec, recipe)


def read_clips(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    return _read(path, recipe, make_clip_eye(recipe.look), skip_bad_lines)


def clip_codec(examples: Sequence[Example], recipe: Recipe) -> SeeingCodec:
    return learn(examples, recipe, make_clip_eye(recipe.look))


def build_for_clips(codec: SeeingCodec, recipe: Recipe) -> EncoderDecoder:
    return put_together(make_clip_encoder(recipe.look, recipe.model), codec, recipe)


def learn(examples: Sequence[Example], recipe: Recipe, eye: PictureEye | ClipEye) -> SeeingCodec:
    texts = [normalise(one.target, recipe.data.lowercase) for one in examples]
    return SeeingCodec(Half.learn(texts, [], recipe.target), eye, recipe.data.lowercase)


def put_together(encoder: nn.Module, codec: SeeingCodec, recipe: Recipe) -> EncoderDecoder:
    if recipe.model.copy != "none" or recipe.model.agreement is not None:
        raise UsageError("a picture holds no symbols: leave model.copy and model.agreement out")
    size: Any = encoder.size
    model = assemble(encoder, size, len(codec.target.vocabulary), recipe.model)
    initialise(model)
    begin_trained(encoder, recipe.look)
    return model


def encode(codec: SeeingCodec, examples: Sequence[Example]) -> list[Encoding]:
    """Each file is opened once, however many rows name it."""
    seen = examine([example.path for example in examples], codec.eye.open)
    if seen.wrong:
        raise DataError(next(iter(seen.wrong.values())))
    numbers = [codec.target_numbers(codec.target_symbols(example.target), ()) for example in examples]
    return [
        Encoding(seen.found[example.path], [BEGIN, *one, END]) for example, one in zip(examples, numbers, strict=True)
    ]
