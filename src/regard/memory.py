"""Memory that one batch frees, kept for the next.

glibc gives blocks back to the system as soon as they are free, and gets them again page by page: in training with
32,000 symbols some 70,000 page faults a batch, in answering 200.
"""

import ctypes
import sys

# glibc's malloc.h
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -2, -3, -4
LEARNING = ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 1 << 26))
ANSWERING = ((M_MMAP_THRESHOLD, 1 << 25), (M_TRIM_THRESHOLD, 1 << 26))
_learns = False


def keep_memory_for_learning() -> None:
    """For the rest of this process up to 2 GiB are kept."""
    global _learns
    _learns = True
    _adjust(LEARNING)


def keep_memory_for_answering() -> None:
    """64 MiB; more, if this process has learnt."""
    if not _learns:
        _adjust(ANSWERING)


def _adjust(options: tuple[tuple[int, int], ...]) -> None:
    if not sys.platform.startswith("linux"):
        return
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:  # musl has none
        for option, value in options:
            adjust(option, value)
