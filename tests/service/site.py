"""Runs for the page, and two servers of them: open to all, and behind a token."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from regard import Run, load
from tests.command import backwards, train, words, write
from tests.service.browser import chromium, serving

HEBREW = "אבגד"
HOSTILE = "<img/src=x/onerror=alert(1)>"  # a symbol that would be an element if it were read as HTML
TOKEN = "open-sesame"


class Site(NamedTuple):
    home: str
    locked: str  # the same behind a token, with narrower beams
    reverse: Run
    hebrew: Run
    blind: Run  # without attention, with features


@contextmanager
def served(reverse: Path, folder: Path) -> Iterator[Site]:
    chromium()  # without one, nothing else need be made
    hebrew = ((word, f"{backwards(word)} {HOSTILE}") for word in words(HEBREW, 2, 3))
    assert train(write(folder / "hebrew.tsv", hebrew), folder / "hebrew").code == 0
    inflected = ((word, word + "s", "N;PL") for word in words("ab", 2, 4))
    columns = ("--set", "model.attention=none")
    result = train(write(folder / "blind.tsv", inflected), folder / "blind", *columns, task="inflect")
    assert result.code == 0, result.err
    runs = (reverse, folder / "hebrew", folder / "blind")
    named = f"reverse={reverse}"
    with serving(named, *runs[1:]) as open_to_all, serving(named, options=["--token", TOKEN, "--beam", "3"]) as locked:
        yield Site(open_to_all.ready(), locked.ready(), *map(load, runs))
