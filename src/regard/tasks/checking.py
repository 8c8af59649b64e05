"""Which options a task has a use for."""

from dataclasses import fields

from regard.cells import CELLS
from regard.recipe import Model, Recipe, option_names, section_names
from regard.tasks import Task
from regard.unused import Unused, refuse_unused, within

READER = ("cell", "embed", "freeze", "hidden", "encoder_layers", "bidirectional", "residual", "dropout", "variational")

WRITERS: Unused = {
    ("model.attention", "monotonic"): within(
        "model", "heads", "terms", "window", "normalise", "query", "input_feeding", "residual"
    ),
    ("model.attention", "abs"): within(
        "model", "heads", "terms", "query", "input_feeding", "residual", "tie", "variational", "ctc"
    ),
    ("model.cell", "lstmn"): within("model", "input_feeding", "residual"),
}


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
