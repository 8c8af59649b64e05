"""Opens the port, serves until it is told to stop, and finishes what is running."""

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import click
import uvicorn

from regard.errors import RegardError
from regard.service.app import create_app
from regard.service.front import Door, Front
from regard.service.limits import Limits
from regard.service.models import Models, load_models

GRACE = 5  # seconds beyond the time limit of a request that stopping may take
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def serve(
    runs: Sequence[str],
    host: str,
    port: int,
    limits: Limits,
    token: str = "",
    names: Sequence[str] = (),
    device: str = "auto",
    threads: int | None = None,
) -> None:
    """Load the runs, open the port, answer. `names` are those that a proxy may call the service by."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    models = load_models(runs, device)
    with closing(bind(host, port)) as opened:
        at_home = loopback(opened)
        # A page elsewhere can point a name of its own at this machine; only a token or the name tells it apart.
        hosts = LOOPBACK.union(map(str.lower, names)) if at_home and not token else frozenset[str]()
        if not at_home and not token:
            click.echo("regard: warning: whoever reaches this port may use it; --token asks for a token", err=True)
        run(create_app(models, limits, Door(token, hosts)), opened, limits.seconds, lambda: _say(models, opened))


def _say(models: Models, opened: socket.socket) -> None:
    click.echo(address(opened))
    names = ", ".join(model.name for model in models)
    click.echo(f"serving {names}: open {address(opened)} in a browser; Ctrl-C stops", err=True)


def bind(host: str, port: int) -> socket.socket:
    """The port, open before anything is promised; 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        raise RegardError(
            f"cannot open port {port} of {host}: {error.strerror or error}; choose another --port (0: any that is free)"
        ) from error
    return opened


def address(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def loopback(opened: socket.socket) -> bool:
    return ipaddress.ip_address(opened.getsockname()[0]).is_loopback


def run(app: Front, opened: socket.socket, seconds: float, started: Callable[[], None]) -> None:
    """Until Ctrl-C or SIGTERM; requests that have begun are answered before it returns."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=int(seconds) + GRACE,
    )
    with _swallowed_signals():
        _Server(config, started).run([opened])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]):
        super().__init__(config)
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say_started()


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
