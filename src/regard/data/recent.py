"""Arrays that were made lately, up to a number of bytes; the one unused for longest goes first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 2**30  # of one process


class Recent:
    """Pictures of a training set are decoded once if they fit in here, not once an epoch. Threads may share it."""

    def __init__(self, most: int = MOST_BYTES):
        self.most, self.bytes = most, 0
        self._arrays: OrderedDict[Hashable, NDArray[np.uint8]] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._arrays

    def get(self, key: Hashable, make: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """The array of this key, made now if it is not here; nobody may write into it."""
        with self._lock:
            if key in self._arrays:
                self._arrays.move_to_end(key)
                return self._arrays[key]
        array = make()  # without the lock: decoding is what threads are for
        array.flags.writeable = False
        self._put(key, array)
        return array

    def _put(self, key: Hashable, array: NDArray[np.uint8]) -> None:
        with self._lock:
            if key in self._arrays or array.nbytes > self.most:
                return
            self._arrays[key] = array
            self.bytes += array.nbytes
            while self.bytes > self.most:
                self.bytes -= self._arrays.popitem(last=False)[1].nbytes


DECODED = Recent()
