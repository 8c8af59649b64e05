"""An audit in the terminal: at most 80 columns and 25 lines."""

import textwrap
from collections.abc import Iterator

from regard.analysis.audit.auditing import Audit
from regard.analysis.audit.findings import Agreement, Findings
from regard.analysis.audit.sentences import percent
from regard.analysis.audit.verdict import Check

WIDTH = 79


def summary(found: Audit) -> str:
    lines = [
        found.verdict.headline,
        *textwrap.wrap(" ".join(found.verdict.reasons), WIDTH, initial_indent="  ", subsequent_indent="  "),
        "",
        f"{'check':<43}{'value':>7}{'can':>9}{'mostly':>9}  verdict",
        *(_line(check) for check in found.verdict.checks),
        "",
        *_agreements(found.findings),
        _ablation(found.findings),
    ]
    return "\n".join(lines)


def threshold(check: Check, level: float) -> str:
    return f"{'≥' if check.rule.higher else '≤'} {level:.2f}"


def _line(check: Check) -> str:
    rule = check.rule
    asked = f"{threshold(check, rule.can):>9}{threshold(check, rule.mostly):>9}"
    return f"{rule.name:<43}{check.value:7.2f}{asked}  {check.level.name.lower()}"


def _agreements(found: Findings) -> Iterator[str]:
    yield f"{'the weights agree with':<43}{'τ':>7}{'ρ':>9}{'hits':>9}  chance"
    kinds: dict[str, Agreement] = {
        "erasing the weight": found.without_weight.agreement,
        "erasing the symbol": found.without_symbol.agreement,
        "gradient × input": found.gradient,
    }
    for name, one in kinds.items():
        numbers = f"{one.kendall:7.2f}{one.spearman:9.2f}{percent(one.hits):>9}"
        yield f"  {name:<41}{numbers}  {percent(found.chance)}"


def _ablation(found: Findings) -> str:
    before, after = found.uniform.as_it_is.metrics, found.uniform.uniform.metrics
    return "with uniform weights: " + ", ".join(f"{name} {before[name]:.1f} → {after[name]:.1f}" for name in before)
