"""What all readers of pictures share: a map that knows which of its places are real, and the way from map to Encoded.

The rule of masks. A layer of kernel k, padding k // 2 and stride s makes of n places a cell i for every place s·i, the
middle of its window, and the cell is real iff that place is: s·i < n. So n becomes ⌈n / s⌉, and the new mask is every
s-th place of the old one. The same holds of 2×2 pools of stride 2, whose window begins at 2·i. After every layer the
cells that are not real are zeroed again. What lies beyond a picture's edge is then zero in a batch as it is alone, and
so neither batch mates nor padding change anything.
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.memory import Encoded
from regard.data.planes import Pictures
from regard.dropout import Dropout
from regard.fast.place_norm import norm_and_cut


class PlaneEncoder(Protocol):
    """Every reader of pictures: its map for those who want the plane or keep it, its places for attention."""

    size: int  # V, of a place
    stride: int  # how many pixels lie between two cells

    def map(self, source: Pictures) -> Pictures: ...  # (B, C, H, W) -> (B, V, H', W')
    def __call__(self, source: Pictures) -> Encoded: ...


class Plane(NamedTuple):
    """A map on its way through layers; zero where nothing is real."""

    data: Tensor  # (B, C, H, W)
    sizes: Tensor  # (B, 2)
    real: Tensor | None  # (B, 1, H, W)  1 on real places, 0 on padding; None: there is no padding

    @classmethod
    def begin(cls, source: Pictures) -> "Plane":
        """Channels last in memory, as convolutions and ChannelNorm like it."""
        data = source.data.contiguous(memory_format=torch.channels_last)
        real = None if _filled(source) else source.mask[:, None].to(data.dtype)
        return cls(data, source.sizes, real).after(data)

    def after(self, data: Tensor, stride: int = 1) -> "Plane":
        """What a layer of this stride has made of it."""
        if self.real is None:
            return Plane(data, strided(self.sizes, stride), None)
        real = self.real[:, :, ::stride, ::stride].to(data.dtype)  # (B, 1, H', W')
        return Plane(data * real, strided(self.sizes, stride), real)  # several times faster than masked_fill

    def over(self, data: Tensor, stride: int) -> "Plane":
        """The same where the layer leaves zero what was zero."""
        real = None if self.real is None else self.real[:, :, ::stride, ::stride]
        return Plane(data, strided(self.sizes, stride), real)

    def end(self) -> Pictures:
        return Pictures(self.data, self.sizes)


def strided(sizes: Tensor, stride: int) -> Tensor:
    """How many cells are real: ⌈n / s⌉"""
    return (sizes + stride - 1) // stride


def _filled(source: Pictures) -> bool:
    """Whether every picture fills the rectangle."""
    return bool((source.sizes == source.sizes.new_tensor(source.data.shape[2:])).all())


class Norm(nn.Module):
    """A scale and a shift for each channel; what is normalised over is told below."""

    def __init__(self, size: int, epsilon: float = 1e-5):
        super().__init__()
        self.g = nn.Parameter(torch.ones(size))
        self.b = nn.Parameter(torch.zeros(size))
        self.epsilon = epsilon


class ChannelNorm(Norm):
    """y_c = g_c (x_c − mean x) / √(var x + ε) + b_c,  over the channels of one place            Ba et al. 2016

    It needs no other place, so neither padding nor batch mates; (B, C, …) with any axes of places.
    """

    def forward(self, data: Tensor, real: Tensor | None = None) -> Tensor:
        last = F.layer_norm(data.movedim(1, -1), self.g.shape, self.g, self.b, self.epsilon)  # (B, …, C)
        return last.movedim(-1, 1)


class PlaceNorm(Norm):
    """y_ci = g_c (x_ci − mean_j x_cj) / √(var_j x_cj + ε) + b_c,  over the real places j of one picture
    Ulyanov et al. 2016

    Of a channel only what differs from place to place is left. That is what writing is: paper, which over channels is
    made as loud as ink, becomes quiet. A picture of one colour all over would be nothing.
    """

    def forward(self, data: Tensor, real: Tensor | None = None) -> Tensor:
        if real is None:
            real = data.new_ones(1, 1, *data.shape[2:])
        places = real.sum((2, 3), keepdim=True)  # (B, 1, 1, 1)  at least one
        apart = (data - (data * real).sum((2, 3), keepdim=True) / places) * real  # (B, C, H, W)
        variance = apart.square().sum((2, 3), keepdim=True) / places  # (B, C, 1, 1)
        return apart * (variance + self.epsilon).rsqrt() * self.g[:, None, None] + self.b[:, None, None]


NORMS: dict[str, type[Norm]] = {"channels": ChannelNorm, "places": PlaceNorm}


class Convolution(nn.Module):
    """max(0, norm(W * x)) with an odd kernel"""

    def __init__(self, inputs: int, size: int, kernel: int, stride: int = 1, norm: str = "channels"):
        super().__init__()
        self.stride = stride
        self.W = nn.Conv2d(inputs, size, kernel, stride, kernel // 2, bias=False)  # the norm has a bias
        self.norm = NORMS[norm](size)

    def forward(self, plane: Plane) -> Plane:
        data = self.W(plane.data)  # (B, C, H', W')
        return self._at_once(plane, data) or self._plain(plane, data)

    def _at_once(self, plane: Plane, data: Tensor) -> Plane | None:
        """The norm, what is cut off and the mask in one pass, where such a pass has been written."""
        if not isinstance(self.norm, PlaceNorm):
            return None
        norm, sizes = self.norm, strided(plane.sizes, self.stride)
        made = norm_and_cut(data, sizes, norm.g, norm.b, norm.epsilon)
        return None if made is None else plane.over(made, self.stride)

    def _plain(self, plane: Plane, data: Tensor) -> Plane:
        real = None if plane.real is None else plane.real[:, :, :: self.stride, :: self.stride].to(data.dtype)
        return plane.after(self.norm(data, real).relu(), self.stride)


def max_pool(plane: Plane) -> Plane:
    """The highest of 2×2 places, none of them below 0, as a ReLU leaves them: so the zeros of padding never win."""
    return plane.over(F.max_pool2d(plane.data, 2, ceil_mode=True), 2)


def mean_pool(plane: Plane) -> Plane:
    """Σ of 2×2 places / 4; beyond the picture's edge there are zeros, as for a convolution."""
    height, width = plane.data.shape[2:]
    whole = F.pad(plane.data, (0, width % 2, 0, height % 2))
    return plane.over(F.avg_pool2d(whole, 2), 2)


def pack(data: Tensor, sizes: Tensor) -> Encoded:
    """A map (B, V, H, W) as places, row by row, those that are real first; summary = their mean.

    S is as many as the picture with most cells has, so a wide one and a high one together make no square.
    """
    places = data.flatten(2).transpose(1, 2)  # (B, H·W, V)
    most = int(sizes.prod(1).max())
    order = torch.arange(most, device=data.device)  # (S,)
    mask = order < sizes.prod(1, keepdim=True)  # (B, S)
    columns = sizes[:, 1:].clamp(min=1)  # (B, 1)
    grid = torch.stack([order // columns, order % columns], -1) * mask[:, :, None]  # (B, S, 2)
    if not _filled(Pictures(data, sizes)):
        where = grid[:, :, 0] * data.size(3) + grid[:, :, 1]  # (B, S)
        places = places.gather(1, where[:, :, None].expand(-1, -1, data.size(1)))  # (B, S, V)
        places = places.masked_fill(~mask[:, :, None], 0)
    summary = places.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # (B, V)
    return Encoded(places, mask, summary, grid=grid)


class MapEncoder(nn.Module):
    """Maps that were computed before → Encoded; with `size`, each place through  max(0, W x + b)

    What it reads are Pictures whose channels are features, as another encoder's `map` gave them.
    """

    stride = 1

    def __init__(self, size_in: int, size: int | None = None, dropout: Dropout | None = None):
        super().__init__()
        self.size = size_in if size is None else size
        self.W = None if size is None else nn.Linear(size_in, size)
        self.dropout = dropout or Dropout(0.0)

    def map(self, source: Pictures) -> Pictures:
        plane = Plane.begin(source)
        if self.W is None:
            return plane.end()
        places = self.W(self.dropout(plane.data.movedim(1, -1))).relu()  # (B, H, W, V)
        return plane.after(places.movedim(-1, 1)).end()

    def forward(self, source: Pictures) -> Encoded:
        return pack(*self.map(source))
