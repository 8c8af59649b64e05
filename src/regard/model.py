"""An encoder and a decoder, put together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast, overload

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.attention.memory import Encoded
from regard.cells import BaseCell, LSTMCell
from regard.data.batching import Padded
from regard.decoders.ctc import CTC
from regard.decoders.decoder import Decoder, OwnLoss, tell
from regard.decoders.reverse import Reverse
from regard.decoders.step import Decoded, Step
from regard.losses import Loss, Told, Wanted, cross_entropy


class Aside(Protocol):
    """A further loss beside the decoder's, of the values it read or of the weights it read them with."""

    looks: bool  # whether it needs the weights

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss: ...


class EncoderDecoder(nn.Module):
    """p(y | x) = Π_t p(y_t | y_<t, x), learnt by −log p and whatever stands aside of it"""

    def __init__(self, encoder: nn.Module, decoder: Decoder, ctc: CTC | None = None, asides: Sequence[nn.Module] = ()):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.ctc = ctc
        self.asides = nn.ModuleList(asides)

    @property
    def attends(self) -> bool:
        """Whether its weights say where it looked."""
        return self.decoder.attends

    def encode(self, source: Padded) -> Encoded:
        encoded: Encoded = self.encoder(source)
        return encoded

    @overload
    def forward(self, source: Padded, tokens: Tensor, own: float = 0.0) -> Decoded: ...

    @overload
    def forward(self, source: Padded, tokens: Tensor, own: float, wanted: Wanted) -> Loss: ...

    def forward(self, source: Padded, tokens: Tensor, own: float = 0.0, wanted: Wanted | None = None) -> Decoded | Loss:
        """Predict every y_t from the true y_<t; with `own` > 0, from its own words that often (scheduled sampling).

        With `wanted`, only the loss is told: inside the model, since several processes share only what `forward` does.
        """
        if wanted is not None:
            return self.tell(source, tokens, own, wanted).loss
        return self._decode(tokens, self.encode(source), own)

    def tell(self, source: Padded, tokens: Tensor, own: float, wanted: Wanted, looked: bool = False) -> Told:
        """The decoder's loss with all that stands aside of it, and its weights if somebody looks at them."""
        encoded = self.encode(source)
        asides = cast("list[Aside]", [*self.asides] if self.ctc is None else [self.ctc, *self.asides])
        loss, weights = self._loss(tokens, encoded, own, wanted, looked or any(one.looks for one in asides))
        for aside in asides:
            loss = aside.join(loss, encoded, weights, wanted)
        return Told(loss, weights)

    def _loss(self, tokens: Tensor, encoded: Encoded, own: float, wanted: Wanted, looked: bool) -> Told:
        if own == 0:
            return tell(self.decoder, tokens, encoded, wanted, looked)
        if isinstance(self.decoder, OwnLoss):
            return self.decoder.loss(self._mingle(tokens, encoded, own), encoded, wanted, looked)
        decoded = self._sampled(tokens, encoded, own)
        return Told(cross_entropy(decoded.logits, wanted.targets, wanted.smoothing), decoded.weights)

    @torch.no_grad()
    def _mingle(self, tokens: Tensor, encoded: Encoded, own: float) -> Tensor:
        """What `_sampled` reads, as tokens (B, T), for a loss that reads all of them at once."""
        state, memory = self.decoder.start(encoded)
        read = [tokens[:, 0]]
        for true in tokens[:, 1:].unbind(1):
            step = self.decoder.step(read[-1], state, memory)
            mine, state = torch.rand(true.shape, device=true.device) < own, step.state  # (B,)
            read.append(torch.where(mine, step.logits.argmax(-1), true))
        return torch.stack(read, 1)

    def _decode(self, tokens: Tensor, encoded: Encoded, own: float) -> Decoded:
        return self.decoder(tokens, encoded) if own == 0 else self._sampled(tokens, encoded, own)

    def _sampled(self, tokens: Tensor, encoded: Encoded, own: float) -> Decoded:
        """Each symbol of each sequence is replaced, by a coin of its own, by what the model would have written
        Bengio et al. 2015"""
        state, memory = self.decoder.start(encoded)
        steps: list[Step] = []
        for true in tokens.unbind(1):
            token = true
            if steps:
                mine = torch.rand(true.shape, device=true.device) < own  # (B,)
                token = torch.where(mine, steps[-1].logits.detach().argmax(-1), true)
            steps.append(self.decoder.step(token, state, memory))
            state = steps[-1].state
        return Decoded(torch.stack([one.logits for one in steps], 1), torch.stack([one.weights for one in steps], 1))


def reverse_of(model: EncoderDecoder) -> Reverse | None:
    """The decoder from the end that learnt beside the model's own, if there is one."""
    return next((aside for aside in model.asides if isinstance(aside, Reverse)), None)


@contextmanager
def hollow() -> Iterator[None]:
    """Modules made in this block have shapes but no numbers, and so no memory, however large they say they are."""
    with torch.device("meta"), _NoDraws():
        yield


class _NoDraws(TorchFunctionMode):
    """Leaves out first weights: to draw numbers that are not there, torch would load its compiler, in over a second."""

    def __torch_function__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
        if getattr(function, "__module__", None) == nn.init.__name__:
            return given[0] if given else named["tensor"]
        return function(*given, **(named or {}))


@torch.no_grad()
def initialise(model: nn.Module) -> None:
    """Orthogonal recurrences, Xavier elsewhere, zero biases, and forget gates that begin by remembering."""
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            nn.init.xavier_uniform_(weight)
        elif "bias" in name.rpartition(".")[2]:
            nn.init.zeros_(weight)
    for module in model.modules():
        if isinstance(module, nn.Embedding):  # also where an output shares its table
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
            module.weight[0] = 0  # padding
        for recurrence, bias in _recurrences(module):
            for gate in recurrence.chunk(recurrence.size(0) // recurrence.size(1)):
                nn.init.orthogonal_(gate)
            if isinstance(module, nn.LSTM | LSTMCell):  # Jozefowicz et al. 2015; both order the gates i, f, g, o
                bias.chunk(4)[1].fill_(1)


def _recurrences(module: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """U and the bias beside W, of our cells and of each direction of torch's own loops."""
    if isinstance(module, BaseCell):
        return [(module.U.weight, module.W.bias)]
    if isinstance(module, nn.RNNBase):
        return [(U, bias) for _, U, bias, _ in module.all_weights]
    return []
