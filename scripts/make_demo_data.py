"""Make the bundled demo data again:  pip install 'regard[corpora]' && python scripts/make_demo_data.py

The first words of each part of the corpus `cmudict`, which are in the order of a hash, hence a fair sample;
letters and apostrophes only. Gives the same bytes every time.
"""

import re
from itertools import groupby, islice

from regard.data.corpora import CORPORA
from regard.data.corpora.package import contents
from regard.data.corpora.split import Row, split
from regard.data.demo import demo_files
from regard.files import write_text

WORDS = {"train": 14_000, "dev": 1_000, "test": 1_000}


def head(rows: list[Row], words: int) -> list[Row]:
    """All pronunciations of the first so many words."""
    plain = (row for row in rows if re.fullmatch(r"[a-z']*[a-z][a-z']*", row.source))
    groups = (list(group) for _, group in groupby(plain, key=lambda row: row.key))
    return [row for group in islice(groups, words) for row in group]


def main() -> None:
    corpus = CORPORA["cmudict"]
    parts = split(corpus.read(contents(corpus.package), ""), seed=0, dev=0.05, test=0.05)
    for part, path in demo_files()._asdict().items():
        rows = head(getattr(parts, part), WORDS[part])
        write_text(path, "".join(f"{row.source}\t{row.target}\n" for row in rows))
        print(f"{path.name}: {WORDS[part]:,} words, {len(rows):,} lines, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
