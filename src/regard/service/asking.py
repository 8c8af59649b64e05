"""What can be asked of a run, each for a whole batch at once: answers, given answers read again, next symbols."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from regard.answering import Answerer
from regard.data.origin import is_sent
from regard.data.readers import Example
from regard.data.text import normalise
from regard.errors import DataError, RegardError
from regard.prediction import Prediction
from regard.service.looking import most_places, without_content
from regard.service.metrics import Metrics
from regard.service.models import Models
from regard.service.refusal import Refused
from regard.tasks.request import longest_answers


class Key(NamedTuple):
    """Items with equal keys may share a batch."""

    model: str
    kind: str  # of KINDS
    options: tuple[tuple[str, Any], ...] = ()  # of the search


class Item(NamedTuple):
    source: str
    features: str = ""
    target: str | tuple[str, ...] = ""  # a given answer, or the beginning of one; symbols or text
    most: int = 0  # next symbols
    weights: int = 0  # that it may take, at most


class Asker:
    """Answers a batch; an item that cannot be answered gets the reason instead, and the others their answers."""

    def __init__(self, models: Models, metrics: Metrics):
        self._models, self._metrics = models, metrics

    def __call__(self, key: Key, items: Sequence[Item]) -> list[Any]:
        run = self._models[key.model].run
        read = [_attempt(run, item) for item in items]
        asked = [(item, one) for item, one in zip(items, read, strict=True) if isinstance(one, Example)]
        found = map(without_content, _answers(KINDS[key.kind], run, asked, dict(key.options)))
        outcomes = [next(found) if isinstance(one, Example) else one for one in read]
        self._count(key.model, outcomes)
        return outcomes

    def _count(self, model: str, outcomes: Sequence[Any]) -> None:
        answers = [one for one in outcomes if isinstance(one, Prediction)]
        self._metrics.symbols.add(sum(len(one.source_tokens) for one in answers), model=model, side="source")
        self._metrics.symbols.add(sum(len(one.output_tokens) for one in answers), model=model, side="output")


Asked = Sequence[tuple[Item, Example]]
Ask = Callable[[Answerer, Asked, dict[str, Any]], list[Any]]


def _answers(ask: Ask, run: Answerer, asked: Asked, options: dict[str, Any]) -> list[Any]:
    """That a file is damaged may show only when it is decoded: then each is asked about alone, as nobody should hear of
    another's."""
    try:
        return ask(run, asked, options) if asked else []
    except DataError as error:
        if len(asked) == 1:
            return [error]
        return [outcome for one in asked for outcome in _answers(ask, run, [one], options)]


def predict(run: Answerer, asked: Asked, options: dict[str, Any]) -> list[Any]:
    return list(run.answer([example for _, example in asked], **options))


def force(run: Answerer, asked: Asked, options: dict[str, Any]) -> list[Any]:
    return list(run.force_examples([example for _, example in asked]))


def choices(run: Answerer, asked: Asked, options: dict[str, Any]) -> list[Any]:
    return [_choices(run, item) for item, _ in asked]


def _choices(run: Answerer, item: Item) -> Any:
    try:
        return run.choices(_text(item), item.target, item.most)
    except RegardError as error:
        return error


KINDS: dict[str, Ask] = {
    "predict": predict,
    "force": force,
    "choices": choices,
}


def weigh(run: Answerer, items: Sequence[Item], prefix: str | Sequence[str], beam: int) -> list[Item]:
    """With source × longest answer × beam of each; what cannot be read weighs nothing, and is refused later. Files are
    not opened here: the worker does that. An answer that is not written looks at its source a few times, or once for
    each word of what is asked."""
    start = len(_target_symbols(run, prefix))
    _refuse_long("prefix", start, _longest(run))
    lengths = _source_lengths(run, items)
    if not run.writes:
        looks = 1 + run.recipe.choose.rows + run.recipe.look.hops
        pairs = zip(items, lengths, strict=True)
        return [item._replace(weights=length * (looks + len(item.features))) for item, length in pairs]
    answers = longest_answers([range(length) for length in lengths], run.recipe.search)
    sizes = zip(items, lengths, answers, strict=True)
    return [item._replace(weights=length * max(answer, start) * beam) for item, length, answer in sizes]


def weigh_given(run: Answerer, item: Item) -> Item:
    """With source × given answer."""
    (length,) = _source_lengths(run, [item])
    return item._replace(weights=length * (len(_target_symbols(run, item.target)) + 1))


def _source_lengths(run: Answerer, items: Sequence[Item]) -> list[int]:
    return [most_places(run)] * len(items) if run.codec.opens_files else _lengths(run, items)


def _lengths(run: Answerer, items: Sequence[Item]) -> list[int]:
    read = [_attempt(run, item) for item in items]
    return [len(run.codec.source_symbols(one)) if isinstance(one, Example) else 0 for one in read]


def _target_symbols(run: Answerer, text: str | Sequence[str]) -> list[str]:
    """None, where answers are not written symbol by symbol."""
    cut: Callable[[str | Sequence[str]], list[str]] | None = getattr(run.codec, "target_symbols", None)
    return cut(text) if cut else []


def _longest(run: Answerer) -> int:
    """The longest answer that is read, or written to the longest source"""
    longest = run.recipe.data.longest
    return max(longest, *longest_answers([range(longest)], run.recipe.search))


def _attempt(run: Answerer, item: Item) -> Example | Exception:
    try:
        return _example(run, item)
    except (RegardError, Refused) as error:
        return error


def _example(run: Answerer, item: Item) -> Example:
    """The pair that an item is about, if it is none of the wrong kind and not too long."""
    if item.features and not run.codec.features:
        raise DataError("this model reads no features or other text beside its source: leave them out")
    if run.codec.opens_files and not is_sent(item.source):
        raise DataError(
            "source: send the file itself, as data:image/png;base64,…: a path would be one of this machine's"
        )
    example = run.example(_text(item), "the source")
    if run.beside and not normalise(example.features):  # a run would name an option of the command
        raise DataError(f'there is no {run.beside} beside the source: give it as "features"')
    target = _target_symbols(run, item.target)
    symbols, longest = run.codec.source_symbols(example), run.recipe.data.longest
    _refuse_long("source", len(symbols), longest)
    _refuse_long("target", len(target), _longest(run))
    return replace(example, target=cast(str, target))  # the codec takes symbols for what they are


def _text(item: Item) -> str:
    return f"{item.source}\t{item.features}" if item.features else item.source


def _refuse_long(side: str, length: int, most: int) -> None:
    if length > most:
        message = f"the {side} has {length:,} symbols, this model reads at most {most:,}"
        raise Refused(413, message, "shorten or split it")
