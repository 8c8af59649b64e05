"""The arithmetic of the forward pass: fp32, or bf16 where that loses nothing that matters."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

# Some virtual machines announce AMX and do not let it be used: a product in bf16 is then refused, or ends the process
# by an illegal instruction. Without AMX, oneDNN uses the processor's other bf16 instructions. It reads this once,
# at its first product of any kind, so it must be said before.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")


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
