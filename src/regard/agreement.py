"""Two models that learn together, there and back, and are paid for looking at the same pairs of symbols."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.vocabulary import BEGIN, END, PAD
from regard.losses import Loss, Wanted
from regard.model import EncoderDecoder


class Agreement(nn.Module):
    """−log p(y | x) − log p(x | y) + γ B,  B = −tr(A_{X→Y}ᵀ A_{Y→X})       Cohn et al. 2016; Liang et al. 2006

    It stands aside of the model X → Y and holds the model Y → X. Both matrices are taken as (T, S), so that −B is the
    sum of the products of their cells; rows of END and padding are left out, and so 0 ≤ −B ≤ min(S, T).
    """

    looks = True

    def __init__(self, back: EncoderDecoder, bonus: float):
        super().__init__()
        self.back = back
        self.bonus = bonus  # γ

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        """The loss of both; its nll and symbols stay those of X → Y, which answers."""
        assert weights is not None
        source, tokens, turned = turn(wanted)
        told = self.back.tell(source, tokens, 0.0, turned, looked=True)
        assert told.weights is not None
        back = told.weights[:, :-1].transpose(1, 2)  # (B, T - 1, S)  without the row that can only be END
        return loss._replace(
            total=loss.total + told.loss.total - self.bonus * agreed(weights[:, :-1], back, source.mask, encoded.mask)
        )


def agreed(there: Tensor, back: Tensor, target: Tensor, source: Tensor) -> Tensor:
    """−B = Σ_tj α_tj β_tj of both models' weights (B, T, S) over the real places (B, T) and (B, S)"""
    real = target[:, :, None] & source[:, None]  # (B, T, S)
    return (there * back * real).sum()


def turn(wanted: Wanted) -> tuple[Padded, Tensor, Wanted]:
    """What was read and should have been written, the other way round: source, tokens to be read, what is wanted."""
    assert wanted.source is not None
    words = (wanted.targets != PAD) & (wanted.targets != END)  # (B, T)
    source = Padded((wanted.targets * words)[:, :-1], words.sum(1))  # (B, T - 1)
    read = wanted.source.data * wanted.source.mask  # (B, S)
    targets = pad(read, (0, 1), value=PAD).scatter(1, wanted.source.lengths[:, None], END)  # (B, S + 1)
    tokens = torch.cat([torch.full_like(read[:, :1], BEGIN), read], 1)  # (B, S + 1)
    links = None if wanted.links is None else pad(wanted.links[:, :-1].transpose(1, 2), (0, 0, 0, 1))
    return source, tokens, Wanted(targets, wanted.smoothing, links)


def backward_half(model: EncoderDecoder) -> EncoderDecoder | None:
    """The model Y → X inside of one X → Y, if it learnt with one."""
    return next((aside.back for aside in model.asides if isinstance(aside, Agreement)), None)
