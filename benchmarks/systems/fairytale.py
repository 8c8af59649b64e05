"""FairytaleQA (Xu et al. 2022): questions whose answer is a span of the passage, and questions with a blank.

    python -m benchmarks.systems.fairytale --data ../shared/data --work /tmp/fairytale

writes, for `regard train --task read`, read-train.jsonl, read-dev.jsonl and read-test.jsonl (source, target, features,
where; a row for every reference), and for `--task fill` fill-train.tsv, fill-dev.tsv and fill-test.tsv. The test part
is the data's own validation part; dev stories are split off the training stories by a hash. Then it prints how good the
most frequent content word of a passage is as an answer to the questions with a blank.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from regard.data.corpora.cloze import common_words, cut, is_content, questions
from regard.data.corpora.split import Row, place
from regard.data.places import find_tokens

DEV_SHARE = 0.08  # of the training stories

Question = dict[str, Any]  # story, context, question, answers, start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    folder = options.data / "fairytale"
    given, test = _read(folder / "train.jsonl"), _read(folder / "val.jsonl")
    dev = [one for one in given if place(one["story"], 0) < DEV_SHARE]
    train = [one for one in given if place(one["story"], 0) >= DEV_SHARE]
    common = common_words(cut("\n\n".join(_stories(given).values())))
    for name, part in (("train", train), ("dev", dev), ("test", test)):
        spans = list(_spans(part))
        _write(options.work / f"read-{name}.jsonl", (json.dumps(one, ensure_ascii=False) for one in spans))
        blanks = [row for story in _stories(part).values() for row in questions(cut(story), common)]
        _write(options.work / f"fill-{name}.tsv", (f"{row.source}\t{row.target}\t{row.features}" for row in blanks))
        asked = len({(one["source"], one["features"]) for one in spans})
        frequent = f"the most frequent content word is right in {_most_frequent(blanks, common):.1f} %"
        print(f"{name}: {asked:,} questions with spans, {len(blanks):,} with a blank, where {frequent}")


def _read(path: Path) -> list[Question]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _spans(part: Iterable[Question]) -> Iterable[dict[str, Any]]:
    """Questions whose first answer stands in the passage; it begins there, the others where they may."""
    for one in part:
        if one["start"] is not None and one["start"] >= 0:
            for number, answer in enumerate(one["answers"]):
                where = one["start"] if number == 0 else -1
                yield {"source": one["context"], "target": answer, "features": one["question"], "where": where}


def _stories(part: Iterable[Question]) -> dict[str, str]:
    """Each story's sections, in their order."""
    found: dict[str, dict[str, None]] = {}
    for one in part:
        found.setdefault(one["story"], {})[one["context"]] = None
    return {story: "\n\n".join(sections) for story, sections in found.items()}


def _most_frequent(blanks: list[Row], common: set[str]) -> float:
    right = 0
    for row in blanks:
        words = Counter(one.text.lower() for one in find_tokens(row.source, "words") if is_content(one, common))
        right += words.most_common(1)[0][0] == row.target.lower()  # of equals, the one that comes first
    return 100 * right / len(blanks)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
