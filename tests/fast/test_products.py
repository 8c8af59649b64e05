"""Products of many rows by kernels.c are torch's: layers, their gradients, and those of weights."""

import pytest
import torch
from torch import Tensor, nn

from regard.fast import kernels, products
from regard.fast.products import affine, gradients, linear, spaced
from regard.fast.switch import plain

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    if request.param > 1 and not kernels.joins_threads():
        pytest.skip("this torch has threads of its own")
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)
    return int(request.param)


def apart(rows: int, size: int) -> Tensor:
    """Rows that do not lie side by side."""
    return torch.randn(rows, size + 5)[:, 3 : 3 + size]


@pytest.mark.parametrize("rows", range(1, 24))  # tiles of every height
@pytest.mark.parametrize("outputs", [1, 32, 67])
@pytest.mark.parametrize("turned", [False, True])
def test_an_affine_map_is_torchs(rows: int, outputs: int, turned: bool) -> None:
    weight = torch.randn(11, outputs).t() if turned else torch.randn(outputs, 11)
    x, bias = apart(rows, 11), torch.randn(outputs)
    torch.testing.assert_close(affine(x, weight), x @ weight.t(), **CLOSE)
    torch.testing.assert_close(affine(x, weight, bias), x @ weight.t() + bias, **CLOSE)
    torch.testing.assert_close(affine(x, weight, bias, squash=True), (x @ weight.t() + bias).tanh(), **CLOSE)


@pytest.mark.parametrize("inputs", [11, 300])  # more than stay in the cache at once: the rest is added to the first
@pytest.mark.parametrize("outputs", [32, 67])
def test_an_affine_map_is_written_between_what_stands_there(inputs: int, outputs: int, threads: int) -> None:
    x, weight, bias = apart(23, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
    room = torch.full((23, outputs + 16), 7.0)
    affine(x, weight, bias, into=room[:, :outputs])
    torch.testing.assert_close(room[:, :outputs], x @ weight.t() + bias, atol=1e-4, rtol=1e-4)
    assert (room[:, outputs:] == 7).all()


@pytest.mark.parametrize("rows", [1, 121, 250])
@pytest.mark.parametrize("outputs", [256, 300, 595])
@pytest.mark.parametrize("inputs", [512, 530, 1100])
def test_more_than_the_caches_hold_is_taken_in_parts(rows: int, outputs: int, inputs: int, threads: int) -> None:
    """More rows, panels and inputs than one part of each has, by a little and by some parts"""
    x, weight, bias, slopes = (
        apart(rows, inputs),
        torch.randn(outputs, inputs),
        torch.randn(outputs),
        apart(rows, outputs),
    )
    exact = (x.double() @ weight.double().t() + bias.double()).float()
    rounding = {"atol": 1e-3, "rtol": 1e-4}  # of a thousand terms; a missing part is far more
    torch.testing.assert_close(affine(x, weight, bias), exact, **rounding)
    (into,) = gradients(slopes, x)
    torch.testing.assert_close(into, (slopes.double().t() @ x.double()).float(), **rounding)


def test_rows_are_never_a_multiple_of_4_kb_apart() -> None:
    for size in (1023, 1024, 2048, 2064):
        assert size <= spaced(size) <= size + 16
        assert spaced(size) * 4 % 4096


@pytest.mark.parametrize("rows", [1, 7, 64, 256, 259, 600])  # and more than are packed at once
@pytest.mark.parametrize("outputs", [1, 8, 43, 90])
def test_gradients_of_weights_are_torchs(rows: int, outputs: int, threads: int) -> None:
    """Of several weights that share their outputs, whose inputs fill panels or do not."""
    slopes, inputs = apart(rows, outputs), [apart(rows, size) for size in (1, 32, 45)]
    for into, x in zip(gradients(slopes, *inputs), inputs, strict=True):
        torch.testing.assert_close(into, slopes.t() @ x, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("squash", [False, True])
@pytest.mark.parametrize("shape", [(19,), (3, 7)])
def test_a_layer_is_the_plain_one_and_so_are_its_gradients(
    shape: tuple[int, ...], squash: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, x = nn.Linear(13, 37), torch.randn(*shape, 13)
    made, slopes, calls = [], [], []
    real = products.affine
    monkeypatch.setattr(products, "affine", lambda *given: calls.append(given) or real(*given))
    for path in (plain, torch.enable_grad):
        inputs = x.clone().requires_grad_()
        with path():
            made.append(linear(layer, inputs, squash))
        slopes.append(torch.autograd.grad((made[-1] ** 2).sum(), [inputs, layer.weight, layer.bias]))
    assert len(calls) == 2  # the second path went through the kernels, there and back
    torch.testing.assert_close(made[1], made[0], **CLOSE)
    for fast, reference in zip(slopes[1], slopes[0], strict=True):
        torch.testing.assert_close(fast, reference, **CLOSE)


def test_what_needs_no_gradient_costs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = nn.Linear(13, 37), torch.randn(20, 13)
    linear(layer, x).sum().backward()
    assert layer.weight.grad is not None
    torch.testing.assert_close(layer.weight.grad, x.sum(0).expand(37, 13), **CLOSE)
    layer.weight.requires_grad_(False)
    monkeypatch.setattr(products, "gradients", None)  # a frozen weight asks for none
    inputs = x.clone().requires_grad_()
    linear(layer, inputs).sum().backward()
    torch.testing.assert_close(inputs.grad, layer.weight.sum(0).expand(20, 13), **CLOSE)


@pytest.mark.parametrize("few", [0, 1, products.LEAST - 1])
def test_few_rows_are_torchs(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "affine", None)
    layer, x = nn.Linear(13, 37), torch.randn(few, 13)
    torch.testing.assert_close(linear(layer, x, squash=True), layer(x).tanh())
