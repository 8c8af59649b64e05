"""What is freed is there for the next batch."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys, torch
from regard.memory import keep_memory_for_answering, keep_memory_for_learning

def faults(batches):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for batch in range(batches):
        blocks = [torch.ones(SIZE * (1 + batch % 5 + block)) for block in range(COUNT)]
        del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

usual = faults(20)
for work in "WORK".split():
    globals()["keep_memory_for_" + work]()
faults(20)  # a small block may settle in the middle of a large one, once or twice
print(usual, faults(20))
"""
LEARNT, ANSWERED = (8 << 20, 1), (30_000, 12)  # numbers in the least block, and how many blocks there are at once


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep memory")
@pytest.mark.parametrize(
    ("work", "sizes"), [("learning", LEARNT), ("answering", ANSWERED), ("learning answering", LEARNT)]
)
def test_what_was_freed_is_used_again(work: str, sizes: tuple[int, int]) -> None:
    size, count = map(str, sizes)
    program = PROGRAM.replace("WORK", work).replace("SIZE", size).replace("COUNT", count)
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    usual, kept = map(int, said.split())
    assert kept < usual / 4
