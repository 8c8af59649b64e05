"""The model card of a run: what hub pages and colleagues read first."""

import json
from typing import Any

from regard.recipe import Recipe
from regard.tasks import Writer, get_task


def model_card(recipe: Recipe, metrics: dict[str, float], facts: dict[str, Any]) -> str:
    """Markdown with the YAML head that the Hugging Face hub understands."""
    head = ["---", "library_name: regard", "tags:", "- regard", "- attention", f"- {recipe.task}", "---"]
    rows = [f"| {name} | {value:.2f} |" for name, value in metrics.items()]
    return "\n".join(
        [
            *head,
            "",
            f"# A model that does `{recipe.task}`",
            "",
            recipe.about or "An encoder–decoder with attention, trained with regard.",
            "",
            "## On the dev pairs (greedy)",
            "",
            "| metric | value |",
            "|---|---|",
            *rows,
            "",
            "These pairs chose the weights, so a test on other pairs will be a little worse.",
            "",
            "## How it was made",
            "",
            *(f"- {name}: {json.dumps(value)}" for name, value in facts.items()),
            "",
            "Every option is in `recipe.yaml`, every epoch in `log.jsonl`.",
            "",
            "## Use",
            "",
            "```python",
            "import regard",
            'run = regard.load("path/to/this/folder")',
            f"prediction = run.predict({_example(recipe)})",
            "print(prediction.output, prediction.attention)",
            "```",
            "",
        ]
    )


def _example(recipe: Recipe) -> str:
    """What a call of predict is given in this task."""
    task = get_task(recipe.task)
    beside = hasattr(task, "BESIDE") or recipe.data.features_column is not None
    return ('"…\\t…"' if beside else '"…"') + (", beam=5" if isinstance(task, Writer) else "")
