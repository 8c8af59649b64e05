"""A virtual environment per peer, made once and kept; torch in one version for all, the one that regard runs with."""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

TORCH = "torch==2.13.0"


class Toolkit(NamedTuple):
    name: str
    module: str  # below toolkits
    packages: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    torch: bool = True
    trains: bool = True


OURS = Toolkit("regard", "ours")
EXPORTED = [Toolkit(name, "exported", trains=False) for name in ("regard ONNX", "regard ONNX int8")]
PEERS = {
    "joeynmt": Toolkit("joeynmt", "joey", ("joeynmt==2.3.0", "importlib_metadata")),
    "yoyodyne": Toolkit("yoyodyne", "yoyo", ("yoyodyne==0.5.27",), ("torchvision", "torchaudio")),
    "marian": Toolkit("pymarian", "marian", ("pymarian==1.12.42",), torch=False),
}


def python(toolkit: Toolkit, work: Path) -> str:
    """The interpreter of a toolkit's environment, which is made if it is not there."""
    if not toolkit.packages:
        return sys.executable
    folder = work / "environments" / toolkit.name
    interpreter, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        print(f"making the environment of {toolkit.name}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        constraints = folder / "constraints.txt"
        constraints.write_text(f"{TORCH}\n", "utf-8")
        pip = [str(interpreter), "-I", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        first = [TORCH] if toolkit.torch else []  # alone and first, or a build for graphics cards may come with it
        for packages in (first, list(toolkit.packages)):
            if packages:
                subprocess.run([*pip, "install", "-c", str(constraints), *packages], check=True)
        if toolkit.removed:
            subprocess.run([*pip, "uninstall", "-y", *toolkit.removed], check=True)
        ready.touch()
    return str(interpreter)


VERSIONS = """
import importlib.metadata as installed, json, platform, sys
found = {name: installed.version(name) for name in sys.argv[1:] if any(installed.distributions(name=name))}
print(json.dumps({"Python": platform.python_version(), **found}))
"""


def versions(toolkit: Toolkit, work: Path) -> dict[str, str]:
    names = [toolkit.name.split()[0], *(["torch"] if toolkit.trains else ["onnxruntime"]), "numpy", "lightning"]
    done = subprocess.run(
        [python(toolkit, work), "-I", "-c", VERSIONS, *names], capture_output=True, text=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found
