"""kill -9 at random moments of training, resumed each time: is the final model the one that was left alone?

    python benchmarks/kill_resume.py --kills 20 --seed 1

Trains a small pronunciation model on the head of the demo's data twice through the command line, once undisturbed and
once killed again and again: while it starts and reads, while it learns or evaluates, and while it writes a file. Prints
what each kill hit and both sha256 of model.safetensors; exit code 1 if they differ.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.demo import demo_files
from regard.files import TEMPORARY

PAIRS, DEV, EPOCHS, BATCH = 640, 160, 24, 16
PER_EPOCH = PAIRS // BATCH
UPDATES = PER_EPOCH * EPOCHS
OPTIONS = {
    "model.dropout": 0.2,
    "model.variational": True,
    "training.batch_size": BATCH,
    "training.average": "ema",
    "training.schedule": "plateau",
    "training.own_words": 0.2,
    "training.patience": 0,
}
PAUSES = (0.0, 0.3)  # seconds between saved states: at every update, or so seldom that a kill loses some
FINISHED = "finished"


class Kill(NamedTuple):
    hit: str  # what was under way
    update: int  # how far the saved state is


class Runs:
    def __init__(self, workdir: Path):
        self.workdir = workdir
        files = demo_files()
        self.pairs = cut(files.train, PAIRS, workdir / "train.tsv")
        self.dev = cut(files.dev, DEV, workdir / "dev.tsv")

    def start(self, out: Path, save_seconds: float) -> subprocess.Popen[bytes]:
        settings = {**OPTIONS, "training.save_seconds": save_seconds}
        command = [sys.executable, "-m", "regard", "train", str(self.pairs), "--dev", str(self.dev), "--out", str(out)]
        command += ["--task", "pronounce", "--recipe", "tiny", "--epochs", str(EPOCHS), "--quiet", "--resume"]
        command += [f"--set={key}={value}" for key, value in settings.items()]
        environment = {"OMP_NUM_THREADS": "1", **os.environ}  # so small a model is fastest in one thread
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)

    def undisturbed(self) -> tuple[Path, float, float]:
        """The folder, seconds until training began and seconds it took."""
        out, began = self.workdir / "alone", time.monotonic()
        process = self.start(out, PAUSES[1])
        starts = await_start(process, out, 0) - began
        check(process)
        return out, starts, time.monotonic() - began - starts


def cut(path: Path, lines: int, to: Path) -> Path:
    to.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:lines]), "utf-8")
    return to


def check(process: subprocess.Popen[bytes]) -> None:
    said = process.communicate()[1].decode()
    if process.returncode != 0:
        sys.exit(f"training failed with exit code {process.returncode}:\n{said}")


def await_start(process: subprocess.Popen[bytes], out: Path, since: int) -> float:
    """Wait until this process has written the vocabulary, which it does when all is read; or until it ended."""
    written = out / "vocabulary.json"
    while process.poll() is None and not (written.exists() and written.stat().st_mtime_ns > since):
        time.sleep(0.005)
    return time.monotonic()


def progress_of(out: Path) -> dict[str, Any]:
    path = out / "training.safetensors"
    if not path.exists():
        return {"update": 0, "batch": 0}
    with path.open("rb") as file:  # opened once: safetensors' own reader opens twice, and it may be replaced meanwhile
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    progress: dict[str, Any] = json.loads(header["__metadata__"]["progress"])
    return progress


def unfinished(out: Path) -> set[Path]:
    return set(out.rglob(f".*{TEMPORARY}"))


def kill_once(runs: Runs, out: Path, draw: random.Random, starts: float, seconds: float, lives: float) -> Kill:
    """Start it again and kill it in one of four ways, after about `lives` updates at most."""
    kind = draw.choice(["start", "learn", "write", "evaluate"])
    save_seconds = PAUSES[0] if kind == "evaluate" else draw.choice(PAUSES)
    written = out / "vocabulary.json"
    since, left = (written.stat().st_mtime_ns if written.exists() else 0), unfinished(out)
    process = runs.start(out, save_seconds)
    if kind == "start":
        wait(process, draw.uniform(0, starts))
    else:
        await_start(process, out, since)
        await_update(process, out, progress_of(out)["update"] + draw.uniform(0, lives))
        wait(process, draw.uniform(0, 10 * seconds / UPDATES))
    while kind == "evaluate" and process.poll() is None and progress_of(out)["batch"] < PER_EPOCH:
        pass  # no sleep here and below: it lasts for some milliseconds only
    while kind == "write" and process.poll() is None and not unfinished(out) - left:
        pass
    process.kill()
    process.communicate()
    if process.returncode == 0:
        return Kill(FINISHED, progress_of(out)["update"])
    return Kill(seen(out, since, unfinished(out) - left, save_seconds), progress_of(out)["update"])


def await_update(process: subprocess.Popen[bytes], out: Path, update: float) -> None:
    while process.poll() is None and progress_of(out)["update"] < update:
        time.sleep(0.005)


def wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)


def seen(out: Path, since: int, left: set[Path], save_seconds: float) -> str:
    """What the folder tells about the moment of the kill."""
    written = out / "vocabulary.json"
    if left:
        return f"writing {left.pop().name.removesuffix(TEMPORARY)[1:].rpartition('.')[0]}"
    if not written.exists() or written.stat().st_mtime_ns == since:
        return "starting, reading"
    if save_seconds > 0:
        return "learning or evaluating"
    return "evaluating" if progress_of(out)["batch"] == PER_EPOCH else "learning"


def kill_all(runs: Runs, kills: int, seed: int, starts: float, seconds: float) -> tuple[Path, int]:
    out, draw, done = runs.workdir / "killed", random.Random(seed), 0
    while done < kills:
        kill = kill_once(runs, out, draw, starts, seconds, UPDATES / kills)
        if kill.hit == FINISHED:
            print("it finished before the next kill")
            break
        done += 1
        print(f"kill {done:>2}: {kill.hit:<32} resumed from update {kill.update}", flush=True)
    check(runs.start(out, PAUSES[1]))
    return out, done


def digest(out: Path) -> str:
    return hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workdir", type=Path, help="kept afterwards; by default a temporary folder that is not")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        workdir = options.workdir or Path(temporary)
        workdir.mkdir(parents=True, exist_ok=True)
        if (workdir / "alone").exists():
            sys.exit(f"{workdir} holds an earlier run: choose another --workdir")
        runs = Runs(workdir)
        alone, starts, seconds = runs.undisturbed()
        print(f"undisturbed: began after {starts:.1f} s, trained for {seconds:.1f} s", flush=True)
        killed, kills = kill_all(runs, options.kills, options.seed, starts, seconds)
        same = digest(alone) == digest(killed)
        print(f"undisturbed     {digest(alone)}\n{kills:>2} times killed {digest(killed)}")
        print("identical" if same else "DIFFERENT")
    sys.exit(0 if same and kills == options.kills else 1)


if __name__ == "__main__":
    main()
