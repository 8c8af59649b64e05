"""Every option on one page, each with its type, its range and its meaning."""

import dataclasses
import typing

from regard.recipe import Recipe, describe, to_dict
from regard.settings import flatten


def test_every_option_has_a_place_a_type_a_default_and_a_meaning() -> None:
    lines = describe(Recipe())
    assert len({line.name for line in lines}) == len(lines)
    assert {line.name for line in lines} == set(dict(flatten(to_dict(Recipe()))))
    for line in lines:
        assert line.meaning, line.name
        assert line.kind, line.name
        assert "Annotated" not in line.kind
        assert "typing" not in line.kind
    assert {line.name: line.kind for line in lines}["model.cell"] == "one of [tanh, sigmoid, gru, lstm, lstmn]"


def test_every_number_has_a_range() -> None:
    """Without one, a typo such as 0 or -1 would fail deep inside, or train nonsense."""
    free = {"training.seed", "data.dev_share"}  # any seed is a seed; the split checks its share
    hints = {"": typing.get_type_hints(Recipe, include_extras=True)}
    for one in dataclasses.fields(Recipe):
        if dataclasses.is_dataclass(hints[""][one.name]):
            hints[one.name] = typing.get_type_hints(hints[""][one.name], include_extras=True)
    for section, fields in hints.items():
        for name, hint in fields.items():
            if hint in (int, float):
                assert f"{section}.{name}" in free
