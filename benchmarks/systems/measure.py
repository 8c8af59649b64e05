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
from typing import NamedTuple

from safetensors import safe_open

from regard.data.corpora import write_corpus

HERE = Path(__file__).parent
PARTS = ("train", "dev", "test")


class Line(NamedTuple):
    name: str
    data: str  # of DATA
    train: str  # what `regard train` is given, below the folder of the data
    test: str
    task: str
    more: str = ""  # further options of `regard train`
    shown: str = ""  # metrics, the first is the one that counts
    how: str = "evaluate"  # or align


def _imdb(recipe: str, epochs: int) -> tuple[str, ...]:
    return "imdb", "train.jsonl", "test.jsonl", "classify", f"--recipe {recipe} --epochs {epochs}", "accuracy macro_f1"


def _sick(task: str, more: str, shown: str) -> tuple[str, ...]:
    """The mark is on the dev part; training splits off its own."""
    return "sick", "train.tsv", "dev.tsv", task, more, shown


def _fairytale(kind: str, more: str, shown: str) -> tuple[str, ...]:
    ending = "tsv" if kind == "fill" else "jsonl"
    parts = f"{kind}-train.{ending} --dev {kind}-dev.{ending}", f"{kind}-test.{ending}"
    return "fairytale", *parts, kind, more, shown


def _chitchat(recipe: str) -> tuple[str, ...]:
    shown = "perplexity bleu chrf distinct1 distinct2"
    return "chitchat", "train8k.tsv --dev dev1k.tsv", "test1k.tsv", "respond", f"--recipe {recipe} --epochs 5", shown


def _lines(recipe: str) -> tuple[str, ...]:
    parts = "train.en --dev val.en", "test_2016_flickr.en"
    return "multi30k", *parts, "model", f"--recipe {recipe} --epochs 10 --set data.lowercase=true", "perplexity"


def _fused(recipe: str) -> tuple[str, ...]:
    sizes = "--epochs 3 --set data.lowercase=true --set model.hidden=256 --set model.dropout=0.2"
    return (*_PAIRS, "translate", f"--recipe {recipe} {sizes}", "bleu chrf")


def _biased(recipe: str) -> tuple[str, ...]:
    sizes = "hidden=192 embed=128 readout=128 compare=96 dropout=0.2"
    rates = "learning_rate=0.002 ema=0.99 metric=loss"
    options = f"--recipe {recipe} --epochs 3 {_set('model', sizes)} {_set('training', rates)}"
    return (*_PAIRS, "translate", options, "bleu chrf")


def _verses(recipe: str, more: str = "") -> tuple[str, ...]:
    """As in benchmarks/alignment.py, but for fewer epochs."""
    model = "query=current embed=64 readout=64 hidden=128 compare=64 dropout=0.1"
    rates = "learning_rate=0.004 warmup=100 smoothing=0 average=none metric=loss evaluate_every=4"
    sides = "--set data.lowercase=true --set source.least=2 --set target.least=2 --set source.symbols=subwords"
    sizes = f"{sides} --set source.subwords=4000 --set target.symbols=tokens {_set('model', model)}"
    options = f"--recipe {recipe} --epochs 12 {sizes} {_set('training', rates)} {more}"
    return "bible", "verses.tsv --dev dev.tsv", "test.tsv", "translate", options, "aer", "align"


def _gists(more: str) -> tuple[str, ...]:
    return "botocore", "train.tsv --dev dev.tsv", "test.tsv", "summarize", more, "rougeL rouge1 rouge2"


def _forms(recipe: str) -> tuple[str, ...]:
    return "inflection", "german-train-medium.tsv", "german-dev.tsv", "inflect", f"--recipe {recipe}", "accuracy cer"


def _set(section: str, options: str) -> str:
    return " ".join(f"--set {section}.{option}" for option in options.split())


_PAIRS = ("multi30k", "train.de,train.en --dev val.de,val.en", "test_2016_flickr.de,test_2016_flickr.en")
_SPANS = "--set model.freeze=true --set source.least=1 --set data.where_column=where"
_GLOVE = "--embeddings glove --set model.embed=50"
_READERS = ("entail", "entail-words", "entail-sentences")
_BIASES = ("position", "markov", "fertility-local", "fertility-global", "biases", "agreement")

LINES = [
    Line("imdb-han", *_imdb("classify", 6)),
    Line("imdb-structured", *_imdb("structured", 6)),
    Line("imdb-last", *_imdb("last-state", 8)),
    *(Line(f"sick-{one}", *_sick("entail", f"--recipe {one} {_GLOVE}", "accuracy macro_f1")) for one in _READERS),
    Line("sick-imply", *_sick("imply", "", "perplexity bleu chrf")),
    Line("fairytale-read", *_fairytale("read", f"--epochs 12 {_SPANS} {_GLOVE}", "f1 em")),
    Line("fairytale-plain", *_fairytale("read", f"--recipe read-plain --epochs 16 {_SPANS} {_GLOVE}", "f1 em")),
    Line("fairytale-fill", *_fairytale("fill", f"--epochs 5 --set model.hidden=128 {_GLOVE}", "accuracy")),
    Line("respond", *_chitchat("respond")),
    Line("respond-single", *_chitchat("respond-single")),
    Line("respond-flat", *_chitchat("respond-flat")),
    Line("lines-lstm", *_lines("model")),
    Line("lines-lstmn", *_lines("lstmn")),
    Line("lines-pointer", *_lines("pointer-sentinel")),
    Line("fused-none", *_fused("translate")),
    Line("fused-shallow", *_fused("lstmn-shallow")),
    Line("fused-deep", *_fused("lstmn-deep")),
    Line("verses-plain", *_verses("translate", "--set model.agreement=0")),
    Line("verses-position", *_verses("position")),
    Line("verses-markov", *_verses("markov")),
    Line("verses-fertility-local", *_verses("fertility-local")),
    Line("verses-fertility-global", *_verses("fertility-global")),
    Line("verses-biases", *_verses("biases")),
    Line("verses-agreement", *_verses("agreement")),
    Line("verses-agreement-biases", *_verses("agreement-biases")),
    Line("verses-supervised", *_verses("supervised", "--alignments verses.pharaoh")),
    Line("biased-plain", *_biased("translate")),
    *(Line(f"biased-{one}", *_biased(one)) for one in _BIASES),
    Line("gists-gate", *_gists("")),
    Line("gists-none", *_gists("--set model.copy=none")),
    Line("gists-sentinel", *_gists("--recipe sentinel")),
    Line("gists-abs", *_gists("--recipe abs")),
    Line("forms-plain", *_forms("inflect")),
    Line("forms-copy", *_forms("copy")),
    Line("forms-sentinel", *_forms("sentinel")),
]


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
    if name in ("multi30k", "inflection", "sick"):
        return data / name
    folder = work / "data" / name
    if not folder.exists():
        _make(name, data, folder)
    return folder


def _make(name: str, data: Path, folder: Path) -> None:
    if name in ("imdb", "fairytale"):
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
