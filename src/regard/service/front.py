"""What stands before the routes: who may come in, how much they may bring, and what is written down about it."""

import asyncio
import contextlib
import hmac
import re
import time
import uuid
from collections.abc import Callable, Container
from typing import Any, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.service import log
from regard.service.limits import Limits
from regard.service.metrics import Metrics
from regard.service.reading import Gone, read_body
from regard.service.refusal import FAILED, Refused

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
OPEN = ("/v1/health", "/v1/docs")  # of /v1, what needs no token
HELD = 2**28  # bytes of requests in hand, all together; one may always come
GONE = 499  # in the log: the client left before there was an answer


class Door(NamedTuple):
    """Who may come in."""

    token: str = ""  # empty: everybody
    hosts: frozenset[str] = frozenset()  # names by which the service may be called; empty: all

    def check(self, path: str, headers: Headers) -> None:
        name = re.sub(r":\d*$", "", headers.get("host", ""))
        if self.hosts and name.lower() not in self.hosts:
            fix = "call it by its address, or serve with --allow-host or --token"
            raise Refused(421, "this service does not go by this name", fix)
        if self.token and _guarded(path) and not self._knows(headers.get("authorization", "")):
            scheme = {"WWW-Authenticate": "Bearer"}
            raise Refused(401, "this needs the token of the service", "send Authorization: Bearer TOKEN", scheme)

    def _knows(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        same = hmac.compare_digest(given.strip().encode("latin-1"), self.token.encode())
        return same and scheme.lower() == "bearer"


class Front:
    def __init__(
        self, app: ASGIApp, paths: Container[str], door: Door, limits: Limits, metrics: Metrics, write: log.Write
    ):
        self._app, self._paths, self._door, self._limits = app, paths, door, limits
        self._metrics, self._write = metrics, write
        self._inside = 0  # requests in hand
        self._held = 0  # their bytes
        metrics.gauge("regard_requests_in_hand", "Requests that have no answer yet.", lambda: self._inside)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visit = Visit(scope, send)
        self._inside += 1
        try:
            await self._admit(visit, receive)
        except Gone:
            visit.status = GONE
        except Refused as refused:
            await refused.response(visit.request_id)(scope, receive, visit.send)
        except Exception as error:
            self._write(log.line(request=visit.request_id, error=log.told(error)))  # in full here, not for the client
            if visit.status == 0:
                await Refused(500, FAILED).response(visit.request_id)(scope, receive, visit.send)
        finally:
            self._inside -= 1
            self._held -= visit.size
            self._record(visit)

    async def _admit(self, visit: "Visit", receive: Receive) -> None:
        self._door.check(visit.path, visit.headers)
        if visit.scope["method"] in ("GET", "HEAD"):
            await self._app(visit.scope, receive, visit.send)
            return
        if self._inside > self._limits.queue:
            raise Refused(429, f"{self._inside - 1} requests are in hand", "try again in 1 s", {"Retry-After": "1"})
        body = await read_body(visit.headers, receive, self._limits, lambda size: self._hold(visit, size))
        await _until_gone(self._app(visit.scope, _replay(body), visit.send), receive)

    def _hold(self, visit: "Visit", size: int) -> None:
        """Pictures are large: as many as there may be texts would not fit into memory."""
        if self._held > visit.size and self._held + size > HELD:
            message = f"requests of {self._held:,} bytes are in hand"
            raise Refused(429, message, "try again in 1 s", {"Retry-After": "1"})
        self._held += size
        visit.size += size

    def _record(self, visit: "Visit") -> None:
        took = time.monotonic() - visit.since
        known = visit.path if visit.path in self._paths else "other"  # also when it was refused before any route
        route = getattr(visit.scope.get("route"), "path", known)
        self._metrics.requests.add(route=route, status=str(visit.status))
        self._metrics.seconds.observe(took, route=route)
        told = {
            "request": visit.request_id,
            "client": str((visit.scope.get("client") or ("",))[0]),
            "method": visit.scope["method"][: log.LONGEST],
            "path": visit.path[: log.LONGEST],
            "status": visit.status,
            "ms": round(took * 1000, 1),
        }
        self._write(log.line(**told))


class Visit:
    """One request on its way through."""

    def __init__(self, scope: Scope, send: Send):
        self.scope, self._send = scope, send
        self.headers = Headers(scope=scope)
        self.path: str = scope["path"]
        self.request_id = uuid.uuid4().hex
        self.since = time.monotonic()
        self.size = 0  # bytes of its body that have come
        self.status = 0  # 0: no answer was begun
        scope.setdefault("state", {})["request_id"] = self.request_id

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=message["headers"])
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
            headers["X-Request-Id"] = self.request_id
        await self._send(message)


async def _until_gone(answering: Any, receive: Receive) -> None:
    """Answer, unless the client leaves before: then nobody needs the answer."""
    task, leaving = asyncio.ensure_future(answering), asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Gone
        await task
    finally:
        for one in (task, leaving):
            one.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await one


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _replay(body: bytes) -> Callable[[], Any]:
    """The body again, as if it had come just now."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()  # who asks on wants to know when the client leaves: `_until_gone` does
        raise AssertionError

    return receive


def _guarded(path: str) -> bool:
    return (path.startswith("/v1/") and path not in OPEN) or path == "/metrics"
