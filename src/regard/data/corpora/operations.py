"""What web services say about their operations, from botocore: the description, and its first sentence as the gist."""

import gzip
import html
import json
import re
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from regard.data.corpora.package import Contents
from regard.data.corpora.split import Row, tidy

FILES = "botocore/data/*/*/service-2.json.gz"
SOURCE, TARGET = (10, 100), (3, 20)  # fewest and most words
SHARED = 8  # operations; fewer have services that only use the same words, such as TagResource

Described = dict[str, str]  # operation → its description, as HTML


class Gist(NamedTuple):
    first: str
    rest: str


def gists(contents: Contents, _: str) -> Iterator[Row]:
    """The rest of a description → its first sentence. No text stands twice on either side, and services that were made
    after one another stay together with all their operations."""
    services = latest(contents)
    families, seen = siblings(services), set[str]()
    for service, operations in services.items():
        for description in operations.values():
            gist = split_gist(plain(description))
            if gist is not None and not {gist.first.casefold(), gist.rest.casefold()} & seen:
                seen |= {gist.first.casefold(), gist.rest.casefold()}
                yield Row(families[service], tidy(gist.rest), tidy(gist.first))


def latest(contents: Contents) -> dict[str, Described]:
    """Of every service, the newest version: paths are botocore/data/SERVICE/DATE/service-2.json.gz."""
    newest = {path.split("/")[2]: path for path in sorted(contents)}
    return {service: _described(contents[path]) for service, path in newest.items()}


def _described(content: bytes) -> Described:
    operations = json.loads(gzip.decompress(content))["operations"]
    return {name: one.get("documentation", "") for name, one in operations.items()}


def siblings(services: Mapping[str, Described]) -> dict[str, str]:
    """Service → the first of its family. Two are of one family if they share a third of the smaller one's operations
    by name, and at least `SHARED`."""
    families: dict[str, str] = {}
    for service, own in services.items():
        near = [other for other in families if _alike(own.keys(), services[other].keys())]
        joined = {families[other] for other in near}  # families that this service brings together
        families[service] = min(joined, default=service)
        families.update((other, families[service]) for other, first in families.items() if first in joined)
    return families


def _alike(own: Set[str], other: Set[str]) -> bool:
    shared = len(own & other)
    return shared >= SHARED and 3 * shared >= min(len(own), len(other))


def plain(description: str) -> str:
    """HTML → text; notes and warnings are left out, since they stand apart from the running text."""
    text = re.sub(r"<(note|important)>.*?</\1>", " ", description, flags=re.DOTALL)
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
    return re.sub(r" ([.,;:)])", r"\1", text)


def split_gist(text: str) -> Gist | None:
    """A first sentence and what comes after it, if both have a length that makes a task."""
    parts = re.match(r"(.+?(?<!e\.g)(?<!i\.e)(?<!vs)\.)\s+(?=[A-Z])(.+)", text)
    if parts is None:
        return None
    first, rest = parts.groups()
    fits = [low <= len(one.split()) <= high for one, (low, high) in ((first, TARGET), (rest, SOURCE))]
    return Gist(first, rest) if all(fits) else None
