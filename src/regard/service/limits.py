"""How much one request may ask, and how much may wait at once."""

import math
from typing import NamedTuple

from regard.errors import UsageError

AROUND = 65_536  # bytes of a request beside the files in it


class Limits(NamedTuple):
    """Every limit of the service; `regard serve` has an option for each."""

    body: int = 1_000_000  # bytes of a request
    sources: int = 256  # of a request
    characters: int = 10_000  # of a source or a target
    beam: int = 32
    nbest: int = 32
    seconds: float = 30.0  # from the end of a request to its answer
    upload: float = 10.0  # seconds from the head of a request to its end
    queue: int = 1024  # sources waiting for the worker, and requests in hand
    batch: int = 64  # sources answered at once
    wait: float = 0.003  # seconds that a source waits for others to be answered with
    weights: int = 16_000_000  # source × longest answer × beam, of a request and of a batch; a quarter may be sent
    picture: int = 8_000_000  # bytes of the files of a request, for runs that look at pictures or clips
    files: int = 16  # of a request: few bytes can hold many pixels, so their number bounds the time of decoding

    @property
    def encoded(self) -> int:
        """Characters of so many bytes in base64."""
        return -(-self.picture // 3) * 4

    def for_files(self) -> "Limits":
        """With a body that has room for files, too."""
        return self._replace(body=max(self.body, self.encoded + AROUND))

    def check(self) -> "Limits":
        for name, value in self._asdict().items():
            if not (value > 0 or (name == "wait" and value == 0)) or not math.isfinite(value):
                raise UsageError(f"--{name} {value} came; it must be a number of more than 0")
        if self.queue < self.sources:
            raise UsageError(
                f"--queue {self.queue} has no room for one request of --sources {self.sources}: make it larger"
            )
        return self
