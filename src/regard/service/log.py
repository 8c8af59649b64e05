"""One line of JSON for each request; whatever came with it cannot begin a line of its own."""

import json
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

LONGEST = 200  # characters of what a client chose
Write = Callable[[str], None]


def to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def line(**content: Any) -> str:
    """ASCII without control characters: JSON escapes all of them but DEL."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return json.dumps({"time": moment, **content}).replace("\x7f", "\\u007f")


def told(error: BaseException) -> str:
    """Where it happened, for a line of the log."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))[-4000:]
