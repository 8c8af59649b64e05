"""The arithmetic of the forward pass: fp32, or bf16 where that loses nothing that matters."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch


def arithmetic(name: str, device: torch.device) -> AbstractContextManager[object]:
    if name == "fp32":
        return nullcontext()
    if device.type == "cpu":
        return _bf16_on_cpu()
    return torch.autocast(device.type, torch.bfloat16)


@contextmanager
def _bf16_on_cpu() -> Iterator[None]:
    """oneDNN refuses an LSTM in bf16 on processors that do not have it; torch's own loops can."""
    onednn: Any = torch.backends.mkldnn
    before = onednn.enabled
    if onednn.is_available() and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        onednn.enabled = False
    try:
        with torch.autocast("cpu", torch.bfloat16):
            yield
    finally:
        onednn.enabled = before
