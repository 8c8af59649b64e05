"""Reads the body of a request: no more than may come, and not for longer than it may take."""

import asyncio
from collections.abc import Callable, Mapping

from starlette.types import Receive

from regard.service.limits import Limits
from regard.service.refusal import Refused


class Gone(Exception):
    """The client left."""


async def read_body(headers: Mapping[str, str], receive: Receive, limits: Limits, hold: Callable[[int], None]) -> bytes:
    """`hold` is told how many bytes came, each time, and may refuse them."""
    announced = headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced[:20]) > limits.body:
        raise _too_large(limits)
    try:
        return await asyncio.wait_for(_gather(receive, limits, hold), limits.upload)
    except asyncio.TimeoutError:
        message = f"the request did not arrive whole within {limits.upload:g} seconds"
        fix = "send it faster, or serve with a larger --upload"
        raise Refused(408, message, fix, {"Connection": "close"}) from None


async def _gather(receive: Receive, limits: Limits, hold: Callable[[int], None]) -> bytes:
    """Counted while it comes: a stream announces no length, and an announced one may be untrue."""
    parts, size, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limits.body:
            raise _too_large(limits)
        hold(len(parts[-1]))
        more = message.get("more_body", False)
    return b"".join(parts)


def _too_large(limits: Limits) -> Refused:
    message = f"the request has more than {limits.body:,} bytes"
    return Refused(413, message, "send several smaller ones, or serve with a larger --body")
