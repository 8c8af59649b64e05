"""Where numbers are crunched."""

import torch

from regard.errors import UsageError


def choose_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device cuda: this torch sees no GPU; use --device cpu, or install a CUDA build of torch")
    return torch.device(name)
