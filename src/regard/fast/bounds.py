"""Whether numbers of rows are those of a table: torch raises an error, C would read and write beside it."""

import torch
from torch import Tensor


def are_rows(numbers: Tensor, count: int) -> bool:
    """0 … count − 1, as C counts"""
    if numbers.dtype != torch.int64 or numbers.numel() == 0:
        return False
    least, most = torch.aminmax(numbers)
    return int(least) >= 0 and int(most) < count
