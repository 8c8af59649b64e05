"""What must fit: memory of training at two extremes, and a word answered from a cold start.

    python benchmarks/limits.py RUN        RUN is any folder that `regard train` wrote

Prints lines for speed.md. Memory is how far a process of its own rose above what it had before the first update; a cold
start is the whole command, from the shell to its answer, the best of five, beside an interpreter that imports torch.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

EXTREMES = {
    "vocabulary of 32,000, hidden 512, 64 pairs of 40 × 40": {"symbols": 32_000, "size": 512, "batch": 64, "long": 40},
    "one pair of 1,000 × 1,000, hidden 256": {"symbols": 1_000, "size": 256, "batch": 1, "long": 1_000},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        print(_megabytes(**json.loads(options.point)))
        return
    for name, point in EXTREMES.items():
        logits = 4 * point["batch"] * point["long"] * point["symbols"] / 2**20
        fast, plain = (_in_process({**point, "plain": one}, options.run) for one in (False, True))
        print(f"- {name}: {fast:,.0f} MB ({plain:,.0f} MB by the plain path); all logits would be {logits:,.0f} MB")
    words = [sys.executable, "-m", "regard", "predict", options.run, "attention"]
    torch = [sys.executable, "-c", "import torch"]
    whole, alone = ([_seconds(command) for _ in range(5)] for command in (words, torch))
    print(f"- a word from a cold start: {min(whole):.2f} s, of which importing torch takes {min(alone):.2f} s")


def _in_process(point: dict[str, Any], run: str) -> float:
    command = [sys.executable, __file__, run, "--point", json.dumps(point)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return float(subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


def _megabytes(symbols: int, size: int, batch: int, long: int, plain: bool) -> float:
    """By which the largest memory rises in two updates."""
    from contextlib import nullcontext

    import torch
    from growth import random_batch, usual_model

    from regard.fast import switch
    from regard.tasks import sequence

    model = usual_model(symbols, size, "soft")
    given = random_batch(symbols, batch, long, long)
    optimiser = torch.optim.Adam(model.parameters(), fused=True)
    for weight in model.parameters():  # what every training has: gradients and Adam's two averages
        weight.grad = torch.zeros_like(weight)
    optimiser.step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with switch.plain() if plain else nullcontext():
        for _ in range(2):
            sequence.loss(model, given).total.backward()
            optimiser.step()
            optimiser.zero_grad()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def _seconds(command: list[str]) -> float:
    """With bytecode kept, as an installed package has it: the first of several calls writes it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
