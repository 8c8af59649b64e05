"""The port, and who listens at it until told to stop."""

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from regard.errors import RegardError

GRACE = 5  # seconds beyond the time limits of a request that stopping may take


def bind(host: str, port: int) -> socket.socket:
    """The port, taken before anything is promised; 0 is any that is free."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place, family=family)
    except OSError as error:
        raise RegardError(
            f"cannot open port {port} of {host}: {error.strerror or error}; choose another --port (0: any that is free)"
        ) from error


def address(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def loopback(opened: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(opened.getsockname()[0]).is_loopback


class Server(uvicorn.Server):
    """`run([socket])` serves until `should_exit`; requests that have begun are answered before it returns."""

    def __init__(self, app: ASGIApp, seconds: float, started: Callable[[], None]):
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,  # the front writes one
            server_header=False,
            proxy_headers=False,  # anybody can write them
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=int(seconds) + GRACE,
        )
        super().__init__(config)
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say_started()


def run(server: Server, opened: socket.socket) -> None:
    """Until Ctrl-C or SIGTERM, which are both a good end."""
    with _swallowed_signals():
        server.run([opened])


@contextmanager
def _swallowed_signals() -> Iterator[None]:
    """uvicorn raises the signal that stopped it once more at its end, for whoever comes after; here nobody does."""
    before = {number: signal.signal(number, _nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing(number: int, frame: Any) -> None:
    pass
