"""`import regard` and `regard --help` answer at once: nothing heavy is imported before it is needed."""

import os
import subprocess
import sys

import pytest

import regard
from tests.conftest import Reverse

HEAVY = {"torch", "numpy", "pydantic", "yaml", "sacrebleu", "sentencepiece", "safetensors", "huggingface_hub", "tqdm"}


def imported(code: str) -> set[str]:
    """The modules that a fresh Python imports for this."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-X", "importtime", "-c", code]
    ended = subprocess.run(call, env=environment, text=True, capture_output=True, check=False)
    return {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines() if "|" in line}


@pytest.mark.parametrize(
    "code",
    [
        "import regard",
        "import regard.cli; regard.cli.main()",
        "import sys; sys.argv[1:] = ['--help']; import regard.cli; regard.cli.main()",
        "import sys; sys.argv[1:] = ['train', '--help']; import regard.cli; regard.cli.main()",
        "import sys; sys.argv[1:] = ['predict', 'x', '--beam', 'y']; import regard.cli; regard.cli.main()",
    ],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    found = {module.partition(".")[0] for module in imported(code)}
    assert "regard" in found
    assert found & HEAVY == set()


def test_an_answer_does_not_load_the_compiler_of_torch(reverse: Reverse) -> None:
    """It takes longer than all the rest of a cold start together."""
    found = imported(f"import regard; regard.load({str(reverse.run)!r}).predict('abc')")
    assert "torch" in found
    assert "torch._dynamo" not in found


def test_an_answer_measures_nothing(reverse: Reverse) -> None:
    found = imported(f"import regard; regard.load({str(reverse.run)!r}).predict('abc')")
    assert "regard.metrics" in found
    assert {module.partition(".")[0] for module in found} & {"sacrebleu", "rapidfuzz"} == set()


def test_public_names_arrive_when_asked_for() -> None:
    assert sorted(regard.__all__) == ["OnnxRun", "Prediction", "Run", "__version__", "load", "train"]
    from regard.export.onnx_run import OnnxRun
    from regard.loading import load
    from regard.prediction import Prediction
    from regard.run import Run
    from regard.training import train

    assert (regard.Prediction, regard.Run, regard.load, regard.train) == (Prediction, Run, load, train)
    assert regard.OnnxRun is OnnxRun


def test_other_names_are_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        regard.__getattr__("lod")
