"""Clips: frames are read for themselves and all at once, motions locally; frames that are not there change nothing."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.planes import Clips, Pictures
from regard.encoders.convolution import ConvolutionEncoder
from regard.encoders.plane import MapEncoder
from regard.encoders.recurrent import RecurrentEncoder
from regard.encoders.video import SPREAD, FrameEncoder, LocalEncoder, Shift, moving, pooled
from tests.encoders.plane_laws import randomised
from tests.tiny import arrays

B, F, C, H, W = 3, 7, 2, 6, 5
LENGTHS = torch.tensor([3, 7, 1])
REAL = torch.arange(F) < LENGTHS[:, None]


def clips() -> Tensor:
    return torch.randn(B, F, C, H, W, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def filled(data: Tensor, lengths: Tensor) -> Clips:
    """Clips that are all as high and wide as their block."""
    return Clips(data, lengths, torch.tensor(data.shape[-2:]).expand(len(data), 2))


def frames() -> ConvolutionEncoder:
    return ConvolutionEncoder(C, ((3,), (4,)))


MAKES = {
    "frames": lambda: FrameEncoder(frames()),
    "states": lambda: FrameEncoder(frames(), RecurrentEncoder(4, 5, "gru")),
    "local": lambda: LocalEncoder(C, (3, 5)),
    "slow": lambda: LocalEncoder(C, (3, 5, 4), 2),
    "both": lambda: FrameEncoder(frames(), RecurrentEncoder(9, 5, "lstm"), LocalEncoder(C, (3, 5))),
    "highest": lambda: FrameEncoder(frames(), None, LocalEncoder(C, (3, 5), pool="max"), pool="max"),
    "parts": lambda: FrameEncoder(frames(), RecurrentEncoder(24, 5, "gru"), parts=(2, 3)),
    "local parts": lambda: LocalEncoder(C, (3, 5), parts=(1, 2)),
    "highest of parts": lambda: FrameEncoder(frames(), None, LocalEncoder(C, (3,), 0, "max", (3, 2)), "max", (3, 2)),
    "moving": lambda: FrameEncoder(frames(), None, LocalEncoder(C, (3,)), moves=True),
    "beside": lambda: FrameEncoder(frames(), RecurrentEncoder(4, 5, "gru"), beside=True),
    "slow both": lambda: FrameEncoder(frames(), None, LocalEncoder(C, (3, 5), 1)),
}
every_encoder = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)


@every_encoder
def test_padding_changes_nothing(make: Any) -> None:
    """More of it, garbage in it, no batch mates, another order."""
    made = randomised(make())
    encoded: Encoded = made(filled(clips(), LENGTHS))
    step = made.stride if isinstance(made, LocalEncoder) else 1
    cells = -(-LENGTHS // step)
    assert encoded.mask.equal(torch.arange(-(-F // step)) < cells[:, None])
    assert encoded.values.shape == (*encoded.mask.shape, made.size)
    assert encoded.grid is None
    assert (encoded.values[~encoded.mask] == 0).all()
    longer = torch.cat([clips(), torch.zeros(B, 4, C, H, W, dtype=torch.float64)], 1)
    garbage = torch.where(REAL[:, :, None, None, None], clips(), 1e3)
    for other in (made(filled(longer, LENGTHS)), made(filled(garbage, LENGTHS))):
        same(other.values[:, : encoded.values.size(1)], encoded.values)
        same(other.summary, encoded.summary)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = made(filled(clips()[row : row + 1, :length], LENGTHS[row : row + 1]))
        assert alone.mask.all()
        same(alone.values[0], encoded.values[row, : cells[row]])
        same(alone.summary[0], encoded.summary[row])
    turned = made(filled(clips().flip(0), LENGTHS.flip(0)))
    same(turned.values.flip(0), encoded.values)


@every_encoder
def test_clips_of_other_sizes_change_nothing(make: Any) -> None:
    """Beside a larger clip, with garbage around it, a clip is what it is alone."""
    made, sizes = randomised(make()), [(3, 5), (6, 2), (4, 4)]
    block = Clips(clips(), LENGTHS, torch.tensor(sizes))
    garbage = torch.where(block.places[:, :, None], clips(), 1e3)
    encoded: Encoded = made(block._replace(data=garbage))
    for row, (length, (height, width)) in enumerate(zip(LENGTHS.tolist(), sizes, strict=True)):
        alone = made(filled(clips()[row : row + 1, :length, :, :height, :width], LENGTHS[row : row + 1]))
        same(alone.values[0], encoded.values[row, : alone.values.size(1)])
        same(alone.summary[0], encoded.summary[row])


@every_encoder
def test_no_gradient_reaches_padding(make: Any) -> None:
    given = clips().requires_grad_()
    made = randomised(make())
    encoded = made(filled(given, LENGTHS))
    (encoded.values.square().sum() + encoded.summary.sum()).backward()
    assert given.grad is not None
    assert (given.grad[~REAL] == 0).all()
    moves = getattr(made, "moves", False)  # of a clip of one frame nothing does
    assert (given.grad[REAL & (moves < LENGTHS)[:, None]].flatten(1) != 0).any(1).all()


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-9, rtol=0)


def test_each_frame_is_the_mean_of_its_map() -> None:
    made = randomised(FrameEncoder(frames()))
    encoded = made(filled(clips(), LENGTHS))
    for row, length in enumerate(LENGTHS.tolist()):
        for t in range(length):
            one = made.frames.map(Pictures(clips()[row, t][None], torch.tensor([[H, W]]))).data[0]
            same(encoded.values[row, t], one.mean((1, 2)))
        same(encoded.summary[row], encoded.values[row, :length].mean(0))


def test_or_the_highest_of_each_channel_over_space() -> None:
    made = randomised(FrameEncoder(frames(), None, LocalEncoder(C, (3, 5), pool="max"), pool="max"))
    encoded = made(filled(clips(), LENGTHS))
    assert made.local is not None
    moving, real = clips().transpose(1, 2), torch.ones(B, 1, F, H, W, dtype=torch.float64)
    for layer in made.local.layers:
        moving, real = layer(moving, real)
    one = made.frames.map(Pictures(clips()[1, 4][None], torch.tensor([[H, W]]))).data[0]
    same(encoded.values[1, 4], torch.cat([one.amax((1, 2)), moving[1, :, 4].amax((1, 2))]))


@pytest.mark.parametrize("parts", [(1, 1), (2, 3), (6, 5), (7, 4)])
@pytest.mark.parametrize("pool", ["mean", "max"])
def test_parts_of_a_map_are_pooled_for_themselves(pool: str, parts: tuple[int, int]) -> None:
    """Also where there are more parts than cells; what lies outside a map does not count."""
    maps = Pictures(clips()[:, 0], torch.tensor([[6, 5], [3, 1], [6, 5]]))
    vectors = pooled(maps, pool, parts).view(B, C, *parts)
    for row, (height, width) in enumerate(maps.sizes.tolist()):
        for r, c in np.ndindex(*parts):
            rows = slice(r * height // parts[0], -(-(r + 1) * height // parts[0]))
            columns = slice(c * width // parts[1], -(-(c + 1) * width // parts[1]))
            cells = maps.data[row, :, rows, columns].flatten(1)  # (C, cells)
            same(vectors[row, :, r, c], cells.mean(1) if pool == "mean" else cells.amax(1))


def test_pooled_by_hand() -> None:
    maps = Pictures(torch.arange(8.0).view(1, 1, 2, 4), torch.tensor([[2, 4]]))
    assert pooled(maps, "mean", (1, 2)).tolist() == [[2.5, 4.5]]
    assert pooled(maps, "max", (2, 1)).tolist() == [[3, 7]]


def test_parts_of_frames_and_motions_stand_side_by_side() -> None:
    local = LocalEncoder(C, (3, 5), parts=(2, 3))
    made = randomised(FrameEncoder(frames(), None, local, parts=(2, 3)))
    encoded = made(filled(clips(), LENGTHS))
    assert (made.size, local.size) == (4 * 6 + 5 * 6, 5 * 6)
    one = made.frames.map(Pictures(clips()[1, 4][None], torch.tensor([[H, W]])))
    same(encoded.values[1, 4, :24], pooled(one, "mean", (2, 3))[0])
    same(encoded.values[:, :, 24:], local(filled(clips(), LENGTHS)).values)


def test_what_moves_is_its_equation() -> None:
    moved = moving(filled(clips(), LENGTHS)).data
    for row, length in enumerate(LENGTHS.tolist()):
        real = clips()[row, :length].numpy()  # (F, C, H, W)
        for c, i, j in np.ndindex(C, H, W):
            x = real[:, c, i, j]
            y = (x - x.mean()) / np.sqrt(x.var() + SPREAD**2)
            np.testing.assert_allclose(moved[row, :length, c, i, j], y, atol=1e-12)
        assert (moved[row, length:] == 0).all()


def test_a_clip_is_shifted_as_a_whole_while_it_is_learnt_from() -> None:
    """Each by its own steps, within its own size; the edge is repeated, and what lies beyond stays."""
    sizes, shift = torch.tensor([[3, 5], [6, 2], [6, 5]]), Shift(2)
    source = Clips(clips(), LENGTHS, sizes)
    found = set()
    for seed in range(20):
        torch.manual_seed(seed)
        shifted = shift(source).data
        for row, (height, width) in enumerate(sizes.tolist()):
            assert shifted[row, :, :, height:].equal(source.data[row, :, :, height:])
            assert shifted[row, :, :, :, width:].equal(source.data[row, :, :, :, width:])
            steps = [one for one in np.ndindex(5, 5) if shifted[row].equal(by_hand(clips()[row], one, height, width))]
            found.add((row, *steps[0]))
    assert len(found) > 15  # of 75
    assert source.data.equal(clips())  # what was handed in is not touched
    assert shift.eval()(source) is source


def by_hand(clip: Tensor, step: tuple[int, ...], height: int, width: int) -> Tensor:
    moved = clip.clone()
    for i, j in np.ndindex(height, width):
        row, column = min(max(i + step[0] - 2, 0), height - 1), min(max(j + step[1] - 2, 0), width - 1)
        moved[:, :, i, j] = clip[:, :, row, column]
    return moved


def test_only_real_frames_are_read_and_all_at_once() -> None:
    counted: list[int] = []

    class Counting(ConvolutionEncoder):
        def map(self, source: Pictures) -> Pictures:
            counted.append(len(source.data))
            return super().map(source)

    made = FrameEncoder(Counting(C, ((3,),))).double()
    made(filled(clips(), LENGTHS))
    made(filled(clips(), torch.full((B,), F)))
    assert counted == [int(LENGTHS.sum()), B * F]


def test_states_follow_the_frames() -> None:
    """h_t = RNN(h_{t-1}, CNN(x_t)): what the same RNN makes of the frames' vectors."""
    made = randomised(FrameEncoder(frames(), RecurrentEncoder(4, 5, "gru", bidirectional=False)))
    vectors = FrameEncoder(made.frames)(filled(clips(), LENGTHS)).values
    expected, encoded = made.rnn(Padded(vectors, LENGTHS)), made(filled(clips(), LENGTHS))
    same(encoded.values, expected.values)
    same(encoded.summary, encoded.values[torch.arange(B), LENGTHS - 1])
    assert made.size == 5


def test_frames_may_stand_beside_their_states() -> None:
    made = randomised(FrameEncoder(frames(), RecurrentEncoder(4, 5, "gru", bidirectional=False), beside=True))
    vectors, encoded = FrameEncoder(made.frames)(filled(clips(), LENGTHS)), made(filled(clips(), LENGTHS))
    states = made.rnn(Padded(vectors.values, LENGTHS))
    same(encoded.values, torch.cat([vectors.values, states.values], -1))
    same(encoded.summary, torch.cat([vectors.summary, states.summary], -1))
    assert made.size == 4 + 5


@pytest.mark.parametrize("slowing", [0, 1, 2])
def test_local_features_stand_beside_the_frames_of_their_time(slowing: int) -> None:
    local = LocalEncoder(C, (3, 5), slowing)
    made = randomised(FrameEncoder(frames(), None, local))
    assert made.size == 9
    encoded, near = made(filled(clips(), LENGTHS)), local(filled(clips(), LENGTHS))
    same(encoded.values[:, :, :4], FrameEncoder(made.frames)(filled(clips(), LENGTHS)).values)
    for row, length in enumerate(LENGTHS.tolist()):
        for t in range(length):
            same(encoded.values[row, t, 4:], near.values[row, t // 2**slowing])


def test_vectors_computed_before_are_maps_of_one_cell() -> None:
    vectors = torch.randn(B, F, C, dtype=torch.float64)
    encoded = FrameEncoder(MapEncoder(C))(filled(vectors[..., None, None], LENGTHS))
    assert encoded.values.equal(vectors * REAL[:, :, None])


@pytest.mark.parametrize("slowing", [0, 1])
def test_a_local_layer_is_its_equation(slowing: int) -> None:
    made = randomised(LocalEncoder(C, (3,), slowing))
    kernel, g, b = arrays(made)
    encoded = made(filled(clips(), LENGTHS)).values.detach()
    step = 2**slowing
    for row, length in enumerate(LENGTHS.tolist()):
        around = np.pad(clips()[row, :length].numpy(), ((1, 1), (0, 0), (1, 1), (1, 1)))  # (F, C, H, W)
        for t in range(-(-length // step)):
            cells = []
            for i, j in np.ndindex(3, 3):  # every other row and column
                window = around[step * t : step * t + 3, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
                z = (kernel * window.transpose(1, 0, 2, 3)).sum((1, 2, 3, 4))
                cells.append(np.maximum(0, g * (z - z.mean()) / np.sqrt(z.var() + 1e-5) + b))
            np.testing.assert_allclose(encoded[row, t], np.mean(cells, 0), atol=1e-9)


def test_gradients_of_local_features() -> None:
    made = randomised(LocalEncoder(1, (2,), 1))
    lengths = torch.tensor([3, 2])

    def values(data: Tensor) -> Tensor:
        encoded: Encoded = made(filled(data, lengths))
        return encoded.values

    assert gradcheck(values, torch.randn(2, 3, 1, 3, 2, dtype=torch.float64, requires_grad=True))
