"""An exported run: the same questions and answers as a run, by ONNX Runtime and NumPy instead of torch."""

import math
import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.answering import BATCH_TOKENS, Answerer
from regard.data.encoding import length_buckets
from regard.data.readers import Example
from regard.errors import DataError, MissingExtra, UsageError
from regard.export.package import Package, read_package
from regard.export.search import Array, Forced, Hypothesis, Rules, State, StepOutput, beam, forced, greedy
from regard.prediction import Prediction
from regard.tasks import Task, get_task
from regard.tasks.request import Read, Request, longest_answers, write_prediction, write_read
from regard.tasks.reranking import Adviser, Frames, Listed, advice, rerank


class OnnxRun(Answerer):
    """What `regard export` makes and `regard.load` reads; without sampling and ensembles."""

    def __init__(self, path: Path, package: Package):
        super().__init__(path, package.recipe, package.codec)
        self.attends = package.attends
        self._encoder = Graph(path, "encoder.onnx", package.encoder)
        self._step = Graph(path, "step.onnx", package.step)
        self._reverse = None if package.reverse is None else Graph(path, "reverse.onnx", package.reverse)
        self._check()

    @classmethod
    def read(cls, path: str | Path) -> "OnnxRun":
        return cls(Path(path), read_package(Path(path)))

    def __repr__(self) -> str:
        return f"<exported regard run {self.path}: {self.recipe.task}>"

    @cached_property
    def task(self) -> Task:
        try:
            return get_task(self.recipe.task)
        except ImportError as error:
            raise UsageError(
                f"measuring needs {error.name}, only answering does without: pip install regard"
            ) from error

    def join(self, *others: Answerer) -> "OnnxRun":
        if others:
            raise UsageError("an exported run answers alone: join the runs that were exported")
        return self

    # What was exported writes, and reads one text: that need not be asked of the task, which needs torch.
    writes, answers_nothing, beside = True, False, ""

    def source_column(self, path: str) -> int | str:
        return self.recipe.data.source_column

    def find(self, examples: Sequence[Example], request: Request, numbers: Sequence[int]) -> list[Prediction]:
        if request.sampling:
            raise UsageError("an exported run does not sample: use the run that was exported")
        symbols = [self.codec.source_symbols(example) for example in examples]
        sources = [self.codec.source.vocabulary.encode(one) for one in symbols]
        found = self._look(sources, request)
        return [
            write_prediction(self.codec, example, tokens, hypotheses, self.attends, request.nbest)
            for example, tokens, hypotheses in zip(examples, symbols, found, strict=True)
        ]

    def reread(self, examples: Sequence[Example], targets: Sequence[Sequence[str]]) -> list[Read]:
        symbols = [self.codec.source_symbols(example) for example in examples]
        sources = [self.codec.source.vocabulary.encode(one) for one in symbols]
        found = self._read(sources, [self.codec.target.vocabulary.encode(target) for target in targets])
        return [
            write_read(self.codec, example, source, target, one.hypothesis, one.following, self.attends)
            for example, source, target, one in zip(examples, symbols, targets, found, strict=True)
        ]

    def _read(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Forced]:
        step = self._encode(sources).step
        return forced(step, step.state, targets, self.recipe.search.length_penalty)

    def _encode(self, sources: Sequence[Sequence[int]]) -> "Begun":
        lengths, tokens = np.array([len(source) for source in sources]), pad(sources)  # (B,), (B, S)
        begun = self._encoder({"tokens": tokens, "lengths": lengths})
        mask, advisers = np.arange(tokens.shape[1]) < lengths[:, None], dict[str, Adviser]()  # (B, S)
        frames = begun.pop("frames", None)  # (B, F, N)
        if frames is not None:
            each = frames.shape[1] // tokens.shape[1]  # frames of a symbol
            advisers["ctc"] = Frames(frames, lengths * each).advise
        if self._reverse is not None:
            back = {name.removeprefix("reverse."): begun.pop(name) for name in [*begun] if name.startswith("reverse.")}
            advisers["reverse"] = partial(_from_the_end, self._reverse, back, mask.shape[1])
        return Begun(GraphStep(self._step, begun, mask.shape[1]), mask, advisers)

    def perplexity(self, examples: Sequence[Example]) -> float:
        """exp(−log p per symbol) of the given targets, END counted."""
        encodings = [self.codec.encode(example) for example in examples]
        lengths = [max(len(one.source), len(one.target)) for one in encodings]
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        total = 0.0
        for cut in length_buckets([lengths[number] for number in order], BATCH_TOKENS, 256):
            chosen = [encodings[order[place]] for place in cut]
            found = self._read([one.source for one in chosen], [one.target[1:-1] for one in chosen])
            total += sum(one.hypothesis.log_prob for one in found)
        return math.exp(-total / max(sum(len(one.target) - 1 for one in encodings), 1))

    def _look(self, sources: Sequence[Sequence[int]], request: Request) -> list[list[Hypothesis]]:
        options, target = request.search, self.codec.target.vocabulary
        step, mask, advisers = self._encode(sources)
        rules = Rules(
            longest_answers(sources, options),
            mask,
            shortest=options.shortest,
            no_repeat=options.no_repeat,
            prefix=target.encode(self.codec.target_symbols(request.prefix)),
            length_penalty=options.length_penalty,
            coverage_penalty=options.coverage_penalty,
        )
        if options.beam == 1 and options.coverage_penalty == 0:
            return [[one] for one in greedy(step, step.state, rules)]
        best = max(request.nbest, 1)
        advised = advice([advisers], options) if request.reranks else []
        found = beam(step, step.state, rules, options.beam, options.beam if advised else best)
        return rerank(found, advised, options.length_penalty, best) if advised else found

    def _check(self) -> None:
        """Do the graphs fit each other and the vocabulary?"""
        outputs = [name for name in self._encoder.outputs if name != "frames"]
        back = [name.removeprefix("reverse.") for name in outputs if name.startswith("reverse.")]
        fits = self._encoder.inputs == ["tokens", "lengths"] and bool(back) == (self._reverse is not None)
        fits &= self._step.steps_from([name for name in outputs if not name.startswith("reverse.")])
        fits &= self._reverse is None or self._reverse.steps_from(back)
        if not fits:
            raise DataError(f"{self.path} is damaged: its graphs do not fit each other")
        for step in (self._step, self._reverse):
            if step is not None and step.columns != len(self.codec.target.vocabulary):
                raise DataError(
                    f"{self.path} is damaged: it writes {step.columns} symbols, "
                    f"its vocabulary has {len(self.codec.target.vocabulary)}"
                )


class Graph:
    """One ONNX graph, ready to run."""

    def __init__(self, path: Path, name: str, content: bytes):
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingExtra("onnxruntime", "onnx") from error
        self.path, self.name = path, name
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors come as exceptions
        threads = os.environ.get("OMP_NUM_THREADS", "")  # what torch looks at
        options.intra_op_num_threads = int(threads) if threads.isdecimal() else 0  # 0 is all cores
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own, which have no common class
            raise DataError(f"{path} is damaged: {name}: {_first_line(error)}") from error
        self.inputs: list[str] = [one.name for one in self._session.get_inputs()]
        self.outputs: list[str] = [one.name for one in self._session.get_outputs()]
        self.columns: Any = (self._session.get_outputs()[0].shape or [None])[-1]  # of the first output

    def steps_from(self, given: Sequence[str]) -> bool:
        """Whether this is a step over the state and memory with these names."""
        following = [name.replace("state", "next", 1) for name in given if name.startswith("state")]
        wanted = self.inputs[:1] == ["tokens"] and sorted(given) == sorted(self.inputs[1:])
        return wanted and self.outputs == ["log_probs", "weights", *following]

    def __call__(self, given: dict[str, Array]) -> dict[str, Array]:
        try:
            return dict(zip(self.outputs, self._session.run(None, given), strict=True))
        except Exception as error:
            raise DataError(f"{self.path} cannot answer: {self.name}: {_first_line(error)}") from error


class GraphStep:
    """A step graph, and what it begins with on a batch of sources, as a step function for a search."""

    def __init__(self, step: Graph, begun: State, places: int):
        self.state: State = {name: one for name, one in begun.items() if name.startswith("state")}
        self._memory: State = {name: one for name, one in begun.items() if name not in self.state}
        self._sources: Array | None = None
        self._gathered, self._step, self._places = self._memory, step, places

    def __call__(self, tokens: Array, state: State, sources: Array) -> StepOutput:
        if sources is not self._sources:
            self._sources, self._gathered = sources, {name: one[sources] for name, one in self._memory.items()}
        found = self._step({"tokens": tokens, **state, **self._gathered})
        log_probs, weights = found.pop("log_probs"), found.pop("weights")
        if len(log_probs) != len(tokens) or weights.shape != (len(tokens), self._places):
            raise DataError(f"{self._step.path} is damaged: its answers have other shapes than its questions")
        return StepOutput(log_probs, weights, {name.replace("next", "state", 1): one for name, one in found.items()})


class Begun(NamedTuple):
    """Encoded sources: how one goes on from them, where there is something to read, and who else has an opinion."""

    step: GraphStep
    mask: Array  # (B, S)
    advisers: dict[str, Adviser]


def _from_the_end(graph: Graph, begun: State, places: int, listed: Listed) -> Array:
    """log p(y | x), (H,), by the decoder that writes y from its end"""
    step = GraphStep(graph, {name: one[listed.owners] for name, one in begun.items()}, places)
    found = forced(step, step.state, [answer[::-1] for answer in listed.answers])
    return np.array([one.hypothesis.log_prob for one in found])


def pad(sequences: Sequence[Sequence[int]]) -> Array:
    """(B, S), PAD is 0"""
    data = np.zeros((len(sequences), max(map(len, sequences))), np.int64)
    for row, sequence in enumerate(sequences):
        data[row, : len(sequence)] = sequence
    return data


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
