"""Each word of both texts is compared with what the other text has for it."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.both import both_ways
from regard.attention.memory import Encoded
from regard.attention.pool import Pool
from regard.attention.score import Score
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.pairs import Paired


class SoftAlignment(nn.Module):
    """e_ij = f(p_i, h_j),   α, β = its softmaxes over premise and hypothesis,
    p̃_i = Σ_j β_ij h_j,   h̃_j = Σ_i α_ij p_i,
    v_i = relu(W [p_i; p̃_i; |p_i − p̃_i|; p_i ⊙ p̃_i] + b), and alike for each h_j,
    vector = [mean v^p; max v^p; mean v^h; max v^h], or what other pools make of both

    Parikh et al. 2016 (attend, compare, aggregate), with the comparison and the two pools of Chen et al. 2017. One
    encoder reads both texts and one W compares both ways.
    """

    rows = 0

    def __init__(
        self,
        encoder: nn.Module,
        score: Score,
        pools: Sequence[Pool],
        value_size: int,
        compare: int,
        dropout: Dropout,
    ):
        super().__init__()
        self.size = 2 * sum(pool.size for pool in pools)
        self.encoder = encoder
        self.score = score  # both its query and its values have size V
        self.W = nn.Linear(4 * value_size, compare)
        self.pools = cast(Sequence[Pool], nn.ModuleList(cast(Sequence[nn.Module], pools)))  # of vectors of size C
        self.dropout = dropout

    def forward(self, premise: Padded, hypothesis: Padded) -> Paired:
        one: Encoded = self.encoder(premise)
        other: Encoded = self.encoder(hypothesis)
        energy = self.score(one.values, self.score.keys(other.values))  # (B, P, H)
        over_premise, over_hypothesis = both_ways(energy, one.mask, other.mask)  # (B, H, P), (B, P, H)
        first = self._compare(one.values, over_hypothesis @ other.values)  # (B, P, C)
        second = self._compare(other.values, over_premise @ one.values)  # (B, H, C)
        sides = ((first, one.mask), (second, other.mask))
        vector = torch.cat([pool(*side).vector for side in sides for pool in self.pools], -1)  # (B, D)
        return Paired(vector, over_premise, over_hypothesis)

    def _compare(self, values: Tensor, context: Tensor) -> Tensor:
        seen = torch.cat([values, context, (values - context).abs(), values * context], -1)  # (B, S, 4V)
        compared: Tensor = self.W(self.dropout(seen)).relu()  # (B, S, C)
        return compared
