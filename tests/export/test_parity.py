"""An exported run answers as the run does: outputs, scores and attention, in any batch, for every part there is."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from regard.attention import NORMALISERS, SCORES, TERMS
from regard.cells import CELLS
from regard.decoders.output import OUTPUTS
from regard.decoders.start import STARTS
from regard.errors import RegardError
from regard.export.graphs import Graphs, make_graphs, quantised
from regard.export.onnx_run import OnnxRun
from regard.export.package import Package
from regard.prediction import Prediction
from regard.recipe import Model, Recipe
from regard.run import Run
from tests.tiny import ATTENTIONS, CODEC, EXAMPLES, SIZES, model

HERE = Path(__file__).parent.parent.parent
LETTERS = "abcdef"
LAYERS = {"encoder_layers": 2, "decoder_layers": 2, "residual": True}
MODELS: dict[str, dict[str, Any]] = {  # every cell, score, normaliser, term, first state and output is in one of them
    "lstm, dot, CTC and from the end": dict(
        LAYERS, cell="lstm", score="dot", query="current", start="same", tie=True, readout=5, ctc=0.3, reverse=0.7
    ),
    "lstm, everything": dict(ATTENTIONS["everything"], cell="lstm", score="bilinear", output="maxout", start="zero"),
    "gru, mlp, sparsemax": {
        "cell": "gru",
        "score": "mlp",
        "normalise": "sparsemax",
        "terms": ("coverage",),
        "input_feeding": True,
        "start": "learned",
        "output": "deep",
    },
    "gru, biases": dict(ATTENTIONS["biases"], cell="gru", query="between"),
    "gru, monotonic": {"cell": "gru", "attention": "monotonic", "score": "projected"},
    "sigmoid, fixed": {
        "cell": "sigmoid",
        "attention": "fixed",
        "bidirectional": False,
        "encoder_layers": 2,
        "output": "plain",
        "start": "mean",
    },
    "tanh, none": {"cell": "tanh", "attention": "none", "output": "state"},
    "abs": {"attention": "abs", "window": 1, "order": 3},
    "lstm, hard": {"attention": "hard", "gate": True, "score": "scaled"},
}
SHORT = {"longest_ratio": 1.0, "longest_extra": 3}
SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1, "shortest": 2, **SHORT},
    "beam": {"beam": 4, "nbest": 4, "shortest": 2, **SHORT},
    "penalties": {"beam": 5, "nbest": 2, "shortest": 3, "length_penalty": 0.6, "coverage_penalty": 0.3, **SHORT},
    "limits": {"beam": 3, "shortest": 2, "no_repeat": 1, "longest_ratio": 0.5, "longest_extra": 1, "prefix": "wu"},
}
WORDS = ["f", "cab", "badefc", "fedcbafabcd", "abba"] + [LETTERS[n % 6] * (1 + n % 7) for n in range(13)]


def same(one: Prediction, other: Prediction) -> None:
    assert one.output_tokens == other.output_tokens
    assert (one.source, one.output, one.finished, one.unknown) == (
        other.source,
        other.output,
        other.finished,
        other.unknown,
    )
    assert one.score == pytest.approx(other.score, abs=1e-4)
    assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
    assert (one.attention is None) == (other.attention is None)
    if one.attention is not None and other.attention is not None:
        assert one.attention.dtype == np.float32
        assert one.attention.shape == (len(one.output_tokens), len(one.source_tokens))
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-4, rtol=0)
    assert len(one.nbest) == len(other.nbest)
    for mine, theirs in zip(one.nbest, other.nbest, strict=True):
        same(mine, theirs)


def a_run(name: str) -> Run:
    recipe = Recipe(model=Model(**{**SIZES, **MODELS[name]}))
    return Run(Path("run"), recipe, CODEC, [model(std=0.5, **MODELS[name]).float()])


@cache
def run_and_graphs(name: str) -> tuple[Run, Graphs]:
    """Exporting takes seconds: once for all tests of a model, which stay in one worker."""
    run = a_run(name)
    return run, make_graphs(run.models[0])


def named(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"parity of {name}"), id=name) for name in names]


def exported_run(run: Run, graphs: Graphs) -> OnnxRun:
    return OnnxRun(Path("x.onnx"), Package(run.recipe, CODEC, run.models[0].attends, *graphs))


@pytest.mark.parametrize("name", named(["gru, monotonic", "lstm, everything", "tanh, none"]))
def test_reads_given_answers_as_the_run_does(name: str) -> None:
    run, graphs = run_and_graphs(name)
    exported = exported_run(run, graphs)
    targets = ["uvw", "y", "xyzzy", "vuvuvu", "w"]
    for mine, theirs in zip(exported.force(WORDS[:5], targets), run.force(WORDS[:5], targets), strict=True):
        same(mine, theirs)
    pairs = zip(exported.choices("cab", "uv"), run.choices("cab", "uv"), strict=True)
    for (symbol, probability), (other, theirs_too) in pairs:
        assert (symbol, probability) == (other, pytest.approx(theirs_too, abs=1e-4))


@pytest.mark.parametrize("name", named(MODELS))
def test_answers_as_the_run_does(name: str) -> None:
    run, graphs = run_and_graphs(name)
    exported = exported_run(run, graphs)
    for call in SEARCHES.values():
        expected = run.predict(WORDS, **call)
        assert sum(len(one.output_tokens) > 1 for one in expected) > len(WORDS) / 2
        for size in (1, 5, 64):
            for one, other in zip(exported.predict(WORDS, batch_size=size, **call), expected, strict=True):
                same(one, other)
    long = "abcdef" * 60  # far from the lengths it was traced with
    same(
        exported.predict(long, beam=2, longest_ratio=0.0, longest_extra=3),
        run.predict(long, beam=2, longest_ratio=0.0, longest_extra=3),
    )
    assert exported.perplexity(EXAMPLES) == pytest.approx(run.perplexity(EXAMPLES), rel=1e-4)
    small = exported_run(run, quantised(graphs))
    assert small.perplexity(EXAMPLES) == pytest.approx(run.perplexity(EXAMPLES), rel=0.2)
    assert all(len(one.nbest) == 2 for one in small.predict(WORDS, beam=2, nbest=2))
    for graph in filter(None, graphs):  # it tells nothing of the machine
        assert b"site-packages" not in graph
        assert str(HERE).encode() not in graph


def test_every_part_is_exported_somewhere() -> None:
    """But for what differs in numbers only."""
    parts = {"cell": CELLS, "score": SCORES, "normalise": NORMALISERS, "start": STARTS, "output": OUTPUTS}
    chosen = [Model(**{**SIZES, **options}) for options in MODELS.values()]
    for part, names in parts.items():
        assert {getattr(one, part) for one in chosen} == set(names)
    assert {term for one in chosen for term in one.terms} == set(TERMS) - {"plane"}  # a text has no plane
    assert {one.attention for one in chosen} == {"soft", "hard", "monotonic", "fixed", "none", "abs"}
    assert {one.query for one in chosen if one.attention == "soft"} == {"previous", "current", "between"}


def test_a_model_that_cannot_be_traced_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model().float()
    step = made.decoder.step

    def branching(tokens: Tensor, *rest: Any) -> Any:
        return step(tokens if tokens.sum() > 5 else tokens + 1, *rest)

    monkeypatch.setattr(made.decoder, "step", branching)
    with pytest.raises(RegardError, match="this model cannot be exported: ") as told:
        make_graphs(made)
    assert len(str(told.value).splitlines()) == 1
