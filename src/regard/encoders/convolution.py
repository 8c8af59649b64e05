"""Pictures → Encoded by stages of 3×3 convolutions, trained from scratch."""

from collections.abc import Sequence

from torch import nn

from regard.attention.memory import Encoded
from regard.data.planes import Pictures
from regard.dropout import Dropout
from regard.encoders.plane import Convolution, Plane, max_pool, pack

VGG16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))  # up to conv5_3: 14×14×512 at 224 px
SMALL = ((32,), (64,), (128, 128))  # learns in minutes on two cores; a quarter of the width and height


class ConvolutionEncoder(nn.Module):
    """a_i = the last stage's map at cell i,   x ← max(0, norm(W * x)),  stage upon stage

    `stages` tells the channels of each stage's convolutions. Between two stages width and height are halved: by the
    highest of 2×2 places (Simonyan and Zisserman 2015, whose configuration D without its last pool is VGG16), or with
    `strides` by a stride of 2 in the next stage's first convolution, which costs half as much. Unlike VGG, layers are
    normalised (`norm` is one of NORMS), since without it thirteen of them hardly learn from scratch. With `first` a 5×5
    convolution of stride 2 and so many channels comes before all stages, of which none sees every pixel then.
    """

    def __init__(
        self,
        channels: int,
        stages: Sequence[Sequence[int]] = SMALL,
        strides: bool = False,
        dropout: Dropout | None = None,
        norm: str = "channels",
        first: int = 0,
    ):
        super().__init__()
        self.first = Convolution(channels, first, 5, 2, norm) if first else None
        channels = first or channels
        self.strides = strides
        self.dropout = dropout or Dropout(0.0)
        self.stages = nn.ModuleList()
        for number, sizes in enumerate(stages):
            befores = [channels, *sizes[:-1]]
            steps = [2 if strides and number > 0 else 1, *[1] * (len(sizes) - 1)]
            layers = zip(befores, sizes, steps, strict=True)
            self.stages.append(
                nn.Sequential(*(Convolution(inputs, size, 3, step, norm) for inputs, size, step in layers))
            )
            channels = sizes[-1]
        self.size = channels
        self.stride: int = 2 ** (len(stages) - 1 + (first > 0))

    def map(self, source: Pictures) -> Pictures:
        plane = Plane.begin(source)
        plane = plane if self.first is None else self.first(plane)
        for number, stage in enumerate(self.stages):
            plane = stage(max_pool(plane) if number > 0 and not self.strides else plane)
        return plane.after(self.dropout(plane.data)).end()

    def forward(self, source: Pictures) -> Encoded:
        return pack(*self.map(source))
