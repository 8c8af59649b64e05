"""From what the user gave to what the loop needs: pairs read, recipe resolved, codec learnt, folder checked."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.links import join_links
from regard.data.readers import Example
from regard.data.splitting import split_by_source
from regard.draft import Draft, load_draft, recipe_names
from regard.errors import DataError, UsageError
from regard.folder import Folder
from regard.model import hollow
from regard.recipe import Recipe, describe
from regard.tasks import Task, get_task
from regard.tasks.checking import check_options
from regard.training.vectors import pretrained_tables

logger = logging.getLogger("regard")

MAY_CHANGE = {
    "training.epochs",
    "training.patience",
    "training.save_seconds",
    "training.tensorboard",
    "about",
}


@dataclass(frozen=True)
class Job:
    """Everything that is fixed before the first update."""

    task: Task
    recipe: Recipe
    codec: Any  # of the task's own class
    train: list[Example]
    dev: list[Example]
    encodings: list[Any]
    dev_encodings: list[Any]
    fingerprint: str  # of the pairs


def prepare(
    pairs: str | Sequence[str],
    task: str,
    folder: Folder,
    dev: str | Sequence[str] | None,
    recipe: str | None,
    overrides: Mapping[str, Any],
    resume: bool,
    skip_bad_lines: bool,
    alignments: str | None = None,
) -> Job:
    module = get_task(task)
    draft = load_draft(recipe or task, task)
    _check_family(module, draft, task)
    early = draft.unscaled(overrides)
    if early.task != task:
        raise UsageError(f"task={early.task} was set, but --task is {task}")
    _check_folder(folder, resume)
    train_part, dev_part = _read(module, pairs, dev, early, skip_bad_lines, alignments)
    resolved = _resolve(draft, folder, len(train_part), overrides, resume)
    check_options(module, resolved)
    codec = module.codec(train_part, resolved)
    _check_parts(module, codec, resolved)
    train_part, encodings = _fitting(module.encode(codec, train_part), train_part, resolved, "training")
    train_part, encodings = _teaching(encodings, train_part)
    dev_part, dev_encodings = _fitting(module.encode(codec, dev_part), dev_part, resolved, "dev")
    if alignments and not any(getattr(one, "links", ()) for one in encodings):
        raise UsageError(f"--alignments {alignments}: the task {task} has no use for links, or no pair has any")
    everything = repr((codec.to_json(), encodings, dev_encodings))
    fingerprint = hashlib.blake2b(everything.encode(), digest_size=16).hexdigest()
    if dev is None:
        rows = len(train_part) + len(dev_part)
        share = resolved.data.dev_share
        logger.info("%d of %d rows are held back as dev pairs (data.dev_share=%g)", len(dev_part), rows, share)
    return Job(module, resolved, codec, train_part, dev_part, encodings, dev_encodings, fingerprint)


def _check_family(module: Task, draft: Draft, task: str) -> None:
    """A variant for tasks of another family may have a twin for this one."""
    if not (odd := _foreign(module, draft)):
        return
    twins = [name for name in recipe_names() if name.startswith(f"{draft.name}-")]
    for twin in twins:
        if not _foreign(module, load_draft(twin)):
            raise UsageError(f"recipe {draft.name} is not for the task {task}, which has no {odd[0]}: use {twin}")


def _foreign(module: Task, draft: Draft) -> list[str]:
    """Options that a recipe sets in sections which the task has no use for."""
    named = [name for name in draft.layers[-1].options if "." in name]
    return [name for name in named if name.partition(".")[0] not in module.SECTIONS]


def _check_folder(folder: Folder, resume: bool) -> None:
    if folder.holds_run and not resume:
        raise UsageError(f"{folder.path} holds a run already: go on with --resume, or choose another --out")
    if (folder.path / "README.md").exists() and folder.weights.exists() and not folder.training.exists():
        raise UsageError(f"{folder.path} is finished and came without {folder.training.name}: choose another --out")
    if folder.path.exists() and not folder.path.is_dir():
        raise UsageError(f"{folder.path} is a file; --out names a folder")
    foreign = (
        folder.path.is_dir()
        and not folder.holds_run
        and any(not one.name.startswith(".") for one in folder.path.iterdir())
    )
    if foreign and not folder.log.exists():
        raise UsageError(f"{folder.path} is not empty and holds no run: choose another --out")


def _read(
    module: Task,
    pairs: str | Sequence[str],
    dev: str | Sequence[str] | None,
    recipe: Recipe,
    skip_bad_lines: bool,
    alignments: str | None,
) -> tuple[list[Example], list[Example]]:
    if alignments and recipe.data.where_column is not None:
        raise UsageError(
            f"--alignments {alignments} came, but data.where_column names links too: leave one of them out"
        )
    reading = module.read(pairs, recipe, skip_bad_lines)
    _report(reading.skipped)
    examples = join_links(reading, alignments) if alignments else reading.examples
    if dev is None:
        return split_by_source(examples, recipe.data.dev_share, seed=0)  # runs of all seeds share one split
    dev_reading = module.read(dev, recipe, skip_bad_lines)
    _report(dev_reading.skipped)
    return examples, dev_reading.examples


def _report(skipped: Sequence[str]) -> None:
    if skipped:
        logger.warning("left out %d bad lines; the first: %s", len(skipped), skipped[0])


def _resolve(draft: Draft, folder: Folder, pairs: int, overrides: Mapping[str, Any], resume: bool) -> Recipe:
    """The recipe for this many pairs; a resumed run keeps the one it has, but for what may change."""
    wanted = draft.resolve(pairs, overrides)
    if not (resume and (folder.path / "recipe.yaml").exists()):
        return wanted
    stored = {line.name: line.default for line in describe(folder.read_recipe())}
    for line in describe(wanted):
        if line.name not in MAY_CHANGE and stored[line.name] != line.default:
            raise UsageError(
                f"--resume: this run was made with {line.name}={stored[line.name]}, now it is {line.default}; "
                "use the same options, or another --out"
            )
    return wanted


def _check_parts(module: Task, codec: Any, recipe: Recipe) -> None:
    """Stop before anything is written if the parts do not fit together or the metric is not one of the task's."""
    with hollow():
        model = module.build(codec, recipe)
    pretrained_tables(model, codec, recipe)
    measured = module.measure(["a"], [["a"]]).metrics if module.METRIC != "loss" else {}
    known = ["auto", "loss", *measured]
    if recipe.training.metric not in known:
        raise UsageError(f"training.metric={recipe.training.metric} is not measured here; there are {', '.join(known)}")


def _fitting(
    encodings: Sequence[Any], examples: Sequence[Example], recipe: Recipe, name: str
) -> tuple[list[Example], list[Any]]:
    """Without the pairs that are longer than data.longest, which would need unbounded memory."""
    most = recipe.data.longest
    kept = [number for number, one in enumerate(encodings) if one.length <= most]
    if not kept:
        shortest = min(one.length for one in encodings)
        raise DataError(
            f"all {len(examples)} {name} pairs are longer than data.longest={most} symbols: the shortest has "
            f"{shortest}; of a picture these are its places, of which a smaller look.size makes fewer"
        )
    if len(kept) < len(examples):
        logger.warning(
            "left out %d of %d %s pairs longer than data.longest=%d symbols",
            len(examples) - len(kept),
            len(examples),
            name,
            most,
        )
    return [examples[number] for number in kept], [encodings[number] for number in kept]


def _teaching(encodings: Sequence[Any], examples: Sequence[Example]) -> tuple[list[Example], list[Any]]:
    """Without the pairs that no loss can be made of: an answer that should be pointed at, but is not there."""
    kept = [number for number, one in enumerate(encodings) if one.counted > 0]
    if not kept:
        raise DataError(f"none of {len(examples)} answers stands in what is read of its passage")
    if len(kept) < len(examples):
        missing = next(example for example, one in zip(examples, encodings, strict=True) if one.counted == 0)
        logger.warning(
            "left out %d of %d training pairs whose answer is not in what is read of the passage; the first: %s",
            len(examples) - len(kept),
            len(examples),
            missing.place,
        )
    return [examples[number] for number in kept], [encodings[number] for number in kept]
