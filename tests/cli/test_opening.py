"""Opening a run for a command: no time goes into looking for garbage, and afterwards the collector is as it was."""

import gc
from collections.abc import Iterator

import pytest

from regard.cli.opening import open_run
from regard.errors import UsageError
from tests.conftest import Reverse


@pytest.fixture
def collections() -> Iterator[list[str]]:
    """What the collector, which has just been through all there is and looks again after 200 objects, says it does."""
    told: list[str] = []

    def note(phase: str, about: dict[str, int]) -> None:
        told.append(phase)

    thresholds = gc.get_threshold()
    gc.callbacks.append(note)
    gc.set_threshold(200)
    gc.collect()
    told.clear()
    yield told
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(note)
    gc.unfreeze()


def test_nothing_is_collected_while_a_run_is_opened(reverse: Reverse, collections: list[str]) -> None:
    frozen = gc.get_freeze_count()
    run = open_run(str(reverse.run), "cpu")
    assert collections == []
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen
    assert run.predict("abc").output


def test_a_run_that_does_not_open_leaves_the_collector_on(collections: list[str]) -> None:
    with pytest.raises(UsageError):
        open_run("no/such/run", "cpu")
    assert gc.isenabled()
