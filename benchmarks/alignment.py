"""Attention as an aligner, beside aligners: the New Testament, Greek and English, with links made by hand.

    python benchmarks/alignment.py --work /tmp/alignment [--epochs 30] [--part test] [--threads 1]

Trains an attention model each way, IBM model 1 and the HMM of regard.analysis, eflomal in an environment of its own
below --work (where pip can install it), and fast_align (where it is on the PATH). As is usual for aligners, all train
on the text of all verses, those to be aligned among them; none sees a link. Settings were chosen on the dev part's
links. What is trained is kept in --work and not trained again. Prints the tables of alignment.md.
"""

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regard.analysis.aer import Measures, count, measure, verdict
from regard.analysis.align import Looked, look, measure_shifts, read_pairs
from regard.analysis.hmm import hmm
from regard.analysis.ibm import Pair, model1, without_null
from regard.analysis.linking import heaviest
from regard.analysis.symmetrize import SYMMETRIES, LinkSet
from regard.analysis.words import Weights
from regard.data.corpora import write_corpus
from regard.data.links import Link, Links, Size, read_links
from regard.loading import load

PARTS = ("train", "dev", "test")
EFLOMAL = "eflomal==2.0.0"
SETTINGS: dict[str, str | int | float] = {
    "data.lowercase": "true",
    "source.least": 2,
    "target.least": 2,
    "model.query": "current",
    "model.embed": 64,
    "model.readout": 64,
    "model.hidden": 128,
    "model.compare": 64,
    "model.dropout": 0.1,
    "training.learning_rate": 0.004,
    "training.warmup": 100,
    "training.smoothing": 0,
    "training.average": "none",
    "training.metric": "loss",
    "training.evaluate_every": 5,
}
Side = dict[str, str | int]
FORWARD, BACKWARD = "Greek → English", "English → Greek"
GREEK: Side = {"symbols": "subwords", "subwords": 4000}  # its words have too many endings to be known one by one
ENGLISH: Side = {"symbols": "tokens"}


class Text(NamedTuple):
    file: Path  # all verses
    part: Path  # those with the links that are measured against
    pairs: list[Pair]  # all, lower-cased and cut into words
    measured: slice  # the part's place among them
    gold: list[Links]


class Directions(NamedTuple):
    """Links of the part, each as (Greek word, English word)."""

    forward: list[LinkSet]  # Greek → English: a link for each English word
    backward: list[LinkSet]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for data, runs and environments, kept")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the text, each way")
    parser.add_argument("--part", choices=PARTS, default="test", help="whose links are measured against")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    text = _text(options.work, options.part)
    forward, backward = _looked(text, options)
    rows = [*_rows("attention", text, _heaviest([one.weights for one in forward], [one.weights for one in backward]))]
    rows += _rows("IBM model 1", text, _generative(text, model1))
    rows += _rows("HMM", text, _generative(text, hmm))
    for name, found in (("eflomal", _eflomal(text, options.work)), ("fast_align", _fast_align(text, options.work))):
        rows += _rows(name, text, found) if found else [f"| {name} | not there | | | |"]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {options.threads} threads"
    print(f"\n{date.today()}, {machine}; {len(text.gold)} verses of the {options.part} part, {options.epochs} epochs\n")
    print("| aligner | links | AER | precision | recall |\n|---|---|---|---|---|")
    print("\n".join(rows), "\n")
    print("| attention | shift | AER | precision | recall | match | mass |\n|---|---|---|---|---|---|---|")
    turned = [Links.of(_turned(one.sure), _turned(one.possible)) for one in text.gold]
    for name, looked, gold in ((FORWARD, forward, text.gold), (BACKWARD, backward, turned)):
        measured = measure_shifts(looked, gold, heaviest)
        print("\n".join(f"| {name} | {shift} | {_cells(one)} |" for shift, one in measured.items()))
        print(verdict(measured), file=sys.stderr)


def _text(work: Path, part: str) -> Text:
    folder, file = work / "bible", work / "verses.tsv"
    if not file.exists():
        write_corpus("bible", folder)
        file.write_text("".join((folder / f"{one}.tsv").read_text("utf-8") for one in PARTS), "utf-8")
    lines = {one: (folder / f"{one}.tsv").read_text("utf-8").splitlines() for one in PARTS}
    before = sum(len(lines[one]) for one in PARTS[: PARTS.index(part)])
    pairs = [_pair(line) for one in PARTS for line in lines[one]]
    measured = slice(before, before + len(lines[part]))
    sizes = [Size(len(source), len(target)) for source, target in pairs[measured]]
    return Text(file, folder / f"{part}.tsv", pairs, measured, read_links(folder / f"{part}.pharaoh", sizes))


def _pair(line: str) -> Pair:
    source, target = line.lower().split("\t")
    return source.split(), target.split()


def _looked(text: Text, options: argparse.Namespace) -> tuple[list[Looked], list[Looked]]:
    """Both attention models' weights on the part; the second reads English and writes Greek."""
    runs = [
        _train(text, options, "forward", GREEK, ENGLISH, (1, 2)),
        _train(text, options, "backward", ENGLISH, GREEK, (2, 1)),
    ]
    forward, backward = (look(run, read_pairs(run, str(text.part))) for run in map(load, runs))
    return forward, backward


def _train(
    text: Text, options: argparse.Namespace, name: str, source: Side, target: Side, columns: tuple[int, int]
) -> Path:
    run: Path = options.work / name
    settings = SETTINGS | {"data.source_column": columns[0], "data.target_column": columns[1]}
    settings |= {f"source.{key}": value for key, value in source.items()}
    settings |= {f"target.{key}": value for key, value in target.items()}
    command = ["train", str(text.file), "--task", "translate", "--out", str(run), "--epochs", str(options.epochs)]
    command += ["--dev", str(options.work / "bible" / "dev.tsv"), "--device", "cpu", "--quiet", "--resume"]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    if not (run / "README.md").exists():  # the card is written when training is done
        environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
        subprocess.run([sys.executable, "-m", "regard", *command], env=environment, check=True)
    last = json.loads((run / "log.jsonl").read_text("utf-8").splitlines()[-1])
    print(f"{name}: {last}", file=sys.stderr, flush=True)
    return run


def _heaviest(forward: Sequence[Weights], backward: Sequence[Weights]) -> Directions:
    """Weights (English, Greek) and weights (Greek, English) → links."""
    return Directions(list(map(heaviest, forward)), [_turned(heaviest(one)) for one in backward])


def _turned(links: LinkSet) -> LinkSet:
    return frozenset(Link(link.target, link.source) for link in links)


def _generative(text: Text, aligner: Callable[[Sequence[Pair]], list[Weights]]) -> Directions:
    ways = (text.pairs, [(target, source) for source, target in text.pairs])
    return _heaviest(*([without_null(one) for one in aligner(way)[text.measured]] for way in ways))


def _eflomal(text: Text, work: Path) -> Directions | None:
    """GPL: called as a command, never imported."""
    folder = work / "eflomal"
    command = folder / "bin" / "eflomal-align"
    if not command.exists():
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", EFLOMAL], check=False)
        if done.returncode:
            return None
    links = [work / "eflomal.forward", work / "eflomal.backward"]
    call = [str(command), "--overwrite", "-i", str(_bars(text, work)), "-f", str(links[0]), "-r", str(links[1])]
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"  # it calls its own program by name
    subprocess.run(call, check=True, env=os.environ | {"PATH": path})
    return Directions(*(_read(text, one) for one in links))


def _fast_align(text: Text, work: Path) -> Directions | None:
    if shutil.which("fast_align") is None:
        return None
    links = [work / "fast_align.forward", work / "fast_align.backward"]
    for file, more in zip(links, ([], ["-r"]), strict=True):
        with file.open("w") as out:
            subprocess.run(
                ["fast_align", "-d", "-o", "-v", "-i", str(_bars(text, work)), *more], stdout=out, check=True
            )
    return Directions(*(_read(text, one) for one in links))


def _bars(text: Text, work: Path) -> Path:
    file = work / "verses.bars"
    file.write_text("".join(f"{' '.join(source)} ||| {' '.join(target)}\n" for source, target in text.pairs), "utf-8")
    return file


def _read(text: Text, file: Path) -> list[LinkSet]:
    sizes = [Size(len(source), len(target)) for source, target in text.pairs]
    return [one.sure for one in read_links(file, sizes)[text.measured]]


def _rows(name: str, text: Text, found: Directions) -> Iterator[str]:
    both = {symmetry: [join(*pair) for pair in zip(*found, strict=True)] for symmetry, join in SYMMETRIES.items()}
    for way, links in ({FORWARD: found.forward, BACKWARD: found.backward} | both).items():
        blank = [np.zeros((len(target), len(source))) for source, target in text.pairs[text.measured]]
        counts = [count(*one) for one in zip(blank, links, text.gold, strict=True)]
        yield f"| {name} | {way} | {_cells(measure(counts)._replace(match=math.nan, mass=math.nan))} |"


def _cells(measures: Measures) -> str:
    return " | ".join(f"{100 * one:.1f}" for one in measures if not math.isnan(one))


if __name__ == "__main__":
    main()
