"""The fastest large product of fp32 matrices that torch has on this machine: what training is held against.

    python -m toolkits.product

prints the operations per second of each of its ways. torch multiplies by MKL, which leaves half of the vectors of newer
AMD processors unused; oneDNN, which is in torch as well, does not. Whichever is faster here is the yardstick.
"""

import json
import time
from collections.abc import Callable

import torch
from torch.nn import functional as F

SIDE = 2048
WORK = 2.0 * SIDE**3
TIMES = 12

Product = Callable[[], object]


def ways() -> dict[str, Product]:
    """torch's two ways to one product of SIDE × SIDE numbers."""
    left, right, made = (torch.rand(SIDE, SIDE) for _ in range(3))
    found: dict[str, Product] = {"torch.mm": lambda: torch.mm(left, right, out=made)}
    if torch.backends.mkldnn.is_available():
        laid = left.to_mkldnn()
        found["oneDNN"] = lambda: F.linear(laid, right)
    return found


def fastest_product() -> Product:
    return min(ways().values(), key=quickest)


def quickest(product: Product) -> float:
    """Seconds, best of several."""
    return min(seconds(product) for _ in range(TIMES))


def seconds(product: Product) -> float:
    begin = time.perf_counter()
    product()
    return time.perf_counter() - begin


if __name__ == "__main__":
    print(json.dumps({name: WORK / quickest(product) for name, product in ways().items()}))
