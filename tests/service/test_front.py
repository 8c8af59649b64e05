"""Who may come in, and what is written down about it."""

import json
from collections.abc import Iterator

import pytest

from regard import Run
from regard.service.front import Door
from regard.service.models import Model
from tests.service.http import Service, serving, trouble

TOKEN = "open-sesame/~!=+"


@pytest.fixture(scope="module")
def locked(run: Run) -> Iterator[Service]:
    with serving([Model("reverse", run)], door=Door(TOKEN)) as service:
        yield service


def bearer(token: str) -> dict[str, bytes]:
    return {"Authorization": f"Bearer {token}".encode()}


@pytest.mark.parametrize("path", ["/v1/models", "/v1/metrics", "/metrics", "/v1/nothing", "/v1/predict"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("wrong"),
        {"Authorization": b"Bearer"},
        bearer(TOKEN + "x"),
        {"Authorization": b"Basic " + TOKEN.encode()},
        bearer("ÿ😀"),
    ],
)
def test_without_the_token_nothing_is_told(locked: Service, path: str, headers: dict[str, bytes]) -> None:
    response = locked.client.request("POST" if path.endswith("predict") else "GET", path, headers=headers)
    trouble(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


def test_with_the_token_everything_is(locked: Service) -> None:
    for scheme in ("Bearer", "bearer"):
        headers = {"Authorization": f"{scheme} {TOKEN}".encode()}
        assert locked.client.get("/v1/models", headers=headers).status_code == 200
        answer = locked.post("/v1/predict", {"source": "abc"}, headers=headers)
        assert answer.json()["predictions"][0]["output"] == "C B A"


@pytest.mark.parametrize("path", ["/", "/static/page.js", "/health", "/v1/health", "/v1/docs", "/openapi.json"])
def test_what_tells_nothing_is_open(locked: Service, path: str) -> None:
    assert locked.client.get(path).status_code == 200


def test_the_token_is_compared_in_constant_time(locked: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    monkeypatch.setattr("hmac.compare_digest", lambda one, other: compared.append((one, other)) or one == other)
    assert locked.client.get("/v1/models", headers=bearer("guess")).status_code == 401
    assert compared == [(b"guess", TOKEN.encode())]


def test_a_service_at_home_answers_to_its_own_names_only(run: Run) -> None:
    hosts = frozenset({"localhost", "127.0.0.1", "[::1]"})
    with serving([Model("reverse", run)], door=Door(hosts=hosts)) as service:
        for name in ("localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]", "[::1]:8000"):
            assert service.client.get("/v1/models", headers={"Host": name}).status_code == 200, name
        for name in ("rebound.example", "rebound.example:8000", "127.0.0.1.example", "localhost@evil", "::1", ""):
            trouble(service.client.get("/v1/models", headers={"Host": name}), 421)


FORGED = '{"time": "forged"}'


def test_nothing_that_comes_begins_a_line_of_the_log(service: Service) -> None:
    before = len(service.log)
    service.client.get(f"/x%0a{FORGED}%0d%1b[31m%7f%00%e2%80%a8")
    service.client.get("/v1/models", headers={"User-Agent": FORGED, "X-Request-Id": f"a\t{FORGED}"})
    service.post("/v1/predict", {"source": f"\n{FORGED}\n", "model": f"\n{FORGED}\n"})
    service.client.request("BREW\x21", "/")
    service.client.get("/" + "y" * 5000)
    service.client.get("/health")
    lines = service.log[before:]
    assert len(lines) >= 5
    for line in lines:
        assert line.isascii()
        assert line.isprintable()  # no control characters: one line, and no orders to a terminal
        assert len(line) < 1000
        assert json.loads(line)["time"] != "forged"
    assert json.loads(lines[0])["path"] == f"/x\n{FORGED}\r\x1b[31m\x7f\x00\u2028"


def test_a_source_and_a_token_stay_out_of_the_log(locked: Service) -> None:
    locked.post("/v1/predict", {"source": "bade"}, headers=bearer(TOKEN))
    locked.client.get("/v1/models?source=bade", headers=bearer("guessed"))
    locked.client.get("/health")
    text, lines = "\n".join(locked.log), [json.loads(line) for line in locked.log]
    assert not [line for line in lines if "bade" in json.dumps(line | {"request": ""})]  # a random one may spell it
    assert "guessed" not in text
    assert json.dumps(TOKEN)[1:-1] not in text


def test_no_header_can_be_injected(service: Service) -> None:
    for path in ("/v1/predict%0d%0aX-Evil: 1", "/static/a%0d%0aX-Evil: 1", "/%0d%0aSet-Cookie: a=b"):
        response = service.client.get(path)
        assert response.status_code == 404
        assert not {"x-evil", "set-cookie"} & set(response.headers)
    response = service.post("/v1/picture", {"source": "abc", "target": ["A"], "format": 'svg"\r\nX-Evil: 1'})
    trouble(response, 422)
    assert "x-evil" not in response.headers
