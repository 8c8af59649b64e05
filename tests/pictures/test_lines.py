import xml.etree.ElementTree as ET

import numpy as np
import pytest

from regard.pictures import Panel, draw_svg
from regard.pictures.drawing import Drawing, Ribbon, Words
from regard.pictures.lines import BETWEEN, THICKEST, lines_of
from regard.pictures.window import window

SVG = "{http://www.w3.org/2000/svg}"


def drawn(weights: object, rows: list[str], columns: list[str], **more: object) -> Drawing:
    shown = window(Panel(np.asarray(weights, dtype=float), rows, columns, **more))  # type: ignore[arg-type]
    return lines_of(shown, float(shown.weights.max()))


def ribbons(drawing: Drawing, ink: str = "w") -> list[Ribbon]:
    return [shape for shape in drawing.shapes if isinstance(shape, Ribbon) and shape.ink == ink]


def labels(drawing: Drawing) -> dict[str, Words]:
    return {shape.text: shape for shape in drawing.shapes if isinstance(shape, Words) and shape.kind == "label"}


def test_a_ribbon_is_as_thick_as_its_weight_and_joins_its_symbols() -> None:
    drawing = drawn([[0.8, 0.2], [0.4, 0.6]], ["x", "y"], ["a", "b"])
    at = labels(drawing)
    found = {one.about.rpartition(": ")[0]: one for one in ribbons(drawing)}
    assert set(found) == {"x ← a", "x ← b", "y ← a", "y ← b"}
    for name, weight in {"x ← a": 0.8, "x ← b": 0.2, "y ← a": 0.4, "y ← b": 0.6}.items():
        output, _, source = name.partition(" ← ")
        assert found[name].thickness == pytest.approx(THICKEST * weight / 0.8)
        assert (found[name].x, found[name].to_x) == (at[source].x, at[output].x)
        assert at[source].y < found[name].y < found[name].to_y < at[output].y
        assert found[name].about.endswith(f"{weight:.6f}")


def test_weights_below_a_tenth_of_the_largest_are_left_out_and_that_is_said() -> None:
    drawing = drawn([[0.9, 0.0899, 0.0901]], ["x"], ["a", "b", "c"])
    assert [one.about[:5] for one in ribbons(drawing)] == ["x ← c", "x ← a"]  # the thick one lies on top
    assert [one.text for one in drawing.shapes if isinstance(one, Words)][-1] == "lines: weights from 0.09 to 0.90"


def test_flat_attention_is_drawn_too() -> None:
    assert len(ribbons(drawn(np.full((2, 30), 1 / 30), ["x", "y"], list("a" * 30)))) == 60


def test_a_sentence_is_read_in_its_own_direction() -> None:
    at = labels(drawn(np.eye(3), ["یہ", "کتاب", "ہے"], ["this", "is", "it"]))
    assert at["this"].x < at["is"].x < at["it"].x
    assert at["ہے"].x < at["کتاب"].x < at["یہ"].x


def test_long_sentences_stand() -> None:
    rows, columns = [f"woord{i}" for i in range(40)], [f"word{i}" for i in range(60)]
    drawing = drawn(np.eye(40, 60), rows, columns)
    at = labels(drawing)
    assert len({at[name].x for name in rows}) == len({at[name].x for name in columns}) == 1
    assert at["woord0"].x - at["word0"].x > BETWEEN
    down = [at[name].y for name in columns]
    assert down == sorted(down)
    assert np.diff(down).min() > 15
    assert at["woord39"].y < drawing.height
    assert all(one.flat for one in ribbons(drawing))


def test_marked_links_are_drawn_beside_the_weights() -> None:
    drawing = drawn(np.eye(2), ["x", "y"], ["a", "b"], marked=frozenset({(0, 1)}))
    (mark,) = ribbons(drawing, "mark")
    at = labels(drawing)
    assert (mark.x, mark.to_x) == (at["b"].x, at["x"].x)


def test_nothing_lies_outside() -> None:
    for size, label in ((1, "a"), (7, "longer"), (100, "w")):
        drawing = drawn(np.eye(size), [label] * size, [label] * size, title="t" * 70)
        for shape in drawing.shapes:
            assert 0 <= shape.x <= drawing.width
            assert 0 <= shape.y <= drawing.height


def test_no_symbols_no_ribbons() -> None:
    root = ET.fromstring(draw_svg([Panel([], [], ["a"])], kind="lines"))
    assert not list(root.iter(f"{SVG}path"))
