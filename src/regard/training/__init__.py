"""Training: `train` is the same as the command `regard train`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.folder import Folder
from regard.memory import keep_memory_for_learning
from regard.run import Run
from regard.settings import parse_overrides
from regard.training.engine import Engine
from regard.training.loop import Trainer
from regard.training.prepare import prepare


def train(
    pairs: str | Path | Sequence[str],
    *,
    task: str,
    out: str | Path,
    dev: str | Path | Sequence[str] | None = None,
    recipe: str | None = None,
    embeddings: str | Path | None = None,
    embeddings_target: str | Path | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    device: str = "auto",
    set: Mapping[str, Any] | Sequence[str] = (),
    resume: bool = False,
    skip_bad_lines: bool = False,
    progress: bool = True,
    alignments: str | Path | None = None,
) -> Run:
    """Train on pairs and keep the best weights in the folder `out`.

    `set` changes options of the recipe: {"model.hidden": 256} or ["model.hidden=256"]. `embeddings` are word vectors
    to begin with (docs/vectors.md); `alignments` is a file of word links, a line a pair, that attention learns from.
    Under torchrun every process calls this with the same arguments.
    """
    overrides = dict(set) if isinstance(set, Mapping) else parse_overrides(set)
    overrides |= {"training.epochs": epochs} if epochs is not None else {}
    overrides |= {"training.seed": seed} if seed is not None else {}
    overrides |= {"data.embeddings": str(embeddings)} if embeddings is not None else {}
    overrides |= {"data.embeddings_target": str(embeddings_target)} if embeddings_target is not None else {}
    folder = Folder(out)
    job = prepare(_path(pairs), task, folder, _path(dev), recipe, overrides, resume, skip_bad_lines, _path(alignments))
    engine = Engine(device, job.recipe.training.strategy)
    keep_memory_for_learning()
    try:
        if engine.leads:
            folder.hold()  # before what is there is read
        trainer = Trainer(job, folder, engine, progress, resume)
        if engine.leads:
            folder.make()
            folder.hold()
            folder.write_recipe(job.recipe)
            folder.write_vocabulary(job.codec.to_json())
        trainer.run()
        return trainer.result()
    finally:
        folder.release()
        engine.close()


def _path(given: Any) -> Any:
    return str(given) if isinstance(given, Path) else given
