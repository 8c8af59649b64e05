"""One reading of the source by additive soft attention, in one pass: energies, weights and context together.

The gradients of keys and values, which all steps share, are added up in place over the loop and handed on once.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.energy import REACH, Grown
from regard.fast.gathering import Store
from regard.fast.kernels import address, library, loaded


def share_reads(values: Tensor, grown: Grown) -> tuple[Tensor, Grown]:
    """The same, prepared for readings by all steps of a loop."""
    if not (torch.is_grad_enabled() and possible(values)):
        return values, grown
    keys, values = Share.apply(grown.keys, values.contiguous(), grown.store)
    return values, grown._replace(keys=keys)


def attend(query: Tensor, grown: Grown, values: Tensor, mask: Tensor, v: Tensor) -> tuple[Tensor, Tensor] | None:
    """q_t (B, A), keys and values (B, S, ·) -> context (B, V) and weights (B, S); None if a query is out of reach."""
    try:
        context, weights = _Attend.apply(query, grown.keys, values, v, grown.power, mask, grown.store)
    except OutOfReach:
        return None
    return context, weights


def possible(values: Tensor) -> bool:
    """Whether there is a kernel for such numbers."""
    return values.dtype == torch.float32 and library() is not None


class OutOfReach(Exception):
    """A query's powers might overflow."""


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, keys: Tensor, values: Tensor, v: Tensor, power: Tensor, mask: Tensor, store: Store
    ) -> tuple[Tensor, Tensor]:
        rows, places, size = power.shape
        width = values.size(-1)
        query, power, values, mask = (one.contiguous() for one in (query, power, values, mask))
        raised, weights = torch.empty_like(query), query.new_empty(rows, places)
        context = query.new_empty(rows, width)
        tensors = (query, power, v, values, mask, raised, weights, context)
        kernels = loaded()
        if kernels.attend_forward(rows, places, size, width, *map(address, tensors)) > REACH:
            raise OutOfReach
        ctx.save_for_backward(power, v, values, mask, raised, weights)
        ctx.store = store
        ctx.set_materialize_grads(False)
        return context, weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_context: Tensor | None, into_weights: Tensor | None) -> Any:
        power, v, values, mask, raised, weights = ctx.saved_tensors
        rows, places, size = power.shape
        width = values.size(-1)
        if into_context is None:
            into_context = values.new_zeros(rows, width)
        store = ctx.store.now()  # gradients of keys and values, once the backward pass has begun
        if not store:
            store.append((torch.zeros_like(power), torch.zeros_like(values)))
        into_keys, into_values = store[0]
        slopes, into_query, into_v = power.new_empty(places), torch.empty_like(raised), torch.zeros_like(v)
        given = (into_weights if into_weights is None else into_weights.contiguous(), into_context.contiguous())
        tensors = (power, v, values, mask, raised, weights, *given, slopes, into_query, into_keys, into_values, into_v)
        kernels = loaded()
        kernels.attend_backward(rows, places, size, width, *map(address, tensors))
        return into_query, None, None, into_v, None, None, None


class Share(torch.autograd.Function):
    """Stands between keys and values and all readings of them."""

    @staticmethod
    def forward(ctx: Any, keys: Tensor, values: Tensor, store: Store) -> tuple[Tensor, Tensor]:
        ctx.store = store
        ctx.set_materialize_grads(False)
        return keys.view_as(keys), values.view_as(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *others: Tensor | None) -> Any:
        """`others` come from steps that had to be taken in another way."""
        store = ctx.store.now()
        added = store.pop() if store else (None, None)
        sums = [[one for one in pair if one is not None] for pair in zip(added, others, strict=True)]
        return *(sum(pair[1:], pair[0]) if pair else None for pair in sums), None
