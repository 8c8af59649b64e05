"""What a check says in words, with its numbers."""

from collections.abc import Callable
from enum import IntEnum

from regard.analysis.audit.findings import Findings


class Level(IntEnum):
    """How far the weights can be believed."""

    CANNOT = 0
    MOSTLY = 1
    CAN = 2


Sentence = Callable[[Findings, Level], str]

HEADLINES = {
    Level.CAN: "The weights can be believed.",
    Level.MOSTLY: "The weights can mostly be believed.",
    Level.CANNOT: "The weights cannot be believed.",
}


def spread(found: Findings, level: Level) -> str:
    sharp = found.sharpness
    numbers = f"over {sharp.effective_places:.1f} of {found.places:.1f} places, largest {sharp.largest:.2f}"
    if level == Level.CANNOT:
        return f"The weights are uniform, or nearly so (spread {numbers}): they point nowhere."
    return f"The weights {'point' if level == Level.CAN else 'point only vaguely'} (spread {numbers})."


def best_shift(found: Findings) -> int:
    """+1: the weights should stand one place further right"""
    return max((-1, 1), key=lambda places: found.shifts[places].without_symbol.above_chance)


def shifted(found: Findings, level: Level) -> str:
    places = best_shift(found)
    now, moved = (found.shifts[one].without_symbol.hits for one in (0, places))
    if level == Level.CAN and moved < now:
        return "The weights fit better as they are than moved by one place."
    if level == Level.CAN:
        hits = f"{percent(now)} hits as they are, {percent(moved)} moved"
        return f"The weights fit hardly better moved by one place ({hits})."
    side, sure = "left" if places > 0 else "right", "are" if level == Level.CANNOT else "may be"
    return (
        f"The weights {sure} off by one: they point one place to the {side} of the symbol that matters "
        f"({percent(now)} hits as they are, {percent(moved)} moved by {places:+d})."
    )


def shuffled(found: Findings, level: Level) -> str:
    moved = found.shuffled
    how = {Level.CAN: "another answer", Level.MOSTLY: "a somewhat other answer", Level.CANNOT: "nearly the same answer"}
    return (
        f"With shuffled weights the model gives {how[level]} (total variation {moved.variation:.2f}, "
        f"{percent(moved.flipped)} of the likeliest symbols change)."
    )


def ablated(found: Findings, level: Level) -> str:
    need = {Level.CAN: "needs", Level.MOSTLY: "needs, but not much,", Level.CANNOT: "hardly needs"}
    before, after = found.uniform.as_it_is.loss, found.uniform.uniform.loss
    return (
        f"The model {need[level]} its weights: with uniform ones the loss goes from {before:.2f} to {after:.2f} "
        "nats per symbol."
    )


def hit(what: str, share: Callable[[Findings], float]) -> Sentence:
    """The sentence about one kind of importance."""

    def said(found: Findings, level: Level) -> str:
        only = "" if level == Level.CAN else "only "
        return (
            f"The heaviest place is the one {what} in {only}{percent(share(found))} of cases "
            f"(guessing: {percent(found.chance)})."
        )

    return said


def others(found: Findings, level: Level) -> str:
    where = "at the same places" if level == Level.CAN else "partly elsewhere"
    same = sum(one.same_heaviest for one in found.others) / len(found.others)
    return f"Other runs look {where}: they have the same heaviest place in {percent(same)} of cases."


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
