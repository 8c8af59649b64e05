"""Hard attention learns by REINFORCE: on average its gradient is that of the sum over all paths, written out here."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Attention, Encoded, GatedAttention, HardAttention
from regard.cells import CELLS
from regard.data.vocabulary import BEGIN, END, PAD
from regard.decoders.conditional import ConditionalDecoder
from regard.decoders.hard import Chance, HardDecoder, Walk
from regard.decoders.output import OUTPUTS
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.start import STARTS
from regard.errors import UsageError
from regard.losses import Loss, Wanted, cross_entropy, sequence_log_probs
from regard.model import EncoderDecoder
from regard.recipe import Model, Training
from regard.tasks.parts import make_attention
from regard.training.engine import Engine
from regard.training.learner import Learner
from tests.tiny import SIZES, padded, unroll

S, V, H, E, N = 3, 6, 6, 5, 9
TOKENS, TARGETS = torch.tensor([[BEGIN, 5]]), torch.tensor([[5, END]])  # T = 2
WANTED = Wanted(TARGETS, 0.0)
PATHS = list(itertools.product(range(S), repeat=2))

KINDS: dict[str, dict[str, Any]] = {
    "previous": {"query": "previous"},
    "current, fed": {"query": "current", "input_feeding": True},
    "coverage": {"query": "previous", "terms": ("coverage",)},
    "gated": {"query": "previous", "gate": True},
    "between": {"query": "between"},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind: str = "previous", soft: bool = False, **hard: Any) -> Any:
    """A small decoder with hard attention, or the same with the soft one inside."""
    torch.manual_seed(0)
    options = dict(KINDS[kind])
    query, gate, feeding = options.pop("query"), options.pop("gate", False), options.pop("input_feeding", False)
    attention: Any = make_attention(H, V, Model(**{**SIZES, **options}))
    assert isinstance(attention, Attention)
    attention = attention if soft else HardAttention(attention)
    attention = GatedAttention(attention, H) if gate else attention
    parts = (N, E, H, attention, OUTPUTS["deep"](H, V, E, 7, N), STARTS["last"](V, H, 1, CELLS["gru"].parts), "gru")
    writer: Any = (
        ConditionalDecoder(*parts)
        if query == "between"
        else RecurrentDecoder(*parts, query=query, input_feeding=feeding)
    )
    for weight in writer.parameters():
        nn.init.normal_(weight, std=0.7)
    return (writer if soft else HardDecoder(writer, **hard)).double()


def source(rows: int = 1) -> Encoded:
    torch.manual_seed(1)
    values = torch.randn(1, S, V).double().expand(rows, S, V)
    return Encoded(values, torch.ones(rows, S, dtype=torch.bool), values.mean(1))


def along(path: tuple[int, ...]) -> Chance:
    """The chance that leads along these places."""
    race = torch.ones(1, len(path), S).double()
    race[0, range(len(path)), path] = 1e-12
    return Chance(race, torch.tensor([False]))


def gradients(loss: Tensor, decoder: nn.Module) -> list[Tensor]:
    learnt = [weight for weight in decoder.parameters() if weight.requires_grad]
    found = torch.autograd.grad(loss, learnt, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(weight) if one is None else one for one, weight in zip(found, learnt, strict=True)]


def path_log_prob(walk: Walk) -> Tensor:
    """log p(s̃ | a)"""
    return walk.weights.gather(-1, walk.places[:, :, None]).log().sum()


def close(one: list[Tensor], other: list[Tensor], tolerance: float = 1e-10) -> None:
    for mine, theirs in zip(one, other, strict=True):
        torch.testing.assert_close(mine, theirs, atol=tolerance, rtol=0)


# -- the gradient ----------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("baseline", [0.0, -4.5])
def test_summed_over_all_paths_it_is_the_gradient_of_the_expectation(kind: str, baseline: float) -> None:
    """With λ_r = 1 and λ_e = 0, whatever the baseline:  Σ_s p(s) estimate(s) = −∂ Σ_s p(s) log p(y | s)"""
    decoder, encoded = make(kind, reinforce=1.0, entropy=0.0), source()
    nn.init.constant_(decoder.baseline, baseline)
    bound, estimate = torch.zeros(()).double(), None
    for path in PATHS:
        walk = decoder.walk(TOKENS, encoded, along(path))
        assert walk.places.tolist() == [list(path)]
        probability = path_log_prob(walk).exp()
        bound = bound + probability * sequence_log_probs(walk.logits, TARGETS).sum()
        mine = gradients(probability.detach() * decoder.judge(walk, along(path), WANTED).total, decoder)
        estimate = mine if estimate is None else [a + b for a, b in zip(estimate, mine, strict=True)]
    assert estimate is not None
    exact = gradients(-bound, decoder)
    close(estimate, exact)
    score = dict(zip([name for name, one in decoder.named_parameters() if one.requires_grad], exact, strict=True))
    assert all((one.abs() > 1e-6).any() for name, one in score.items() if "score" in name)


def test_the_probabilities_of_all_paths_sum_to_one() -> None:
    decoder, encoded = make(), source()
    walks = [decoder.walk(TOKENS, encoded, along(path)) for path in PATHS]
    assert sum(float(path_log_prob(walk).exp().detach()) for walk in walks) == pytest.approx(1)
    assert len({float(walk.logits.detach().sum()) for walk in walks}) == len(PATHS)  # each path says something else


def test_the_three_terms_have_their_factors() -> None:
    """∂ log p(y | s̃) + λ_r (log p(y | s̃) − b) ∂ log p(s̃) + λ_e ∂ H[s̃], path by path."""
    decoder, encoded = make(reinforce=0.7, entropy=0.3), source()
    nn.init.constant_(decoder.baseline, -2.0)
    for path in PATHS:
        walk = decoder.walk(TOKENS, encoded, along(path))
        likelihood = sequence_log_probs(walk.logits, TARGETS).sum()
        entropy = sum(torch.distributions.Categorical(walk.weights[0, t]).entropy() for t in range(2))
        expected = [
            -(a + 0.7 * (float(likelihood.detach()) + 2.0) * b + 0.3 * c)
            for a, b, c in zip(
                *(gradients(one, decoder) for one in (likelihood, path_log_prob(walk), entropy)), strict=True
            )
        ]
        close(gradients(decoder.judge(walk, along(path), WANTED).total, decoder), expected)


def test_samples_have_the_expectations_gradient_in_the_mean() -> None:
    """20 batches of 2,000 equal sources: the mean lies within five standard errors of the exact gradient."""
    decoder, rows, groups = make(reinforce=1.0, entropy=0.0, expected=0.0).train(), 2000, 20
    nn.init.constant_(decoder.baseline, -4.0)
    bound = torch.zeros(()).double()
    for path in PATHS:
        walk = decoder.walk(TOKENS, source(), along(path))
        bound = bound + path_log_prob(walk).exp() * sequence_log_probs(walk.logits, TARGETS).sum()
    exact = torch.cat([one.flatten() for one in gradients(-bound, decoder)])
    many, tokens, wanted = source(rows), TOKENS.expand(rows, -1), Wanted(TARGETS.expand(rows, -1), 0.0)
    torch.manual_seed(3)
    totals = (decoder.loss(tokens, many, wanted, False).loss.total / rows for _ in range(groups))
    found = torch.stack([torch.cat([one.flatten() for one in gradients(total, decoder)]) for total in totals])
    error = found.std(0) / groups**0.5
    apart = (found.mean(0) - exact).abs()
    assert (apart <= 5 * error + 1e-9).all()
    assert (apart.norm() < 0.1 * exact.norm()).item()  # and the errors are small enough to mean something


def test_a_bandit_learns_the_arm_that_pays() -> None:
    """Three places, one of which makes the answer likely; only the score learns, and only by λ_r's term."""
    torch.manual_seed(0)
    decoder = make(reinforce=1.0, entropy=0.0, expected=0.0).train()
    rows, encoded = 32, source(32)
    with torch.no_grad():
        told = [
            float(sequence_log_probs(decoder.walk(TOKENS, source(), along((j, j))).logits, TARGETS)) for j in range(S)
        ]
    best, worst = max(range(S), key=told.__getitem__), min(range(S), key=told.__getitem__)
    learnt = list(decoder.writer.attention.attention.score.parameters())
    rule, wanted = torch.optim.Adam(learnt, lr=0.03), Wanted(TARGETS.expand(rows, -1), 0.0)

    def shares() -> Tensor:
        return decoder(TOKENS, source()).weights[0, 1].detach()

    before = shares()
    for _ in range(60):
        rule.zero_grad()
        decoder.loss(TOKENS.expand(rows, -1), encoded, wanted, False).loss.total.backward()
        rule.step()
    assert shares()[best] > before[best]
    assert shares()[worst] < before[worst]
    assert shares()[best] > 0.8


# -- soft and hard ---------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_always_expected_it_is_soft_attention(kind: str, smoothing: float) -> None:
    """The loss, its parts and every gradient, with padding and several samples."""
    hard, soft = make(kind, expected=1.0, entropy=0.5, samples=2).train(), make(kind, soft=True).train()
    torch.manual_seed(2)
    values, mask = torch.randn(2, S, V).double(), torch.tensor([[True] * 3, [True, True, False]])
    encoded = Encoded(values, mask, values[:, 0])
    tokens = torch.tensor([[BEGIN, 5, 7], [BEGIN, 6, PAD]])
    wanted = Wanted(torch.tensor([[5, 7, END], [6, END, PAD]]), smoothing)
    mine, theirs = (one.loss(tokens, encoded, wanted, True) for one in (hard, soft))
    for one, other in zip(mine.loss, theirs.loss, strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)
    torch.testing.assert_close(mine.weights, theirs.weights, atol=1e-12, rtol=0)
    close(gradients(mine.loss.total, hard), gradients(theirs.loss.total, soft))
    assert hard.baseline.item() == 0


def test_each_source_is_read_softly_or_hard_for_all_its_steps() -> None:
    decoder, soft = make(), make(soft=True)
    encoded, tokens = source(2), TOKENS.expand(2, -1)
    race = along((2, 0)).race.expand(2, -1, -1)
    walk = decoder.walk(tokens, encoded, Chance(race, torch.tensor([True, False])))
    torch.testing.assert_close(walk.logits[0], soft(TOKENS, source()).logits[0], atol=1e-12, rtol=0)
    torch.testing.assert_close(walk.logits[1], decoder.walk(TOKENS, source(), along((2, 0))).logits[0])
    torch.manual_seed(0)
    shares = torch.cat([decoder.draw(tokens, encoded).expected for _ in range(2000)]).double().mean()
    assert shares == pytest.approx(0.5, abs=0.04)


@every_kind
@torch.no_grad()
def test_answers_are_left_to_no_chance(kind: str) -> None:
    """Steps equal all at once, each reads its likeliest place, losses are theirs, and no number is drawn."""
    decoder, encoded = make(kind).eval(), source()
    state_of_chance = torch.get_rng_state()
    decoded, steps = decoder(TOKENS, encoded), unroll(decoder, TOKENS, *decoder.start(encoded))
    torch.testing.assert_close(steps.logits, decoded.logits, atol=1e-12, rtol=0)
    likeliest = tuple(decoded.weights[0].argmax(-1).tolist())
    torch.testing.assert_close(decoder.walk(TOKENS, encoded, along(likeliest)).logits, decoded.logits)
    told = decoder.loss(TOKENS, encoded, WANTED, True)
    torch.testing.assert_close(told.loss.nll, cross_entropy(decoded.logits, TARGETS).nll)
    assert decoder.baseline.item() == 0
    assert torch.equal(torch.get_rng_state(), state_of_chance)


def test_several_samples_are_their_mean() -> None:
    several, one, encoded = make(samples=3).train(), make().train(), source()
    torch.manual_seed(4)
    together = several.loss(TOKENS, encoded, WANTED, True)
    torch.manual_seed(4)
    alone = []
    for _ in range(3):
        nn.init.zeros_(one.baseline)
        alone.append(one.loss(TOKENS, encoded, WANTED, True))
    torch.testing.assert_close(together.loss.total, torch.stack([each.loss.total for each in alone]).mean())
    torch.testing.assert_close(together.loss.nll, torch.stack([each.loss.nll for each in alone]).mean())
    torch.testing.assert_close(together.weights, torch.stack([each.weights for each in alone]).mean(0))
    assert together.loss.symbols == 2


def test_padding_and_batch_mates_change_nothing() -> None:
    decoder = make(expected=0.0)
    torch.manual_seed(2)
    values, mask = torch.randn(2, S, V).double(), torch.tensor([[True] * 3, [True, True, False]])
    encoded, tokens = Encoded(values, mask, values[:, 0]), torch.tensor([[BEGIN, 5, 7], [BEGIN, 6, PAD]])
    targets = torch.tensor([[5, 7, END], [6, END, PAD]])
    chance = decoder.draw(tokens, encoded)
    together = decoder.judge(decoder.walk(tokens, encoded, chance), chance, Wanted(targets, 0.0))
    totals = []
    for row, (steps, places) in enumerate(((3, 3), (2, 2))):
        alone = Encoded(*(one[row : row + 1, :places] for one in encoded[:2]), encoded.summary[row : row + 1])
        own = Chance(chance.race[row : row + 1, :steps, :places], chance.expected[row : row + 1])
        walk = decoder.walk(tokens[row : row + 1, :steps], alone, own)
        totals.append(decoder.judge(walk, own, Wanted(targets[row : row + 1, :steps], 0.0)).total)
    torch.testing.assert_close(sum(totals), together.total, atol=1e-9, rtol=0)


def test_needs_a_hard_attention() -> None:
    with pytest.raises(UsageError, match="HardAttention"):
        HardDecoder(make(soft=True))


# -- the baseline ----------------------------------------------------------------------------------------------


def test_the_baseline_follows_what_was_drawn() -> None:
    """b_k = 0.9 b_{k-1} + 0.1 mean log p(y | s̃_k) over the sources that were not read softly."""
    decoder, encoded = make(expected=0.4).train(), source(8)
    tokens, wanted, b = TOKENS.expand(8, -1), Wanted(TARGETS.expand(8, -1), 0.0), 0.0
    for seed in range(4):
        torch.manual_seed(seed)
        chance = decoder.draw(tokens, encoded)
        likely = sequence_log_probs(decoder.walk(tokens, encoded, chance).logits, wanted.targets).detach()
        torch.manual_seed(seed)
        decoder.loss(tokens, encoded, wanted, False)
        b = 0.9 * b + 0.1 * float(likely[~chance.expected].mean())
        assert decoder.baseline.item() == pytest.approx(b)


def test_a_batch_is_held_against_the_baseline_before_it() -> None:
    """Else its own samples would sway what they are compared with, and the mean would be off."""
    decoder, encoded = make(expected=0.0).train(), source()
    torch.manual_seed(1)
    chance = decoder.draw(TOKENS, encoded)
    expected = decoder.judge(decoder.walk(TOKENS, encoded, chance), chance, WANTED).total
    torch.manual_seed(1)
    torch.testing.assert_close(decoder.loss(TOKENS, encoded, WANTED, False).loss.total, expected)


class Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(N, V)

    def forward(self, read: Any) -> Encoded:
        values = self.table(read.data)
        return Encoded(values, read.mask, values.mean(1))


def learner() -> Learner:
    torch.manual_seed(0)
    model = EncoderDecoder(Bag(), make(entropy=0.01)).float().train()
    return Learner(model, Training(average="ema"), Engine("cpu"))


def update(one: Learner, number: int) -> None:
    tokens, targets = torch.tensor([[BEGIN, 5], [BEGIN, 6]]), torch.tensor([[5, END], [6, END]])
    loss: Loss = one.model(padded([4, 5, 6], [7, 8]), tokens, 0.0, Wanted(targets, 0.0))
    loss.total.backward()
    one.step(0.01, number, one.length())


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit() -> None:
    """The baseline lies among the weights; neither optimiser nor average touch it."""
    whole = learner()
    torch.manual_seed(7)
    for number in range(3):
        update(whole, number)
    kept, chance = {name: one.clone() for name, one in whole.tensors().items()}, torch.get_rng_state()
    for number in range(3, 6):
        update(whole, number)
    second = learner()
    second.restore(kept)
    torch.set_rng_state(chance)
    assert second.model.decoder.baseline.item() == kept["model/decoder.baseline"].item() != 0
    for number in range(3, 6):
        update(second, number)
    first, other = whole.tensors(), second.tensors()
    assert first.keys() == other.keys()
    assert all(torch.equal(first[name], other[name]) for name in first)
    assert not any(name.startswith("optimiser/decoder.baseline") for name in first)
    assert torch.equal(first["average/decoder.baseline"], first["model/decoder.baseline"])
