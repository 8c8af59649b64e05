from pathlib import Path

from regard.analysis.compare.bootstrap import Versus
from regard.analysis.compare.cost import Cost
from regard.analysis.compare.curves import Curve
from regard.analysis.compare.report import markdown, notes, terminal
from regard.analysis.compare.result import Compared, Comparison, Spread
from regard.analysis.compare.trial import Failure
from regard.pictures.labels import cells


def system(name: str, versus: Versus | None = None, failures: list[Failure] | None = None) -> Compared:
    spread = Spread(12.345, 1.5, {1: 11.0, 2: 13.69})
    cost = Cost(1_234_567, 3601.25, 123_456_789, 0, 99.6)
    return Compared(name, Path(name), {"wer": spread}, cost, versus, Curve("wer", []), failures or [])


def comparison(*systems: Compared, sentence: str = "", held_out: bool = True) -> Comparison:
    return Comparison("pronounce", "wer", "t.tsv", held_out, 1000, [1, 2], 500, list(systems), {}, sentence, Path())


def test_only_what_survives_the_correction_has_a_star() -> None:
    found = comparison(
        system("a"),
        system("b", Versus(-2, -3, -1, 0.01, 0.02, 2)),
        system("c", Versus(1, -0.5, 3, 0.03, 0.06, 2)),
    )
    significance = terminal(found).split("\n\n")[1].splitlines()
    assert significance[1].split() == ["b", "-2.00", "-3.00", "…", "-1.00", "0.010", "0.020", "*"]
    assert significance[2].split() == ["c", "+1.00", "-0.50", "…", "+3.00", "0.030", "0.060"]


def test_numbers_stand_below_their_headings_whatever_the_names() -> None:
    """Names too long for 80 columns, or twice as wide as they are long, stand whole on a line of their own."""
    names = ["short", "pronounce+model.attention=monotonic+model.score=scaled+training.epochs=100", "長い名前" * 9]
    table = terminal(comparison(*map(system, names)))
    lines = table.splitlines()
    assert max(map(cells, lines)) <= 80
    assert all(name in table for name in names)
    numbers = [line for line in lines if "3,601.2" in line]
    assert len(numbers) == 3
    assert len({cells(line[: line.index("3,601.2")]) for line in numbers}) == 1


def test_markdown_holds_no_markup_from_names_or_data() -> None:
    found = comparison(system("a|b<script>*"), system("b"), sentence="<img src=x> → A & B")
    text = markdown(found, ["curves.svg"])
    assert "<script>" not in text
    assert "<img" not in text
    assert "| a\\|b&lt;script>\\* | 12.35 ± 1.50 |" in text or "| a\\|b&lt;script>\\* | 12.34 ± 1.50 |" in text
    assert "![curves](curves.svg)" in text
    assert "| cost | parameters | training seconds |" in text


def test_failures_and_the_lack_of_test_pairs_are_said() -> None:
    found = comparison(system("a", failures=[Failure(2, "the loss is not a number")]), held_out=False)
    said = notes(found)
    assert "a, seed 2, failed: the loss is not a number" in said
    assert "give --test" in said[0]
    assert not any("bootstrap" in one for one in said)  # nothing was compared
