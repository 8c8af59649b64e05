"""Pointers into a passage: where an answer begins and where it ends.

| pointer        | looks                                                            |
|----------------|------------------------------------------------------------------|
| DynamicPointer | again and again, from where it pointed last (Xiong et al. 2016)  |
| PlainPointer   | once, at each place by itself                                    |
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from regard.cells import LSTMCell


class Rounds(NamedTuple):
    """What a pointer says in each of R rounds; in those after a row has stopped, nothing that counts."""

    start: Tensor  # (B, R, M)  log p of each place, −∞ on padding
    end: Tensor  # (B, R, M)
    live: Tensor  # (B, R)  True up to the round a row stopped in

    def last(self) -> tuple[Tensor, Tensor]:
        """start and end (B, M) of the round in which each row stopped."""
        rows, round_ = torch.arange(len(self.live), device=self.live.device), self.live.sum(1) - 1  # (B,), (B,)
        return self.start[rows, round_], self.end[rows, round_]


class Pointer(Protocol):
    def __call__(self, values: Tensor, mask: Tensor) -> Rounds: ...  # (B, M, U), (B, M)


class HighwayMaxout(nn.Module):
    """r = tanh(W_D [h; u_s; u_e]),   m¹_t = max_p(W¹ [u_t; r] + b¹),   m²_t = max_p(W² m¹_t + b²),
    score_t = max_p(W³ [m¹_t; m²_t] + b³)            Xiong et al. 2016, eq. 9–12

    W¹ [u_t; r] = W_u u_t + W_r r: the first part is the same in all rounds and computed once (`keys`).
    """

    def __init__(self, value_size: int, state_size: int, size: int, pieces: int):
        super().__init__()
        self.pieces = pieces
        self.W_D = nn.Linear(state_size + 2 * value_size, size, bias=False)
        self.W_u = nn.Linear(value_size, pieces * size)  # its bias is b¹
        self.W_r = nn.Linear(size, pieces * size, bias=False)
        self.W_2 = nn.Linear(size, pieces * size)
        self.W_3 = nn.Linear(2 * size, pieces)

    def keys(self, values: Tensor) -> Tensor:
        keys: Tensor = self.W_u(values)  # (B, M, p·R)
        return keys

    def forward(self, keys: Tensor, state: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """(B, M, p·R), h (B, H), u_s and u_e (B, U) -> scores (B, M)"""
        r = torch.tanh(self.W_D(torch.cat([state, start, end], -1)))  # (B, R)
        first = self._most(keys + self.W_r(r)[:, None])  # (B, M, R)
        second = self._most(self.W_2(first))  # (B, M, R)
        return self._most(self.W_3(torch.cat([first, second], -1)))[:, :, 0]  # (B, M)

    def _most(self, pieces: Tensor) -> Tensor:
        """(B, M, p·R) -> (B, M, R): the pieces of one number stand R apart"""
        return pieces.view(*pieces.shape[:-1], self.pieces, -1).amax(-2)


class DynamicPointer(nn.Module):
    """h_i = LSTM(h_{i-1}, [u_s; u_e]) for s = s_{i-1} and e = e_{i-1};   s_i, e_i = the places that two highway maxout
    networks score best            Xiong et al. 2016, 2.3

    A row stops when both repeat, or after `rounds`. s_0 and e_0 are the passage's first and last place.
    """

    def __init__(self, value_size: int, size: int, maxout: int, pieces: int, rounds: int):
        super().__init__()
        self.rounds = rounds
        self.cell = LSTMCell(2 * value_size, size)
        self.start = HighwayMaxout(value_size, size, maxout, pieces)
        self.end = HighwayMaxout(value_size, size, maxout, pieces)

    def forward(self, values: Tensor, mask: Tensor) -> Rounds:
        keys = self.start.keys(values), self.end.keys(values)
        state = (values.new_zeros(len(values), self.cell.size),) * 2
        at = torch.zeros_like(mask[:, 0], dtype=torch.long), mask.sum(1) - 1  # (B,), (B,)
        live, said = torch.ones_like(mask[:, 0]), []
        for number in range(self.rounds):
            here = _pick(values, at[0]), _pick(values, at[1])  # (B, U), (B, U)
            state = self.cell(self.cell.drive(torch.cat(here, -1)), state)
            start = masked_log_softmax(self.start(keys[0], state[0], *here), mask)  # (B, M)
            end = masked_log_softmax(self.end(keys[1], state[0], *here), mask)  # (B, M)
            said.append((start, end, live))
            before, at = at, (start.argmax(-1), end.argmax(-1))
            if number > 0:
                live = live & ((at[0] != before[0]) | (at[1] != before[1]))
            if not bool(live.any()):
                break
        starts, ends, lives = zip(*said, strict=True)
        return Rounds(torch.stack(starts, 1), torch.stack(ends, 1), torch.stack(lives, 1))


class PlainPointer(nn.Module):
    """p(s) = softmax_t(w_s · u_t + b_s),   p(e) = softmax_t(w_e · u_t + b_e)"""

    def __init__(self, value_size: int):
        super().__init__()
        self.ends = nn.Linear(value_size, 2)

    def forward(self, values: Tensor, mask: Tensor) -> Rounds:
        start, end = self.ends(values).unbind(-1)  # (B, M), (B, M)
        one = masked_log_softmax(start, mask)[:, None], masked_log_softmax(end, mask)[:, None]  # (B, 1, M)
        return Rounds(*one, torch.ones_like(mask[:, :1]))


class SpanFound(NamedTuple):
    start: int
    end: int  # its last place, not the one after
    log_prob: float


def best_spans(start: Tensor, end: Tensor, longest: int, count: int = 1) -> list[list[SpanFound]]:
    """The likeliest spans of each row, p(s) p(e) for s ≤ e < s + longest; from log p of its places (B, M) each."""
    reach = min(longest, start.size(1))
    ends = pad(end, (0, reach - 1), value=float("-inf")).unfold(1, reach, 1)  # (B, M, reach)  end of s, s + 1, …
    pairs = (start[:, :, None] + ends).flatten(1)  # (B, M · reach)
    best = pairs.topk(min(count, pairs.size(1)), -1)
    rows = zip(best.values.tolist(), best.indices.tolist(), strict=True)
    return [
        [
            SpanFound(place // reach, place // reach + place % reach, log_prob)
            for log_prob, place in zip(log_probs, places, strict=True)
            if log_prob > float("-inf")
        ]
        for log_probs, places in rows
    ]


def masked_log_softmax(energy: Tensor, mask: Tensor) -> Tensor:
    """e_j − log Σ_i exp e_i over the real places of the last axis, −∞ elsewhere"""
    energy = energy.to(torch.promote_types(energy.dtype, torch.float32))
    lowest = torch.finfo(energy.dtype).min
    return energy.masked_fill(~mask, lowest).log_softmax(-1).masked_fill(~mask, float("-inf"))


def _pick(values: Tensor, places: Tensor) -> Tensor:
    """u_t (B, U) at one place (B,) of each row"""
    return values[torch.arange(len(values), device=values.device), places]
