"""Readers that point into a passage: what dropout may not do. Their equations are tested with the attentions."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded, pad
from regard.decoders.reader import ClozeReader
from regard.settings import build
from regard.tasks import fill, read
from tests.laws.test_pointing import EXAMPLES


class EachAlone(nn.Module):
    """Stands for an encoder: a word's state says nothing of its neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(7, 64)

    def forward(self, source: Padded) -> Encoded:
        values: Tensor = self.table(source.data)
        return Encoded(values, source.mask, values.sum(1))


def test_dropout_leaves_equal_words_of_a_passage_equal() -> None:
    torch.manual_seed(1)
    reader = ClozeReader(EachAlone(), dropout=0.5).train()  # type: ignore[arg-type]
    over = reader(pad([[2, 3, 2, 4, 3]]), pad([[5, 3]]))
    torch.testing.assert_close(over.weights[..., 0], over.weights[..., 2])
    torch.testing.assert_close(over.weights[..., 1], over.weights[..., 4])
    again = reader(pad([[2, 3, 2, 4, 3]]), pad([[5, 3]]))
    assert not torch.equal(over.weights, again.weights)  # it does draw


def test_passages_and_questions_are_read_without_dropout() -> None:
    sizes = {"model.embed": 5, "model.hidden": 6, "source.symbols": "tokens", "training.smoothing": 0.0}
    for task in (read, fill):
        recipe = build({**sizes, "model.dropout": 0.5}, "here")
        codec = task.codec(EXAMPLES, recipe)
        torch.manual_seed(1)
        encoder = task.build(codec, recipe).train()
        encoder = encoder.encoder if task is fill else encoder.encoder.encoder
        words = pad([[4, 5, 6]])
        torch.testing.assert_close(encoder(words).values, encoder(words).values)
