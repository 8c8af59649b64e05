"""Lines column by column: what a column is, and that padding stays outside."""

import pytest
import torch

from regard.encoders.columns import ColumnEncoder
from regard.encoders.convolution import ConvolutionEncoder
from regard.encoders.recurrent import RecurrentEncoder
from regard.errors import UsageError
from regard.recipe import Look, Model
from regard.tasks.eyes import eye_from_json
from regard.tasks.optics import make_clip_eye, make_picture_encoder, make_picture_eye
from tests.encoders.plane_laws import pictures, randomised, together

HEIGHT, ROWS = 13, 4  # pixels, and cells of a quarter of them
WIDTHS = [29, 8, 1, 33]


def reader() -> ColumnEncoder:
    plane = ConvolutionEncoder(1, ((3,), (5,), (7,)), norm="places")
    made = randomised(ColumnEncoder(plane, RecurrentEncoder(7 * ROWS, 11, "gru")))
    assert isinstance(made, ColumnEncoder)
    return made


def test_padding_changes_nothing() -> None:
    encoder, every = reader(), pictures(1, [(HEIGHT, width) for width in WIDTHS])
    encoded = encoder(together(every))
    for other in (encoder(together(every, more=0, filler=1e3)), encoder(together([*every, *every]))):
        torch.testing.assert_close(other.values[:4], encoded.values, atol=1e-9, rtol=0)
        torch.testing.assert_close(other.summary[:4], encoded.summary, atol=1e-9, rtol=0)
    for row, one in enumerate(every):
        alone = encoder(together([one]))
        columns = -(-one.size(2) // 4)
        assert alone.values.shape == (1, columns, 22)
        assert encoded.mask[row].tolist() == [place < columns for place in range(encoded.mask.size(1))]
        torch.testing.assert_close(encoded.values[row, :columns], alone.values[0], atol=1e-9, rtol=0)
        torch.testing.assert_close(encoded.summary[row], alone.summary[0], atol=1e-9, rtol=0)
        assert (encoded.values[row, columns:] == 0).all()


def test_a_column_is_its_cells_one_upon_the_other() -> None:
    encoder, (picture,) = reader(), pictures(1, [(HEIGHT, 29)])
    cells = encoder.plane.map(together([picture])).data[0]  # (V, R, S)
    seen = []
    encoder.rnn.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    encoder(together([picture]))
    (given,) = seen
    assert given.lengths.tolist() == [8]
    for j in range(8):
        column = torch.cat([cells[:, r, j] for r in range(ROWS)])
        assert given.data[0, j].equal(column)


def test_places_are_columns() -> None:
    look = Look(encoder="small", stages=(4, 4, 4), fit="height", size=HEIGHT, channels=1, columns=True)
    eye = make_picture_eye(look)
    assert eye_from_json(eye.to_json()) == eye
    older = {name: value for name, value in eye.to_json().items() if name != "columns"}
    assert eye_from_json(older) == make_picture_eye(Look(**{**vars(look), "columns": False}))
    encoder = make_picture_encoder(look, Model(hidden=10))
    assert encoder(together([one.float() for one in pictures(1, [(HEIGHT, 29)])])).values.shape == (1, 8, 10)


def test_lines_must_have_one_height() -> None:
    with pytest.raises(UsageError, match="fit=height"):
        make_picture_eye(Look(columns=True, fit="within"))


def test_clips_have_no_columns() -> None:
    with pytest.raises(UsageError, match="does nothing for clips"):
        make_clip_eye(Look(columns=True, fit="height"))
