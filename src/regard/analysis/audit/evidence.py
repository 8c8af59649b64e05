"""Everything that is tried on a model, example by example; what it means is computed from this alone."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from regard.analysis.audit.erasure import Moved, erase_symbols, erase_weights
from regard.analysis.audit.gradients import gradient_times_input
from regard.analysis.audit.permutation import Shuffled, draw_orders, shuffle_weights
from regard.analysis.audit.walking import Array, walk
from regard.data.batching import length_buckets, pad
from regard.data.vocabulary import BEGIN
from regard.fast.switch import plain
from regard.model import EncoderDecoder, hollow
from regard.run import Run

NUMBERS = 40_000_000  # of S erasures × S places × N symbols of every source, held at once: bounds the memory


class Subject(NamedTuple):
    """A source with an answer to it."""

    number: int  # in the file
    source: list[str]  # S symbols
    output: list[str]  # T symbols


class Evidence(NamedTuple):
    """What was seen of one subject."""

    subject: Subject
    weights: Array  # (T, S)
    without_weight: Moved  # (T, S)
    without_symbol: Moved  # (T, S)
    gradient: Array  # (T, S)
    shuffled: Shuffled  # (T, D)


def twin(run: Run) -> EncoderDecoder:
    """The run's model in double precision, so that what does not change does not seem to; the run itself is not
    touched."""
    with hollow():
        model: EncoderDecoder = run.task.build(run.codec, run.recipe)
    weights = run.models[0].state_dict()
    model.load_state_dict({name: weight.double() for name, weight in weights.items()}, assign=True)
    return model.eval().requires_grad_(False)


def gather(run: Run, subjects: Sequence[Subject], *, draws: int, seed: int) -> Iterator[Evidence]:
    """Evidence of each subject, those of about one length together; what is found does not depend on that."""
    model = twin(run)
    order = sorted(range(len(subjects)), key=lambda number: len(subjects[number].source))
    sizes = [len(subjects[number].source) ** 2 for number in order]
    for cut in length_buckets(sizes, NUMBERS // max(len(run.codec.target.vocabulary), 1000), 64):
        yield from _examine(run, model, [subjects[order[place]] for place in cut], draws, seed)


def _examine(run: Run, model: EncoderDecoder, subjects: Sequence[Subject], draws: int, seed: int) -> Iterator[Evidence]:
    source = pad([run.codec.source.vocabulary.encode(one.source) for one in subjects]).to(run.device)
    answers = [[BEGIN, *run.codec.target.vocabulary.encode(one.output)] for one in subjects]
    tokens = pad(answers).data.to(run.device)  # (B, T + 1)
    lengths = [len(one.source) for one in subjects]
    numbers = [one.number for one in subjects]
    with plain():
        with torch.no_grad():
            walked = walk(model, source, tokens)
        without_weight = erase_weights(model, walked, source.mask)
        without_symbol = erase_symbols(model, walked, source, tokens)
        gradient = gradient_times_input(model, source, tokens)
        orders = draw_orders(seed, numbers, lengths, len(walked.moments), draws).to(run.device)
        shuffled = shuffle_weights(model, walked, orders)
    weights = walked.weights()
    for row, subject in enumerate(subjects):
        cut = (row, slice(len(subject.output)), slice(len(subject.source)))  # without the padding
        yield Evidence(
            subject,
            weights[cut],
            Moved(*(one[cut] for one in without_weight)),
            Moved(*(one[cut] for one in without_symbol)),
            gradient[cut],
            Shuffled(*(one[cut[:2]] for one in shuffled)),
        )
