"""State, context and last symbol → what the next symbol may be.

Each output has two halves: `readout`, a small vector per step (it can be fed back, Luong's input feeding), and
`logits`, one number per symbol (wide, so training does all steps in one product).
"""

import torch
from torch import Tensor, nn

from regard.fast.products import linear


class Output(nn.Module):
    """Every output is built as Name(state_size, context_size, embed, size, symbols)."""

    def __init__(self, state_size: int, context_size: int, embed: int, size: int, symbols: int):
        super().__init__()
        self.size = self._shape(state_size, context_size, embed, size)  # R, of the readout
        self.O = nn.Linear(self.size, symbols)

    def _shape(self, state_size: int, context_size: int, embed: int, size: int) -> int:
        """Make the readout's own layers; return its size R."""
        raise NotImplementedError

    def readout(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """(…, H), (…, V), (…, E) -> (…, R)"""
        raise NotImplementedError

    def logits(self, readout: Tensor) -> Tensor:
        """(…, R) -> (…, N)"""
        logits: Tensor = self.O(readout)
        return logits


class StateOutput(Output):
    """p(y_t) = softmax(O s_t + b), the state alone: the recurrent language model's"""

    def _shape(self, state_size: int, context_size: int, embed: int, size: int) -> int:
        return state_size

    def readout(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        return state  # (…, H)


class PlainOutput(Output):
    """p(y_t) = softmax(O [s_t; c_t; E(y_{t-1})])            Bahdanau et al. 2015 without its maxout"""

    def _shape(self, state_size: int, context_size: int, embed: int, size: int) -> int:
        return state_size + context_size + embed

    def readout(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        return torch.cat([state, context, word], -1)


class AttentionalOutput(Output):
    """h̃_t = tanh(W_c [c_t; s_t]),  p(y_t) = softmax(O h̃_t)            Luong et al. 2015, eq. 5"""

    def _shape(self, state_size: int, context_size: int, embed: int, size: int) -> int:
        self.W_c = nn.Linear(context_size + state_size, size)
        return size

    def readout(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        return self.mix(torch.cat([context, state], -1))

    def mix(self, both: Tensor) -> Tensor:
        """[c_t; s_t] in"""
        return linear(self.W_c, both, squash=True)  # (…, R)


class DeepOutput(Output):
    """p(y_t) ∝ exp(L_o (E(y_{t-1}) + L_h s_t + L_z c_t))            Pascanu et al. 2014; Xu et al. 2015, eq. 7"""

    def _shape(self, state_size: int, context_size: int, embed: int, size: int) -> int:
        self.L_h = nn.Linear(state_size, embed)
        self.L_z = nn.Linear(context_size, embed, bias=False) if context_size > 0 else None
        return embed

    def readout(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        deep: Tensor = word + self.L_h(state)  # (…, E)
        return deep if self.L_z is None else deep + self.L_z(context)


class MaxoutOutput(Output):
    """t̃ = U_o s_t + V_o E(y_{t-1}) + C_o c_t,  t_i = max(t̃_{2i}, t̃_{2i+1}),  p(y_t) = softmax(W_o t)
    Bahdanau et al. 2015, A.2.2"""

    def _shape(self, state_size: int, context_size: int, embed: int, size: int) -> int:
        self.parts = nn.Linear(state_size + embed + context_size, 2 * size)
        return size

    def readout(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        pairs = self.parts(torch.cat([state, word, context], -1)).unflatten(-1, (-1, 2))  # (…, R, 2)
        most: Tensor = pairs.amax(-1)
        return most  # (…, R)


OUTPUTS: dict[str, type[Output]] = {
    "state": StateOutput,
    "plain": PlainOutput,
    "attentional": AttentionalOutput,
    "deep": DeepOutput,
    "maxout": MaxoutOutput,
}
