import math

import numpy as np
import pytest

from regard.analysis.compare import bootstrap
from regard.analysis.compare.bootstrap import Drawn, correct, draw_examples, draw_seeds, holm, resample, versus
from regard.analysis.compare.statistics import STATISTICS
from regard.tasks import get_task

PHONEMES = ["A", "B", "C"]


def answers(generator: np.random.Generator, references: list[str], error: float) -> list[str]:
    """References in which each phoneme is another one that often."""
    return [
        " ".join(str(generator.choice(PHONEMES)) if generator.random() < error else one for one in text.split())
        for text in references
    ]


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[int, list[str]]]:
    """Outputs of two recipes with two seeds each to 29 words, and the words."""
    generator = np.random.default_rng(5)
    words = [" ".join(generator.choice(PHONEMES, size=1 + number % 5)) for number in range(29)]
    good = {seed: answers(generator, words, 0.1) for seed in (3, 7)}
    bad = {seed: answers(generator, words, 0.2) for seed in (3, 7)}
    return {"words": {0: words}, "good": good, "bad": bad}


def drawn(metric: str, outputs: dict[int, list[str]], words: list[str], draws: int) -> dict[int, Drawn]:
    task, references = get_task("pronounce"), [[word] for word in words]
    counts = [STATISTICS[metric].counts(task, one, references) for one in outputs.values()]
    return dict(zip(outputs, resample(STATISTICS[metric], counts, draws), strict=True))


@pytest.mark.parametrize("metric", ["wer", "per", "accuracy"])
def test_it_equals_a_loop_over_draws_examples_and_seeds(metric: str, runs: dict[str, dict[int, list[str]]]) -> None:
    """Every draw is a corpus of its own, measured by the task as any corpus is."""
    words, good, bad, count = runs["words"][0], runs["good"], runs["bad"], 40
    taken = np.concatenate(list(draw_examples(len(words), count))).astype(int)
    measure = get_task("pronounce").measure

    def measured(outputs: list[str], times: np.ndarray) -> float:
        places = [place for place, often in enumerate(times) for _ in range(often)]
        assert len(places) == len(words)
        value: float = measure([outputs[one] for one in places], [[words[one]] for one in places]).metrics[metric]
        return value

    everything = np.ones(len(words), dtype=int)
    difference = sum(measured(good[seed], everything) - measured(bad[seed], everything) for seed in (3, 7)) / 2
    differences = []
    for times, shares in zip(taken, draw_seeds(2, count), strict=True):
        of_seeds = [measured(good[seed], times) - measured(bad[seed], times) for seed in (3, 7)]
        differences.append(sum(share * one for share, one in zip(shares, of_seeds, strict=True)))
    strays = sum(abs(one - difference) > abs(difference) - 1e-6 for one in differences)

    found = versus(drawn(metric, good, words, count), drawn(metric, bad, words, count))
    assert found is not None
    assert found.difference == pytest.approx(difference)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))
    assert found.p == pytest.approx((1 + strays) / (1 + count))
    assert 0 < strays < count  # a case in which the count says something
    assert found.seeds == 2


def rows(*right: float) -> np.ndarray:
    return np.array([[one, 1.0] for one in right])


def accuracies(*runs: np.ndarray, draws: int = 1000) -> list[Drawn]:
    return resample(STATISTICS["accuracy"], list(runs), draws)


def test_a_system_does_not_differ_from_itself() -> None:
    one, two = accuracies(rows(1, 0, 1, 1, 0), rows(1, 0, 1, 1, 0))
    assert versus({1: one}, {1: two}) == (0, 0, 0, 1, 1, 1)


def test_a_difference_on_every_example_is_beyond_chance() -> None:
    """100 % against 0 %, in every draw: only the p that 1,000 draws can tell at best remains."""
    good, bad = accuracies(rows(*[1] * 50), rows(*[0] * 50))
    assert versus({1: good}, {1: bad}) == (100, 100, 100, 1 / 1001, 1 / 1001, 1)


def test_worked_by_hand() -> None:
    """Of two examples one differs. A draw has it 0, 1 or 2 times, δ_b = 0, 50, 100, with chances 1/4, 1/2, 1/4; from
    δ = 50 half of the draws stray by 50."""
    better, worse = accuracies(rows(1, 0), rows(0, 0), draws=4001)
    found = versus({1: better}, {1: worse})
    assert found is not None
    assert found.difference == 50
    assert (found.low, found.high) == (0, 100)
    assert found.p == pytest.approx(1 / 2, abs=0.03)


def test_exchanged_systems_have_the_opposite_difference_and_the_same_p(
    runs: dict[str, dict[int, list[str]]],
) -> None:
    good, bad = (drawn("per", runs[name], runs["words"][0], 500) for name in ("good", "bad"))
    one, two = versus(good, bad), versus(bad, good)
    assert one is not None
    assert two is not None
    assert (two.difference, two.p) == (-one.difference, one.p)
    assert (two.low, two.high) == pytest.approx((-one.high, -one.low))


def test_the_same_examples_are_drawn_for_every_system() -> None:
    """Where one is always right when the other is, their difference does not stray at all."""
    noise = np.random.default_rng(0).integers(2, size=200).astype(float)
    one, two = accuracies(np.stack([noise, np.ones(200)], 1), np.stack([noise, np.ones(200)], 1))
    assert (one.draws == two.draws).all()
    assert one.draws.std() > 1


def test_false_alarms_are_about_as_rare_as_promised() -> None:
    """Two systems equally good: p ≤ 0.1 in about a tenth of 300 corpora."""
    generator = np.random.default_rng(2)
    alarms = 0
    for _ in range(300):
        one, two = accuracies(*(rows(*generator.integers(2, size=60)) for _ in range(2)), draws=200)
        found = versus({1: one}, {1: two})
        alarms += found is not None and found.p <= 0.1
    assert 0.05 <= alarms / 300 <= 0.15


def test_seeds_that_disagree_are_no_evidence() -> None:
    """Better by ten points with one seed, worse by eight with the other: examples alone would call it certain."""
    level = rows(*[1, 0] * 250)
    up, down = rows(*[1, 0] * 200, *[1] * 100), rows(*[1, 0] * 210, *[0] * 80)
    first, second, better, worse = accuracies(level, level, up, down)
    assert versus({1: better}, {1: first}).p < 0.01  # type: ignore[union-attr]
    assert versus({2: worse}, {2: second}).p < 0.01  # type: ignore[union-attr]
    assert versus({1: better, 2: worse}, {1: first, 2: second}).p > 0.5  # type: ignore[union-attr]


def test_only_seeds_that_both_have_are_compared() -> None:
    one, two, three = accuracies(rows(1, 1), rows(0, 0), rows(1, 0))
    found = versus({1: one, 2: two}, {2: three, 5: one})
    assert found is not None
    assert (found.difference, found.seeds) == (-50, 1)
    assert versus({1: one}, {2: two}) is None


def test_draws_do_not_depend_on_how_many_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = np.concatenate(list(draw_examples(13, 50)))
    monkeypatch.setattr(bootstrap, "HELD", 3 * 13)
    parts = list(draw_examples(13, 50))
    assert len(parts) == 17
    assert (np.concatenate(parts) == at_once).all()
    assert (at_once.sum(1) == 13).all()


@pytest.mark.parametrize(
    ("values", "corrected"),
    [
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # 3 × 0.01; 2 × 0.03; then not below the one before
        ([0.4, 0.5], [0.8, 0.8]),
        ([0.6, 0.9], [1.0, 1.0]),
        ([], []),
    ],
)
def test_holm(values: list[float], corrected: list[float]) -> None:
    assert holm(values) == pytest.approx(corrected)


def test_only_tests_that_were_made_are_counted() -> None:
    good, bad = accuracies(rows(*[1] * 50), rows(*[0] * 50))
    test = versus({1: good}, {1: bad})
    corrected = correct([None, test, None, test])
    assert [one and one.holm for one in corrected] == [None, pytest.approx(2 / 1001), None, pytest.approx(2 / 1001)]
    assert not any(math.isnan(one.p) for one in corrected if one)
