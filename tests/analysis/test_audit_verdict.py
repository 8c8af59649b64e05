"""The table of thresholds: what each check says on either side, and that the worst decides."""

from pathlib import Path

import pytest

from regard.analysis.audit.ablation import Ablation, Quality
from regard.analysis.audit.findings import Agreement, Erased, Findings, Movement, Sharpness, Shift, to_plain
from regard.analysis.audit.sentences import Level
from regard.analysis.audit.stability import Stability
from regard.analysis.audit.verdict import GRADIENT, OTHERS, RULES, Rule, judge


def agreed(kappa: float, chance: float = 0.2) -> Agreement:
    return Agreement(0.5, 0.6, chance + kappa * (1 - chance), kappa)


def findings(
    entropy: float = 0.3,
    moved: float = 0.6,
    rise: float = 1.0,
    symbol: float = 0.9,
    weight: float = 0.9,
    gradient: float = 0.9,
    left: float = 0.0,
    right: float = 0.0,
    apart: float | None = None,
    symbols: int = 500,
) -> Findings:
    others = [] if apart is None else [Stability("other", apart, 0.1, 0.8, 0.7)]
    shifts = {places: Shift(agreed(kappa), agreed(0.0)) for places, kappa in ((-1, left), (0, symbol), (1, right))}
    quality = Quality(0.5, {"wer": 10.0}), Quality(0.5 + rise, {"wer": 90.0})
    return Findings(
        *(50, symbols, 5.0, 0.2, Sharpness(0.5, entropy, 0.8, 1.5)),
        *(Erased(agreed(weight), 0.6, 0.1), Erased(agreed(symbol), 0.6, 0.1), agreed(gradient)),
        *(Movement(moved, 0.5, 0.5), Ablation(*quality), shifts, others),
    )


@pytest.mark.parametrize(
    ("worse", "level", "said"),
    [
        ({}, Level.CAN, "whose symbol matters most in 92 % of cases (guessing: 20 %)"),
        ({"entropy": 0.8}, Level.MOSTLY, "point only vaguely"),
        ({"entropy": 0.99}, Level.CANNOT, "uniform, or nearly so"),
        ({"moved": 0.2}, Level.MOSTLY, "a somewhat other answer (total variation 0.20"),
        ({"moved": 0.05}, Level.CANNOT, "nearly the same answer (total variation 0.05"),
        ({"rise": 0.3}, Level.MOSTLY, "needs, but not much, its weights"),
        ({"rise": 0.05}, Level.CANNOT, "hardly needs its weights: with uniform ones the loss goes from 0.50 to 0.55"),
        ({"symbol": 0.4}, Level.MOSTLY, "whose symbol matters most in only 52 %"),
        ({"symbol": 0.2}, Level.CANNOT, "whose symbol matters most in only 36 %"),
        ({"weight": 0.2}, Level.CANNOT, "whose weight matters most in only 36 %"),
        ({"gradient": 0.2}, Level.MOSTLY, "with the largest gradient × input in only 36 %"),
        ({"gradient": -0.1}, Level.MOSTLY, "with the largest gradient × input in only 12 %"),
        ({"symbol": 0.1, "right": 0.8}, Level.CANNOT, "are off by one: they point one place to the left"),
        ({"symbol": 0.1, "left": 0.8}, Level.CANNOT, "are off by one: they point one place to the right"),
        ({"symbol": 0.4, "left": 0.6}, Level.MOSTLY, "may be off by one"),
        ({"apart": 0.1}, Level.CAN, "With shuffled weights the model gives another answer"),
        ({"apart": 0.9}, Level.MOSTLY, "Other runs look partly elsewhere"),
        ({"symbols": 40}, Level.CAN, "Only 40 output symbols"),
    ],
)
def test_one_bad_number_decides(worse: dict[str, float], level: Level, said: str) -> None:
    verdict = judge(findings(**worse))  # type: ignore[arg-type]
    assert verdict.level == level
    assert said in " ".join(verdict.reasons)


def test_the_moved_sentence_has_its_numbers() -> None:
    reasons = judge(findings(symbol=0.1, right=0.8)).reasons
    assert "(28 % hits as they are, 84 % moved by +1)" in reasons[0]


@pytest.mark.parametrize("rule", RULES)
def test_thresholds_belong_to_the_better_side_and_have_reasons(rule: Rule) -> None:
    worse = -1e-6 if rule.higher else 1e-6
    assert rule.level(rule.can) == Level.CAN
    assert rule.level(rule.can + worse) == Level.MOSTLY
    assert rule.level(rule.mostly) == Level.MOSTLY
    assert rule.level(rule.mostly + worse) == rule.worst
    assert rule.why
    assert (rule.worst == Level.MOSTLY) == (rule in (GRADIENT, OTHERS))


def test_the_page_has_the_same_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text("utf-8")
    for rule in RULES:
        sign = "≥" if rule.higher else "≤"
        mostly = "–" if rule.worst == Level.MOSTLY else f"{sign} {rule.mostly:.2f}"
        assert f"| {rule.name} | {sign} {rule.can:.2f} | {mostly} | {rule.worst.name.lower()} | {rule.why} |" in page


def test_named_tuples_become_dictionaries() -> None:
    content = to_plain(findings(apart=0.2))
    assert content["uniform"]["as_it_is"]["metrics"] == {"wer": 10.0}
    assert content["others"][0]["variation"] == 0.2
    assert set(content["shifts"]) == {"-1", "0", "1"}
