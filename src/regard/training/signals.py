"""Ctrl-C and SIGTERM (what SLURM and containers send) ask training to save and stop; a second Ctrl-C stops at once."""

import signal
import threading
from types import FrameType
from typing import Any

from regard.errors import RegardError


class StopRequest:
    """A context in which the two signals only raise a flag, looked at after every update.

    Signals reach the main thread alone; in any other, training is stopped by whoever owns the process.
    """

    def __init__(self) -> None:
        self.signal = 0

    def __enter__(self) -> "StopRequest":
        self._before: dict[int, Any] = {}
        in_main = threading.current_thread() is threading.main_thread()
        for number in (signal.SIGINT, signal.SIGTERM) if in_main else ():
            self._before[number] = signal.signal(number, self._raise_flag)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _raise_flag(self, number: int, _frame: FrameType | None) -> None:
        if self.signal and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = number


class Stopped(RegardError):
    """Training was asked to stop and has saved its state."""

    def __init__(self, number: int):
        super().__init__("stopped; the same command with --resume goes on from here")
        self.exit_code = 128 + number
