"""One of several classes is chosen: texts read, made one vector, and scored; with what was looked at on the way."""

from typing import NamedTuple, Protocol, cast, overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.pool import Pool, pooled, redundancy
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.hierarchy import HierarchicalEncoder, Levels
from regard.losses import Loss, class_cross_entropy


class Seen(NamedTuple):
    """Weights behind a choice, for those who want to see them; zero beyond the ends of rows and columns."""

    name: str
    weights: Tensor  # (B, R, S)
    rows: str = "choice"  # what a row is: the choice itself, or a symbol of the "source" or of the text "beside" it
    columns: str = "source"  # whose symbols the columns are: "source" or "beside"
    axes: tuple[str, str] = ("", "source")  # what people call rows and columns


class Lines(NamedTuple):
    """Sentences of the source, where they were told apart."""

    line: Tensor  # (B, S)  which one a place belongs to
    weights: Tensor  # (B, R, U)  of the sentences; R = 0: they were not weighed


class Chosen(NamedTuple):
    logits: Tensor  # (B, N)
    seen: tuple[Seen, ...] = ()  # first what the choice itself looked at, if it is to be seen
    lines: Lines | None = None
    penalty: Tensor | None = None  # (B,)  joins the loss
    named: Tensor | None = None  # (B, N)  log-odds that a word is said of the source, where that is learnt as well


class Label(NamedTuple):
    """What should have been chosen, for a loss inside the model."""

    numbers: Tensor  # (B,)  −1: none of the classes
    smoothing: float
    said: Padded | None = None  # words that are said of each source


class Reader(Protocol):
    """What a task that chooses puts together: one text, or two, → Chosen"""

    @property
    def attends(self) -> bool: ...  # whether what it chooses has weights to show

    def __call__(self, source: Padded, beside: Padded | None) -> Chosen: ...


class Chooser(nn.Module):
    """p(y | x) = softmax of what a reader says, learnt by −log p, the reader's penalty and, where it names what it
    sees, −Σ_n log p(whether the word n is said of x)"""

    def __init__(self, reader: Reader, penalty: float = 0.0, naming: float = 0.0):
        super().__init__()
        self.reader = cast(nn.Module, reader)
        self.penalty, self.naming = penalty, naming

    @property
    def attends(self) -> bool:
        return cast(Reader, self.reader).attends

    @overload
    def forward(self, source: Padded, beside: Padded | None) -> Chosen: ...

    @overload
    def forward(self, source: Padded, beside: Padded | None, label: Label) -> Loss: ...

    def forward(self, source: Padded, beside: Padded | None, label: Label | None = None) -> Chosen | Loss:
        """With `label`, only the loss is told: inside the model, since several processes share only what this does."""
        chosen: Chosen = self.reader(source, beside)
        if label is None:
            return chosen
        loss, counts = class_cross_entropy(chosen.logits, label.numbers, label.smoothing), label.numbers >= 0
        if chosen.penalty is not None and self.penalty > 0:
            loss = loss._replace(total=loss.total + self.penalty * (chosen.penalty * counts).sum())
        if chosen.named is not None and label.said is not None:
            loss = loss._replace(total=loss.total + self.naming * (misnamed(chosen.named, label.said) * counts).sum())
        return loss


def misnamed(named: Tensor, said: Padded) -> Tensor:
    """−Σ_n log p(whether the word n is said)            log-odds (B, N), numbers of words (B, W) -> (B,)"""
    wanted = torch.zeros_like(named).scatter_add_(1, said.data, said.mask.to(named.dtype))  # (B, N)
    return F.binary_cross_entropy_with_logits(named, wanted, reduction="none").sum(1)


class Classifier(nn.Module):
    """z = O v + b,  or with a hidden layer  z = O max(0, W v + a) + b"""

    def __init__(self, input_size: int, hidden: int, classes: int, dropout: Dropout):
        super().__init__()
        self.W = nn.Linear(input_size, hidden) if hidden else None
        self.O = nn.Linear(hidden or input_size, classes)
        self.dropout = dropout

    def forward(self, vector: Tensor) -> Tensor:
        vector = self.dropout(vector)  # (B, P)
        if self.W is not None:
            vector = self.dropout(self.W(vector).relu())  # (B, H)
        logits: Tensor = self.O(vector)  # (B, N)
        return logits


class FlatReader(nn.Module):
    """All places as one sequence:  z = classifier(pool(h_1 … h_S))           Lin et al. 2017, with a structured pool"""

    def __init__(self, encoder: nn.Module, pool: Pool, classifier: Classifier):
        super().__init__()
        self.encoder, self.classifier = encoder, classifier
        self.pool = cast(nn.Module, pool)

    @property
    def attends(self) -> bool:
        return cast(Pool, self.pool).rows > 0

    def forward(self, source: Padded, beside: Padded | None = None) -> Chosen:
        vector, weights = pooled(cast(Pool, self.pool), self.encoder(source))  # (B, P), (B, R, S)
        seen = (Seen("words", weights),) if weights.size(1) else ()
        return Chosen(self.classifier(vector), seen, None, redundancy(weights))


class LevelsReader(nn.Module):
    """Words of sentences, then sentences:  z = classifier(pool(h_1 … h_U))            Yang et al. 2016

    What a word weighs in its sentence times what the sentence weighs in the text is what it weighs in the text.
    """

    def __init__(self, encoder: HierarchicalEncoder, pool: Pool, classifier: Classifier):
        super().__init__()
        self.encoder, self.classifier = encoder, classifier
        self.pool = cast(nn.Module, pool)

    @property
    def attends(self) -> bool:
        return cast(Pool, self.pool).rows > 0

    def forward(self, source: Padded, beside: Padded | None = None) -> Chosen:
        read: Levels = self.encoder(source)
        vector, upper = pooled(cast(Pool, self.pool), read.sentences)  # (B, P), (B, R, U)
        line = read.line[:, None].expand(-1, upper.size(1), -1)  # (B, R, S)
        weights = read.weights * upper.gather(2, line)  # (B, R, S)
        seen = (Seen("words", weights),) if weights.size(1) else ()
        return Chosen(self.classifier(vector), seen, Lines(read.line, upper))
