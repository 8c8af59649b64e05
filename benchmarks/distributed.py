"""Do several processes train the model that one would? Loss curves side by side, under torchrun on this machine.

    python benchmarks/distributed.py

One process with twice the batch; two processes; two "nodes" of one process each on loopback; and two processes of which
one is killed (kill -9) in the middle of an epoch, all then restarted with --resume. Prints the curves, the largest
difference from one process, and whether the killed group ended with the undisturbed group's bytes; exit code 1 if a
difference is above the tolerance.
"""

import argparse
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from regard.data.demo import demo_files

PAIRS, DEV, BATCH, EPOCHS = 480, 120, 8, 4
TOLERANCE = 1e-4
Group = list[subprocess.Popen[bytes]]


class Runs:
    def __init__(self, workdir: Path):
        self.workdir = workdir
        files = demo_files()
        self.pairs = cut(files.train, PAIRS, workdir / "train.tsv")
        self.dev = cut(files.dev, DEV, workdir / "dev.tsv")

    def train(self, out: Path, batch: int, *others: str) -> list[str]:
        settings = {"training.batch_size": batch, "training.average": "ema", "training.save_seconds": 0}
        command = ["-m", "regard", "train", str(self.pairs), "--dev", str(self.dev), "--out", str(out), "--quiet"]
        command += ["--task", "pronounce", "--recipe", "tiny", "--epochs", str(EPOCHS), *others]
        return [*command, *(f"--set={key}={value}" for key, value in settings.items())]

    def one(self, out: Path) -> None:
        finish([launch(self.train(out, 2 * BATCH))])

    def two(self, out: Path) -> None:
        finish([torchrun(["--standalone", "--nproc-per-node=2"], self.train(out, BATCH))])

    def nodes(self, out: Path) -> None:
        place = ["--nnodes=2", "--nproc-per-node=1", "--master-addr=127.0.0.1", f"--master-port={free_port()}"]
        finish([torchrun([*place, f"--node-rank={rank}"], self.train(out, BATCH)) for rank in range(2)])

    def killed(self, out: Path) -> None:
        group = torchrun(["--standalone", "--nproc-per-node=2"], self.train(out, BATCH))
        await_epoch(group, out / "log.jsonl")
        time.sleep(0.1)
        workers = Path(f"/proc/{group.pid}/task/{group.pid}/children").read_text().split()
        os.kill(int(workers[-1]), 9)
        group.communicate()
        print(f"killed one of two after {len(curve(out))} of {EPOCHS} epochs; torchrun left with {group.returncode}")
        finish([torchrun(["--standalone", "--nproc-per-node=2"], self.train(out, BATCH, "--resume"))])


def cut(path: Path, lines: int, to: Path) -> Path:
    to.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:lines]), "utf-8")
    return to


def launch(command: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, *command], env=environment, stderr=subprocess.PIPE)


def torchrun(place: list[str], command: list[str]) -> subprocess.Popen[bytes]:
    return launch(["-m", "torch.distributed.run", *place, *command])


def finish(group: Group) -> None:
    for process in group:
        said = process.communicate()[1].decode()
        if process.returncode != 0:
            sys.exit(f"training failed with exit code {process.returncode}:\n{said}")


def await_epoch(process: subprocess.Popen[bytes], log: Path) -> None:
    while process.poll() is None and not (log.exists() and log.stat().st_size):
        time.sleep(0.01)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def curve(out: Path) -> list[tuple[float, float]]:
    """Training and dev loss of every epoch."""
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text("utf-8").splitlines()]
    return [(line["loss"], line["dev_loss"]) for line in lines]


def digest(out: Path) -> str:
    return hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()


def show(curves: dict[str, list[tuple[float, float]]]) -> None:
    print(f"\n{'loss / dev loss':<34}" + "".join(f"{f'epoch {epoch}':>22}" for epoch in range(1, EPOCHS + 1)))
    for name, points in curves.items():
        print(f"{name:<34}" + "".join(f"{f'{loss:.6f} / {dev:.6f}':>22}" for loss, dev in points))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, help="kept afterwards; by default a temporary folder that is not")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        workdir = options.workdir or Path(temporary)
        workdir.mkdir(parents=True, exist_ok=True)
        runs = Runs(workdir)
        kinds = {
            f"1 process, batch {2 * BATCH}": runs.one,
            f"2 processes, batch {BATCH}": runs.two,
            f"2 nodes x 1 process, batch {BATCH}": runs.nodes,
            f"2 processes, batch {BATCH}, one killed": runs.killed,
        }
        for number, train in enumerate(kinds.values()):
            train(workdir / str(number))
        curves = {name: curve(workdir / str(number)) for number, name in enumerate(kinds)}
        show(curves)
        single, *others = ([number for point in points for number in point] for points in curves.values())
        largest = max(abs(one - other) for points in others for one, other in zip(single, points, strict=True))
        same = digest(workdir / "1") == digest(workdir / "3")
        print(f"\nlargest difference from one process: {largest:.1e} (tolerance {TOLERANCE:.0e})")
        print(f"killed and restarted has the bytes of the undisturbed group: {'yes' if same else 'NO'}")
    sys.exit(0 if largest <= TOLERANCE and same else 1)


if __name__ == "__main__":
    main()
