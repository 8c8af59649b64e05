"""`regard serve`"""

import os

import click

from regard.cli.options import DEVICES
from regard.errors import MissingExtra, UsageError
from regard.service.limits import Limits

MOST = Limits()
COUNT, WIDTH, TIME = click.IntRange(1), click.IntRange(1, 1000), click.FloatRange(0, min_open=True)


@click.command(short_help="Answer over HTTP, with a page to look at.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option("--token", envvar="REGARD_TOKEN", help="Ask for this bearer token; or set REGARD_TOKEN.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name that a proxy may call the service by.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--threads", type=click.IntRange(1), help="Of torch; its own choice by default.")
@click.option("--body", type=COUNT, default=MOST.body, show_default=True, help="Bytes of a request.")
@click.option("--sources", type=COUNT, default=MOST.sources, show_default=True, help="Sources of a request.")
@click.option("--characters", type=COUNT, default=MOST.characters, show_default=True, help="Characters of a source.")
@click.option("--beam", type=WIDTH, default=MOST.beam, show_default=True, help="Widest beam.")
@click.option("--nbest", type=WIDTH, default=MOST.nbest, show_default=True, help="Longest n-best list.")
@click.option("--seconds", type=TIME, default=MOST.seconds, show_default=True, help="Until a request has its answer.")
@click.option("--upload", type=TIME, default=MOST.upload, show_default=True, help="Seconds until a request has come.")
@click.option("--queue", type=COUNT, default=MOST.queue, show_default=True, help="Sources that may wait.")
@click.option("--batch", type=COUNT, default=MOST.batch, show_default=True, help="Sources answered at once.")
@click.option("--wait", type=click.FloatRange(0), default=MOST.wait, show_default=True, help="Seconds, for company.")
@click.option(
    "--weights",
    type=COUNT,
    default=MOST.weights,
    show_default=True,
    help="Attention weights computed for a request or a batch: source × longest answer × beam; a quarter may be sent.",
)
@click.option(
    "--picture",
    type=COUNT,
    default=MOST.picture,
    show_default=True,
    help="Bytes of the files of a request, for a RUN that looks at pictures or clips; --body has room for them then.",
)
@click.option("--files", type=COUNT, default=MOST.files, show_default=True, help="Pictures or clips of a request.")
def serve(
    runs: tuple[str, ...],
    host: str,
    port: int,
    token: str | None,
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
    weights: int,
    picture: int,
    files: int,
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
    from regard.service.serving import serve as serve_runs

    if not token and (token is not None or "REGARD_TOKEN" in os.environ):  # as of a variable that was never set
        raise UsageError("the token is empty: give one, or leave --token and REGARD_TOKEN out")
    sizes = (body, sources, characters, beam, nbest, seconds, upload, queue, batch, wait, weights, picture, files)
    limits = Limits(*sizes)
    serve_runs(runs, host, port, limits.check(), token or "", allow_host, device, threads)
