import logging

import pytest

from regard.pictures.fonts import BOX, SURE, lettering

pytestmark = pytest.mark.usefixtures("own_fonts")


@pytest.mark.parametrize(
    ("text", "font"),
    [("کتاب", "Noto Sans Arabic"), ("हिन्दी", "Noto Sans Devanagari"), ("東京", "Noto Sans CJK JP"), ("word", SURE)],
)
def test_a_word_is_drawn_by_a_font_that_has_all_of_it(text: str, font: str, caplog: pytest.LogCaptureFixture) -> None:
    drawn = lettering(text)
    assert drawn.text == text
    assert drawn.families[0] == font
    assert drawn.families[-1] == SURE
    assert caplog.records == []


def test_a_sentence_in_two_scripts_has_a_font_for_each() -> None:
    drawn = lettering("東京 → हिन्दी")
    assert {"Noto Sans CJK JP", "Noto Sans Devanagari"} <= set(drawn.families)
    assert drawn.text == "東京 → हिन्दी"


def test_what_no_font_has_is_a_box_and_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "regard.pictures"):
        assert lettering("aሀ b𓀀").text == f"a{BOX} b{BOX}"
        assert lettering("ሀ").text == BOX
    (record,) = caplog.records
    assert "ሀ (U+1200)" in record.getMessage()
    assert "𓀀 (U+13000)" in record.getMessage()


def test_many_missing_characters_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    lettering("".join(map(chr, range(0x1200, 0x1210))))
    assert "and 6 more" in caplog.text


def test_joiners_need_no_glyph(caplog: pytest.LogCaptureFixture) -> None:
    assert lettering("क्\u200dष").text == "क्\u200dष"
    assert caplog.records == []


def test_bold_only_where_every_font_has_it() -> None:
    assert lettering("word", bold=True).weight == 700
    assert lettering("word").weight == 400
    assert lettering("हिन्दी", bold=True).weight == 400
