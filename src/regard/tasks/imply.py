"""Premise → a hypothesis that follows from it: entailment as generation.

`Two boys are kicking a ball in the park` → Children are playing outdoors. Of a table that has other pairs too, only the
rows with the wanted label are read.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from regard.data.links import trouble
from regard.data.readers import Columns, Example, Reading, TooFew, read_pairs
from regard.data.rows import preview
from regard.errors import DataError, UsageError
from regard.recipe import Recipe
from regard.tasks import sequence
from regard.tasks.sequence import CODEC, answer, batch, build, codec, encode, force, loss
from regard.tasks.translate import METRIC, measure
from regard.unused import Unused

logger = logging.getLogger("regard")

SECTIONS = (*sequence.SECTIONS, "imply")
UNUSED: Unused = {**sequence.UNUSED, ("imply.label_column", None): ("imply.label",)}


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    """All rows, or those with the wanted label."""
    data, column, wanted = recipe.data, recipe.imply.label_column, recipe.imply.label
    if column is None:
        return sequence.read(path, recipe, skip_bad_lines)
    if data.features_column is not None:
        raise UsageError("data.features_column and imply.label_column cannot both be set: leave out one of them")
    # a label is read beside the source
    columns = Columns(data.source_column, data.target_column, column, False, data.where_column, False)
    try:
        reading = read_pairs(path, columns, lowercase=data.lowercase, skip_bad_lines=skip_bad_lines)
    except DataError as error:
        if not isinstance(error.__cause__, TooFew):
            raise
        advice = f"column {column} holds the labels: for pairs without labels, --set imply.label_column=null"
        raise DataError(f"{error.__cause__}; {advice}") from error
    reading = reading.sound(trouble, skip_bad_lines)
    labelled = reading.wanted(lambda one: one.features.lower() == wanted.lower())
    if not labelled.examples:
        raise _none(reading.examples, wanted, column)
    logger.info("%d of %d rows have the label %s", len(labelled.examples), len(reading.examples), wanted)
    return labelled._replace(examples=[replace(one, features="") for one in labelled.examples])


def _none(examples: Sequence[Example], wanted: str, column: int | str) -> DataError:
    counted = Counter(one.features for one in examples).most_common(5)
    found = ", ".join(f"{preview(label)} ({count:,})" for label, count in counted)
    return DataError(
        f"no row has the label {wanted}; column {column} holds {found}: set imply.label to one of them, or "
        "imply.label_column to another column, or to null to learn all rows"
    )
