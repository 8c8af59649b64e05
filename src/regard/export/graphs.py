"""A model's `encode` and `step` as ONNX graphs, by tracing.

encoder:  tokens (B, S), lengths (B,)       ->  state.…, memory.…, and where there is a CTC frames (B, F, N)
step:     tokens (R,), state.…, memory.…    ->  log_probs (R, N), weights (R, S), next.…
reverse:  the same, where there is a decoder from the end; the encoder then has reverse.state.… and reverse.memory.…

State and memory are trees; each of their tensors is an input or output named by its place in the tree. All have rows
first, so that a search can pick rows. Where heads or keys share one tensor, the graphs share it too.
"""

import copy
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded, pad
from regard.decoders.decoder import Decoder
from regard.decoders.monotonic import MonotonicDecoder
from regard.errors import MissingExtra, RegardError
from regard.export.recurrence import with_nodes
from regard.export.tree import collect, fill, name_tree
from regard.fast.switch import plain
from regard.model import EncoderDecoder, reverse_of

OPSET = 20
QUANTISED = ["MatMul", "Gemm", "LSTM", "Gather"]  # not the filters of terms: few weights, and signed ones cannot run


class Graphs(NamedTuple):
    """Serialised ONNX models."""

    encoder: bytes
    step: bytes
    reverse: bytes | None = None


def make_graphs(model: EncoderDecoder) -> Graphs:
    """All graphs of a model, for batches and sources of any size."""
    traced = copy.deepcopy(model).cpu().eval()
    sources = [pad([[4, 4, 4], [4, 4]]), pad([[4] * 5] * 3)]  # the axes whose sizes differ are those that may vary
    with torch.no_grad(), plain():
        encoded, reverse = [traced.encode(source) for source in sources], reverse_of(traced)
        steps = [StepGraph(one, encoded[0]) for one in (traced.decoder, *([reverse.decoder] if reverse else []))]
        inputs = [
            [(source.lengths, one.inputs(read)) for source, read in zip(sources, encoded, strict=True)] for one in steps
        ]
        with_nodes(traced)
        encoder = EncoderGraph(traced, steps)
        return Graphs(
            _trace(encoder, [tuple(one) for one in sources], ["tokens", "lengths"], encoder.outputs),
            *[
                _trace(step, given, ["tokens", *step.names], ["log_probs", "weights", *step.followers])
                for step, given in zip(steps, inputs, strict=True)
            ],
        )


class Begun(NamedTuple):
    state: Any
    memory: Any


def begin(decoder: Decoder, encoded: Encoded) -> Begun:
    """State and memory before the first step, in the shape they have at all steps."""
    state, memory = decoder.start(encoded)
    if isinstance(decoder, MonotonicDecoder):  # before anything is written, all places speak alike: no prior changes
        symbols = decoder.output.O.out_features
        state = state._replace(emission=state.prior[:, :, None].expand(-1, -1, symbols) * 0)  # (B, S, N)
    return Begun(state, memory)


class StepGraph(nn.Module):
    """A decoder's step, with the names that its state and memory have before the first one."""

    def __init__(self, decoder: Decoder, encoded: Encoded):
        super().__init__()
        self.decoder, begun = decoder, begin(decoder, encoded)
        self.state = name_tree(begun.state, "state")  # the first state may hold one tensor twice, a later one two
        self.memory = name_tree(begun.memory, "memory", {})
        self.names = list(self.begin(encoded))
        self.followers = [name.replace("state", "next", 1) for name in collect(self.state, begun.state)]

    def begin(self, encoded: Encoded) -> dict[str, Tensor]:
        return collect((self.state, self.memory), begin(self.decoder, encoded))

    def inputs(self, encoded: Encoded) -> tuple[Tensor, ...]:
        return tuple(one.clone(memory_format=torch.contiguous_format) for one in self.begin(encoded).values())

    def forward(self, tokens: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        given = dict(zip(self.names, tensors, strict=True))
        step = self.decoder.step(tokens, fill(self.state, given), fill(self.memory, given))
        return (step.logits.log_softmax(-1), step.weights, *collect(self.state, step.state).values())


class EncoderGraph(nn.Module):
    """What the steps of one or two decoders begin with."""

    def __init__(self, model: EncoderDecoder, steps: Sequence[StepGraph]):
        super().__init__()
        self.model, self.steps = model, nn.ModuleList(steps)
        named = zip(("", "reverse."), steps, strict=False)
        self.outputs = [f"{prefix}{name}" for prefix, step in named for name in step.names]
        self.outputs += [] if model.ctc is None else ["frames"]

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        encoded = self.model.encode(Padded(tokens, lengths))
        begun = [one for step in cast("list[StepGraph]", [*self.steps]) for one in step.begin(encoded).values()]
        return tuple(begun) if self.model.ctc is None else (*begun, self.model.ctc(encoded))


def _trace(graph: nn.Module, inputs: Sequence[Any], names: list[str], outputs: list[str]) -> bytes:
    """The graph as an ONNX model; axes whose sizes differ between the two inputs may vary."""
    small, large = inputs
    try:
        with _quiet():
            traced = torch.onnx.export(
                graph.eval(),
                small,
                dynamo=True,
                opset_version=OPSET,
                dynamic_shapes=_free(small, large),
                input_names=names,
                output_names=outputs,
                verbose=False,
            )
    except ImportError as error:
        raise MissingExtra("onnxscript", "onnx") from error
    except torch.onnx.errors.OnnxExporterError as error:
        reason = (str(error.__cause__ or error).splitlines() or [""])[0]
        raise RegardError(f"this model cannot be exported: {reason}") from error
    assert traced is not None  # None is the answer of the older exporter
    return _lean(traced.model_proto)


def _free(small: Any, large: Any) -> Any:
    if isinstance(small, Tensor):
        sizes = zip(small.shape, large.shape, strict=True)
        return {axis: torch.export.Dim.DYNAMIC for axis, (one, other) in enumerate(sizes) if one != other}
    return tuple(_free(one, other) for one, other in zip(small, large, strict=True))


def _lean(model: Any) -> bytes:
    """Without the shapes of this trace, which mislead, and the exporter's notes, which tell of folders here."""
    graph = model.graph
    for one in (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer):
        del one.metadata_props[:]
        one.doc_string = ""
    del graph.value_info[:]
    content: bytes = model.SerializeToString()
    return content


def quantised(graphs: Graphs) -> Graphs:
    reverse = None if graphs.reverse is None else quantise(graphs.reverse)
    return Graphs(quantise(graphs.encoder), quantise(graphs.step), reverse)


def quantise(graph: bytes) -> bytes:
    """Tables and matrices in 8 bits, and what they are multiplied with in 8 bits on the fly; GRU and RNN nodes stay.

    Seven bits of a weight are used: with eight, processors without VNNI overflow.
    """
    try:
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        raise MissingExtra("onnxruntime", "onnx") from error
    model = onnx.load_model_from_string(graph)
    _unshare(model.graph)
    with TemporaryDirectory() as folder, _quiet():
        path = Path(folder) / "graph.onnx"
        quantize_dynamic(
            model,
            path,
            op_types_to_quantize=QUANTISED,
            weight_type=QuantType.QInt8,
            reduce_range=True,
            per_channel=True,
        )
        return path.read_bytes()


def _unshare(graph: Any) -> None:
    """A copy of its own for each node that reads a matrix: the quantiser turns some around where they stand."""
    matrices = {one.name: one for one in graph.initializer if len(one.dims) == 2}
    read: set[str] = set()
    for number, node in enumerate(graph.node):
        for place, name in enumerate(node.input):
            if name in matrices and name in read:
                node.input[place] = f"{name}.{number}"
                graph.initializer.add().CopyFrom(matrices[name])
                graph.initializer[-1].name = node.input[place]
            read.add(name)


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter and the quantiser tell much that nobody can act on."""
    loggers = [logging.getLogger(), logging.getLogger("torch.onnx")]
    levels = [one.level for one in loggers]
    try:
        for one in loggers:
            one.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)
