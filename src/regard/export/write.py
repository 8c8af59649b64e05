"""Run → exported file."""

from pathlib import Path
from typing import NamedTuple

from regard import __version__
from regard.decoders.copying import CopyingDecoder
from regard.decoders.lstmn import LSTMNDecoder
from regard.decoders.sentinel import SentinelDecoder
from regard.encoders.hierarchy import HierarchicalEncoder
from regard.encoders.lstmn import LSTMNEncoder
from regard.encoders.nothing import Nothing
from regard.errors import MissingExtra, UsageError
from regard.export.graphs import Graphs, make_graphs, quantised
from regard.export.package import Package, write_package
from regard.model import EncoderDecoder
from regard.run import Run


class Exported(NamedTuple):
    """Bytes of all graphs."""

    fp32: int
    int8: int | None  # None: not asked for


def export_onnx(run: Run, out: str | Path, *, int8: bool = False) -> Exported:
    """Write the run's graphs, recipe and vocabulary to one file; with `int8`, with weights of 8 bits."""
    _check(run, Path(out))
    (model,) = run.models
    assert isinstance(model, EncoderDecoder)
    graphs = make_graphs(model)
    written = quantised(graphs) if int8 else graphs
    write_package(Path(out), Package(run.recipe, run.codec, model.attends, *written), __version__)
    return Exported(_bytes(graphs), _bytes(written) if int8 else None)


def _bytes(graphs: Graphs) -> int:
    return sum(len(graph) for graph in graphs if graph is not None)


# What no graph has been written for, and why or what to do instead.
WITHOUT_GRAPHS = {
    CopyingDecoder: "a graph has one vocabulary for all sources, and it copies; train with model.copy=none",
    HierarchicalEncoder: "it reads on two levels, which no graph has yet; train with dialog.hierarchical=false",
    LSTMNEncoder: "its tape grows with every symbol; train with another model.cell than lstmn",
    LSTMNDecoder: "its tape grows with every symbol; train with another model.cell than lstmn",
    SentinelDecoder: "its window of words moves along; train with sentinel.window=0",
    Nothing: "it reads no source",
}


def check_parts(run: Run) -> None:
    kinds = {type(part) for model in run.models for part in model.modules()}
    for kind, why in WITHOUT_GRAPHS.items():
        if any(issubclass(one, kind) for one in kinds):
            raise UsageError(f"{run.path} cannot be exported: {why}")


def _check(run: Run, out: Path) -> None:
    """Before anything takes time."""
    for package in ("onnx", "onnxscript", "onnxruntime"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtra(package, "onnx") from error
    run.check_writes()
    if run.codec.opens_files:
        raise UsageError(f"{run.path} looks at pictures or clips, and only runs that read texts are exported so far")
    check_parts(run)
    if len(run.models) > 1:
        raise UsageError(f"an ensemble of {len(run.models)} models cannot be exported: export one run")
    if out.is_dir():
        raise UsageError(f"{out} is a folder; give --out the name of a file, such as {out / 'run.onnx'}")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent} to write {out.name} in: make it first")
