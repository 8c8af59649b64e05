"""Quality on real data, beside published figures. Trains what is missing, evaluates, prints the table of quality.md.

    python benchmarks/quality.py --data ../shared/data --work /tmp/quality [--only g2p-hun g2p-fre …] [--threads 1]

Every line is one run of the command `regard train` with the task's default recipe and one seed. Test parts are read
once, after training; what is chosen (epoch, weights) is chosen on the dev part.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

from safetensors import safe_open


class Line(NamedTuple):
    name: str
    task: str
    train: str  # below --data
    dev: str
    test: str
    metric: str
    published: str  # the figure to be beaten, and whose
    settings: tuple[str, ...] = ()


def _g2p(language: str, baseline: str) -> Line:
    folder = f"g2p/{language}"
    parts = (f"{folder}/train.tsv", f"{folder}/dev.tsv", f"{folder}/test.tsv")
    return Line(f"g2p-{language}", "pronounce", *parts, "wer", f"{baseline} (SIGMORPHON 2021 baseline)")


LINES = [
    _g2p("hun", "1.8"),
    _g2p("fre", "8.5"),
    _g2p("arm_e", "7.0"),
    _g2p("bul", "18.3"),
    Line(
        "inflection-german-high",
        "inflect",
        "inflection/german-train-high.tsv",
        "",
        "inflection/german-dev.tsv",
        "accuracy",
        "90 wanted; 95.3 is the best average over 52 languages",
    ),
    Line(
        "multi30k-de-en",
        "translate",
        "multi30k/train.de,multi30k/train.en",
        "multi30k/val.de,multi30k/val.en",
        "multi30k/test_2016_flickr.de,multi30k/test_2016_flickr.en",
        "bleu",
        "33 wanted; 28.11 RNN with attention, 36.52 Transformer",
        ("data.lowercase=true",),
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for the runs, kept")
    parser.add_argument("--only", nargs="*", default=[line.name for line in LINES])
    parser.add_argument("--threads", type=int, default=1, help="threads per run")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    rows = [_row(line, options) for line in LINES if line.name in options.only]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {options.threads} threads per run"
    print(f"\n{date.today()}, {machine}, seed {options.seed}\n")
    print("| data | metric | test | published | dev | epochs | minutes | weights |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


def _row(line: Line, options: argparse.Namespace) -> str:
    run = options.work / line.name
    command = ["train", _paths(line.train, options.data), "--task", line.task, "--out", str(run), "--quiet", "--resume"]
    command += ["--dev", _paths(line.dev, options.data)] if line.dev else []
    command += ["--seed", str(options.seed), *(part for one in line.settings for part in ("--set", one))]
    if not (run / "README.md").exists():  # the card is written when training is done
        _regard(command, options.threads)
    measured = json.loads(_regard(["evaluate", str(run), _paths(line.test, options.data), "--json"], options.threads))
    with safe_open(str(run / "training.safetensors"), "pt") as state:
        progress = json.loads(state.metadata()["progress"])
    with safe_open(str(run / "model.safetensors"), "pt") as weights:
        names = weights.keys()
        count = sum(weights.get_tensor(name).numel() for name in names)
    dev = progress["best_metrics"][line.metric]
    cells = [line.name, line.metric, f"**{measured['metrics'][line.metric]:.2f}**", line.published, f"{dev:.2f}"]
    cells += [
        f"{progress['best_epoch']} of {progress['epoch']}",
        f"{progress['seconds'] / 60:.0f}",
        f"{count / 1e6:.1f} M",
    ]
    row = f"| {' | '.join(cells)} |"
    print(row, measured.get("signatures", {}).get("bleu", ""), file=sys.stderr, flush=True)
    return row


def _paths(names: str, data: Path) -> str:
    return ",".join(str(data / name) for name in names.split(","))


def _regard(arguments: list[str], threads: int) -> str:
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-m", "regard", *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
