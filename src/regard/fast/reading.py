"""The loop of a decoder that reads before it moves (Bahdanau et al. 2015), as one node of the graph:

    c_t = attend(s_{t-1}),  s_t = LSTM(s_{t-1}, [E(y_{t-1}); c_t])            additive score, softmax; L layers

Forward and backward pass are written out over buffers, like recurrence.py; attention by kernels.c in one pass. Where
there is one layer, reading_inside.py has all of it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.attend import OutOfReach
from regard.fast.energy import REACH, Grown
from regard.fast.kernels import address, loaded
from regard.fast.packed import Steps, loops_inside
from regard.fast.reading_inside import ReadInside, Weights
from regard.fast.recurrence import LSTMTape


class Read(NamedTuple):
    """All steps, time first."""

    seen: Tensor  # (T, B, V + H)  c_t beside s_t of the top layer
    weights: Tensor  # (T, B, S)


class Upper(NamedTuple):
    """A layer above the first."""

    drive: Tensor  # (G, H)
    bias: Tensor  # (G,)    both of its biases
    noise: Tensor | None  # (T, B, H)  dropout on what it reads


def read_all(
    words: Tensor,
    values: Tensor,
    grown: Grown,
    mask: Tensor,
    drive: tuple[Tensor, Tensor],
    query: Tensor,
    v: Tensor,
    context_drive: Tensor,
    first: list[tuple[Tensor, Tensor]],
    recurrences: list[Tensor],
    uppers: list[Upper],
) -> Read | None:
    """E(y_{t-1}) (T, B, E), the first layer's W (G, E) and all its biases (G,), W_q (A, H), v (A,), C (G, V), each
    layer's first state and carry (B, H), and U (G, H). None where a query is out of the exponentials' reach."""
    layers = len(recurrences)
    source = (grown.keys, *(one.contiguous() for one in (values, grown.power, mask)))
    try:
        if layers == 1 and loops_inside(words.size(1)):
            weights = Weights(*drive, query, v, context_drive, recurrences[0])
            return Read(*ReadInside.apply(words, *first[0], *source, *weights))
        drives = torch.addmm(drive[1], words.flatten(0, 1), drive[0].t()).view(*words.shape[:2], -1)  # (T, B, G)
        flat = [part for pair in first for part in pair] + recurrences + [one.drive for one in uppers]
        flat += [one.bias for one in uppers]
        noise = [one.noise for one in uppers]
        states, contexts, weights = _ReadAll.apply(layers, noise, drives, *source, query, v, context_drive, *flat)
    except OutOfReach:
        return None
    return Read(torch.cat([contexts, states], -1), weights)


class _Loop(NamedTuple):
    """What every step reads, and where it keeps what the backward pass needs of it."""

    values: Tensor  # (B, S, V)
    power: Tensor  # (B, S, A)
    mask: Tensor  # (B, S)
    query: Tensor  # (A, H)
    v: Tensor  # (A,)
    context_drive: Tensor  # (G, V)
    recurrences: Sequence[Tensor]  # L × (G, H)
    upper_drives: Sequence[Tensor]  # (L − 1) × (G, H)
    noise: Sequence[Tensor | None]  # of what these read
    raised: Tensor  # (T, B, A)  e^{2q}
    weights: Tensor  # (T, B, S)
    contexts: Tensor  # (T, B, V)
    tapes: Sequence[LSTMTape]  # one a layer

    @property
    def sizes(self) -> tuple[int, ...]:
        """B, S, A, V"""
        return (*self.power.shape, self.values.size(-1))


class _Slopes(NamedTuple):
    """The gradients that a loop backwards fills in or adds up."""

    gates: list[Tensor]  # L × (T, B, G)
    queries: Tensor  # (T, B, A)
    keys: Tensor  # (B, S, A)
    values: Tensor  # (B, S, V)
    v: Tensor  # (A,)
    pasts: list[Tensor]  # L × (B, H)  what the step after says about s_t; in the end, of s_0
    carries: list[Tensor]  # the same of c_t

    @classmethod
    def blank(cls, loop: _Loop) -> "_Slopes":
        keys, values, v = (torch.zeros_like(one) for one in (loop.power, loop.values, loop.v))
        pasts, carries = ([torch.zeros_like(tape.states[0]) for tape in loop.tapes] for _ in range(2))
        gates = [torch.empty_like(tape.gates) for tape in loop.tapes]
        return cls(gates, torch.empty_like(loop.raised), keys, values, v, pasts, carries)


class _ReadAll(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        layers: int,
        noise: list[Tensor | None],
        drives: Tensor,
        keys: Tensor,
        values: Tensor,
        power: Tensor,
        mask: Tensor,
        query: Tensor,
        v: Tensor,
        context_drive: Tensor,
        *flat: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        first, recurrences = flat[: 2 * layers], flat[2 * layers : 3 * layers]
        upper_drives, biases = flat[3 * layers : 4 * layers - 1], flat[4 * layers - 1 :]
        (steps, rows, _), (_, places, size), width = drives.shape, power.shape, values.size(-1)
        raised, weights, contexts = (drives.new_empty(steps, rows, wide) for wide in (size, places, width))
        tapes = [LSTMTape.begin(steps, *first[2 * layer : 2 * layer + 2]) for layer in range(layers)]
        source = (values, power, mask, query, v, context_drive)
        loop = _Loop(*source, recurrences, upper_drives, noise, raised, weights, contexts, tapes)
        _run_by_steps(loop, drives, biases)
        ctx.layers, ctx.noise = layers, noise
        ctx.set_materialize_grads(False)
        taped = [one for tape in tapes for one in tape.tensors]
        ctx.save_for_backward(*source, raised, weights, contexts, *recurrences, *upper_drives, *taped)
        return tapes[-1].states[1:], contexts, weights

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, into_states: Tensor | None, into_contexts: Tensor | None, into_weights: Tensor | None
    ) -> Any:
        layers = ctx.layers
        values, power, mask, query, v, context_drive, raised, weights, contexts, *others = ctx.saved_tensors
        recurrences, upper_drives, taped = others[:layers], others[layers : 2 * layers - 1], others[2 * layers - 1 :]
        tapes = [LSTMTape(*taped[4 * layer : 4 * layer + 4]) for layer in range(layers)]
        source = (values, power, mask, query, v, context_drive)
        loop = _Loop(*source, recurrences, upper_drives, ctx.noise, raised, weights, contexts, tapes)
        slopes, given = _Slopes.blank(loop), (into_states, into_contexts, into_weights)
        _back_by_steps(loop, slopes, *(None if one is None else one.contiguous() for one in given))
        flat_gates = [one.flatten(0, 1) for one in slopes.gates]  # (T·B, G)
        before = [tape.states[:-1].flatten(0, 1) for tape in tapes]  # (T·B, H)
        into_query = slopes.queries.flatten(0, 1).t() @ before[-1]
        into_context_drive = flat_gates[0].t() @ contexts.flatten(0, 1)
        into_recurrences = [one.t() @ past for one, past in zip(flat_gates, before, strict=True)]
        read = [_noisy(tape.states[1:], one) for tape, one in zip(tapes[:-1], loop.noise, strict=True)]  # (T, B, H)
        into_drives = [one.t() @ below.flatten(0, 1) for one, below in zip(flat_gates[1:], read, strict=True)]
        into_biases = [one.sum(0) for one in flat_gates[1:]]
        into_first = [one for pair in zip(slopes.pasts, slopes.carries, strict=True) for one in pair]
        fixed = (slopes.gates[0], slopes.keys, slopes.values, None, None, into_query, slopes.v, into_context_drive)
        return None, None, *fixed, *into_first, *into_recurrences, *into_drives, *into_biases


def _run_by_steps(loop: _Loop, drives: Tensor, biases: Sequence[Tensor]) -> None:
    tapes, kernels = loop.tapes, loaded()
    query, context_drive = Steps(loop.query), Steps(loop.context_drive)
    recurrences, upper_drives = ([Steps(one) for one in some] for some in (loop.recurrences, loop.upper_drives))
    compared, driven = torch.empty_like(loop.raised[0]), torch.empty_like(drives[0])
    for step, drive in enumerate(drives):
        query(tapes[-1].states[step], compared.zero_())
        source = (compared, loop.power, loop.v, loop.values, loop.mask)
        kept = (loop.raised[step], loop.weights[step], loop.contexts[step])
        if kernels.attend_forward(*loop.sizes, *map(address, (*source, *kept))) > REACH:
            raise OutOfReach
        context_drive(loop.contexts[step], driven.copy_(drive))
        for layer, tape in enumerate(tapes):
            if layer:
                below = _noisy(tapes[layer - 1].states[step + 1], loop.noise[layer - 1], step)
                upper_drives[layer - 1](below, driven.copy_(biases[layer - 1]))
            recurrences[layer](tape.states[step], driven)
            tape.forward(step, driven)


def _back_by_steps(
    loop: _Loop, slopes: _Slopes, into_states: Tensor | None, into_contexts: Tensor | None, into_weights: Tensor | None
) -> None:
    tapes, pasts, kernels = loop.tapes, slopes.pasts, loaded()
    query, context_drive = Steps(loop.query.t()), Steps(loop.context_drive.t())
    recurrences, upper_drives = ([Steps(one.t()) for one in some] for some in (loop.recurrences, loop.upper_drives))
    into_context, room = torch.empty_like(loop.contexts[0]), torch.empty_like(loop.weights[0, 0])
    for step in reversed(range(len(loop.raised))):
        if into_states is not None:
            pasts[-1] += into_states[step]
        for layer in reversed(range(len(tapes))):
            into_gates = slopes.gates[layer][step]  # (B, G)
            tapes[layer].backward(step, pasts[layer], slopes.carries[layer], into_gates)
            recurrences[layer](into_gates, pasts[layer].zero_())
            if layer:
                into_below = torch.zeros_like(pasts[layer - 1])
                upper_drives[layer - 1](into_gates, into_below)
                pasts[layer - 1] += _noisy(into_below, loop.noise[layer - 1], step)
        context_drive(slopes.gates[0][step], into_context.zero_())
        if into_contexts is not None:
            into_context += into_contexts[step]
        given = None if into_weights is None else into_weights[step]
        source = (loop.power, loop.v, loop.values, loop.mask, loop.raised[step], loop.weights[step], given)
        sums = (into_context, room, slopes.queries[step], slopes.keys, slopes.values, slopes.v)
        kernels.attend_backward(*loop.sizes, *map(address, (*source, *sums)))
        query(slopes.queries[step], pasts[-1])


def _noisy(vectors: Tensor, noise: Tensor | None, step: int | None = None) -> Tensor:
    """Of one step, or of all."""
    return vectors if noise is None else vectors * (noise if step is None else noise[step])
