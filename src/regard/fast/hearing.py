"""An encoder's first layer as one node of the graph, from symbols to values, each way a single call of whole.c:

    x_j = drop(E[symbol_j]),   h_j = LSTM(x_j, h_{j∓1}) in one or both directions,   values_j = drop(h_j)

The reference is encoders/recurrent.py: Embed, Dropout, a layer, Dropout.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.fast.bounds import are_rows
from regard.fast.dropping import Draws
from regard.fast.kernels import COUNT, POINTER, loaded
from regard.fast.packed import loops_inside, team
from regard.fast.products import fits, spaced
from regard.fast.scratch import cut, parts, run
from regard.fast.switch import wanted

NUMBERS = ("threads", "team", "rows", "places", "embed", "size", "directions", "apart")
PAIR = POINTER * 2  # of directions
WEIGHTS = ("drive", "recurrence", "bias", "past_bias")  # of a direction, in torch's order
INTO = ("into_drive", "into_recurrence", "into_bias")


class _Heard(ctypes.Structure):
    """`heard` in whole.c"""

    _fields_ = (
        *((name, COUNT) for name in NUMBERS),
        *((name, Draws) for name in ("word_noise", "value_noise")),
        *((name, POINTER) for name in ("tokens", "lengths", "table")),
        *((name, PAIR) for name in WEIGHTS),
        *((name, POINTER) for name in ("turns", "inputs", "gates", "kept", "values", "last")),
        *((name, POINTER) for name in ("into_values", "into_last", "into_table")),
        *((name, PAIR) for name in INTO),
        ("symbols", COUNT),
    )


def begins_here(table: nn.Embedding, tokens: Tensor) -> bool:
    """Whether whole.c can begin with such a table, for so many sequences (B, S)."""
    weight, bare = table.weight, table.max_norm is None and not table.sparse and not table.scale_grad_by_freq
    plain = type(table) is nn.Embedding and table.padding_idx == 0 and bare
    begins = plain and wanted(weight) and fits(weight) and loops_inside(len(tokens))
    return begins and are_rows(tokens, len(weight))


def hear(
    tokens: Tensor, lengths: Tensor, table: nn.Embedding, loop: nn.LSTM, words: Draws, values: Draws
) -> tuple[Tensor, Tensor]:
    """tokens (B, S), lengths (B,) -> values (B, S, D·H), zero on padding, and last states (B, D·H)"""
    weights = [one for direction in loop.all_weights for one in direction]
    heard: tuple[Tensor, Tensor] = _Hear.apply(tokens, lengths, words, values, table.weight, *weights)
    return heard


def _point(heard: _Heard, given: Sequence[Tensor]) -> None:
    """Where all lies that both ways read: hooks on saved tensors, checkpoints among them, may have moved it."""
    assert all(one.is_contiguous() for one in given)
    tokens, lengths, turns, table, *weights = given
    heard.tokens, heard.lengths, heard.turns = tokens.data_ptr(), lengths.data_ptr(), turns.data_ptr()
    heard.table = table.data_ptr()
    for kind, name in enumerate(WEIGHTS):
        setattr(heard, name, PAIR(*(one.data_ptr() for one in weights[kind :: len(WEIGHTS)])))


class _Hear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, tokens: Tensor, lengths: Tensor, words: Draws, values: Draws, table: Tensor, *weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        (rows, places), embed, size = tokens.shape, table.size(1), weights[1].size(1)
        directions, tokens, lengths = len(weights) // len(WEIGHTS), tokens.contiguous(), lengths.contiguous()
        turns, apart = lengths.new_empty(places + 1 + 2 * rows), spaced(directions * 4 * size)
        made, last = table.new_empty(rows, places, directions * size), table.new_empty(rows, directions * size)
        heard = _Heard(torch.get_num_threads(), team(rows), rows, places, embed, size, directions, apart, words, values)
        heard.symbols, heard.values, heard.last = len(table), made.data_ptr(), last.data_ptr()
        given = (tokens, lengths, turns, table, *weights)
        _point(heard, given)
        real = loaded().hear_turns(ctypes.byref(heard))
        if real < 0:
            raise ValueError(f"lengths are {lengths.tolist()}; expected 0 to {places}, the places of the longest")
        counts = (real * embed, real * apart, directions * 3 * real * size)
        tape, (heard.inputs, heard.gates, heard.kept) = cut(table, *counts)
        run(loaded().hear, loaded().hear_size, heard)
        ctx.heard, ctx.counts = heard, counts
        ctx.save_for_backward(tape, *given)
        return made, last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_values: Tensor, into_last: Tensor) -> tuple[Tensor | None, ...]:
        tape, *given = ctx.saved_tensors  # which also sees to it that none has changed
        _, _, _, table, drive, recurrence, bias = given[:7]
        heard, into_values, into_last = ctx.heard, into_values.contiguous(), into_last.contiguous()
        _point(heard, given)
        heard.inputs, heard.gates, heard.kept = parts(tape, *ctx.counts)
        heard.into_values, heard.into_last = into_values.data_ptr(), into_last.data_ptr()
        into_table, slopes = torch.empty_like(table), []
        heard.into_table = into_table.data_ptr()
        for direction in range(heard.directions):
            made = [torch.empty_like(one) for one in (drive, recurrence, bias)]
            for name, one in zip(INTO, made, strict=True):
                getattr(heard, name)[direction] = one.data_ptr()
            slopes += [*made, made[-1]]
        run(loaded().hear_back, loaded().hear_back_size, heard)
        return None, None, None, None, into_table, *slopes
