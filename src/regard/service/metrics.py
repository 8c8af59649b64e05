"""Numbers for Prometheus, in its text format."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

Labels = tuple[tuple[str, str], ...]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Counter:
    def __init__(self, name: str, meaning: str):
        self.name, self.meaning, self.kind = name, meaning, "counter"
        self._lock = threading.Lock()
        self._counts: dict[Labels, int] = {}

    def add(self, amount: int = 1, **labels: str) -> None:
        key = tuple(labels.items())
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def lines(self) -> Iterator[str]:
        for labels, count in sorted(self._counts.copy().items()):
            yield f"{self.name}{_written(labels)} {count}"


class Gauge:
    """What is read at the moment of asking."""

    def __init__(self, name: str, meaning: str, read: Callable[[], int]):
        self.name, self.meaning, self.kind = name, meaning, "gauge"
        self._read = read

    def lines(self) -> Iterator[str]:
        yield f"{self.name} {self._read()}"


class Histogram:
    """How many observations were at most so large, and their sum."""

    def __init__(self, name: str, meaning: str, bounds: Sequence[float]):
        self.name, self.meaning, self.kind = name, meaning, "histogram"
        self.bounds = list(bounds)
        self._lock = threading.Lock()
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, **labels: str) -> None:
        key = tuple(labels.items())
        with self._lock:
            counts = self._counts.setdefault(key, [0] * (len(self.bounds) + 1))
            counts[bisect_left(self.bounds, value)] += 1
            self._sums[key] = self._sums.get(key, 0.0) + value

    def lines(self) -> Iterator[str]:
        with self._lock:
            snapshot = [(key, list(counts), self._sums[key]) for key, counts in sorted(self._counts.items())]
        for key, counts, total in snapshot:
            for place, bound in enumerate([*map("{:g}".format, self.bounds), "+Inf"]):
                yield f"{self.name}_bucket{_written((*key, ('le', bound)))} {sum(counts[: place + 1])}"
            yield f"{self.name}_sum{_written(key)} {total:.17g}"
            yield f"{self.name}_count{_written(key)} {sum(counts)}"


class Metrics:
    """All that the service counts."""

    def __init__(self) -> None:
        self.requests = Counter("regard_requests_total", "Requests by route and status.")
        self.seconds = Histogram("regard_request_seconds", "From the head of a request to its answer.", SECONDS)
        self.batches = Histogram("regard_batch_sources", "Sources answered at once.", SIZES)
        self.symbols = Counter("regard_symbols_total", "Symbols read and written, by model.")
        self.families: list[Counter | Gauge | Histogram] = [self.requests, self.seconds, self.batches, self.symbols]

    def gauge(self, name: str, meaning: str, read: Callable[[], int]) -> None:
        self.families.append(Gauge(name, meaning, read))

    def text(self) -> str:
        lines: list[str] = []
        for family in self.families:
            lines += [f"# HELP {family.name} {family.meaning}", f"# TYPE {family.name} {family.kind}", *family.lines()]
        return "\n".join(lines) + "\n"


def _written(labels: Labels) -> str:
    """{model="en",side="source"}"""
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
