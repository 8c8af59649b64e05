"""A question looks at a picture: once, twice, or not at all."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.attention.memory import Encoded
from regard.attention.pool import AttentionPool
from regard.decoders.asking import QuestionReader
from regard.decoders.choice import Classifier
from regard.dropout import Dropout
from regard.encoders.asking import RARE, Beside, Concatenated, StackedAttention, log_mean
from tests.encoders.plane_laws import randomised
from tests.tiny import arrays, softmax

B, S, V, Q, A, N = 3, 7, 5, 11, 13, 17
COUNTS = torch.tensor([4, 7, 1])


def picture(seed: int = 1) -> Encoded:
    values = torch.randn(B, S, V, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    mask = torch.arange(S) < COUNTS[:, None]
    return Encoded(values, mask, (values * mask[:, :, None]).sum(1) / COUNTS[:, None])


def question() -> Encoded:
    values = torch.randn(B, 2, Q, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return Encoded(values, torch.ones(B, 2, dtype=torch.bool), values[:, -1])


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-9, rtol=0)


@pytest.mark.parametrize(("hops", "sharpness"), [(1, 1.0), (2, 1.0), (3, 1.0), (2, 15.0)])
def test_stacked_attention_is_its_equation(hops: int, sharpness: float) -> None:
    made = randomised(StackedAttention(V, Q, A, hops, sharpness=sharpness))
    W, b = arrays(made.W)
    asked = made(picture(), question())
    assert asked.weights.shape == (B, hops, S)
    for row, count in enumerate(COUNTS.tolist()):
        places = [one / np.sqrt(np.mean(one**2)) for one in picture().values[row, :count].numpy()]
        u = q = question().summary[row].numpy()
        for k, look in enumerate(made.looks):
            W_k, U_k, b_k, w_k = arrays(look.score)
            p = softmax(np.array([sharpness * w_k[0] @ np.tanh(W_k @ u + U_k @ one + b_k) for one in places]))
            np.testing.assert_allclose(asked.weights[row, k, :count].detach(), p, atol=1e-12)
            found = np.tanh(W @ sum(weight * one for weight, one in zip(p, places, strict=True)) + b)
            u = u + found
        np.testing.assert_allclose(asked.vector[row].detach(), np.concatenate([q, found]), atol=1e-12)


def test_looks_without_sharpness_are_read_in_one_pass() -> None:
    assert [look.is_additive for look in StackedAttention(V, Q, A, 2).looks] == [True, True]
    assert [look.is_additive for look in StackedAttention(V, Q, A, 1, sharpness=2.0).looks] == [False]


def test_a_second_hop_asks_with_what_the_first_found() -> None:
    made = randomised(StackedAttention(V, Q, A, 2))
    made.looks[1].load_state_dict(made.looks[0].state_dict())
    once, twice = StackedAttention(V, Q, A, 1).double(), made(picture(), question())
    once.load_state_dict({name: weight for name, weight in made.state_dict().items() if not name.startswith("looks.1")})
    first = once(picture(), question())
    asks = question().summary + first.vector[:, Q:]
    again = once(picture(), question()._replace(summary=asks))
    same(twice.weights, torch.cat([first.weights, again.weights], 1))
    same(twice.vector[:, Q:], again.vector[:, Q:])
    same(twice.vector[:, :Q], question().summary)


def test_a_hop_leans_to_places_that_look_like_the_words_it_is_after() -> None:
    """γ (energy_ki + (M_k u) · σ(O a_i + b)), and of the picture the log of the mean of e^{n_i}"""
    made = randomised(StackedAttention(V, Q, A, 2, names=N, sharpness=3.0))
    W, b = arrays(made.W)
    named, c = arrays(made.O)
    asked = made(picture(), question())
    for row, count in enumerate(COUNTS.tolist()):
        places = [one / np.sqrt(np.mean(one**2)) for one in picture().values[row, :count].numpy()]
        names = [named @ one + c for one in places]
        u = question().summary[row].numpy()
        for k, look in enumerate(made.looks):
            (M,) = arrays(made.M[k])
            W_k, U_k, b_k, w_k = arrays(look.score)
            energy = [w_k[0] @ np.tanh(W_k @ u + U_k @ one + b_k) for one in places]
            p = softmax(3 * np.array([e + M @ u @ (1 / (1 + np.exp(-n))) for e, n in zip(energy, names, strict=True)]))
            np.testing.assert_allclose(asked.weights[row, k, :count].detach(), p, atol=1e-12)
            u = u + np.tanh(W @ sum(weight * one for weight, one in zip(p, places, strict=True)) + b)
        np.testing.assert_allclose(asked.named[row].detach(), np.log(np.mean(np.exp(names), 0)), atol=1e-12)


def test_names_of_a_picture_are_safe_from_garbage_and_size() -> None:
    mask = torch.tensor([[True, True, False]])
    far = torch.tensor([[[300.0, -300.0], [300.0, -300.0], [torch.inf, torch.nan]]], dtype=torch.float64)
    same(log_mean(far, mask), torch.tensor([[300.0, -300.0]], dtype=torch.float64))


@pytest.mark.parametrize("names", [0, N])
@pytest.mark.parametrize("hops", [1, 3])
def test_that_begins_side_by_side(hops: int, names: int) -> None:
    """Before it has learnt where to look, all places are alike."""
    made, beside = randomised(StackedAttention(V, Q, A, hops, names=names)), Beside(V, Q).double()
    beside.load_state_dict({name: weight for name, weight in made.state_dict().items() if name.startswith("W.")})
    apart = made(picture(), question()).vector - beside(picture(), question()).vector
    assert apart.abs().max() > 1e-3
    made.begin()
    same(made(picture(), question()).vector, beside(picture(), question()).vector)
    assert made.O is None or (made.O.bias == RARE).all()


@pytest.mark.parametrize(
    ("made", "hops", "names"),
    [
        (Concatenated(V, Q), 0, 0),
        (Beside(V, Q), 0, 0),
        (StackedAttention(V, Q, A, 1), 1, 0),
        (StackedAttention(V, Q, A, 2), 2, 0),
        (StackedAttention(V, Q, A, 2, names=N), 2, N),
    ],
)
def test_padding_and_batch_mates_change_nothing(made: nn.Module, hops: int, names: int) -> None:
    made = randomised(made)
    asked = made(picture(), question())
    assert asked.vector.shape == (B, made.size)
    garbage = picture()._replace(values=picture().values.masked_fill(~picture().mask[:, :, None], 1e3))
    same(made(garbage, question()).vector, asked.vector)
    for row, count in enumerate(COUNTS.tolist()):
        one = Encoded(
            picture().values[row, None, :count], picture().mask[row, None, :count], picture().summary[row, None]
        )
        alone = made(one, Encoded(*(part[row, None] for part in question()[:3])))
        same(alone.vector[0], asked.vector[row])
        same(alone.weights[0], asked.weights[row, :, :count])
        if names:
            same(alone.named[0], asked.named[row])
        assert (asked.weights[row, :, count:] == 0).all()
        same(asked.weights[row].sum(-1), torch.ones(hops, dtype=torch.float64))


def test_beside_is_both_summaries() -> None:
    made = randomised(Beside(V, Q))
    asked = made(picture(), question())
    W, b = arrays(made.W)
    same(asked.vector[:, :Q], question().summary)
    for row, count in enumerate(COUNTS.tolist()):
        mean = np.mean([one / np.sqrt(np.mean(one**2)) for one in picture().values[row, :count].numpy()], 0)
        np.testing.assert_allclose(asked.vector[row, Q:].detach(), np.tanh(W @ mean + b), atol=1e-12)
    assert asked.weights.shape == (B, 0, S)


def test_concatenated_is_both_summaries_as_they_are() -> None:
    asked = Concatenated(V, Q)(picture(), question())
    same(asked.vector[:, :Q], question().summary)
    for row, count in enumerate(COUNTS.tolist()):
        mean = np.mean([one / np.sqrt(np.mean(one**2)) for one in picture().values[row, :count].numpy()], 0)
        np.testing.assert_allclose(asked.vector[row, Q:], mean, atol=1e-12)
    assert asked.weights.shape == (B, 0, S)


@pytest.mark.parametrize("names", [0, N])
def test_gradients(names: int) -> None:
    made = randomised(StackedAttention(V, Q, A, 2, names=names))

    def look(values: Tensor, summary: Tensor) -> tuple[Tensor, ...]:
        asked = made(picture()._replace(values=values), question()._replace(summary=summary))
        return (asked.vector, asked.weights, *([asked.named] if names else []))

    assert gradcheck(
        look, (picture().values.requires_grad_(), question().summary.clone().requires_grad_()), fast_mode=True
    )


def test_words_of_a_question_are_weighed_and_what_asks_is_their_sum() -> None:
    """u_0 = Σ_j α_j q_j, where the last state is not asked."""
    pool = randomised(AttentionPool(Q, A, 1))
    asks, classifier = randomised(StackedAttention(V, Q, A, 1)), randomised(Classifier(2 * Q, 0, 3, Dropout(0.0)))
    reader = QuestionReader(Given(picture()), Given(question()), asks, classifier, pool)
    chosen = reader(None, None)
    looks, words = chosen.seen
    vector, weights = pool(question().values, question().mask)
    same(words.weights, weights)
    assert (words.columns, looks.columns) == ("beside", "source")
    asked = asks(picture(), question()._replace(summary=vector))
    same(looks.weights, asked.weights)
    same(chosen.logits, classifier(asked.vector))
    assert len(QuestionReader(Given(picture()), Given(question()), asks, classifier)(None, None).seen) == 1
    beside = randomised(Beside(V, Q))
    (words,) = QuestionReader(Given(picture()), Given(question()), beside, classifier, pool)(None, None).seen
    same(words.weights, weights)


class Given(nn.Module):
    """Hands over what was encoded before."""

    def __init__(self, encoded: Encoded):
        super().__init__()
        self.encoded = encoded

    def forward(self, source: None) -> Encoded:
        return self.encoded
