"""Tasks that point into a passage: tiny twins through the command line, and what is left out, refused or reported."""

import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.data.readers import Example
from regard.errors import DataError, UsageError
from regard.recipe import Data, Point, Recipe, Side
from regard.run import Run, load
from regard.settings import build
from regard.tasks import fill, read
from regard.tasks.questions import PointingCodec, trouble
from tests.command import Result, done, refused, regard, write

Rows = list[tuple[str, str, str]]


def train(pairs: Path, out: Path, task: str, epochs: int, *more: str, recipe: str = "tiny-point") -> Result:
    small = ["--set", "model.readout=16"] if task == "read" else []
    small += ["--set", "point.rounds=2"] if small and recipe == "tiny-point" else []
    return regard(
        *("train", pairs, "--task", task, "--recipe", recipe, "--out", out, "--epochs", epochs, "--device", "cpu"),
        *("--quiet", *small, *more),
    )


def spans(count: int) -> Rows:
    """Three keys with values of one or two words; the question names a key, the answer is what follows it."""
    draw = random.Random(1)
    rows = []
    for _ in range(count):
        keys = draw.sample(["Ann", "Bob", "Cid", "Dan"], 3)
        values = [" ".join(draw.sample(["red", "old", "big", "wet", "hot"], draw.choice((1, 2)))) for _ in keys]
        asked = draw.randrange(3)
        passage = " ".join(f"{key} {value}" for key, value in zip(keys, values, strict=True))
        rows.append((passage, values[asked], f"{keys[asked]}?"))
    return rows


def blanks(count: int) -> Rows:
    """Three keys, each with a value of its own; the question gives a key."""
    draw = random.Random(1)
    rows = []
    for _ in range(count):
        keys, values = draw.sample("abcdef", 3), draw.sample(["red", "old", "big", "wet", "hot", "new"], 3)
        asked = draw.randrange(3)
        passage = " ".join(f"{key} {value}." for key, value in zip(keys, values, strict=True))
        rows.append((passage, values[asked], f"{keys[asked]} _____!"))
    return rows


def score(run: Path, test: Path) -> dict[str, float]:
    return dict(done("evaluate", run, test, "--json").objects[0]["metrics"])


def test_read_learns_to_point_at_what_is_asked_for(tmp_path: Path) -> None:
    rows = spans(500)
    pairs, test = write(tmp_path / "train.tsv", rows[:400]), write(tmp_path / "test.tsv", rows[400:])
    assert train(pairs, tmp_path / "run", "read", 9).code == 0
    metrics = score(tmp_path / "run", test)
    assert metrics["em"] >= 80  # one of three values by chance
    assert metrics["f1"] >= metrics["em"]
    passage, _, question = rows[-1]
    answer = done("predict", tmp_path / "run", passage, "--beside", question, "--json", "--nbest", 3).objects[0]
    begin, end = answer["span"]
    assert answer["output"] == passage[begin:end]
    assert answer["attention_rows"] == question.replace("?", " ?").split()
    assert all(0 < sum(row) <= 1 + 1e-5 for row in answer["attention"])  # the rest is the sentinel's
    assert [look["name"] for look in answer["looks"]] == ["start", "end"]
    assert [answer["axes"], *(look["axes"] for look in answer["looks"])] == [
        ["question", "passage"],
        *[["", "passage"]] * 2,
    ]
    assert [sum(row) for look in answer["looks"] for row in look["weights"]] == pytest.approx(
        [1] * 2 * len(answer["looks"][0]["rows"]), abs=1e-5
    )
    found = [one["score"] for one in answer["nbest"]]
    assert found == sorted(found, reverse=True)
    assert answer["nbest"][0]["output"] == answer["output"]


def test_fill_learns_which_word_is_missing(tmp_path: Path) -> None:
    rows = blanks(500)
    pairs, test = write(tmp_path / "train.tsv", rows[:400]), write(tmp_path / "test.tsv", rows[400:])
    assert train(pairs, tmp_path / "run", "fill", 8).code == 0
    assert score(tmp_path / "run", test)["accuracy"] >= 90  # one of three values by chance
    answer = done("predict", tmp_path / "run", "A Red. b old. C big.", "--beside", "b _____!", "--json").objects[0]
    assert answer["output"] == "old"
    assert answer["span"] == [9, 12]
    assert [sum(row) for row in answer["attention"]] == pytest.approx([1] * 3, abs=1e-5)
    importance, places = answer["looks"]
    assert importance["columns"] == answer["attention_rows"] == ["b", "_____", "!"]
    assert places["columns"] == answer["source_tokens"] == ["A", "Red", ".", "b", "old", ".", "C", "big", "."]
    assert [sum(one["weights"][0]) for one in (importance, places)] == pytest.approx([1, 1], abs=1e-5)


def test_the_plain_reader_trains_answers_and_shows_no_attention(tmp_path: Path) -> None:
    pairs = write(tmp_path / "train.tsv", spans(40))
    assert train(pairs, tmp_path / "run", "read", 1, recipe="read-plain").code == 0
    answer = done("predict", tmp_path / "run", "Ann is Old", "--beside", "How is Ann?", "--json").objects[0]
    assert answer["attention"] is None
    assert answer["output"] in "Ann is Old"
    assert [len(look["rows"]) for look in answer["looks"]] == [1, 1]


def test_answers_that_are_not_there_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [*spans(30), ("Ann is old.", "new", "How is Ann?"), (f"{'so ' * 40} Ann is old.", "old", "How is Ann?")]
    pairs = write(tmp_path / "train.tsv", rows)
    result = train(pairs, tmp_path / "run", "read", 1, "--set", "data.longest=30", "--dev", str(pairs))
    assert result.code == 0
    assert "left out 2 of 32 training pairs whose answer is not in what is read of the passage" in result.err
    assert "train.tsv, line 31" in result.err
    assert done("evaluate", tmp_path / "run", pairs, "--json").objects[0]["examples"] == 32  # but all are measured
    nothing = write(tmp_path / "nothing.tsv", [("a b", "c", "d?"), ("b c", "d", "e?"), ("c d", "e", "f?")])
    refused(train(nothing, tmp_path / "other", "read", 1), 1, "none of 2 answers stands in what is read of its passage")


def test_what_is_not_searched_for_has_no_beam_but_several_answers(tmp_path: Path) -> None:
    pairs = write(tmp_path / "train.tsv", spans(30))
    assert train(pairs, tmp_path / "run", "read", 1).code == 0
    asked = (tmp_path / "run", "Ann is very old today .", "--beside", "How is Ann?")
    assert len(done("predict", *asked, "--nbest", 7).out.splitlines()) == 7  # more than the recipe's beam
    done("show", *asked, "--nbest", 2)
    for call in (("predict", *asked), ("show", *asked), ("evaluate", tmp_path / "run", pairs)):
        refused(regard(*call, "--beam", 3), 2, "beam does nothing in the task read", "leave it out")
    refused(regard("predict", *asked, "--length-penalty", 1), 2, "length_penalty does nothing in the task read")


def test_a_long_passage_is_read_in_part_and_that_is_said(tmp_path: Path) -> None:
    pairs = write(tmp_path / "train.tsv", spans(30))
    assert train(pairs, tmp_path / "run", "read", 1, "--set", "data.longest=12").code == 0
    result = done("predict", tmp_path / "run", "Ann is old. " * 5, "--beside", "How is Ann?", "--json")
    answer = result.objects[0]
    assert answer["left_out"] == 8
    assert len(answer["source_tokens"]) == 12
    assert "1 source is longer than this run reads; up to 8 symbols were left out" in result.err


def test_several_runs_answer_by_the_mean_of_their_probabilities(tmp_path: Path) -> None:
    for task, rows in (("read", spans(30)), ("fill", blanks(30))):
        pairs, runs = write(tmp_path / f"{task}.tsv", rows), []
        for seed in (1, 2):
            assert train(pairs, tmp_path / f"{task}{seed}", task, 1, "--seed", str(seed)).code == 0
            runs.append(load(tmp_path / f"{task}{seed}"))
        source = "\t".join(rows[0][::2])
        alone = [run.predict(source).looks[-1].weights for run in runs]
        together = runs[0].join(runs[1]).predict(source, nbest=3)
        assert together.attention is not None
        if task == "fill":
            assert together.looks[-1].weights == pytest.approx(sum(alone) / 2, abs=1e-6)
        assert together.log_probability == max(one.log_probability for one in together.nbest)


@pytest.mark.parametrize(
    ("task", "question", "said"),
    [
        ("read", "", "there is no question beside the passage: give one with --beside"),
        ("fill", "", "there is no question beside the passage: give one with --beside"),
        ("fill", "b is", "the question has 0 blanks (_____); expected one"),
        ("fill", "_____ is _____", "the question has 2 blanks (_____); expected one"),
    ],
)
def test_what_cannot_be_asked_is_refused_or_skipped(tmp_path: Path, task: str, question: str, said: str) -> None:
    rows = spans(20) if task == "read" else blanks(20)
    pairs = write(tmp_path / "train.tsv", [*rows, ("a b", "b", question)])
    refused(train(pairs, tmp_path / "run", task, 1), 1, "train.tsv, line 21", said, "--skip-bad-lines")
    result = train(pairs, tmp_path / "run", task, 1, "--skip-bad-lines")
    assert result.code == 0
    assert "left out 1 bad lines" in result.err
    asked = ["--beside", question] if question else []
    refused(regard("predict", tmp_path / "run", "a b", *asked), 1, said)


# -- the parts ---------------------------------------------------------------------------------------------------


def recipe(task: str, **options: Any) -> Recipe:
    given = {"source.symbols": "words", "data.lowercase": True, "training.smoothing": 0.0, "data.features_column": 3}
    return build({"task": task, **given, **options}, "here")


@pytest.mark.parametrize(
    ("where", "target", "places"),
    [
        ("", "cat", (1, 1)),
        ("17", "CAT", (5, 5)),
        ("17", "the cat", (8, 9)),  # not there: its words follow each other nearest to that
        ("-1", "the cat sat", (0, 2)),
        ("6", "t sat", (1, 2)),  # begins inside a word, which is then taken whole
        ("", "t sat", ()),
        ("99", "dog", ()),
    ],
)
def test_where_an_answer_stands(where: str, target: str, places: tuple[int, ...]) -> None:
    passage = "The cat sat. her Cat ran, the cat sat"
    examples = [Example(passage, target, "who?", where=where)]
    codec = read.codec(examples, recipe("read"))
    assert read.encode(codec, examples)[0].places == places


def test_where_an_answer_begins_is_needed_to_learn_but_not_to_measure(tmp_path: Path) -> None:
    rows = [(*row, str(row[0].index(row[1]))) for row in spans(30)]
    pairs, test = write(tmp_path / "train.tsv", rows), write(tmp_path / "test.tsv", spans(10))
    where = ["--set", "data.where_column=4"]
    assert train(pairs, tmp_path / "run", "read", 1, *where).code == 0
    assert done("evaluate", tmp_path / "run", test, "--json").objects[0]["examples"] == 10
    refused(train(test, tmp_path / "other", "read", 1, *where), 2, "data.where_column=4: no row says where its answer")
    header = ("source", "target", "features")
    named = [f"--set=data.{name}_column={name}" for name in header]
    titled = write(tmp_path / "titled.tsv", [(*header, "begin"), *rows])
    assert train(titled, tmp_path / "named", "read", 1, *named, "--set", "data.where_column=begin").code == 0
    test = write(tmp_path / "test.tsv", [header, *spans(10)])
    assert done("evaluate", tmp_path / "named", test, "--json").objects[0]["examples"] == 10


def test_a_row_that_says_wrongly_where_its_answer_begins_can_be_skipped(tmp_path: Path) -> None:
    table = str(write(tmp_path / "rows.tsv", [("a b", "b", "c?", "2"), ("a b", "b", "c?", "four")]))
    how = recipe("read", **{"data.where_column": 4})
    with pytest.raises(DataError, match=r"line 2: the answer is said to begin at 'four'.*--skip-bad-lines"):
        read.read(table, how)
    found = read.read(table, how, skip_bad_lines=True)
    assert [one.where for one in found.examples] == ["2"]
    assert len(found.skipped) == 1


def test_a_question_is_the_same_typed_as_in_a_file() -> None:
    """é may be one character or two."""
    codec = read.codec([Example("un café", "café", "où est le café")], recipe("read"))
    twice = unicodedata.normalize("NFD", "un café\toù est le café")
    typed = Run(Path("run"), recipe("read"), codec, []).example(twice, "")
    assert (typed.source, typed.features) == ("un café", "où est le café")


def test_where_must_be_a_number() -> None:
    examples = [Example("a b", "b", "c?", "x.tsv, line 3", where="1:2")]
    with pytest.raises(DataError, match=r"x\.tsv, line 3: the answer is said to begin at '1:2'"):
        read.encode(read.codec(examples, recipe("read")), examples)


def test_a_missing_word_is_looked_for_at_all_its_places_that_are_read() -> None:
    examples = [Example("Dog, dog and DOG. Dogs", "dog", "_____ ran")]
    for longest, places in ((100, (0, 2, 4)), (3, (0, 2)), (1, (0,))):
        codec = fill.codec(examples, recipe("fill", **{"data.longest": longest}))
        assert fill.encode(codec, examples)[0].places == places
    assert fill.encode(codec, [Example("a b", "two words", "_____ ran")])[0].places == ()


def test_the_codec_survives_json_and_knows_when_it_is_damaged() -> None:
    examples = [Example("The Cat sat.", "cat", "Who _____?")]
    for codec in (read.codec(examples, recipe("read")), fill.codec(examples, recipe("fill"))):
        content = json.loads(json.dumps(codec.to_json()))
        assert PointingCodec.from_json(content) == codec
        for broken in ({"symbols": "subwords"}, {"folds": 1}, {"longest": 0}, {"blank": None}, {"vocabulary": "abc"}):
            with pytest.raises(DataError):
                PointingCodec.from_json(content | broken)
        with pytest.raises(DataError):
            PointingCodec.from_json({})


def test_words_are_looked_up_in_lower_case_but_stay_as_they_are() -> None:
    examples = [Example("The Cat sat", "cat", "Who _____")]
    codec = fill.codec(examples, recipe("fill"))
    assert codec.source_symbols(examples[0]) == ["The", "Cat", "sat"]
    assert codec.encode(["the", "CAT", "_____"]) == codec.encode(["The", "cat", "_____"])
    assert len(codec.vocabulary) == 4 + 5  # the cat sat who _____
    cased = fill.codec(examples, recipe("fill", **{"data.lowercase": False}))
    assert cased.encode(["the"]) != cased.encode(["The"])


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("read", {"model.attention": "fixed"}, r"model\.attention=fixed is not for read: soft or none is"),
        ("fill", {"model.attention": "none"}, r"model\.attention=none is not for fill: soft is"),
        ("read", {"source.symbols": "subwords"}, r"source\.symbols=subwords"),
    ],
)
def test_other_attentions_and_symbols_are_refused(task: str, options: dict[str, Any], said: str) -> None:
    module = read if task == "read" else fill
    examples = [Example("a b", "b", "c _____")]
    with pytest.raises(UsageError, match=said):
        module.build(module.codec(examples, recipe(task, **options)), recipe(task, **options))


def test_the_question_needs_a_column() -> None:
    with pytest.raises(UsageError, match=r"data\.features_column is null"):
        read.read("nothing.tsv", Recipe(task="read", data=Data(), source=Side(symbols="words"), point=Point()))


def test_of_equal_words_the_heaviest_place_is_shown() -> None:
    ranked = fill.rank_words(["Dog", "cat", "dog", "ox"], np.array([0.2, 0.35, 0.25, 0.2], np.float32))
    assert [(word.place, round(word.mass, 6)) for word in ranked] == [(2, 0.45), (1, 0.35), (3, 0.2)]


def test_punctuation_is_an_answer_only_where_there_is_no_word() -> None:
    ranked = fill.rank_words([".", "cat", "'s", "42", "—"], np.array([0.6, 0.1, 0.05, 0.15, 0.1], np.float32))
    assert [word.place for word in ranked] == [3, 1, 2]
    assert [word.place for word in fill.rank_words([".", "!"], np.array([0.4, 0.6], np.float32))] == [1, 0]


@pytest.mark.parametrize(
    ("question", "blank", "cut"),
    [
        ("It is __________ here", "_____", ["It", "is", "_____", "here"]),
        ("It is _______.", "_____", ["It", "is", "_____", "."]),
        ("@x went", "@x", ["@x", "went"]),
        ("XXXXXXX went", "XXXXX", ["XXXXX", "went"]),
    ],
)
def test_a_longer_blank_is_one_blank(question: str, blank: str, cut: list[str]) -> None:
    example = Example("a b", "b", question)
    assert trouble(example, blank) == ""
    codec = fill.codec([example], recipe("fill", **{"point.blank": blank}))
    assert codec.question(example) == cut
