"""The numbers behind a picture, as JSON: every file that `save` writes carries them."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.pictures.panel import AXES, Panel
from regard.pictures.weights import checked


def to_json(panels: Sequence[Panel]) -> str:
    """ASCII only, and without `<`: safe inside XML, HTML, PNG and PDF."""
    return json.dumps({"panels": [to_dict(panel) for panel in panels]}, separators=(",", ":")).replace("<", "\\u003c")


def from_json(text: str) -> list[Panel]:
    return [_panel(content) for content in json.loads(text)["panels"]]


def to_dict(panel: Panel) -> dict[str, Any]:
    """The panel as the viewer takes it."""
    checked(panel.weights, panel.rows, panel.columns)
    return {
        "title": panel.title,
        "rows": list(panel.rows),
        "columns": list(panel.columns),
        "weights": [[_shortest(weight) for weight in row] for row in np.asarray(panel.weights)],
        "marked": sorted([t, j] for t, j in panel.marked),
        **({"lines": list(panel.lines), "sides": [_shortest(side) for side in panel.sides]} if panel.lines else {}),
        **({"axes": list(panel.axes)} if panel.axes != AXES else {}),
        **({"kind": panel.kind} if panel.kind else {}),
        **({"span": list(panel.span)} if any(panel.span) else {}),
    }


def _shortest(weight: Any) -> float:
    """The shortest decimal that reads as the same number in its own precision: 0.1 in fp32, not 0.10000000149."""
    return float(str(weight)) if isinstance(weight, np.float32) else float(weight)


def _panel(content: dict[str, Any]) -> Panel:
    marked = frozenset((int(t), int(j)) for t, j in content["marked"])
    lines, sides = tuple(map(int, content.get("lines", ()))), tuple(map(float, content.get("sides", ())))
    output, source = map(str, content.get("axes", AXES))
    begin, end = map(int, content.get("span", (0, 0)))
    labels = content["rows"], content["columns"], content["title"]
    kind = str(content.get("kind", ""))
    return Panel(content["weights"], *labels, marked, lines, sides, (output, source), kind, (begin, end))
