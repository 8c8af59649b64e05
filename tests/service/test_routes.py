"""Every route over real HTTP: its answers are those of the run, its refusals say what is wrong."""

import io
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from regard import Run, load
from regard.pictures import read
from regard.service.front import POLICY
from regard.service.models import Model
from regard.service.static import read_files
from tests.command import train, write
from tests.service.http import Service, serving, trouble


def test_models_are_listed_the_default_first(service: Service, run: Run) -> None:
    first, second = service.client.get("/v1/models").json()["models"]
    assert first == {
        "name": "reverse",
        "task": "pronounce",
        "weights": run.weights_count(),
        "features": False,
        "beside": "features",
        "writes": True,
        "attends": True,
        "longest": run.recipe.data.longest,
        "exported": False,
        "looks": None,
    }
    assert second["name"] == "other"


def test_an_answer_is_that_of_the_run(service: Service, run: Run) -> None:
    found, expected = service.predict("abcd"), run.predict("abcd")
    assert found == json.loads(json.dumps(expected.to_dict())) | {"log_probability": expected.log_probability}
    assert np.asarray(found["attention"]).shape == (len(found["output_tokens"]), 4)


def test_sources_are_answered_in_their_order(service: Service, run: Run) -> None:
    sources = ["edcb", "a", "abc", "dddddd", "abc"]
    response = service.post("/v1/predict", {"sources": sources, "model": "other"}).json()
    assert response["model"] == "other"
    assert [one["source"] for one in response["predictions"]] == sources
    assert [one["output"] for one in response["predictions"]] == [one.output for one in run.predict(sources)]


def test_search_options_are_those_of_predict(service: Service, run: Run) -> None:
    options = {"beam": 4, "nbest": 3, "length_penalty": 0.2, "coverage_penalty": 0.3, "no_repeat": 2}
    found, expected = service.predict("aabbc", **options), run.predict("aabbc", **options)
    assert [one["output"] for one in found["nbest"]] == [one.output for one in expected.nbest]
    assert [one["score"] for one in found["nbest"]] == [one.score for one in expected.nbest]
    assert [one["log_probability"] for one in found["nbest"]] == [one.log_probability for one in expected.nbest]
    assert found["score"] != run.predict("aabbc").score


def test_an_nbest_list_widens_a_beam_that_nobody_set(service: Service, run: Run) -> None:
    assert run.recipe.search.beam < 9
    assert len(service.predict("abc", nbest=9)["nbest"]) == 9


@pytest.mark.parametrize("prefix", [["E", "A"], "E A"])
def test_an_answer_goes_on_from_a_prefix(service: Service, run: Run, prefix: object) -> None:
    found = service.predict("abcd", prefix=prefix)
    assert found["output_tokens"][:2] == ["E", "A"]
    assert found["output"] == run.predict("abcd", prefix=["E", "A"]).output


@pytest.mark.parametrize("target", [["D", "C", "A"], "D C A"])
def test_a_given_answer_is_read(service: Service, run: Run, target: object) -> None:
    [found] = service.post("/v1/force", {"source": "abcd", "target": target}).json()["predictions"]
    expected = run.force("abcd", "D C A")
    assert found["log_probability"] == expected.log_probability
    assert found["output_tokens"] == ["D", "C", "A"]
    assert np.array_equal(np.asarray(found["attention"], np.float32), expected.attention)


def test_a_hypothesis_of_a_beam_has_the_weights_of_its_forced_decoding(service: Service) -> None:
    for one in service.predict("abcde", beam=5, nbest=5)["nbest"]:
        [forced] = service.post("/v1/force", {"source": "abcde", "target": one["output_tokens"]}).json()["predictions"]
        assert np.allclose(forced["attention"], one["attention"], atol=1e-5)
        assert forced["log_probability"] == pytest.approx(one["log_probability"], abs=1e-4)


def test_choices_follow_a_prefix_best_first(service: Service, run: Run) -> None:
    found = service.post("/v1/choices", {"source": "abc", "prefix": ["C"], "count": 4}).json()["choices"]
    assert found == [one._asdict() for one in run.choices("abc", ["C"], 4)]
    assert found[0]["symbol"] == "B"
    everything = service.post("/v1/choices", {"source": "abc", "count": 50}).json()["choices"]
    assert "" in [one["symbol"] for one in everything]  # the end
    assert 0.99 < sum(one["probability"] for one in everything) <= 1  # the rest is on what is never written


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html", "json"])
@pytest.mark.parametrize("kind", ["map", "lines", "text"])
def test_a_picture_holds_the_weights(service: Service, run: Run, tmp_path: Path, ending: str, kind: str) -> None:
    asked = {"source": "abcd", "target": ["D", "C"], "format": ending, "kind": kind}
    response = service.post("/v1/picture", asked)
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"] == f'attachment; filename="attention.{ending}"'
    path = tmp_path / f"attention.{ending}"
    path.write_bytes(response.content)
    [panel] = read(path)
    assert np.array_equal(np.asarray(panel.weights, np.float32), run.force("abcd", "D C").attention)
    assert (list(panel.rows), list(panel.columns)) == (["D", "C"], list("abcd"))
    if ending == "svg":
        ElementTree.parse(io.BytesIO(response.content))


def test_health(service: Service) -> None:
    for path in ("/health", "/v1/health"):
        content = service.client.get(path).json()
        assert (content["status"], content["models"], content["waiting"]) == ("ok", 2, 0)


def test_the_page_and_its_files(service: Service) -> None:
    page = service.client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert {"page.html", "page.js", "page.css", "viewer.js", "viewer.css", "docs.css"} <= set(read_files())
    for name, file in read_files().items():
        response = service.client.get(f"/static/{name}")
        assert (response.status_code, response.content) == (200, file.content)
        assert response.headers["content-type"] == file.kind


@pytest.mark.parametrize("path", ["/", "/v1/models", "/static/page.js", "/nothing", "/v1/predict", "/metrics"])
def test_every_answer_has_the_headers_of_safety(service: Service, path: str) -> None:
    response = service.client.get(path)
    assert response.headers["content-security-policy"] == POLICY
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in response.headers
    assert "server" not in response.headers
    assert len(response.headers["x-request-id"]) == 32
    assert response.headers["x-request-id"] != service.client.get(path).headers["x-request-id"]


def test_other_origins_get_no_leave(service: Service) -> None:
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    assert service.client.options("/v1/predict", headers=headers).status_code == 405
    # what a form elsewhere can send without asking is not read as JSON
    plain = service.client.post("/v1/predict", content=b'{"source": "abc"}', headers={"Content-Type": "text/plain"})
    trouble(plain, 422)


def test_the_way_to_405_names_the_method(service: Service) -> None:
    response = service.client.get("/v1/predict")
    trouble(response, 405)
    assert response.headers["allow"] == "POST"


def test_an_unknown_model_is_told_with_those_there_are(service: Service) -> None:
    error = trouble(service.post("/v1/predict", {"source": "abc", "model": "revers"}), 404)
    assert "'revers'" in error["message"]
    assert error["fix"] == "served are: reverse, other"


@pytest.mark.parametrize("path", ["/nothing", "/v1/", "/v1/predict/", "/docs", "/redoc", "/static/", "/v1/models/x"])
def test_there_is_nothing_else(service: Service, path: str) -> None:
    trouble(service.client.get(path), 404)


def test_a_body_that_is_not_declared_as_json(service: Service) -> None:
    error = trouble(service.client.post("/v1/predict", content=b'{"source": "abc"}'), 422)
    assert "Content-Type: application/json" in error["fix"]


def test_a_body_that_is_no_json(service: Service) -> None:
    for content in (b"{", b"", b"\xff\xfe\x00", b"[1,", b'"\xc3'):
        response = service.client.post("/v1/predict", content=content, headers={"Content-Type": "application/json"})
        trouble(response, 422 if content == b"" else 400)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "either source or sources"),
        ({"source": "a", "sources": ["b"]}, "either source or sources"),
        ({"sources": []}, "sources"),
        ({"source": 7}, "source"),
        ({"source": "abc", "beem": 5}, "beem"),
        ({"source": "abc", "beam": 0}, "beam"),
        ({"source": "abc", "beam": 33}, "beam 33 came; this service takes at most 32"),
        ({"source": "abc", "nbest": 33}, "nbest 33 came"),
        ({"source": "abc", "beam": 2, "nbest": 3}, "3 best of a beam of 2"),
        ({"source": "abc", "prefix": ["Ω"]}, "never seen in training: Ω"),
        ({"source": "abc", "features": "N;PL"}, "reads no features"),
        ({"source": "  "}, "empty"),
        ({"source": "abc", "length_penalty": 1e9}, "length_penalty"),
    ],
)
def test_a_request_that_makes_no_sense(service: Service, content: object, said: str) -> None:
    error = trouble(service.post("/v1/predict", content), 422)
    assert said in error["message"]


def test_features_go_with_a_run_that_reads_them(tmp_path: Path) -> None:
    rows = [(word, word + end, tag) for word in ("aa", "ab", "ba", "bb") for end, tag in (("s", "N;PL"), ("", "N;SG"))]
    assert train(write(tmp_path / "pairs.tsv", rows), tmp_path / "run", task="inflect").code == 0
    run = load(tmp_path / "run")
    with serving([Model("inflect", run)]) as service:
        assert service.client.get("/v1/models").json()["models"][0]["features"] is True
        found = service.predict("ab", features="N;PL")
        assert found["source_tokens"] == ["a", "b", "+N", "+PL"]
        assert found["score"] == run.predict("ab\tN;PL").score


def test_an_exported_run_answers_too(exported: Path) -> None:
    run = load(exported)
    with serving([Model("exported", run)]) as service:
        card = service.client.get("/v1/models").json()["models"][0]
        assert (card["exported"], card["attends"], card["weights"]) == (True, True, None)
        assert service.predict("abcd")["output"] == run.predict("abcd").output == "D C B A"
        assert service.post("/v1/choices", {"source": "abc", "prefix": ["C"]}).json()["choices"][0]["symbol"] == "B"
        assert service.post("/v1/force", {"source": "ab", "target": "B A"}).status_code == 200


def test_a_run_without_attention_has_no_picture(run: Run, few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "blind", "--set", "model.attention=none").code == 0
    with serving([Model("blind", load(tmp_path / "blind"))]) as service:
        assert service.client.get("/v1/models").json()["models"][0]["attends"] is False
        assert service.predict("ab")["attention"] is None
        error = trouble(service.post("/v1/picture", {"source": "ab", "target": ["B"]}), 422)
        assert "no attention to draw" in error["message"]
