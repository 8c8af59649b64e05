"""A second opinion on the whole answer, from its end: a decoder that writes it from right to left."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.vocabulary import BEGIN, END, PAD
from regard.decoders.decoder import Decoder, tell
from regard.losses import Loss, Wanted, sequence_log_probs


class Reverse(nn.Module):
    """p(y | x) = Π_t p(y_t | y_{t+1} … y_T, x)            Liu, Utiyama, Finch & Sumita 2016

    It reads the same values as the decoder it stands aside of. What that one must guess early, this one has seen much
    of the answer before: so they err at different places, and an answer that both find likely is more often right.
    """

    looks = False

    def __init__(self, decoder: Decoder, weight: float):
        super().__init__()
        self.decoder = decoder
        self.weight = weight

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        """The loss of both; its nll and symbols stay those of the decoder from left to right, which answers."""
        targets = turned(wanted.targets)
        own = tell(self.decoder, after_begin(targets), encoded, Wanted(targets, wanted.smoothing), looked=False).loss
        return loss._replace(total=loss.total + self.weight * own.total)

    def log_probs(self, encoded: Encoded, targets: Tensor) -> Tensor:
        """log p(y | x), (B,), of targets (B, T) that END and padding follow"""
        back = turned(targets)
        return sequence_log_probs(self.decoder(after_begin(back), encoded).logits, back)


def turned(targets: Tensor) -> Tensor:
    """y_1 … y_T END PAD …  →  y_T … y_1 END PAD …, (B, T)"""
    written = ((targets != PAD) & (targets != END)).sum(1, keepdim=True)  # (B, 1)
    places = torch.arange(targets.size(1), device=targets.device)  # (T,)
    back = written - 1 - places  # (B, T)
    return targets.gather(1, torch.where(back >= 0, back, places))


def after_begin(targets: Tensor) -> Tensor:
    """What a decoder reads while it writes these: BEGIN y_1 … y_{T-1}, (B, T)"""
    return torch.cat([torch.full_like(targets[:, :1], BEGIN), targets[:, :-1]], 1)
