"""A class of two texts: how they stand to each other."""

from typing import cast

from torch import Tensor, nn

from regard.attention.pool import redundancy
from regard.data.batching import Padded
from regard.decoders.choice import Chosen, Classifier, Seen
from regard.encoders.pairs import Paired, PairReader


class PairChoice(nn.Module):
    """z = classifier(vector of premise and hypothesis); the premise is the source, the hypothesis stands beside it"""

    attends = True

    def __init__(self, pair: PairReader, classifier: Classifier):
        super().__init__()
        self.rows = pair.rows
        self.pair = cast(nn.Module, pair)
        self.classifier = classifier

    def forward(self, source: Padded, beside: Padded | None) -> Chosen:
        assert beside is not None
        paired: Paired = self.pair(source, beside)
        return Chosen(self.classifier(paired.vector), self._seen(paired), None, self._penalty(paired))

    def _seen(self, paired: Paired) -> tuple[Seen, ...]:
        premise, hypothesis = ("choice", "choice") if self.rows else ("source", "beside")  # what a row of weights is
        across = ("", "premise") if self.rows else ("hypothesis", "premise")
        seen = Seen("premise", paired.over_premise, hypothesis, "source", across)
        if paired.over_hypothesis is None:
            return (seen,)
        back = ("", "hypothesis") if self.rows else ("premise", "hypothesis")
        return (seen, Seen("hypothesis", paired.over_hypothesis, premise, "beside", back))

    def _penalty(self, paired: Paired) -> Tensor | None:
        """‖A Aᵀ − I‖² of both texts, where several rows of learned queries read each"""
        if not self.rows or paired.over_hypothesis is None:
            return None
        return redundancy(paired.over_premise) + redundancy(paired.over_hypothesis)  # (B,)
