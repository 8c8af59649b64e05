"""Movie reviews → pos or neg: the 25,000 training reviews of IMDB (Maas et al. 2011), of which 5,000 are held back.

    python -m benchmarks.systems.imdb --data ../shared/data --work /tmp/imdb

writes train.jsonl and test.jsonl. The test part are the reviews whose hashes are lowest, so that it depends on nothing
else, and equal reviews stay on one side.
"""

import argparse
import gzip
import hashlib
import json
from pathlib import Path

HELD_BACK = 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    split(options.data, options.work)


def split(data: Path, work: Path) -> None:
    with gzip.open(data / "imdb" / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = sorted({row["text"] for row in rows}, key=lambda text: hashlib.blake2b(text.encode()).digest())
    test = set(texts[:HELD_BACK])
    work.mkdir(parents=True, exist_ok=True)
    for name, held in (("train", False), ("test", True)):
        with (work / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for row in rows:
                if (row["text"] in test) == held:
                    file.write(json.dumps({"source": row["text"], "target": row["label"]}) + "\n")


if __name__ == "__main__":
    main()
