"""A feed-forward language model with an attention encoder, against a loop over its equations."""

import numpy as np
import pytest
import torch

from regard.data.vocabulary import BEGIN
from regard.decoders.abs import ABSDecoder
from regard.encoders.bag import Bag
from regard.model import EncoderDecoder
from tests.tiny import N, model, padded, softmax, unroll

SOURCE = padded([4, 5, 6, 7, 9], [9, 8], [7])
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, 8, 4], [BEGIN, 5, 7, 7]])
C, Q = 3, 1


def make(**options: object) -> EncoderDecoder:
    return model(**{"attention": "abs", "order": C, "window": Q, **options})


@torch.no_grad()
def test_equals_a_loop_over_the_equations() -> None:
    made = make()
    decoder, found = made.decoder, made(SOURCE, TOKENS)
    F, E, G = (table.weight.numpy() for table in (made.encoder.embed.table, decoder.E, decoder.G))
    U, b_U, P = decoder.U.weight.numpy(), decoder.U.bias.numpy(), decoder.P.weight.numpy()
    V, b_V, W = decoder.V.weight.numpy(), decoder.V.bias.numpy(), decoder.W.weight.numpy()
    for row, length in enumerate(SOURCE.lengths.tolist()):
        x = [F[number] for number in SOURCE.data[row, :length].tolist()]
        means = [np.mean([x[i] for i in range(length) if abs(i - j) <= Q], 0) for j in range(length)]
        written = [BEGIN] * (C - 1) + TOKENS[row].tolist()
        for t in range(4):
            last = written[t : t + C]
            h = np.tanh(U @ np.concatenate([E[number] for number in last]) + b_U)
            query = P @ np.concatenate([G[number] for number in last])
            p = softmax(np.array([one @ query for one in x]))
            enc = sum(p[j] * means[j] for j in range(length))
            np.testing.assert_allclose(found.logits[row, t], V @ h + b_V + W @ enc, atol=1e-10)
            np.testing.assert_allclose(found.weights[row, t, :length], p, atol=1e-12)
        assert (found.weights[row, :, length:] == 0).all()


@pytest.mark.parametrize("order", [1, 2, 7])
def test_unrolled_steps_equal_forward(order: int) -> None:
    made = make(order=order)
    found, forward = unroll(made.decoder, TOKENS, *made.decoder.start(made.encode(SOURCE))), made(SOURCE, TOKENS)
    torch.testing.assert_close(found.logits, forward.logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(found.weights, forward.weights, atol=1e-12, rtol=0)


def test_it_sees_the_last_symbols_and_no_others() -> None:
    made = make()
    tokens = torch.tensor([[BEGIN, 4, 5, 6, 7]])
    source = padded([4, 5])
    before = made(source, tokens).logits[0]
    for place in range(1, 5):
        changed = tokens.clone()
        changed[0, place] = 8
        moved = (made(source, changed).logits[0] != before).any(-1).tolist()
        assert moved == [place <= t < place + C for t in range(5)]


@torch.no_grad()
def test_without_a_window_the_symbols_themselves_are_read() -> None:
    made = make(window=0)
    encoded = made.encode(SOURCE)
    torch.testing.assert_close(made.decoder.start(encoded)[1].values, encoded.values)


def test_gradients_by_differences() -> None:
    decoder, encoder = ABSDecoder(N, 2, 3, 5, C, Q).double(), make().encode(padded([4, 5, 6], [7]))
    values = torch.randn(2, 3, 5).double().requires_grad_()

    def logits(values: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        named = dict(zip((name for name, _ in decoder.named_parameters()), weights, strict=True))
        encoded = encoder._replace(values=values)
        return torch.func.functional_call(decoder, named, (TOKENS[:2, :2], encoded)).logits

    assert torch.autograd.gradcheck(logits, (values, *decoder.parameters()))


def test_the_bag_is_the_symbols_vectors_and_their_mean() -> None:
    made = make()
    assert isinstance(made.encoder, Bag)
    encoded, table = made.encode(SOURCE), made.encoder.embed.table.weight
    torch.testing.assert_close(encoded.values[1, :2], table[[9, 8]])
    assert (encoded.values[1, 2:] == 0).all()
    torch.testing.assert_close(encoded.summary[1], table[[9, 8]].mean(0))
