"""Model 1 and the HMM against EM written as loops, and against all alignments counted one by one."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from regard.analysis.hmm import NULL_SHARE, REACH, Tables, hmm, walk
from regard.analysis.ibm import Corpus, Pair, Places, lexicon, model1, without_null
from regard.analysis.linking import heaviest

BOOKS: list[Pair] = [
    (["das", "haus"], ["the", "house"]),
    (["das", "buch"], ["the", "book"]),
    (["ein", "buch"], ["a", "book"]),
    (["das", "kleine", "haus"], ["the", "small", "the"]),
    (["haus"], ["house"]),
]


def looped(pairs: list[Pair], rounds: int) -> dict[tuple[str, str], float]:
    """EM of model 1, word by word."""
    chances: dict[tuple[str, str], float] = defaultdict(lambda: 1.0)
    for _ in range(rounds):
        together: dict[tuple[str, str], float] = defaultdict(float)
        alone: dict[str, float] = defaultdict(float)
        for source, target in pairs:
            for y in target:
                total = sum(chances[x, y] for x in ["NULL", *source])
                for x in ["NULL", *source]:
                    together[x, y] += chances[x, y] / total
                    alone[x] += chances[x, y] / total
        chances = defaultdict(float, {(x, y): share / alone[x] for (x, y), share in together.items()})
    return chances


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_model_1_against_loops(rounds: int) -> None:
    chances = looped(BOOKS, rounds)
    for (source, target), gamma in zip(BOOKS, model1(BOOKS, rounds), strict=True):
        expected = np.array([[chances[x, y] for x in ["NULL", *source]] for y in target])  # (T, 1 + S)
        assert gamma == pytest.approx(expected / expected.sum(1, keepdims=True))


def test_every_round_makes_the_corpus_likelier() -> None:
    places = Places.of(Corpus.of(BOOKS))
    likelihoods = [
        np.log(np.bincount(places.step, lexicon(places, rounds)[places.entry])).sum() for rounds in range(1, 12)
    ]
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > likelihoods[0] + 1


def test_model_1_finds_the_words() -> None:
    weights = [without_null(gamma) for gamma in model1(BOOKS, 30)]
    assert heaviest(weights[2]) == {(0, 0), (1, 1)}


def test_a_word_of_the_null_word_has_no_link() -> None:
    gamma = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    assert without_null(gamma).tolist() == [[0, 0], [0.3, 0.6]]


def test_hmm_against_all_alignments() -> None:
    """γ and expected jumps of pairs of different sizes in one batch, by adding up every path of states."""
    random = np.random.default_rng(1)
    emissions = [random.random((steps, 1 + places)) for steps, places in ((3, 2), (4, 3), (1, 1), (2, 4))]
    jumps = 3 * random.random(2 * REACH + 1)
    walked = walk(Tables.of(emissions), jumps)
    total = np.zeros_like(jumps)
    for gamma, table in zip(walked.gamma, emissions, strict=True):
        expected, counted = enumerated(table, jumps)
        total += counted
        assert gamma[: len(table), : table.shape[1]] == pytest.approx(expected)
    assert walked.jumps == pytest.approx(total)


def enumerated(table: np.ndarray, jumps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    steps, places = table.shape[0], table.shape[1] - 1
    gamma, counted, total = np.zeros(table.shape), np.zeros_like(jumps), 0.0
    states = list(itertools.product(range(places), (True, False)))  # last place, aligned to it
    for path in itertools.product(states, repeat=steps):
        weight, leaps = path_weight(path, table, jumps)
        total += weight
        for t, (place, aligned) in enumerate(path):
            gamma[t, 1 + place if aligned else 0] += weight
        for leap in leaps:
            counted[REACH + leap] += weight
    return gamma / total, counted / total


def path_weight(path: tuple[tuple[int, bool], ...], table: np.ndarray, jumps: np.ndarray) -> tuple[float, list[int]]:
    places = table.shape[1] - 1
    weight, leaps, before = 1.0, [], None
    for t, (place, aligned) in enumerate(path):
        if not aligned:
            stays = 1 / places if before is None else float(place == before)
            weight *= NULL_SHARE * stays * table[t, 0]
        elif before is None:
            weight *= (1 - NULL_SHARE) / places * table[t, 1 + place]
        else:
            ways = [1 + jumps[REACH + other - before] for other in range(places)]
            weight *= (1 - NULL_SHARE) * ways[place] / sum(ways) * table[t, 1 + place]
            leaps.append(place - before)
        before = place
    return weight, leaps


def test_hmm_uses_the_order_where_words_alone_do_not_tell() -> None:
    """x x → a a … : model 1 cannot tell the two x apart, neighbours can."""
    random = np.random.default_rng(2)
    sentences = [[f"w{number}" for number in random.integers(0, 30, 8)] for _ in range(60)]
    pairs = [(words, [word.upper() for word in words]) for words in [*sentences, ["w1", "w2", "w3", "w2", "w4"]]]
    last = without_null(hmm(pairs)[-1])
    assert heaviest(last) == {(place, place) for place in range(5)}
    assert math.isclose(without_null(model1(pairs)[-1])[1, 1], without_null(model1(pairs)[-1])[1, 3])


def test_the_order_of_pairs_changes_nothing() -> None:
    there, back = hmm(BOOKS), hmm(BOOKS[::-1])[::-1]
    for one, other in zip(there, back, strict=True):
        assert one == pytest.approx(other)
