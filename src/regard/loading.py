"""One door for all that answers: a run's folder, its id on the hub, or an exported file, which needs no torch."""

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.export.onnx_run import OnnxRun
    from regard.run import Run


def load(
    path: str | Path, *, device: str = "auto", revision: str | None = None, token: str | None = None
) -> "Run | OnnxRun":
    """A run by its folder or its id on the Hugging Face hub (`owner/name`), or what `regard export` wrote."""
    named = Path(path).suffix == ".onnx" and not Path(path).is_dir()
    if named or (Path(path).is_file() and zipfile.is_zipfile(path)):
        if device not in ("auto", "cpu"):
            raise UsageError(f"--device {device}: an exported run computes on the CPU; leave the option out")
        from regard.export.onnx_run import OnnxRun

        return OnnxRun.read(path)
    from regard.run import load as load_run

    return load_run(path, device=device, revision=revision, token=token)
