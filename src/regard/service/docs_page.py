"""The OpenAPI description as a page that asks nobody else for anything, and needs no script."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="/static/docs.css">'
)


def page(description: dict[str, Any]) -> str:
    title = escape(f"{description['info']['title']} {description['info']['version']}")
    about = escape(description["info"]["description"])
    return (
        f"{HEAD}<title>{title}</title></head><body><main><h1>{title}</h1>"
        f'<p>{about} The same <a href="/openapi.json">for machines</a>, and <a href="/">for people</a>.</p>'
        f"{''.join(_operations(description))}<h2>Schemas</h2>{''.join(_schemas(description))}</main></body></html>"
    )


def _operations(description: dict[str, Any]) -> Iterator[str]:
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            yield f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>"
            yield f"<p>{escape(operation.get('description', ''))}</p>"
            for content in operation.get("requestBody", {}).get("content", {}).values():
                yield f"<p>Body: {_type(content['schema'])}</p>"
            yield f"<table>{''.join(_answers(operation['responses']))}</table></section>"


def _answers(responses: dict[str, Any]) -> Iterator[str]:
    for status, response in responses.items():
        content = response.get("content", {}).items()
        kinds = ", ".join(f"{_type(one.get('schema', {}))} <small>{escape(kind)}</small>" for kind, one in content)
        yield f"<tr><th>{status}</th><td>{escape(response['description'])}</td><td>{kinds}</td></tr>"


def _schemas(description: dict[str, Any]) -> Iterator[str]:
    for name, schema in description["components"]["schemas"].items():
        yield f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
        for example in schema.get("examples", []):
            yield f"<pre>{escape(json.dumps(example, ensure_ascii=False))}</pre>"
        yield f"<table>{''.join(_fields(schema))}</table></section>"


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, field in schema["properties"].items():
        needed = " (needed)" if name in schema.get("required", []) else ""
        meaning = escape(field.get("description", ""))
        yield f"<tr><th><code>{escape(name)}</code></th><td>{_type(field)}{needed}</td><td>{meaning}</td></tr>"


BOUNDS = {"minimum": "≥", "maximum": "≤", "maxLength": "characters ≤", "maxItems": "items ≤"}


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(one))}</code>" for one in schema["enum"])
    bounds = "".join(f", {sign} {schema[bound]:,}" for bound, sign in BOUNDS.items() if bound in schema)
    of = f" of {_type(schema['items'])}" if "items" in schema else ""
    return f"{escape(str(schema.get('type', '')))}{of}{bounds}"
