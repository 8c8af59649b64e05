"""The hypothesis reads the premise anew at each of its words."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Mechanism
from regard.data.batching import Padded
from regard.encoders.pairs import Paired
from regard.fast.gathering import Repeated, gathered


class WordByWord(nn.Module):
    """M_t = tanh(W_y Y + W_h h_t + W_r r_{t-1}),   α_t = softmax(w · M_t),   r_t = Y α_t + tanh(W_t r_{t-1}),
    vector = tanh(W_p r_N + W_x h_N)            Rocktäschel et al. 2016, 2.4

    Y are the premise's values, h_t the hypothesis's. w · M_t is an additive score whose query is [h_t; r_{t-1}], so the
    attention is handed in like any other. Each r_t stops at its hypothesis's own end N. Unlike the paper, one encoder
    reads both texts, each from the start.
    """

    rows = 0

    def __init__(self, encoder: nn.Module, attention: Mechanism, value_size: int):
        super().__init__()
        self.size = value_size
        self.encoder = encoder
        self.attention = attention  # its queries have size 2V
        self.W_t = Repeated(value_size, value_size, bias=False)
        self.W_p = nn.Linear(value_size, value_size, bias=False)
        self.W_x = nn.Linear(value_size, value_size, bias=False)

    def forward(self, premise: Padded, hypothesis: Padded) -> Paired:
        asked = self.encoder(hypothesis)
        memory = self.attention.remember(self.encoder(premise))
        read = torch.zeros_like(asked.summary)  # (B, V)  r_0
        rows: list[Tensor] = []
        with gathered(self, read):
            for value, real in zip(asked.values.unbind(1), asked.mask[:, :, None].unbind(1), strict=True):
                query = torch.cat([value, read], -1)  # (B, 2V)  [h_t; r_{t-1}]
                attended = self.attention(query[:, None], memory)
                new = attended.context[:, 0] + self.W_t(read).tanh()  # (B, V)  r_t
                read = torch.where(real, new, read)  # beyond its end a hypothesis keeps what it has read
                rows.append(attended.weights[:, 0] * real)  # (B, P)  α_t
        vector = (self.W_p(read) + self.W_x(asked.summary)).tanh()  # (B, V)
        return Paired(vector, torch.stack(rows, 1), None)
