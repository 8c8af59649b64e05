"""`regard bench`: both paths do the same work in turn, and what is told fits what was done."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from regard.bench import PATHS, Line, _in_turn
from regard.fast.switch import allowed
from tests.command import regard, train, write
from tests.conftest import Reverse


def test_each_path_does_each_piece_of_work_in_turn() -> None:
    done: list[tuple[str, bool]] = []
    pieces = [partial(lambda name: done.append((name, allowed(torch.zeros(1)))), name) for name in "ab"]
    spent = _in_turn(pieces, 0.0, PATHS)
    assert done == [("a", True), ("a", False), ("b", True), ("b", False)]
    assert [len(times) for times in spent.values()] == [1, 1]  # the first of each only warmed up


def test_faster_is_more_a_second_but_fewer_milliseconds() -> None:
    assert Line("", "/s", fast=300.0, plain=100.0).ratio == pytest.approx(3)
    assert Line("", "ms", fast=2.0, plain=6.0).ratio == pytest.approx(3)
    assert Line("", "/s", fast=300.0).ratio is None


def test_the_machine() -> None:
    result = regard("bench", "--seconds", 0.1, "--json")
    assert result.code == 0, result.err
    told = json.loads(result.out)
    assert "torch" in told["machine"]
    assert [line["name"].split(",")[0] for line in told["lines"]] == [
        "training",
        "greedy",
        "beam 5",
        *["one answer"] * 2,
    ]
    assert all(line["fast"] > 0 and line["plain"] > 0 for line in told["lines"])


def test_a_run(reverse: Reverse, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\n".join(reverse.unseen), "utf-8")
    result = regard("bench", reverse.run, "--input", words, "--seconds", 0.1)
    assert result.code == 0, result.err
    head, *lines = result.out.splitlines()
    assert head.split() == ["fast", "plain", "ratio"]
    assert len(lines) == 4
    assert all(len(line) <= 80 and line.endswith("×") for line in lines)


def test_a_run_that_does_not_write(tmp_path: Path) -> None:
    days = (("good", "yes"), ("bad", "no"))
    pairs = write(tmp_path / "pairs.tsv", ((f"{n} {day}", label) for n in range(9) for day, label in days))
    assert train(pairs, tmp_path / "run", "--recipe", "tiny-choice", task="classify").code == 0
    result = regard("bench", tmp_path / "run", "--input", pairs, "--seconds", 0.1, "--json")
    assert result.code == 0, result.err
    assert [line["name"].split(",")[0] for line in json.loads(result.out)["lines"]] == ["chosen", *["one answer"] * 2]


def test_an_exported_run_has_one_path(reverse: Reverse, exported: Path) -> None:
    result = regard("bench", exported, "--seconds", 0.1, "--json", stdin="\n".join(reverse.unseen).encode())
    assert result.code == 0, result.err
    assert all(line["fast"] > 0 and line["plain"] is None for line in json.loads(result.out)["lines"])


def test_words_without_a_run() -> None:
    result = regard("bench", "--input", "words.txt")
    assert result.code == 2
    assert "RUN" in result.err
