"""Whether the fast spelling may be used. The plain one is the reference, and what GPUs, autocast and export get."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_plain: ContextVar[bool] = ContextVar("plain", default=False)


@contextmanager
def plain() -> Iterator[None]:
    """Within this block only the reference path runs."""
    token = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(token)


def allowed(tensor: Tensor) -> bool:
    """Under autocast and in exported graphs only the plain spelling is right."""
    exact = not torch.is_autocast_enabled(tensor.device.type) and not torch.compiler.is_compiling()
    return exact and not _plain.get()


def wanted(tensor: Tensor) -> bool:
    """On a GPU the plain spelling is as fast."""
    return tensor.device.type == "cpu" and allowed(tensor)
