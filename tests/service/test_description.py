"""The description is true: what it allows and what it does not is asked, and no answer is a surprise."""

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode, checks

from regard import Run
from regard.service.app import create_app
from regard.service.front import Door
from regard.service.limits import Limits
from regard.service.models import Model, Models
from tests.service.http import Service, serving

PATHS = {
    "POST": ["/v1/predict", "/v1/force", "/v1/choices", "/v1/picture"],
    "GET": ["/v1/models", "/v1/health", "/metrics"],
}
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
STEADY = settings(
    max_examples=15,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def modest(run: Run) -> Iterator[Service]:
    """With limits at which nothing takes long."""
    with serving([Model("reverse", run)], Limits(beam=4, nbest=4, sources=4, characters=200)) as service:
        yield service
        assert not [line for line in service.log if '"error"' in line]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("method", "path"), [(method, path) for method, paths in PATHS.items() for path in paths])
def test_no_answer_is_a_surprise(modest: Service, method: str, path: str, mode: GenerationMode) -> None:
    if method == "GET" and mode is GenerationMode.NEGATIVE:
        return  # these take nothing that could be wrong
    operation = schemathesis.openapi.from_url(f"{modest.url}/openapi.json")[path][method]
    seen: set[int] = set()

    @STEADY
    @given(operation.as_strategy(mode))
    def ask(case: Case) -> None:
        seen.add(case.call_and_validate(checks=CHECKS).status_code)

    ask()
    assert seen - {429} <= {200, 400, 404, 413, 422}
    assert (200 in seen) == (mode is GenerationMode.POSITIVE)  # nothing is taken that the description forbids


def test_the_examples_are_answered(service: Service) -> None:
    description = service.client.get("/openapi.json").json()
    for path in PATHS["POST"]:
        schema = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        for example in description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["examples"]:
            known = {name: value for name, value in example.items() if name != "prefix"}  # of another language
            assert service.post(path, known).status_code == 200


def test_the_limits_that_are_set_are_told(run: Run) -> None:
    limits = Limits(beam=3, nbest=2, sources=5, characters=77)
    with serving([Model("reverse", run)], limits, Door("secret")) as service:
        description = service.client.get("/openapi.json").json()
    schemas = description["components"]["schemas"]
    asked = schemas["Predict"]["properties"]
    assert asked["nbest"]["maximum"] == 2
    assert asked["beam"]["anyOf"][0] == {"type": "integer", "maximum": 3, "minimum": 1}
    assert asked["sources"]["anyOf"][0]["maxItems"] == 5
    assert asked["sources"]["anyOf"][0]["items"]["maxLength"] == 77
    assert schemas["Force"]["properties"]["source"]["maxLength"] == 77
    assert schemas["Force"]["properties"]["target"]["anyOf"][0]["items"]["maxLength"] == 77
    assert description["security"] == [{"token": []}]
    assert {"400", "401", "404", "408", "413", "422", "429", "503", "504"} <= set(
        description["paths"]["/v1/predict"]["post"]["responses"]
    )


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.names |= {value or "" for name, value in attrs if name == "id"}


def test_the_page_of_the_description_asks_nobody_else(service: Service) -> None:
    response = service.client.get("/v1/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page = Links()
    page.feed(response.text)
    assert "script" not in page.tags
    assert "style" not in page.tags
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.names
        else:
            assert link.startswith("../")  # it may be served under a path
            assert service.client.get(urljoin("/v1/docs", link)).status_code == 200
    for path in (*PATHS["POST"], *PATHS["GET"]):
        assert path in response.text


def test_no_telemetry_leaves_the_house(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    create_app(Models([Model("reverse", run)]))
    from opentelemetry import trace

    assert type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider"  # nobody has set one
