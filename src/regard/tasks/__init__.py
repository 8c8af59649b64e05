"""One file per task: data + model + metric, as functions in the order data travels.

Tasks come in families: those that write sequences share sequence.py, those that choose a class choosing.py, those that
point into a passage pointing.py. What a family has in common stands there; a task's own file says what is its own
(docs/architecture.md).
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

from regard.errors import UsageError

TASKS = (
    "pronounce",
    "transliterate",
    "inflect",
    "translate",
    "summarize",
    "respond",
    "imply",
    "model",
    "classify",
    "entail",
    "read",
    "fill",
    "caption",
    "answer",
    "describe",
    "transcribe",
)


class Task(Protocol):
    """What a task's module holds. `codec` learns vocabularies and the like, which are saved with the run."""

    METRIC: str  # what early stopping watches; "loss" where answers are not compared with references
    CODEC: Any  # the class of its codec, with `from_json`
    SECTIONS: tuple[str, ...]  # which sections of a recipe it has a use for
    UNUSED: Mapping[
        tuple[str, Any], Sequence[str]
    ]  # (option, value) → what does nothing there, though it has a section

    def read(self, path: Any, recipe: Any, skip_bad_lines: bool = False) -> Any: ...  # file → examples

    def codec(self, examples: Sequence[Any], recipe: Any) -> Any: ...  # examples → vocabularies and the like

    def encode(self, codec: Any, examples: Sequence[Any]) -> list[Any]: ...  # examples → numbers

    def batch(self, encodings: Sequence[Any], numbers: list[int]) -> Any: ...  # numbers → tensors

    def build(self, codec: Any, recipe: Any) -> Any: ...  # → model, by plain constructor calls

    def loss(self, model: Any, batch: Any, smoothing: float = 0.0, own: float = 0.0) -> Any: ...  # → sums

    def answer(
        self, models: Sequence[Any], codec: Any, examples: Sequence[Any], request: Any, numbers: Sequence[int]
    ) -> list[Any]: ...  # → answers, each with its text and its weights

    def measure(self, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Any: ...  # → {"per": 4.2}


@runtime_checkable
class Writer(Task, Protocol):
    """A task whose answers are written symbol by symbol, so that given ones can be read again."""

    def force(
        self, models: Sequence[Any], codec: Any, examples: Sequence[Any], targets: Sequence[Any], length_penalty: float
    ) -> list[Any]: ...  # given answers → the same, with their weights


def get_task(name: str) -> Task:
    if name not in TASKS:
        from regard.settings import neighbour

        raise UsageError(f"there is no task {name!r}{neighbour(name, TASKS) or ';'} there are {', '.join(TASKS)}")
    return cast(Task, import_module(f"regard.tasks.{name}"))
