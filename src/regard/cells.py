"""Recurrent cells: one step of a simple RNN, a GRU or an LSTM.

A cell is split where the time loop would be slow: `drive` is the part that does not depend on the state, so it can be
computed for all steps in one product; `forward` adds the state's part and applies the non-linearities.
"""

from collections.abc import Sequence
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from regard.fast import gates
from regard.fast.gathering import Repeated
from regard.fast.switch import wanted

CellState = tuple[Tensor, ...]  # each (B, H); the first is s_t, what the rest of the network sees


class Cell(Protocol):
    """Every cell is built as Name(input_size, size)."""

    size: int
    gates: int  # G / H, how many vectors of its size a cell computes per step
    parts: int  # how many tensors its state has: 1, or 2 for the LSTM

    def drive(self, inputs: Tensor) -> Tensor: ...  # (…, I) -> (…, G)

    def __call__(self, drive: Tensor, state: CellState, noise: Tensor | None = None) -> CellState: ...  # (B, G), …


class BaseCell(nn.Module):
    """The two products every cell has: W x_t + b and U s_{t-1} + b'."""

    gates: int
    parts: int = 1

    def __init__(self, input_size: int, size: int):
        super().__init__()
        self.size = size
        self.W = nn.Linear(input_size, self.gates * size)
        self.U = Repeated(size, self.gates * size)

    def drive(self, inputs: Tensor) -> Tensor:
        driven: Tensor = self.W(inputs)  # (…, G)
        return driven

    def recur(self, before: Tensor, noise: Tensor | None, onto: Tensor | None = None) -> Tensor:
        """U (s_{t-1} ⊙ noise) + b' (+ onto). A dropout mask is on what the gates read, not on what they carry along:
        there it would act again at every step, and a GRU's state would grow by 1 / (1 − share) each time."""
        recurred: Tensor = self.U(before if noise is None else before * noise, onto)  # (B, G)
        return recurred


class TanhCell(BaseCell):
    """s_t = tanh(W x_t + U s_{t-1} + b)            Elman 1990"""

    gates = 1

    def forward(self, drive: Tensor, state: CellState, noise: Tensor | None = None) -> CellState:
        return (torch.tanh(self.recur(state[0], noise, drive)),)  # (B, H)


class SigmoidCell(BaseCell):
    """s_t = σ(W x_t + U s_{t-1} + b)"""

    gates = 1

    def forward(self, drive: Tensor, state: CellState, noise: Tensor | None = None) -> CellState:
        return (torch.sigmoid(self.recur(state[0], noise, drive)),)  # (B, H)


class GRUCell(BaseCell):
    """r = σ(W_r x + U_r s + b_r),  z = σ(W_z x + U_z s + b_z),  n = tanh(W_n x + b_n + r ⊙ (U_n s + b'_n)),
    s_t = (1 − z) ⊙ n + z ⊙ s_{t-1}            Cho et al. 2014, in the form torch computes"""

    gates = 3

    def forward(self, drive: Tensor, state: CellState, noise: Tensor | None = None) -> CellState:
        before = state[0]  # (B, H)
        recurred = self.recur(before, noise)  # (B, G)
        if wanted(drive):
            return (gates.gru(drive, recurred, before),)
        reset_x, update_x, new_x = drive.chunk(3, -1)
        reset_s, update_s, new_s = recurred.chunk(3, -1)
        reset = torch.sigmoid(reset_x + reset_s)  # (B, H)
        update = torch.sigmoid(update_x + update_s)  # (B, H)
        new = torch.tanh(new_x + reset * new_s)  # (B, H)
        return (new + update * (before - new),)


class LSTMCell(BaseCell):
    """(i, f, g, o) = (σ, σ, tanh, σ)(W x_t + U s_{t-1} + b),  c_t = f ⊙ c_{t-1} + i ⊙ g,  s_t = o ⊙ tanh(c_t)
    Hochreiter & Schmidhuber 1997, with forget gates"""

    gates = 4
    parts = 2

    def forward(self, drive: Tensor, state: CellState, noise: Tensor | None = None) -> CellState:
        before, carry = state  # (B, H), (B, H)
        driven = self.recur(before, noise, drive)  # (B, G)
        if wanted(driven):
            return gates.lstm(driven, carry)
        admit, forget, new, emit = driven.chunk(4, -1)
        carry = torch.sigmoid(forget) * carry + torch.sigmoid(admit) * torch.tanh(new)  # (B, H)
        return torch.sigmoid(emit) * torch.tanh(carry), carry


CELLS: dict[str, type[BaseCell]] = {"tanh": TanhCell, "sigmoid": SigmoidCell, "gru": GRUCell, "lstm": LSTMCell}


def make_cells(kind: str, input_sizes: Sequence[int], size: int) -> Sequence[Cell]:
    """One cell per input size: layers on top of each other, or directions side by side."""
    return cast(Sequence[Cell], nn.ModuleList(CELLS[kind](input_size, size) for input_size in input_sizes))
