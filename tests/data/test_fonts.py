"""DejaVu Sans, which comes with matplotlib: it has Arabic and Hebrew, and no Devanagari."""

from pathlib import Path

import numpy as np
import pytest
from PIL import features

from regard.data.corpora.fonts import (
    Font,
    Room,
    check_shaping,
    find_fonts,
    folders,
    is_right_to_left,
    needs_shaping,
)
from regard.errors import UsageError

HINDI, URDU, HEBREW = "नमस्ते", "یہ سطر", "אב"


@pytest.fixture(scope="module")
def fonts() -> Path:
    matplotlib = pytest.importorskip("matplotlib")
    return Path(matplotlib.__file__).parent / "mpl-data/fonts/ttf"


@pytest.fixture(scope="module")
def sans(fonts: Path) -> Font:
    return Font(fonts / "DejaVuSans.ttf", 48)


def drawn(font: Font, text: str) -> np.ndarray:
    return np.asarray(font.ink(text, Room(60, 20)), dtype=float)


def test_a_font_knows_what_it_lacks(sans: Font) -> None:
    assert sans.lacks("Grüße, Ωмега: 12 €!\u00a0") == []
    assert sans.lacks("سلام" + HEBREW) == []
    assert sans.lacks(URDU) == ["ہ"]  # Urdu has letters that Arabic has not
    assert sans.lacks("a" + HINDI + "\u200d") == list(dict.fromkeys(HINDI))  # joiners have no ink anywhere
    assert sans.lacks("□a") == []  # a square that is meant


def test_what_a_font_lacks_is_what_its_own_table_lacks(sans: Font) -> None:
    tables = pytest.importorskip("fontTools.ttLib")
    with tables.TTFont(sans.path) as opened:
        known = opened.getBestCmap()
    letters = [chr(code) for code in range(0x21, 0x3000) if chr(code).isalpha()]
    assert sans.lacks("".join(letters)) == [letter for letter in letters if ord(letter) not in known]


@pytest.mark.skipif(not features.check("raqm"), reason="this Pillow cannot shape")
def test_right_to_left_begins_at_the_right(sans: Font) -> None:
    both, first = drawn(sans, HEBREW), drawn(sans, HEBREW[0])
    trimmed = first[:, first.any(0)]
    found = both[:, both.any(0)][:, -trimmed.shape[1] :]
    assert np.abs(found - trimmed).mean() < 20  # the same letter, up to a part of a pixel
    assert np.abs(both[:, both.any(0)][:, : trimmed.shape[1]] - trimmed).mean() > 25


@pytest.mark.skipif(not features.check("raqm"), reason="this Pillow cannot shape")
def test_arabic_letters_join(sans: Font) -> None:
    """The end of one is where the next begins: no column without ink, unlike with a non-joiner between them."""
    joined, apart = (np.trim_zeros(drawn(sans, text).any(0)) for text in ("سس", "س\u200cس"))
    assert joined.all()
    assert not apart.all()


def test_what_needs_shaping_and_which_way_it_runs() -> None:
    assert [needs_shaping(text) for text in ("Ça va", "e\u0301", "мир", HINDI, URDU, HEBREW, "ไทย ที่", "कमल")] == [
        *(False, False, False, True, True, True, True, False)
    ]
    assert [is_right_to_left(text) for text in ("abc " + URDU, "12 " + URDU, URDU + " abc", "12", "")] == [
        *(False, True, True, False, False)
    ]


def test_without_shaping_scripts_that_need_it_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "check", lambda _: False)
    check_shaping(["Latin", "Ω"])
    with pytest.raises(UsageError, match=r"cannot join them \(it lacks raqm\)"):
        check_shaping(["Latin", HINDI])


def test_without_shaping_latin_is_drawn_all_the_same(sans: Font, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "check", lambda _: False)
    assert drawn(sans, "Latin").sum() > 0


def test_all_lines_of_a_font_share_their_base_line(sans: Font) -> None:
    room = sans.room(["x", "Ég"])
    assert room.above > -sans.face.getbbox("x", anchor="ls")[1]
    assert room.below > 0
    assert sans.ink("x", room).height == sans.ink("Ég", room).height
    low, high = sans.ink("g", room), sans.ink("h", room)
    assert np.asarray(high).any(1).nonzero()[0][-1] == round(room.above) - 1  # h stands on the line
    assert np.asarray(low).any(1).nonzero()[0][-1] > room.above  # and g goes below it


def test_a_text_that_is_higher_than_the_room_gets_more(sans: Font) -> None:
    room = sans.room(["x"])
    assert sans.ink("Ég", room).height > sans.ink("x", room).height


def test_fonts_by_file_folder_name_and_pattern(fonts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.data.corpora.fonts.folders", lambda: [fonts])
    file = str(fonts / "DejaVuSansMono.ttf")
    assert find_fonts([file]) == [Path(file)]
    assert [path.name for path in find_fonts(["DejaVu Sans"])] == ["DejaVuSans.ttf"]
    assert [path.name for path in find_fonts(["dejavuserif*", "DejaVu Serif"])][:2] == [
        *("DejaVuSerif-Bold.ttf", "DejaVuSerif-BoldItalic.ttf")
    ]
    assert len(find_fonts([str(fonts)])) > 20
    assert [path.name for path in find_fonts([])][:2] == ["DejaVuSans.ttf", "DejaVuSerif.ttf"]
    with pytest.raises(UsageError, match=r"no font 'DejaVu Sanz'.*did you mean dejavusans"):
        find_fonts(["DejaVu Sanz"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no font"):
        find_fonts([str(tmp_path / "empty")])


def test_a_file_that_is_no_font(tmp_path: Path) -> None:
    (tmp_path / "x.ttf").write_bytes(b"no font")
    with pytest.raises(UsageError, match=r"x\.ttf is not a font"):
        Font(tmp_path / "x.ttf", 20)


def test_usual_folders_exist_and_end_with_those_of_matplotlib(fonts: Path) -> None:
    assert all(folder.is_dir() for folder in folders())
    assert folders()[-1] == fonts
