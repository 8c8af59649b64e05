"""The other systems on real data. Writes the data, trains what is missing, evaluates, prints lines of quality.md.

    python -m benchmarks.systems.measure --data ../shared/data --work DIR [--only imdb-han sick-entail …]

Every line is one run of `regard train` with one seed and one of `regard evaluate` (or `regard align`) on pairs that
nothing was chosen by, unless the line says so. Lines of one group have the same data, sizes and epochs.
"""

import argparse
import json
import os
import subprocess
import sys
from math import prod
from pathlib import Path

from safetensors import safe_open

from benchmarks.systems.lines import LINES, Line
from benchmarks.systems.where import inside, spread
from regard.data.corpora import write_corpus

HERE = Path(__file__).parent
PARTS = ("train", "dev", "test")
WHERE = {"spread": spread, "inside": inside}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for data and runs, kept")
    parser.add_argument("--only", nargs="*", default=[line.name for line in LINES])
    options = parser.parse_args()
    print("| line | measured | best epoch | minutes | weights |\n|---|---|---|---|---|")
    for line in LINES:
        if line.name in options.only:
            print(_row(line, _folder(line.data, options.data, options.work), options.work), flush=True)


def _folder(name: str, data: Path, work: Path) -> Path:
    """Where the files of a data set are; written first if they must be made."""
    if name in ("multi30k", "inflection", "sick", "flickr8k", "grid"):
        return data / name
    folder = work / "data" / name
    if not folder.exists():
        _make(name, data, folder)
    return folder


def _make(name: str, data: Path, folder: Path) -> None:
    if name in ("imdb", "fairytale", "daquar", "crohme"):
        subprocess.run([sys.executable, HERE / f"{name}.py", "--data", data, "--work", folder], check=True)
        return
    write_corpus(name, folder)
    if name == "chitchat":  # lines are in the order of a hash: the first are a fair sample
        for part, count in (("train", 8_000), ("dev", 1_000), ("test", 1_000)):
            lines = (folder / f"{part}.tsv").read_text("utf-8").splitlines(True)[:count]
            (folder / f"{part}{count // 1000}k.tsv").write_text("".join(lines), "utf-8")
    if name == "bible":  # all verses are read, as aligners do; links are known of the training verses only
        texts = {part: (folder / f"{part}.tsv").read_text("utf-8") for part in PARTS}
        (folder / "verses.tsv").write_text("".join(texts.values()), "utf-8")
        unknown = "\n" * sum(texts[part].count("\n") for part in PARTS[1:])
        (folder / "verses.pharaoh").write_text((folder / "train.pharaoh").read_text("utf-8") + unknown, "utf-8")


def _row(line: Line, folder: Path, work: Path) -> str:
    run = (work / "runs" / line.name).resolve()
    if not (run / "README.md").exists():  # the card, which a finished run has
        _regard(folder, f"train {line.train} --task {line.task} --out {run} --resume --quiet --device cpu {line.more}")
    measured = _aligned(folder, run) if line.how == "align" else _evaluated(line, folder, run)
    if line.where:
        measured |= WHERE[line.where](run, folder / line.test)
    log = [json.loads(one) for one in (run / "log.jsonl").read_text("utf-8").splitlines()]
    epochs = [one for one in log if one.get("event") == "epoch"]
    best = max((one["epoch"] for one in epochs if one.get("best")), default=0)
    with safe_open(str(run / "model.safetensors"), "np") as content:
        weights = sum(prod(content.get_slice(name).get_shape()) for name in content.keys())  # noqa: SIM118
    shown = ", ".join(f"{name} {value:.2f}" for name, value in measured.items())
    took = f"{epochs[-1]['seconds'] / 60:.0f} | {weights / 1e6:.1f} M"
    return f"| {line.name} | {shown} | {best} of {epochs[-1]['epoch']} | {took} |"


def _evaluated(line: Line, folder: Path, run: Path) -> dict[str, float]:
    told = json.loads(_regard(folder, f"evaluate {run} {line.test} --device cpu --json"))
    numbers = {**told, **told["metrics"]}
    return {name: numbers[name] for name in line.shown.split()}


def _aligned(folder: Path, run: Path) -> dict[str, float]:
    """AER of the heaviest places; and of both directions where the run has learnt two."""
    ways = {"AER": ""}
    if "agreement: null" not in (run / "recipe.yaml").read_text("utf-8"):
        ways["AER of both directions"] = "--symmetrize grow-diag-final-and"
    found = {}
    for name, more in ways.items():
        file = run / "measures.json"
        _regard(folder, f"align {run} test.tsv --gold test.pharaoh --measures {file} --device cpu {more}")
        found[name] = json.loads(file.read_text("utf-8"))["shifts"]["0"]["aer"] * 100
    return found


def _regard(folder: Path, call: str) -> str:
    """What the command prints, run where the data is."""
    command = [sys.executable, "-m", "regard", *call.split()]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False, env=_environment())
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {done.returncode}")
    return done.stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


if __name__ == "__main__":
    main()
