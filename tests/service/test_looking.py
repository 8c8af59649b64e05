"""Runs that look at pictures and clips over real HTTP: what is sent is seen, and no file of the machine is."""

import base64
import builtins
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard import Run
from regard.cli.show import KINDS
from regard.data import image
from regard.pictures import Plane, read, sheet
from regard.pictures.numbers import from_json
from regard.service.limits import Limits
from regard.service.models import Model
from tests.command import done, refused, regard
from tests.data.made import animation, bomb, flat_frames, noise, save, url
from tests.service.http import Service, serving, together, trouble
from tests.service.looking import BLUE, RED, reads, square, untrained

ROUTES: dict[str, dict[str, Any]] = {"predict": {}, "force": {"target": "a red square"}, "choices": {}, "picture": {}}
HEAD = "data:image/png;base64,"


@pytest.fixture(scope="module")
def gallery(captions: Run) -> Iterator[Service]:
    """Pictures, questions about them, clips, and a run that reads; nothing that is asked ends in 500."""
    models = [
        Model("captions", captions),
        Model("questions", untrained("answer", "red", "blue", features="what colour ?")),
        Model("clips", untrained("describe", "up", "down", frames=4)),
        Model("lines", untrained("transcribe", "a", "b", fit="height", channels=1, invert=True, widest=64)),
        Model("texts", reads()),
    ]
    with serving(models) as service:
        yield service
    assert not [line for line in service.log if '"error"' in line]


def file_url(path: str, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"


def test_how_a_run_looks_is_told(gallery: Service) -> None:
    told = gallery.client.get("/v1/models").json()
    looks = {one["name"]: one["looks"] for one in told["models"]}
    frame = {"fit": "square", "size": 16, "line": False, "every": 1}
    assert looks["captions"] == {"kind": "picture", **frame, "frames": 1}
    assert looks["clips"] == {"kind": "clip", **frame, "frames": 4}
    assert looks["lines"] == {"kind": "picture", **frame, "fit": "height", "line": True, "frames": 1}
    assert looks["texts"] is None
    assert told["picture"] == Limits().picture


def test_an_answer_is_that_of_the_run_and_does_not_send_the_picture_back(gallery: Service, captions: Run) -> None:
    found, expected = gallery.predict(RED, nbest=2), captions.predict(RED, beam=2, nbest=2)
    assert found["output"] == expected.output != ""
    assert found["grid"] == [4, 4]
    assert np.allclose(found["attention"], expected.attention)
    assert found["source"] == found["nbest"][1]["source"] == f"{HEAD}…"
    assert RED[40:80] not in json.dumps(found)
    [forced] = gallery.post("/v1/force", {"source": RED, "target": "a blue square"}).json()["predictions"]
    assert forced["log_probability"] == pytest.approx(captions.force(RED, "a blue square").log_probability, abs=1e-6)
    choices = gallery.post("/v1/choices", {"source": RED, "prefix": ["a"], "count": 3}).json()["choices"]
    assert [one["symbol"] for one in choices] == [one.symbol for one in captions.choices(RED, ["a"], 3)]


def test_pictures_of_several_requests_are_answered_together_each_as_alone(gallery: Service) -> None:
    alone = {source: gallery.predict(source)["attention"] for source in (RED, BLUE)}
    assert not np.allclose(alone[RED], alone[BLUE], atol=1e-3)
    found = together(6, lambda number: (number, gallery.predict((RED, BLUE)[number % 2])["attention"]))
    assert all(np.allclose(one, alone[(RED, BLUE)[number % 2]], atol=1e-5) for number, one in found)


def test_a_question_goes_beside_its_picture(gallery: Service) -> None:
    found = gallery.predict(RED, model="questions", features="what colour ?")
    assert (found["grid"], set(found["probabilities"])) == ([8, 8], {"red", "blue"})
    error = trouble(gallery.post("/v1/predict", {"source": RED, "model": "questions"}), 422)
    assert 'give it as "features"' in error["message"]


def test_a_clip_has_frames(gallery: Service, tmp_path: Path) -> None:
    clip = file_url(animation(tmp_path / "c.gif", flat_frames(6)), "image/gif")
    found = gallery.predict(clip, model="clips")
    assert (found["frames"], found["source_tokens"]) == (4, ["1", "2", "3", "4"])
    assert "grid" not in found
    drawn = gallery.post("/v1/picture", {"source": clip, "model": "clips", "target": ["up"], "kind": "filmstrip"})
    assert drawn.text.count("<image") == 4


@pytest.mark.parametrize(
    ("ending", "kind"),
    [("svg", "auto"), ("svg", "animation"), ("png", "overlay"), ("gif", "auto"), ("html", "overlay"), ("json", "map")],
)
def test_a_picture_is_drawn_under_its_weights(
    gallery: Service, captions: Run, tmp_path: Path, ending: str, kind: str
) -> None:
    asked = {"source": RED, "target": "a red square", "format": ending, "kind": kind}
    response = gallery.post("/v1/picture", asked)
    assert response.status_code == 200, response.text
    path = tmp_path / f"x.{ending}"
    path.write_bytes(response.content)
    [panel] = read(path)
    expected = captions.force(RED, "a red square").attention
    assert expected is not None
    assert np.allclose(panel.weights, expected, atol=1e-6)
    assert (panel.title, list(panel.rows)) == ("a red square", ["a", "red", "square"])
    assert isinstance(panel.scene, Plane)
    if ending == "gif":
        assert response.headers["content-type"] == "image/gif"


def test_kinds_that_make_no_sense_are_refused_in_words(gallery: Service) -> None:
    asked = {"source": RED, "target": "a red square", "format": "png", "kind": "animation"}
    assert "do not move" in trouble(gallery.post("/v1/picture", asked), 422)["message"]
    for source, model, kind, lacks in (
        (RED, "captions", "filmstrip", "clip"),
        ("abc", "texts", "overlay", "picture"),
    ):
        error = trouble(gallery.post("/v1/picture", {"source": source, "model": model, "kind": kind}), 422)
        assert f"{kind} needs a {lacks}" in error["message"]


def test_a_line_of_writing_has_places(gallery: Service) -> None:
    line = url(noise(16, 40, 1))
    asked = {"source": line, "model": "lines", "target": "a b", "format": "json", "kind": "places"}
    [panel] = from_json(gallery.post("/v1/picture", asked).text)
    assert isinstance(panel.scene, Plane)
    assert (panel.scene.rows, panel.scene.columns, panel.scene.line) == (8, 20, True)


def test_the_command_draws_the_same(captions: Run, tmp_path: Path) -> None:
    source = save(tmp_path / "red.png", square("red", 8, 0))
    assert set(KINDS) == set(sheet.KINDS)
    for name, kind in (("x.gif", "overlay"), ("x.svg", "animation"), ("x.json", "map")):
        done("show", captions.path, source, "-o", tmp_path / name, "--kind", kind)
        [panel] = read(tmp_path / name)
        assert panel.title == captions.predict(source).title
        assert isinstance(panel.scene, Plane)
    assert "most in each" in done("show", captions.path, source, "--kind", "overlay").out
    refused(regard("show", captions.path, source, "--kind", "filmstrip"), 2, "filmstrip needs a clip")


# ---- no file of the machine


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every path that anybody opens, or looks at, from now on."""
    paths: list[str] = []

    def watch(owner: Any, name: str) -> None:
        plain = getattr(owner, name)

        def told(path: Any, *rest: Any, **more: Any) -> Any:
            paths.append(str(path))
            return plain(path, *rest, **more)

        monkeypatch.setattr(owner, name, told)

    watch(builtins, "open")
    for name in ("open", "stat", "listdir", "scandir"):
        watch(os, name)
    return paths


PATHS = ["{}", "file://{}", " data:{}", "\ndata:{}", "~/{}", "DATA;{}", "http://127.0.0.1/{}", ""]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("model", ["captions", "questions", "clips"])
def test_a_path_is_never_opened(gallery: Service, tmp_path: Path, opened: list[str], route: str, model: str) -> None:
    secret = save(tmp_path / "secret.png", square("red", 0, 0))
    beside = {"features": "what colour ?"} if model == "questions" else {}
    opened.clear()
    for form in PATHS:
        asked = {"source": form.format(secret), "model": model, **beside, **ROUTES[route]}
        error = trouble(gallery.post(f"/v1/{route}", asked), 422)
        assert error["message"].startswith("source: ")
    assert not [path for path in opened if "secret" in path]


def test_the_field_of_a_path_among_several_is_named(gallery: Service) -> None:
    error = trouble(gallery.post("/v1/predict", {"sources": [RED, "/etc/passwd"]}), 422)
    assert error["message"].startswith("sources.1: ")
    assert "content of the file" in error["fix"]


def test_what_follows_a_file_opens_none_either(gallery: Service, tmp_path: Path, opened: list[str]) -> None:
    secret = save(tmp_path / "secret.png", square("red", 0, 0))
    opened.clear()
    for source in (
        f"data:{secret}",
        f"data:image/png,{secret}",
        f"data:image/png;base64,\t{secret}",
        f"{RED}\t{secret}",
    ):
        for model in ("captions", "questions"):
            beside = {"features": f"what {secret} ?"} if model == "questions" else {}
            gallery.post("/v1/predict", {"source": source, "model": model, **beside})
    assert not [path for path in opened if "secret" in path]


# ---- pictures that are wrong, or too much


def damaged() -> str:
    """Sound at both ends, so that only decoding finds out."""
    content = bytearray(base64.b64decode(url(noise(40, 40)).partition(",")[2]))
    content[len(content) // 2] ^= 255
    return HEAD + base64.b64encode(bytes(content)).decode()


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "source",
    [
        HEAD,
        f"{HEAD}!!!!",
        f"{HEAD}{'A' * 100}",
        f"{HEAD}{base64.b64encode(b'<svg></svg>').decode()}",
        "data:text/plain;base64,AAAA",
        "data:image/png,AAAA",
        "data:",
        RED[: len(RED) // 2 // 4 * 4],
        "damaged",
    ],
)
def test_a_bad_picture_is_refused_in_words(gallery: Service, route: str, source: str) -> None:
    sent = damaged() if source == "damaged" else source
    error = trouble(gallery.post(f"/v1/{route}", {"source": sent, **ROUTES[route]}), 422)
    assert len(error["message"]) < 400


def test_too_many_pixels_are_refused_before_they_are_decoded(gallery: Service, tmp_path: Path) -> None:
    error = trouble(gallery.post("/v1/predict", {"source": file_url(bomb(tmp_path / "b.png", 30_000, 30_000))}), 422)
    assert "pixels" in error["message"]


def test_nobody_hears_of_anothers_bad_picture(captions: Run) -> None:
    with serving([Model("captions", captions)], Limits(wait=0.3)) as service:
        sources = [RED, damaged(), BLUE]
        found = together(3, lambda number: service.post("/v1/predict", {"source": sources[number]}))
        assert [one.status_code for one in found] == [200, 422, 200]
        assert service.metric('regard_batch_sources_bucket{le="2"}') == 0  # they shared a batch


def test_files_are_opened_and_decoded_by_the_worker_only(gallery: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    plain = image.open_bytes

    def told(*given: Any) -> Any:
        seen.append(threading.current_thread().name)
        return plain(*given)

    monkeypatch.setattr(image, "open_bytes", told)
    for route, more in ROUTES.items():
        if route != "picture":  # what is drawn is decoded again, by the thread that draws
            assert gallery.post(f"/v1/{route}", {"source": RED, **more}).status_code == 200
    assert set(seen) == {"regard-worker"}


def test_pictures_have_a_limit_of_their_own_and_all_of_a_request_count(captions: Run) -> None:
    content = base64.b64decode(RED.partition(",")[2])
    limits = Limits(picture=2 * len(content), characters=60, body=500)
    with serving([Model("captions", captions), Model("texts", reads())], limits) as service:
        assert service.post("/v1/predict", {"sources": [RED, RED]}).status_code == 200
        error = trouble(service.post("/v1/predict", {"sources": [RED, RED, HEAD + "AAAA"]}), 413)
        assert f"files of {2 * len(content) + 3:,} bytes came" in error["message"]
        assert "--picture" in error["fix"]
        for route, more in ROUTES.items():
            trouble(service.post(f"/v1/{route}", {"source": RED + RED[40:] * 2, **more}), 413)
        trouble(service.post("/v1/predict", {"source": "a" * 61, "model": "texts"}), 413)  # as ever
        trouble(service.post("/v1/force", {"source": RED, "target": "a" * 61}), 413)
        described = service.client.get("/openapi.json").json()["components"]["schemas"]["Force"]["properties"]
        assert described["source"]["maxLength"] > limits.encoded
        assert described["target"]["anyOf"][1]["maxLength"] == 60


def test_the_number_of_files_and_the_pixels_of_each_are_limited(captions: Run, tmp_path: Path) -> None:
    with serving([Model("captions", captions)], Limits(files=2)) as service:
        assert service.post("/v1/predict", {"sources": [RED, BLUE]}).status_code == 200
        error = trouble(service.post("/v1/predict", {"sources": [RED, BLUE, RED]}), 413)
        assert "3 files came" in error["message"]
        assert "--files" in error["fix"]
        large = bomb(tmp_path / "large.png", 5001, 5000)
        assert "25 million" in trouble(service.post("/v1/predict", {"source": file_url(large)}), 422)["message"]


def test_the_body_has_room_for_pictures_only_where_a_run_looks_at_some(captions: Run) -> None:
    for models in ([Model("r", reads())], [Model("r", reads()), Model("c", captions)]):
        with serving(models, Limits(body=1000, characters=500, picture=3000)) as service:
            said = trouble(service.post("/v1/predict", {"source": "x" * 4000}), 413)["message"]
            assert ("1,000 bytes" in said) == (len(models) == 1)
            assert ("500" in said) == (len(models) == 2)  # it was read, and is no text of this length


@pytest.mark.parametrize("more", [0, 1, 2])
def test_files_as_large_as_the_limit_are_taken_and_no_larger(captions: Run, tmp_path: Path, more: int) -> None:
    content = Path(save(tmp_path / "x.bmp", noise(150, 150), format="gif")).read_bytes()
    limits = Limits(picture=len(content) + more, body=1)
    with serving([Model("captions", captions)], limits) as service:
        whole, over = (HEAD + base64.b64encode(content + b"\0" * size).decode() for size in (more, more + 1))
        assert service.post("/v1/predict", {"source": whole}).status_code == 200
        error = trouble(service.post("/v1/predict", {"source": over}), 413)
        assert f"{limits.picture + 1:,} bytes" in error["message"]


def test_weights_are_counted_without_opening_a_file(captions: Run) -> None:
    longest = captions.recipe.search.longest_extra
    with serving([Model("captions", captions)], Limits(weights=8 * 16 * longest)) as service:
        assert service.post("/v1/predict", {"source": RED, "beam": 8, "nbest": 1}).status_code == 200
        error = trouble(service.post("/v1/predict", {"source": f"{HEAD}AAAA", "beam": 9}), 413)
        assert f"{9 * 16 * longest:,} attention weights" in error["message"]
