"""Wall time and CPU time of this process and all it started: speed.py gives each part a session of its own."""

import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


class Clock:
    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def start(self) -> None:
        self._wall, self._cpu = time.perf_counter(), _cpu_seconds()

    def stop(self) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, _cpu_seconds() - self._cpu


def _cpu_seconds() -> float:
    """User and system time of every process of this session, with the children that each has outlived."""
    session, ticks = str(os.getsid(0)), 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
        if fields[3] == session:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS
