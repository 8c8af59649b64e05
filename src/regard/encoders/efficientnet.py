"""EfficientNet-lite, with the statistics of its normalisation folded into its convolutions.

Its weights were trained with TensorFlow's 'same' padding: where the stride is 2 and a map's size is even, (k − 2) // 2
of the k − 1 zeros stand in front. Here it is so for every size: what a cell reads then does not hang on where its
picture ends, and the rule of masks (plane.py) holds. At multiples of 32 pixels the two are one; elsewhere TensorFlow
would read odd maps from a place further left.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.memory import Encoded
from regard.data.planes import Pictures
from regard.encoders.plane import Plane, pack


class Stage(NamedTuple):
    """Blocks of one size; the first of them has the stride."""

    blocks: int
    kernel: int
    stride: int
    expand: int
    size: int


STAGES = (  # Tan and Le 2019, table 1
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),  # 14×14 at 224 px
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)
SCALES = {"lite0": (1.0, 1.0), "lite2": (1.1, 1.2)}  # of width and depth
HEAD = 1280
EPSILON = 1e-3  # of its BatchNorm


def scaled(scale: str) -> list[Stage]:
    """Wider, to the nearest 8 channels, and deeper, but for the first and the last."""
    width, depth = SCALES[scale]
    sizes = [8 * int(stage.size * width / 8 + 0.5) for stage in STAGES]
    blocks = [STAGES[0].blocks, *(math.ceil(stage.blocks * depth) for stage in STAGES[1:-1]), STAGES[-1].blocks]
    return [one._replace(blocks=many, size=size) for one, many, size in zip(STAGES, blocks, sizes, strict=True)]


class Folded(nn.Module):
    """W * x + b, where W and b have taken in a BatchNorm; then perhaps min(6, max(0, ·))"""

    def __init__(self, inputs: int, size: int, kernel: int = 1, stride: int = 1, groups: int = 1, bounded: bool = True):
        super().__init__()
        front = (kernel - stride) // 2
        self.zeros = (front, kernel - 1 - front) * 2  # left, right, above, below
        self.W = nn.Conv2d(inputs, size, kernel, stride, groups=groups)
        self.stride, self.bounded = stride, bounded

    def forward(self, plane: Plane) -> Plane:
        data = self.W(F.pad(plane.data, self.zeros) if any(self.zeros) else plane.data)
        return plane.after(F.relu6(data) if self.bounded else data, self.stride)

    def fold(self, weight: Tensor, norm: Mapping[str, Tensor]) -> None:
        """γ (W * x − μ) / √(σ² + ε) + β  as one convolution"""
        scale = norm["weight"] / (norm["running_var"] + EPSILON).sqrt()  # (V,)
        with torch.no_grad():
            self.W.weight.copy_(weight * scale[:, None, None, None])
            assert self.W.bias is not None
            self.W.bias.copy_(norm["bias"] - norm["running_mean"] * scale)


class MBConv(nn.Module):
    """Wide, each channel for itself, narrow again; and where the sizes allow, x + that      Sandler et al. 2018"""

    def __init__(self, inputs: int, stage: Stage, stride: int):
        super().__init__()
        wide = inputs * stage.expand
        self.expand = Folded(inputs, wide) if stage.expand > 1 else None
        self.depthwise = Folded(wide, wide, stage.kernel, stride, groups=wide)
        self.project = Folded(wide, stage.size, bounded=False)
        self.residual = stride == 1 and inputs == stage.size

    def forward(self, plane: Plane) -> Plane:
        wide = plane if self.expand is None else self.expand(plane)
        narrow: Plane = self.project(self.depthwise(wide))
        return narrow._replace(data=narrow.data + plane.data) if self.residual else narrow


class EfficientNetLite(nn.Module):
    """a_i = cell i of the map of EfficientNet-lite0 or -lite2: 1280 channels at stride 32, or 112 at stride 16
    Tan and Le 2019

    MBConv blocks without squeeze-and-excitation, ReLU6; 7×7×1280 or 14×14×112 at 224 px (lite2 has 120 there). No part
    of it is normalised while it runs, so training it does not need batches, and it has parameters only.
    """

    mean = (127 / 255,) * 3  # of pixels between 0 and 1, as the weights expect
    std = (128 / 255,) * 3
    key = ""  # which weights it has been given, if any

    def __init__(self, stride: int = 32, scale: str = "lite0"):
        super().__init__()
        stages = scaled(scale)[: None if stride == 32 else 5]
        self.stride = stride
        self.stem = Folded(3, 32, 3, 2)
        self.blocks = nn.ModuleList()
        size = 32
        for stage in stages:
            for number in range(stage.blocks):
                self.blocks.append(MBConv(size, stage, stage.stride if number == 0 else 1))
                size = stage.size
        self.head = Folded(size, HEAD) if stride == 32 else None
        self.size = HEAD if stride == 32 else size

    def map(self, source: Pictures) -> Pictures:
        plane: Plane = self.stem(Plane.begin(source))
        for block in self.blocks:
            plane = block(plane)
        if self.head is not None:
            plane = self.head(plane)
        return plane.end()

    def forward(self, source: Pictures) -> Encoded:
        return pack(*self.map(source))

    def take(self, state: Mapping[str, Tensor]) -> None:
        """Weights under the names that efficientnet-lite-pytorch gives them; those beyond the map are left."""
        for layer, conv, norm in self._names():
            names = ("weight", "bias", "running_mean", "running_var")
            layer.fold(state[f"{conv}.weight"], {name: state[f"{norm}.{name}"] for name in names})

    def _names(self) -> list[tuple[Folded, str, str]]:
        """Each layer with the names of its convolution and its BatchNorm."""
        named = [(self.stem, "_conv_stem", "_bn0")]
        for number, block in enumerate(self.blocks):
            assert isinstance(block, MBConv)
            parts = zip((block.expand, block.depthwise, block.project), ("expand", "depthwise", "project"), strict=True)
            for place, (part, name) in enumerate(parts):
                if part is not None:
                    named.append((part, f"_blocks.{number}._{name}_conv", f"_blocks.{number}._bn{place}"))
        return [*named, *([] if self.head is None else [(self.head, "_conv_head", "_bn1")])]
