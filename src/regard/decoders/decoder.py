"""What every decoder can do: encoded → symbols, one step at a time, or all steps of given targets."""

from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from regard.attention.memory import Encoded
from regard.decoders.quick import QuickStep
from regard.decoders.step import Decoded, Step
from regard.losses import Told, Wanted, cross_entropy


class Decoder(Protocol):
    """What search and training ask of a decoder."""

    @property
    def attends(self) -> bool: ...

    def start(self, encoded: Encoded) -> tuple[Any, Any]: ...  # -> state, memory

    def step(self, tokens: Tensor, state: Any, memory: Any) -> Step: ...  # (B,), …

    def quick(self, memory: Any) -> QuickStep | None: ...  # the same as `step`, faster, where that is possible

    def __call__(self, tokens: Tensor, encoded: Encoded) -> Decoded: ...  # (B, T) -> every step, given y_<t


@runtime_checkable
class OwnLoss(Protocol):
    """A decoder that knows a better way to its loss than all its logits."""

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told: ...  # (B, T), …


def tell(decoder: Decoder, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
    """−log p of what is wanted, by the decoder's own way if it has one."""
    if isinstance(decoder, OwnLoss):
        return decoder.loss(tokens, encoded, wanted, looked)
    decoded = decoder(tokens, encoded)
    return Told(cross_entropy(decoded.logits, wanted.targets, wanted.smoothing), decoded.weights)
