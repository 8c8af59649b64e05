"""The command `regard` inside this process, and the toy languages it learns."""

import io
import itertools
import json
import logging
import random
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from regard.cli import main


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def outputs(self) -> list[str]:
        return [one["output"] for one in self.objects]


def regard(*arguments: object, stdin: bytes = b"") -> Result:
    """What `regard ARGUMENTS` returns, prints and says; as in a fresh process, also where logs go."""
    out, err = io.StringIO(), io.StringIO()
    handlers, logging.root.handlers = logging.root.handlers, []
    try:
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(sys, "argv", ["regard", *map(str, arguments)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
            with pytest.raises(SystemExit) as stopped:
                main()
    finally:
        logging.root.handlers = handlers
    return Result(int(stopped.value.code or 0), out.getvalue(), err.getvalue())


def done(*arguments: object, stdin: bytes = b"") -> Result:
    """The same, and it must have gone well."""
    result = regard(*arguments, stdin=stdin)
    assert result.code == 0, result.err
    return result


def train(pairs: Path, out: Path, *more: object, task: str = "pronounce", epochs: int = 1) -> Result:
    return regard(
        *("train", pairs, "--task", task, "--recipe", "tiny", "--out", out, "--epochs", epochs),
        *("--device", "cpu", "--quiet", *more),
    )


def refused(result: Result, code: int, *said: str) -> None:
    """It failed with this code and explained itself in one or two lines, without a traceback."""
    assert result.code == code, result
    lines = result.err.splitlines()
    assert 1 <= len(lines) <= 2, result.err
    assert lines[0].startswith("regard: ")
    assert "Traceback" not in result.err
    for words in said:
        assert words in result.err, result.err


def write(path: Path, rows: Iterable[Iterable[str]]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return path


def words(letters: str, shortest: int, longest: int) -> list[str]:
    """All words of these letters and lengths, in an order that never changes."""
    lengths = range(shortest, longest + 1)
    found = ["".join(word) for length in lengths for word in itertools.product(letters, repeat=length)]
    random.Random(1).shuffle(found)
    return found


def backwards(word: str) -> str:
    """The toy pronunciation: abc → C B A."""
    return " ".join(word[::-1].upper())
