"""Does looking pay on DAQUAR? Cross-validation over the questions that are not held back; those that are stay unread.

    python -m benchmarks.systems.folds --data ../shared/data --work DIR [--seeds 1 2] [--folds 0 1 2 3 4]

Pictures are dealt out to five folds by a hash. The questions about each fold's are answered by runs that were trained
on the others: every recipe with every seed, by `regard compare`, so it goes on where it was stopped. Prints how many
answers of all folds together are right, and how many more than by the first recipe: with the standard error, and with
95 % of so many draws of whole pictures, of which each has some questions, and of seeds.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.systems.daquar import split
from regard.analysis.compare import compare
from regard.data.corpora.split import place
from regard.data.readers import Columns, read_pairs
from regard.data.splitting import Grouped, group_references

FOLDS = 5
GLOVE = "data.embeddings=glove+model.embed=50"
RECIPES = tuple(f"answer{kind}+{GLOVE}" for kind in ("-concatenated", "-plain", "+look.hops=1"))
DRAWS = 10_000

Numbers = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for data and runs, kept")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--folds", nargs="+", type=int, default=list(range(FOLDS)))
    options = parser.parse_args()
    split(options.data / "daquar", options.work)
    found = [_answered(options.work, fold, options.recipes, options.seeds) for fold in options.folds]
    pictures = [picture for names, _ in found for picture in names]
    right = np.concatenate([of_fold for _, of_fold in found], -1)  # (recipes, seeds, questions)
    print(f"{len(pictures):,} questions, {len(set(pictures)):,} pictures, seeds {options.seeds}\n")
    print("| recipe | right | more than the first | standard error | 95 % of draws |\n|---|---|---|---|---|")
    drawn = draw(right - right[:1], pictures)  # (draws, recipes)
    for number, recipe in enumerate(options.recipes):
        mean, more = (100 * one[number].mean() for one in (right, right - right[:1]))
        low, high = np.quantile(drawn[:, number], [0.025, 0.975])
        told = f"{more:+.2f} | {drawn[:, number].std():.2f} | {low:+.2f} … {high:+.2f}" if number else "– | – | –"
        print(f"| {recipe} | {mean:.2f} | {told} |")


def _answered(work: Path, fold: int, recipes: Sequence[str], seeds: Sequence[int]) -> tuple[list[str], Numbers]:
    """The picture of each question of the fold, and 1 where it is answered right (recipes, seeds, questions)."""
    folder = work / f"fold-{fold}"
    folder.mkdir(exist_ok=True)
    lines = (work / "train.tsv").read_text("utf-8").splitlines()
    for name, held in (("train", False), ("test", True)):
        kept = [line for line in lines if (_fold(line) == fold) == held]
        moved = [os.path.join("..", line) + "\n" for line in kept]  # pictures are seen from the table
        (folder / f"{name}.tsv").write_text("".join(moved), "utf-8")
    columns = Columns(1, 2, 3, names_files=True)
    asked = group_references(read_pairs(str(folder / "test.tsv"), columns).examples)
    compared = compare(
        folder / "train.tsv",
        task="answer",
        recipes=recipes,
        out=folder / "compared",
        seeds=seeds,
        test=folder / "test.tsv",
        progress=False,
    )
    right = [
        [_right(folder / "compared" / system.name / f"seed-{seed}.json", asked) for seed in seeds]
        for system in compared.systems
    ]
    return [one.example.source for one in asked], np.array(right, float)


def _right(path: Path, asked: Sequence[Grouped]) -> list[bool]:
    outputs = json.loads(path.read_text("utf-8"))["outputs"]
    return [output in one.references for output, one in zip(outputs, asked, strict=True)]


def _fold(line: str) -> int:
    return int(FOLDS * place(line.split("\t")[0].rpartition("/")[2], 1))


def draw(more: Numbers, pictures: Sequence[str]) -> Numbers:
    """How many more than the first recipe's are right, in percent, of draws of pictures and of seeds."""
    generator = np.random.default_rng(1)
    numbers = {picture: number for number, picture in enumerate(dict.fromkeys(pictures))}
    of = np.array([numbers[picture] for picture in pictures])
    sums = np.stack([np.bincount(of, row, len(numbers)) for row in more.reshape(-1, len(of))])
    sums = sums.reshape(*more.shape[:2], -1)  # (recipes, seeds, pictures)
    counts, found = np.bincount(of, minlength=len(numbers)), []
    for _ in range(DRAWS):
        taken, seeds = (generator.integers(size, size=size) for size in (len(counts), more.shape[1]))
        found.append(100 * sums[:, seeds][..., taken].sum(-1).mean(1) / counts[taken].sum())
    return np.array(found)


if __name__ == "__main__":
    main()
