"""Conversation → the next turn: `hi there ||| hello, how are you? ||| fine, and you?` → i am good."""

from collections.abc import Sequence

from regard.data.readers import Example, Reading
from regard.data.turns import split_turns
from regard.errors import UsageError
from regard.metrics import Measured, bleu, chrf, distinct
from regard.model import EncoderDecoder, initialise
from regard.recipe import Recipe
from regard.tasks import sequence
from regard.tasks.parts import make_decoder, make_turn_attention, make_turn_encoder
from regard.tasks.sequence import answer, batch, encode, force, loss
from regard.tasks.turns import TurnCodec
from regard.unused import Unused, within

METRIC = "bleu"  # the recipe's early stopping watches the loss: of all good answers, the reference is only one
CODEC = TurnCodec
SECTIONS = (*sequence.SECTIONS, "dialog")
UNUSED: Unused = {
    ("dialog.hierarchical", True): within(
        "model", "heads", "terms", "window", "ctc", "reverse", "copy", "fertility", "agreement", "supervision", "fusion"
    ),
    **sequence.UNUSED,
}


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    reading = sequence.read(path, recipe, skip_bad_lines)
    silent = "it has only empty turns: nothing was said"
    return reading.sound(lambda one: "" if split_turns(one.source) else silent, skip_bad_lines)


def codec(examples: Sequence[Example], recipe: Recipe) -> TurnCodec:
    data, copies = recipe.data, recipe.model.copy != "none"
    if data.features_column is not None:
        raise UsageError("a conversation is read alone: leave data.features_column out")
    sequence.check_links(examples, recipe.model)
    return TurnCodec.learn_turns(examples, recipe.source, recipe.target, data.lowercase, recipe.dialog.turns, copies)


def build(codec: TurnCodec, recipe: Recipe) -> EncoderDecoder:
    """Two levels, of words and of turns, in encoder and attention alike; or all as one sequence."""
    if not recipe.dialog.hierarchical:
        return sequence.build(codec, recipe)
    options = recipe.model
    encoder = make_turn_encoder(len(codec.source.vocabulary), codec.border, options)
    attention = None
    if options.attention == "soft":
        attention = make_turn_attention(options.hidden, encoder.word_size, encoder.size, options)
    model = EncoderDecoder(encoder, make_decoder(len(codec.target.vocabulary), encoder.size, options, attention))
    initialise(model)
    return model


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """BLEU and chrF to what was really answered;  distinct1, distinct2: how varied the answers are among themselves."""
    scored = {"bleu": bleu(outputs, references), "chrf": chrf(outputs, references)}
    words = [output.split() for output in outputs]
    varied = {f"distinct{count}": distinct(words, count) for count in (1, 2)}
    return Measured(
        {name: round(one.score, 10) for name, one in scored.items()} | varied,
        {name: one.signature for name, one in scored.items()},
    )
