"""Runs that look at pictures or clips: how they look, and which files are taken for them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from regard.answering import Answerer
from regard.data.origin import is_sent
from regard.prediction import Prediction
from regard.service.limits import Limits
from regard.service.refusal import Refused
from regard.tasks.eyes import PictureEye


def looks(run: Answerer) -> dict[str, Any] | None:
    """As GET /v1/models tells it, so that a page can show a file as the run sees it; None for a run that reads."""
    eye = getattr(run.codec, "eye", None)
    if eye is None:
        return None
    frame, every, frames = (eye.view.frame, eye.view.every, eye.view.most) if eye.kind == "clip" else (eye.view, 1, 1)
    told = {"kind": eye.kind, "fit": frame.fit, "size": frame.size, "line": getattr(eye, "line", False)}
    return {**told, "every": every, "frames": frames}


def most_places(run: Answerer) -> int:
    """Of any source: cells or frames. Known before a file is opened."""
    eye = run.codec.eye
    most: int = eye.view.most if eye.kind == "clip" else _most_cells(eye)
    return min(most, run.recipe.data.longest)


def _most_cells(eye: PictureEye) -> int:
    view = eye.view
    wide = view.widest if view.fit == "height" else view.size
    return (1 if eye.columns else -(-view.size // eye.stride)) * -(-wide // eye.stride)


def check_sent(sources: Mapping[str, str], limits: Limits) -> None:
    """Refuse, by the name of its field, what is no file that was sent; and more files or bytes than are taken."""
    for field, source in sources.items():
        if not is_sent(source):
            message = f"{field}: this model looks at files, and takes only what is sent as data:image/png;base64,…"
            raise Refused(422, message, "send the content of the file: a path would be one of the server's machine")
    if len(sources) > limits.files:
        message = f"{len(sources)} files came; this service takes at most {limits.files} in a request"
        raise Refused(413, message, "send several requests, or serve with a larger --files")
    size = sum(map(_size, sources.values()))
    if size > limits.picture:
        message = f"files of {size:,} bytes came; this service takes at most {limits.picture:,} in a request"
        raise Refused(413, message, "make them smaller, send several requests, or serve with a larger --picture")


def _size(source: str) -> int:
    """Bytes of what base64 stands for, without reading it."""
    length = len(source) - source.find(",", 0, 300) - 1
    return length * 3 // 4 - source[-2:].count("=")


def without_content(outcome: Any) -> Any:
    """An answer whose source does not hold the file: whoever sent it has it."""
    if not isinstance(outcome, Prediction) or outcome.sight is None or not is_sent(outcome.source):
        return outcome
    head, several = outcome.source.partition(",")[0], [without_content(one) for one in outcome.nbest]
    return replace(outcome, source=f"{head},…", nbest=several)
