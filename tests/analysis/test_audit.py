"""`regard audit` says of sound runs that they can be believed, and names what is wrong with broken ones."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import regard
from regard.analysis.audit import audit
from regard.analysis.audit.altered import altered, uniform
from regard.attention.hard import HardAttention
from regard.attention.memory import Attended
from regard.attention.soft import Attention
from regard.data.text import SEGMENTERS
from regard.errors import DataError, UsageError
from regard.export.onnx_run import OnnxRun
from regard.recipe import Model, Recipe
from regard.run import Run
from regard.tasks.codec import Half
from regard.tasks.sequence import build
from tests.analysis.broken import Copying, flattened, late, raised_flat
from tests.command import done, refused, train, write
from tests.command import regard as call
from tests.conftest import Reverse
from tests.tiny import ATTENTIONS, CODEC, EXAMPLES, SIZES, model, padded


@pytest.fixture(scope="module")
def copying(tmp_path_factory: pytest.TempPathFactory) -> Copying:
    return Copying(tmp_path_factory.mktemp("copying"))


def told(*arguments: object) -> Any:
    return json.loads(done("audit", *arguments, "--json", "--quiet").out)


def level(content: Any, check: str) -> str:
    return next(str(one["verdict"]) for one in content["checks"] if check in one["name"])


def test_a_run_that_copies_can_be_believed(copying: Copying) -> None:
    content = told(copying.run, copying.test)
    assert content["headline"] == "The weights can be believed."
    assert {one["verdict"] for one in content["checks"]} == {"can"}
    assert content["findings"]["without_symbol"]["agreement"]["hits"] > 0.9
    assert content["findings"]["examples"] == 60


def test_a_run_that_reverses_can_be_believed(reverse: Reverse) -> None:
    content = told(reverse.run, reverse.test)
    assert content["verdict"] == "can"
    given = told(reverse.run, reverse.test, "--targets", "given")
    assert given["targets"] == "given"
    assert given["findings"] == content["findings"]  # it makes no errors: its own answers are the given ones


def test_uniform_weights_are_named(copying: Copying, tmp_path: Path) -> None:
    content = told(flattened(copying.run, tmp_path / "flat"), copying.test)
    assert content["headline"] == "The weights cannot be believed."
    assert content["reasons"][0].startswith("The weights are uniform")
    assert "nearly the same answer (total variation 0.00, 0 %" in content["reasons"][1]
    assert "hardly needs its weights" in content["reasons"][2]


def test_a_run_trained_with_uniform_weights_is_named(copying: Copying, tmp_path: Path) -> None:
    content = told(raised_flat(copying.pairs, tmp_path / "raised", pytest.MonkeyPatch), copying.test)
    assert content["verdict"] == "cannot"
    assert content["reasons"][0].startswith("The weights are uniform")
    assert content["findings"]["uniform"]["as_it_is"] == content["findings"]["uniform"]["uniform"]


def test_a_run_that_looks_one_place_beside_is_named(copying: Copying, tmp_path: Path) -> None:
    """It was taught to: it still copies, but from the encoder's state one place before."""
    content = told(late(copying.run, tmp_path / "late", places=-1, steps=200), copying.test)
    assert content["headline"] == "The weights cannot be believed."
    assert content["reasons"][0].startswith("The weights are off by one: they point one place to the left")
    assert level(content, "entropy") == "can"
    assert level(content, "shuffled") == "can"


@pytest.mark.parametrize(("places", "side"), [(1, "right"), (-1, "left")])
def test_weights_reported_one_place_beside_are_named(
    copying: Copying, monkeypatch: pytest.MonkeyPatch, places: int, side: str
) -> None:
    """The context is the right one, only what is shown is not."""
    forward = Attention.forward

    def shifted(self: Attention, *given: Any) -> Attended:
        attended = forward(self, *given)
        return attended._replace(weights=attended.weights.roll(places, -1))

    monkeypatch.setattr(Attention, "forward", shifted)
    content = told(copying.run, copying.test, "--examples", 30, "--targets", "given")
    assert content["verdict"] == "cannot"
    assert any(f"are off by one: they point one place to the {side}" in one for one in content["reasons"])


def test_a_model_that_ignores_its_context_shows_no_movement() -> None:
    made = model(std=0.5, start="zero", output="state")
    made.decoder.context_drive.weight.data.zero_()  # type: ignore[attr-defined]
    found = audit(run_of(made, start="zero", output="state"), EXAMPLES, given=True)
    assert found.findings.shuffled == (0, 0, 0)
    assert found.findings.without_weight.agreement.kendall == 0
    assert found.findings.without_symbol.heaviest == 0
    assert found.findings.gradient.hits == 0
    assert found.verdict.headline == "The weights cannot be believed."
    assert any("nearly the same answer" in reason for reason in found.verdict.reasons)


def run_of(made: torch.nn.Module, **options: Any) -> Run:
    recipe = Recipe(task="transliterate", model=Model(**{**SIZES, **options}))
    return Run(Path("tiny"), recipe, CODEC, [made.float()])


@pytest.mark.parametrize("kind", [name for name in ATTENTIONS if name not in ("fixed", "none")])
def test_every_attention_gives_numbers(kind: str) -> None:
    found = audit(run_of(model(std=0.7, **ATTENTIONS[kind]), **ATTENTIONS[kind]), EXAMPLES, given=True)
    numbers = [check.value for check in found.verdict.checks]
    assert np.isfinite(numbers).all()
    assert found.findings.examples == 6  # of seven sources one has a single place
    assert found.findings.symbols == sum(len(one.target) for one in EXAMPLES if len(one.source) > 1)
    assert any("Only 23 output symbols" in reason for reason in found.verdict.reasons)


@pytest.mark.parametrize("kind", ["fixed", "none"])
def test_without_attention_there_is_nothing_to_believe(kind: str) -> None:
    with pytest.raises(UsageError, match=f"no attention .model.attention={kind}.: there are no weights to believe"):
        audit(run_of(model(attention=kind), attention=kind), EXAMPLES)


def test_weights_are_those_that_predict_shows_and_the_run_is_left_alone(reverse: Reverse) -> None:
    run = regard.load(reverse.run, device="cpu")
    examples = run.task.read(str(reverse.test), run.recipe).examples
    before = run.predict(reverse.unseen[:20])
    found = audit(run, examples[:20])
    after = run.predict(reverse.unseen[:20])
    for one, first, second in zip(found.evidence, before, after, strict=True):
        assert first.attention is not None
        assert second.attention is not None
        np.testing.assert_allclose(one.weights, first.attention, atol=1e-5)
        assert (first.attention == second.attention).all()


def test_nothing_depends_on_the_other_sources(reverse: Reverse) -> None:
    run = regard.load(reverse.run, device="cpu")
    examples = run.task.read(str(reverse.test), run.recipe).examples
    alone = audit(run, examples[:1]).evidence[0]
    together = audit(run, examples[:9]).evidence[0]
    np.testing.assert_allclose(alone.shuffled.variation, together.shuffled.variation, atol=1e-10)
    np.testing.assert_allclose(alone.without_symbol.drop, together.without_symbol.drop, atol=1e-10)
    np.testing.assert_allclose(alone.gradient, together.gradient, atol=1e-10)


def test_the_same_run_with_itself_is_stable_and_a_flat_one_is_not(reverse: Reverse, tmp_path: Path) -> None:
    flat = flattened(reverse.run, tmp_path / "flat")
    content = told(reverse.run, reverse.test, "--with", reverse.run, "--with", flat, "--examples", 20)
    same, other = content["findings"]["others"]
    assert same["variation"] < 1e-5
    assert same["spearman"] == pytest.approx(1)
    assert same["same_heaviest"] == 1
    assert other["run"] == str(flat)
    assert other["variation"] > 0.4
    assert other["spearman"] == 0
    assert level(content, "other runs") == "mostly"
    assert content["verdict"] == "mostly"


def test_runs_that_read_other_symbols_or_look_nowhere_are_not_compared(reverse: Reverse) -> None:
    run = regard.load(reverse.run, device="cpu")
    examples = run.task.read(str(reverse.test), run.recipe).examples[:3]
    cut = Half("tokens", SEGMENTERS["tokens"](b""), run.codec.source.vocabulary)
    words = Run(Path("words"), run.recipe, replace(run.codec, source=cut), run.models)
    with pytest.raises(UsageError, match=r"words cuts '.*' into other symbols"):
        audit(run, examples, others=[words])
    recipe = replace(run.recipe, model=replace(run.recipe.model, attention="fixed"))
    blind = Run(Path("blind"), recipe, run.codec, [build(run.codec, recipe).eval()])
    with pytest.raises(UsageError, match="blind has no attention to compare with"):
        audit(run, examples, others=[blind])


def test_several_runs_together_and_exported_ones_are_refused(reverse: Reverse) -> None:
    run = regard.load(reverse.run, device="cpu")
    with pytest.raises(UsageError, match="audit each by itself"):
        audit(run.join(run), [])
    exported = OnnxRun.__new__(OnnxRun)
    exported.path = Path("run.onnx")
    with pytest.raises(UsageError, match=r"run\.onnx is an exported run, .* audit the run it was made from"):
        audit(exported, [])


def test_hard_attention_reads_the_mean_where_all_places_are_alike() -> None:
    """And no longer the likeliest place, of which there is none."""
    made = model(attention="hard").double()
    tokens, encoded = torch.tensor([[1, 5, 6]]), made.encode(padded([4, 5, 6, 7]))
    seen: list[Tensor] = []
    (hard,) = (part for part in made.modules() if isinstance(part, HardAttention))
    with altered(made, uniform):
        hard.register_forward_hook(lambda part, given, attended: seen.append(attended.context))
        made.decoder(tokens, encoded)
    assert seen
    for context in seen:
        torch.testing.assert_close(context, encoded.values.mean(1, keepdim=True).expand_as(context))


def test_two_levels_are_refused(tmp_path: Path) -> None:
    pairs = write(tmp_path / "talks.tsv", [("hi ||| ho", "a"), ("so ||| la", "b"), ("na", "a")] * 4)
    assert train(pairs, tmp_path / "run", "--set", "dialog.hierarchical=true", task="respond").code == 0
    with pytest.raises(UsageError, match=r"reads turns on two levels.*dialog\.hierarchical=false"):
        audit(regard.load(tmp_path / "run"), [])


@pytest.mark.parametrize("options", [{"copy": "gate"}, {"attention": "abs"}])
def test_what_copies_or_has_no_recurrence_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="knows only weights that a context is read with"):
        audit(run_of(model(**options), **options), EXAMPLES)


def test_pairs_with_nothing_to_look_at_are_refused(reverse: Reverse, tmp_path: Path) -> None:
    single = write(tmp_path / "single.tsv", [("a", "A"), ("b", "B")])
    refused(call("audit", reverse.run, single), 1, "no pair has two source symbols")
    run = regard.load(reverse.run, device="cpu")
    with pytest.raises(DataError, match="nothing to audit"):
        audit(run, run.task.read(str(write(tmp_path / "x.tsv", [("ab", "Q")])), run.recipe).examples, given=True)


def test_the_report_is_refused_before_the_work(reverse: Reverse, tmp_path: Path) -> None:
    result = call("audit", reverse.run, reverse.test, "-o", tmp_path / "no" / "report.html")
    refused(result, 2, "there is no folder")
    refused(call("audit", reverse.run, reverse.test, "-o", tmp_path / "report.svg"), 2, "ends in .html")


def test_the_choice_of_sources_follows_from_the_seed(reverse: Reverse) -> None:
    run = regard.load(reverse.run, device="cpu")
    examples = run.task.read(str(reverse.test), run.recipe).examples

    def chosen(seed: int) -> list[int]:
        return [one.subject.number for one in audit(run, examples, most=5, draws=1, seed=seed).evidence]

    assert chosen(1) == chosen(1) == sorted(chosen(1))
    assert len(set(chosen(1))) == 5
    assert chosen(1) != chosen(2)


def test_the_summary_fits_a_terminal(reverse: Reverse, tmp_path: Path) -> None:
    flat = flattened(reverse.run, tmp_path / "flat")
    for run in (reverse.run, flat):
        result = done("audit", run, reverse.test, "--with", flat, "--examples", 5, "-o", tmp_path / "report.html")
        lines = result.out.splitlines()
        assert len(lines) <= 25
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith("The weights c")
        assert "5 sources" in result.err
