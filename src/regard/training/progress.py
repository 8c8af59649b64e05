"""What a person sees of training: a bar on the terminal, one line per event in log.jsonl, and TensorBoard."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from tqdm import tqdm

from regard.errors import MissingExtra, RegardError


class Log:
    """log.jsonl: appended to, and cut back to what the saved state knows when a run is resumed."""

    def __init__(self, path: Path, size: int):
        self.path = path
        try:
            with path.open("ab") as file:
                file.truncate(min(size, file.tell()))  # a log that somebody cut is not filled up with zeros
        except OSError as error:
            raise RegardError(f"cannot write {path}: {error.strerror}") from error

    def write(self, event: dict[str, Any]) -> None:
        line = json.dumps(event, ensure_ascii=False) + "\n"
        try:
            with self.path.open("ab") as file:
                file.write(line.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RegardError(f"cannot write {self.path}: {error.strerror}") from error

    @property
    def size(self) -> int:
        return self.path.stat().st_size


class Bar:
    """Progress over all updates, with the running loss, symbols per second and the time left."""

    def __init__(self, total: int, done: int, shown: bool):
        self.bar = tqdm(
            total=total,
            initial=done,
            disable=not shown,
            file=sys.stderr,
            unit="step",
            dynamic_ncols=True,
            leave=False,
        )
        self.began = time.monotonic()
        self.symbols = 0

    def update(self, epoch: int, loss: float, symbols: int) -> None:
        self.symbols += symbols
        self.bar.set_description(f"epoch {epoch}", refresh=False)
        self.bar.set_postfix_str(f"loss {loss:.3f}, {self.rate:,.0f} symbols/s", refresh=False)
        self.bar.update()

    @property
    def rate(self) -> float:
        return self.symbols / max(time.monotonic() - self.began, 1e-9)

    def say(self, text: str) -> None:
        if not self.bar.disable:
            tqdm.write(text, file=sys.stderr)

    def close(self) -> None:
        self.bar.close()


class Board:
    """TensorBoard scalars and attention pictures, where asked for."""

    def __init__(self, path: Path, update: int):
        """What an interrupted run wrote after `update` is taken back."""
        self.writer = summary_writer()(str(path), purge_step=update + 1)

    def write(self, scalars: dict[str, float], weights: NDArray[Any] | None, update: int) -> None:
        """Numbers by name, and a map as a grey picture in which each weight is a square of 16 pixels."""
        for name, value in scalars.items():
            self.writer.add_scalar(name, value, update)
        if weights is not None and weights.size > 0:  # an empty answer looked nowhere
            picture = weights.repeat(16, 0).repeat(16, 1)[None]  # (1, 16·T, 16·S)
            self.writer.add_image("attention", picture, update)

    def close(self) -> None:
        self.writer.close()


def summary_writer() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtra("tensorboard", "tensorboard") from error
    return SummaryWriter


def describe_epoch(event: dict[str, object]) -> str:
    """An epoch in one line for the terminal."""
    dev = event.get("dev")
    metrics = ", ".join(f"{name} {value:.2f}" for name, value in dev.items()) if isinstance(dev, dict) else ""
    star = " *" if event.get("best") else ""
    return f"epoch {event['epoch']:>3}: loss {event['loss']:.3f}" + (f"; dev {metrics}{star}" if metrics else "")
