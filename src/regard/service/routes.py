"""The routes: HTTP in, a question to a run, its answer out."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from regard import __version__
from regard.prediction import Prediction
from regard.service import docs_page, schemas
from regard.service.asking import Item, Key, weigh, weigh_given
from regard.service.batching import Batcher
from regard.service.description import ALWAYS, PROBLEMS
from regard.service.drawing import TYPES, Studio
from regard.service.limits import Limits
from regard.service.looking import check_sent
from regard.service.metrics import Metrics
from regard.service.models import Model, Models
from regard.service.refusal import PlainJSON, Refused
from regard.service.static import File

SEARCH = ("length_penalty", "coverage_penalty", "no_repeat")
PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {kind: {} for kind in TYPES.values()}}
}
FEW = 5000  # weights; more take longer to write down than others should wait for the loop
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def answering(models: Models, limits: Limits, batcher: Batcher, studio: Studio) -> APIRouter:
    """What asks a run."""
    router = APIRouter(prefix="/v1", responses=PROBLEMS)

    @router.post("/predict", responses={200: {"model": schemas.Answers}})
    async def predict(asked: schemas.Predict) -> Response:
        """Answer one source or several, with the attention of each answer."""
        model = models.find(asked.model)
        check(asked, model, limits)
        key = Key(model.name, "predict", options(asked, model, limits))
        items = await weighed(asked, model, dict(key.options))
        found = await batcher.ask(key, items)
        return await predictions(model, found)

    @router.post("/force", responses={200: {"model": schemas.Answers}})
    async def force(asked: schemas.Force) -> Response:
        """A given answer as if the run had written it: its log probability and its attention."""
        model = models.find(asked.model)
        return await predictions(model, [await reread(model, asked)])

    @router.post("/choices", responses={200: {"model": schemas.NextSymbols}})
    async def choices(asked: schemas.Choices) -> Response:
        """The likeliest symbols to follow the beginning of an answer, best first."""
        model = models.find(asked.model)
        taken(limits, model, {"source": asked.source}, asked.prefix)
        item = Item(asked.source, asked.features, symbols(asked.prefix), asked.count)
        [found] = await batcher.ask(Key(model.name, "choices"), [item])
        return PlainJSON({"model": model.name, "choices": [one._asdict() for one in found]})

    @router.post("/picture", responses=PICTURE, response_class=Response)
    async def picture(asked: schemas.Picture) -> Response:
        """The attention of a given answer, or of the model's own, as a file."""
        model = models.find(asked.model)
        content = await studio.draw(await to_draw(model, asked), asked.format, asked.kind)
        headers = {"Content-Disposition": f'attachment; filename="attention.{asked.format}"'}
        return Response(content, media_type=TYPES[asked.format], headers=headers)

    async def weighed(asked: schemas.Predict, model: Model, search: dict[str, Any]) -> list[Item]:
        """The sources of a request, if it does not ask for too much; long ones are read beside the loop."""
        beam = search.get("beam", 1)
        items = [Item(text, asked.features) for text in asked.given.values()]
        items = await asyncio.to_thread(weigh, model.run, items, search["prefix"], beam)
        weights = sum(item.weights for item in items)
        smaller = ", or make beam and nbest smaller" if model.run.writes else ""
        afford(limits, weights, weights // beam * (max(asked.nbest, 1) if model.run.writes else 1), smaller)
        return items

    async def to_draw(model: Model, asked: schemas.Picture) -> Prediction:
        if asked.target is not None:
            return await reread(model, schemas.Force.model_validate(asked.model_dump(exclude={"format", "kind"})))
        plain = schemas.Predict.model_validate(asked.model_dump(include={"source", "model", "features"}))
        check(plain, model, limits)
        key = Key(model.name, "predict", options(plain, model, limits))
        [found] = await batcher.ask(key, await weighed(plain, model, dict(key.options)))
        return cast(Prediction, found)

    async def reread(model: Model, asked: schemas.Force) -> Prediction:
        taken(limits, model, {"source": asked.source}, asked.target)
        item = Item(asked.source, asked.features, symbols(asked.target))
        item = await asyncio.to_thread(weigh_given, model.run, item)
        afford(limits, item.weights, item.weights)
        [found] = await batcher.ask(Key(model.name, "force"), [item])
        return cast(Prediction, found)

    return router


def telling(models: Models, limits: Limits, batcher: Batcher, metrics: Metrics) -> APIRouter:
    """What the service knows about itself."""
    router = APIRouter(responses=ALWAYS)

    @router.get("/v1/models", responses={200: {"model": schemas.ModelCards}})
    async def list_models() -> Response:
        """The runs that are served; the first is the default."""
        cards = [model.describe() for model in models]
        return PlainJSON({"models": cards, "beam": limits.beam, "nbest": limits.nbest, "picture": limits.picture})

    @router.get("/health", include_in_schema=False)
    @router.get("/v1/health", responses={200: {"model": schemas.Health}, 503: PROBLEMS[503]})
    async def health() -> Response:
        """Whether it can answer."""
        if not batcher.alive:
            raise Refused(503, "the service does not answer: it is stopping, or its worker has died")
        content = {"status": "ok", "version": __version__, "models": len(models), "waiting": batcher.waiting}
        return PlainJSON(content)

    @router.get("/v1/metrics", include_in_schema=False)
    @router.get("/metrics", responses={200: {"content": {PROMETHEUS: {}}}}, response_class=PlainTextResponse)
    async def read_metrics() -> Response:
        """Numbers for Prometheus."""
        return Response(metrics.text(), media_type=PROMETHEUS)

    return router


def showing(files: dict[str, File], describe: Callable[[], dict[str, Any]]) -> APIRouter:
    """What a browser opens."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def page() -> Response:
        return files["page.html"].response()

    @router.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in files:
            raise HTTPException(404)
        return files[name].response()

    @router.get("/v1/docs")
    async def docs() -> Response:
        return HTMLResponse(docs_page.page(describe()))

    return router


def check(asked: schemas.Predict, model: Model, limits: Limits) -> None:
    """The limits that the schemas leave to whoever serves."""
    for name, came, most in (("beam", asked.beam or 1, limits.beam), ("nbest", asked.nbest, limits.nbest)):
        if came > most:
            raise Refused(422, f"{name} {came} came; this service takes at most {most}", f"make {name} smaller")
    if asked.beam is None and asked.nbest > limits.beam and model.run.writes:
        message = f"nbest {asked.nbest} needs a beam of {asked.nbest}; this service takes at most {limits.beam}"
        raise Refused(422, message, "make nbest smaller")
    if len(asked.given) > limits.sources:
        message = f"{len(asked.given)} sources came; this service takes at most {limits.sources} at once"
        raise Refused(413, message, "send several requests")
    taken(limits, model, asked.given, asked.prefix)


def afford(limits: Limits, weights: int, sent: int, smaller: str = "") -> None:
    """A quarter of what may be computed may be sent."""
    if weights > limits.weights or sent > limits.weights // 4:
        message = (
            f"{weights:,} attention weights may be computed for this and {sent:,} sent; this service takes at most "
            f"{limits.weights:,} and {limits.weights // 4:,}"
        )
        raise Refused(413, message, f"send fewer or shorter sources{smaller}")


def taken(limits: Limits, model: Model, sources: dict[str, str], answer: str | list[str]) -> None:
    """Sources by their fields, and a given answer or its beginning, if none is too large or of the wrong kind."""
    if model.run.codec.opens_files:
        check_sent(sources, limits)
        sized(limits, answer)
    else:
        sized(limits, *sources.values(), answer)


def sized(limits: Limits, *texts: str | list[str]) -> None:
    for text in texts:
        length = len(text) if isinstance(text, str) else sum(map(len, text))
        if length > limits.characters:
            message = f"a text of {length:,} characters came; this service takes at most {limits.characters:,}"
            raise Refused(413, message, "shorten or split it")


def options(asked: schemas.Predict, model: Model, limits: Limits) -> tuple[tuple[str, Any], ...]:
    """Those of `run.answer`, in one order, so that equal ones are equal; an n-best list widens a beam of no say, and
    the recipe's own is no wider than the service allows."""
    given = {name: getattr(asked, name) for name in SEARCH} | {"beam": asked.beam}
    if asked.beam is None and model.run.writes:
        given["beam"] = min(max(asked.nbest, model.run.recipe.search.beam), limits.beam)
    given |= {"nbest": asked.nbest, "prefix": symbols(asked.prefix)}
    return tuple((name, value) for name, value in given.items() if value is not None)


def symbols(text: str | list[str]) -> str | tuple[str, ...]:
    return text if isinstance(text, str) else tuple(text)


async def predictions(model: Model, found: Sequence[Prediction]) -> Response:
    def write() -> Response:
        return PlainJSON({"model": model.name, "predictions": [schemas.written(one) for one in found]})

    weights = sum(len(one.source_tokens) * len(one.output_tokens) * max(len(one.nbest), 1) for one in found)
    return write() if weights < FEW else await asyncio.to_thread(write)
