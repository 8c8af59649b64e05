"""Whether to believe it: every threshold in one table, with its reason; the worst check decides."""

from collections.abc import Callable
from typing import NamedTuple

from regard.analysis.audit import sentences
from regard.analysis.audit.findings import Findings
from regard.analysis.audit.sentences import HEADLINES, Level, Sentence

FEW = 100  # output symbols; below that, chance still has a say


class Rule(NamedTuple):
    """A number, and how far the weights can be believed by it."""

    name: str
    value: Callable[[Findings], float | None]  # None: there is nothing to measure
    higher: bool  # is better
    can: float  # from here on the weights can be believed
    mostly: float  # from here on mostly
    worst: Level  # beyond that
    said: Sentence
    why: str  # these thresholds

    def level(self, value: float) -> Level:
        sign = 1 if self.higher else -1
        if sign * value >= sign * self.can:
            return Level.CAN
        return Level.MOSTLY if sign * value >= sign * self.mostly else self.worst


class Check(NamedTuple):
    rule: Rule
    value: float
    level: Level
    sentence: str


class Verdict(NamedTuple):
    level: Level
    headline: str
    reasons: list[str]
    checks: list[Check]


def judge(findings: Findings) -> Verdict:
    checks = [_check(rule, value, findings) for rule in RULES if (value := rule.value(findings)) is not None]
    level = min(check.level for check in checks)
    if level == Level.CAN:  # all agree; what readers want to know is that the places are right and matter
        reasons = [rule.said(findings, level) for rule in (SYMBOL, SHUFFLED)]
    else:
        reasons = [check.sentence for check in checks if check.level == level]
    if findings.symbols < FEW:
        reasons.append(f"Only {findings.symbols} output symbols were looked at: with more pairs this would be surer.")
    return Verdict(level, HEADLINES[level], reasons, checks)


def _check(rule: Rule, value: float, findings: Findings) -> Check:
    level = rule.level(value)
    return Check(rule, value, level, rule.said(findings, level))


def gain_of_shift(found: Findings) -> float:
    """What is won by moving the weights by one place, as erased source symbols see it"""
    now, moved = found.shifts[0], found.shifts[sentences.best_shift(found)]
    return moved.without_symbol.above_chance - now.without_symbol.above_chance


def apart(found: Findings) -> float | None:
    return sum(one.variation for one in found.others) / len(found.others) if found.others else None


FLAT = Rule(
    name="entropy, as a share of uniform weights'",
    value=lambda found: found.sharpness.relative_entropy,
    higher=False,
    can=0.75,
    mostly=0.95,
    worst=Level.CANNOT,
    said=sentences.spread,
    why="0.95 is a spread over S^0.95 places, for S = 10 over 9 of them; 0.75 over 6",
)
SHIFTED = Rule(
    name="gain if moved by one place (κ)",
    value=gain_of_shift,
    higher=False,
    can=0.1,
    mostly=0.3,
    worst=Level.CANNOT,
    said=sentences.shifted,
    why="below 0 where nothing is wrong; 0.1 is over twice the sampling error of 300 symbols",
)
SHUFFLED = Rule(
    name="p moves if weights are shuffled (TV)",
    value=lambda found: found.shuffled.variation,
    higher=True,
    can=0.3,
    mostly=0.1,
    worst=Level.CANNOT,
    said=sentences.shuffled,
    why="below 0.1, nine tenths of the probability stay where they are whatever the weights say",
)
UNIFORM = Rule(
    name="loss rises if weights are uniform (nats)",
    value=lambda found: found.uniform.rise,
    higher=True,
    can=0.5,
    mostly=0.1,
    worst=Level.CANNOT,
    said=sentences.ablated,
    why="0.5 nats take 40 % of each symbol's probability, 0.1 nats 10 %: it gets on without its weights",
)
SYMBOL = Rule(
    name="hits, source symbol erased (κ)",
    value=lambda found: found.without_symbol.agreement.above_chance,
    higher=True,
    can=0.6,
    mostly=0.3,
    worst=Level.CANNOT,
    said=sentences.hit("whose symbol matters most", lambda found: found.without_symbol.agreement.hits),
    why="for S = 8, who trusts the heaviest place is right in 2 of 3 cases at 0.6, and mostly wrong below 0.3",
)
WEIGHT = Rule(
    name="hits, weight erased (κ)",
    value=lambda found: found.without_weight.agreement.above_chance,
    higher=True,
    can=0.6,
    mostly=0.3,
    worst=Level.CANNOT,
    said=sentences.hit("whose weight matters most", lambda found: found.without_weight.agreement.hits),
    why="the same; easier to reach, since erasing a small weight cannot do much",
)
GRADIENT = Rule(
    name="hits, gradient × input (κ)",
    value=lambda found: found.gradient.above_chance,
    higher=True,
    can=0.5,
    mostly=0.0,
    worst=Level.MOSTLY,
    said=sentences.hit("with the largest gradient × input", lambda found: found.gradient.hits),
    why="never more than a doubt: of first order only, small and noisy where the model is sure of itself",
)
OTHERS = Rule(
    name="other runs look elsewhere (TV)",
    value=apart,
    higher=False,
    can=0.3,
    mostly=1.0,
    worst=Level.MOSTLY,
    said=sentences.others,
    why="never more than a doubt: that another run does it otherwise does not tell how this one does it",
)
RULES = (FLAT, SHIFTED, SHUFFLED, UNIFORM, SYMBOL, WEIGHT, GRADIENT, OTHERS)
