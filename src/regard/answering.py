"""What a run and its exported graphs have in common: sources in, answers and metrics out. Needs no torch to answer."""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from regard.data.encoding import length_buckets
from regard.data.readers import Example
from regard.data.splitting import group_references
from regard.data.text import normalise
from regard.data.vocabulary import END
from regard.errors import DataError, UsageError
from regard.pause import no_collection
from regard.prediction import Prediction
from regard.recipe import Recipe, Search, to_dict
from regard.settings import build, flatten, neighbour
from regard.tasks import Task, Writer, get_task
from regard.tasks.request import FORBIDDEN, Read, Request

if TYPE_CHECKING:
    from regard.metrics import Measured

BATCH_TOKENS = 20_000  # padded source symbols times beam held at once while answering: bounds the memory
Metric = Callable[[Sequence[str], Sequence[Sequence[str]]], float]  # outputs and the references of each → how good
BLOCK = 64  # batches whose sources are sorted by length together, where answers are to come one after the other
KEPT_SEARCHES = 1000  # sets of options remembered as checked: whoever serves a run does not choose what is asked


class Choice(NamedTuple):
    symbol: str  # "" is the end of the answer
    probability: float


class Answerer(ABC):
    """`Run` and `OnnxRun` differ in how they find the answers to one batch; all else is here."""

    def __init__(self, path: Path, recipe: Recipe, codec: Any):
        self.path = path
        self.recipe = recipe
        self.codec = codec  # of the task's own class, CODEC
        self._searches: dict[str, Search] = {}

    @abstractmethod
    def find(self, examples: Sequence[Example], request: Request, numbers: Sequence[int]) -> list[Prediction]:
        """Answers to one batch; `numbers` tell sampled sources apart."""

    @abstractmethod
    def reread(self, examples: Sequence[Example], targets: Sequence[Sequence[str]]) -> list[Read]:
        """One batch of given answers, as lists of symbols."""

    def turned(self) -> "Answerer | None":
        """The run that reads targets and writes sources, if it holds one."""
        return None

    @cached_property
    def task(self) -> Task:
        return get_task(self.recipe.task)

    @property
    def answers_nothing(self) -> bool:
        """Whether an empty source has an answer, as the beginning of any text has."""
        return getattr(self.task, "ANSWERS_NOTHING", False)

    @property
    def beside(self) -> str:
        """What the task calls that which stands beside its source, where it must."""
        return getattr(self.task, "BESIDE", "")

    def source_column(self, path: str) -> int | str:
        """Of a table like that of training."""
        own = getattr(self.task, "source_column", None)
        return own(path, self.recipe) if own else self.recipe.data.source_column

    @property
    def writes(self) -> bool:
        """Whether answers are written symbol by symbol, and so looked for by a search."""
        return isinstance(self.task, Writer)

    def widened(self, nbest: int) -> dict[str, int]:
        """The beam that so many answers need, for a call that names none."""
        return {"beam": max(nbest, self.recipe.search.beam)} if self.writes and nbest > 1 else {}

    def check_writes(self) -> None:
        """Refuse what only a run that writes its answers symbol by symbol can do."""
        if not self.writes:
            raise UsageError(
                f"{self.path} does not write its answers symbol by symbol (task {self.recipe.task}), and only such "
                "runs can be given an answer, a prefix, sampling or an export"
            )

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
        source = self.codec.clean(lemma)
        if not source and not self.answers_nothing:
            raise DataError(f"{place} is empty: there is nothing to read")
        return Example(source, "", normalise(features) if features else "", place)

    def answer(
        self,
        examples: Sequence[Example],
        *,
        batch_size: int = 64,
        **call: Any,
    ) -> list[Prediction]:
        """Answers in the order of the examples, whatever the batching; nothing about one depends on the others."""
        request, lengths = self.request(**call), self._lengths(examples)
        return list(self._found(examples, range(len(examples)), lengths, request, batch_size))

    def answers(self, examples: Sequence[Example], *, batch_size: int = 64, **call: Any) -> Iterator[Prediction]:
        """The same as they come, a block of sources after the other: none but those of one block is waited for or held.
        What is wrong with the call, or too long, is found before the first."""
        request, lengths = self.request(**call), self._lengths(examples)
        size = BLOCK * max(batch_size, 1)
        blocks = (range(len(examples))[begin : begin + size] for begin in range(0, len(examples), size))
        return (one for block in blocks for one in self._found(examples, block, lengths, request, batch_size))

    def _found(
        self, examples: Sequence[Example], block: range, lengths: Sequence[int], request: Request, batch_size: int
    ) -> Iterator[Prediction]:
        """Answers to a block of the examples, in their order."""
        budget = max(BATCH_TOKENS // request.search.beam, self.recipe.data.longest)
        answers: dict[int, Prediction] = {}
        with no_collection():
            for cut in _batches([lengths[number] for number in block], budget, batch_size):
                numbers = [block[place] for place in cut]
                found = self.find([examples[one] for one in numbers], request, numbers)
                answers.update(zip(numbers, found, strict=True))
        return (answers[number] for number in block)

    @overload
    def force(self, source: str, target: str) -> Prediction: ...  # type: ignore[overload-overlap]  # as in predict

    @overload
    def force(self, source: Sequence[str], target: Sequence[str]) -> list[Prediction]: ...

    def force(self, source: str | Sequence[str], target: str | Sequence[str]) -> Prediction | list[Prediction]:
        """Given answers as if the run had written them (forced decoding): their log probability and their attention."""
        single = isinstance(source, str)
        sources = [source] if isinstance(source, str) else list(source)
        targets = [target] if isinstance(target, str) else list(target)
        if len(sources) != len(targets):
            raise UsageError(f"{len(sources)} sources came with {len(targets)} targets; give one for each")
        given = [self.example(one, f"source {number}") for number, one in enumerate(sources, 1)]
        examples = [dataclasses.replace(one, target=other) for one, other in zip(given, targets, strict=True)]
        found = self.force_examples(examples)
        return found[0] if single else found

    def force_examples(self, examples: Sequence[Example], *, batch_size: int = 64) -> list[Prediction]:
        """The targets of pairs, as if the run had written them; in the order of the pairs, whatever the batching."""
        self.check_writes()
        targets = [self.codec.target_symbols(example.target) for example in examples]
        lengths = [max(pair) for pair in zip(self._lengths(examples), map(len, targets), strict=True)]
        answers: dict[int, Prediction] = {}
        for numbers in _batches(lengths, max(BATCH_TOKENS, *lengths, 1), batch_size):
            found = self.reread([examples[number] for number in numbers], [targets[number] for number in numbers])
            answers.update((number, one.prediction) for number, one in zip(numbers, found, strict=True))
        return [answers[number] for number in range(len(examples))]

    def choices(self, source: str, prefix: str | Sequence[str] = "", count: int = 10) -> list[Choice]:
        """The likeliest symbols to follow a prefix (a text, or a list of symbols), best first."""
        self.check_writes()
        start = self.request(prefix=prefix).prefix
        example = self.example(source, "the source")
        self._lengths([example])
        read = self.reread([example], [self.codec.target_symbols(start)])[0]
        following = read.following  # (N,)
        order = [int(number) for number in (-following).argsort(kind="stable") if number not in FORBIDDEN]
        symbols = list(self.codec.target.vocabulary.symbols)
        if len(following) > len(symbols):  # some can only be copied
            symbols += self.codec.foreign(read.prediction.source_tokens)
        return [
            Choice("" if number == END else symbols[number], math.exp(following[number])) for number in order[:count]
        ]

    def request(self, **call: Any) -> Request:
        """The recipe's search options with those of one call laid over them."""
        names = [one.name for one in dataclasses.fields(self.recipe.search)]
        rest = [one.name for one in dataclasses.fields(Request) if one.name != "search"]
        for name in call:
            if name not in names + rest:
                hint = neighbour(name, names + rest)
                raise UsageError(f"predict has no option {name}{hint or ';'} it has {', '.join(names + rest)}")
        given = {name: call[name] for name in names if name in call}
        if not self.writes:
            given = self._unsearched(given, call.get("nbest", 0))
        request = Request(self._search(given), **{name: call[name] for name in rest if name in call})
        if request.prefix or request.sampling:
            self._check_prefix(request)
        return request

    def _unsearched(self, given: dict[str, Any], nbest: int) -> dict[str, Any]:
        """Search options where nothing is searched for: none may be given, and there are as many answers as wanted."""
        if given:
            raise UsageError(
                f"{next(iter(given))} does nothing in the task {self.recipe.task}, whose answers are not searched for: "
                "leave it out"
            )
        return {"beam": max(nbest, 1)}

    def _check_prefix(self, request: Request) -> None:
        self.check_writes()
        unknown = self.codec.target.vocabulary.unknown(self.codec.target_symbols(request.prefix))
        if unknown:
            raise UsageError(f"an answer cannot begin with {request.prefix!r}: never seen in training: {unknown[0]}")

    def _search(self, options: dict[str, Any]) -> Search:
        """The recipe's search options with these laid over them, checked once for each such set."""
        key = repr(sorted(options.items()))
        if key not in self._searches:
            if len(self._searches) >= KEPT_SEARCHES:
                self._searches.clear()
            stored = dict(flatten(to_dict(self.recipe)))
            laid_over = {f"search.{name}": value for name, value in options.items()}
            self._searches[key] = build(stored | laid_over, "predict").search
        return self._searches[key]

    def evaluate(self, examples: Sequence[Example], **call: Any) -> "Measured":
        """Metrics over pairs; rows with one source are several references of it."""
        return self.evaluate_counted(examples, **call)[0]

    def evaluate_counted(
        self, examples: Sequence[Example], further: Mapping[str, Metric] | None = None, **call: Any
    ) -> "tuple[Measured, int]":
        """The metrics, the task's and further ones, and over how many different sources."""
        grouped = group_references(examples)
        if self.task.METRIC == "loss":  # there is nothing that answers could be compared with
            return self.task.measure([], []), len(examples)
        answers = self.answer([one.example for one in grouped], **call)
        compared = [one.output for one in answers], [one.references for one in grouped]
        measured: Measured = self.task.measure(*compared)
        more = {name: metric(*compared) for name, metric in (further or {}).items()}
        return measured._replace(metrics=measured.metrics | more), len(grouped)

    def _lengths(self, examples: Sequence[Example]) -> list[int]:
        """How many symbols each source has, if none has more than the run reads."""
        return [self._length(example) for example in examples]

    def _length(self, example: Example) -> int:
        length, most = len(self.codec.source_symbols(example)), self.recipe.data.longest
        if length > most:
            raise DataError(
                f"{example.place} has {length:,} symbols, this run reads at most {most:,}: shorten or split it, "
                "or train with a larger --set data.longest"
            )
        return length

    def trouble(self, example: Example) -> str:
        """Why its source cannot be read, "" if it can; a file is read to its end, not by its header alone."""
        try:
            self._length(example)
            if self.codec.opens_files:
                self.codec.eye.open(example.path).decode()
        except DataError as error:
            return str(error)
        return ""


def _batches(lengths: Sequence[int], budget: int, most: int) -> Iterator[list[int]]:
    """Numbers of examples of about one length, at most so many padded symbols and so many examples at once."""
    if most < 1:
        raise UsageError(f"batch size {most} came; it must be at least 1")
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for cut in length_buckets([lengths[number] for number in order], budget, most):
        yield [order[place] for place in cut]
