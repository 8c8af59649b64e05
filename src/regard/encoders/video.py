"""Clips → Encoded over their frames: each frame by a network for pictures, short motions by 3-D convolutions.

The four settings of Yao et al. 2015 are these with and without `local`, under a decoder with and without attention.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.planes import Pictures
from regard.encoders.plane import ChannelNorm, PlaneEncoder, strided
from regard.encoders.recurrent import RecurrentEncoder


class LocalEncoder(nn.Module):
    """m_j = mean over space, or with pool="max" the highest, of 3×3×3 convolutions at time j      Yao et al. 2015, 3.1

    `channels` tells the layers; each halves height and width, and the first `slowing` of them time. As in the plane
    (plane.py), cell j is real if frame s·j is, and frames that are not are zeroed after every layer.
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

    def forward(self, source: Padded) -> Encoded:
        real = source.mask[:, :, None, None, None]  # (B, F, 1, 1, 1)
        clips = Padded((source.data * real).transpose(1, 2), source.lengths)  # (B, C, F, H, W)
        for layer in self.layers:
            clips = layer(clips)
        space = clips.data.amax((-1, -2)) if self.pool == "max" else clips.data.mean((-1, -2))  # (B, V, F')
        return _listed(Padded(space.transpose(1, 2), clips.lengths))


class _Moving(nn.Module):
    """max(0, norm(W * x)) over time and space"""

    def __init__(self, inputs: int, size: int, slower: int):
        super().__init__()
        self.slower = slower
        self.W = nn.Conv3d(inputs, size, 3, (slower, 2, 2), 1, bias=False)
        self.norm = ChannelNorm(size)

    def forward(self, clips: Padded) -> Padded:
        data = self.norm(self.W(clips.data)).relu()  # (B, V, F', H', W')
        lengths = strided(clips.lengths, self.slower)
        real = torch.arange(data.size(2), device=data.device) < lengths[:, None]  # (B, F')
        return Padded(data * real[:, None, :, None, None], lengths)


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

    def forward(self, source: Padded) -> Encoded:
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

    def _each(self, source: Padded) -> Tensor:
        """All real frames of all clips at once; zero where a clip has none."""
        where = source.mask.flatten().nonzero()[:, 0]  # (N,)
        frames = source.data.flatten(0, 1)  # (B·F, C, H, W)
        frames = frames if len(where) == len(frames) else frames[where]  # (N, C, H, W)
        sizes = where.new_tensor(frames.shape[2:]).expand(len(where), 2)
        seen = self.frames(Pictures(frames, sizes))  # of one size: all its places are real
        vectors = seen.values.amax(1) if self.pool == "max" else seen.summary  # (N, V)
        spread = vectors.new_zeros(source.mask.numel(), vectors.size(1)).index_copy(0, where, vectors)
        return spread.view(*source.mask.shape, -1)


def _listed(places: Padded) -> Encoded:
    """Vectors as they are, zero on padding; summary = their mean."""
    return Encoded(places.data, places.mask, places.data.sum(1) / places.lengths[:, None].clamp(min=1))
