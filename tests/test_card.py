import pytest
import yaml

from regard.card import model_card
from regard.settings import build

RECIPE = build({"task": "inflect", "about": "Made of straw: quickly."}, "x")
CARD = model_card(RECIPE, {"accuracy": 91.234, "cer": 1.5}, {"training pairs": 10, "seed": 1})


def test_the_head_is_what_the_hub_reads() -> None:
    _, head, _ = CARD.split("---\n", 2)
    assert yaml.safe_load(head) == {"library_name": "regard", "tags": ["regard", "attention", "inflect"]}


def test_the_card_says_how_good_and_how_made() -> None:
    lines = CARD.splitlines()
    assert "| accuracy | 91.23 |" in lines
    assert "| cer | 1.50 |" in lines
    assert "- training pairs: 10" in lines
    assert "- seed: 1" in lines
    assert "Made of straw: quickly." in lines
    assert CARD.endswith("```\n")


def test_the_example_on_the_card_is_python() -> None:
    code = CARD.partition("```python\n")[2].partition("```")[0]
    compile(code, "card", "exec")
    assert "regard.load" in code


@pytest.mark.parametrize(
    ("task", "call"),
    [("translate", '"…", beam=5'), ("classify", '"…"'), ("read", r'"…\t…"'), ("entail", r'"…\t…"')],
)
def test_the_example_is_one_that_the_task_takes(task: str, call: str) -> None:
    assert f"run.predict({call})\n" in model_card(build({"task": task}, "x"), {}, {})
