import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.analysis.compare.curves import Curve, Point, learning_curve, shared_metric
from regard.analysis.compare.drawing import draw_curves, ticks

SVG = "{http://www.w3.org/2000/svg}"


def log(*values: float, every: int = 1) -> list[dict[str, Any]]:
    """One event an epoch, evaluated every so many."""
    events: list[dict[str, Any]] = []
    for epoch, value in enumerate(values, 1):
        event = {"event": "epoch", "epoch": epoch}
        events.append(event | ({"dev": {"wer": value}, "dev_loss": value / 100} if epoch % every == 0 else {}))
    return events


def drawn(picture: str, tag: str, kind: str) -> list[ET.Element]:
    return [e for e in ET.fromstring(picture).iter(f"{SVG}{tag}") if kind in e.get("class", "").split()]


def places(element: ET.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in element.get("points", "").split())]


def test_mean_lowest_and_highest_of_the_seeds_that_got_so_far() -> None:
    curve = learning_curve([log(90, 50, 40), log(80, 30)], "wer")
    assert curve.points == [Point(1, 85, 80, 90, 2), Point(2, 40, 30, 50, 2), Point(3, 40, 40, 40, 1)]
    assert curve.together == 2


def test_epochs_without_an_evaluation_have_no_point() -> None:
    assert [one.epoch for one in learning_curve([log(9, 8, 7, 6, every=2)], "wer").points] == [2, 4]


def test_the_loss_stands_in_where_a_training_watched_nothing_else() -> None:
    blind = [{"event": "epoch", "epoch": 1, "dev": {"loss": 0.7}, "dev_loss": 0.7}]
    assert shared_metric([log(90), log(80)], "wer") == "wer"
    assert shared_metric([log(90), blind], "wer") == "loss"
    assert learning_curve([log(90), blind], "loss").points == [Point(1, pytest.approx(0.8), 0.7, 0.9, 2)]


def test_lines_and_bands_stand_where_the_axes_say() -> None:
    curve = learning_curve([log(100, 50, 40), log(80, 30)], "wer")
    picture = draw_curves({"one": curve})
    (band,), lines = drawn(picture, "polygon", "band"), drawn(picture, "polyline", "line")
    labels = {e.text: e for e in drawn(picture, "text", "faint") if e.text and e.text.isdigit() and int(e.text) >= 20}
    at = {int(text): float(e.get("y", "")) - 4 for text, e in labels.items() if text}  # where the axis has a value

    def value(y: float) -> float:
        return 100 - (y - at[100]) / (at[20] - at[100]) * 80

    assert [round(value(y), 1) for _, y in places(band)] == [100, 50, 40, 40, 30, 80]
    assert [[round(value(y), 1) for _, y in places(line)] for line in lines[:2]] == [[90, 40], [40, 40]]
    assert "fewer" in lines[1].get("class", "")  # one seed has stopped
    columns = [x for x, _ in places(band)]
    assert columns[0] < columns[1] < columns[2]
    assert columns[1] - columns[0] == pytest.approx(columns[2] - columns[1], abs=0.2)


def test_every_recipe_is_named_and_nothing_is_markup() -> None:
    names = ["luong", "tiny+model.score=dot", 'a<b>&"c"', "</svg><script>alert(1)</script>"]
    curve = learning_curve([log(50, 20)], "wer")
    picture = draw_curves(dict.fromkeys(names, curve), title="<i>x</i>")
    assert [e.text for e in drawn(picture, "text", "name")] == names
    assert "<script" not in picture
    assert "<i>" not in picture
    assert len(drawn(picture, "path", "mark")) == 2 * len(names)


def test_recipes_of_which_nothing_is_known_are_left_out() -> None:
    picture = draw_curves({"known": learning_curve([log(50)], "wer"), "failed": Curve("wer", [])})
    assert [e.text for e in drawn(picture, "text", "name")] == ["known"]
    assert ET.fromstring(draw_curves({"failed": Curve("wer", [])})) is not None


@settings(max_examples=30)
@given(
    st.dictionaries(st.text(max_size=90), st.lists(st.floats(0, 1e6), min_size=1, max_size=5), min_size=1, max_size=12)
)
def test_any_name_and_number_makes_a_sound_file(curves: dict[str, list[float]]) -> None:
    picture = draw_curves({name: learning_curve([log(*values)], "wer") for name, values in curves.items()})
    width = float(ET.fromstring(picture).get("width", ""))
    inside = [x for line in drawn(picture, "polyline", "line") for x, _ in places(line)]
    assert all(0 <= x <= width for x in inside)
    assert len(drawn(picture, "text", "name")) == len(curves)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_ticks_are_few_and_hold_all_values(low: float, span: float) -> None:
    steps = ticks(low, low + span)
    assert 2 <= len(steps) <= 9
    slack = 1e-6 * max(abs(low), abs(low + span), 1)
    assert steps[0] <= low + slack
    assert steps[-1] >= low + span - slack


def test_ticks_are_round() -> None:
    assert ticks(31, 98) == [20, 40, 60, 80, 100]
    assert ticks(0.12, 0.31) == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
