"""A picture and a question → one of several answers."""

from typing import Any, cast

from torch import nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.decoders.choice import Chosen, Classifier, Seen
from regard.encoders.asking import Asked, Beside, StackedAttention


class QuestionReader(nn.Module):
    """z = classifier(what the question finds in the picture)"""

    def __init__(self, eye: nn.Module, words: nn.Module, asks: Beside | StackedAttention, classifier: Classifier):
        super().__init__()
        self.eye = eye  # pictures → Encoded
        self.words = words  # questions → Encoded
        self.asks, self.classifier = asks, classifier

    @property
    def attends(self) -> bool:
        return self.asks.hops > 0

    def forward(self, source: Any, beside: Padded | None) -> Chosen:
        picture, question = cast(Encoded, self.eye(source)), cast(Encoded, self.words(beside))
        asked: Asked = self.asks(picture, question)
        seen = (Seen("looks", asked.weights),) if asked.weights.size(1) else ()
        return Chosen(self.classifier(asked.vector), seen)
