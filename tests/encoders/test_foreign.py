"""Networks that know nothing of masks; timm itself is played by a few lines."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from regard.data.planes import Pictures
from regard.encoders.foreign import ForeignEncoder, without_statistics
from regard.encoders.pretrained import load_pretrained, make_pretrained
from regard.errors import UsageError
from tests.encoders.plane_laws import pictures, together


class Activated(nn.BatchNorm2d):
    """A norm with an activation inside, as timm has them."""

    def __init__(self, size: int):
        super().__init__(size)
        self.drop, self.act = nn.Identity(), nn.ReLU()

    def forward(self, data: Tensor) -> Tensor:
        activated: Tensor = self.act(self.drop(super().forward(data)))
        return activated


class Network(nn.Module):
    """Two maps, of stride 2 and 4, with a border of its own that rounds down."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Sequential(nn.Conv2d(3, 5, 3, 2, 1), Activated(5))
        self.two = nn.Sequential(nn.Conv2d(5, 7, 2, 2), nn.BatchNorm2d(7))
        self.feature_info = SimpleNamespace(reduction=lambda: [2, 4], channels=lambda: [5, 7])

    def forward(self, data: Tensor) -> list[Tensor]:
        return [one := self.one(data), self.two(one)]


def network() -> Network:
    torch.manual_seed(0)
    made = Network().double()
    for norm in made.modules():
        if isinstance(norm, nn.BatchNorm2d):
            nn.init.normal_(norm.weight, 1.0)
            nn.init.normal_(norm.bias)
            nn.init.normal_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2.0)
    return made.eval()


@pytest.fixture
def timm(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    def create_model(name: str, features_only: bool, pretrained: bool, **options: Any) -> Network:
        assert features_only
        made = Network()
        if pretrained:
            made.load_state_dict(options["pretrained_cfg_overlay"]["state_dict"])
        return made

    def told(name: str) -> SimpleNamespace:
        if name.endswith(".bad"):
            raise RuntimeError("no such weights")
        return SimpleNamespace(mean=(0.1, 0.2, 0.3), std=(1.0, 2.0, 3.0), hf_hub_id="timm/net-that-is-nowhere")

    played: Any = ModuleType("timm")
    played.__version__ = "9.9"
    played.create_model, played.get_pretrained_cfg = create_model, told
    played.is_model = lambda name: name.startswith("net")
    monkeypatch.setitem(sys.modules, "timm", played)
    return played  # type: ignore[no-any-return]


def test_statistics_become_parameters() -> None:
    before, data = network(), torch.randn(2, 3, 9, 12, dtype=torch.float64)
    expected = [one.detach() for one in before(data)]
    after = without_statistics(network())
    assert list(after.buffers()) == []
    for mode in (after.eval(), after.train()):  # no batch is ever asked
        for one, other in zip(mode(data), expected, strict=True):
            torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_a_norm_without_statistics_is_refused() -> None:
    with pytest.raises(UsageError, match="no statistics"):
        without_statistics(nn.Sequential(nn.BatchNorm2d(3, track_running_stats=False)))


def test_each_picture_is_read_alone() -> None:
    encoder = ForeignEncoder(without_statistics(network()), 1, 7, 4)
    every = pictures(3, [(9, 12), (16, 8), (9, 12), (17, 31)])
    encoded = encoder(together(every, more=3, filler=5.0))
    for row, one in enumerate(every):
        alone = encoder(together([one]))
        count = alone.values.size(1)
        assert encoded.mask[row].sum() == count
        torch.testing.assert_close(encoded.values[row, :count], alone.values[0], atol=1e-12, rtol=0)
        torch.testing.assert_close(encoded.summary[row], alone.summary[0], atol=1e-12, rtol=0)
        assert (encoded.values[row, count:] == 0).all()
        height, width = one.shape[1:]
        whole = nn.functional.pad(one, (0, -width % 4, 0, -height % 4))
        torch.testing.assert_close(encoder.map(together([one])).data, network()(whole[None])[1], atol=1e-12, rtol=0)


def test_there_are_as_many_cells_as_an_eye_counts() -> None:
    """Whether the network rounds up or down: what lies under the weights is drawn by the eye's count."""
    encoder = ForeignEncoder(without_statistics(network()), 1, 7, 4)
    for height, width in [(9, 12), (1, 3), (17, 31), (8, 5)]:
        sizes = encoder.map(together(pictures(3, [(height, width)]))).sizes
        assert sizes.tolist() == [[-(-height // 4), -(-width // 4)]]


def test_maps_of_another_stride_are_refused() -> None:
    with pytest.raises(UsageError, match="cells"):
        ForeignEncoder(without_statistics(network()), 1, 7, 8)(together(pictures(3, [(9, 12)])))


def test_gradients_reach_all_pictures() -> None:
    encoder, source = ForeignEncoder(without_statistics(network()), 0, 5, 2), together(pictures(3, [(9, 12), (16, 8)]))
    data = source.data.clone().requires_grad_()
    encoder(Pictures(data, source.sizes)).values.sum().backward()
    assert data.grad is not None
    assert (data.grad.flatten(1) != 0).any(1).all()
    assert (data.grad.masked_select(~source.mask[:, None]) == 0).all()


def test_maps_with_channels_last_are_refused() -> None:
    class Last(nn.Module):
        def forward(self, data: Tensor) -> list[Tensor]:
            return [data.movedim(1, -1)]

    with pytest.raises(UsageError, match=r"expected \(B, 3, H, W\)"):
        ForeignEncoder(Last(), 0, 3, 1)(together(pictures(3, [(4, 5)])))


def test_the_door_to_timm(timm: ModuleType, tmp_path: Path) -> None:
    weights = network().float().state_dict()
    save_file(weights, tmp_path / "net.safetensors")
    for name, size, stride in (("timm:net", 7, 4), ("timm:net/2", 5, 2)):
        made = load_pretrained(name, tmp_path / "net.safetensors")
        assert (made.size, made.stride, made.mean, made.std) == (size, stride, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
        assert made.key.startswith(f"timm:net/{stride} 9.9 ")
        data = torch.randn(1, 3, 8, 8)
        expected = network().float()(data)[made.place]
        torch.testing.assert_close(made.map(Pictures(data, torch.tensor([[8, 8]]))).data, expected)
        bare = make_pretrained(name)
        bare.load_state_dict(made.state_dict())  # as a run folder gives it its parameters back
        assert bare.map(Pictures(data, torch.tensor([[8, 8]]))).data.equal(
            made.map(Pictures(data, torch.tensor([[8, 8]]))).data
        )


@pytest.mark.parametrize(
    ("name", "file", "says"),
    [
        ("timm:nt", None, "no network 'nt'"),
        ("timm:net.bad", None, "no such weights"),
        ("timm:net", "weights.pth", "expected a .safetensors file"),
        ("timm:net", "nowhere.safetensors", "expected a .safetensors file"),
    ],
)
def test_what_timm_has_not(timm: ModuleType, name: str, file: str | None, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        load_pretrained(name, file)


def test_a_stride_that_it_has_not(timm: ModuleType) -> None:
    with pytest.raises(UsageError, match="maps of stride 2, 4, not 32"):
        make_pretrained("timm:net/32")


def test_nothing_is_downloaded(timm: ModuleType) -> None:
    with pytest.raises(UsageError, match="not on this machine"):
        load_pretrained("timm:net")


@pytest.mark.parametrize("missing", ["timm", "torchvision"])
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str) -> None:
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)  # importing it fails
    if missing == "torchvision":
        (tmp_path / "timm.py").write_text("from torchvision.ops import misc\n", "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=f"the package {missing}, which is not installed"):
        load_pretrained("timm:net")
