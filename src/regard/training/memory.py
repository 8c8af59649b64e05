"""Memory that one batch frees, kept for the next."""

import ctypes
import sys

# glibc's malloc.h
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
MOST = 2**31 - 1


def keep_freed_memory() -> None:
    """glibc gives large blocks back to the system as soon as they are free, and gets them again page by page: with
    32,000 symbols some 70,000 page faults a batch. For the rest of this process it keeps up to 2 GiB."""
    if not sys.platform.startswith("linux"):
        return
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:  # musl has none
        for option, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, MOST), (M_TOP_PAD, 1 << 26)):
            adjust(option, value)
