"""The runs that are served, by name."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.loading import load
from regard.service.looking import looks
from regard.service.refusal import Refused

if TYPE_CHECKING:
    from regard.export.onnx_run import OnnxRun
    from regard.run import Run


FEATURES = "features"  # what is read beside a source, unless the task says BESIDE


class Model(NamedTuple):
    name: str
    run: "Run | OnnxRun"

    def describe(self) -> dict[str, Any]:
        """As GET /v1/models tells it."""
        from regard.export.onnx_run import OnnxRun

        if isinstance(self.run, OnnxRun):
            weights, attends = None, self.run.attends
        else:
            weights, attends = self.run.weights_count(), bool(self.run.models[0].attends)
        return {
            "name": self.name,
            "task": self.run.recipe.task,
            "weights": weights,
            "features": self.run.codec.features,
            "beside": self.run.beside or FEATURES,
            "writes": self.run.writes,
            "attends": attends,
            "longest": self.run.recipe.data.longest,
            "exported": isinstance(self.run, OnnxRun),
            "looks": looks(self.run),
        }


class Models:
    """In the order they came; the first is the default."""

    def __init__(self, models: Sequence[Model]):
        self._models = {model.name: model for model in models}

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())

    def __len__(self) -> int:
        return len(self._models)

    @property
    def open_files(self) -> bool:
        """Whether any of them looks at files."""
        return any(model.run.codec.opens_files for model in self)

    def __getitem__(self, name: str) -> Model:
        return self._models[name]

    def find(self, name: str | None) -> Model:
        if name is None:
            return next(iter(self))
        if name not in self._models:
            raise Refused(404, f"there is no model {name!r:.80}", f"served are: {', '.join(self._models)}")
        return self._models[name]


def load_models(runs: Sequence[str], device: str = "auto") -> Models:
    """Each of `runs` is a folder, a hub id, an exported file, or name=one of these."""
    found: dict[str, Model] = {}
    for run in runs:
        name, path = named(run)
        taken = (name, *(f"{name}-{number}" for number in range(2, len(runs) + 1)))
        free = next(one for one in taken if one not in found)
        found[free] = Model(free, load(path, device=device))
    return Models(list(found.values()))


def named(run: str) -> tuple[str, str]:
    """`en=runs/7` → en, runs/7; `runs/en` → en, runs/en; `en.onnx` → en, en.onnx"""
    given = re.fullmatch(r"([\w.-]+)=(.+)", run)
    if given and not Path(run).exists():
        return given[1], given[2]
    path = Path(run).resolve() if Path(run).exists() else Path(run)  # `.` has a name too
    return (path.stem if path.suffix == ".onnx" else path.name) or "run", run
