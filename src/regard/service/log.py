"""One line of JSON on stderr for each request; whatever came with it cannot begin a line of its own."""

import json
import sys
import time
import traceback
from typing import Any, TextIO

LONGEST = 200  # characters of what a client chose


def line(**content: Any) -> str:
    """ASCII without control characters: JSON escapes all of them but DEL."""
    return json.dumps(content, separators=(", ", ": ")).replace("\x7f", "\\u007f")


def write(stream: TextIO | None = None, **content: Any) -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(line(time=moment, **content), file=stream or sys.stderr, flush=True)


def told(error: BaseException) -> str:
    """Where it happened, for a line of the log."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))[-4000:]
