import sys
from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError, MissingExtra, RegardError, UsageError
from regard.pictures import Clip, Panel, Plane, read, save
from regard.pictures.saving import FORMATS
from tests.pictures.drawn import on_clip, on_plane

WEIGHTS = np.random.default_rng(3).dirichlet(np.ones(5), size=3).astype(np.float32)
HOSTILE = "\\(a) </metadata> \\u0041 ÿ ∅ 🙂 \n\0\ud800"
PANELS = [
    Panel(WEIGHTS, ["K", "اب", HOSTILE], ["c", "म", "(", ")", ""], HOSTILE, frozenset({(1, 3)})),
    Panel([[1.0]], ["x"], ["a"], "second"),
    Panel([[0.5, 0.25, 0.25]], ["x"], ["a", "b", ""], "a text", frozenset({(0, 1)}), (1, 2), (0.1, 0.9)),
    Panel([[2.0, 0.5], [0.5, 1.0]], ["1", "2"], ["1", "2"], "overlap", axes=("", "")),
]
ENDINGS = pytest.mark.parametrize("ending", FORMATS)


@ENDINGS
@pytest.mark.parametrize("kind", ["auto", "map", "lines", "text"])
def test_every_format_gives_back_the_exact_numbers(ending: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{ending}"
    save(PANELS, path, kind=kind)
    first, *others = read(path)
    assert (np.array(first.weights, dtype=np.float32) == WEIGHTS).all()
    assert first[1:] == PANELS[0][1:]
    assert others == PANELS[1:]


@ENDINGS
def test_the_same_weights_give_the_same_file(ending: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(PANELS, tmp_path / f"{name}{ending}")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@ENDINGS
@pytest.mark.usefixtures("own_fonts")
def test_pictures_and_clips_in_every_format(ending: str, tmp_path: Path) -> None:
    """With the exact weights; the same panels give the same file."""
    panels = [on_plane(["a"]), on_clip(["a"], 3), on_plane(["a"], line=True)]
    for name in ("a", "b"):
        save(panels, tmp_path / f"{name}{ending}")
    found = read(tmp_path / f"a{ending}")
    assert [type(one.scene) for one in found] == [Plane, Clip, Plane]
    for one, panel in zip(found, panels, strict=True):
        assert (np.array(one.weights, dtype=np.float32) == panel.weights).all()
        assert one[1:-1] == panel[1:-1]
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<svg ")])
def test_files_are_what_their_names_say(ending: str, start: bytes, tmp_path: Path) -> None:
    save(PANELS, tmp_path / f"X{ending.upper()}")
    assert (tmp_path / f"X{ending.upper()}").read_bytes().startswith(start)


@pytest.mark.parametrize(("name", "came"), [("x.bmp", "'.bmp'"), ("x", "no ending"), ("x.svg.gz", "'.gz'")])
def test_other_endings_are_refused_by_name(name: str, came: str, tmp_path: Path) -> None:
    for call in (lambda path: save(PANELS, path), read):
        with pytest.raises(
            UsageError, match=rf"{came} names no kind of picture; .* \.svg, \.png, \.pdf, \.gif, \.html, \.json"
        ):
            call(tmp_path / name)


@pytest.mark.parametrize("ending", [".png", ".pdf"])
def test_without_matplotlib_the_extra_is_named(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"regard\[plot\]"):
        save(PANELS, tmp_path / f"x{ending}")
    assert list(tmp_path.iterdir()) == []


def test_an_old_matplotlib_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    monkeypatch.setattr(matplotlib, "__version_info__", (3, 10, 8, "final", 0))
    with pytest.raises(UsageError, match=r"3\.11 or later"):
        save(PANELS, tmp_path / "x.png")


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    save(PANELS, path)
    old = path.read_bytes()
    with pytest.raises(ValueError, match="do not fit"):
        save([Panel(WEIGHTS, ["x"], ["a"])], path)
    assert path.read_bytes() == old
    with pytest.raises(RegardError, match="cannot write"):
        save(PANELS, tmp_path / "missing" / "x.svg")


@ENDINGS
def test_files_of_others_hold_no_weights(ending: str, tmp_path: Path) -> None:
    for content in (b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"{}", b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xfe"):
        (tmp_path / f"x{ending}").write_bytes(content)
        with pytest.raises(DataError, match="holds no weights"):
            read(tmp_path / f"x{ending}")
    with pytest.raises(UsageError, match="cannot read"):
        read(tmp_path / f"none{ending}")
