"""A picture and a question → one of several answers."""

from typing import Any, cast

from torch import nn

from regard.attention.memory import Encoded
from regard.attention.pool import AttentionPool, pooled
from regard.data.batching import Padded
from regard.decoders.choice import Chosen, Classifier, Seen
from regard.encoders.asking import Asked, Beside, Concatenated, StackedAttention


class QuestionReader(nn.Module):
    """z = classifier(what the question finds in the picture)

    What asks is the question's last state, or with a pool the sum of its words by their weights.
    """

    def __init__(
        self,
        eye: nn.Module,
        words: nn.Module,
        asks: Concatenated | Beside | StackedAttention,
        classifier: Classifier,
        pool: AttentionPool | None = None,
    ):
        super().__init__()
        self.eye = eye  # pictures → Encoded
        self.words = words  # questions → Encoded
        self.asks, self.classifier, self.pool = asks, classifier, pool

    @property
    def attends(self) -> bool:
        return self.asks.hops > 0

    def forward(self, source: Any, beside: Padded | None) -> Chosen:
        picture, question = cast(Encoded, self.eye(source)), cast(Encoded, self.words(beside))
        seen: list[Seen] = []
        if self.pool is not None:
            summary, weights = pooled(self.pool, question)  # (B, Q), (B, 1, S')
            question = question._replace(summary=summary)
            seen.append(Seen("words of the question", weights, columns="beside", axes=("", "question")))
        asked: Asked = self.asks(picture, question)
        if asked.weights.size(1):
            seen.insert(0, Seen("looks", asked.weights))
        return Chosen(self.classifier(asked.vector), tuple(seen), named=asked.named)
