"""Opening a run, for the commands that answer with it."""

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.export.onnx_run import OnnxRun
    from regard.run import Run


def open_run(path: str, device: str) -> "Run | OnnxRun":
    """As `regard.load`, without looking for garbage meanwhile.

    Importing torch makes objects by the hundred thousand, and hardly any of them goes again: to look through them
    whenever there are more takes a fifth of a cold start. Frozen, they are not looked through later either, nor on the
    way out. A library must not do this to the program that calls it; a command is its own program.
    """
    gc.disable()
    try:
        from regard.loading import load

        return load(path, device=device)
    finally:
        gc.freeze()
        gc.enable()
