"""A dev part without leaks, and all references of one source together."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from regard.data.readers import Example
from regard.errors import DataError, UsageError


def split_by_source(
    examples: Sequence[Example], share: float, seed: int, least: int = 1
) -> tuple[list[Example], list[Example]]:
    """(train, dev): dev gets `share` of the sources, at least `least`, and all rows of each of them.

    Sources are ordered by a hash of (seed, source), so the parts do not depend on the order of the rows.
    """
    if not 0 < share < 1:
        raise UsageError(f"the share of the dev part must lie between 0 and 1, found {share}")
    sources = sorted({example.source for example in examples}, key=lambda source: (_hash(seed, source), source))
    if len(sources) < 2:
        raise DataError(f"cannot split off a dev part: {len(sources)} different sources, expected at least 2")
    count = min(max(round(share * len(sources)), least, 1), len(sources) - 1)
    chosen = set(sources[:count])
    train = [example for example in examples if example.source not in chosen]
    dev = [example for example in examples if example.source in chosen]
    return train, dev


def _hash(seed: int, source: str) -> bytes:
    return hashlib.blake2b(f"{seed}\n{source}".encode(), digest_size=8).digest()


class Grouped(NamedTuple):
    example: Example  # the first with this source and these features
    references: list[str]  # its targets, each once


def group_references(examples: Sequence[Example]) -> list[Grouped]:
    """One entry for each (source, features), in the order of first appearance."""
    groups: dict[tuple[str, str], Grouped] = {}
    for example in examples:
        group = groups.setdefault((example.source, example.features), Grouped(example, []))
        if example.target not in group.references:
            group.references.append(example.target)
    return list(groups.values())
