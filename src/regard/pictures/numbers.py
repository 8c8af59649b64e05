"""The numbers behind a picture, as JSON: every file that `save` writes carries them."""

import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.pictures.panel import AXES, Panel
from regard.pictures.raster import data_url, shrunk
from regard.pictures.scene import Clip, Outline, Plane, Scene
from regard.pictures.weights import checked


def to_json(panels: Sequence[Panel], longest: int = 0) -> str:
    """ASCII only, and without `<`: safe inside XML, HTML, PNG and PDF. `longest` as for `to_dict`."""
    content = {"panels": [to_dict(panel, longest) for panel in panels]}
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def from_json(text: str) -> list[Panel]:
    return [_panel(content) for content in json.loads(text)["panels"]]


def to_dict(panel: Panel, longest: int = 0) -> dict[str, Any]:
    """The panel as the viewer takes it; pictures come along if they may have sides so long (lines of
    writing twice that, frames a third), else only their grid."""
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
        **({"scene": _scene_dict(panel.scene, longest)} if panel.scene else {}),
    }


def _scene_dict(scene: Scene, longest: int) -> dict[str, Any]:
    images = scene.frames if isinstance(scene, Clip) else (scene.image,)
    longest = longest // 3 if isinstance(scene, Clip) else longest * 2 if scene.line else longest
    seen = {"images": [data_url(shrunk(one, longest)) if one else "" for one in images]} if longest else {}
    if isinstance(scene, Clip):
        return {"frames": len(images), **seen}
    boxes = {"boxes": [list(box) for box in scene.boxes]} if scene.boxes else {}
    return {"grid": [scene.rows, scene.columns], **boxes, **({"line": True} if scene.line else {}), **seen}


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
    scene = _scene(content["scene"]) if "scene" in content else None
    return Panel(content["weights"], *labels, marked, lines, sides, (output, source), kind, (begin, end), scene)


def _scene(content: dict[str, Any]) -> Scene:
    images = [b64decode(url.partition(",")[2]) for url in content.get("images", ())]
    if "frames" in content:
        return Clip(tuple(images) or (b"",) * int(content["frames"]))
    rows, columns = map(int, content["grid"])
    boxes = tuple(Outline(int(box[0]), *map(float, box[1:])) for box in content.get("boxes", ()))
    return Plane(images[0] if images else b"", rows, columns, boxes, bool(content.get("line", False)))
