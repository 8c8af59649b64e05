"""English words and their phonemes, for `regard demo`: a subset of CMUdict without stress marks.

LICENSE beside this file is the dictionary's; scripts/make_demo_data.py made the three files. No word is in
two of them. They are the heads of the same parts of `regard data cmudict`, so a model trained on that
train.tsv has not seen this test.tsv.
"""

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple


class DemoFiles(NamedTuple):
    train: Path
    dev: Path
    test: Path


def demo_files() -> DemoFiles:
    """word, tab, phonemes separated by blanks; a word with several pronunciations has several lines."""
    folder = Path(str(files(__name__)))
    return DemoFiles(folder / "train.tsv", folder / "dev.tsv", folder / "test.tsv")
