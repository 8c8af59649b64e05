"""The loop of reading.py where it has one layer: from words to what the readout gets, inside kernels.c.

Every buffer is written where it will be read: the words' part of the gates becomes the gates, context and state stand
side by side, and biases' gradients are added up while the slopes are at hand.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.attend import OutOfReach
from regard.fast.energy import REACH
from regard.fast.kernels import address, loaded
from regard.fast.packed import laid, team
from regard.fast.products import affine, gradients, spaced
from regard.fast.scratch import scratch


class Weights(NamedTuple):
    """Of one layer that reads before it moves."""

    drive: Tensor  # (G, E)
    bias: Tensor  # (G,)
    query: Tensor  # (A, H)
    v: Tensor  # (A,)
    context_drive: Tensor  # (G, V)
    recurrence: Tensor  # (G, H)


class Source(NamedTuple):
    keys: Tensor  # (B, S, A)
    values: Tensor  # (B, S, V)
    power: Tensor  # (B, S, A)  e^{2k}
    mask: Tensor  # (B, S)


class ReadInside(torch.autograd.Function):
    """x_t (T, B, E), s_0 and c_0 (B, H) -> [c_t; s_t] (T, B, V + H) and weights (T, B, S)"""

    @staticmethod
    def forward(ctx: Any, words: Tensor, state: Tensor, carry: Tensor, *others: Tensor) -> tuple[Tensor, Tensor]:
        source, weights = Source(*others[:4]), Weights(*others[4:])
        (steps, rows), (_, places, size), width = words.shape[:2], source.power.shape, source.values.size(-1)
        hidden, flat = state.size(1), words.flatten(0, 1)  # (T·B, E)
        gates = words.new_empty(len(flat), spaced(4 * hidden))  # (T·B, G or a line more)
        affine(flat, weights.drive, weights.bias, into=gates[:, : 4 * hidden])
        raised, alphas = words.new_empty(steps, rows, size), words.new_empty(steps, rows, places)
        seen, carries = words.new_empty(steps + 1, rows, width + hidden), words.new_empty(steps + 1, rows, hidden)
        seen[0, :, width:], carries[0] = state, carry
        squashed = words.new_empty(steps, rows, hidden)
        read = (source.power, weights.v, source.values, source.mask)
        numbers = (team(rows), steps, rows, places, size, width, hidden, gates.size(1))
        kept = (gates, raised, alphas, seen, carries, squashed)
        with scratch() as room:
            arranged = [laid(one, room) for one in (weights.query, weights.recurrence, weights.context_drive)]
            given = map(address, (*read, *kept))
            if loaded().read_run(*numbers, *arranged, *given, room.address(rows * size)) > REACH:
                raise OutOfReach
        ctx.numbers = numbers
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(flat, *source[1:], *weights, *kept)
        return seen[1:], alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_seen: Tensor | None, into_alphas: Tensor | None) -> Any:
        flat, values, power, mask, *others = ctx.saved_tensors
        weights, (gates, raised, alphas, seen, carries, squashed) = Weights(*others[:6]), others[6:]
        threads, steps, rows, places, size, width, hidden, _ = ctx.numbers
        into_seen = torch.zeros_like(seen[1:]) if into_seen is None else into_seen.contiguous()
        into_alphas = None if into_alphas is None else into_alphas.contiguous()
        read = (power, weights.v, values, mask, gates, raised, alphas, carries, squashed)
        into_keys, into_values = torch.zeros_like(power), torch.zeros_like(values)
        into_v, into_bias = gates.new_zeros(threads, size), gates.new_zeros(threads, 4 * hidden)
        past, into_carry = gates.new_zeros(2, rows, hidden)
        both = seen.flatten(0, 1)  # ((T + 1)·B, V + H)
        before, contexts = both[:-rows, width:], both[rows:, :width]  # s_{t-1} and c_t
        with scratch() as room:
            into_gates, into_queries = room.take(*gates.shape), room.take(len(gates), size)
            sums = (into_gates, into_queries, into_keys, into_values, into_v, into_bias, past, into_carry)
            with room:
                turned = [laid(one.t(), room) for one in (weights.query, weights.recurrence, weights.context_drive)]
                given = map(address, (*read, into_seen, into_alphas, *sums))
                meanwhile = room.address(rows * width + threads * places)
                loaded().read_run_backward(*ctx.numbers, *turned, *given, meanwhile)
            into_gates = into_gates[:, : 4 * hidden]  # (T·B, G)
            into_drive, into_context_drive, into_recurrence = gradients(into_gates, flat, contexts, before)
            (into_query,) = gradients(into_queries, before)
            into_words = affine(into_gates, weights.drive.t()).view(steps, rows, -1)
        own = (into_bias.sum(0), into_query, into_v.sum(0))
        slopes = Weights(into_drive, *own, into_context_drive, into_recurrence)
        return into_words, past, into_carry, into_keys, into_values, None, None, *slopes
