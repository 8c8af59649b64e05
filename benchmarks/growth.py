"""How training time and memory grow with source length, target length, both, vocabulary and batch, attention or not.

    python benchmarks/growth.py --work DIR [--threads 1]

Every point is one process that makes three updates on random pairs and reports the fastest, and how far its memory
rose above that before the first. Exponents are slopes of a least-squares line through the logarithms of the larger half
of the points, where fixed costs matter least. Prints a table for speed.md and writes growth.svg and growth.json to DIR.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

SIZE = 256  # of embeddings, states and comparison
BOTH = "source and target"
USUAL = {"source": 40, "target": 40, "symbols": 1000, "batch": 16}
AXES = {
    "source": [25, 50, 100, 200, 400, 800],
    "target": [25, 50, 100, 200, 400, 800],
    BOTH: [25, 50, 100, 200, 400, 800],
    "symbols": [1000, 2000, 4000, 8000, 16000, 32000],
    "batch": [4, 8, 16, 32, 64, 128],
}
MODELS = {"attention": "soft", "fixed context": "fixed"}
COLOURS = {"attention": "#b2182b", "fixed context": "#2166ac"}


class Point(NamedTuple):
    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        print(json.dumps(_measure(**json.loads(options.point))))
        return
    options.work.mkdir(parents=True, exist_ok=True)
    curves = {
        (axis, model): [_point(axis, at, model, options.threads) for at in places]
        for axis, places in AXES.items()
        for model in MODELS
    }
    plain = {f"{axis}, {model}": curve for (axis, model), curve in curves.items()}
    (options.work / "growth.json").write_text(json.dumps(plain, indent=1))
    (options.work / "growth.svg").write_text(_picture(curves))
    print("| what grows | model | time ~ n^ | memory ~ n^ | from | to |\n|---|---|---|---|---|---|")
    for (axis, model), curve in curves.items():
        times, sizes = (_exponent(AXES[axis], [point[k] for point in curve]) for k in (0, 1))
        ends = [
            f"n = {n}: {p.seconds * 1e3:.0f} ms, {p.megabytes:.0f} MB" for n, p in zip(AXES[axis], curve, strict=True)
        ]
        print(f"| {axis} | {model} | {times:.2f} | {sizes:.2f} | {ends[0]} | {ends[-1]} |")


def _point(axis: str, at: int, model: str, threads: int) -> Point:
    grown = dict.fromkeys(("source", "target") if axis == BOTH else (axis,), at)
    wanted = {**USUAL, **grown, "attention": MODELS[model]}
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, __file__, "--point", json.dumps(wanted)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = Point(*json.loads(done.stdout))
    print(f"{axis} {at}, {model}: {found.seconds:.3f} s, {found.megabytes:.0f} MB", file=sys.stderr, flush=True)
    return found


def usual_model(symbols: int, size: int, attention: str) -> Any:
    """A recipe's model with all its sizes alike, and as many symbols on either side."""
    import torch

    from regard.recipe import Model, Recipe
    from regard.tasks import sequence

    class Letters:  # stands for a codec, of which `build` asks the two vocabularies' sizes, and whether it copies
        vocabulary = range(symbols)

    class Codec:
        copies = False
        source = target = Letters

    sizes = dict.fromkeys(("embed", "hidden", "compare", "readout"), size)
    torch.manual_seed(0)
    return sequence.build(Codec, Recipe(model=Model(attention=attention, dropout=0.0, **sizes)))


def random_batch(symbols: int, batch: int, source: int, target: int) -> Any:
    import torch

    from regard.data.batching import Batch, Padded

    pairs = [torch.randint(4, symbols, (batch, length)) for length in (source, target)]
    return Batch(*(Padded(one, torch.full((batch,), one.size(1))) for one in pairs), list(range(batch)))


def _measure(source: int, target: int, symbols: int, batch: int, attention: str) -> Point:
    import torch

    from regard.tasks import sequence

    model = usual_model(symbols, SIZE, attention)
    optimiser = torch.optim.Adam(model.parameters(), fused=True)
    given = random_batch(symbols, batch, source, target)
    before, times = _peak(), []
    for _ in range(3):
        begin = time.perf_counter()
        sequence.loss(model, given).total.backward()
        optimiser.step()
        optimiser.zero_grad()
        times.append(time.perf_counter() - begin)
    return Point(min(times), _peak() - before)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _exponent(places: list[int], numbers: list[float]) -> float:
    half = len(places) // 2
    x, y = ([math.log(one) for one in column[half:]] for column in (places, numbers))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return slope / sum((a - mean_x) ** 2 for a in x)


def _picture(curves: dict[tuple[str, str], list[Point]]) -> str:
    """Two rows, time and memory; a column for each axis; both scales logarithmic."""
    wide, high, left, top = 210, 150, 50, 24
    parts = []
    for column, (axis, places) in enumerate(AXES.items()):
        for row, unit in enumerate(("seconds", "MB")):
            x0, y0 = left + column * (wide + left), top + row * (high + 60)
            numbers = {model: [point[row] for point in curves[axis, model]] for model in MODELS}
            lowest, highest = (way(max(v, 1e-3) for one in numbers.values() for v in one) for way in (min, max))
            parts += [_frame(x0, y0, wide, high, axis, unit, places, lowest, highest)]
            for model, values in numbers.items():
                dots = [
                    f"{x0 + wide * _share(n, places[0], places[-1]):.1f},"
                    f"{y0 + high * (1 - _share(max(value, 1e-3), lowest, highest)):.1f}"
                    for n, value in zip(places, values, strict=True)
                ]
                line = f'<polyline points="{" ".join(dots)}" fill="none" stroke="{COLOURS[model]}" stroke-width="2"/>'
                parts.append(line)
    for number, (model, colour) in enumerate(COLOURS.items()):
        parts.append(f'<text x="{left + 130 * number}" y="14" fill="{colour}" font-weight="bold">{model}</text>')
    size = f'width="{len(AXES) * (wide + left) + 20}" height="{2 * (high + 60) + top}"'
    style = 'font-family="sans-serif" font-size="11"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>' + "\n".join(parts) + "</svg>\n"


def _frame(
    x: int, y: int, wide: int, high: int, axis: str, unit: str, places: list[int], lowest: float, highest: float
) -> str:
    box = f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="none" stroke="#999"/>'
    ends = f'<text x="{x}" y="{y + high + 14}">{places[0]}</text>'
    ends += f'<text x="{x + wide}" y="{y + high + 14}" text-anchor="end">{places[-1]}</text>'
    name = f'<text x="{x + wide / 2}" y="{y + high + 28}" text-anchor="middle">{axis}</text>'
    sides = "".join(
        f'<text x="{x - 4}" y="{at}" text-anchor="end">{value:.3g}</text>'
        for at, value in ((y + 10, highest), (y + high, lowest))
    )
    return box + ends + name + sides + f'<text x="{x + 4}" y="{y + 14}" fill="#666">{unit}</text>'


def _share(value: float, lowest: float, highest: float) -> float:
    return math.log(value / lowest) / math.log(highest / lowest) if highest > lowest else 0.5


if __name__ == "__main__":
    main()
