"""What must hold of every reader of pictures, and pictures to try it on."""

from typing import Any

import torch
from torch import Tensor, nn

from regard.data.planes import Pictures

SIZES = [(13, 29), (37, 8), (1, 1), (21, 33)]  # odd and even, wide and high, and the smallest there is


def pictures(channels: int, sizes: list[tuple[int, int]] | None = None, seed: int = 1) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(channels, *size, generator=generator, dtype=torch.float64) for size in sizes or SIZES]


def together(every: list[Tensor], more: int = 0, filler: float = 0.0) -> Pictures:
    """In one rectangle, `more` places larger than it needs to be."""
    sizes = torch.tensor([one.shape[1:] for one in every])
    height, width = (sizes.amax(0) + more).tolist()
    data = torch.full((len(every), every[0].size(0), height, width), filler, dtype=every[0].dtype)
    for row, one in enumerate(every):
        data[row, :, : one.size(1), : one.size(2)] = one
    return Pictures(data, sizes)


def randomised(module: nn.Module) -> nn.Module:
    """In fp64, and no number is zero or one by initialisation: a bias of zero would hide what padding does."""
    torch.manual_seed(0)
    module.double().eval()
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3 if weight.dim() < 2 else (2 / weight[0].numel()) ** 0.5)
    return module


def check_alone_is_together(encoder: Any, every: list[Tensor], tolerance: float = 1e-9) -> None:
    """Batch mates, more padding, garbage in it and order change nothing; real places come first, row by row."""
    encoded = encoder(together(every))
    for row, one in enumerate(every):
        alone = encoder(together([one]))
        height, width = ((side + encoder.stride - 1) // encoder.stride for side in one.shape[1:])
        count = height * width
        assert alone.values.shape == (1, count, encoder.size)
        assert alone.mask.all()
        assert encoded.mask[row].tolist() == [place < count for place in range(encoded.mask.size(1))]
        assert encoded.grid[row, :count].tolist() == [[r, c] for r in range(height) for c in range(width)]
        _same(encoded.values[row, :count], alone.values[0], tolerance)
        _same(encoded.summary[row], alone.summary[0], tolerance)
        assert (encoded.values[row, count:] == 0).all()
    for other in (encoder(together(every, more=9)), encoder(together(every, more=3, filler=1e3))):
        _same(other.values, encoded.values, tolerance)
        _same(other.summary, encoded.summary, tolerance)
    turned = encoder(together(every[::-1]))
    _same(turned.values.flip(0), encoded.values, tolerance)
    assert encoded.values[encoded.mask].std() > 1e-3  # it says something


def _same(one: Tensor, other: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(one, other, atol=tolerance, rtol=0)
