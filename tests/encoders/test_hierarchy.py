"""Two levels over one flat sequence: nothing but its own words reaches a sentence, and order, padding, mates do not."""

import pytest
import torch
from torch import Tensor, nn

from regard.attention.pool import POOLS
from regard.data.batching import Padded
from regard.encoders.hierarchy import HierarchicalEncoder, Levels, cut
from regard.encoders.recurrent import Embed, RecurrentEncoder, TextEncoder
from tests.tiny import padded

E, H, A, R, SEPARATOR = 5, 2, 7, 3, 4
DOCUMENTS = (  # of 3, 1, 2 and 1 sentences, of 1 to 5 words
    [5, 6, 7, 4, 8, 4, 9, 10, 5, 6, 8],
    [6],
    [7, 7, 4, 10, 9, 5],
    [5, 8, 9, 10],
)
every_pool = pytest.mark.parametrize("pool", POOLS)


def make(pool: str = "attention", kind: str = "gru") -> HierarchicalEncoder:
    torch.manual_seed(0)
    words = TextEncoder(Embed(11, E), RecurrentEncoder(E, H, kind))
    made = POOLS[pool](words.size, A, R)
    encoder = HierarchicalEncoder(words, made, RecurrentEncoder(made.size, 3, kind), SEPARATOR).double()
    for weight in encoder.parameters():
        nn.init.normal_(weight)
    return encoder


def sentences(document: list[int]) -> list[list[int]]:
    found: list[list[int]] = [[]]
    for symbol in document:
        found = [*found, []] if symbol == SEPARATOR else [*found[:-1], [*found[-1], symbol]]
    return [one for one in found if one]


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_where_sentences_are() -> None:
    found = cut(padded([5, 6, 4, 7, 8, 9], [5, 4, 6], width=7), SEPARATOR)
    assert found.words.int().tolist() == [[1, 1, 0, 1, 1, 1, 0], [1, 0, 1, 0, 0, 0, 0]]
    assert found.line[0, :6].tolist() == [0, 0, 0, 1, 1, 1]
    assert found.line[1, :3].tolist() == [0, 0, 1]
    columns = (found.owner, found.begin, found.lengths)
    assert list(zip(*(one.tolist() for one in columns), strict=True)) == [(0, 0, 2), (0, 3, 3), (1, 0, 1), (1, 2, 1)]


@pytest.mark.parametrize("document", [[4, 5, 6], [5, 6, 4], [4, 4, 5, 6, 4]])
def test_separators_that_part_nothing_make_no_sentence(document: list[int]) -> None:
    read, plain = make()(padded(document)), make()(padded([5, 6]))
    same(read.sentences.values, plain.sentences.values)
    same(read.values[read.mask], plain.values[0])
    assert cut(padded([5, 4, 4, 6]), SEPARATOR).line.tolist() == [[0, 0, 0, 1]]


@pytest.mark.parametrize("pool", POOLS)
def test_a_source_of_separators_alone_is_read_as_one_word(pool: str) -> None:
    alone, beside = make(pool)(padded([4, 4])), make(pool)(padded([5, 4, 6, 7], [4, 4]))
    assert alone.mask.tolist() == [[True, False]]
    assert alone.summary.isfinite().all()
    same(alone.summary[0], beside.summary[1])


@every_pool
@pytest.mark.parametrize("kind", ["gru", "lstm", "sigmoid"])
def test_it_is_sentence_by_sentence(pool: str, kind: str) -> None:
    """The same parts, called on one sentence at a time."""
    encoder = make(pool, kind)
    read = encoder(padded(*DOCUMENTS))
    for row, document in enumerate(DOCUMENTS):
        encoded = [encoder.words(padded(one)) for one in sentences(document)]
        pooled = [encoder.pool(*one[:3]) for one in encoded]
        vectors = torch.cat([one.vector for one in pooled])[None]  # (1, U, P)
        upper = encoder.sentences(Padded(vectors, torch.tensor([len(pooled)])))
        same(read.sentences.values[row, : len(pooled)], upper.values[0])
        same(read.summary[row], upper.summary[0])
        same(read.sentences.summary[row], upper.summary[0])
        assert read.sentences.mask[row].sum() == len(pooled)
        at = read.mask[row]
        same(read.values[row, at], torch.cat([one.values[0] for one in encoded]))
        same(read.weights[row, :, at], torch.cat([one.weights[0] for one in pooled], -1))
        lines = [number for number, one in enumerate(sentences(document)) for _ in one]
        assert read.line[row, at].tolist() == lines


@every_pool
def test_sizes_are_told(pool: str) -> None:
    encoder = make(pool)
    read = encoder(padded(*DOCUMENTS))
    assert (encoder.word_size, encoder.size) == (2 * H, 6)
    assert read.values.shape == (4, 11, 2 * H)
    assert read.line.shape == read.mask.shape == (4, 11)
    assert read.sentences.values.shape == (4, 3, 6)
    assert read.summary.shape == (4, 6)
    assert read.weights.shape == (4, encoder.pool.rows, 11)


@pytest.mark.parametrize("pool", ["attention", "structured"])
def test_each_sentences_weights_sum_to_one(pool: str) -> None:
    read = make(pool)(padded(*DOCUMENTS))
    for row, document in enumerate(DOCUMENTS):
        for number in range(len(sentences(document))):
            of = read.mask[row] & (read.line[row] == number)
            same(read.weights[row][:, of].sum(-1), torch.ones(len(read.weights[row])).double())
    assert (read.weights.masked_select(~read.mask[:, None]) == 0).all()
    assert (read.values[~read.mask] == 0).all()


def check(read: Levels, plain: Levels) -> None:
    """Of equal documents, whatever stands beyond their ends."""
    for row, document in enumerate(DOCUMENTS):
        length, lines = len(document), len(sentences(document))
        same(read.values[row, :length], plain.values[row, :length])
        same(read.weights[row, :, :length], plain.weights[row, :, :length])
        same(read.sentences.values[row, :lines], plain.sentences.values[row, :lines])
        same(read.summary[row], plain.summary[row])
        assert read.mask[row, :length].equal(plain.mask[row, :length])
        assert not read.mask[row, length:].any()
        assert not read.sentences.mask[row, lines:].any()


@every_pool
def test_padding_of_words_changes_nothing(pool: str) -> None:
    encoder = make(pool)
    plain = encoder(padded(*DOCUMENTS))
    check(encoder(padded(*DOCUMENTS, width=17)), plain)
    check(encoder(padded(*DOCUMENTS, width=17, filler=9)), plain)
    check(encoder(padded(*DOCUMENTS, width=17, filler=SEPARATOR)), plain)


@every_pool
def test_batch_mates_change_nothing(pool: str) -> None:
    """Not their longer sentences, and not their more sentences."""
    encoder = make(pool)
    plain = encoder(padded(*DOCUMENTS))
    check(encoder(padded(*DOCUMENTS, [5, 4] * 8, [6] * 19)), plain)
    for row, document in enumerate(DOCUMENTS):
        alone = encoder(padded(document))
        same(alone.summary[0], plain.summary[row])
        same(alone.values[0], plain.values[row, : len(document)])
        same(alone.weights[0], plain.weights[row, :, : len(document)])


def test_the_word_reader_begins_anew_at_every_sentence() -> None:
    """A word moves the values of its own sentence, and of the sentences all."""
    encoder = make()
    plain, other = encoder(padded(DOCUMENTS[0])), encoder(padded([5, 6, 7, 4, 10, 4, *DOCUMENTS[0][6:]]))
    moved = (plain.values - other.values).abs().amax((0, 2)) > 1e-12
    assert moved.nonzero()[:, 0].tolist() == [4]
    assert ((plain.sentences.values - other.sentences.values).abs().amax((0, 2)) > 1e-12).all()


def test_gradients_reach_every_part_and_no_padding() -> None:
    encoder = make("structured")
    read = encoder(padded(*DOCUMENTS))
    (read.values.sum() + read.sentences.values.sum() + read.weights.square().sum()).backward()
    for name, weight in encoder.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name
    table = encoder.words[0].table.weight.grad
    assert (table[[0, SEPARATOR]] == 0).all()


def test_without_gradients_the_quick_reader_agrees() -> None:
    encoder = make("attention", "lstm").float().eval()
    slow = encoder(padded(*DOCUMENTS))
    with torch.inference_mode():
        quick = encoder(padded(*DOCUMENTS))
    torch.testing.assert_close(quick.values, slow.values.detach(), atol=1e-5, rtol=0)
    torch.testing.assert_close(quick.summary, slow.summary.detach(), atol=1e-5, rtol=0)
