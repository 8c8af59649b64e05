"""States and memories of any shape (see search/tree.py) as inputs and outputs with names."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor


def name_tree(tree: Any, name: str, seen: dict[int, str] | None = None) -> Any:
    """The same tree with a name, its place, for each tensor: `state.layers.0.1`.

    With `seen`, a tensor that stands at several places has the name of the first.
    """
    if tree is None:
        return None
    if isinstance(tree, Tensor):
        return name if seen is None else seen.setdefault(id(tree), name)
    keys = getattr(tree, "_fields", range(len(tree)))
    return _like(tree, [name_tree(one, f"{name}.{key}", seen) for key, one in zip(keys, tree, strict=True)])


def collect(names: Any, tree: Any) -> dict[str, Tensor]:
    """The tensors of a tree by their names, each once, in the order they stand there."""
    if names is None:
        return {}
    if isinstance(names, str):
        return {names: tree}
    found: dict[str, Tensor] = {}
    for name, one in zip(names, tree, strict=True):
        found |= collect(name, one)
    return found


def fill(names: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The tree with these names, made of these tensors."""
    if names is None:
        return None
    if isinstance(names, str):
        return tensors[names]
    return _like(names, [fill(name, tensors) for name in names])


def _like(tree: Any, branches: list[Any]) -> Any:
    return type(tree)(*branches) if hasattr(tree, "_fields") else tuple(branches)
