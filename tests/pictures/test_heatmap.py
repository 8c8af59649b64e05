import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.pictures.heatmap import svg
from regard.pictures.labels import printable

SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture: str, tag: str, kind: str) -> list[ET.Element]:
    return [e for e in ET.fromstring(picture).iter(f"{SVG}{tag}") if kind in e.get("class", "").split()]


def number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "nan"))


def tooltip(cell: ET.Element) -> str:
    return cell.findtext(f"{SVG}title", "")


def test_one_cell_per_weight_with_the_weight_under_the_pointer() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(11), size=7)
    picture = svg(weights, [f"r{i}" for i in range(7)], [f"c{i}" for i in range(11)])
    cells = drawn(picture, "rect", "cell")
    assert len(cells) == 77
    for cell, (i, j) in zip(cells, np.ndindex(7, 11), strict=True):
        names, _, weight = tooltip(cell).rpartition(": ")
        assert names == f"r{i} ← c{j}"
        assert float(weight) == pytest.approx(weights[i, j], abs=1e-6)
        assert number(cell, "fill-opacity") == pytest.approx(weights[i, j] / weights.max(), abs=1e-3)


def test_cells_form_the_grid_their_labels_name() -> None:
    rows, columns = ["K", "AE", "T"], ["c", "a", "t", "s", "!"]
    picture = svg(np.full((3, 5), 0.2), rows, columns)
    cells, labels = drawn(picture, "rect", "cell"), drawn(picture, "text", "label")
    assert [label.text for label in labels] == columns + rows
    for k, cell in enumerate(cells):
        middle = number(cell, "x") + number(cell, "width") / 2, number(cell, "y") + number(cell, "height") / 2
        head, side = labels[k % 5], labels[5 + k // 5]
        assert number(head, "x") == pytest.approx(middle[0], abs=0.6)
        assert number(head, "y") < number(cells[0], "y")
        assert number(side, "y") == pytest.approx(middle[1], abs=6)
        assert number(side, "x") < number(cells[0], "x")


@settings(deadline=None)
@given(
    st.lists(st.text(max_size=60), min_size=1, max_size=4),
    st.lists(st.text(max_size=60), min_size=1, max_size=4),
    st.text(max_size=120),
)
def test_any_text_makes_a_sound_file(rows: list[str], columns: list[str], title: str) -> None:
    weights = [[1 / len(columns)] * len(columns)] * len(rows)
    picture = svg(weights, rows, columns, title=title)
    cells = drawn(picture, "rect", "cell")
    expected = [f"{printable(side)} ← {printable(head)}: " for side in rows for head in columns]
    assert [tooltip(cell).rpartition(": ")[0] + ": " for cell in cells] == expected
    picture.encode("utf-8")


def test_markup_in_labels_stays_text() -> None:
    hostile = '</title><script>alert("1")</script>&amp;'
    root = ET.fromstring(svg([[1.0]], [hostile], ["<b>"], title=f'"{hostile}"'))
    assert not list(root.iter(f"{SVG}script"))
    assert root.get("aria-label") == f'"{hostile}"'
    assert tooltip(drawn(svg([[1.0]], [hostile], ["<b>"]), "rect", "cell")[0]) == f"{hostile} ← <b>: 1.000000"


def test_everything_is_inside_the_picture() -> None:
    for size, label in ((1, "a"), (6, "word"), (40, "b"), (90, "longer")):
        root = ET.fromstring(svg(np.eye(size), [label] * size, [label] * size, title="t" * 70))
        width, height = number(root, "width"), number(root, "height")
        for element in [*root.iter(f"{SVG}rect"), *root.iter(f"{SVG}text")]:
            assert 0 <= float(element.get("x", "0")) <= width - float(element.get("width", "0"))
            assert 0 <= float(element.get("y", "0")) <= height - float(element.get("height", "0"))


def test_right_to_left_labels_have_their_direction_and_hang_on_the_same_side() -> None:
    labels = drawn(svg([[0.5, 0.5]], ["کتاب"], ["book", "میز"]), "text", "label")
    assert [(e.text, e.get("direction"), e.get("text-anchor")) for e in labels] == [
        ("book", None, "start"),
        ("میز", "rtl", "end"),
        ("کتاب", "rtl", "start"),
    ]


def test_long_labels_are_cut_but_whole_under_the_pointer() -> None:
    long = "Donaudampfschifffahrtsgesellschaft"
    picture = svg([[1.0]], [long], ["a"])
    assert drawn(picture, "text", "label")[1].text == f"{long[:27]}…"
    assert tooltip(drawn(picture, "rect", "cell")[0]).startswith(long)


def test_axes_title_and_scale_are_written() -> None:
    picture = svg([[0.25, 0.75]], ["x"], ["a", "b"], title="one  row")
    texts = [element.text for element in ET.fromstring(picture).iter(f"{SVG}text")]
    assert {"source", "output", "one row", "0", "0.75"} <= set(texts)
    assert "prefers-color-scheme: dark" in picture


def test_nothing_is_fetched_from_elsewhere() -> None:
    picture = svg([[1.0]], ["x"], ["a"]).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in picture
    assert "url(" not in picture


def test_nothing_to_draw() -> None:
    assert drawn(svg([], [], ["a"]), "rect", "cell") == []
    assert drawn(svg([[]], ["x"], []), "rect", "cell") == []


def test_marked_cells_have_an_outline_around_their_place() -> None:
    picture = svg(np.full((2, 3), 1 / 3), ["x", "y"], ["a", "b", "c"], marked={(1, 2), (0, 0)})
    cells, marks = drawn(picture, "rect", "cell"), drawn(picture, "rect", "mark")
    assert len(marks) == 2
    for mark, cell in zip(marks, (cells[0], cells[5]), strict=True):
        assert abs(number(mark, "x") - number(cell, "x")) < 1
        assert abs(number(mark, "y") - number(cell, "y")) < 1
    assert ".mark { fill: none" in picture


def test_many_pictures_share_a_page() -> None:
    """No ids that could be taken twice, and no rule of style that reaches beyond its own picture."""
    picture = svg([[1.0]], ["x"], ["a"], title="t", marked={(0, 0)})
    root = ET.fromstring(picture)
    assert not [element for element in root.iter() if "id" in element.attrib]
    rules = root.findtext(f"{SVG}style", "").replace("@media (prefers-color-scheme: dark) {", "")
    selectors = [rule.partition("{")[0].strip() for rule in rules.replace("}", "}\n").splitlines() if "{" in rule]
    assert len(selectors) > 10
    assert all(selector.startswith(".regard-map") for selector in selectors)
