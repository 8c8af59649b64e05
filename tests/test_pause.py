"""Who put off the search for cycles turns it on again, whoever else did so meanwhile."""

import gc
import threading
from collections.abc import Iterator

import pytest

from regard.pause import no_collection


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_is_off_inside_and_on_after() -> None:
    with no_collection():
        assert not gc.isenabled()
        with no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_after_an_error_it_is_on() -> None:
    with pytest.raises(ValueError, match="of the work"), no_collection():
        raise ValueError("of the work")
    assert gc.isenabled()


def test_who_had_turned_it_off_finds_it_so() -> None:
    gc.disable()
    with no_collection():
        pass
    assert not gc.isenabled()


def test_the_last_of_several_threads_turns_it_on() -> None:
    entered, leave = threading.Event(), threading.Event()

    def work() -> None:
        with no_collection():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=work)
    other.start()
    assert entered.wait(10)
    with no_collection():
        pass
    assert not gc.isenabled()  # the other is still at it
    leave.set()
    other.join(10)
    assert gc.isenabled()
