"""kernels.c, beam.c and whole.c as a library: compiled once per machine by its own C compiler, in seconds, and kept in
the user's cache. No compiler, no cache or REGARD_KERNELS=0: `library()` is None, and the same is done in torch."""

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from torch import Tensor

logger = logging.getLogger("regard")
# -march=native: it runs where it is compiled. Not -ffast-math: it would change the rounding of the whole process.
FLAGS = ["-O3", "-march=native", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
if platform.machine() in ("x86_64", "AMD64"):  # compilers halve vectors of 512 bits lest the clock slow down; it does
    FLAGS.append("-mprefer-vector-width=512")  # so anyway, by the products, whose vectors are written out
THREADS = "-fopenmp"
SOURCES = (
    "kernels.c",
    "beam.c",
    "whole.c",
)  # one after the other, as one: what is inlined where is the compiler's to choose
MATHS = "-lm"
COUNT, POINTER = ctypes.c_long, ctypes.c_void_p
SIGNATURES = {
    "lstm_forward": (2, 6, None),
    "lstm_backward": (2, 6, None),
    "attend_forward": (4, 8, ctypes.c_float),
    "raise_keys": (1, 2, ctypes.c_float),
    "attend_backward": (4, 13, None),
    "read_and_move": (5, 18, ctypes.c_float),
    "lstm_read": (6, 6, None),
    "panel_outputs": (0, 0, COUNT),
    "pack": (4, 2, None),
    "add_rows": (3, 3, None),
    "affine": (7, 4, None),
    "squashed_slopes": (3, 4, None),
    "gradient_room": (1, 0, COUNT),
    "gradients": (6, 6, None),
    "lstm_run": (9, 10, None),
    "lstm_run_backward": (9, 11, None),
    "read_run": (8, 14, ctypes.c_float),
    "read_run_backward": (8, 23, None),
    "greedy_run": (12, 24, COUNT),
    "beam_run": (13, 28, COUNT),
    "place_norm": (5, 8, None),
    "place_norm_backward": (5, 10, None),
    "drop": (5, 3, None),
    "squares": (2, 3, None),
    "adam": (3, 3, None),
    "hear_turns": (0, 1, COUNT),
    "hear_size": (0, 1, COUNT),
    "hear": (0, 2, None),
    "hear_back_size": (0, 1, COUNT),
    "hear_back": (0, 2, None),
    "tell_size": (0, 1, COUNT),
    "tell": (0, 2, None),
    "recite_size": (0, 1, COUNT),
    "recite": (0, 2, ctypes.c_float),
    "recite_back_size": (0, 1, COUNT),
    "recite_back": (0, 2, None),
}  # counts, then pointers, then what is returned


@cache
def library() -> ctypes.CDLL | None:
    named, found = os.environ.get("CC"), (shutil.which(name) for name in ("cc", "gcc", "clang"))
    compiler = shlex.split(named) if named else [one for one in found if one][:1]  # a name may have arguments with it
    if os.environ.get("REGARD_KERNELS") == "0" or not compiler:
        return None
    try:
        loaded = ctypes.CDLL(str(_compiled(compiler)))
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:  # RuntimeError: there is no home folder
        logger.debug("kernels.c was not compiled, torch does its work: %s", error)
        return None
    for name, (counts, pointers, returned) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = [COUNT] * counts + [POINTER] * pointers, returned
    return loaded


@cache
def joins_threads() -> bool:
    """Whether the kernels compute on torch's own threads. A second set of threads would have to wait for the first,
    which waits for work without letting go of its cores."""
    if library() is None:
        return False
    try:
        return openmp_libraries(Path("/proc/self/maps").read_text()) == 1
    except OSError:
        return False


def openmp_libraries(maps: str) -> int:
    """How many there are among the files that a process has mapped."""
    files = {Path(line.split(maxsplit=5)[-1]) for line in maps.splitlines()}
    return sum(one.name.startswith(("libgomp", "libomp", "libiomp")) for one in files)


def loaded() -> ctypes.CDLL:
    """The library, for those who have asked whether there is one."""
    found = library()
    assert found is not None
    return found


def address(tensor: Tensor | None) -> int | None:
    """Of a tensor's first number, as the kernels want it; they know no strides."""
    if tensor is None:
        return None
    assert tensor.is_contiguous()
    return tensor.data_ptr()


def addresses(tensor: Tensor) -> list[int]:
    """Of a tensor's parts along its first axis, each without gaps: taking them as tensors costs as much as a kernel."""
    assert tensor.is_contiguous()
    begin, size = tensor.data_ptr(), tensor.stride(0) * tensor.element_size()
    return [begin + number * size for number in range(tensor.size(0))]


def whole_numbers(*numbers: int) -> ctypes.Array[ctypes.c_int64]:
    """A list as the kernels want it, counts or addresses: a tensor takes two to four times as long to make."""
    return (ctypes.c_int64 * len(numbers))(*numbers)


def _compiled(compiler: Sequence[str]) -> Path:
    source = b"".join(resources.files("regard.fast").joinpath(name).read_bytes() for name in SOURCES)
    # not platform.platform(): it starts a program to learn the processor's name, which nobody here asks for
    machine = [platform.system(), platform.machine(), *platform.libc_ver(), _processor()]
    made_of = [source, *map(str.encode, [*compiler, *FLAGS, *machine])]
    name = f"kernels-{hashlib.blake2b(b'|'.join(made_of), digest_size=8).hexdigest()}.so"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = folder / name
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as work:
            made = Path(work) / name
            command = [*compiler, *FLAGS, "-x", "c", "-", "-o", str(made), MATHS]
            try:
                subprocess.run([*command, THREADS], input=source, check=True, capture_output=True, timeout=60)
            except subprocess.CalledProcessError:  # a compiler without OpenMP: the same on one thread
                subprocess.run(command, input=source, check=True, capture_output=True, timeout=60)
            os.replace(made, target)
    return target


def _processor() -> str:
    """What -march=native looked at: a home folder may be shared by unlike machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
