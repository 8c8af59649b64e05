from typing import NamedTuple

import torch
from torch import Tensor

from regard.search import pick
from regard.search.tree import device_of


class Pair(NamedTuple):
    left: Tensor
    right: tuple[Tensor, None]


def test_rows_are_picked_everywhere_and_shapes_of_the_tree_kept():
    left, right = torch.arange(15).view(5, 3), torch.arange(35).view(5, 7)
    picked = pick(Pair(left, (right, None)), torch.tensor([4, 0, 0]))
    assert isinstance(picked, Pair)
    assert picked.left.tolist() == [left[4].tolist(), left[0].tolist(), left[0].tolist()]
    assert type(picked.right) is tuple
    assert torch.equal(picked.right[0], right[[4, 0, 0]])
    assert picked.right[1] is None


def test_none_is_a_tree_of_its_own():
    assert pick(None, torch.tensor([0])) is None


def test_device_is_that_of_the_first_tensor():
    nowhere = torch.empty(2, device="meta")
    assert device_of((None, (nowhere, torch.zeros(2)))).type == "meta"
    assert device_of((None, ())).type == "cpu"
