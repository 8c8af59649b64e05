"""An audit as one HTML file that needs nothing else: no network, no script; light or dark as the reader likes."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np

from regard import __version__
from regard.analysis.audit.auditing import Audit
from regard.analysis.audit.evidence import Evidence
from regard.analysis.audit.findings import Agreement, Findings, by_gradient, by_symbol, by_symbols, by_weight
from regard.analysis.audit.histogram import histogram
from regard.analysis.audit.measures import kendall
from regard.analysis.audit.sentences import percent
from regard.analysis.audit.stability import Stability
from regard.analysis.audit.style import STYLE
from regard.analysis.audit.summary import threshold
from regard.analysis.audit.walking import Array
from regard.pictures import heatmap

DRAWN = 3  # examples at either end
LARGEST = 40  # symbols on either side of a picture in the report
RANKED = (
    "Ranked by the mean Kendall τ of the weights with erased source symbols. Left the weights; right how much each "
    "output symbol loses when a source symbol is erased, as a share of all its losses."
)


def report(found: Audit) -> str:
    name = escape(Path(found.run).name)
    answers = "the targets of the pairs" if found.given else "the run's own answers"
    counts = f"{found.findings.examples:,} sources, {found.findings.symbols:,} output symbols, {answers}"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Audit of {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        f'<p class="faint">regard {__version__} · audit of {name} · {counts}</p>',
        f'<h1 class="{found.verdict.level.name.lower()}">{escape(found.verdict.headline)}</h1>',
        *(f"<p>{escape(reason)}</p>" for reason in found.verdict.reasons),
        *_checks(found),
        *_agreements(found.findings),
        *_numbers(found.findings),
        *_histograms(found.evidence),
        *_examples(found.evidence),
        "</main>\n</body>\n</html>",
    ]
    return "\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are text, not HTML; all but the first column are numbers."""
    titles = "".join(f"<th>{escape(one)}</th>" for one in head)
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table>\n<tr>{titles}</tr>\n{body}\n</table></div>'


def _checks(found: Audit) -> Iterator[str]:
    yield "<h2>The checks</h2>\n<p>The worst of them decides.</p>"
    head = "".join(f"<th>{one}</th>" for one in ("check", "value", "can", "mostly", "verdict", "why these thresholds"))
    yield f'<div class="wide"><table class="checks">\n<tr>{head}</tr>'
    for check in found.verdict.checks:
        rule, level = check.rule, check.level.name.lower()
        cells = [rule.name, f"{check.value:.3f}", threshold(check, rule.can), threshold(check, rule.mostly)]
        line = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f'<tr>{line}<td class="{level}">{level}</td><td class="text">{escape(rule.why)}</td></tr>'
    yield "</table></div>"
    yield from (f"<p>{escape(check.sentence)}</p>" for check in found.verdict.checks)


def _agreements(found: Findings) -> Iterator[str]:
    yield "<h2>Do the weights point to what matters?</h2>"
    yield "<p>Means over output symbols. Moved: every weight stands so many places further right.</p>"
    rows: dict[str, Agreement] = {
        "the weight is erased": found.without_weight.agreement,
        "the source symbol is erased": found.without_symbol.agreement,
        "gradient × input": found.gradient,
    }
    for places, shift in found.shifts.items():
        if places:
            rows[f"the symbol is erased, weights moved by {places:+d}"] = shift.without_symbol
            rows[f"gradient × input, weights moved by {places:+d}"] = shift.gradient
    yield table(
        ("importance of a place", "Kendall τ", "Spearman ρ", "hits", "guessing", "κ"),
        ([name, *_cells(one, found.chance)] for name, one in rows.items()),
    )


def _cells(one: Agreement, chance: float) -> list[str]:
    ranks = [f"{one.kendall:.3f}", f"{one.spearman:.3f}"]
    return [*ranks, percent(one.hits), percent(chance), f"{one.above_chance:.3f}"]


def _compared(one: Stability) -> list[str]:
    numbers = [f"{number:.3f}" for number in (one.variation, one.divergence, one.spearman)]
    return [*numbers, percent(one.same_heaviest)]


def _numbers(found: Findings) -> Iterator[str]:
    sharp, moved, before, after = found.sharpness, found.shuffled, found.uniform.as_it_is, found.uniform.uniform
    rows = [
        ("largest weight", f"{sharp.largest:.3f}"),
        ("entropy H", f"{sharp.entropy:.3f} nats"),
        ("H / ln S", f"{sharp.relative_entropy:.3f}"),
        ("places read, exp H", f"{sharp.effective_places:.2f} of {found.places:.2f}"),
        ("shuffled: total variation", f"{moved.variation:.3f}"),
        ("shuffled: Jensen–Shannon", f"{moved.divergence:.3f} bits"),
        ("shuffled: likeliest symbol changes", percent(moved.flipped)),
    ]
    for name, erased in (("weight", found.without_weight), ("symbol", found.without_symbol)):
        rows.append((f"heaviest {name} erased: total variation", f"{erased.heaviest:.3f}"))
        rows.append((f"another {name} erased: total variation", f"{erased.others:.3f}"))
    rows.append(("uniform weights: loss", f"{before.loss:.3f} → {after.loss:.3f} nats"))
    for name, value in before.metrics.items():
        rows.append((f"uniform weights: {name}", f"{value:.2f} → {after.metrics[name]:.2f}"))
    yield "<h2>More numbers</h2>"
    yield table(("measure", "value"), rows)
    if found.others:
        yield "<h2>Other runs, made to write the same answers</h2>"
        yield table(
            ("run", "total variation", "Jensen–Shannon", "Spearman ρ", "same heaviest place"),
            ([Path(one.run).name, *_compared(one)] for one in found.others),
        )


def _histograms(evidence: Sequence[Evidence]) -> Iterator[str]:
    yield "<h2>Output symbol by output symbol</h2>"
    yield '<p>How many symbols have which value; the dashed line is the mean.</p>\n<div class="row">'
    drawn: list[tuple[str, Array, float]] = [
        ("largest weight", by_symbols(evidence, lambda one: one.weights.max(-1)), 0),
        ("shuffled: total variation", by_symbols(evidence, lambda one: one.shuffled.variation.mean(-1)), 0),
    ]
    for name, importance in (("weight erased", by_weight), ("symbol erased", by_symbol), ("gradient", by_gradient)):
        taus = [kendall(one.weights, importance(one)) for one in evidence]
        drawn.append((f"Kendall τ, {name}", np.concatenate(taus), -1))
    for title, numbers, lowest in drawn:
        yield f"<figure><figcaption>{escape(title)}</figcaption>\n{histogram(numbers, lowest, 1, title)}</figure>"
    yield "</div>"


def _examples(evidence: Sequence[Evidence]) -> Iterator[str]:
    ranked = choose(evidence)
    best, worst = ranked[:DRAWN], ranked[DRAWN:][-DRAWN:][::-1]
    for title, several in (("Best examples", best), ("Worst examples", worst)):
        if several:
            yield f"<h2>{title}</h2>\n<p>{RANKED}</p>"
        for one in several:
            pair = escape(f"{' '.join(one.subject.source)} → {' '.join(one.subject.output)}")
            yield f'<h3>τ = {agreement_of(one):.2f}: {pair}</h3>\n<div class="row">'
            yield from (_map(one, numbers, name) for name, numbers in _pair(one))
            yield "</div>"


def choose(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Those small enough to draw, best first; equals in the order of the file."""
    small = [one for one in evidence if max(one.weights.shape) <= LARGEST]
    return sorted(small, key=lambda one: -agreement_of(one))


def agreement_of(one: Evidence) -> float:
    return float(kendall(one.weights, by_symbol(one)).mean())


def _pair(one: Evidence) -> list[tuple[str, Array]]:
    """The weights, and importance with rows that sum to 1 as theirs do"""
    importance = by_symbol(one)  # (T, S)
    whole = importance.sum(-1, keepdims=True)
    return [("weights", one.weights), ("importance", importance / np.where(whole > 0, whole, 1))]


def _map(one: Evidence, numbers: Array, name: str) -> str:
    return f"<figure>{heatmap.svg(numbers, one.subject.output, one.subject.source, title=name)}</figure>"
