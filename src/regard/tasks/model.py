"""Text, a line at a time: p(y) = Π_t p(y_t | y_<t), the recurrent language model (Mikolov et al. 2010).

It reads no source. What is given to be answered is the beginning of a text, and the answer is the whole of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from regard.data.encoding import Encoding
from regard.data.readers import Columns, Example, Reading, read_pairs
from regard.data.rows import HUB, split_path
from regard.data.vocabulary import BEGIN, END, UNKNOWN
from regard.decoders.decoder import Decoder
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.sentinel import SentinelDecoder
from regard.encoders.nothing import Nothing
from regard.errors import DataError, UsageError
from regard.metrics import Measured
from regard.model import EncoderDecoder, initialise
from regard.prediction import Prediction
from regard.recipe import Recipe, Side
from regard.tasks import sequence
from regard.tasks.checking import WRITERS
from regard.tasks.codec import Codec, Half
from regard.tasks.parts import make_decoder
from regard.tasks.request import Read, Request
from regard.tasks.sequence import batch, encode, loss
from regard.unused import Unused, within

METRIC = "loss"  # there is no right answer to compare with
SECTIONS = (*sequence.SECTIONS, "sentinel")
ANSWERS_NOTHING = True  # an empty text is a beginning too
UNUSED: Unused = {
    **WRITERS,
    ("task", "model"): within(  # what reads a source, or learns where to look in it
        "model", "encoder_layers", "bidirectional", "fertility", "agreement", "supervision"
    ),
    ("model.cell", "lstmn"): (*WRITERS["model.cell", "lstmn"], "sentinel.window"),
    ("sentinel.window", 0): ("sentinel.supervised",),
}


@dataclass(frozen=True)
class TextCodec(Codec):
    """One vocabulary; the beginning of a text is cut as all of it is, and nothing is a source to be encoded."""

    def encode(self, example: Example) -> Encoding:
        return Encoding([], [BEGIN, *self.target.vocabulary.encode(self.target_symbols(example.target)), END])

    def to_json(self) -> dict[str, Any]:
        return {"text": self.target.to_json(), "lowercase": self.lowercase}

    @classmethod
    def from_json(cls, content: Any) -> "TextCodec":
        if not isinstance(content, dict) or set(content) != {"text", "lowercase"}:
            raise DataError("expected text and lowercase")
        if not isinstance(content["lowercase"], bool):
            raise DataError(f"lowercase is {content['lowercase']!r:.40}; expected true or false")
        half = Half.from_json(content["text"])
        return cls(half, half, False, content["lowercase"])


CODEC = TextCodec


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    """A text a line, or the column data.source_column of a table; of JSON lines and hub data sets, the key "text"."""
    parts, data = split_path(path), recipe.data
    if len(parts) > 1:
        raise UsageError(f"a language model reads one text, but two files came: {' and '.join(parts)}")
    if data.features_column is not None or data.where_column is not None or data.target_column != 2:
        raise UsageError("a language model reads one column: data.source_column, and no target, features or where")
    column = source_column(parts[0], recipe)
    return read_pairs(path, Columns(column, column), lowercase=data.lowercase, skip_bad_lines=skip_bad_lines)


def source_column(path: str, recipe: Recipe) -> int | str:
    column = recipe.data.source_column
    keyed = path.startswith(HUB) or Path(path.lower().removesuffix(".gz")).suffix == ".jsonl"
    return "text" if keyed and isinstance(column, int) else column


def codec(examples: Sequence[Example], recipe: Recipe) -> TextCodec:
    if replace(recipe.source, subwords=Side().subwords) != Side():
        raise UsageError("a language model has one vocabulary: set target.symbols and target.least, not source.…")
    half = Half.learn([example.target for example in examples], [], recipe.target)
    return TextCodec(half, half, False, recipe.data.lowercase)


def build(codec: TextCodec, recipe: Recipe) -> EncoderDecoder:
    options = recipe.model
    if options.attention != "none" or options.start not in ("zero", "learned") or options.ctc or options.reverse:
        raise UsageError(
            "a language model has no source: it needs model.attention=none, model.start=learned (or zero) and no "
            "model.ctc or model.reverse, as --recipe model has them"
        )
    decoder: Decoder = make_decoder(len(codec.target.vocabulary), Nothing.size, options)
    if recipe.sentinel.window > 0:
        decoder = SentinelDecoder(cast(RecurrentDecoder, decoder), recipe.sentinel.window, recipe.sentinel.supervised)
    model = EncoderDecoder(Nothing(), decoder)
    initialise(model)
    return model


def answer(
    models: Sequence[EncoderDecoder],
    codec: TextCodec,
    examples: Sequence[Example],
    request: Request,
    numbers: Sequence[int],
) -> list[Prediction]:
    """Each beginning with a continuation; log p and score are of the whole text."""
    given = [codec.target_symbols(request.prefix) + codec.source_symbols(example) for example in examples]
    starts = [codec.target.vocabulary.encode(symbols) for symbols in given]
    found = sequence.answer(models, codec, examples, request, numbers, starts)
    return [_shown(codec, one, symbols) for one, symbols in zip(found, given, strict=True)]


def force(
    models: Sequence[EncoderDecoder],
    codec: TextCodec,
    examples: Sequence[Example],
    targets: Sequence[Sequence[str]],
    length_penalty: float,
) -> list[Read]:
    """Given texts; the target is the whole text, whatever the source says."""
    found = sequence.force(models, codec, examples, targets, length_penalty)
    pairs = zip(found, targets, strict=True)
    return [one._replace(prediction=_shown(codec, one.prediction, target)) for one, target in pairs]


def _shown(codec: TextCodec, one: Prediction, given: Sequence[str]) -> Prediction:
    """With the symbols it was given, also those it does not know, and its look back as the attention there is."""
    tokens = [*given, *one.output_tokens[len(given) :]]
    shown = replace(
        one,
        output=codec.target.segmenter.join(tokens),
        output_tokens=tokens,
        nbest=[_shown(codec, other, given) for other in one.nbest],
    )
    if not one.looks:
        return shown
    columns = [one.looks[0].columns[0], *tokens][: len(tokens)] if tokens else []
    return replace(shown, attention=one.looks[0].weights, source_tokens=columns, looks=())


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """Nothing of answers: `regard evaluate` tells how likely the texts are."""
    return Measured({}, {})


def per_unit(codec: TextCodec, examples: Sequence[Example], perplexity: float) -> dict[str, float]:
    """The same log p of all texts, shared by others than symbols.

    word_perplexity: exp(−log p / words), bits_per_character: −log_2 p / characters; `words` stand between spaces.
    The end of a line counts as one symbol, one word and one character. unknown: percent of symbols read as unknown,
    which are easier to predict than the words they stand for.
    """
    sequences = [codec.encode(example).target[1:] for example in examples]
    symbols = sum(map(len, sequences))
    cost = math.log(perplexity) * symbols  # −log p of all
    words = sum(len(example.target.split()) + 1 for example in examples)
    characters = sum(len(example.target) + 1 for example in examples)
    unknown = sum(one.count(UNKNOWN) for one in sequences)
    return {
        "word_perplexity": math.exp(cost / words),
        "words": words,
        "bits_per_character": cost / math.log(2) / characters,
        "unknown": 100 * unknown / symbols,
    }
