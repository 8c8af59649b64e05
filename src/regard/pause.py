"""Python's search for cycles of dead objects, put off."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_inside = 0
_was_on = False


@contextmanager
def no_collection() -> Iterator[None]:
    """For work that makes many objects and no cycles.

    Whenever enough new objects are alive, all are looked through, 200,000 of torch's among them: a tenth of a second
    for every few thousand answers, which took half of one. For all threads; the last to leave turns it on again.
    """
    global _inside, _was_on
    with _lock:
        if _inside == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _was_on:
                gc.enable()
