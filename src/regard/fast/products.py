"""Products of many rows at once, by the tiles of kernels.c: what a layer makes of its inputs, and the gradient of its
weights. A library's products are as fast where matrices are large; gradients from a few hundred rows are not.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.fast.kernels import address, joins_threads, library, loaded, whole_numbers
from regard.fast.packed import laid
from regard.fast.scratch import LINE, scratch
from regard.fast.switch import wanted

PAGE = 1024  # numbers in 4 KB
LEAST = 16  # rows of a batch that are worth packing weights for; chosen, not measured


def affine(
    inputs: Tensor, weight: Tensor, bias: Tensor | None = None, squash: bool = False, into: Tensor | None = None
) -> Tensor:
    """x Wᵀ + b (R, O), or tanh of it, from x (R, I), whose rows may lie apart, as those of `into` may, and W (O, I) in
    any layout"""
    made = inputs.new_empty(len(inputs), len(weight)) if into is None else into
    assert inputs.stride(1) == made.stride(1) == 1
    numbers = (torch.get_num_threads(), *made.shape, inputs.size(1), inputs.stride(0), made.stride(0), squash)
    with scratch() as room:
        arranged = laid(weight, room)
        loaded().affine(*numbers, inputs.data_ptr(), arranged, address(bias), made.data_ptr())
    return made


def spaced(size: int) -> int:
    """How far apart rows of so many numbers should lie, for products to write to: a multiple of 4 KB, and they would
    push each other out of L1."""
    return size + (LINE if size % PAGE == 0 else 0)


def gradients(slopes: Tensor, *inputs: Tensor) -> list[Tensor]:
    """dW (O, I) = Σ_r slopes_r x_rᵀ of each W x_r, from slopes (R, O) and x (R, I), whose rows may lie apart"""
    threads, (rows, outputs), kernels = torch.get_num_threads(), slopes.shape, loaded()
    assert all(one.stride(1) == 1 for one in (slopes, *inputs))
    sizes = [one.size(1) for one in inputs]
    into = [slopes.new_empty(outputs, size) for size in sizes]
    each = sum(map(kernels.gradient_room, sizes))
    strides = [one.stride(0) for one in inputs]
    begins = [[one.data_ptr() for one in some] for some in (inputs, into)]
    lists = [whole_numbers(*one) for one in (sizes, strides, *begins)]
    numbers = (threads, rows, outputs, slopes.stride(0), len(into), each)
    with scratch() as room:
        kernels.gradients(*numbers, slopes.data_ptr(), *lists, room.address(threads * each))
    return into


def linear(layer: nn.Linear, inputs: Tensor, squash: bool = False) -> Tensor:
    """W x + b (…, O), or tanh of it, of a layer that has a bias"""
    if inputs.numel() // inputs.size(-1) < LEAST or not (wanted(inputs) and fits(inputs)):
        made: Tensor = layer(inputs)
        return made.tanh() if squash else made
    flat: Tensor = _Linear.apply(inputs.flatten(0, -2), layer.weight, layer.bias, squash)
    return flat.view(*inputs.shape[:-1], -1)


def fits(inputs: Tensor) -> bool:
    """Whether the kernels have all of torch's threads, and know such numbers."""
    return inputs.dtype == torch.float32 and library() is not None and (torch.get_num_threads() == 1 or joins_threads())


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor, squash: bool) -> Tensor:
        inputs = inputs if inputs.stride(1) == 1 else inputs.contiguous()
        made, ctx.squash = affine(inputs, weight, bias, squash), squash
        ctx.save_for_backward(inputs, weight, made if squash else None)
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_made: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight, made = ctx.saved_tensors
        slopes, into_bias = into_made.contiguous(), None
        if ctx.squash:
            threads, given = torch.get_num_threads(), slopes
            slopes, sums = torch.empty_like(given), given.new_zeros(threads, given.size(1))
            loaded().squashed_slopes(threads, *given.shape, *map(address, (made, given, slopes, sums)))
            into_bias = sums.sum(0)
        into_inputs = affine(slopes, weight.t()) if ctx.needs_input_grad[0] else None
        (into_weight,) = gradients(slopes, inputs) if ctx.needs_input_grad[1] else [None]
        return into_inputs, into_weight, slopes.sum(0) if into_bias is None else into_bias, None
