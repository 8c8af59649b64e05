"""Arrays kept on disk: a hit is what a miss was, and nothing old or broken is ever taken for new."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.data.features import Features, default_folder
from regard.errors import DataError, RegardError
from tests.data.made import noise, save, url


class Encoder:
    """Counts what it is asked for."""

    def __init__(self, sources: list[str]):
        self.sources, self.asked = sources, []  # type: tuple[list[str], list[int]]

    def __call__(self, places: list[int]) -> list[NDArray[Any]]:
        self.asked += places
        return [np.random.default_rng(place).normal(size=(place + 1, 3)) for place in places]


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    return [save(tmp_path / f"{number}.png", noise(4, 4, seed=number)) for number in range(4)]


def test_a_hit_is_what_a_miss_was(sources: list[str], tmp_path: Path) -> None:
    encoder, features = Encoder(sources), Features("net", tmp_path / "kept")
    first = features.gather(sources[:2], encoder)
    second = features.gather(sources, encoder)
    third = Features("net", tmp_path / "kept").gather(sources, encoder)  # as another run would
    assert encoder.asked == [0, 1, 2, 3]
    for before, after in (*zip(first, second, strict=False), *zip(second, third, strict=True)):
        assert after.dtype == np.float32
        assert (before == after).all()
    assert [one.shape for one in third] == [(1, 3), (2, 3), (3, 3), (4, 3)]


def test_what_was_sent_is_the_same_as_a_file_and_leaves_nothing_on_disk(sources: list[str], tmp_path: Path) -> None:
    encoder, features = Encoder(sources), Features("net", tmp_path / "kept")
    sent = url(noise(4, 4, seed=0))
    first, again = features.gather([sent], encoder), features.gather([sent], encoder)
    assert encoder.asked == [0, 0]
    assert not (tmp_path / "kept").exists()
    for one in (*again, *features.gather([sources[0]], encoder)):
        assert (one == first[0]).all()


def test_a_name_changes_with_content_and_key_and_nothing_else(sources: list[str], tmp_path: Path) -> None:
    features, other = Features("net", tmp_path), Features("net 2", tmp_path)
    paths = {features.path(source) for source in sources} | {other.path(source) for source in sources}
    assert len(paths) == 8
    copy = save(tmp_path / "copy.png", noise(4, 4, seed=0))
    assert features.path(copy) == features.path(sources[0]) == features.path(url(noise(4, 4, seed=0)))
    save(Path(copy), noise(4, 4, seed=9))
    os.utime(copy, ns=(5, 5))
    assert features.path(copy) != features.path(sources[0])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:40],
        lambda content: content + b"\0",
        lambda content: content[:-20] + bytes([content[-20] ^ 1]) + content[-19:],
        lambda content: b"\x80\x04" + content,
    ],
)
def test_a_damaged_entry_is_computed_again(sources: list[str], tmp_path: Path, damage: Any) -> None:
    encoder, features = Encoder(sources), Features("net", tmp_path / "kept")
    before = features.gather(sources, encoder)
    path = features.path(sources[2])
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    after = features.gather(sources, encoder)
    assert encoder.asked == [0, 1, 2, 3, 2]
    assert (before[2] == after[2]).all()
    assert path.read_bytes() == whole


def test_entries_are_plain_arrays_of_half_precision(sources: list[str], tmp_path: Path) -> None:
    features = Features("net", tmp_path)
    kept = features.keep(sources[0], np.array([1 / 3, 2.0]))
    found = np.load(features.path(sources[0]), allow_pickle=False)
    assert found.dtype == np.float16
    assert (found.astype(np.float32) == kept).all()
    assert kept.tolist() == [np.float32(np.float16(1 / 3)), 2]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 70_000.0])
def test_what_half_precision_cannot_hold_is_refused(sources: list[str], tmp_path: Path, wrong: float) -> None:
    features = Features("net", tmp_path / "kept")
    with pytest.raises(DataError, match=r"0\.png do not fit in half precision"):
        features.keep(sources[0], np.array([0.0, wrong]))
    assert features.find(sources[0]) is None


def test_an_encoder_that_answers_too_few_is_found_out(sources: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="zip"):
        Features("net", tmp_path / "kept").gather(sources, lambda places: [np.zeros(1)])


def test_the_folder_is_where_caches_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == Features("net").folder == tmp_path / "regard" / "features"
    monkeypatch.setenv("HOME", str(tmp_path))
    for none in ("", "not/absolute"):  # as the specification of XDG asks
        monkeypatch.setenv("XDG_CACHE_HOME", none)
        assert default_folder() == tmp_path / ".cache" / "regard" / "features"


def test_a_folder_that_cannot_be_made_is_named(sources: list[str], tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RegardError, match="taken"):
        Features("net", tmp_path / "taken").gather(sources, Encoder(sources))


def test_processes_share_a_folder(sources: list[str], tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from regard.data.features import Features\n"
        "folder, *sources = sys.argv[1:]\n"
        "for turn in range(15):\n"
        "    features = Features(str(turn), Path(folder))\n"
        "    found = features.gather(sources, lambda places: [np.full(500, place) for place in places])\n"
        "    assert all((one == place).all() for place, one in enumerate(found))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-c", code, str(tmp_path / "kept"), *sources]
    running = [subprocess.Popen(call, env=environment) for _ in range(2)]
    assert [one.wait(60) for one in running] == [0, 0]
    left = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert len(left) == 15 * len(sources)
