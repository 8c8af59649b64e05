"""Six photographs and where a caption run looked, for docs/caption.md: the first six of dev.tsv, whatever came of them.

    python -m benchmarks.systems.regions RUN --data ../shared/data --out docs

The photographs may not be passed on, so each is drawn as a mosaic of 28 × 28 squares of its mean colours; `regard show
RUN PHOTO` draws the photograph itself. Prints the captions beside the first one that people wrote.
"""

import argparse
import io
from pathlib import Path

import numpy as np
from PIL import Image

from regard.pictures import Panel, save
from regard.pictures.raster import png_bytes
from regard.pictures.scene import Plane
from regard.run import load

COUNT = 6
SQUARES = 28
SIDE = 4  # pixels of a square


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="an existing folder")
    options = parser.parse_args()
    run = load(options.run, device="cpu")
    read = run.task.read(str(options.data / "flickr8k" / "dev.tsv"), run.recipe).examples
    first = list({one.source: one for one in reversed(read)}.values())[::-1][:COUNT]
    for number, (example, answer) in enumerate(zip(first, run.answer(first), strict=True), 1):
        save([_mosaic(answer.panel(answer.output))], options.out / f"caption-{number}.svg", kind="overlay")
        print(f"{number}. {answer.output} (one of five people: {example.target})")


def _mosaic(panel: Panel) -> Panel:
    assert isinstance(panel.scene, Plane)
    with Image.open(io.BytesIO(panel.scene.image)) as picture:
        means = picture.convert("RGB").resize((SQUARES, SQUARES), Image.Resampling.BOX)
    squares = np.asarray(means).repeat(SIDE, 0).repeat(SIDE, 1)
    return panel._replace(scene=panel.scene._replace(image=png_bytes(squares)))


if __name__ == "__main__":
    main()
