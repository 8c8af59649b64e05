"""The pairs of a comparison, read once: every recipe learns from, stops by and is measured on the same ones."""

import hashlib
import logging
from collections.abc import Sequence
from typing import NamedTuple

from regard.data.readers import Example
from regard.data.rows import STDIN
from regard.data.splitting import Grouped, group_references, split_by_source
from regard.errors import UsageError
from regard.recipe import Recipe
from regard.tasks import Task

logger = logging.getLogger("regard")


class Corpus(NamedTuple):
    train: list[Example]
    dev: list[Example]
    test: list[Example]  # the dev pairs, where no test pairs were given
    held_out: bool  # whether the test pairs took no part in training, not even in choosing the epoch
    name: str  # of the test pairs

    @property
    def questions(self) -> list[Grouped]:
        """Each source of the test pairs once, with all its references: what bootstrap draws from."""
        return group_references(self.test)

    def training_fingerprint(self) -> str:
        return fingerprint([*self.train, Example("", ""), *self.dev])

    def test_fingerprint(self) -> str:
        return fingerprint(self.test)


def read_corpus(
    task: Task,
    pairs: str | Sequence[str],
    dev: str | Sequence[str] | None,
    test: str | Sequence[str] | None,
    recipe: Recipe,
    skip_bad_lines: bool,
) -> Corpus:
    if STDIN in (pairs, dev, test):
        raise UsageError("compare reads the pairs once for each training: give files, not - (standard input)")
    train = _read(task, pairs, recipe, skip_bad_lines)
    if dev is None:
        train, held_back = split_by_source(train, recipe.data.dev_share, seed=0)  # as training does
        dev_name = f"{_name(pairs)}, {recipe.data.dev_share:.0%} held back as dev pairs"
    else:
        held_back, dev_name = _read(task, dev, recipe, skip_bad_lines), f"{_name(dev)}, the dev pairs"
    if test is None:
        return Corpus(train, held_back, held_back, False, dev_name)
    return Corpus(train, held_back, _read(task, test, recipe, skip_bad_lines), True, _name(test))


def fingerprint(examples: Sequence[Example]) -> str:
    content = repr([(one.source, one.target, one.features) for one in examples])
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _read(task: Task, path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool) -> list[Example]:
    reading = task.read(path, recipe, skip_bad_lines)
    if reading.skipped:
        logger.warning("left out %d bad lines; the first: %s", len(reading.skipped), reading.skipped[0])
    examples: list[Example] = reading.examples
    return examples


def _name(path: str | Sequence[str]) -> str:
    return path if isinstance(path, str) else ",".join(path)
