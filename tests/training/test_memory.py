"""What is freed is there for the next batch."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys, torch
from regard.training.memory import keep_freed_memory

def faults(blocks):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(blocks):
        torch.ones(16 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

usual = faults(8)
keep_freed_memory()
faults(8)  # a small block may settle in the middle of a large one, once or twice
print(usual, faults(8))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep memory")
def test_a_large_block_is_used_again() -> None:
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    usual, kept = map(int, said.split())
    assert kept < usual / 3
