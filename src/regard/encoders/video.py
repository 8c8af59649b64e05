"""Clips → Encoded over their frames: each frame by a network for pictures, short motions by 3-D convolutions.

The four settings of Yao et al. 2015 are these with and without `local`, under a decoder with and without attention.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.planes import Clips, Pictures
from regard.encoders.plane import ChannelNorm, PlaneEncoder, strided
from regard.encoders.recurrent import RecurrentEncoder


class LocalEncoder(nn.Module):
    """m_j = mean over the cells, or with pool="max" the highest, of 3×3×3 convolutions at time j   Yao et al. 2015, 3.1

    `channels` tells the layers; each halves height and width, and the first `slowing` of them time. As in the plane
    (plane.py), a cell is real if the place s·j of its middle is, in time and space, and those that are not are zeroed
    after every layer.
    """

    def __init__(self, inputs: int, channels: Sequence[int], slowing: int = 0, pool: str = "mean"):
        super().__init__()
        self.size, self.pool = channels[-1], pool
        self.stride: int = 2**slowing  # frames between two cells
        befores = [inputs, *channels[:-1]]
        self.layers = nn.ModuleList(
            _Moving(before, size, 2 if number < slowing else 1)
            for number, (before, size) in enumerate(zip(befores, channels, strict=True))
        )

    def forward(self, source: Clips) -> Encoded:
        real = source.places[:, None].to(source.data.dtype)  # (B, 1, F, H, W)
        data = source.data.transpose(1, 2) * real  # (B, C, F, H, W)
        for layer in self.layers:
            data, real = layer(data, real)
        cells = real.sum((-1, -2)).clamp(min=1)  # (B, 1, F')  of each frame
        space = data.amax((-1, -2)) if self.pool == "max" else data.sum((-1, -2)) / cells  # (B, V, F')
        return _listed(Padded(space.transpose(1, 2), strided(source.lengths, self.stride)))


class _Moving(nn.Module):
    """max(0, norm(W * x)) over time and space"""

    def __init__(self, inputs: int, size: int, slower: int):
        super().__init__()
        self.slower = slower
        self.W = nn.Conv3d(inputs, size, 3, (slower, 2, 2), 1, bias=False)
        self.norm = ChannelNorm(size)

    def forward(self, data: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        real = real[:, :, :: self.slower, ::2, ::2]  # (B, 1, F', H', W')
        return self.norm(self.W(data)).relu() * real, real


class FrameEncoder(nn.Module):
    """h_t = RNN(h_{t-1}, [CNN(x_t); m_⌊t/s⌋]),   summary = the last state; without an RNN the vectors, and their mean

    CNN(x_t) is the mean over the map of frame t, or with pool="max" the highest of each channel: a mean forgets what is
    small in a large frame. Vectors computed before are maps of one cell, (B, F, C, 1, 1), and a MapEncoder reads them.
    With `local`, the local features of its time (s frames apart) stand beside each such vector.
    """

    def __init__(
        self,
        frames: PlaneEncoder,
        rnn: RecurrentEncoder | None = None,
        local: LocalEncoder | None = None,
        pool: str = "mean",
    ):
        super().__init__()
        self.frames, self.local, self.pool = frames, local, pool
        self.rnn = rnn  # reads vectors of the size of both together
        both = frames.size + (0 if local is None else local.size)
        self.size = both if rnn is None else rnn.size

    def forward(self, source: Clips) -> Encoded:
        vectors = self._each(source)  # (B, F, V)
        if self.local is not None:
            near = self.local(source).values.repeat_interleave(self.local.stride, 1)  # (B, ≥ F, V')
            near = near[:, : vectors.size(1)] * source.mask[:, :, None]
            vectors = torch.cat([vectors, near], -1)  # (B, F, V + V')
        clips = Padded(vectors, source.lengths)
        if self.rnn is None:
            return _listed(clips)
        encoded: Encoded = self.rnn(clips)
        return encoded

    def _each(self, source: Clips) -> Tensor:
        """All real frames of all clips at once; zero where a clip has none."""
        where = source.mask.flatten().nonzero()[:, 0]  # (N,)
        frames = source.data.flatten(0, 1)  # (B·F, C, H, W)
        frames = frames if len(where) == len(frames) else frames[where]  # (N, C, H, W)
        seen = self.frames(Pictures(frames, source.sizes[where // source.mask.size(1)]))
        vectors = _highest(seen) if self.pool == "max" else seen.summary  # (N, V)
        spread = vectors.new_zeros(source.mask.numel(), vectors.size(1)).index_copy(0, where, vectors)
        return spread.view(*source.mask.shape, -1)


def _highest(seen: Encoded) -> Tensor:
    """The highest of each channel over the real places: (N, V)"""
    lowest = torch.finfo(seen.values.dtype).min
    return seen.values.masked_fill(~seen.mask[:, :, None], lowest).amax(1)


def _listed(places: Padded) -> Encoded:
    """Vectors as they are, zero on padding; summary = their mean."""
    return Encoded(places.data, places.mask, places.data.sum(1) / places.lengths[:, None].clamp(min=1))
