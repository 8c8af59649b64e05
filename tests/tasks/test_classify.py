"""Documents whose class is told by one marked word in one sentence; HAN has to find it."""

import random
from pathlib import Path
from typing import Any

import pytest

from regard.run import load
from regard.service.models import Model
from tests.command import Result, done, refused, regard, write

FILLERS = ["alder", "birch", "cedar", "dogwood", "elm", "fir", "gorse", "hazel", "iris", "juniper"]
VERDICTS = {"good": ["gold", "glory"], "bad": ["grime", "gloom"], "dull": ["grey", "grain"]}


def documents(count: int, seed: int) -> list[tuple[str, str]]:
    """Sentences of fillers; in one of them stands a word that tells the class, and the same words in any order."""
    drawn, rows = random.Random(seed), []
    for _ in range(count):
        label = drawn.choice(sorted(VERDICTS))
        sentences = [drawn.choices(FILLERS, k=drawn.randint(2, 6)) for _ in range(drawn.randint(2, 5))]
        chosen = drawn.choice(sentences)
        chosen.insert(drawn.randint(0, len(chosen)), drawn.choice(VERDICTS[label]))
        rows.append((" ".join(" ".join(one).capitalize() + "." for one in sentences), label))
    return rows


def trained(tmp_path: Path, *more: object, count: int = 300, epochs: int = 6) -> Path:
    pairs = write(tmp_path / "train.tsv", documents(count, 1))
    result = train(pairs, tmp_path / "run", "--epochs", epochs, *more)
    assert result.code == 0, result.err
    return tmp_path / "run"


def train(pairs: Path, out: Path, *more: object) -> Result:
    recipe = ("--recipe", "tiny-choice")
    return regard("train", pairs, "--task", "classify", *recipe, "--out", out, "--device", "cpu", "--quiet", *more)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of small logistic cells: what others carry along to a word's neighbours, attention may find there."""
    sizes = ("--set", "model.cell=sigmoid", "--set", "model.hidden=16")
    return trained(tmp_path_factory.mktemp("classify"), *sizes, count=400, epochs=8)


def test_it_learns_which_word_tells_the_class(run: Path, tmp_path: Path) -> None:
    test = write(tmp_path / "test.tsv", documents(100, 2))
    report = done("evaluate", run, test, "--json").objects[0]
    assert report["metrics"]["accuracy"] >= 97  # by chance 33
    assert report["metrics"]["macro_f1"] >= 97
    assert "perplexity" not in report


def test_the_heaviest_word_and_sentence_are_those_that_tell(run: Path) -> None:
    verdicts = {word for words in VERDICTS.values() for word in words}
    found = load(run).predict([text for text, _ in documents(60, 3)])
    right = 0
    for one in found:
        assert one.attention is not None
        assert one.attention.shape == (1, len(one.source_tokens))
        assert one.attention.sum() == pytest.approx(1, abs=1e-5)
        assert list(one.attention_rows) == [one.output]
        assert sum(one.lines) == len(one.source_tokens)
        assert sum(one.line_weights) == pytest.approx(1, abs=1e-5)
        heaviest = int(one.attention[0].argmax())
        sentence = next(line for line in range(len(one.lines)) if heaviest < sum(one.lines[: line + 1]))
        right += one.source_tokens[heaviest] in verdicts and one.line_weights[sentence] == max(one.line_weights)
    assert right >= 57  # of 60, among 2 to 5 sentences of 3 to 8 symbols


def test_an_answer_is_a_class_with_its_probability(run: Path) -> None:
    text = "Elm fir grime. Hazel iris!"
    one = done("predict", run, text, "--json").objects[0]
    assert one["source"] == text
    assert one["output"] == "bad"
    assert list(one["probabilities"]) == sorted(one["probabilities"], key=lambda name: -one["probabilities"][name])
    assert sum(one["probabilities"].values()) == pytest.approx(1)
    assert one["source_tokens"] == ["elm", "fir", "grime", "￭.", "hazel", "iris", "￭!"]
    assert one["lines"] == [4, 3]
    assert one["unknown"] == ["￭!"]
    lines = done("predict", run, text, "--nbest", 7).out.splitlines()
    assert [line.split("\t")[1] for line in lines] == list(one["probabilities"])
    assert done("predict", run, text).out == "bad\n"


def test_runs_vote(run: Path, tmp_path: Path) -> None:
    other = trained(tmp_path, "--seed", 2, count=400, epochs=1)
    alone, beside = (load(one).predict("Elm gold fir. Iris.") for one in (run, other))
    both = load(run).join(load(other)).predict("Elm gold fir. Iris.")
    for label, share in both.probabilities.items():
        assert share == pytest.approx((alone.probabilities[label] + beside.probabilities[label]) / 2)
    assert both.attention == pytest.approx((alone.attention + beside.attention) / 2)


@pytest.mark.parametrize("call", [{"sampling": True}, {"prefix": "go"}])
def test_what_only_writers_do_is_refused(run: Path, call: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="does not write its answers symbol by symbol"):
        load(run).predict("Elm.", **call)


@pytest.mark.parametrize("variant", ["hierarchy-last", "structured", "last-state"])
def test_every_variant_trains_and_answers(tmp_path: Path, variant: str) -> None:
    sizes = [part for key in ("embed=8", "hidden=6") for part in ("--set", f"model.{key}")]
    path = trained(tmp_path, "--recipe", variant, *sizes, count=40, epochs=1)
    one = load(path).predict("Elm gold. Fir hazel <br />gorse.")
    words = [word for word in one.source_tokens if not word.startswith("￭")]
    assert words == ["elm", "gold", "fir", "hazel", "gorse"]
    if variant == "structured":
        assert one.attention is not None
        assert one.attention.shape == (10, 7)
        assert one.attention.sum(1) == pytest.approx(1, abs=1e-5)
        assert list(one.attention_rows) == [str(number) for number in range(1, 11)]
        (overlap,) = one.looks
        for row, other in ((0, 0), (2, 7)):
            shared = sum(float(a) * float(b) for a, b in zip(one.attention[row], one.attention[other], strict=True))
            assert overlap.weights[row, other] == pytest.approx(shared, abs=1e-5)
    else:
        assert one.attention is None
    assert list(one.lines) == {"hierarchy-last": [3, 2, 2], "structured": [7], "last-state": []}[variant]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("choose.rows=3", "choose.rows=3 does nothing with choose.pool=attention"),
        ("choose.penalty=1", "choose.penalty=1.0 does nothing with choose.pool=attention"),
        ("choose.pool=structured", "set choose.levels=1"),
        ("model.heads=2", "model.heads=2 does nothing in the task classify"),
        ("training.own_words=0.5", "training.own_words=0.5 does nothing"),
        ("search.beam=3", "search.beam=3 does nothing in the task classify"),
        ("data.features_column=3", "--task entail"),
    ],
)
def test_options_that_would_do_nothing_are_refused(tmp_path: Path, setting: str, said: str) -> None:
    pairs = write(tmp_path / "few.tsv", [(*row, "more") for row in documents(9, 1)])
    refused(train(pairs, tmp_path / "run", "--set", setting), 2, said)
    assert not (tmp_path / "run").exists()


def test_one_class_is_no_choice(tmp_path: Path) -> None:
    pairs = write(tmp_path / "few.tsv", [(text, "good") for text, _ in documents(9, 1)])
    refused(train(pairs, tmp_path / "run"), 1, "every example has the label 'good'")


@pytest.mark.parametrize(("pool", "attends"), [("attention", True), ("last", False)])
def test_the_service_says_whether_it_attends(tmp_path: Path, pool: str, attends: bool) -> None:
    run = load(trained(tmp_path, "--set", f"choose.pool={pool}", "--set", "choose.size=100", count=20, epochs=1))
    assert Model("reviews", run).describe()["attends"] is attends
    assert (run.predict("Gold elm.").attention is not None) is attends
