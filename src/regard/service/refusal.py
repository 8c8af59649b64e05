"""What the service says when it does not answer: a status, one sentence, and what would help."""

import json
from typing import Any

from starlette.responses import JSONResponse

FAILED = "the service failed; its log has more under this request id"


class Refused(Exception):
    """Becomes {"error": {"message", "fix"?, "request_id"}}."""

    def __init__(self, status: int, message: str, fix: str = "", headers: dict[str, str] | None = None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.fix = fix
        self.headers = headers or {}

    def response(self, request_id: str) -> JSONResponse:
        content = {"message": self.message, "request_id": request_id}
        if self.fix:
            content["fix"] = self.fix
        return PlainJSON({"error": content}, self.status, self.headers)


class PlainJSON(JSONResponse):
    """In ASCII: an answer may repeat what came, and what came may hold half a surrogate pair."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
