"""`regard serve`: load the runs, take the port, answer."""

import re
import socket
from collections.abc import Sequence
from contextlib import closing

import click

from regard.errors import UsageError
from regard.service.app import create_app
from regard.service.front import Door
from regard.service.limits import Limits
from regard.service.models import Models, load_models
from regard.service.server import Server, address, bind, loopback, run

HOME = frozenset({"localhost", "127.0.0.1", "[::1]"})


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
    """Until it is told to stop. `names` are those that a proxy may call the service by."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)  # of every thread that has not computed yet: the worker is one
    models = load_models(runs, device)
    with closing(bind(host, port)) as opened:
        app = create_app(models, limits, door(opened, token, names))
        run(Server(app, limits.upload + 2 * limits.seconds, lambda: _say(models, opened)), opened)


def door(opened: socket.socket, token: str, names: Sequence[str]) -> Door:
    """A page elsewhere can point a name of its own at this machine; a token, or the name, tells its requests apart."""
    if not re.fullmatch(r"[!-~]*", token):
        raise UsageError("the token has a character that no header carries; expected ASCII without spaces")
    if not loopback(opened) and not token:
        click.echo("regard: warning: whoever reaches this address may use it; --token asks for a token", err=True)
    guarded = loopback(opened) and not token
    own = re.sub(r"http://(.*):\d+", r"\1", address(opened))
    return Door(token, HOME.union([own], map(str.lower, names)) if guarded else frozenset())


def _say(models: Models, opened: socket.socket) -> None:
    click.echo(address(opened))
    names = ", ".join(model.name for model in models)
    click.echo(f"serving {names}: open {address(opened)} in a browser; Ctrl-C stops", err=True)
