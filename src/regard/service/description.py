"""What the OpenAPI description adds to the schemas: every refusal, and the limits that this service has."""

from collections.abc import Iterator
from typing import Any

from regard.service.limits import Limits
from regard.service.schemas import Problems

ABOUT = "Runs that answer, and show where each answer looked."
STATUSES = {
    400: "The body is no JSON.",
    401: "The token of the service is missing or wrong.",
    404: "There is no such model.",
    408: "The request did not arrive in time.",
    413: "The request, a source or a target is too large.",
    421: "The service does not go by the name it was called by.",
    422: "The request makes no sense.",
    429: "Too many sources are waiting; Retry-After says when to try again.",
    503: "The service is stopping.",
    504: "There was no answer in time.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problems, "description": meaning} for status, meaning in STATUSES.items()
}
ALWAYS: dict[int | str, dict[str, Any]] = {status: PROBLEMS[status] for status in (401, 421)}  # from any route


def amend(description: dict[str, Any], limits: Limits, guarded: bool, files: bool = False) -> dict[str, Any]:
    """The limits that are set, where the schemas only know those of any service. `files`: sources may be some."""
    schemas = description["components"]["schemas"]
    for schema in ("Predict", "Force", "Choices", "Picture"):
        for name in ("source", "sources", "target", "prefix"):
            most = max(limits.characters, limits.body) if files and name.startswith("source") else limits.characters
            for text in _parts(schemas[schema]["properties"].get(name, {}), "string"):
                text["maxLength"] = min(text["maxLength"], most)
    asked = schemas["Predict"]["properties"]
    for name, kind, bound, most in (
        ("beam", "integer", "maximum", limits.beam),
        ("nbest", "integer", "maximum", limits.nbest),
        ("sources", "array", "maxItems", limits.sources),
    ):
        next(_parts(asked[name], kind))[bound] = most
    if guarded:
        description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        description["security"] = [{"token": []}]
    return description


def _parts(schema: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The schema itself, its alternatives and what its list holds, where they are of a kind."""
    if schema.get("type") == kind:
        yield schema
    for part in (*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])):
        yield from _parts(part, kind)
