"""Batches made before they are asked for: pictures are decoded while the network still works on others."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ahead(make: Callable[[T], R], items: Iterable[T], depth: int = 2) -> Generator[R, None, None]:
    """`make` of each item in order, made by one thread at most `depth` items before the consumer.

    The same results as `map(make, items)`: items are taken in the consumer's thread, an error of `make` is raised
    where its result was due, and nothing here draws random numbers. Nor should `make`: how far it has come when
    training is stopped depends on time. Whoever may leave early closes it (`contextlib.closing`): then what was not
    begun is dropped and the thread has ended when `close` returns.
    """
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        try:
            for item in items:
                waiting.append(thread.submit(make, item))
                if len(waiting) > depth:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
