"""regard: encoder–decoder models with attention that show where they look.

Reading order, the way data walks: errors, files, recipe, settings, unused, fitting, draft, data, fast, attention,
cells, dropout, losses, encoders, decoders, model, agreement, search, metrics, metrics_captions, pictures, prediction,
tasks, pause, answering, likelihood, device, folder, memory, run, card, training, export, loading, analysis, service,
demos, bench, console, cli. Each leans only on those before it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.export.onnx_run import OnnxRun as OnnxRun
    from regard.loading import load as load
    from regard.prediction import Prediction as Prediction
    from regard.run import Run as Run
    from regard.training import train as train

__version__ = "0.1.0"
__all__ = ["OnnxRun", "Prediction", "Run", "__version__", "load", "train"]

_HOMES = {
    "train": "regard.training",
    "load": "regard.loading",
    "Run": "regard.run",
    "OnnxRun": "regard.export.onnx_run",
    "Prediction": "regard.prediction",
}


def __getattr__(name: str) -> Any:
    """torch takes two seconds to import: it comes with the first name that needs it, not with `import regard`."""
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
