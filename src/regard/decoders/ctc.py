"""A second opinion on the whole answer, straight from the encoder: connectionist temporal classification."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.memory import Encoded
from regard.data.vocabulary import END, PAD
from regard.losses import Loss, Wanted

FRAMES = 3  # an answer has at most so many symbols for each of its source; three are enough for a letter's sounds


class CTC(nn.Module):
    """p(y | x) = Σ_π Π_f p(π_f | h),  p(π_f) = softmax(W h_j + b)            Graves et al. 2006

    Each value h_j has a few frames f, each frame one symbol or none (the blank, number PAD); π runs over all ways to
    write y on the frames in its order, where equal neighbours are one. It cannot see what it has written, but it cannot
    lose its place either: beside a decoder it teaches the encoder to keep source and answer in step, and ranks the
    decoder's hypotheses with it                                                     Kim, Hori & Watanabe 2017
    """

    looks = False

    def __init__(self, value_size: int, symbols: int, share: float):
        super().__init__()
        self.W = nn.Linear(value_size, FRAMES * symbols)
        self.share = share  # of this loss, the rest being the decoder's

    def forward(self, encoded: Encoded) -> Tensor:
        """log p(π_f), (B, F, N)"""
        scores: Tensor = self.W(encoded.values).unflatten(-1, (FRAMES, -1)).flatten(1, 2)
        return scores.to(torch.promote_types(scores.dtype, torch.float32)).log_softmax(-1)

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        """The decoder's loss of targets (B, T), END and padding after them, with this one mixed in. A target too long
        for its frames has none."""
        targets = wanted.targets
        frames, lengths = encoded.mask.sum(1) * FRAMES, ((targets != PAD) & (targets != END)).sum(1)
        own = functional.ctc_loss(
            self(encoded).transpose(0, 1), targets, frames, lengths, blank=PAD, reduction="sum", zero_infinity=True
        )
        return loss._replace(total=(1 - self.share) * loss.total + self.share * own)
