"""Entailment as generation: only rows with the wanted label are learnt, and the hypothesis follows from the premise."""

import itertools
from pathlib import Path

import pytest

from regard.data.links import join_links
from regard.errors import DataError, UsageError
from regard.settings import build
from regard.tasks.imply import read
from tests.command import done, train, write

ROWS = [("a b", "b", "ENTAILMENT"), ("c d", "e", "NEUTRAL"), ("e f", "f", "entailment")]


def test_other_labels_are_left_out(tmp_path: Path) -> None:
    table = write(tmp_path / "pairs.tsv", ROWS)
    recipe = build({"task": "imply", "imply.label_column": 3}, "here")
    assert [(one.source, one.target, one.features) for one in read(str(table), recipe).examples] == [
        ("a b", "b", ""),
        ("e f", "f", ""),
    ]
    neutral = build({"task": "imply", "imply.label_column": 3, "imply.label": "neutral"}, "here")
    assert [one.target for one in read(str(table), neutral).examples] == ["e"]


def test_links_stay_with_their_rows_whatever_is_left_out_before_them(tmp_path: Path) -> None:
    table, links = tmp_path / "pairs.tsv", tmp_path / "pairs.pharaoh"
    table.write_text("a b\tb\tENTAILMENT\nbroken\nc d\te\tNEUTRAL\ne f\tf g\tentailment\n", "utf-8")
    links.write_text("0-0\n\n1-0\n1-1\n", "utf-8")
    recipe = build({"task": "imply", "imply.label_column": 3}, "here")
    joined = join_links(read(str(table), recipe, skip_bad_lines=True), links)
    assert [(one.source, one.where) for one in joined] == [("a b", "0-0"), ("e f", "1-1")]


def test_without_a_column_of_labels_all_rows_are_learnt(tmp_path: Path) -> None:
    table = write(tmp_path / "pairs.tsv", (row[:2] for row in ROWS))
    assert [one.target for one in read(str(table), build({"task": "imply"}, "here")).examples] == ["b", "e", "f"]


def test_rows_without_a_label_are_told_how_to_learn_them_all(tmp_path: Path) -> None:
    table = write(tmp_path / "pairs.tsv", (row[:2] for row in ROWS))
    recipe = build({"task": "imply", "imply.label_column": 3}, "here")
    with pytest.raises(DataError, match=r"line 1: .*found 2.*; .* without labels, --set imply\.label_column=null"):
        read(str(table), recipe)


def test_a_label_that_nowhere_stands_is_told_with_those_that_do(tmp_path: Path) -> None:
    table = write(tmp_path / "pairs.tsv", ROWS)
    recipe = build({"task": "imply", "imply.label_column": 3, "imply.label": "yes"}, "here")
    with pytest.raises(DataError, match=r"the label yes; column 3 holds 'ENTAILMENT' \(1\), 'NEUTRAL' \(1\)"):
        read(str(table), recipe)


def test_features_and_labels_do_not_go_together(tmp_path: Path) -> None:
    recipe = build({"task": "imply", "imply.label_column": 3, "data.features_column": 3}, "here")
    with pytest.raises(UsageError, match="leave out one of them"):
        read(str(write(tmp_path / "pairs.tsv", ROWS)), recipe)


def test_it_learns_what_follows(tmp_path: Path) -> None:
    """A girl is a child and a cat an animal; what the rows of another label say is never learnt."""
    kinds = {"girl": "child", "boy": "child", "cat": "animal", "dog": "animal", "rose": "plant", "oak": "plant"}
    verbs, places = ("sees", "likes", "hears"), ("here", "there")
    sentences = list(itertools.product(kinds, verbs, kinds, places))
    rows = []
    for one, verb, other, place in sentences:
        rows.append((f"a {one} {verb} a {other} {place}", f"a {kinds[one]} {verb} a {kinds[other]}", "ENTAILMENT"))
        rows.append((f"a {one} {verb} a {other} {place}", f"no {one} {verb}", "CONTRADICTION"))
    pairs, test = write(tmp_path / "train.tsv", rows[::3] + rows[1::3]), write(tmp_path / "test.tsv", rows[2::3])
    result = train(pairs, tmp_path / "run", "--set", "model.embed=32", task="imply", epochs=12)
    assert result.code == 0, result.err
    report = done("evaluate", tmp_path / "run", test, "--json").objects[0]
    assert report["metrics"]["bleu"] >= 95
    assert report["metrics"]["chrf"] >= 95
    assert report["perplexity"] < 1.5
    assert done("predict", tmp_path / "run", "a boy likes a oak here").out == "a child likes a plant\n"


def test_links_are_read_beside_labels(tmp_path: Path) -> None:
    pairs = write(tmp_path / "some.tsv", [("a b", "b", "entailment", "1-0"), ("a", "c", "neutral", "0-0")])
    given = build({"task": "imply", "imply.label_column": 3, "data.where_column": 4}, "here")
    assert [one.where for one in read(str(pairs), given).examples] == ["1-0"]
