"""Pictures bent at random while a network learns to see them: few hands become many."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.memory import Encoded
from regard.data.planes import Pictures
from regard.encoders.plane import PlaneEncoder, pack


class BentEncoder(nn.Module):
    """Another encoder, of pictures that are bent by up to `most` while it learns."""

    def __init__(self, plane: PlaneEncoder, most: float):
        super().__init__()
        self.plane, self.most = plane, most
        self.size, self.stride = plane.size, plane.stride

    def map(self, source: Pictures) -> Pictures:
        return self.plane.map(bend(source, draw(len(source.data), self.most)) if self.training else source)

    def forward(self, source: Pictures) -> Encoded:
        return pack(*self.map(source))


def draw(count: int, most: float) -> Tensor:
    """A (count, 2, 2) for `bend`: ink becomes smaller, to no less than 1 / (1 + most) of either side, slants by up to
    `most` to either side, and lines rise or fall by up to a quarter of that, for they are long."""
    free = torch.rand(count, 2, 2) * 2 - 1
    bounds = torch.tensor([[most, most / 4], [most, most]])
    return torch.eye(2) + bounds * torch.where(torch.eye(2) > 0, free.abs(), free)


def bend(source: Pictures, bent: Tensor) -> Pictures:
    """y(p) = x(c + A (p − c)),  p = (row, column), c the middle of each picture; x between pixels in proportion

    Beyond the picture x is zero, so zero should be the paper.
    """
    height, width = source.data.shape[2:]
    rows, columns = (torch.arange(n, device=source.data.device) for n in (height, width))
    places = torch.stack(torch.meshgrid(rows, columns, indexing="ij"), -1)  # (H, W, 2)
    middle = (source.sizes[:, None, None].to(source.data) - 1) / 2  # (B, 1, 1, 2)
    read = middle + (places - middle) @ bent.to(source.data).transpose(1, 2)[:, None]  # (B, H, W, 2)
    whole = read.new_tensor([max(1, height - 1), max(1, width - 1)])
    where = (2 * read / whole - 1).flip(-1)  # columns first, from −1 to 1
    data = F.grid_sample(source.data, where, padding_mode="zeros", align_corners=True)
    return source._replace(data=data * source.mask[:, None])
