"""Options that would do nothing in a task are refused, and every other may be set."""

from typing import Any

import pytest

from regard.draft import load_draft, recipe_names
from regard.errors import UsageError
from regard.recipe import option_names
from regard.tasks import TASKS, get_task
from regard.tasks.checking import check_options


def check(task: str, options: dict[str, Any]) -> None:
    check_options(get_task(task), load_draft(task).unscaled(options))


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_a_use_for_its_own_recipe(task: str) -> None:
    check(task, {})
    for several in get_task(task).UNUSED.values():
        assert set(several) <= set(option_names())


def test_who_is_not_to_be_asked_need_not_be_there() -> None:
    check("pronounce", {"model.ctc": 0.0, "search.ctc": 0.0, "model.reverse": 0.0, "search.reverse": 0.0})


@pytest.mark.parametrize("name", ["bahdanau", "luong", "no-attention", "fixed-context", "monotonic"])
def test_variants_after_papers_have_no_second_opinion(name: str) -> None:
    for pairs in (1, 15_000, 50_000):
        model = load_draft(name, "pronounce").resolve(pairs, {}).model
        assert (model.ctc, model.reverse) == (0, 0)


LOOKS: dict[str, Any] = {"heads": 2, "terms": ["coverage"], "window": 2, "normalise": "sparsemax"}
FEEDS: dict[str, Any] = {"query": "current", "input_feeding": True, "residual": True}
RECURS: dict[str, Any] = {
    "cell": "gru",
    "score": "dot",
    "output": "plain",
    "start": "mean",
    "tie": True,
    "variational": True,
    "ctc": 0.3,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "bidirectional": False,
    "readout": 8,
}
DEEP = {"model.cell": "lstmn", "model.fusion": "deep"}
ABS = {name: value for name, value in {**LOOKS, **FEEDS, **RECURS}.items() if name not in ("window", "normalise")}


@pytest.mark.parametrize(
    ("beside", "options"),
    [
        ({"model.attention": "none"}, LOOKS),
        ({"model.attention": "fixed"}, LOOKS),
        ({"model.attention": "monotonic"}, LOOKS | FEEDS),
        ({"model.attention": "abs"}, ABS),
        (DEEP, {**LOOKS, "query": "current", "score": "dot"}),
    ],
)
def test_parts_refuse_what_they_would_ignore(beside: dict[str, Any], options: dict[str, Any]) -> None:
    option, value = list(beside.items())[-1]
    for name, came in options.items():
        check("pronounce", {f"model.{name}": came})  # soft attention and recurrent cells have a use for it
        with pytest.raises(
            UsageError, match=rf"^model.{name}=.+ does nothing with {option}={value}: set model.{name}="
        ):
            check("pronounce", {**beside, f"model.{name}": came})


WRITE = ("pronounce", "transliterate", "inflect", "translate", "summarize", "imply")
ANY = (*WRITE, "respond")
SEE = ("caption", "describe", "transcribe")
PLAIN = ("pronounce", "transliterate", "translate", "imply")  # neither features nor copied symbols
MEANT = {
    **dict.fromkeys(("bahdanau", "luong", "monotonic", "lstmn-shallow"), ANY),
    **dict.fromkeys(("no-attention", "fixed-context"), (*ANY, *SEE)),
    **dict.fromkeys(("abs", "copy", "sentinel", "supervised", "lstmn-deep"), WRITE),
    **dict.fromkeys(("position", "markov", "fertility-local", "fertility-global", "biases"), WRITE),
    **dict.fromkeys(("agreement", "agreement-biases"), PLAIN),
    **dict.fromkeys(("hierarchy-last", "last-state", "structured"), ("classify",)),
    **dict.fromkeys(("respond-flat", "respond-single"), ("respond",)),
    "lstmn": ("model", "classify", "entail", "read", "fill"),
    "pointer-sentinel": ("model",),
    "read-plain": ("read",),
    "tiny": (*ANY, "model"),
    "tiny-choice": ("classify", "entail"),
    "tiny-point": ("read", "fill"),
    "tiny-look": SEE,
}


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_of_the_package_sets_only_what_its_tasks_use(name: str) -> None:
    own = load_draft(name).layers[-1].options.get("task")
    for task in MEANT[name] if own is None else (own,):
        for pairs in (1, 15_000, 50_000, 10_000_000):
            check_options(get_task(task), load_draft(name, task).resolve(pairs, {}))
            if name in MEANT and task == "respond":
                flat = load_draft(name, task).resolve(pairs, {"dialog.hierarchical": False})
                check_options(get_task(task), flat)


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("pronounce", {"model.attention": "abs", "model.tie": True}, "model.tie=true does nothing"),
        ("pronounce", {"model.attention": "abs", "model.input_feeding": True}, "model.input_feeding=true does nothing"),
        ("pronounce", {"model.cell": "lstmn", "model.input_feeding": True}, "does nothing with model.cell=lstmn"),
        ("pronounce", {"model.cell": "lstmn", "model.residual": True}, "does nothing with model.cell=lstmn"),
        ("pronounce", {"model.order": 3}, "model.order=3 does nothing with model.attention=soft"),
        ("pronounce", {"model.jump": 3}, "model.jump=3 does nothing with model.attention=soft"),
        ("pronounce", {"model.attention": "monotonic", "model.order": 3}, "model.order=3 does nothing"),
        ("pronounce", {"model.supervision_kind": "squared"}, "does nothing with model.supervision=0.0"),
        ("pronounce", {"model.term_width": 3}, r"model.term_width=3 does nothing with model.terms=\[\]"),
        ("pronounce", {"model.terms": ["position"], "model.term_width": 3}, r"with model.terms=\[position\]"),
        ("pronounce", {"search.ctc": 0.3}, "search.ctc=0.3 does nothing with model.ctc=0.0"),
        ("pronounce", {"search.reverse": 0.3}, "search.reverse=0.3 does nothing with model.reverse=0.0"),
        ("pronounce", {"dialog.turns": 1}, "dialog.turns=1 does nothing in the task pronounce"),
        ("classify", {"model.cell": "lstmn", "model.residual": True}, "does nothing with model.cell=lstmn"),
        ("classify", {"model.compare": 7}, "model.compare=7 does nothing with model.cell=lstm:"),
        ("read", {"model.heads": 2}, "model.heads=2 does nothing in the task read"),
        ("fill", {"model.readout": 3}, "model.readout=3 does nothing in the task fill"),
        ("fill", {"training.smoothing": 0.1}, "training.smoothing=0.1 does nothing in the task fill"),
        ("read", {"point.blank": "?"}, "point.blank=. does nothing in the task read"),
        (
            "read",
            {"model.attention": "none", "point.rounds": 2},
            "point.rounds=2 does nothing with model.attention=none",
        ),
        (
            "read",
            {"model.attention": "none", "point.pieces": 2},
            "point.pieces=2 does nothing with model.attention=none",
        ),
        ("fill", {"point.rounds": 2}, "point.rounds=2 does nothing in the task fill"),
        ("fill", {"point.pieces": 2}, "point.pieces=2 does nothing in the task fill"),
        ("fill", {"point.longest_span": 2}, "point.longest_span=2 does nothing in the task fill"),
        ("fill", {"data.where_column": 4}, "data.where_column=4 does nothing in the task fill"),
        (
            "imply",
            {"imply.label_column": None, "imply.label": "no"},
            "imply.label=no does nothing with imply.label_col",
        ),
        ("classify", {"choose.pool": "last", "choose.size": 64}, "choose.size=64 does nothing with choose.pool=last"),
        ("classify", {"choose.pool": "mean", "choose.size": 64}, "choose.size=64 does nothing with choose.pool=mean"),
        ("classify", {"choose.pool": "max", "choose.size": 64}, "choose.size=64 does nothing with choose.pool=max"),
        ("classify", {"data.where_column": 3}, "data.where_column=3 does nothing in the task classify"),
        ("caption", {"look.frames": 8}, "look.frames=8 does nothing in the task caption"),
        ("transcribe", {"look.pool": "max"}, "look.pool=max does nothing in the task transcribe"),
        ("answer", {"look.local": True}, "look.local=true does nothing in the task answer"),
        ("caption", {"model.supervision": 1.0}, "model.supervision=1.0 does nothing in the task caption"),
        ("describe", {"data.where_column": 3}, "data.where_column=3 does nothing in the task describe"),
        ("transcribe", {"data.features_column": 3}, "data.features_column=3 does nothing in the task transcribe"),
        ("transcribe", {"look.stages": [8, 16]}, r"look.stages=\[8, 16\] does nothing with look.encoder=dense"),
        ("caption", {"look.names": 0.1}, "look.names=0.1 does nothing in the task caption"),
        ("caption", {"look.sharpness": 2.0}, "look.sharpness=2.0 does nothing in the task caption"),
        ("describe", {"look.names": 0.1}, "look.names=0.1 does nothing in the task describe"),
        ("classify", {"look.names": 0.1}, "look.names=0.1 does nothing in the task classify"),
        ("caption", {"look.widest": 99}, "look.widest=99 does nothing with look.fit=square"),
        ("transcribe", {"look.fit": "within", "look.widest": 99}, "look.widest=99 does nothing with look.fit=within"),
        ("answer", {"look.fit": "whole", "look.widest": 99}, "look.widest=99 does nothing with look.fit=whole"),
    ],
)
def test_what_does_nothing_is_refused(task: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check(task, options)


def test_side_by_side_is_a_number_of_looks() -> None:
    check("answer", {"look.hops": 0})
    check("answer", {"look.hops": 0, "look.words": True})


def test_an_lstmn_that_reads_is_told_its_size() -> None:
    check("classify", {"model.cell": "lstmn", "model.compare": 7})
