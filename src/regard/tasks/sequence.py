"""What the tasks that write sequences share: all of a task's functions but `measure`."""

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.agreement import Agreement
from regard.attention.memory import Encoded
from regard.data.batching import Batch, Encoding, collate, join, pad
from regard.data.links import trouble
from regard.data.readers import Columns, Example, Reading, read_pairs
from regard.data.vocabulary import BEGIN, END
from regard.decoders.ctc import CTC, FRAMES
from regard.decoders.decoder import Decoder
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.reverse import Reverse
from regard.decoders.step import Step as DecoderStep
from regard.encoders.open import OpenEncoder
from regard.errors import UsageError
from regard.fast.attend import OutOfReach
from regard.losses import Loss, Wanted
from regard.model import EncoderDecoder, initialise, reverse_of
from regard.prediction import Prediction
from regard.recipe import Model, Recipe
from regard.search.beam import beam
from regard.search.constraints import Limits
from regard.search.ensemble import ensemble
from regard.search.forced import forced
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis
from regard.search.sample import sample
from regard.search.step import Step, StepOutput
from regard.search.tree import pick
from regard.tasks.at_once import at_once
from regard.tasks.checking import WRITERS
from regard.tasks.codec import Codec, Given, Writes
from regard.tasks.copying import held_symbols, mark_copies
from regard.tasks.looks import with_looks
from regard.tasks.parts import make_asides, make_copying, make_decoder, make_encoder
from regard.tasks.request import FORBIDDEN, Read, longest_answers, write_prediction, write_read
from regard.tasks.request import Request as Request
from regard.tasks.reranking import Adviser, Frames, Listed, advice, rerank

CODEC = Codec
SECTIONS = ("data", "source", "target", "model", "training", "search")
UNUSED = WRITERS


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    data = recipe.data
    columns = Columns(data.source_column, data.target_column, data.features_column, False, data.where_column, False)
    reading = read_pairs(path, columns, lowercase=data.lowercase, skip_bad_lines=skip_bad_lines)
    return reading.sound(trouble, skip_bad_lines)


def codec(examples: Sequence[Example], recipe: Recipe) -> Codec:
    check_links(examples, recipe.model)
    features = recipe.data.features_column is not None
    copies = recipe.model.copy != "none"
    return Codec.learn(examples, recipe.source, recipe.target, features, recipe.data.lowercase, copies)


def check_links(examples: Sequence[Example], options: Model) -> None:
    if any(example.where for example in examples) != (options.supervision > 0):
        raise UsageError(
            "links and model.supervision need each other: give links by --alignments FILE or data.where_column, and "
            "their weight by --recipe supervised or --set model.supervision=1"
        )


def build(codec: Codec, recipe: Recipe) -> EncoderDecoder:
    """The model: each part is made in `parts` and handed in."""
    options, asides = recipe.model, []
    if options.agreement is not None:
        if codec.features or codec.copies:
            raise UsageError(
                "model.agreement writes sources back from targets, which features and copied symbols cannot be: "
                "leave it out"
            )
        asides.append(Agreement(_one_way(codec.turned(), options), options.agreement))
    model = _one_way(codec, options, asides)
    initialise(model)
    return model


def _one_way(codec: Codec, options: Model, asides: Sequence[nn.Module] = ()) -> EncoderDecoder:
    symbols = len(codec.target.vocabulary)
    encoder = make_encoder(len(codec.source.vocabulary), options)
    if not codec.copies:
        return assemble(encoder, encoder.size, symbols, options, asides)
    decoder = make_copying(cast(RecurrentDecoder, make_decoder(symbols, encoder.size, options)), options)
    opened = OpenEncoder(encoder, held_symbols(codec), symbols)
    return EncoderDecoder(opened, decoder, None, [*make_asides(encoder.size, decoder.attends, options), *asides])


def assemble(
    encoder: nn.Module, value_size: int, symbols: int, options: Model, asides: Sequence[nn.Module] = ()
) -> EncoderDecoder:
    """What reads, whatever it reads, before what writes this many symbols."""
    decoder: Decoder = make_decoder(symbols, value_size, options)
    ctc = CTC(value_size, symbols, options.ctc) if options.ctc else None
    if options.reverse:
        asides = [*asides, Reverse(make_decoder(symbols, value_size, options), options.reverse)]
    return EncoderDecoder(encoder, decoder, ctc, [*make_asides(value_size, decoder.attends, options), *asides])


def encode(codec: Writes, examples: Sequence[Example]) -> list[Encoding]:
    return [codec.encode(example) for example in examples]


def batch(encodings: Sequence[Encoding], numbers: list[int]) -> Batch:
    return collate(encodings, numbers)


def loss(model: EncoderDecoder, batch: Batch, smoothing: float = 0.0, own: float = 0.0) -> Loss:
    """−Σ_t log p(y_t | y_<t, x): y_0 … y_{T-1} are read, y_1 … y_T predicted."""
    tokens = batch.target.data
    wanted = Wanted(tokens[:, 1:], smoothing, batch.links, batch.source)
    told: Loss = model(batch.source, tokens[:, :-1], own, wanted)
    return told


class ModelStep:
    """A model and encoded sources as a step function; what each row reads is gathered only when rows change source."""

    def __init__(self, model: EncoderDecoder, sources: Any, device: torch.device):
        encoded = model.encode(sources.to(device))
        self.encoded, self.ctc, self.reverse = encoded, model.ctc, reverse_of(model)
        self.decoder = model.decoder
        self.mask = encoded.mask  # (B, S)
        self.state, self.memory = model.decoder.start(encoded)
        self.quick = model.decoder.quick(self.memory)
        self._sources: Tensor | None = None
        self._gathered = self.memory

    def __call__(self, tokens: Tensor, state: object, sources: Tensor) -> StepOutput:
        step = self._quick_step(tokens, state, sources)
        if step is None:
            if sources is not self._sources:
                self._sources, self._gathered = sources, pick(self.memory, sources)
            step = self.decoder.step(tokens, state, self._gathered)
        return StepOutput(step.logits.log_softmax(-1), step.weights, step.state)

    @property
    def advisers(self) -> dict[str, Adviser]:
        """Who else of the model has an opinion on its answers."""
        found: dict[str, Adviser] = {}
        if self.ctc is not None:
            lengths = (self.mask.sum(1) * FRAMES).cpu().numpy()
            found["ctc"] = Frames(self.ctc(self.encoded).cpu().numpy(), lengths).advise
        if self.reverse is not None:
            found["reverse"] = self._from_the_end
        return found

    def _from_the_end(self, listed: Listed) -> NDArray[Any]:
        assert self.reverse is not None
        device = self.mask.device
        targets = pad([[*answer, END] for answer in listed.answers]).data.to(device)  # (H, T)
        read = pick(self.encoded, torch.from_numpy(listed.owners).to(device))
        return self.reverse.log_probs(read, targets).double().cpu().numpy()

    def _quick_step(self, tokens: Tensor, state: Any, sources: Tensor) -> DecoderStep | None:
        try:
            return self.quick(tokens, state, sources) if self.quick else None
        except OutOfReach:
            return None


@torch.inference_mode()
def answer(
    models: Sequence[EncoderDecoder],
    codec: Writes,
    examples: Sequence[Example],
    request: Request,
    numbers: Sequence[int],
    starts: Sequence[Sequence[int]] | None = None,
) -> list[Prediction]:
    """Answers to one batch of sources; several models vote (an ensemble). `numbers` tell sampled sources apart.

    Where `starts` are given, each answer begins with its own, else all with the request's prefix.
    """
    given = [codec.given(example) for example in examples]
    steps = _steps(models, given)
    step, state = _together(steps)
    limits, mask, options = _limits(codec, given, request, starts), steps[0].mask, request.search
    advised = advice([one.advisers for one in steps], options) if request.reranks else []
    wider = dataclasses.replace(request, nbest=options.beam) if advised else request
    found = _search(step, state, limits, mask, wider, numbers)
    if advised:
        found = rerank(found, advised, options.length_penalty, max(request.nbest, 1))
    attends = any(model.attends for model in models)
    written = [
        write_prediction(codec, example, one.symbols, hypotheses, attends, request.nbest)
        for example, one, hypotheses in zip(examples, given, found, strict=True)
    ]
    return _reread(models, steps[0].encoded, codec, written)


@torch.inference_mode()
def force(
    models: Sequence[EncoderDecoder],
    codec: Writes,
    examples: Sequence[Example],
    targets: Sequence[Sequence[str]],
    length_penalty: float,
) -> list[Read]:
    """Given answers, as lists of symbols, as if the models had written them."""
    given = [codec.given(example) for example in examples]
    steps = _steps(models, given)
    step, state = _together(steps)
    numbers = [codec.target_numbers(target, one.symbols) for target, one in zip(targets, given, strict=True)]
    found = forced(step, state, numbers, begin=BEGIN, end=END, length_penalty=length_penalty)
    attends = any(model.attends for model in models)
    read = [
        write_read(codec, example, source.symbols, target, one.hypothesis, one.following, attends)
        for example, source, target, one in zip(examples, given, targets, found, strict=True)
    ]
    looked = _reread(models, steps[0].encoded, codec, [one.prediction for one in read])
    return [one._replace(prediction=prediction) for one, prediction in zip(read, looked, strict=True)]


def _reread(
    models: Sequence[EncoderDecoder], encoded: Encoded, codec: Writes, answers: Sequence[Prediction]
) -> list[Prediction]:
    """With what search keeps no numbers of: what was copied, and where words looked among those before them."""
    marked = mark_copies(models, cast(Codec, codec), answers) if codec.copies else answers
    return with_looks(models, encoded, codec, marked)


def _steps(models: Sequence[EncoderDecoder], given: Sequence[Given]) -> list[ModelStep]:
    device, sources = next(models[0].parameters()).device, join([one.source for one in given])
    return [ModelStep(model, sources, device) for model in models]


def _together(steps: Sequence[ModelStep]) -> tuple[Step, Any]:
    """One step function, and the state it begins with."""
    if len(steps) == 1:
        return steps[0], steps[0].state
    return ensemble(steps), tuple(one.state for one in steps)


def _search(
    step: Step, state: object, limits: Limits, mask: Tensor, request: Request, numbers: Sequence[int]
) -> list[list[Hypothesis]]:
    options, count = request.search, len(mask)
    if request.sampling:
        seeds = [request.seed * 1_000_003 + number for number in numbers]
        drawn = sample(
            step,
            state,
            limits,
            sources=count,
            seeds=seeds,
            temperature=request.temperature,
            top_k=request.top_k,
            top_p=request.top_p,
            count=max(request.nbest, 1),
            length_penalty=options.length_penalty,
        )
        return [sorted(several, key=lambda one: -one.score) for several in drawn]
    if options.coverage_penalty == 0 and isinstance(step, ModelStep) and step.quick is not None:
        found = at_once(step.quick, step.state, limits, options.beam, max(request.nbest, 1), options.length_penalty)
        if found is not None:
            return found
    if options.beam == 1 and options.coverage_penalty == 0:
        return [[one] for one in greedy(step, state, limits, sources=count, length_penalty=options.length_penalty)]
    return beam(
        step,
        state,
        limits,
        sources=count,
        width=options.beam,
        nbest=max(request.nbest, 1),
        length_penalty=options.length_penalty,
        coverage_penalty=options.coverage_penalty,
        mask=mask,
    )


def _limits(codec: Writes, given: Sequence[Given], request: Request, starts: Sequence[Sequence[int]] | None) -> Limits:
    options = request.search
    start = codec.target.vocabulary.encode(codec.target_symbols(request.prefix)) if request.prefix else []
    return Limits(
        longest=longest_answers([one.symbols for one in given], options),
        begin=BEGIN,
        end=END,
        shortest=options.shortest,
        no_repeat=options.no_repeat,
        prefix=starts if starts is not None else [start] * len(given) if start else None,
        forbidden=FORBIDDEN,
    )
