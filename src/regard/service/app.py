"""The service as an ASGI application: routes, what goes wrong in them, and the front before them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response

from regard import __version__
from regard.errors import RegardError
from regard.service import log
from regard.service.asking import Asker
from regard.service.batching import Batcher
from regard.service.description import ABOUT, amend
from regard.service.drawing import Studio
from regard.service.front import Door, Front
from regard.service.limits import Limits
from regard.service.metrics import Metrics
from regard.service.models import Models
from regard.service.refusal import FAILED, Refused
from regard.service.routes import answering, showing, telling
from regard.service.static import read_files

QUIET: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}  # nothing leaves the house


def create_app(
    models: Models, limits: Limits | None = None, door: Door | None = None, write: log.Write = log.to_stderr
) -> Front:
    limits, door, metrics = (limits or Limits()).check(), door or Door(), Metrics()
    limits = limits.for_files() if models.open_files else limits
    batcher, studio = Batcher(Asker(models, metrics), limits, metrics, lambda item: item.weights), Studio(limits)
    metrics.gauge("regard_queue_sources", "Sources that wait to be answered.", lambda: batcher.waiting)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await asyncio.to_thread(batcher.stop)
        await asyncio.to_thread(studio.stop)

    app = FastAPI(
        title="regard",
        version=__version__,
        description=ABOUT,
        telemetry=QUIET,
        lifespan=lifespan,
        docs_url=None,  # would load its scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # would repeat the Host header that came
    )

    @cache
    def describe() -> dict[str, Any]:
        plain = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        return amend(plain, limits, guarded=bool(door.token), files=models.open_files)

    app.openapi = describe  # type: ignore[method-assign]  # the documented way
    for router in (
        answering(models, limits, batcher, studio),
        telling(models, limits, batcher, metrics),
        showing(read_files(), describe),
    ):
        app.include_router(router)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    paths = frozenset(describe()["paths"])  # now, as it takes long enough to keep others waiting later
    return Front(app, paths, door, limits, metrics, write)


MESSAGES = {
    400: "the body is no JSON",
    404: "there is nothing here",
    405: "this path takes another method; the header Allow names it",
}


async def _refused(request: Request, error: Any) -> Response:
    refused: Refused = error
    return refused.response(request.state.request_id)


async def _wrong(request: Request, error: Any) -> Response:
    """A run says what came, what was expected and the fix, all in one sentence."""
    return Refused(422, str(error)).response(request.state.request_id)


async def _invalid(request: Request, error: Any) -> Response:
    """The first thing that is wrong, by its place in the body."""
    first = error.errors()[0]
    if "json" not in request.headers.get("content-type", ""):
        refused = Refused(422, "the body is not declared as JSON", "send the header Content-Type: application/json")
        return refused.response(request.state.request_id)
    if first["type"] == "json_invalid":
        return Refused(400, "the body is no JSON").response(request.state.request_id)
    place = ".".join(str(part) for part in first["loc"][1:])
    message = f"{place or 'the body'}: {first['msg']}"[:300]
    return Refused(422, message, "GET /v1/docs shows what it takes").response(request.state.request_id)


async def _http(request: Request, error: Any) -> Response:
    """404 and 405, and 400 for a body that cannot be decoded."""
    message = MESSAGES.get(error.status_code, str(error.detail))
    refused = Refused(error.status_code, message, headers=error.headers)
    return refused.response(request.state.request_id)


async def _failed(request: Request, error: Exception) -> Response:
    return Refused(500, FAILED).response(request.state.request_id)


HANDLERS: dict[type[Exception], Any] = {
    Refused: _refused,
    RegardError: _wrong,
    RequestValidationError: _invalid,
    HTTPException: _http,
    Exception: _failed,
}
