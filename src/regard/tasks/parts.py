"""Options → parts of models, by plain constructor calls: what the tasks' `build` functions put together."""

from typing import TypeVar

from torch import nn

from regard.attention.bias import TERMS
from regard.attention.gate import GatedAttention
from regard.attention.hard import HardAttention
from regard.attention.hierarchical import HierarchicalAttention
from regard.attention.memory import Mechanism
from regard.attention.monotonic import MonotonicTransition
from regard.attention.multihead import MultiHead
from regard.attention.pool import LastPool
from regard.attention.score import SCORES
from regard.attention.soft import Attention, FixedContext, NoContext
from regard.attention.softmax import NORMALISERS
from regard.attention.window import LocalWindow
from regard.cells import CELLS
from regard.decoders.abs import ABSDecoder
from regard.decoders.conditional import ConditionalDecoder
from regard.decoders.copying import GATES, CopyingDecoder
from regard.decoders.doubly import DoublyStochastic
from regard.decoders.fertility import Fertility
from regard.decoders.hard import HardDecoder
from regard.decoders.localization import Localization
from regard.decoders.lstmn import DeepLSTMNDecoder, LSTMNDecoder
from regard.decoders.monotonic import MonotonicDecoder
from regard.decoders.output import OUTPUTS
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.start import STARTS
from regard.decoders.supervision import Supervision
from regard.dropout import Dropout
from regard.encoders.bag import Bag
from regard.encoders.hierarchy import HierarchicalEncoder
from regard.encoders.lstmn import LSTMNEncoder
from regard.encoders.recurrent import Embed, RecurrentEncoder, TextEncoder
from regard.errors import UsageError
from regard.recipe import Model


def make_dropout(options: Model) -> Dropout:
    return Dropout(options.dropout, options.variational)


def make_layers(input_size: int, options: Model) -> RecurrentEncoder | LSTMNEncoder:
    """Vectors → Encoded; its values have size model.hidden, whether one direction reads or two."""
    directions = 2 if options.bidirectional else 1
    if options.cell == "lstmn":
        return LSTMNEncoder(
            input_size,
            options.hidden // directions,
            options.compare,
            options.encoder_layers,
            options.bidirectional,
            dropout=make_dropout(options),
            carries=options.fusion == "deep",
        )
    return RecurrentEncoder(
        input_size,
        options.hidden // directions,
        options.cell,
        options.encoder_layers,
        options.bidirectional,
        options.residual,
        make_dropout(options),
    )


def make_reader(symbols: int, options: Model) -> TextEncoder:
    """Symbols → Encoded"""
    layers = make_layers(options.embed, options)
    return TextEncoder(Embed(symbols, options.embed), layers)


def make_encoder(symbols: int, options: Model) -> TextEncoder | Bag:
    """What a decoder with these options reads."""
    if options.attention == "abs":
        return Bag(Embed(symbols, options.compare), make_dropout(options))
    return make_reader(symbols, options)


def make_turn_encoder(symbols: int, border: int, options: Model) -> HierarchicalEncoder:
    """Symbols → Levels: words by one reader, turns by another of its kind over where each turn ended."""
    words = make_reader(symbols, options)
    pool = LastPool(words.size, options.compare, 1)
    return HierarchicalEncoder(words, pool, make_layers(pool.size, options), border)


def make_decoder(
    symbols: int, value_size: int, options: Model, attention: Mechanism | None = None
) -> RecurrentDecoder | ConditionalDecoder | HardDecoder | MonotonicDecoder | ABSDecoder | LSTMNDecoder:
    """With the attention that the options ask for, unless one is handed in."""
    if options.cell == "lstmn":
        return _make_lstmn(symbols, value_size, options, attention)
    if options.attention == "abs":
        sizes = (options.embed, options.hidden, value_size, options.order, options.window)
        return ABSDecoder(symbols, *sizes, NORMALISERS[options.normalise], make_dropout(options))
    if options.attention == "monotonic":
        return _make_monotonic(symbols, value_size, options)
    decoder = _make_recurrent(symbols, value_size, options, attention)
    if options.attention == "hard":
        return HardDecoder(decoder, options.reinforce, options.entropy, options.expected, options.samples)
    return decoder


def _make_recurrent(
    symbols: int, value_size: int, options: Model, attention: Mechanism | None
) -> RecurrentDecoder | ConditionalDecoder:
    size, layers, cell = options.hidden, options.decoder_layers, options.cell
    start = STARTS[options.start](value_size, size, layers, CELLS[cell].parts)
    attention = attention or make_attention(size, value_size, options)
    output = OUTPUTS[options.output](size, attention.size, options.embed, options.readout, symbols)
    parts = (symbols, options.embed, size, attention, output, start, cell)
    if options.query == "between":
        return _tied(ConditionalDecoder(*parts, make_dropout(options)), options)
    how = (options.query, options.input_feeding, options.residual)
    return _tied(RecurrentDecoder(*parts, layers, *how, make_dropout(options)), options)


def _make_monotonic(symbols: int, value_size: int, options: Model) -> MonotonicDecoder:
    size, layers, cell = options.hidden, options.decoder_layers, options.cell
    start = STARTS[options.start](value_size, size, layers, CELLS[cell].parts)
    transition = MonotonicTransition(SCORES[options.score](size, value_size, options.compare), options.jump)
    output = OUTPUTS[options.output](size, value_size, options.embed, options.readout, symbols)
    parts = (symbols, options.embed, size, transition, output, start, cell, layers)
    return _tied(MonotonicDecoder(*parts, make_dropout(options)), options)


def make_copying(writer: RecurrentDecoder, options: Model) -> CopyingDecoder:
    """The same decoder, which may also copy what its attention looks at."""
    gate = GATES[options.copy](options.hidden, writer.attention.size, options.embed)
    return CopyingDecoder(writer, gate)


def make_turn_attention(query_size: int, word_size: int, turn_size: int, options: Model) -> HierarchicalAttention:
    """One score for the words within each turn, and another of its kind for the turns."""
    words = SCORES[options.score](query_size, word_size, options.compare)
    turns = SCORES[options.score](query_size, turn_size + word_size, options.compare)
    return HierarchicalAttention(words, turns, word_size, NORMALISERS[options.normalise])


def _make_lstmn(symbols: int, value_size: int, options: Model, attention: Mechanism | None) -> LSTMNDecoder:
    size, layers, dropout = options.hidden, options.decoder_layers, make_dropout(options)
    start = STARTS[options.start](value_size, size, layers, 2)
    deep = options.fusion == "deep"
    attention = NoContext() if deep else attention or make_attention(size, value_size, options)
    output = OUTPUTS[options.output](size, attention.size, options.embed, options.readout, symbols)
    sizes = (symbols, options.embed, size, options.compare)
    decoder = (
        DeepLSTMNDecoder(*sizes, value_size, attention, output, start, layers, dropout)
        if deep
        else LSTMNDecoder(*sizes, attention, output, start, layers, options.query, dropout)
    )
    return _tied(decoder, options)


def make_attention(
    query_size: int, value_size: int, options: Model
) -> Attention | MultiHead | GatedAttention | HardAttention | FixedContext | NoContext:
    if options.attention == "none":
        return NoContext()
    if options.attention == "fixed":
        return FixedContext(value_size)
    looks = _make_looks(query_size, value_size, options)
    return GatedAttention(looks, query_size) if options.gate else looks


def _make_looks(query_size: int, value_size: int, options: Model) -> Attention | MultiHead | HardAttention:
    if options.attention == "hard":
        return HardAttention(_head(query_size, value_size, options))
    if options.heads == 1:
        return _head(query_size, value_size, options)
    if value_size % options.heads:
        raise UsageError(
            f"model.heads={options.heads} does not divide the encoder's values of size {value_size}: choose another"
        )
    part = value_size // options.heads
    return MultiHead([_head(query_size, part, options) for _ in range(options.heads)], value_size)


def _head(query_size: int, value_size: int, options: Model) -> Attention:
    score = SCORES[options.score](query_size, value_size, options.compare)
    terms = [TERMS[name](score.key_size, options.term_width) for name in options.terms]
    window = LocalWindow(query_size, options.compare, options.window) if options.window else None
    return Attention(score, value_size, NORMALISERS[options.normalise], terms, window)


def make_asides(value_size: int, attends: bool, options: Model) -> list[nn.Module]:
    """Losses on where a decoder looks, which it must do for them."""
    asked = {name: getattr(options, name) for name in ("doubly", "localization", "fertility", "supervision")}
    asked |= {"agreement": options.agreement is not None}  # 0 is both directions without a bonus
    for name, wanted in asked.items():
        if wanted and not attends:
            raise UsageError(f"model.{name} needs weights, but model.attention={options.attention} has none: use soft")
    made: list[nn.Module] = []
    if options.doubly:
        made.append(DoublyStochastic(options.doubly))
    if options.localization:
        made.append(Localization(options.localization, options.localization_kind))
    if options.fertility:
        made.append(Fertility(value_size, options.compare, options.fertility))
    if options.supervision:
        made.append(Supervision(options.supervision, options.supervision_kind))
    return made


W = TypeVar("W", bound=RecurrentDecoder | ConditionalDecoder | MonotonicDecoder | LSTMNDecoder)


def _tied(decoder: W, options: Model) -> W:
    """With model.tie, one matrix embeds and predicts symbols."""
    output, words = decoder.output.O, decoder.words
    if options.tie:
        if output.weight.shape != words.weight.shape:
            raise UsageError(_untied(output, options))
        output.weight = words.weight
    return decoder


def _untied(output: nn.Linear, options: Model) -> str:
    """Why one matrix cannot do both; only some outputs have a readout that can be made larger or smaller."""
    if options.output in ("attentional", "maxout"):
        return (
            f"model.embed={options.embed} and model.readout={options.readout} must be alike with model.tie: "
            f"--set model.readout={options.embed}, or --set model.tie=false"
        )
    return (
        f"model.output={options.output} predicts from {output.in_features} numbers, embeddings have {options.embed}, "
        "which does not go with model.tie: set model.output=attentional, deep or maxout, or model.tie=false"
    )
