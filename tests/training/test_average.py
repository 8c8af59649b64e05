"""Averages of weights against loops over the definition."""

import numpy as np
import torch
from torch import nn

from regard.training.average import RunningAverage, mean_weights


def model_of(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7, bias=False))


def arrays(model: nn.Module) -> list[np.ndarray]:
    return [weight.detach().numpy().copy() for weight in model.parameters()]


def test_the_running_average_is_the_recurrence_it_states() -> None:
    model = model_of(1)
    average = RunningAverage(model, 0.6)
    expected = [one.astype(np.float64) for one in arrays(model)]
    for update in range(11):
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(torch.randn_like(weight))
        average.update(model, update)
        decay = min(0.6, (1 + update) / (10 + update))  # 0.1 at first, 0.6 from update 13 on
        expected = [decay * mean + (1 - decay) * now for mean, now in zip(expected, arrays(model), strict=True)]
    for mine, wanted in zip(average.weights, expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_the_decay_grows_no_further_than_asked() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    average = RunningAverage(model, 0.75)
    nn.init.ones_(model.weight)
    average.update(model, 10**6)
    assert average.weights[0].item() == 0.25


def test_the_average_does_not_follow_the_model_by_itself() -> None:
    model = model_of(1)
    average = RunningAverage(model, 0.5)
    before = [one.clone() for one in average.weights]
    with torch.no_grad():
        next(iter(model.parameters())).add_(1)
    assert all(torch.equal(one, other) for one, other in zip(before, average.weights, strict=True))


def test_swapping_exchanges_and_swapping_twice_changes_nothing() -> None:
    model, other = model_of(1), model_of(2)
    average = RunningAverage(other, 0.9)
    mine, theirs = arrays(model), arrays(other)
    average.swap(model)
    for weight, mean, was, wanted in zip(model.parameters(), average.weights, mine, theirs, strict=True):
        np.testing.assert_array_equal(weight.detach().numpy(), wanted)
        np.testing.assert_array_equal(mean.numpy(), was)
    average.swap(model)
    for weight, was in zip(model.parameters(), mine, strict=True):
        np.testing.assert_array_equal(weight.detach().numpy(), was)


def test_the_mean_of_checkpoints_is_exact_before_it_is_rounded() -> None:
    big, small = 2.0**24, 1.0  # in single precision, big + small + small == big
    several = [{"w": torch.tensor([one]), "b": torch.tensor([[k]])} for k, one in enumerate([big, small, small, big])]
    mean = mean_weights([{"w": one["w"], "b": one["b"].float()} for one in several])
    assert mean["w"].dtype == torch.float32
    assert mean["w"].item() == np.float32((2 * big + 2 * small) / 4)
    assert mean["b"].tolist() == [[1.5]]
