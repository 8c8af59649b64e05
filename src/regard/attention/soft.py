"""Soft attention, and two contexts without any: nothing at all, and the same summary at every step."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from regard.attention.memory import Attended, Encoded, Memory, Trace
from regard.attention.score import AdditiveScore, Score
from regard.attention.softmax import masked_softmax
from regard.attention.window import LocalWindow
from regard.errors import UsageError
from regard.fast.attend import attend, possible, share_reads
from regard.fast.energy import Grown
from regard.fast.switch import allowed

Normalise = Callable[[Tensor, Tensor], Tensor]  # energy (…, S), mask (…, S) -> weights (…, S)


class Attention(nn.Module):
    """e_tj = f(q_t, k_j),   α_t = softmax_j e_tj,   c_t = Σ_j α_tj h_j     Bahdanau, Cho and Bengio 2015, 3.1

    With terms (see bias) the keys depend on the weights of earlier steps, k_tj = k_j + Σ term_tj; then each
    call is one step, T = 1, and needs the trace. With a window, places out of its reach are not read. What else
    speaks for a place may be told by who asks: e_tj = f(q_t, k_j) + lean_tj.
    """

    attends = True

    def __init__(
        self,
        score: Score,
        value_size: int,
        normalise: Normalise = masked_softmax,
        terms: Sequence[nn.Module] = (),
        window: LocalWindow | None = None,
    ):
        super().__init__()
        self.size = value_size
        self.looks_back = len(terms) > 0
        self.score = score
        self.normalise = normalise
        self.terms = nn.ModuleList(terms)
        self.window = window

    @property
    def is_additive(self) -> bool:
        """By softmax over all that may be read."""
        return isinstance(self.score, AdditiveScore) and self.normalise is masked_softmax and self.window is None

    def reads_in_one_pass(self, memory: Memory) -> bool:
        """Whether fast.attend can do it: additive, softmax, nothing that looks back or limits the view."""
        return self.is_additive and isinstance(memory.keys, Grown) and possible(memory.values)

    def remember(self, encoded: Encoded) -> Memory:
        values, keys = encoded.values, self.score.keys(encoded.values)  # (B, S, V), (B, S, A)
        if not self.looks_back:
            keys = self.score.prepare(keys)
        if isinstance(keys, Grown):
            values, keys = share_reads(values, keys)
        return Memory(values, keys, encoded.mask)

    def forward(
        self, query: Tensor, memory: Memory, trace: Trace | None = None, lean: Tensor | None = None
    ) -> Attended:
        if query.size(1) == 1 and lean is None and self.reads_in_one_pass(memory):
            score = cast(AdditiveScore, self.score)
            attended = attend(score.W(query[:, 0]), memory.keys, memory.values, memory.mask, score.v.weight[0])
            if attended is not None:
                return Attended(attended[0][:, None], attended[1][:, None])
        keys = self._with_terms(query, memory, trace) if self.looks_back else memory.keys  # (B, S, A)
        energy = self.score(query, keys)  # (B, T, S)
        energy = energy if lean is None else energy + lean
        readable = memory.mask[:, None]  # (B, 1, S)
        if self.window is not None:
            bias, readable = self.window(query, memory.mask)  # (B, T, S) each
            energy = energy + bias  # (B, T, S)
        weights = self.normalise(energy, readable)  # (B, T, S)
        return Attended(weights @ memory.values, weights)

    def contexts(self, query: Tensor, memory: Memory) -> Tensor:
        """c_1 … c_T (B, T, V) for those who do not look at the weights. Where energies are dot products, torch's fused
        attention holds no (B, T, S) of them."""
        compared = self.score.compared(query)
        plain = self.normalise is masked_softmax and self.window is None and not self.looks_back
        if compared is None or not plain or not allowed(query):
            attended: Attended = self(query, memory)
            return attended.context
        mask = memory.mask[:, None, None]  # (B, 1, 1, S)
        query, keys, values = (one[:, None] for one in (compared, memory.keys, memory.values))  # one head: (B, 1, …)
        return scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=1.0)[:, 0]

    def _with_terms(self, query: Tensor, memory: Memory, trace: Trace | None) -> Tensor:
        if trace is None or query.size(1) != 1:
            raise UsageError(
                f"this attention looks back at its own weights, but it was given {query.size(1)} steps and "
                f"{'no' if trace is None else 'a'} trace; call it once per step, with a Trace of those before"
            )
        keys: Tensor = memory.keys  # (B, S, A)
        for term in self.terms:
            keys = keys + term(trace, memory.mask)  # (B, S, A)
        return keys


class NoContext(nn.Module):
    """No context: the source reaches the decoder only through its first state. Its memory is the mask."""

    size = 0
    attends = False
    looks_back = False

    def remember(self, encoded: Encoded) -> Tensor:
        return encoded.mask  # (B, S)

    def forward(self, query: Tensor, memory: Tensor, trace: Trace | None = None) -> Attended:
        return Attended(query[:, :, :0], _no_weights(query, memory))


class Summary(NamedTuple):
    """What FixedContext remembers."""

    summary: Tensor  # (B, V)
    mask: Tensor  # (B, S)


class FixedContext(nn.Module):
    """c_t = summary: the whole source as one vector, the same at every step            Cho et al. 2014"""

    attends = False
    looks_back = False

    def __init__(self, value_size: int):
        super().__init__()
        self.size = value_size

    def remember(self, encoded: Encoded) -> Summary:
        return Summary(encoded.summary, encoded.mask)

    def forward(self, query: Tensor, memory: Summary, trace: Trace | None = None) -> Attended:
        context = memory.summary[:, None].expand(-1, query.size(1), -1)  # (B, T, V)
        return Attended(context, _no_weights(query, memory.mask))


def _no_weights(query: Tensor, mask: Tensor) -> Tensor:
    return query.new_zeros(query.size(0), query.size(1), mask.size(1))  # (B, T, S)
