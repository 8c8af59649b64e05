"""Products that a loop repeats with the same weight.

y_t = W x_t + b at every step has the gradient dW = Σ_t dy_tᵀ x_t: T thin products, each of which reads and writes all
of dW. Gathered, every step puts its x_t and dy_t aside, and dW is one product of both, stacked, when the loop's
backward pass is over.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.fast.switch import wanted


class Store(list[Any]):
    """What the uses of a tensor put aside within one backward pass, for its node, which comes last. A pass that nobody
    asks for the tensor's gradient leaves it there: the next one begins anew."""

    _pass = -1

    def now(self) -> "Store":
        """This pass's part."""
        number = torch._C._current_graph_task_id()
        if number != self._pass:
            self.clear()
            self._pass = number
        return self


class Shared(NamedTuple):
    """A weight for the length of one loop."""

    weight: Tensor  # (O, I)
    bias: Tensor | None  # (O,)
    store: "Store"  # x_t and dy_t of every step


def share(weight: Tensor, bias: Tensor | None) -> Shared:
    store = Store()
    same_weight, same_bias = _Share.apply(weight, bias, store)
    return Shared(same_weight, same_bias, store)


def product(inputs: Tensor, shared: Shared, onto: Tensor | None = None) -> Tensor:
    """W x + b + onto            (…, I) -> (…, O)"""
    result: Tensor = _Product.apply(inputs, shared.weight, shared.bias, onto, shared.store)
    return result


class Repeated(nn.Linear):
    """A linear layer for use at every step of a loop; inside `gathered` its gradients are put off to the loop's end."""

    shared: Shared | None = None

    def forward(self, inputs: Tensor, onto: Tensor | None = None) -> Tensor:
        """W x + b (+ onto)"""
        if self.shared is not None:
            return product(inputs, self.shared, onto)
        result = nn.functional.linear(inputs, self.weight, self.bias)
        return result if onto is None else result + onto


@contextmanager
def gathered(module: nn.Module, like: Tensor) -> Iterator[None]:
    """For one loop over the steps of a module, on tensors like this one."""
    if not (torch.is_grad_enabled() and wanted(like)):
        yield
        return
    repeated = [part for part in module.modules() if isinstance(part, Repeated)]
    for part in repeated:
        part.shared = share(part.weight, part.bias)
    try:
        yield
    finally:
        for part in repeated:
            part.shared = None


class _Share(torch.autograd.Function):
    """Stands between a weight and its uses; its backward runs once, after that of every use."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, store: Store) -> Any:
        ctx.store = store
        ctx.set_materialize_grads(False)
        return weight.view_as(weight), None if bias is None else bias.view_as(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *_: Tensor | None) -> Any:
        store = ctx.store.now()
        if not store:
            return None, None, None
        inputs, gradients = (torch.cat(all_steps) for all_steps in zip(*store, strict=True))
        store.clear()
        into_weight = gradients.t() @ inputs if ctx.needs_input_grad[0] else None  # (O, I)
        into_bias = gradients.sum(0) if ctx.needs_input_grad[1] else None  # (O,)
        return into_weight, into_bias, None


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None, onto: Tensor | None, store: Store
    ) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.store = store
        if onto is None:
            return nn.functional.linear(inputs, weight, bias)
        result = torch.addmm(_flat(onto), _flat(inputs), weight.t()).view(onto.shape)
        return result if bias is None else result.add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        inputs, weight = ctx.saved_tensors
        ctx.store.now().append((_flat(inputs), _flat(gradient)))
        into_inputs = gradient @ weight if ctx.needs_input_grad[0] else None
        return into_inputs, None, None, gradient if ctx.needs_input_grad[3] else None, None


def _flat(vectors: Tensor) -> Tensor:
    return vectors.reshape(-1, vectors.size(-1))  # (M, …)
