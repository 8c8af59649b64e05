"""Speed beside the peers, on this machine: training, decoding, latency, and the share of the matrix-product peak.

    python benchmarks/speed.py --work DIR [--data ../shared/data] [--sizes pronounce …] [--repeat 3]

Needs regard's extras corpora (words to pronounce) and onnx. Makes an environment per peer and the data (see toolkits/),
trains one model per toolkit and size to decode with, all kept in --work; then measures, toolkits in turn within every
round, and prints the tables of speed.md. Raw numbers go to --work/speed.json: --print-only prints them again, --add has
other sizes or more rounds join them. --quick has a tenth of the data, and small models: a mere test.

Measured are one epoch without start-up, preparation, validation and saving (Marian's by its log, the others' by a clock
in their own loop); 2,000 items in batches of 64, greedy and with beam 5, from text to text after a warm-up, with
attention where the toolkit returns it; and single items of a loaded model. What was worked around and what could not be
made equal stands at the head of each module of toolkits/. A new version of regard needs its models trained anew: delete
--work/full/*/regard.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

from toolkits import corpus
from toolkits.environments import EXPORTED, OURS, PEERS, Toolkit, python, versions
from toolkits.sizes import SIZES, Size, size_of
from toolkits.table import PARTS, render
from toolkits.work import Corpus, epoch_flops, peak_flops

NUMBERS = "speed.json"


class Race:
    def __init__(self, options: argparse.Namespace):
        self.work, self.quick, self.threads, self.parts = options.work, options.quick, options.threads, options.parts
        self.place: Path = self.work / ("quick" if options.quick else "full")
        self.toolkits = [OURS, *EXPORTED, *(PEERS[name] for name in options.peers)]
        self.learners = [toolkit for toolkit in self.toolkits if toolkit.trains]
        self.sizes = [size_of(name, options.quick) for name in options.sizes]
        self.results: dict[str, Any] = {
            "date": str(date.today()),
            "commands": [],
            "machine": {"cpu": _cpu_model(), "cores": os.cpu_count(), "load": f"{os.getloadavg()[0]:.1f}"},
            "versions": {toolkit.name: versions(toolkit, self.work) for toolkit in self.toolkits},
            "peak": {},
            "sizes": {},
            "records": [],
        }
        if options.add:
            before = _read(self.work)
            self.results = before | {"versions": before["versions"] | self.results["versions"]}  # others may have come
        self.results["commands"].append(shlex.join(["python", *sys.argv]))

    def prepare(self, data: Path) -> None:
        """The data, and for every toolkit a model that has learnt to end its answers."""
        for size in self.sizes:
            folder = self.place / size.name / "data"
            corpus.write(size, data, folder)
            counts = Corpus.of(folder)
            flops = {toolkit.name: epoch_flops(toolkit.name, size, counts) for toolkit in self.learners}
            known = self.results["sizes"].get(size.name, {}).get("flops", {})  # of toolkits that run in another call
            about = {
                **size._asdict(),
                "flops": known | flops,
                "filler": counts.pairs - size.pairs,
                "target_symbols": counts.vocabulary,
            }
            self.results["sizes"][size.name] = about
            for toolkit in self.toolkits if self.parts != ["train"] else []:
                learnt = self._model(size, toolkit) / "learnt"
                if not learnt.exists():
                    said = self._run("learn", size, toolkit, threads=1)
                    if "error" not in said:
                        learnt.touch()

    def round(self, number: int) -> None:
        for threads in self.threads:
            peak = peak_flops(_environment(threads))
            self.results["peak"][str(threads)] = max(peak, self.results["peak"].get(str(threads), 0.0))
            for size in self.sizes:
                for part in self.parts:
                    for toolkit in self.toolkits if part != "train" else self.learners:
                        where = {"round": number, "size": size.name, "threads": threads, "part": part}
                        measured = self._run(part, size, toolkit, threads)
                        self.results["records"].append({**where, "toolkit": toolkit.name, **measured})
                        self.save()

    def save(self) -> None:
        (self.work / NUMBERS).write_text(json.dumps(self.results, indent=1, ensure_ascii=False), "utf-8")

    def _model(self, size: Size, toolkit: Toolkit) -> Path:
        return self.place / size.name / toolkit.name

    def _run(self, part: str, size: Size, toolkit: Toolkit, threads: int) -> dict[str, Any]:
        """One part in a process, and a session, of its own."""
        model = self.place / "thrown-away" if part == "train" else self._model(size, toolkit)
        if part in ("train", "learn"):
            shutil.rmtree(model, ignore_errors=True)
        job = [part, size.name, self.quick, threads, str(self.place / size.name / "data"), str(model)]
        command = [python(toolkit, self.work), "-m", f"toolkits.{toolkit.module}", json.dumps(job)]
        said = _in_session(command, _environment(threads))
        print(f"{size.name:<14}{threads} {part:<7}{toolkit.name:<10}{said}", file=sys.stderr, flush=True)
        return said


def _read(work: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((work / NUMBERS).read_text("utf-8"))
    return results


def _in_session(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """What the process says in its last line, or how it failed; nothing it started outlives it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as one:
        try:
            out, err = one.communicate()
        except BaseException:
            os.killpg(one.pid, signal.SIGKILL)
            raise
    if one.returncode:
        print(err[-3000:], file=sys.stderr)
        return {"error": (err.strip().splitlines() or [f"exit code {one.returncode}"])[-1]}
    said: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return said


def _environment(threads: int) -> dict[str, str]:
    counts = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return {**os.environ, **counts, "PYTHONPATH": str(Path(__file__).parent.resolve()), "WANDB_MODE": "disabled"}


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="environments, data, models and numbers, kept")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="has dakshina_hi and multi30k")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, small models")
    parser.add_argument("--add", action="store_true", help="to the numbers that are there, other sizes or more rounds")
    parser.add_argument("--print-only", action="store_true", help="the table of the numbers that are there")
    options = parser.parse_args()
    options.work = options.work.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the part under way is stopped as well
    if not options.print_only:
        race = Race(options)
        race.prepare(options.data)
        race.save()  # --repeat 0 prepares only
        first = 1 + max((one["round"] for one in race.results["records"]), default=-1)
        for number in range(first, first + options.repeat):
            race.round(number)
    print(render(_read(options.work)))


if __name__ == "__main__":
    main()
