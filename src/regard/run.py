"""A trained run: load, predict, evaluate, share."""

import difflib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.agreement import backward_half
from regard.answering import BATCH_TOKENS, Answerer
from regard.data.readers import Example
from regard.device import choose_device
from regard.errors import DataError, MissingExtra, RegardError, UsageError
from regard.folder import Folder, read_tensors
from regard.likelihood import loss_per_symbol
from regard.memory import keep_memory_for_answering
from regard.model import EncoderDecoder, hollow
from regard.prediction import Prediction
from regard.recipe import Recipe, describe
from regard.tasks import Task, Writer, get_task
from regard.tasks.request import Read, Request

STATE = ["training.safetensors", "checkpoints/*", "tensorboard/*", ".*"]  # what only a resumed training reads

READING = ("data", "source", "target", "dialog", "point", "choose")  # sections that say what symbols there are


class Run(Answerer):
    """What `regard.train` makes and `regard.load` reads. Several runs can answer together: `run.join(…)`."""

    def __init__(self, path: Path, recipe: Recipe, codec: Any, models: Sequence[nn.Module]):
        super().__init__(path, recipe, codec)
        self.models = list(models)

    def __repr__(self) -> str:
        return f"<regard run {self.path}: {self.recipe.task}, {self.weights_count():,} weights>"

    def weights_count(self) -> int:
        return sum(weight.numel() for model in self.models for weight in model.parameters())

    @property
    def device(self) -> torch.device:
        return next(self.models[0].parameters()).device

    def find(self, examples: Sequence[Example], request: Request, numbers: Sequence[int]) -> list[Prediction]:
        found: list[Prediction] = self.task.answer(self.models, self.codec, examples, request, numbers)
        return found

    def reread(self, examples: Sequence[Example], targets: Sequence[Sequence[str]]) -> list[Read]:
        penalty = self.recipe.search.length_penalty
        self.check_writes()
        found: list[Read] = cast(Writer, self.task).force(self.models, self.codec, examples, targets, penalty)
        return found

    def turned(self) -> "Run | None":
        """The models target → source that these learnt with (model.agreement), as a run."""
        backs = [backward_half(model) for model in self.models if isinstance(model, EncoderDecoder)]
        halves = [back for back in backs if back is not None]
        return Run(self.path, self.recipe, self.codec.turned(), halves) if halves else None

    def perplexity(self, examples: Sequence[Example]) -> float:
        """exp(−log p per symbol) of the given targets, END counted; of an ensemble, the first model's."""
        encodings = self.task.encode(self.codec, examples)
        return math.exp(loss_per_symbol(self.task, self.models[0], encodings, self.device, BATCH_TOKENS))

    def dev_metrics(self) -> dict[str, float]:
        """What was measured on the dev pairs when the weights were kept."""
        metrics: dict[str, float] = Folder(self.path).read_config()["dev_metrics"]
        return metrics

    def join(self, *others: Answerer) -> "Run":
        """An ensemble: the mean of the probabilities of runs with the same vocabularies."""
        runs = [other for other in others if isinstance(other, Run)]
        if len(runs) < len(others):
            raise UsageError("an exported run answers alone: join the runs that were exported")
        for other in runs:
            if other.codec != self.codec and other.codec.to_json() != self.codec.to_json():
                raise UsageError(_difference(other, self))
        return Run(self.path, self.recipe, self.codec, [model for run in (self, *runs) for model in run.models])

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> None:
        """Upload the folder, without the training state, to the Hugging Face hub."""
        hub = _hub()
        try:
            hub.create_repo(repo_id, private=private, token=token, exist_ok=True)
            hub.upload_folder(repo_id=repo_id, folder_path=str(self.path), ignore_patterns=STATE, token=token)
        except Exception as error:  # the hub's own, those of its network library, …
            raise RegardError(f"cannot upload to {repo_id} on the hub: {_first_line(error)}") from error


def _difference(one: Run, other: Run) -> str:
    """Why two runs cannot answer together: what they read and write differs by task, options or pairs."""
    if one.recipe.task != other.recipe.task:
        return (
            f"{one.path} is a run of the task {one.recipe.task}, {other.path} of {other.recipe.task}: join runs of one"
        )
    options = ({line.name: line.default for line in describe(run.recipe)} for run in (one, other))
    mine, theirs = (chosen | {"data.embeddings": None, "data.embeddings_target": None} for chosen in options)
    odd = [name for name in mine if name.partition(".")[0] in READING and mine[name] != theirs[name]]
    if odd:
        told = ", ".join(f"{name}={mine[name]}, not {theirs[name]}" for name in odd)
        return f"{one.path} reads or writes otherwise than {other.path} ({told}): train both with the same"
    return f"{one.path} has other vocabularies than {other.path}: train both on the same pairs"


def load(path: str | Path, *, device: str = "auto", revision: str | None = None, token: str | None = None) -> Run:
    """A run by its folder, or by its id on the Hugging Face hub (`owner/name`)."""
    folder = Folder(_local(path, revision, token))
    folder.read_config()
    recipe = folder.read_recipe()
    task = _task(folder, recipe)
    codec = _codec(folder, task)
    weights, _ = read_tensors(folder.weights)
    try:
        with hollow():  # sizes first: a hostile recipe must not claim memory its weights do not fill
            model: nn.Module = task.build(codec, recipe)
    except UsageError as error:  # here not the call is wrong, but the file
        raise DataError(f"{folder.path / 'recipe.yaml'}: {error}") from error
    fill(model, weights, folder.weights)
    keep_memory_for_answering()
    return Run(folder.path, recipe, codec, [model.to(choose_device(device)).eval()])


def _task(folder: Folder, recipe: Recipe) -> Task:
    try:
        return get_task(recipe.task)
    except UsageError as error:  # here not the call is wrong, but the file
        raise DataError(f"{folder.path / 'recipe.yaml'}: {error}") from error


def _codec(folder: Folder, task: Task) -> Any:
    try:
        return task.CODEC.from_json(folder.read_vocabulary())
    except DataError as error:
        raise DataError(f"{folder.path / 'vocabulary.json'} is damaged: {error}") from error


def fill(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Give a model without storage its weights, after checking that names, shapes and numbers are right."""
    wanted = {name: weight.shape for name, weight in model.named_parameters()}
    if set(wanted) != set(weights):
        odd = sorted(set(wanted) ^ set(weights))[0]
        raise DataError(f"{path} does not fit its recipe: {odd} is {'missing' if odd in wanted else 'not expected'}")
    for name, shape in wanted.items():
        if weights[name].shape != shape:
            raise DataError(
                f"{path} does not fit its recipe: {name} is {tuple(weights[name].shape)}, not {tuple(shape)}"
            )
        if weights[name].dtype != torch.float32:
            raise DataError(f"{path} is damaged: {name} holds {weights[name].dtype}, not torch.float32")
        if not _finite(weights[name]):
            raise DataError(f"{path} is damaged: {name} holds numbers that are not finite")
    shared = {id(weight): name for name, weight in model.named_parameters()}
    everything = model.named_parameters(remove_duplicate=False)  # tied weights stand in the file once
    model.load_state_dict({name: weights[shared[id(weight)]] for name, weight in everything}, assign=True)


def _finite(weight: Tensor) -> bool:
    """By its least and its greatest number, which are NaN where any is: a quarter of the time of `isfinite`."""
    return all(math.isfinite(end) for end in weight.aminmax()) if weight.numel() else True


def _local(path: str | Path, revision: str | None, token: str | None) -> Path:
    if Path(path).is_dir():
        return Path(path)
    near = _near(Path(path))
    names_hub = isinstance(path, str) and re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", path)
    if near or not names_hub or Path(path).parent.exists():  # a typo is not a reason to go online
        hint = f"; did you mean {near[0]}?" if near else ": expected a folder that `regard train` wrote, or a hub id"
        raise UsageError(f"there is no run {path}{hint}")
    hub = _hub()
    try:
        return Path(hub.snapshot_download(path, revision=revision, token=token, ignore_patterns=STATE))
    except Exception as error:  # the hub's own, those of its network library, …
        raise RegardError(
            f"there is no folder {path}, and the hub did not give a run of this name: {_first_line(error)}"
        ) from error


def _near(path: Path) -> list[str]:
    """Run folders with a similar name: runs/en for runs/em and for run/en."""
    parents = [path.parent] if path.parent.is_dir() else path.parent.parent.glob("*/")
    folders = [str(one) for parent in parents for one in parent.glob("*/") if Folder(one).holds_run]
    return difflib.get_close_matches(str(path), folders, 1)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "hub") from error
    return huggingface_hub
