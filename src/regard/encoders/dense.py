"""Pictures of lines and formulas → Encoded by a densely connected network."""

import torch
from torch import nn

from regard.attention.memory import Encoded
from regard.data.planes import Pictures
from regard.dropout import Dropout
from regard.encoders.plane import Convolution, Plane, max_pool, mean_pool, pack


class Bottleneck(nn.Module):
    """x ← [x; f_3×3(f_1×1(x))],   f = dropout(max(0, norm(W * x))),   of 4 k and k channels      Huang et al. 2017"""

    def __init__(self, inputs: int, growth: int, dropout: Dropout, norm: str = "channels"):
        super().__init__()
        self.narrow = Convolution(inputs, 4 * growth, 1, norm=norm)
        self.look = Convolution(4 * growth, growth, 3, norm=norm)
        self.dropout = dropout

    def forward(self, plane: Plane) -> Plane:
        narrow = self.narrow(plane)
        look = self.look(narrow._replace(data=self.dropout(narrow.data)))
        return plane._replace(data=torch.cat([plane.data, self.dropout(look.data)], 1))


class Transition(nn.Module):
    """Half the channels by a 1×1 convolution, half the height and width by the mean of 2×2 places"""

    def __init__(self, inputs: int, dropout: Dropout, norm: str = "channels"):
        super().__init__()
        self.narrow = Convolution(inputs, inputs // 2, 1, norm=norm)
        self.dropout = dropout

    def forward(self, plane: Plane) -> Plane:
        narrow = self.narrow(plane)
        return mean_pool(narrow._replace(data=self.dropout(narrow.data)))


class DenseEncoder(nn.Module):
    """a_i = cell i of a DenseNet: 7×7 convolution of stride 2, 2×2 pool, three dense blocks with transitions between

    Zhang, Du and Dai 2018 (formulas; growth k = 24 and depth 16 make 684 channels); Anjum and Khan 2023 (CALText).
    A cell stands for 16×16 pixels. Where theirs normalise over the batch, this one does over one of NORMS.
    """

    stride = 16

    def __init__(
        self,
        channels: int,
        growth: int = 24,
        depth: int = 16,
        dropout: Dropout | None = None,
        norm: str = "channels",
    ):
        super().__init__()
        dropout = dropout or Dropout(0.0)
        self.first = Convolution(channels, 2 * growth, 7, 2, norm)
        self.blocks = nn.ModuleList()
        size = 2 * growth
        for number in range(3):
            if number > 0:
                self.blocks.append(Transition(size, dropout, norm))
                size = size // 2
            sizes = (size + layer * growth for layer in range(depth))
            self.blocks.extend(Bottleneck(inputs, growth, dropout, norm) for inputs in sizes)
            size += depth * growth
        self.size = size

    def map(self, source: Pictures) -> Pictures:
        plane = max_pool(self.first(Plane.begin(source)))
        for block in self.blocks:
            plane = block(plane)
        return plane.end()

    def forward(self, source: Pictures) -> Encoded:
        return pack(*self.map(source))
