"""Labels of formulas in one form: what is the same ink is the same label, and only that."""

import pytest

from benchmarks.systems.crohme import normal


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("x _ k x", "x _ { k } x"),
        ("{ \\mbox { C } } _ { \\mbox { j } }", "C _ { j }"),
        ("\\left ( { x ^ { 2 } } \\right )", "( x ^ { 2 } )"),
        ("\\sum \\limits ^ n _ { i = 1 } i", "\\sum _ { i = 1 } ^ { n } i"),
        ("a ^ { b ^ 2 } _ c", "a _ { c } ^ { b ^ { 2 } }"),
        ("\\frac 1 { x + 1 } \\!", "\\frac { 1 } { x + 1 }"),
        ("\\frac { p e ^ t } { 1 - e ^ t }", "\\frac { p e ^ { t } } { 1 - e ^ { t } }"),
        ("\\sqrt [ 3 ] { x } y", "\\sqrt [ 3 ] { x } y"),
        ("2 ^ \\frac 1 2", "2 ^ { \\frac { 1 } { 2 } }"),
        ("f ' ( x )", "f ^ { \\prime } ( x )"),
        ("{ x } } + 1", "x + 1"),
        ("{ x + 1", "x + 1"),
        ("a < b \\to c", "a \\lt b \\rightarrow c"),
    ],
)
def test_one_form(label: str, expected: str) -> None:
    assert normal(label) == expected.split()
    assert normal(expected) == expected.split()


def test_other_ink_is_another_label() -> None:
    labels = ["x ^ { 2 }", "x _ { 2 }", "x 2", "x ^ { 2 + y }", "x ^ { 2 } + y", "\\frac { x } { 2 }"]
    assert len({tuple(normal(label)) for label in labels}) == len(labels)
