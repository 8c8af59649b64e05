"""The report: one file, everything escaped, the best and the worst by a fixed rule."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.analysis.audit import Audit, audit
from regard.analysis.audit.evidence import Evidence, Subject
from regard.analysis.audit.histogram import histogram
from regard.analysis.audit.report import agreement_of, choose, report
from tests.conftest import Reverse

VOID = {"meta"}
NASTY = '<script>alert("1")</script>&'


class Tags(HTMLParser):
    """Every tag is closed by its own end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def found(reverse: Reverse) -> Audit:
    run = regard.load(reverse.run, device="cpu")
    return audit(run, run.task.read(str(reverse.test), run.recipe).examples[:12], others=[run])


def test_it_is_whole_and_asks_for_nothing(found: Audit) -> None:
    page = report(found)
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.seen)
    assert not re.findall(r"(?:src|href)=|url\(|@import", page)
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert page.count('class="regard-map"') == 12  # weights and importance of three best and three worst
    assert page.count('class="histogram"') == 5
    for check in found.verdict.checks:
        assert f"{check.value:.3f}" in page


def test_everything_is_escaped(found: Audit) -> None:
    def nasty(one: Evidence) -> Evidence:
        subject = Subject(one.subject.number, [NASTY] * len(one.subject.source), [NASTY] * len(one.subject.output))
        return one._replace(subject=subject)

    other = found.findings.others[0]._replace(run=f"folder/{NASTY.replace('/', '')}")
    page = report(
        found._replace(
            run=str(Path("folder") / NASTY.replace("/", "")),
            evidence=[nasty(one) for one in found.evidence],
            findings=found.findings._replace(others=[other]),
        )
    )
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert "script" not in tags.seen
    assert "&lt;script&gt;" in page


def test_examples_are_ranked_and_large_ones_are_not_drawn(found: Audit) -> None:
    ranked = choose(found.evidence)
    values = [agreement_of(one) for one in ranked]
    assert values == sorted(values, reverse=True)
    wide = found.evidence[0]._replace(weights=np.full((2, 41), 1 / 41))
    assert choose([wide, *found.evidence[1:]]) == choose(found.evidence[1:])
    equal = [found.evidence[1]._replace(subject=Subject(number, [], [])) for number in (4, 2)]
    assert [one.subject.number for one in choose(equal)] == [4, 2]  # as they came


def test_bars_of_a_histogram_are_as_tall_as_their_counts() -> None:
    drawn = histogram(np.array([0.0, 0.01, 0.02, 1.0, 0.52]), 0, 1, "numbers")
    heights = [float(one) for one in re.findall(r'class="bar"[^>]* height="([\d.]+)"', drawn)]
    assert len(heights) == 20
    assert heights[0] == 68.0
    assert heights[10] == heights[19] == pytest.approx(68 / 3, abs=0.05)
    assert sum(heights) == pytest.approx(68 * 5 / 3, abs=0.2)
    assert "mean 0.310" in drawn
