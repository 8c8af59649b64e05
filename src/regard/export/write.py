"""Run → exported file."""

from pathlib import Path
from typing import NamedTuple

from torch import nn

from regard import __version__
from regard.decoders.monotonic import MonotonicDecoder
from regard.decoders.recurrent import RecurrentDecoder
from regard.encoders.recurrent import RecurrentEncoder, TextEncoder
from regard.errors import MissingExtra, UsageError
from regard.export.graphs import Graphs, make_graphs, quantise
from regard.export.package import Package, write_package
from regard.model import EncoderDecoder
from regard.run import Run


class Exported(NamedTuple):
    """Bytes of both graphs."""

    fp32: int
    int8: int | None  # None: not asked for


def export_onnx(run: Run, out: str | Path, *, int8: bool = False) -> Exported:
    """Write the run's graphs, recipe and vocabulary to one file; with `int8`, with weights of 8 bits."""
    _check(run, Path(out))
    (model,) = run.models
    assert isinstance(model, EncoderDecoder)
    graphs = make_graphs(model)
    written = Graphs(*map(quantise, graphs)) if int8 else graphs
    write_package(Path(out), Package(run.recipe, run.codec, model.attends, *written), __version__)
    return Exported(sum(map(len, graphs)), sum(map(len, written)) if int8 else None)


def exportable(model: nn.Module) -> bool:
    """Whether graphs have been written for what it reads and writes with."""
    assert isinstance(model, EncoderDecoder)
    reads = isinstance(model.encoder, TextEncoder) and isinstance(model.encoder[1], RecurrentEncoder)
    return reads and isinstance(model.decoder, RecurrentDecoder | MonotonicDecoder)


def _check(run: Run, out: Path) -> None:
    """Before anything takes time."""
    for package in ("onnx", "onnxscript", "onnxruntime"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtra(package, "onnx") from error
    run.writer()
    if not exportable(run.models[0]):
        raise UsageError(
            f"{run.path} cannot be exported: graphs have been written for recurrent encoders of one level and decoders "
            "with soft, monotonic, fixed or no attention; not for copying, LSTMN, ABS, language models or levels"
        )
    if len(run.models) > 1:
        raise UsageError(f"an ensemble of {len(run.models)} models cannot be exported: export one run")
    if out.is_dir():
        raise UsageError(f"{out} is a folder; give --out the name of a file, such as {out / 'run.onnx'}")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent} to write {out.name} in: make it first")
