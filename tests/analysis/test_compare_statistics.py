import numpy as np
import pytest

from regard.analysis.compare.statistics import STATISTICS
from regard.tasks import TASKS, get_task

OUTPUTS = ["the cat sat on a mat .", "a dog", "", "कि ताब", "so it goes and goes and goes", "x", "a b"]
REFERENCES = [
    ["the cat sat on the mat ."],
    ["a dog", "the dog barks"],
    ["nothing at all"],
    ["कि ताबें", "किताब"],
    ["so it goes", "so it goes and it goes and it goes"],
    ["x"],
    ["a", "a c d e"],  # fewest edits to the first, fewest per symbol to the second
]
# how varied answers are, and how rare the n-grams of their references, does not add up over examples
OF_THE_WHOLE = ("distinct1", "distinct2", "cider", "cider_d")
CASES = [
    (task, metric)
    for task in TASKS
    for metric in get_task(task).measure(["a"], [["a"]]).metrics
    if metric not in OF_THE_WHOLE
]


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_the_sum_of_the_counts_has_the_score_that_the_task_reports(name: str, metric: str) -> None:
    task, statistic = get_task(name), STATISTICS[metric]
    counts = statistic.counts(task, OUTPUTS, REFERENCES)
    assert len(counts) == len(OUTPUTS)
    assert float(statistic.score(counts.sum(0))) == pytest.approx(task.measure(OUTPUTS, REFERENCES).metrics[metric])


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_a_weighted_sum_has_the_score_of_a_corpus_with_repetitions(name: str, metric: str) -> None:
    task, statistic = get_task(name), STATISTICS[metric]
    weights = np.array([[2, 0, 1, 1, 2, 0, 1], [0, 3, 0, 0, 1, 2, 1]], dtype=float)
    scores = statistic.score(weights @ statistic.counts(task, OUTPUTS, REFERENCES))
    assert scores.shape == (2,)
    for times, score in zip(weights, scores, strict=True):
        places = [place for place, often in enumerate(times) for _ in range(int(often))]
        repeated = [OUTPUTS[one] for one in places], [REFERENCES[one] for one in places]
        assert score == pytest.approx(task.measure(*repeated).metrics[metric])


def test_every_metric_of_every_task_can_be_compared() -> None:
    assert {metric for _, metric in CASES} == set(STATISTICS)
