"""Which toy sets there are to draw, and how one is written."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from regard.data.corpora import digits, moves, shapes
from regard.data.corpora.about import About
from regard.data.corpora.split import Row
from regard.data.corpora.table import MADE
from regard.data.corpora.write import Files, Written, check_target, write_rows
from regard.errors import UsageError

COUNT = 500


class Drawing(NamedTuple):
    task: str
    key: str
    columns: str
    rows: Callable[[int, int], Iterator[Row]]  # count, seed
    pictures: Callable[[int, int], Files]


DRAWINGS = {
    "shapes": Drawing("caption", "caption", "picture, caption", shapes.caption_rows, shapes.pictures),
    "shapes-questions": Drawing(
        "answer", "caption of the picture", "picture, answer, question", shapes.question_rows, shapes.pictures
    ),
    "moves": Drawing("describe", "sentence", "clip, sentence, class", moves.rows, moves.pictures),
    "digits": Drawing("transcribe", "row of digits", "picture, digits", digits.rows, digits.pictures),
}


def write_drawing(
    name: str, out: Path, *, count: int = COUNT, seed: int = 0, dev: float = 0.1, test: float = 0.1
) -> Written:
    """Draw pictures and write train.tsv, dev.tsv and test.tsv beside them; what a picture shows is on one side only."""
    check_target(name, out, dev, test)
    if count < 1:
        raise UsageError(f"count={count}: at least one picture")
    task, key, columns, rows, pictures = DRAWINGS[name]
    about = About(
        meaning=MADE[name],
        task=task,
        key=key,
        source=f"drawn, {count:,} with the seed {seed}",
        licence="free for any use",
        credit="drawn by regard",
        columns=columns,
    )
    shares = {"dev": dev, "test": test}
    return write_rows(name, about, rows(count, seed), out, seed=seed, **shares, pictures=pictures(count, seed))
