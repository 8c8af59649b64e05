"""Where the time goes in training and in beam search at the first size of speed.py, by the plain path and the fast one.

    python benchmarks/profiles.py [--batches 20] [--words 512]

The plain path is what the model was before there was a fast one. Prints a table for speed.md: for each path the ten
largest shares of wall time, by torch's profiler; `kernels.c` counts its own functions, and what is in no operation of
torch is Python. The demo's words; one thread; random weights, so answers are cut at the length of their sources.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any

import torch
from torch.autograd.profiler_util import EventList
from torch.profiler import ProfilerActivity, profile, record_function

from regard.bench import BATCH, CLIP, usual
from regard.fast import adam
from regard.fast.kernels import SIGNATURES, library
from regard.fast.switch import plain

SHOWN = 10
PYTHON = "Python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--words", type=int, default=512)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name, work in _works(options.batches, options.words).items():
        sides = [_shares(work, path) for path in (plain, nullcontext)]
        print(f"\n### {name}\n\n| plain path, {sides[0][0]:.2f} s | | fast path, {sides[1][0]:.2f} s | |")
        print("|---|---|---|---|")
        for pair in zip(*(shares[:SHOWN] for _, shares in sides), strict=True):
            print("|" + "|".join(f" {what} | {100 * share:.0f} % " for what, share in pair) + "|")


def _works(batches: int, words: int) -> dict[str, Callable[[], Any]]:
    run, examples, every = usual()
    (model,), task, chosen = run.models, run.task, every[:batches]
    optimiser = torch.optim.Adam(model.parameters(), fused=True)

    def train() -> None:
        model.train()
        for batch in chosen:
            task.loss(model, batch).total.backward()
            adam.step(optimiser, CLIP)
            optimiser.zero_grad(set_to_none=True)

    def search() -> None:
        model.eval()
        run.answer(examples[:words], beam=5, longest_ratio=1.0, longest_extra=0)

    return {f"training, {len(chosen)} batches of {BATCH}": train, f"beam 5, {words} words": search}


def _shares(
    work: Callable[[], Any], path: Callable[[], AbstractContextManager[None]]
) -> tuple[float, list[tuple[str, float]]]:
    """Seconds without the profiler, and with it the shares of the largest parts."""
    with path():
        work()  # warm
        begin = time.perf_counter()
        work()
        quiet = time.perf_counter() - begin
        with _named_kernels(), profile(activities=[ProfilerActivity.CPU]) as watched:
            begin = time.perf_counter()
            work()
            wall = time.perf_counter() - begin
    parts = _parts(watched.key_averages())
    parts[PYTHON] = max(0.0, wall - sum(parts.values()))
    return quiet, sorted(((what, one / wall) for what, one in parts.items()), key=lambda part: -part[1])


def _parts(events: EventList) -> dict[str, float]:
    parts: dict[str, float] = {}
    for event in events:
        name = _name(event.key)
        parts[name] = parts.get(name, 0.0) + event.self_cpu_time_total / 1e6
    return parts


def _name(key: str) -> str:
    """Matrix products go by many names; autograd's own nodes are Python's or torch's bookkeeping."""
    if key in ("aten::addmm", "aten::mm", "aten::bmm", "aten::addmm_", "aten::baddbmm", "aten::addbmm", "aten::matmul"):
        return "matrix products"
    if "Backward" in key or key.startswith(("autograd::", "Optimizer.", "torch::autograd")) or "<class" in key:
        return "autograd"
    return key.removeprefix("aten::")


@contextmanager
def _named_kernels() -> Iterator[None]:
    """The functions of kernels.c under their own names."""
    found = library()
    if found is None:
        yield
        return
    originals = {name: getattr(found, name) for name in SIGNATURES}
    for name, function in originals.items():
        setattr(found, name, _named(function, f"kernels.c {name}"))
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(found, name, function)


def _named(function: Any, name: str) -> Callable[..., Any]:
    @wraps(function, assigned=())
    def called(*arguments: Any) -> Any:
        with record_function(name):
            return function(*arguments)

    return called


if __name__ == "__main__":
    main()
