"""What each task measures, worked by hand; in percent."""

import pytest

from regard.errors import UsageError
from regard.metrics import LOWER_IS_BETTER
from regard.tasks import TASKS, get_task, inflect, pronounce, respond, translate, transliterate


def test_pronounce_counts_words_and_phonemes() -> None:
    outputs = ["K AE T", "D AO G", "B IY"]
    references = [["K AE T"], ["D AA G", "D AO G"], ["B AY T"]]
    metrics = pronounce.measure(outputs, references).metrics
    assert metrics["wer"] == pytest.approx(100 / 3)
    assert metrics["accuracy"] == pytest.approx(200 / 3)
    assert metrics["per"] == pytest.approx(100 * 2 / 9)  # IY → AY and a missing T; 3 + 3 + 3 phonemes


def test_pronounce_does_not_care_which_blanks_separate_phonemes() -> None:
    metrics = pronounce.measure(["K AE T"], [["K  AE\u00a0T"]]).metrics
    assert metrics == {"wer": 0, "per": 0, "accuracy": 100}


@pytest.mark.parametrize("task", [transliterate, inflect])
def test_transliterate_and_inflect_count_words_and_characters(task: object) -> None:
    metrics = task.measure(["नमस्ते", "कम"], [["नमस्ते"], ["कमल"]]).metrics
    assert metrics["accuracy"] == 50
    assert metrics["wer"] == 50
    assert metrics["cer"] == pytest.approx(100 / 6)  # न म स्ते and क म ल: graphemes, not code points


def test_translate_gives_signatures() -> None:
    text = "the cat sat on the mat"
    measured = translate.measure([text], [[text, "a cat was on the mat"]])
    assert measured.metrics == pytest.approx({"bleu": 100, "chrf": 100, "ter": 0})
    assert set(measured.signatures) == set(measured.metrics)
    assert "nrefs:2" in measured.signatures["bleu"]


def test_respond_tells_how_varied_answers_are() -> None:
    measured = respond.measure(["i do not know", "i do not know", "yes"], [["i do not know"], ["why?"], ["yes"]])
    assert measured.metrics["distinct1"] == pytest.approx(100 * 5 / 9)
    assert measured.metrics["distinct2"] == pytest.approx(100 * 3 / 6)
    assert 0 < measured.metrics["bleu"] < 100
    assert set(measured.signatures) == {"bleu", "chrf"}
    assert respond.measure(["no"], [["no"]]).metrics["distinct2"] == 0  # no pair of words at all


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_its_functions_and_watches_what_it_measures(name: str) -> None:
    task = get_task(name)
    for function in ("read", "codec", "encode", "batch", "build", "loss", "answer", "measure"):
        assert callable(getattr(task, function))
    if task.METRIC == "loss":
        assert task.measure(["a"], [["b"]]).metrics == {}
        return
    right, wrong = (task.measure([output], [["a b c d"]]).metrics for output in ("a b c d", "e"))
    assert task.METRIC in right
    better = right[task.METRIC] < wrong[task.METRIC]
    assert better == (task.METRIC in LOWER_IS_BETTER)
    assert all(0 <= value <= 100 for value in right.values())


def test_an_unknown_task() -> None:
    with pytest.raises(UsageError, match=r"no task 'transliterat'; did you mean transliterate\? there are pronounce"):
        get_task("transliterat")
    with pytest.raises(UsageError, match=r"no task 'os'; there are pronounce"):
        get_task("os")
