"""Networks of the library timm, which know nothing of masks, as readers of pictures."""

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.planes import Pictures
from regard.encoders.plane import pack, strided
from regard.errors import MissingExtra, UsageError

HUB_FILE = "model.safetensors"  # what timm's repositories on the hub call their weights


class Affine(nn.Module):
    """y_c = s_c x_c + b_c: a BatchNorm whose statistics are part of its parameters, in training too"""

    def __init__(self, norm: nn.modules.batchnorm._BatchNorm):
        super().__init__()
        mean, var = norm.running_mean, norm.running_var
        if mean is None or var is None:
            raise UsageError(
                "this network's BatchNorm keeps no statistics, so it needs batches; choose another network"
            )
        scale = var.add(norm.eps).rsqrt() * (1 if norm.weight is None else norm.weight.detach())  # (C,)
        self.s = nn.Parameter(scale)
        self.b = nn.Parameter((0 if norm.bias is None else norm.bias.detach()) - mean * scale)

    def forward(self, data: Tensor) -> Tensor:
        return data * self.s[:, None, None] + self.b[:, None, None]  # (B, C, H, W)


class ForeignEncoder(nn.Module):
    """a_i = cell i of a network's map; `network` makes several of a picture, and `place` tells which is taken

    Such a network lets padding grow into values, so pictures of one size go through it together, each size by itself.
    Some round sizes up and some down: each picture is filled to whole cells first, so all make ⌈n / s⌉ of n pixels.
    """

    key = ""

    def __init__(self, network: nn.Module, place: int, size: int, stride: int):
        super().__init__()
        self.network = network
        self.place, self.size, self.stride = place, size, stride
        self.mean, self.std = (0.0,) * 3, (1.0,) * 3

    def map(self, source: Pictures) -> Pictures:
        found, group = torch.unique(source.sizes, dim=0, return_inverse=True)  # (G, 2), (B,)
        maps = [self._read(source.data[group == number, :, :h, :w]) for number, (h, w) in enumerate(found.tolist())]
        sizes = strided(source.sizes, self.stride)  # (B, 2)
        height, width = sizes.amax(0).tolist()
        data = source.data.new_zeros(len(group), self.size, height, width)
        for number, one in enumerate(maps):
            rows = (group == number).nonzero()[:, 0]  # (n,)
            whole = nn.functional.pad(one, (0, width - one.size(3), 0, height - one.size(2)))
            data = data.index_copy(0, rows, whole)
        return Pictures(data, sizes)

    def _read(self, data: Tensor) -> Tensor:
        height, width = data.shape[2:]
        rows, columns = -(-height // self.stride), -(-width // self.stride)
        more = (0, columns * self.stride - width, 0, rows * self.stride - height)
        made: Tensor = self.network(nn.functional.pad(data, more))[self.place]
        if made.dim() != 4 or made.size(1) != self.size:
            raise UsageError(
                f"this network's map has the shape {tuple(made.shape)}, expected (B, {self.size}, H, W); "
                "choose one whose maps have channels first, such as a convolutional one"
            )
        if made.shape[2:] != (rows, columns):
            raise UsageError(
                f"this network makes {made.size(2)} × {made.size(3)} cells of {height} × {width} pixels, expected "
                f"{rows} × {columns} by its stride of {self.stride}; choose another one"
            )
        return made

    def forward(self, source: Pictures) -> Encoded:
        return pack(*self.map(source))


def make_timm(name: str, stride: int | None) -> ForeignEncoder:
    """The architecture only."""
    timm = _timm(name)
    return _wrapped(timm, name, stride, timm.create_model(name, features_only=True, pretrained=False))


def load_timm(name: str, stride: int | None, file: str | Path | None) -> ForeignEncoder:
    """With weights out of a .safetensors file, or those that the hub's cache has."""
    timm = _timm(name)
    path = _cached(timm, name) if file is None else Path(file)
    if path.suffix != ".safetensors" or not path.is_file():
        raise UsageError(f"expected a .safetensors file with the weights of {name}, came {path}")
    weights = {"state_dict": load_file(path)}  # handed over as they are: timm looks for no others
    network = timm.create_model(name, features_only=True, pretrained=True, pretrained_cfg_overlay=weights)
    made = _wrapped(timm, name, stride, network)
    total = hashlib.sha256(path.read_bytes()).hexdigest()
    made.key = f"timm:{name}/{made.stride} {timm.__version__} {total[:12]}"
    return made.eval()


def without_statistics(network: nn.Module) -> nn.Module:
    """Each BatchNorm inside becomes Affine, followed by what timm puts into the same module: dropout and activation."""
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.modules.batchnorm._BatchNorm):
                rest = [
                    part for part in (getattr(child, "drop", None), getattr(child, "act", None)) if part is not None
                ]
                setattr(module, name, nn.Sequential(Affine(child), *rest))
    return network


def _wrapped(timm: Any, name: str, stride: int | None, network: Any) -> ForeignEncoder:
    strides, sizes = network.feature_info.reduction(), network.feature_info.channels()
    if stride is not None and stride not in strides:
        raise UsageError(f"timm:{name} has maps of stride {', '.join(map(str, strides))}, not {stride}")
    place = len(strides) - 1 if stride is None else strides.index(stride)
    made = ForeignEncoder(without_statistics(network), place, sizes[place], strides[place])
    told = _told(timm, name)
    if told is not None:
        made.mean, made.std = tuple(told.mean), tuple(told.std)
    return made


def _timm(name: str) -> Any:
    """The library, if it has this network. It imports torchvision, so it needs that one too."""
    try:
        timm = import_module("timm")
    except ImportError as error:
        missing = (error.name or "timm").partition(".")[0]
        raise UsageError(
            f"this needs the package {missing}, which is not installed: install timm, and a torchvision that fits torch"
        ) from error
    if not timm.is_model(name):
        raise UsageError(f"timm {timm.__version__} has no network {name!r}; timm.list_models() tells which there are")
    return timm


def _told(timm: Any, name: str) -> Any:
    """What timm knows of its weights."""
    try:
        return timm.get_pretrained_cfg(name)
    except RuntimeError as error:  # the part of the name behind the point
        raise UsageError(f"timm {timm.__version__}: {error}") from error


def _cached(timm: Any, name: str) -> Path:
    """Where the hub's cache has the weights."""
    told = _told(timm, name)
    if told is None or not told.hf_hub_id:
        raise UsageError(f"timm tells of no weights for {name}; give a .safetensors file")
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "hub") from error
    try:
        return Path(hf_hub_download(told.hf_hub_id, HUB_FILE, local_files_only=True))
    except LocalEntryNotFoundError:
        raise UsageError(
            f"the weights of {name} are not on this machine, and nothing is downloaded unasked: "
            f"hf download {told.hf_hub_id} {HUB_FILE}, or give a .safetensors file"
        ) from None
