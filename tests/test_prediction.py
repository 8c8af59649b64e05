import dataclasses
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from regard.errors import UsageError
from regard.pictures import Clip, Plane, png_bytes, read
from regard.prediction import Look, Prediction, Span

WEIGHTS = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]], dtype=np.float32)
ONE = Prediction("ab", "B A", -0.5, -1.5, ["a", "b"], ["B", "A", "!"], WEIGHTS)


def test_a_prediction_as_json() -> None:
    content = json.loads(json.dumps(ONE.to_dict()))
    assert content == {
        "source": "ab",
        "output": "B A",
        "score": -0.5,
        "source_tokens": ["a", "b"],
        "output_tokens": ["B", "A", "!"],
        "attention": [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]],
    }


def test_what_is_unusual_is_said() -> None:
    odd = dataclasses.replace(ONE, finished=False, unknown=["b"], attention=None)
    assert odd.to_dict() == ONE.to_dict() | {"attention": None, "finished": False, "unknown": ["b"]}


def test_nbest_is_a_list_of_such() -> None:
    second = dataclasses.replace(ONE, output="A", score=-0.75)
    several = dataclasses.replace(ONE, nbest=[ONE, second])
    assert several.to_dict() == ONE.to_dict() | {"nbest": [ONE.to_dict(), second.to_dict()]}


def test_a_prediction_reads_as_its_output_and_stays_as_it_is() -> None:
    assert f"{ONE}" == "B A"
    with pytest.raises(dataclasses.FrozenInstanceError):
        ONE.output = "C"


def test_a_prediction_is_a_panel() -> None:
    panel = ONE.panel()
    assert (panel.rows, panel.columns, panel.title) == (["B", "A", "!"], ["a", "b"], "ab → B A")
    assert panel.weights is WEIGHTS
    assert ONE.panel("other").title == "other"


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf", ".html", ".json"])
def test_a_prediction_saves_its_picture(ending: str, tmp_path: Path) -> None:
    ONE.save(tmp_path / f"x{ending}", kind="lines")
    (panel,) = read(tmp_path / f"x{ending}")
    assert (np.array(panel.weights, dtype=np.float32) == WEIGHTS).all()


def test_a_prediction_shows_itself(capsys: pytest.CaptureFixture[str]) -> None:
    ONE.show(kind="lines")
    assert "A ← a 1.00" in capsys.readouterr().out
    ONE.show()
    assert "rows: output" in capsys.readouterr().out


def test_a_notebook_shows_it_and_many_of_them_do_not_clash() -> None:
    picture = ONE._repr_html_()
    assert picture is not None
    root = ET.fromstring(f"<div>{picture}{picture}</div>")
    assert [child.tag.rpartition("}")[2] for child in root] == ["svg", "svg"]
    assert " id=" not in picture


def test_without_attention_there_is_nothing_to_draw(tmp_path: Path) -> None:
    blind = dataclasses.replace(ONE, attention=None)
    assert blind._repr_html_() is None
    for draw in (blind.panel, blind.show, lambda: blind.save(tmp_path / "x.svg")):
        with pytest.raises(UsageError, match="no attention to draw"):
            draw()


CHOSEN = Prediction(
    "Good film . Thin plot .",
    "positive",
    -0.1,
    -0.1,
    ["good", "film", ".", "thin", "plot", "."],
    ["positive"],
    np.array([[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]], dtype=np.float32),
    probabilities={"positive": 0.926, "negative": 0.074},
    lines=[3, 3],
    line_weights=[0.7, 0.3],
    looks=[Look("overlap", np.eye(2, dtype=np.float32), ["1", "2"], ["1", "2"])],
)


def test_what_is_behind_an_answer_is_drawn_where_it_looked_nowhere_itself(tmp_path: Path) -> None:
    """A question that weighs its words and reads the picture as a whole."""
    words = Look("words of the question", np.full((1, 2), 0.5, np.float32), ["red"], ["what", "colour"])
    chosen = Prediction("a.png", "red", -0.1, -0.1, [], ["red"], None, probabilities={"red": 0.9}, looks=[words])
    assert [panel.title for panel in chosen.panels()] == ["words of the question"]
    chosen.save(tmp_path / "words.svg")
    assert "colour" in (tmp_path / "words.svg").read_text("utf-8")
    assert "<svg" in str(chosen._repr_html_())


def test_a_chosen_answer_is_a_text_that_says_how_sure_it_is() -> None:
    text, look = CHOSEN.panels()
    assert text.title == "positive 0.93"
    assert (text.lines, text.sides) == ((3, 3), (0.7, 0.3))
    assert (look.title, look.lines, look.axes) == ("overlap", (), ("", ""))
    assert dataclasses.replace(CHOSEN, lines=[], line_weights=[]).panel().lines == (6,)
    two = dataclasses.replace(CHOSEN, lines=[], line_weights=[], attention_rows=["w", "v"], attention=np.ones((2, 6)))
    assert two.panel().lines == ()  # word by word, say: a map
    long = dataclasses.replace(two, source_tokens=["w"] * 41, attention=np.ones((2, 41)))
    assert long.panel().lines == (41,)


def test_an_answer_found_in_the_source_is_marked_there() -> None:
    span = Span(5, 15)  # film . Thin
    found = dataclasses.replace(
        CHOSEN, output="film . Thin", probabilities=None, span=span, log_probability=np.log(0.5)
    )
    assert found.title == "film . Thin 0.50"
    assert found.panel().span == (1, 4)
    assert found.panel().marked == set()
    assert dataclasses.replace(found, span=Span(0, 4)).panel().span == (0, 1)
    assert dataclasses.replace(found, span=Span(22, 23)).panel().span == (5, 6)  # the second full stop
    assert CHOSEN.panel().span == (0, 0)


def test_where_the_answer_stands_is_told_once_in_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    found = dataclasses.replace(
        CHOSEN,
        probabilities=None,
        span=Span(5, 15),
        attention_rows=["who", "what"],
        attention=np.full((2, 6), 1 / 6),
        lines=[],
        line_weights=[],
        looks=[],
    )
    found.show()
    out = capsys.readouterr().out
    assert out.splitlines()[2].split() == ["good", "_film_", "_._", "_thin_", "plot", "."]
    assert out.count("_film_") == 1


def test_an_answer_that_was_written_is_a_map_also_over_turns(capsys: pytest.CaptureFixture[str]) -> None:
    talk = dataclasses.replace(
        ONE, source_tokens=list("abcd"), attention=np.full((3, 4), 0.25), lines=[2, 2], line_weights=[0.5, 0.5]
    )
    talk.show()
    assert "rows: output, columns: source" in capsys.readouterr().out
    talk.show(kind="text")
    assert capsys.readouterr().out.count("[[[a]]] [[[b]]]\n[[[c]]] [[[d]]]\n") == 3  # a copy a symbol, a line a turn


def test_a_chosen_answer_shows_itself_in_the_right_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    CHOSEN.show()
    out = capsys.readouterr().out
    assert "0.70 ██████ [[[good]]] film ." in out
    assert out.index("overlap") > out.index("plot")
    assert "██" in out[out.index("overlap") :]


def test_a_long_source_leaves_room_for_the_answer_in_the_heading() -> None:
    long = Prediction("word " * 40, "gist", -0.1, -0.1, ["word"] * 40, ["gist"], np.full((1, 40), 1 / 40))
    assert long.title.endswith("… → gist")
    assert len(long.title) == 70
    written = dataclasses.replace(long, output="answer " * 20)
    assert written.title == "word word word word wor… → " + "answer " * 20


def test_weights_of_turns_stand_only_beside_the_row_that_has_them() -> None:
    one = dataclasses.replace(CHOSEN, probabilities=None, output_tokens=["so", "so"], attention=np.full((2, 6), 1 / 6))
    assert (one.panel().lines, one.panel().sides) == ((3, 3), ())


def test_rows_that_are_no_output_are_not_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    beside = dataclasses.replace(
        CHOSEN, lines=[], line_weights=[], looks=[], attention_rows=["w", "v"], attention=np.full((2, 6), 1 / 6)
    )
    assert beside.panel().axes == ("", "source")
    beside.show()
    out = capsys.readouterr().out
    assert "columns: source" in out
    assert "rows:" not in out


class Opened(NamedTuple):
    """A source that was opened, and is this scene."""

    drawn: Plane | Clip

    def measures(self) -> dict[str, Any]:
        return dict(self.drawn.measures())

    def scene(self) -> Plane | Clip:
        return self.drawn


def test_a_picture_is_told_by_its_grid_and_drawn_over_it() -> None:
    """Also where one row looked and a class was chosen: that is no text."""
    plane = Plane(png_bytes(np.zeros((8, 8), np.uint8)), 1, 2)
    seen = dataclasses.replace(ONE, source_tokens=plane.labels, sight=Opened(plane))
    assert json.loads(json.dumps(seen.to_dict()))["grid"] == [1, 2]
    assert "image" not in seen.to_dict()
    assert seen.panel().scene is plane
    asked = dataclasses.replace(
        seen,
        attention=WEIGHTS[:1],
        attention_rows=["look 1"],
        probabilities={"B A": 0.9},
        looks=[Look("overlap", WEIGHTS, ["1", "2", "3"], ["1", "2"])],
    )
    first, second = asked.panels()
    assert (first.scene, first.lines, first.axes) == (plane, (), ("", "source"))
    assert second.scene is None
    assert "<image " in (asked._repr_html_() or "")


def test_a_clip_is_told_by_its_frames() -> None:
    clip = Clip((png_bytes(np.zeros((8, 8), np.uint8)),) * 2)
    assert dataclasses.replace(ONE, sight=Opened(clip)).to_dict() == ONE.to_dict() | {"frames": 2}
