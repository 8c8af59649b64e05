"""The encoder's recurrent layers as ONNX nodes: RNN, GRU and LSTM, which stop at each sequence's own end.

A packed loop of torch cannot be traced, and an unrolled one has a fixed length.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.cells import CELLS, BaseCell
from regard.encoders.recurrent import FusedLayer, Layered, UnrolledLayer

VERSION = 14  # of the three operators; ONNX has not changed them since


class Node(NamedTuple):
    operator: str
    gates: tuple[int, ...]  # torch's gates in the order of ONNX
    activation: str | None = None  # where it is not the operator's own


NODES = {
    "tanh": Node("RNN", (0,)),
    "sigmoid": Node("RNN", (0,), "Sigmoid"),
    "gru": Node("GRU", (1, 0, 2)),  # r z n → z r h
    "lstm": Node("LSTM", (0, 3, 1, 2)),  # i f g o → i o f c
}
MODES = {"RNN_TANH": "tanh", "GRU": "gru", "LSTM": "lstm"}  # how torch's own loops call them


class NodeLayer(nn.Module):
    """One layer, to be traced and never run: values and last states as FusedLayer and UnrolledLayer give them."""

    W: Tensor  # (D, G, I)
    U: Tensor  # (D, G, H)
    b: Tensor  # (D, 2G)

    def __init__(self, kind: str, directions: Sequence[Sequence[Tensor]]):
        """Of each direction W (G, I), U (G, H) and their biases (G,), with torch's order of gates."""
        super().__init__()
        self.node = NODES[kind]
        self.directions = len(directions)
        W, U, b, b_U = (torch.stack([self._order(one) for one in each]) for each in zip(*directions, strict=True))
        self.register_buffer("W", W)
        self.register_buffer("U", U)
        self.register_buffer("b", torch.cat([b, b_U], -1))

    def _order(self, weight: Tensor) -> Tensor:
        gates = weight.detach().chunk(len(self.node.gates))
        return torch.cat([gates[number] for number in self.node.gates])

    def forward(self, vectors: Tensor, lengths: Tensor) -> Layered:
        B, S, D, H = vectors.size(0), vectors.size(1), self.directions, self.U.size(-1)
        states, last = torch.onnx.ops.symbolic_multi_out(
            f"::{self.node.operator}",
            (vectors.transpose(0, 1), self.W, self.U, self.b, lengths.to(torch.int32)),
            self._attributes(H),
            dtypes=(vectors.dtype, vectors.dtype),
            shapes=((S, D, B, H), (D, B, H)),
            version=VERSION,
        )
        return Layered(states.permute(2, 0, 1, 3).reshape(B, S, D * H), last.transpose(0, 1).reshape(B, D * H))

    def _attributes(self, size: int) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            "hidden_size": size,
            "direction": "bidirectional" if self.directions == 2 else "forward",
        }
        if self.node.operator == "GRU":
            attributes["linear_before_reset"] = 1  # the form that torch computes
        if self.node.activation is not None:
            attributes["activations"] = [self.node.activation] * self.directions
        return attributes


def with_nodes(module: nn.Module) -> None:
    """Put nodes where the module has recurrent layers."""
    for name, child in module.named_children():
        if isinstance(child, FusedLayer):
            setattr(module, name, NodeLayer(MODES[child.loop.mode], child.loop.all_weights))
        elif isinstance(child, UnrolledLayer):
            setattr(module, name, _unrolled(cast("list[BaseCell]", child.cells)))
        else:
            with_nodes(child)


def _unrolled(cells: Sequence[BaseCell]) -> NodeLayer:
    kind = next(name for name, made in CELLS.items() if isinstance(cells[0], made))
    return NodeLayer(kind, [(cell.W.weight, cell.U.weight, cell.W.bias, cell.U.bias) for cell in cells])
