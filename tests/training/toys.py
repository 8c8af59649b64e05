"""Small pairs, a small model, and what a finished folder holds apart from times."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.draft import load_draft
from regard.folder import Folder, read_tensors
from regard.recipe import Recipe
from regard.run import Run
from regard.training import train
from regard.training.checkpoint import Progress
from regard.training.engine import Engine
from regard.training.loop import Trainer
from regard.training.prepare import Job, prepare

SIZES = {"model.embed": 7, "model.hidden": 10, "model.compare": 5, "model.readout": 11, "training.batch_size": 5}
PAIRS, DEV = 23, 7  # 23 pairs in batches of 5: five updates an epoch, the last one smaller


def write_pairs(path: Path, count: int, seed: int) -> Path:
    """Words of the letters a to e, and these letters as phonemes in upper case, backwards."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcde", k=draw.randint(2, 6))) for _ in range(count)]
    path.write_text("".join(f"{word}\t{' '.join(word[::-1].upper())}\n" for word in words))
    return path


def toy_files(folder: Path) -> tuple[Path, Path]:
    return write_pairs(folder / "pairs.tsv", PAIRS, 1), write_pairs(folder / "dev.tsv", DEV, 2)


def train_toy(folder: Path, name: str, options: Mapping[str, Any], *, epochs: int = 3, resume: bool = False) -> Run:
    pairs, dev = toy_files(folder)
    changes = {**SIZES, **options}
    return train(
        pairs,
        task="pronounce",
        recipe="tiny",
        dev=dev,
        out=folder / name,
        epochs=epochs,
        set=changes,
        device="cpu",
        resume=resume,
        progress=False,
    )


def toy_job(folder: Path, options: Mapping[str, Any]) -> Job:
    pairs, dev = toy_files(folder)
    changes = {**SIZES, **options}
    return prepare(str(pairs), "pronounce", Folder(folder / "run"), str(dev), "tiny", changes, False, False)


def toy_trainer(folder: Path, options: Mapping[str, Any]) -> Trainer:
    (folder / "run").mkdir()
    return Trainer(toy_job(folder, options), Folder(folder / "run"), Engine("cpu"), False)


def toy_recipe(options: Mapping[str, Any]) -> Recipe:
    return load_draft("tiny", "pronounce").resolve(PAIRS, {**SIZES, **options})


def log_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def progress_of(folder: Path) -> Progress:
    return Progress(**json.loads(read_tensors(folder / "training.safetensors")[1]["progress"]))


def content(folder: Path) -> dict[str, object]:
    """All that the law of resuming speaks of: bytes of the weights, the whole state, metrics, log; no times."""
    tensors, notes = read_tensors(folder / "training.safetensors")
    progress = {
        key: value for key, value in json.loads(notes["progress"]).items() if key not in ("seconds", "log_size")
    }
    times = ("seconds", "symbols_per_second")
    return {
        "model.safetensors": (folder / "model.safetensors").read_bytes(),
        "config.json": (folder / "config.json").read_text(),
        "progress": progress,
        "log": [{key: value for key, value in line.items() if key not in times} for line in log_of(folder)],
        **{name: (str(one.dtype), tuple(one.shape), one.numpy().tobytes()) for name, one in tensors.items()},
    }


def differences(one: Path, other: Path) -> list[str]:
    """Names of what is not the same, bit for bit, in two run folders."""
    first, second = content(one), content(other)
    return [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]
