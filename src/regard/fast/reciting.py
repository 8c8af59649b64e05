"""A decoder that reads before it moves (Bahdanau et al. 2015) as one node of the graph, each way one call of whole.c:

    x_t = drop(E[y_{t-1}]),  c_t = attend(s_{t-1}),  s_t = LSTM(s_{t-1}, [x_t; c_t]),  h̃_t = drop(tanh(W_c [c_t; s_t]))

The reference is decoders/recurrent.py, step by step.
"""

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.attend import OutOfReach
from regard.fast.dropping import Draws
from regard.fast.energy import REACH
from regard.fast.kernels import COUNT, POINTER, loaded
from regard.fast.packed import team
from regard.fast.products import spaced
from regard.fast.scratch import cut, parts, run


class Weights(NamedTuple):
    table: Tensor  # (N, E)
    key: Tensor  # (A, V)
    key_bias: Tensor  # (A,)
    query: Tensor  # (A, H)
    v: Tensor  # (1, A)
    drive: Tensor  # (G, E)
    bias: Tensor  # (G,)
    past_bias: Tensor  # (G,)
    context_drive: Tensor  # (G, V)
    recurrence: Tensor  # (G, H)
    mix: Tensor  # (R, V + H)
    mix_bias: Tensor  # (R,)


SIZES = ("rows", "places", "steps", "embed", "size", "width", "hidden", "read", "apart", "token_stride", "symbols")
GIVEN = ("tokens", "values", "mask", "first")
TAPE = ("words", "powers", "gates", "raised", "seen", "carries", "squashed", "mixed")
LEARNT = tuple(name for name in Weights._fields if name != "past_bias")  # whose gradient is that of the other bias


class _Recited(ctypes.Structure):
    """`recited` in whole.c"""

    _fields_ = (
        *((name, COUNT) for name in ("threads", "team", *SIZES)),
        *((name, Draws) for name in ("word_noise", "readout_noise")),
        *((name, POINTER) for name in (*GIVEN, *Weights._fields)),
        *((name, POINTER) for name in (*TAPE, "weights", "readouts", "into_readouts", "into_weights")),
        *((name, POINTER) for name in ("into_values", "into_first")),
        *((f"into_{name}", POINTER) for name in LEARNT),
    )


class Recited(NamedTuple):
    """All steps, time first."""

    readouts: Tensor  # (T, B, R)
    weights: Tensor  # (T, B, S)


def recite(
    tokens: Tensor,
    values: Tensor,
    mask: Tensor,
    first: Tensor,
    weights: Weights,
    words: Draws,
    readouts: Draws,
) -> Recited | None:
    """y_0 … y_{T-1} (B, T), h_j (B, S, V), [s_0; c_0] (B, 2 H); None where a key or query is out of the exponentials'
    reach"""
    try:
        return Recited(*_Recite.apply(tokens, mask, words, readouts, values, first, *weights))
    except OutOfReach:
        return None


def _point(recited: _Recited, tape: Tensor, counts: Sequence[int], alphas: Tensor, given: Sequence[Tensor]) -> None:
    """Where all lies that both ways read: hooks on saved tensors, checkpoints among them, may have moved it."""
    for name, place in zip(TAPE, parts(tape, *counts), strict=True):
        setattr(recited, name, place)
    recited.token_stride = given[0].stride(0)
    for name, one in zip(("weights", *GIVEN, *Weights._fields), (alphas, *given), strict=True):
        assert one.is_contiguous() or name == "tokens"
        setattr(recited, name, one.data_ptr())


class _Recite(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        tokens: Tensor,
        mask: Tensor,
        words: Draws,
        readouts: Draws,
        values: Tensor,
        first: Tensor,
        *others: Tensor,
    ) -> tuple[Tensor, Tensor]:
        weights = Weights(*others)
        (rows, steps), (_, places, width), hidden = tokens.shape, values.shape, first.size(1) // 2
        (symbols, embed), size, read = weights.table.shape, len(weights.key), len(weights.mix)
        apart, tokens = spaced(4 * hidden), tokens if tokens.stride(1) == 1 else tokens.contiguous()
        values, mask, first = (one.contiguous() for one in (values, mask, first))
        sizes = (rows, places, steps, embed, size, width, hidden, read, apart, tokens.stride(0), symbols)
        recited = _Recited(torch.get_num_threads(), team(rows), *sizes, words, readouts)
        given = (tokens, values, mask, first, *weights)
        made, alphas = values.new_empty(steps, rows, read), values.new_empty(steps, rows, places)
        recited.readouts = made.data_ptr()
        all_steps, all_states = steps * rows, (steps + 1) * rows
        ahead = (all_steps * embed, rows * places * size, all_steps * apart, all_steps * size)  # words … raised
        after = (all_states * (width + hidden), all_states * hidden, all_steps * hidden, all_steps * read)
        counts = (*ahead, *after)
        tape, _ = cut(values, *counts)
        _point(recited, tape, counts, alphas, given)
        if run(loaded().recite, loaded().recite_size, recited) > REACH:
            raise OutOfReach
        ctx.recited, ctx.counts = recited, counts
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(tape, alphas, *given)
        return made, alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_readouts: Tensor | None, into_alphas: Tensor | None) -> Any:
        tape, alphas, *given = ctx.saved_tensors  # which also sees that none has changed
        (_, values, _, first, *others), recited = given, ctx.recited
        weights = Weights(*others)
        _point(recited, tape, ctx.counts, alphas, given)
        if into_readouts is None:
            into_readouts = values.new_zeros(*alphas.shape[:2], len(weights.mix))
        into_readouts = into_readouts.contiguous()
        into_alphas = None if into_alphas is None else into_alphas.contiguous()
        recited.into_readouts = into_readouts.data_ptr()
        recited.into_weights = None if into_alphas is None else into_alphas.data_ptr()
        into_source = [torch.empty_like(one) for one in (values, first)]
        learnt = {name: torch.empty_like(getattr(weights, name)) for name in LEARNT}
        for name, one in zip(("values", "first", *LEARNT), (*into_source, *learnt.values()), strict=True):
            setattr(recited, f"into_{name}", one.data_ptr())
        run(loaded().recite_back, loaded().recite_back_size, recited)
        slopes = Weights(**learnt, past_bias=learnt["bias"])
        return None, None, None, None, *into_source, *slopes
