"""Learning where to look when a look is a choice: hard attention, taught by how likely its choices made the answer."""

from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from regard.attention.hard import Draw, HardAttention, start_race, winner
from regard.attention.memory import Encoded
from regard.data.vocabulary import PAD
from regard.decoders.conditional import ConditionalDecoder
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.step import Decoded, Step
from regard.errors import UsageError
from regard.fast.gathering import gathered
from regard.losses import Loss, Told, Wanted, cross_entropy, sequence_log_probs

DECAY = 0.9  # of the baseline


class Chance(NamedTuple):
    """All that is left to chance in one reading of a batch."""

    race: Tensor  # (B, T, S)  see attention.hard.winner
    expected: Tensor  # (B,)  True: this source is read softly


class Walk(NamedTuple):
    """One reading of a batch, with the places that were drawn on the way."""

    logits: Tensor  # (B, T, N)
    weights: Tensor  # (B, T, S)  α_t
    places: Tensor  # (B, T)  s̃_t


class HardDecoder(nn.Module):
    """The gradient of log p(y | x) ≥ Σ_s p(s | a) log p(y | s, a), with N samples s̃ⁿ of all steps' places:

    1/N Σ_n [∂ log p(y | s̃ⁿ, a) + λ_r (log p(y | s̃ⁿ, a) − b) ∂ log p(s̃ⁿ | a) + λ_e ∂ H[s̃ⁿ]]
    b_k = 0.9 b_{k-1} + 0.1 log p(y | s̃_k, a)            Xu et al. 2015, 4.1, eq. 11 and 12

    a are the values, b follows the mean over the sequences of each batch, and the batch itself is held against b_{k-1},
    which its samples cannot sway. With a probability of `expected` a source is read by the weights themselves, for all
    its steps; then only the first term is left, that of soft attention. Sums run over the real symbols, with END.

    Around a decoder whose attention is hard. Outside of training nothing is drawn: each step looks at its likeliest
    place, and losses are those of these places.
    """

    attends = True

    def __init__(
        self,
        writer: RecurrentDecoder | ConditionalDecoder,
        reinforce: float = 1.0,
        entropy: float = 0.002,
        expected: float = 0.5,
        samples: int = 1,
    ):
        super().__init__()
        if not any(isinstance(one, HardAttention) for one in writer.modules()):
            raise UsageError(
                "a hard decoder teaches a hard attention, but the decoder inside has none: use HardAttention"
            )
        self.writer = writer
        self.reinforce, self.entropy = reinforce, entropy  # λ_r, λ_e
        self.expected, self.samples = expected, samples
        # A parameter that no optimiser moves, so that a run that goes on finds it among its weights.
        self.baseline = nn.Parameter(torch.zeros(1), requires_grad=False)  # b

    def start(self, encoded: Encoded) -> tuple[Any, Any]:
        return self.writer.start(encoded)

    def step(self, tokens: Tensor, state: Any, memory: Any) -> Step:
        return self.writer.step(tokens, state, memory)

    def quick(self, memory: Any) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        decoded: Decoded = self.writer(tokens, encoded)
        return decoded

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
        """In training the total has the gradient above and means nothing else; the weights are the samples' mean."""
        if not self.training:
            return self.writer.loss(tokens, encoded, wanted, looked)
        chances = [self.draw(tokens, encoded) for _ in range(self.samples)]
        walks = [self.walk(tokens, encoded, chance) for chance in chances]
        told = [self.judge(walk, chance, wanted) for walk, chance in zip(walks, chances, strict=True)]
        self._follow(walks, chances, wanted.targets)
        total, nll = (torch.stack([getattr(one, name) for one in told]).mean(0) for name in ("total", "nll"))
        weights = torch.stack([walk.weights for walk in walks]).mean(0)  # (B, T, S)
        return Told(Loss(total, nll, told[0].symbols), weights)

    def draw(self, tokens: Tensor, encoded: Encoded) -> Chance:
        rows, steps = tokens.shape
        race = start_race(encoded.values.new_empty(rows, steps, encoded.mask.size(1)))  # (B, T, S)
        return Chance(race, torch.rand(rows, device=tokens.device) < self.expected)

    def walk(self, tokens: Tensor, encoded: Encoded, chance: Chance) -> Walk:
        """y_0 … y_{T-1} (B, T) read with these chances."""
        state, memory = self.writer.start(encoded)
        steps = []
        with gathered(self.writer, encoded.values):
            for token, race in zip(tokens.unbind(1), chance.race.unbind(1), strict=True):
                seen, state = self.writer.move(token, state, memory._replace(draw=Draw(race, chance.expected)))
                steps.append(seen)
        logits = self.writer.output.logits(torch.stack([one.readout for one in steps], 1))  # (B, T, N)
        weights = torch.stack([one.weights for one in steps], 1)  # (B, T, S)
        return Walk(logits, weights, winner(weights, chance.race))

    def judge(self, walk: Walk, chance: Chance, wanted: Wanted) -> Loss:
        """−Σ [log p(y | s̃) + λ_r r log p(s̃) + λ_e H[s̃]], where the reward r = log p(y | s̃) − b is held still"""
        real = wanted.targets != PAD  # (B, T)
        loss = cross_entropy(walk.logits, wanted.targets, wanted.smoothing)
        reward = sequence_log_probs(walk.logits, wanted.targets).detach() - self.baseline  # (B,)
        log_weights = walk.weights.clamp(min=torch.finfo(walk.weights.dtype).tiny).log()  # (B, T, S)
        chosen = log_weights.gather(-1, walk.places[:, :, None])[:, :, 0]  # (B, T)  log p(s̃_t)
        unsure = -(walk.weights * log_weights).sum(-1)  # (B, T)  H[s̃_t]
        taught = self.reinforce * reward[:, None] * chosen + self.entropy * unsure  # (B, T)
        return loss._replace(total=loss.total - (taught * real * ~chance.expected[:, None]).sum())

    @torch.no_grad()
    def _follow(self, walks: list[Walk], chances: list[Chance], targets: Tensor) -> None:
        """b_k, the same in all processes; it stays where all sources were read softly."""
        likely = torch.stack([sequence_log_probs(walk.logits, targets) for walk in walks])  # (N, B)
        drawn = torch.stack([~chance.expected for chance in chances]).to(likely.dtype)  # (N, B)
        sums = torch.stack([(likely * drawn).sum(), drawn.sum()])  # (2,)
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(sums)
        seen = torch.lerp(self.baseline, (sums[0] / sums[1].clamp(min=1)).to(self.baseline), 1 - DECAY)
        self.baseline.copy_(torch.where(sums[1] > 0, seen, self.baseline))
