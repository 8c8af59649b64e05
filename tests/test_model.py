"""Scheduled sampling, and how a model begins."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Encoded
from regard.cells import CELLS, BaseCell
from regard.data.vocabulary import BEGIN, PAD
from regard.decoders.step import Decoded, Step
from regard.errors import UsageError
from regard.model import EncoderDecoder
from regard.recipe import Model, Recipe
from regard.tasks.sequence import build
from tests.tiny import ATTENTIONS, CODEC, SIZES, model, padded

SOURCE = padded([4, 5, 6, 7, 8], [9, 8], [7])
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, 8, 4], [BEGIN, 5, 7, 4]])
OWN = 9  # what the parrot says

every_attention = pytest.mark.parametrize("attention", ["additive", "coverage", "monotonic", "none"])


class Parrot(nn.Module):
    """A decoder that always says the same and keeps what it was given to read."""

    attends = True

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Tensor] = []

    def start(self, encoded: Encoded) -> tuple[Any, Any]:
        return None, None

    def step(self, tokens: Tensor, state: Any, memory: Any) -> Step:
        self.read.append(tokens)
        logits = nn.functional.one_hot(torch.full_like(tokens, OWN), 11).double()
        return Step(logits, None, logits[:, :3])


class Silent(nn.Module):
    def forward(self, source: Any) -> Encoded:
        return Encoded(source.data, source.mask, source.data)


def read_by_parrot(own: float, seed: int = 0) -> Tensor:
    """(B, T) which symbols it was given to read, of 50 sequences of 40 symbols 4."""
    parrot = Parrot()
    torch.manual_seed(seed)
    EncoderDecoder(Silent(), parrot)(padded([4]), torch.full((50, 40), 4), own)
    return torch.stack(parrot.read, 1)


@every_attention
def test_own_words_never_is_teacher_forcing(attention: str) -> None:
    """The slow path of scheduled sampling reads the true symbols unless a coin says otherwise."""
    made = model(**ATTENTIONS[attention], input_feeding=True)
    forced, sampled = made(SOURCE, TOKENS), made(SOURCE, TOKENS, own=1e-12)
    torch.testing.assert_close(sampled.logits, forced.logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(sampled.weights, forced.weights, atol=1e-12, rtol=0)


@every_attention
def test_own_words_always_reads_what_it_would_have_written(attention: str) -> None:
    made = model(**ATTENTIONS[attention])
    state, memory = made.decoder.start(made.encode(SOURCE))
    token, logits, weights = TOKENS[:, 0], [], []
    for _ in range(4):
        step = made.decoder.step(token, state, memory)
        state, token = step.state, step.logits.argmax(-1)
        logits.append(step.logits)
        weights.append(step.weights)
    found: Decoded = made(SOURCE, TOKENS, own=1.0)
    torch.testing.assert_close(found.logits, torch.stack(logits, 1), atol=1e-12, rtol=0)
    torch.testing.assert_close(found.weights, torch.stack(weights, 1), atol=1e-12, rtol=0)
    assert (found.logits - made(SOURCE, TOKENS).logits).abs().max() > 1e-3


def test_each_symbol_of_each_sequence_has_its_own_coin() -> None:
    read = read_by_parrot(0.3)
    assert set(read.unique().tolist()) == {4, OWN}
    assert (read[:, 0] == 4).all()  # the first symbol is given
    mine = (read[:, 1:] == OWN).double()  # (50, 39)
    assert abs(mine.mean() - 0.3) < 0.03
    assert len({tuple(row) for row in mine.tolist()}) == 50
    assert len({tuple(column) for column in mine.T.tolist()}) == 39
    assert (mine.mean(0) - 0.3).abs().max() < 0.25  # no step at which all sequences agree
    assert (mine.mean(1) - 0.3).abs().max() < 0.25  # no sequence whose symbols all agree


def test_coins_follow_the_seed() -> None:
    assert torch.equal(read_by_parrot(0.3, seed=1), read_by_parrot(0.3, seed=1))
    assert not torch.equal(read_by_parrot(0.3, seed=1), read_by_parrot(0.3, seed=2))


def test_own_words_teach_every_weight() -> None:
    made = model(score="additive")
    made(SOURCE, TOKENS, own=0.5).logits.log_softmax(-1)[:, :, 4].sum().backward()
    for name, weight in made.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        assert (weight.grad != 0).any(), name


# -- how a model begins ----------------------------------------------------------------------------------------


def fresh(seed: int = 0, **options: Any) -> EncoderDecoder:
    torch.manual_seed(seed)
    return build(CODEC, Recipe(model=Model(**{**SIZES, **options})))


def recurrences(made: EncoderDecoder) -> list[Tensor]:
    mine = [module.U.weight for module in made.modules() if isinstance(module, BaseCell)]
    theirs = [weight for name, weight in made.encoder.named_parameters() if "weight_hh" in name]
    return mine + theirs


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrences_begin_orthogonal(cell: str, bidirectional: bool) -> None:
    """Gate by gate, in the encoder's two layers and the decoder's two."""
    found = recurrences(fresh(cell=cell, bidirectional=bidirectional, encoder_layers=2, decoder_layers=2))
    assert len(found) == 2 + 2 * (1 + bidirectional)
    for U in found:
        gates = U.unflatten(0, (-1, U.size(1)))  # (G, H, H)
        assert len(gates) == CELLS[cell].gates
        torch.testing.assert_close(gates @ gates.mT, torch.eye(U.size(1)).expand_as(gates), atol=1e-5, rtol=0)


@pytest.mark.parametrize("score", ["projected", "additive", "mlp"])
def test_only_recurrences_begin_orthogonal(score: str) -> None:
    """A score's U is no recurrence: it has Xavier's bound, and fills it."""
    U = fresh(score=score).decoder.attention.score.U.weight  # (A, V)
    bound = (6 / (11 + 6)) ** 0.5
    assert 0.8 * bound < U.abs().max() <= bound


def test_forget_gates_begin_by_remembering() -> None:
    """The two biases of a gate are added: one is 1, the other 0, and so are all others."""
    made = fresh(cell="lstm", encoder_layers=2, decoder_layers=2)
    biases = [
        weight.chunk(4)
        for name, weight in made.named_parameters()
        if "bias_ih" in name or (name.endswith("W.bias") and ".cells." in name)
    ]
    assert len(biases) == 2 * 2 + 2
    for admit, forget, new, emit in biases:
        assert (forget == 1).all()
        assert all((gate == 0).all() for gate in (admit, new, emit))
    others = [w for name, w in made.named_parameters() if "bias_hh" in name or name.endswith("U.bias")]
    assert all((bias == 0).all() for bias in others)


@pytest.mark.parametrize("cell", ["tanh", "sigmoid", "gru"])
def test_other_biases_begin_at_zero(cell: str) -> None:
    made = fresh(cell=cell)
    biases = [weight for name, weight in made.named_parameters() if "bias" in name]
    assert len(biases) > 5
    assert all((bias == 0).all() for bias in biases)


@pytest.mark.parametrize("tie", [False, True])
def test_padding_begins_at_zero_and_other_symbols_do_not(tie: bool) -> None:
    made = fresh(tie=tie, readout=5)
    tables = [module.weight for module in made.modules() if isinstance(module, nn.Embedding)]
    assert len(tables) == 2
    for table in tables:
        assert (table[PAD] == 0).all()
        assert (table[1:] != 0).all()
        assert 0.5 < table[1:].std() * 5**0.5 < 1.5


def test_a_tied_output_is_the_embedding() -> None:
    tied, apart = fresh(tie=True, readout=5), fresh(readout=5)
    assert tied.decoder.output.O.weight is tied.decoder.words.weight
    count = [sum(weight.numel() for weight in made.parameters()) for made in (tied, apart)]
    assert count[1] - count[0] == apart.decoder.words.weight.numel()
    logits = tied(SOURCE, TOKENS).logits
    with torch.no_grad():
        tied.decoder.words.weight[5] *= 2
    assert not torch.equal(tied(SOURCE, TOKENS).logits[:, 0, 5], logits[:, 0, 5])


def test_a_tied_output_needs_one_size() -> None:
    with pytest.raises(UsageError, match=r"model\.embed=5 and model\.readout=7 must be alike"):
        fresh(tie=True, readout=7)


def test_a_model_follows_the_seed() -> None:
    one, same, other = (fresh(seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["decoder.words.weight"], other["decoder.words.weight"])
