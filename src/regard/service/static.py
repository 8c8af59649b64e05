"""The files of the page, in a table that is made once: no path is ever made from a request."""

from importlib import resources
from typing import NamedTuple

from starlette.responses import Response

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
VIEWER = ("viewer.js", "viewer.css")  # as in the pictures that are files of their own


class File(NamedTuple):
    content: bytes
    kind: str

    def response(self) -> Response:
        return Response(self.content, media_type=self.kind, headers={"Cache-Control": "no-cache"})


def read_files() -> dict[str, File]:
    """All of them, before the port opens."""
    own, pictures = resources.files("regard.service"), resources.files("regard.pictures")
    paths = [*(own / "page").iterdir(), own / "docs.css", *(pictures / name for name in VIEWER)]
    return {path.name: File(path.read_bytes(), TYPES[_ending(path.name)]) for path in paths}


def _ending(name: str) -> str:
    return f".{name.rpartition('.')[2]}"
