"""A whole table of files looked at before anything is trained: which can be used, and what is wrong with the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from regard.data.threads import in_threads
from regard.errors import DataError

T = TypeVar("T")


@dataclass(frozen=True)
class Examined(Generic[T]):
    found: dict[str, T]  # of each source that can be used
    wrong: dict[str, str]  # what is wrong with each that cannot


def examine(sources: Sequence[str], opening: Callable[[str], T]) -> Examined[T]:
    """`opening` of each source, once however often it is named: `lambda source: Picture.open(source, view)`."""

    def look(source: str) -> T | DataError:
        try:
            return opening(source)
        except DataError as error:
            return error

    distinct = list(dict.fromkeys(sources))
    examined: Examined[T] = Examined({}, {})
    for source, result in zip(distinct, in_threads(look, distinct), strict=True):
        if isinstance(result, DataError):
            examined.wrong[source] = str(result)
        else:
            examined.found[source] = result
    return examined
