"""Whatever comes, nothing is read."""

import torch

from regard.data.batching import pad
from regard.encoders.nothing import Nothing


def test_there_are_rows_but_no_places() -> None:
    for sources in ([[], [], []], [[4, 5], [], [6]]):
        encoded = Nothing()(pad(sources))
        assert encoded.values.shape == (3, 0, Nothing.size)
        assert encoded.mask.shape == (3, 0)
        assert torch.equal(encoded.summary, torch.zeros(3, Nothing.size))
