"""Which options a task has a use for."""

from dataclasses import fields

from regard.cells import CELLS
from regard.recipe import Model, Recipe, option_names, section_names
from regard.tasks import Task
from regard.unused import Unused, refuse_unused, within

READER = ("cell", "embed", "freeze", "hidden", "encoder_layers", "bidirectional", "residual", "dropout", "variational")

LOOKING = within("model", "heads", "terms", "window", "normalise")  # what only soft attention can be told

BAGS = within(  # abs reads a bag of symbols, and its decoder sees the last few: nothing recurs
    "model",
    *("score", "terms", "heads", "jump", "query", "input_feeding", "output", "readout", "tie", "ctc"),
    *("cell", "encoder_layers", "decoder_layers", "bidirectional", "residual", "start", "variational", "gate"),
    *("reinforce", "entropy", "expected", "samples"),
)

DRAWING = within("model", "reinforce", "entropy", "expected", "samples")  # what only hard attention can be told
NOT_SOFT = (*LOOKING, *DRAWING, "model.gate")

WRITERS: Unused = {
    ("model.attention", "soft"): (*DRAWING, *within("model", "jump", "order")),
    ("model.attention", "hard"): within("model", "heads", "jump", "order"),
    ("model.attention", "none"): (*NOT_SOFT, *within("model", "jump", "order")),
    ("model.attention", "fixed"): (*NOT_SOFT, *within("model", "jump", "order")),
    ("model.attention", "monotonic"): (*NOT_SOFT, *within("model", "query", "input_feeding", "residual", "order")),
    ("model.attention", "abs"): BAGS,
    ("model.cell", "lstmn"): within("model", "input_feeding", "residual"),
    ("model.fusion", "deep"): (*LOOKING, *within("model", "query", "score", "gate")),
    ("model.query", "between"): within("model", "decoder_layers", "input_feeding", "residual"),
    ("model.localization", 0.0): ("model.localization_kind",),
    ("model.terms", ()): ("model.term_width",),
    ("model.terms", ("position",)): ("model.term_width",),
    ("model.supervision", 0.0): ("model.supervision_kind",),
    ("model.ctc", 0.0): ("search.ctc",),
    ("model.reverse", 0.0): ("search.reverse",),
}

ASKED = within("look", "hops", "layer", "words", "names", "sharpness")  # what only a question can be told
CLIPS = within("look", "every", "frames", "local", "motions", "pool", "parts", "moving", "shift", "states")
FITS: Unused = {("look.fit", fit): ("look.widest",) for fit in ("square", "within", "whole")}

UNREAD = (*within("model", "supervision", "supervision_kind"), *within("data", "features_column", "where_column"))

LOOKERS: Unused = {
    **WRITERS,
    **FITS,
    **{("task", task): (*ASKED, *CLIPS, *UNREAD) for task in ("caption", "transcribe")},
    ("task", "describe"): (*ASKED, *UNREAD),
    ("look.encoder", "dense"): within("look", "stages", "first"),
    ("look.local", False): ("look.motions",),
    ("look.states", "none"): within("model", "encoder_layers", "bidirectional"),
}  # of those who look and write: nothing is asked


def readers(task: str, *used: str, also: tuple[str, ...] = ()) -> Unused:
    """For a task that writes nothing: of the model's options it uses a reader's and `used`, and nothing of `also`."""
    others = [one.name for one in fields(Model) if one.name not in (*READER, "compare", *used)]
    return {
        ("task", task): (*within("model", *others), "training.own_words", *also),
        ("model.cell", "lstmn"): ("model.residual",),
        **{("model.cell", cell): ("model.compare",) for cell in CELLS},
    }


def check_options(task: Task, recipe: Recipe) -> None:
    """Refuse options of sections that the task has no use for, and those that it says do nothing."""
    foreign = set(section_names()) - set(task.SECTIONS)
    others = [name for name in option_names() if name.partition(".")[0] in foreign]
    refuse_unused(recipe, {("task", recipe.task): others})
    refuse_unused(recipe, task.UNUSED)
