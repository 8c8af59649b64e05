"""One class is chosen: the loss, its penalty, and weights that are shown as they were used."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.attention.pool import POOLS, redundancy
from regard.data.batching import Padded
from regard.decoders.choice import Chooser, Chosen, Classifier, FlatReader, Label, LevelsReader
from regard.dropout import Dropout
from regard.encoders.hierarchy import HierarchicalEncoder
from regard.encoders.recurrent import Embed, RecurrentEncoder, TextEncoder
from regard.losses import class_cross_entropy
from tests.tiny import arrays, padded, softmax

SEPARATOR, CLASSES, SIZE = 4, 5, 6
DOCUMENTS = ([5, 6, 7, 4, 8, 4, 9, 10, 5], [6], [7, 7, 4, 10, 9, 5])
LABELS = torch.tensor([3, 0, 4])


def flat(pool: str = "structured", hidden: int = 0) -> FlatReader:
    torch.manual_seed(0)
    made = POOLS[pool](SIZE, 7, 2)
    reader = FlatReader(words(), made, Classifier(made.size, hidden, CLASSES, Dropout(0.0))).double()
    return randomised(reader)


def levels(pool: str = "attention") -> LevelsReader:
    torch.manual_seed(0)
    lower, upper = POOLS[pool](SIZE, 7, 2), POOLS[pool](4, 7, 2)
    encoder = HierarchicalEncoder(words(), lower, RecurrentEncoder(lower.size, 2, "gru"), SEPARATOR)
    return randomised(LevelsReader(encoder, upper, Classifier(upper.size, 0, CLASSES, Dropout(0.0))).double())


def words() -> TextEncoder:
    return TextEncoder(Embed(11, 5), RecurrentEncoder(5, SIZE // 2, "gru"))


def randomised(module: Any) -> Any:
    for weight in module.parameters():
        nn.init.normal_(weight)
    return module


def test_the_loss_is_its_equation() -> None:
    torch.manual_seed(0)
    logits, smoothing = torch.randn(3, CLASSES).double(), 0.1
    nll = total = 0.0
    for row, label in zip(logits.numpy(), LABELS.tolist(), strict=True):
        log_p = np.log(softmax(row))
        nll -= log_p[label]
        total -= (1 - smoothing) * log_p[label] + smoothing * log_p.mean()
    loss = class_cross_entropy(logits, LABELS, smoothing)
    assert (loss.total.item(), loss.nll.item()) == pytest.approx((total, nll))
    assert loss.symbols == 3


def test_a_label_that_cannot_be_chosen_counts_for_nothing() -> None:
    torch.manual_seed(0)
    logits = torch.randn(3, CLASSES).double()
    some = class_cross_entropy(logits, torch.tensor([3, -1, 4]), 0.1)
    without = class_cross_entropy(logits[[0, 2]], LABELS[[0, 2]], 0.1)
    assert [one.item() for one in some] == pytest.approx([one.item() for one in without])
    assert class_cross_entropy(logits, torch.tensor([-1, -1, -1]), 0.1).total == 0


def test_the_penalty_joins_what_is_minimised_and_not_the_likelihood() -> None:
    reader, source = flat(), padded(*DOCUMENTS)
    plain, kept_apart = (Chooser(reader, weight)(source, None, Label(LABELS, 0.0)) for weight in (0.0, 0.7))
    expected = redundancy(reader(source).seen[0].weights).sum()
    assert (kept_apart.total - plain.total).item() == pytest.approx(0.7 * expected.item())
    assert kept_apart.nll == plain.nll


def test_the_penalty_of_a_label_that_cannot_be_chosen_does_not_count() -> None:
    chooser = Chooser(flat(), 0.7)
    some = chooser(padded(*DOCUMENTS), None, Label(torch.tensor([3, -1, 4]), 0.0))
    without = chooser(padded(DOCUMENTS[0], DOCUMENTS[2]), None, Label(LABELS[[0, 2]], 0.0))
    assert some.total.item() == pytest.approx(without.total.item())


def test_naming_joins_what_is_minimised_word_by_word() -> None:
    """−Σ_n log p(whether n is said); padding is no word, and a label that cannot be chosen does not count."""
    named, said = torch.tensor([[0.3, -1.0, 2.0], [0.0, 4.0, -2.0]]).double(), padded([2, 1], [2])
    plain, naming = (Chooser(Says(named), naming=weight)(said, None, LABEL) for weight in (0.0, 0.7))
    expected = 0.0
    for n, z in enumerate([0.3, -1.0, 2.0]):
        p = 1 / (1 + np.exp(-z))
        expected -= np.log(p if n in (1, 2) else 1 - p)
    assert (naming.total - plain.total).item() == pytest.approx(0.7 * expected)
    assert naming.nll == plain.nll


LABEL = Label(torch.tensor([1, -1]), 0.0, said=Padded(*padded([2, 1], [2])))


class Says(nn.Module):
    """A reader that has made up its mind."""

    attends = False

    def __init__(self, named: Tensor):
        super().__init__()
        self.named = named

    def forward(self, source: Padded, beside: Padded | None) -> Chosen:
        return Chosen(torch.zeros(len(self.named), CLASSES).double(), named=self.named)


@pytest.mark.parametrize("hidden", [0, 7])
def test_a_classifier_is_its_equation(hidden: int) -> None:
    torch.manual_seed(0)
    classifier, vector = Classifier(3, hidden, CLASSES, Dropout(0.0)).double(), torch.randn(2, 3).double()
    *first, U, b = arrays(classifier)
    for row, found in zip(vector.numpy(), classifier(vector).detach().numpy(), strict=True):
        v = np.maximum(first[0] @ row + first[1], 0) if hidden else row
        np.testing.assert_allclose(found, U @ v + b, atol=1e-12)


@torch.no_grad()
def test_a_words_weight_is_that_in_its_sentence_times_the_sentences() -> None:
    reader, source = levels(), padded(*DOCUMENTS)
    chosen, read = reader(source), reader.encoder(source)
    upper = reader.pool(*read.sentences[:3]).weights
    for row, document in enumerate(DOCUMENTS):
        line = 0
        for place, symbol in enumerate(document):
            line += symbol == SEPARATOR
            expected = 0 if symbol == SEPARATOR else read.weights[row, 0, place] * upper[row, 0, line]
            assert float(chosen.seen[0].weights[row, 0, place]) == pytest.approx(float(expected), abs=1e-12)
    torch.testing.assert_close(chosen.seen[0].weights.sum(-1), torch.ones(3, 1).double())
    assert chosen.lines is not None
    torch.testing.assert_close(chosen.lines.weights, upper)


@pytest.mark.parametrize("pool", ["last", "mean", "max"])
def test_pools_that_look_nowhere_show_nothing(pool: str) -> None:
    assert flat(pool)(padded(*DOCUMENTS)).seen == ()
    chosen = levels(pool)(padded(*DOCUMENTS))
    assert chosen.seen == ()
    assert chosen.lines is not None
    assert chosen.lines.weights.shape == (3, 0, 3)


READERS = {
    **{f"flat-{pool}": lambda pool=pool: flat(pool) for pool in POOLS},
    **{f"levels-{pool}": lambda pool=pool: levels(pool) for pool in ("last", "mean", "max", "attention")},
    "hidden": lambda: flat(hidden=7),
}


@pytest.mark.parametrize("name", READERS)
def test_padding_and_batch_mates_change_nothing(name: str) -> None:
    reader = READERS[name]()
    together = reader(padded(*DOCUMENTS))
    longer = reader(padded(*DOCUMENTS, [5] * 17, width=23, filler=7))
    _same(longer, together, list(range(3)))
    for row, document in enumerate(DOCUMENTS):
        _same(reader(padded(document)), together, [row])


def _same(found: Chosen, expected: Chosen, rows: list[int]) -> None:
    def same(one: Tensor, other: Tensor) -> None:
        torch.testing.assert_close(one, other, atol=1e-10, rtol=0)

    same(found.logits[: len(rows)], expected.logits[rows])
    for place, row in enumerate(rows):
        length = len(DOCUMENTS[row])
        for one, other in zip(found.seen, expected.seen, strict=True):
            same(one.weights[place, :, :length], other.weights[row, :, :length])
            assert (one.weights[place, :, length:] == 0).all()
    if expected.penalty is not None:
        assert found.penalty is not None
        same(found.penalty[: len(rows)], expected.penalty[rows])


@pytest.mark.parametrize("name", ["flat-structured", "levels-attention", "hidden"])
def test_gradients_reach_every_part(name: str) -> None:
    reader = READERS[name]()
    Chooser(reader, 0.3)(Padded(*padded(*DOCUMENTS)), None, Label(LABELS, 0.1)).total.backward()
    for part, weight in reader.named_parameters():
        assert weight.grad is not None, part
        assert weight.grad.abs().sum() > 0, part
