"""Which share of the speed of large matrix products training has, both measured in one run.

    python benchmarks/share.py --work DIR [--data ../shared/data] [--sizes transliterate …] [--times 4] [--threads 1]

A shared machine is faster at one moment than at the next. speed.py divides an epoch by the fastest product of a
session; here a product of 2,048 × 2,048 numbers, by the fastest way that torch has (toolkits/product.py), follows
whenever training has gone on for a quarter of a second, and what is divided are the two speeds over the same minutes.
Floating-point operations are counted as in speed.py, over true symbols. --times takes so many times the pairs: an epoch
of 16 updates, as the race has it for the sake of slower toolkits, is to a tenth the first use of memory. Prints the
lines of a table of speed.md.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from toolkits import corpus
from toolkits.ours import learn
from toolkits.product import WORK, fastest_product, seconds
from toolkits.sizes import BATCH, SIZES
from toolkits.work import Corpus, epoch_flops

from regard.training.loop import Trainer

EVERY = 0.25  # seconds of training between two products


class Beside:
    """Products between updates, and how long both took."""

    def __init__(self) -> None:
        self.product = fastest_product()
        self.products: list[float] = []
        self.updates: list[float] = []
        self.since = 0.0

    def update(self, took: float) -> None:
        self.updates.append(took)
        self.since += took
        if self.since >= EVERY:
            self.since = 0.0
            self.products.append(seconds(self.product))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="for the data, kept")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="has dakshina_hi and multi30k")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=[one for one in SIZES if SIZES[one].hidden == 512])
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("| size | updates | training, GFLOP/s | products meanwhile | share | fastest product | share of that |")
    print("|---|---|---|---|---|---|---|")
    for name in options.sizes:
        print(_row(name, options), flush=True)


def _row(name: str, options: argparse.Namespace) -> str:
    size = SIZES[name]._replace(pairs=SIZES[name].pairs * options.times)
    folder = options.work / f"{name}-{options.times}"
    corpus.write(size, options.data, folder)
    beside, flops = Beside(), epoch_flops("regard", size, Corpus.of(folder))

    class Timed(Trainer):
        def _update(self, *rest: Any) -> None:
            begin = time.perf_counter()
            super()._update(*rest)
            beside.update(time.perf_counter() - begin)

    with TemporaryDirectory() as out:
        learn(Timed, size, str(folder / "train.tsv"), folder / "dev.tsv", Path(out) / "run", BATCH, 1)
    work = flops / sum(beside.updates)
    mean, best = WORK * len(beside.products) / sum(beside.products), WORK / min(beside.products)
    cells = [f"{len(beside.updates):,}", *(f"{speed / 1e9:.0f}" for speed in (work, mean))]
    return f"| {' | '.join([name, *cells, f'**{work / mean:.2f}**', f'{best / 1e9:.0f}', f'{work / best:.2f}'])} |"


if __name__ == "__main__":
    main()
