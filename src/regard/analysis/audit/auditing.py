"""A run and pairs in, a verdict with the numbers behind it out."""

import dataclasses
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from regard.analysis.audit.ablation import ablate
from regard.analysis.audit.evidence import Evidence, Subject, gather, twin
from regard.analysis.audit.findings import Findings, find, to_plain
from regard.analysis.audit.stability import compare
from regard.analysis.audit.verdict import Verdict, judge
from regard.answering import Answerer
from regard.data.readers import Example
from regard.data.splitting import Grouped, group_references
from regard.encoders.hierarchy import HierarchicalEncoder
from regard.errors import DataError, UsageError
from regard.run import Run

Follow = Callable[[Iterable[Evidence], int], Iterable[Evidence]]  # shows progress over so many subjects


class Audit(NamedTuple):
    run: str
    given: bool  # the answers were those of the pairs, not the run's own
    findings: Findings
    verdict: Verdict
    evidence: list[Evidence]  # in the order of the file

    def to_dict(self) -> dict[str, Any]:
        """As `regard audit --json` prints it."""
        checks = [
            {
                "name": check.rule.name,
                "value": check.value,
                "can": check.rule.can,
                "mostly": check.rule.mostly,
                "verdict": check.level.name.lower(),
                "sentence": check.sentence,
            }
            for check in self.verdict.checks
        ]
        return {
            "run": self.run,
            "targets": "given" if self.given else "own",
            "verdict": self.verdict.level.name.lower(),
            "headline": self.verdict.headline,
            "reasons": self.verdict.reasons,
            "checks": checks,
            "findings": to_plain(self.findings),
        }


def audit(
    run: Answerer,
    examples: Sequence[Example],
    *,
    others: Sequence[Answerer] = (),
    given: bool = False,
    most: int = 200,
    draws: int = 5,
    seed: int = 1,
    follow: Follow = lambda evidence, count: evidence,
) -> Audit:
    """Whether the weights of a run can be believed on these pairs.

    At most `most` sources are looked at, chosen by the seed; `draws` shuffles are tried at each step. The answers are
    the run's own, or with `given` the targets of the pairs. `others` are runs that should look at the same places.
    """
    checked = check_run(run)
    chosen = _choose(group_references(examples), most, seed)
    subjects = list(_subjects(checked, chosen, given))
    if not subjects:
        raise DataError("nothing to audit: no pair has two source symbols and an answer that the run can write")
    seen = sorted(follow(gather(checked, subjects, draws=draws, seed=seed), len(subjects)), key=_number)
    sources = [chosen[one.subject.number].example for one in seen]
    pairs = [dataclasses.replace(one.example, target=target) for one in chosen.values() for target in one.references]
    uniform = ablate(checked, twin(checked), pairs)
    findings = find(seen, uniform, [compare(seen, sources, other) for other in others])
    return Audit(str(run.path), given, findings, judge(findings), seen)


def check_run(run: Answerer) -> Run:
    """A run whose weights can be changed and whose gradients can be had."""
    if not isinstance(run, Run):
        raise UsageError(f"{run.path} is an exported run, which has no gradients: audit the run it was made from")
    run.check_writes()
    if len(run.models) > 1:
        raise UsageError("several runs that answer together show a mean of weights: audit each by itself")
    if not run.models[0].attends:
        kind = run.recipe.model.attention
        raise UsageError(f"{run.path} has no attention (model.attention={kind}): there are no weights to believe")
    if isinstance(run.models[0].encoder, HierarchicalEncoder):
        raise UsageError(
            f"{run.path} reads turns on two levels, and the audit knows gradients of one sequence only: "
            "train with dialog.hierarchical=false to audit it"
        )
    if run.recipe.model.copy != "none" or run.recipe.model.attention == "abs":
        raise UsageError(
            f"{run.path} copies what it looks at or reads without recurrence (model.copy={run.recipe.model.copy}, "
            f"model.attention={run.recipe.model.attention}): the audit knows only weights that a context is read with"
        )
    return run


def _choose(groups: Sequence[Grouped], most: int, seed: int) -> dict[int, Grouped]:
    """At most so many, by their number in the file."""
    numbers = sorted(random.Random(seed).sample(range(len(groups)), min(most, len(groups))))
    return {number: groups[number] for number in numbers}


def _subjects(run: Run, chosen: dict[int, Grouped], given: bool) -> Iterator[Subject]:
    """Those with something to choose among, two places, and something to explain, an answer of known symbols."""
    examples = [one.example for one in chosen.values()]
    outputs = (
        [run.codec.target_symbols(example.target) for example in examples]
        if given
        else [answer.output_tokens for answer in run.answer(examples)]
    )
    for number, example, output in zip(chosen, examples, outputs, strict=True):
        source = run.codec.source_symbols(example)
        if len(source) > 1 and output and not run.codec.target.vocabulary.unknown(output):
            yield Subject(number, source, output)


def _number(one: Evidence) -> int:
    return one.subject.number
