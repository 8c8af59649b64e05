"""Writing and copying in one decoder, against loops over places and symbols."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.data.batching import pad
from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, END, PAD, UNKNOWN
from regard.decoders.copying import CopyingDecoder
from regard.fast.switch import plain
from regard.losses import Wanted
from regard.model import EncoderDecoder
from regard.recipe import Side
from regard.tasks.codec import Codec
from regard.tasks.sequence import batch, encode, loss
from tests.tiny import model, sigmoid, softmax, unroll

PAIRS = [Example("abcabc", "abuv"), Example("defdef", "bcv")]  # d, e and f are no target symbols; u and v no source's
CODEC = Codec.learn(PAIRS, Side(), Side(), features=False, lowercase=False, copies=True)
N = len(CODEC.target.vocabulary)
EXAMPLES = [Example("adxyx", "xavu"), Example("cb", "vv"), Example("zbe", "ebzq")]  # x, y, z and q nobody knows
SOURCE = pad([CODEC.source_numbers(list(one.source)) for one in EXAMPLES])
TOKENS = pad([[BEGIN, *CODEC.target_numbers(list(one.target), list(one.source))] for one in EXAMPLES]).data

every_gate = pytest.mark.parametrize("copy", ["gate", "sentinel"])
every_query = pytest.mark.parametrize("query", ["previous", "current"])


def make(copy: str, seed: int = 0, **options: Any) -> EncoderDecoder:
    return model(seed, CODEC, std=0.7, copy=copy, **options)


def test_the_examples_have_symbols_of_every_kind() -> None:
    assert CODEC.foreign(list("adxyx")) == ["d", "x", "y"]
    assert TOKENS[0, 1].item() == N + 1
    assert TOKENS[2].tolist() == [BEGIN, N + 1, TOKENS[2, 2].item(), N, UNKNOWN]
    assert TOKENS[2, 2].item() < N


@every_gate
@every_query
@torch.no_grad()
def test_equals_a_loop_over_places(copy: str, query: str) -> None:
    made = make(copy, query=query)
    decoder, encoded = made.decoder, made.encode(SOURCE)
    assert isinstance(decoder, CopyingDecoder)
    found = decoder(TOKENS, encoded).logits.exp()
    seen = decoder.writer.see(torch.where(TOKENS < N, TOKENS, UNKNOWN), encoded)
    for row, example in enumerate(EXAMPLES):
        held = CODEC.target_numbers(list(example.source), list(example.source))
        for t in range(TOKENS.size(1)):
            parts = [one[row, t].numpy() for one in seen]
            g, alpha = by_hand(decoder, parts, encoded.values[row, : len(held)])
            expected = np.zeros(N + 3)
            expected[:N] = g * softmax(decoder.writer.output.logits(seen.readout[row, t]).numpy())
            for j, number in enumerate(held):
                expected[number] += (1 - g) * alpha[j]
            np.testing.assert_allclose(found[row, t], expected, atol=1e-12)


def by_hand(decoder: CopyingDecoder, parts: list[Any], values: Tensor) -> tuple[float, Any]:
    """g_t and the weights of the places, which sum to 1."""
    query, state, context, word, _, weights = parts
    score = decoder.writer.attention.score
    if isinstance(decoder.gate, nn.Module) and hasattr(decoder.gate, "w"):
        inputs = np.concatenate([context, state, word])
        odds = decoder.gate.w.weight[0].numpy() @ inputs + decoder.gate.w.bias.item()
        return float(sigmoid(odds)), weights
    asked, with_sentinel = torch.as_tensor(query)[None, None], torch.cat([decoder.gate.value[None], values])
    shares = softmax(score(asked, score.keys(with_sentinel[None]))[0, 0].numpy())  # (1 + S,)
    return shares[0], shares[1:] / shares[1:].sum()


@every_gate
@every_query
@pytest.mark.parametrize("score", ["dot", "scaled", "projected", "bilinear", "additive", "mlp"])
def test_unrolled_steps_equal_forward(copy: str, query: str, score: str) -> None:
    made = make(copy, query=query, score=score, decoder_layers=2, input_feeding=True)
    forward = made(SOURCE, TOKENS)
    found = unroll(made.decoder, TOKENS, *made.decoder.start(made.encode(SOURCE)))
    torch.testing.assert_close(found.logits, forward.logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(found.weights, forward.weights, atol=1e-12, rtol=0)


@every_gate
@pytest.mark.parametrize("options", [{}, {"cell": "gru"}, {"residual": True, "decoder_layers": 2}])
def test_all_symbols_sum_to_one(copy: str, options: dict[str, Any]) -> None:
    logits = make(copy, **options)(SOURCE, TOKENS).logits
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(3, TOKENS.size(1)).double(), atol=1e-12, rtol=0)


@pytest.mark.parametrize("options", [{"heads": 2}, {"terms": ("coverage",)}, {"window": 2}, {"normalise": "sparsemax"}])
def test_a_gate_goes_with_every_soft_attention(options: dict[str, Any]) -> None:
    made = make("gate", **options)
    forward = made(SOURCE, TOKENS)
    torch.testing.assert_close(forward.logits.exp().sum(-1), torch.ones(3, TOKENS.size(1)).double())
    found = unroll(made.decoder, TOKENS, *made.decoder.start(made.encode(SOURCE)))
    torch.testing.assert_close(found.logits, forward.logits, atol=1e-12, rtol=0)
    told = loss(made, batch(encode(CODEC, EXAMPLES), [0, 1, 2]))
    assert told.total.isfinite()


@every_gate
@every_query
def test_the_fast_path_says_the_same_and_learns_the_same(copy: str, query: str) -> None:
    made = make(copy, query=query).float()
    found = []
    for spelling in (False, True):
        made.zero_grad()
        if spelling:
            with plain():
                told = loss(made, batch(encode(CODEC, EXAMPLES), [0, 1, 2]), 0.1)
        else:
            told = loss(made, batch(encode(CODEC, EXAMPLES), [0, 1, 2]), 0.1)
        told.total.backward()
        found.append([told.total.detach(), *(weight.grad.clone() for weight in made.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@every_gate
@torch.no_grad()
def test_the_loss_is_that_of_the_mixture(copy: str) -> None:
    made, chosen = make(copy), batch(encode(CODEC, EXAMPLES), [0, 1, 2])
    reads, targets = chosen.target.data[:, :-1], chosen.target.data[:, 1:]
    log_probs = made(chosen.source, reads).logits
    nll = sum(
        -log_probs[row, t, number].item()
        for row, numbers in enumerate(targets.tolist())
        for t, number in enumerate(numbers)
        if number != PAD
    )
    told = loss(made, chosen)
    assert told.nll.item() == told.total.item() == pytest.approx(nll, abs=1e-9)
    assert told.symbols == sum(len(one.target) + 1 for one in EXAMPLES)


@torch.no_grad()
def test_smoothing_is_that_of_the_vocabulary() -> None:
    """With an open gate there is nothing but the vocabulary, and the loss is a plain model's, smoothed."""
    made = make("gate")
    made.decoder.gate.w.weight.zero_()
    made.decoder.gate.w.bias.fill_(800)
    bare = EncoderDecoder(made.encoder, made.decoder.writer)
    known = batch(encode(CODEC, [Example("adxyx", "uvab")]), [0])
    assert loss(made, known, 0.2).total.item() == pytest.approx(loss(bare, known, 0.2).total.item(), abs=1e-9)


@torch.no_grad()
def test_smoothing_does_not_pull_at_the_gate() -> None:
    made, chosen = make("gate"), batch(encode(CODEC, EXAMPLES), [0, 1, 2])
    held_back = []
    for bias in (-3.0, 2.0):
        made.decoder.gate.w.bias.fill_(bias)
        smoothed, bare = loss(made, chosen, 0.25), loss(made, chosen)
        held_back.append((smoothed.total - 0.75 * bare.total).item())
    assert held_back[0] == pytest.approx(held_back[1], abs=1e-9)


@every_gate
def test_gradients_by_differences(copy: str) -> None:
    made, chosen = make(copy), batch(encode(CODEC, EXAMPLES), [0, 1, 2])
    reads, wanted = chosen.target.data[:, :-1], Wanted(chosen.target.data[:, 1:], 0.1)
    checked = {name: weight for name, weight in made.named_parameters() if ".gate." in name or ".score." in name}

    def total(*weights: Tensor) -> Tensor:
        named = dict(zip(checked, weights, strict=True))
        return torch.func.functional_call(made, named, (chosen.source, reads, 0.0, wanted)).total

    assert len(checked) >= 4
    assert torch.autograd.gradcheck(total, tuple(checked.values()))


@every_gate
def test_every_weight_learns(copy: str) -> None:
    made = make(copy)
    loss(made, batch(encode(CODEC, EXAMPLES), [0, 1, 2]), 0.1).total.backward()
    for name, weight in made.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        assert (weight.grad != 0).any(), name


@every_gate
def test_scheduled_sampling_reads_what_it_would_have_written(copy: str) -> None:
    """Always its own words: the tokens it reads are the greedy ones, copied ones among them, and all is learnt."""
    made, chosen = make(copy, seed=3), batch(encode(CODEC, EXAMPLES), [0, 1, 2])
    if copy == "gate":
        nn.init.constant_(made.decoder.gate.w.bias, -9)  # so that it copies
    reads = chosen.target.data[:, :-1]
    mine = made._mingle(reads, made.encode(chosen.source), 1.0)
    said = made(chosen.source, mine).logits.argmax(-1)
    assert torch.equal(mine[:, 1:], said[:, :-1])
    assert (mine >= N).any()
    told = loss(made, chosen, 0.1, own=1.0)
    log_probs = made(chosen.source, mine).logits.gather(-1, chosen.target.data[:, 1:, None])[..., 0]
    assert told.nll.item() == pytest.approx(-log_probs[chosen.target.data[:, 1:] != PAD].sum().item(), abs=1e-9)
    assert torch.equal(made._mingle(reads, made.encode(chosen.source), 0.0), reads)


@torch.no_grad()
def test_told_is_the_share_of_copying() -> None:
    made = make("gate")
    encoded = made.encode(SOURCE)
    targets = torch.cat([TOKENS[:, 1:], torch.full((3, 1), END)], 1)
    told = made.decoder.tell(TOKENS, encoded, targets)
    every = made(SOURCE, TOKENS)
    torch.testing.assert_close(told.log_probs, every.logits.gather(-1, targets[..., None])[..., 0])
    foreign = targets >= N
    torch.testing.assert_close(told.copied[foreign], told.log_probs[foreign])
    assert (told.copied[~foreign] < told.log_probs[~foreign]).all()
    assert (told.copied[targets == END] < -100).all()  # END stands nowhere
