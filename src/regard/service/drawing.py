"""Pictures of answers as files, drawn one at a time beside the worker: a large one must not keep answers waiting."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from regard.pictures.saving import render
from regard.prediction import Prediction
from regard.service.limits import Limits
from regard.service.refusal import Refused

TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "gif": "image/gif",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
}
LARGEST = 250_000  # weights of a picture: about two seconds of drawing
WAITING = 16  # pictures that may wait to be drawn


class Studio:
    def __init__(self, limits: Limits):
        self._limits = limits
        self._thread = ThreadPoolExecutor(1, "regard-studio")
        self._waiting = 0

    async def draw(self, prediction: Prediction, ending: str, kind: str) -> bytes:
        if self._waiting >= WAITING:
            raise Refused(429, f"{WAITING} pictures are waiting already", "try again in 2 s", {"Retry-After": "2"})
        self._waiting += 1
        drawing, loop = self._thread.submit(draw, prediction, ending, kind), asyncio.get_running_loop()
        drawing.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))  # also when nobody waits any more
        try:
            return await asyncio.wait_for(asyncio.wrap_future(drawing), self._limits.seconds)
        except asyncio.TimeoutError:
            raise Refused(504, f"the picture was not drawn within {self._limits.seconds:g} seconds") from None

    def stop(self) -> None:
        self._thread.shutdown()

    def _leave(self) -> None:
        self._waiting -= 1


def draw(prediction: Prediction, ending: str, kind: str) -> bytes:
    if not prediction.has_weights:
        raise Refused(422, "this model has no attention to draw", "GET /v1/models names those that have")
    drawn = [look.weights for look in prediction.looks] + (
        [] if prediction.attention is None else [prediction.attention]
    )
    size = sum(weights.size for weights in drawn)
    if size > LARGEST:
        message = f"{size:,} weights came out; a picture has at most {LARGEST:,}"
        raise Refused(413, message, "draw a part of it, or use regard show")
    nameless = prediction.sight is not None and prediction.probabilities is None  # what was sent has no name to show
    title = prediction.output if nameless else None
    return render(prediction.panels(title), f".{ending}", kind=kind)
