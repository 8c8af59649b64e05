"""One HTML file that needs nothing else: the numbers, the viewer, and a bar to choose what it shows."""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from regard.pictures.numbers import to_json
from regard.pictures.panel import Panel
from regard.pictures.sheet import AUTO, kinds_of, known
from regard.pictures.window import heading

# Scripts and styles only from this file, nothing from anywhere else: a browser holds the page to it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
DATA = re.compile(r'<script type="application/json" id="regard-panels">(.*?)</script>', re.DOTALL)

LARGEST = 640  # sides of the pictures that a page carries

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body class="regard-page" data-kind="{kind}" data-across="{across}">
<noscript>This picture is drawn by JavaScript inside the file; its numbers stand in the source of the page.</noscript>
<script type="application/json" id="regard-panels">{numbers}</script>
<script>
{script}
</script>
</body>
</html>
"""


def draw_html(panels: Sequence[Panel], *, title: str = "", kind: str = AUTO, across: int = 0) -> str:
    """Interactive: point at a symbol to see its row or column, choose map, lines or text, move the threshold."""
    kinds_of(panels, known(kind))
    name = heading(title) or (heading(panels[0].title) if len(panels) == 1 else "") or "attention weights"
    return PAGE.format(
        policy=escape(POLICY),
        title=escape(name),
        style=_part("viewer.css") + _part("page.css"),
        kind=kind,
        across=across,
        numbers=to_json(panels, LARGEST),
        script=_part("viewer.js") + _part("page.js"),
    )


def embedded(page: str) -> str:
    """The numbers of a page that `draw_html` made."""
    found = DATA.search(page)
    return found[1] if found else ""


def _part(name: str) -> str:
    return files("regard.pictures").joinpath(name).read_text("utf-8")
