"""The loop of a decoder that reads before it moves (Bahdanau et al. 2015), as one node of the graph:

    c_t = attend(s_{t-1}),  s_t = LSTM(s_{t-1}, [E(y_{t-1}); c_t])            additive score, softmax; L layers

Forward and backward pass are written out over buffers, like recurrence.py; attention by kernels.c in one pass.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.attend import OutOfReach
from regard.fast.energy import REACH, Grown
from regard.fast.kernels import address, loaded
from regard.fast.packed import loops_inside, packed, team
from regard.fast.recurrence import LSTMTape


class Read(NamedTuple):
    """All steps, time first."""

    states: Tensor  # (T, B, H)  s_1 … s_T of the top layer
    contexts: Tensor  # (T, B, V)
    weights: Tensor  # (T, B, S)


class Upper(NamedTuple):
    """A layer above the first."""

    drive: Tensor  # (G, H)
    bias: Tensor  # (G,)    both of its biases
    noise: Tensor | None  # (T, B, H)  dropout on what it reads


def read_all(
    drives: Tensor,
    values: Tensor,
    grown: Grown,
    mask: Tensor,
    query: Tensor,
    v: Tensor,
    context_drive: Tensor,
    first: list[tuple[Tensor, Tensor]],
    recurrences: list[Tensor],
    uppers: list[Upper],
) -> Read | None:
    """drive_t = W E(y_{t-1}) + all biases (T, B, G) of the first layer, W_q (A, H), v (A,), C (G, V), each layer's
    first state and carry (B, H), and U (G, H). None where a query is out of the exponentials' reach."""
    layers = len(recurrences)
    flat = [part for pair in first for part in pair] + recurrences + [one.drive for one in uppers]
    flat += [one.bias for one in uppers]
    noise = [one.noise for one in uppers]
    source = (grown.keys, *(one.contiguous() for one in (values, grown.power, mask)))
    try:
        return Read(*_ReadAll.apply(layers, noise, drives, *source, query, v, context_drive, *flat))
    except OutOfReach:
        return None


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
        tapes = [LSTMTape.begin(steps, *first[2 * layer : 2 * layer + 2]) for layer in range(layers)]
        raised, weights = drives.new_empty(steps, rows, size), drives.new_empty(steps, rows, places)
        contexts, compared = drives.new_empty(steps, rows, width), drives.new_empty(rows, size)
        driven = drives.new_empty(drives.shape[1:])
        kernels = loaded()
        inside = layers == 1 and loops_inside(rows)
        if inside:
            joined, room = torch.cat([query, recurrences[0]]), drives.new_empty(rows, size + 2 * drives.size(-1))
            given = (drives.contiguous(), packed(joined), packed(context_drive), power, v, values, mask)
            kept = (raised, weights, contexts, *tapes[0].tensors, room)
            numbers = (team(rows), steps, rows, places, size, width, tapes[0].size)
            if kernels.read_run(*numbers, *map(address, (*given, *kept))) > REACH:
                raise OutOfReach
        for step, drive in enumerate(drives) if not inside else ():
            torch.mm(tapes[-1].states[step], query.t(), out=compared)
            tensors = (compared, power, v, values, mask, raised[step], weights[step], contexts[step])
            if kernels.attend_forward(rows, places, size, width, *map(address, tensors)) > REACH:
                raise OutOfReach
            torch.addmm(drive, contexts[step], context_drive.t(), out=driven)
            for layer, tape in enumerate(tapes):
                if layer:
                    below = _noisy(tapes[layer - 1].states[step + 1], noise[layer - 1], step)
                    torch.addmm(biases[layer - 1], below, upper_drives[layer - 1].t(), out=driven)
                driven.addmm_(tape.states[step], recurrences[layer].t())
                tape.forward(step, driven)
        ctx.layers, ctx.noise = layers, noise
        ctx.set_materialize_grads(False)
        taped = [one for tape in tapes for one in tape.tensors]
        constant = (values, power, mask, query, v, context_drive, raised, weights, contexts)
        ctx.save_for_backward(*constant, *recurrences, *upper_drives, *taped)
        return tapes[-1].states[1:], contexts, weights

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, into_states: Tensor | None, into_contexts: Tensor | None, into_weights: Tensor | None
    ) -> Any:
        layers, noise = ctx.layers, ctx.noise
        values, power, mask, query, v, context_drive, raised, weights, contexts, *others = ctx.saved_tensors
        recurrences, upper_drives, taped = others[:layers], others[layers : 2 * layers - 1], others[2 * layers - 1 :]
        tapes = [LSTMTape(*taped[4 * layer : 4 * layer + 4]) for layer in range(layers)]
        (steps, rows, size), (_, places), width = raised.shape, mask.shape, values.size(-1)
        into_gates = [torch.empty_like(tape.gates) for tape in tapes]
        into_queries, into_context = torch.empty_like(raised), torch.empty_like(contexts[0])
        into_keys, into_values, into_v = (torch.zeros_like(one) for one in (power, values, v))
        slopes = power.new_empty(places)
        pasts = [torch.zeros_like(tape.states[0]) for tape in tapes]  # what the step after says about s_t
        carries = [torch.zeros_like(past) for past in pasts]
        given = into_weights.contiguous() if into_weights is not None else None
        kernels = loaded()
        inside = layers == 1 and loops_inside(rows)
        if inside:
            turned = [packed(one.t()) for one in (query, recurrences[0], context_drive)]
            source = (power, v, values, mask, raised, weights, *tapes[0].tensors[1:])
            slopes_of = [None if one is None else one.contiguous() for one in (into_states, into_contexts)]
            numbers = (team(rows), steps, rows, places, size, width, tapes[0].size)
            room, parts = power.new_empty(rows * width + team(rows) * places), power.new_zeros(team(rows), size)
            written = (into_gates[0], into_queries, into_keys, into_values, parts, pasts[0], carries[0])
            everything = (*turned, *source, *slopes_of, given, *written, room)
            kernels.read_run_backward(*numbers, *map(address, everything))
            into_v = parts.sum(0)
        for step in reversed(range(steps)) if not inside else ():
            if into_states is not None:
                pasts[-1] += into_states[step]
            for layer in reversed(range(layers)):
                tapes[layer].backward(step, pasts[layer], carries[layer], into_gates[layer][step])
                torch.mm(into_gates[layer][step], recurrences[layer], out=pasts[layer])
                if layer:
                    into_below = into_gates[layer][step] @ upper_drives[layer - 1]
                    pasts[layer - 1] += _noisy(into_below, noise[layer - 1], step)
            torch.mm(into_gates[0][step], context_drive, out=into_context)
            if into_contexts is not None:
                into_context += into_contexts[step]
            tensors = (power, v, values, mask, raised[step], weights[step], None if given is None else given[step])
            results = (into_context, slopes, into_queries[step], into_keys, into_values, into_v)
            kernels.attend_backward(rows, places, size, width, *map(address, (*tensors, *results)))
            pasts[-1].addmm_(into_queries[step], query)
        flat_gates = [one.flatten(0, 1) for one in into_gates]  # (T·B, G)
        before = [tape.states[:-1].flatten(0, 1) for tape in tapes]  # (T·B, H)
        into_query = into_queries.flatten(0, 1).t() @ before[-1]
        into_context_drive = flat_gates[0].t() @ contexts.flatten(0, 1)
        into_recurrences = [one.t() @ past for one, past in zip(flat_gates, before, strict=True)]
        read = [_noisy(tape.states[1:], one) for tape, one in zip(tapes[:-1], noise, strict=True)]  # (T, B, H)
        into_drives = [one.t() @ below.flatten(0, 1) for one, below in zip(flat_gates[1:], read, strict=True)]
        into_biases = [one.sum(0) for one in flat_gates[1:]]
        into_first = [one for pair in zip(pasts, carries, strict=True) for one in pair]
        fixed = (into_gates[0], into_keys, into_values, None, None, into_query, into_v, into_context_drive)
        return None, None, *fixed, *into_first, *into_recurrences, *into_drives, *into_biases


def _noisy(vectors: Tensor, noise: Tensor | None, step: int | None = None) -> Tensor:
    """Of one step, or of all."""
    return vectors if noise is None else vectors * (noise if step is None else noise[step])
