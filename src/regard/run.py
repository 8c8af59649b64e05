"""A trained run: load, predict, evaluate, share."""

import dataclasses
import difflib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import torch
from torch import Tensor, nn

from regard.data.batching import length_buckets
from regard.data.readers import Example
from regard.data.splitting import group_references
from regard.data.text import normalise
from regard.device import choose_device
from regard.errors import DataError, MissingExtra, RegardError, UsageError
from regard.folder import Folder, read_tensors
from regard.likelihood import loss_per_symbol
from regard.metrics import Measured
from regard.prediction import Prediction
from regard.recipe import Recipe, Search, build, flatten, neighbour, to_dict
from regard.tasks import Task, get_task
from regard.tasks.codec import Codec
from regard.tasks.sequence import Request

STATE = ["training.safetensors", "checkpoints/*", "tensorboard/*", ".*"]  # what only a resumed training reads
BATCH_TOKENS = 20_000  # padded source symbols times beam held at once while answering: bounds the memory


class Run:
    """What `regard.train` makes and `regard.load` reads. Several runs can answer together: `run.join(…)`."""

    def __init__(self, path: Path, recipe: Recipe, codec: Codec, models: Sequence[nn.Module]):
        self.path = path
        self.recipe = recipe
        self.codec = codec
        self.models = list(models)
        self.task: Task = get_task(recipe.task)
        self._searches: dict[str, Search] = {}

    def __repr__(self) -> str:
        return f"<regard run {self.path}: {self.recipe.task}, {self.weights_count():,} weights>"

    def weights_count(self) -> int:
        return sum(weight.numel() for model in self.models for weight in model.parameters())

    @property
    def device(self) -> torch.device:
        return next(self.models[0].parameters()).device

    @overload
    def predict(self, source: str, **call: Any) -> Prediction: ...

    @overload
    def predict(self, source: Sequence[str], **call: Any) -> list[Prediction]: ...

    def predict(self, source: str | Sequence[str], **call: Any) -> Prediction | list[Prediction]:
        """Answer one source, or a list of them in their order.

        beam=5, nbest=3, batch_size=64, prefix="…", sampling=True with temperature, top_k, top_p and seed, and every
        option of the recipe's search section (length_penalty, coverage_penalty, no_repeat, …). Where the task has
        features, a source is "lemma<TAB>features".
        """
        single = isinstance(source, str)
        texts = [source] if isinstance(source, str) else list(source)
        examples = [self.example(text, f"source {number}") for number, text in enumerate(texts, 1)]
        answers = self.answer(examples, **call)
        return answers[0] if single else answers

    def example(self, text: str, place: str) -> Example:
        lemma, _, features = text.partition("\t") if self.codec.features else (text, "", "")
        source = normalise(lemma, self.codec.lowercase)
        if not source:
            raise DataError(f"{place} is empty: there is nothing to read")
        return Example(source, "", features.strip(), place)

    def answer(
        self,
        examples: Sequence[Example],
        *,
        batch_size: int = 64,
        **call: Any,
    ) -> list[Prediction]:
        """Answers in the order of the examples, whatever the batching; nothing about one depends on the others."""
        request = self.request(**call)
        if batch_size < 1:
            raise UsageError(f"batch size {batch_size} came; it must be at least 1")
        lengths = [len(self.codec.source_symbols(example)) for example in examples]
        self._check_lengths(examples, lengths)
        order = sorted(range(len(examples)), key=lengths.__getitem__)
        budget = max(BATCH_TOKENS // request.search.beam, self.recipe.data.longest)
        answers: dict[int, Prediction] = {}
        for cut in length_buckets([lengths[number] for number in order], budget, batch_size):
            numbers = [order[place] for place in cut]
            chosen = [examples[number] for number in numbers]
            found = self.task.answer(self.models, self.codec, chosen, request, numbers)
            answers.update(zip(numbers, found, strict=True))
        return [answers[number] for number in range(len(examples))]

    def request(self, **call: Any) -> Request:
        """The recipe's search options with those of one call laid over them."""
        names = [one.name for one in dataclasses.fields(self.recipe.search)]
        rest = [one.name for one in dataclasses.fields(Request) if one.name != "search"]
        for name in call:
            if name not in names + rest:
                hint = neighbour(name, names + rest)
                raise UsageError(f"predict has no option {name}{hint or ';'} it has {', '.join(names + rest)}")
        search = self._search({name: call[name] for name in names if name in call})
        request = Request(search, **{name: call[name] for name in rest if name in call})
        unknown = self.codec.target.vocabulary.unknown(self.codec.target_symbols(request.prefix))
        if unknown:
            raise UsageError(f"an answer cannot begin with {request.prefix!r}: never seen in training: {unknown[0]}")
        return request

    def _search(self, options: dict[str, Any]) -> Search:
        """The recipe's search options with these laid over them, checked once for each such set."""
        key = repr(sorted(options.items()))
        if key not in self._searches:
            stored = dict(flatten(to_dict(self.recipe)))
            laid_over = {f"search.{name}": value for name, value in options.items()}
            self._searches[key] = build(stored | laid_over, "predict").search
        return self._searches[key]

    def evaluate(self, examples: Sequence[Example], **call: Any) -> Measured:
        """Metrics over pairs; rows with one source are several references of it."""
        return self.evaluate_counted(examples, **call)[0]

    def evaluate_counted(self, examples: Sequence[Example], **call: Any) -> tuple[Measured, int]:
        """The metrics, and over how many different sources."""
        grouped = group_references(examples)
        answers = self.answer([one.example for one in grouped], **call)
        return self.task.measure([one.output for one in answers], [one.references for one in grouped]), len(grouped)

    def perplexity(self, examples: Sequence[Example]) -> float:
        """exp(−log p per symbol) of the given targets, END counted; of an ensemble, the first model's."""
        encodings = self.task.encode(self.codec, examples)
        return math.exp(loss_per_symbol(self.task, self.models[0], encodings, self.device, BATCH_TOKENS))

    def dev_metrics(self) -> dict[str, float]:
        """What was measured on the dev pairs when the weights were kept."""
        metrics: dict[str, float] = Folder(self.path).read_config()["dev_metrics"]
        return metrics

    def join(self, *others: "Run") -> "Run":
        """An ensemble: the mean of the probabilities of runs with the same vocabularies."""
        for other in others:
            if other.codec != self.codec and other.codec.to_json() != self.codec.to_json():
                raise UsageError(f"{other.path} has other vocabularies than {self.path}: train both on the same pairs")
        return Run(self.path, self.recipe, self.codec, [model for run in (self, *others) for model in run.models])

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> None:
        """Upload the folder, without the training state, to the Hugging Face hub."""
        hub = _hub()
        try:
            hub.create_repo(repo_id, private=private, token=token, exist_ok=True)
            hub.upload_folder(repo_id=repo_id, folder_path=str(self.path), ignore_patterns=STATE, token=token)
        except Exception as error:  # the hub's own, those of its network library, …
            raise RegardError(f"cannot upload to {repo_id} on the hub: {_first_line(error)}") from error

    def _check_lengths(self, examples: Sequence[Example], lengths: Sequence[int]) -> None:
        most = self.recipe.data.longest
        for example, length in zip(examples, lengths, strict=True):
            if length > most:
                raise DataError(
                    f"{example.place} has {length:,} symbols, this run reads at most {most:,}: shorten or split it, "
                    "or train with a larger --set data.longest"
                )


def load(path: str | Path, *, device: str = "auto", revision: str | None = None, token: str | None = None) -> Run:
    """A run by its folder, or by its id on the Hugging Face hub (`owner/name`)."""
    folder = Folder(_local(path, revision, token))
    folder.read_config()
    recipe = folder.read_recipe()
    codec = _codec(folder)
    weights, _ = read_tensors(folder.weights)
    try:
        with torch.device("meta"):  # sizes first: a hostile recipe must not claim memory its weights do not fill
            model: nn.Module = get_task(recipe.task).build(codec, recipe.model)
    except UsageError as error:  # here not the call is wrong, but the file
        raise DataError(f"{folder.path / 'recipe.yaml'}: {error}") from error
    fill(model, weights, folder.weights)
    return Run(folder.path, recipe, codec, [model.to(choose_device(device)).eval()])


def _codec(folder: Folder) -> Codec:
    try:
        return Codec.from_json(folder.read_vocabulary())
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
        if not bool(weights[name].isfinite().all()):
            raise DataError(f"{path} is damaged: {name} holds numbers that are not finite")
    shared = {id(weight): name for name, weight in model.named_parameters()}
    everything = model.named_parameters(remove_duplicate=False)  # tied weights stand in the file once
    model.load_state_dict({name: weights[shared[id(weight)]] for name, weight in everything}, assign=True)


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
