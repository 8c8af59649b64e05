"""Questions about photographs of rooms (DAQUAR, Malinowski and Fritz 2014), of which a tenth is held back.

    python -m benchmarks.systems.daquar --data ../shared/data --work /tmp/daquar

writes train.tsv and test.tsv: picture, answer, question. All questions about a picture are on one side; the test part
are the pictures whose hashes are lowest. Answers of several words (book, scissor) are classes of their own.
"""

import argparse
import os
from pathlib import Path

from regard.data.corpora.split import place

HELD_BACK = 0.1  # of the pictures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    split(options.data / "daquar", options.work)


def split(data: Path, work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    pictures = os.path.relpath((data / "images").resolve(), work.resolve())
    rows = [line.split("\t") for line in (data / "train.tsv").read_text("utf-8").splitlines()]
    for name, held in (("train", False), ("test", True)):
        kept = [row for row in rows if (place(row[0], 0) < HELD_BACK) == held]
        lines = [f"{pictures}/{picture}.jpg\t{answer}\t{question}\n" for picture, question, answer in kept]
        (work / f"{name}.tsv").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
