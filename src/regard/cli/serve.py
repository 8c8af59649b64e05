"""`regard serve`"""

import click

from regard.cli.options import DEVICES
from regard.errors import MissingExtra


@click.command(short_help="Answer over HTTP, with a page to look at.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option("--token", envvar="REGARD_TOKEN", default="", help="Ask for this bearer token; or set REGARD_TOKEN.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name that a proxy may call the service by.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--threads", type=click.IntRange(1), help="Of torch; its own choice by default.")
@click.option("--body", type=click.IntRange(1), default=1_000_000, show_default=True, help="Most bytes of a request.")
@click.option("--sources", type=click.IntRange(1), default=256, show_default=True, help="Most sources of a request.")
@click.option("--characters", type=click.IntRange(1), default=10_000, show_default=True, help="Most of a source.")
@click.option("--beam", type=click.IntRange(1, 1000), default=32, show_default=True, help="Widest beam.")
@click.option("--nbest", type=click.IntRange(1, 1000), default=32, show_default=True, help="Longest n-best list.")
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), default=30.0, show_default=True, help="For an answer."
)
@click.option(
    "--upload",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds for a request to arrive.",
)
@click.option("--queue", type=click.IntRange(1), default=1024, show_default=True, help="Most sources that wait.")
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Most sources answered at once.")
@click.option("--wait", type=click.FloatRange(0), default=0.003, show_default=True, help="Seconds to wait for company.")
def serve(
    runs: tuple[str, ...],
    host: str,
    port: int,
    token: str,
    allow_host: tuple[str, ...],
    device: str,
    threads: int | None,
    body: int,
    sources: int,
    characters: int,
    beam: int,
    nbest: int,
    seconds: float,
    upload: float,
    queue: int,
    batch: int,
    wait: float,
) -> None:
    """Answer over HTTP with one or several RUNs: a page for people, a JSON interface under /v1 for programs.

    A RUN is a folder, a hub id, or what export wrote; NAME=RUN gives it a name. The address is printed on stdout, a
    line of JSON for each request on stderr. Ctrl-C or SIGTERM stops it after the requests that have begun.

    \b
    Example:
      regard serve runs/en
      regard serve english=runs/en hungarian=hu.onnx --port 8080
      REGARD_TOKEN=… regard serve runs/en --host 0.0.0.0
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(str(error.name), "serve") from error
    from regard.service.limits import Limits
    from regard.service.server import serve as serve_runs

    limits = Limits(body, sources, characters, beam, nbest, seconds, upload, queue, batch, wait)
    serve_runs(runs, host, port, limits.check(), token, allow_host, device, threads)
