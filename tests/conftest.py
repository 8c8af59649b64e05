"""What all tests share: patience, and one trained run, which reads words backwards."""

import os

# Before torch is imported, here and in the processes that tests start: the models are tiny and the workers share two
# cores, where more threads only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of these processes compiles all sources anew

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from tests.command import backwards, done, train, words, write

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on busy machines
settings.load_profile("patient")


SLOW = ("tests/training/test_distributed.py", "tests/service/", "tests/export/", "tests/training/", "tests/tasks/")


@pytest.hookimpl(tryfirst=True)  # xdist looks at the groups after us
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that the workers end together; one of them exports for all who ask for it."""
    for item in items:
        if "exported" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("exported"))
    items.sort(key=lambda item: next((n for n, part in enumerate(SLOW) if item.nodeid.startswith(part)), len(SLOW)))


class Reverse(NamedTuple):
    run: Path
    pairs: Path  # it learnt these
    test: Path  # it has not seen these
    unseen: list[str]  # their sources


@pytest.fixture(scope="session")
def reverse(tmp_path_factory: pytest.TempPathFactory) -> Reverse:
    """Made through the command, as anybody would; nobody may write into it."""
    folder = tmp_path_factory.mktemp("reverse")
    known, unseen = words("abcde", 3, 4)[:500], words("abcde", 3, 4)[500:550]
    pairs = write(folder / "pairs.tsv", ((word, backwards(word)) for word in known))
    test = write(folder / "test.tsv", ((word, backwards(word)) for word in unseen))
    result = train(pairs, folder / "run", epochs=6)
    assert result.code == 0, result.err
    return Reverse(folder / "run", pairs, test, unseen)


@pytest.fixture(scope="session")
def exported(reverse: Reverse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run as a graph, which takes seconds to make; nobody may write into it."""
    path = tmp_path_factory.mktemp("exported") / "x.onnx"
    told = done("export", reverse.run, "--format", "onnx", "--out", path)
    assert told.out == ""
    assert f"{path}: 0." in told.err
    assert "MB in fp32" in told.err
    return path


@pytest.fixture
def spare(reverse: Reverse, tmp_path: Path) -> Path:
    """A copy of the run, to be damaged."""
    return Path(shutil.copytree(reverse.run, tmp_path / "spare"))


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Enough pairs to train on, not enough to learn from."""
    return write(tmp_path / "few.tsv", ((word, backwards(word)) for word in words("ab", 2, 4)))
