"""Clips → Encoded over their frames: each frame by a network for pictures, short motions by 3-D convolutions.

The four settings of Yao et al. 2015 are these with and without `local`, under a decoder with and without attention.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.planes import Clips, Pictures
from regard.encoders.lstmn import LSTMNEncoder
from regard.encoders.plane import ChannelNorm, PlaneEncoder, strided
from regard.encoders.recurrent import RecurrentEncoder

Parts = tuple[int, int]  # rows and columns
Pool = Callable[[Tensor, Parts], Tensor]
POOLS: dict[str, Pool] = {"mean": functional.adaptive_avg_pool2d, "max": functional.adaptive_max_pool2d}


def pooled(maps: Pictures, pool: str, parts: Parts) -> Tensor:
    """y_rc = mean, or with pool="max" the highest of each channel, of the cells in part (r, c); all y_rc side by side

    Of n rows of a map, part r of R has those from ⌊rn / R⌋ to before ⌈(r+1)n / R⌉, and columns likewise: a map with
    fewer cells than there are parts lends the same cell to several. Only the real cells of each map count.
    """
    vectors = maps.data.new_zeros(len(maps.data), maps.data.size(1) * parts[0] * parts[1])  # (N, V·R·C)
    for height, width in {(height, width) for height, width in maps.sizes.tolist()}:
        where = (maps.sizes == maps.sizes.new_tensor([height, width])).all(1).nonzero()[:, 0]  # (M,)
        cells = POOLS[pool](maps.data[where, :, :height, :width], parts)  # (M, V, R, C)
        vectors = vectors.index_copy(0, where, cells.flatten(1))
    return vectors


SPREAD = 0.02  # of a pixel that stands still: the noise of a camera, where white is 1


def moving(source: Clips) -> Clips:
    """y_tp = (x_tp − mean_t x_p) / √(var_t x_p + σ²),  over the real frames t of one clip, for each pixel p

    What stands still, a face and the room behind it, is louder than what moves and the same at all times: it goes. Of a
    clip of one frame nothing is left.
    """
    real = source.mask[:, :, None, None, None].to(source.data.dtype)  # (B, F, 1, 1, 1)
    frames = source.lengths[:, None, None, None, None].clamp(min=1)  # (B, 1, 1, 1, 1)
    apart = (source.data - (source.data * real).sum(1, keepdim=True) / frames) * real  # (B, F, C, H, W)
    variance = apart.square().sum(1, keepdim=True) / frames  # (B, 1, C, H, W)
    return source._replace(data=apart * (variance + SPREAD**2).rsqrt())


class Shift(nn.Module):
    """y_ij = x_{i+r, j+c} of all frames of a clip, its edges repeated; r, c = −most … most are drawn while it learns"""

    def __init__(self, most: int):
        super().__init__()
        self.most = most

    def forward(self, source: Clips) -> Clips:
        if not self.training or self.most == 0:
            return source
        steps = torch.randint(-self.most, self.most + 1, source.sizes.shape).tolist()  # B · (r, c)
        data = source.data.clone()  # (B, F, C, H, W)
        for clip, (height, width), (r, c) in zip(data, source.sizes.tolist(), steps, strict=True):
            rows, columns = _moved(height, r, data.device), _moved(width, c, data.device)
            clip[:, :, :height, :width] = clip[:, :, rows[:, None], columns]
        return source._replace(data=data)


def _moved(places: int, step: int, device: torch.device) -> Tensor:
    return (torch.arange(places, device=device) + step).clamp(0, places - 1)  # (places,)


class LocalEncoder(nn.Module):
    """m_j = `pooled` cells of 3×3×3 convolutions at time j                              Yao et al. 2015, 3.1

    `channels` tells the layers; each halves height and width, and the first `slowing` of them time. As in the plane
    (plane.py), a cell is real if the place s·j of its middle is, in time and space, and those that are not are zeroed
    after every layer.
    """

    def __init__(
        self, inputs: int, channels: Sequence[int], slowing: int = 0, pool: str = "mean", parts: Parts = (1, 1)
    ):
        super().__init__()
        self.pool, self.parts = pool, parts
        self.size = channels[-1] * parts[0] * parts[1]
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
        lengths = strided(source.lengths, self.stride)
        cells = strided(source.sizes, 2 ** len(self.layers)).repeat_interleave(data.size(2), 0)  # (B·F', 2)
        vectors = pooled(Pictures(data.transpose(1, 2).flatten(0, 1), cells), self.pool, self.parts)  # (B·F', V)
        return _listed(Padded(vectors.view(len(lengths), -1, self.size), lengths))


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

    CNN(x_t) is the `pooled` map of frame t. The mean over all of it forgets what is small in a large frame, and where
    it was: the highest of each channel (pool="max") keeps the one, several `parts` the other. Vectors computed before
    are maps of one cell, (B, F, C, 1, 1), and a MapEncoder reads them.
    With `local`, the local features of its time (s frames apart) stand beside each such vector. With `moves` both see
    what is `moving` in a clip, and with `shift` a clip is moved by as many pixels while the encoder learns. With
    `beside` a value is [x_t; h_t], where x_t is what the RNN reads: attention need not find in states what it sees.
    """

    def __init__(
        self,
        frames: PlaneEncoder,
        rnn: RecurrentEncoder | LSTMNEncoder | None = None,
        local: LocalEncoder | None = None,
        pool: str = "mean",
        parts: Parts = (1, 1),
        moves: bool = False,
        shift: int = 0,
        beside: bool = False,
    ):
        super().__init__()
        self.frames, self.local, self.pool, self.parts = frames, local, pool, parts
        self.moves, self.shift = moves, Shift(shift)
        self.rnn = rnn  # reads vectors of the size of both together
        both = frames.size * parts[0] * parts[1] + (0 if local is None else local.size)
        self.beside = beside
        self.size = both if rnn is None else rnn.size + both * beside

    def forward(self, source: Clips) -> Encoded:
        source = self.shift(moving(source) if self.moves else source)
        vectors = self._each(source)  # (B, F, V)
        if self.local is not None:
            near = self.local(source).values.repeat_interleave(self.local.stride, 1)  # (B, ≥ F, V')
            near = near[:, : vectors.size(1)] * source.mask[:, :, None]
            vectors = torch.cat([vectors, near], -1)  # (B, F, V + V')
        clips = Padded(vectors, source.lengths)
        if self.rnn is None:
            return _listed(clips)
        encoded: Encoded = self.rnn(clips)
        return _side_by_side(_listed(clips), encoded) if self.beside else encoded

    def _each(self, source: Clips) -> Tensor:
        """All real frames of all clips at once; zero where a clip has none."""
        where = source.mask.flatten().nonzero()[:, 0]  # (N,)
        frames = source.data.flatten(0, 1)  # (B·F, C, H, W)
        frames = frames if len(where) == len(frames) else frames[where]  # (N, C, H, W)
        maps = self.frames.map(Pictures(frames, source.sizes[where // source.mask.size(1)]))
        vectors = pooled(maps, self.pool, self.parts)  # (N, V)
        spread = vectors.new_zeros(source.mask.numel(), vectors.size(1)).index_copy(0, where, vectors)
        return spread.view(*source.mask.shape, -1)


def _side_by_side(vectors: Encoded, states: Encoded) -> Encoded:
    values = torch.cat([vectors.values, states.values], -1)  # (B, F, V + H)
    return Encoded(values, states.mask, torch.cat([vectors.summary, states.summary], -1))


def _listed(places: Padded) -> Encoded:
    """Vectors as they are, zero on padding; summary = their mean."""
    return Encoded(places.data, places.mask, places.data.sum(1) / places.lengths[:, None].clamp(min=1))
