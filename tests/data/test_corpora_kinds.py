"""What is taken out of each package: names, cities, forms, verses, conversations, descriptions."""

import gzip
import json
import lzma
import struct
from collections import Counter
from pathlib import Path
from unicodedata import is_normalized, normalize

import pytest

from regard.data.corpora import write_corpus
from regard.data.corpora.bible import ENGLISH, GREEK, LINKS
from regard.data.corpora.chitchat import CONTEXT, CONVERSATIONS, LONGEST
from regard.data.corpora.lemmas import FOLDER, dictionary
from regard.data.corpora.names import CITIES, catalogue, written_in
from regard.data.corpora.operations import Gist, plain, siblings, split_gist
from regard.data.turns import split_turns
from regard.errors import DataError, UsageError
from tests.data.shelf import PARTS, WORDS, Shelf, read


def mo(messages: dict[str, str], order: str = "<") -> bytes:
    """A compiled gettext catalogue: header, two tables of (length, place), then the texts."""
    originals, translations = list(messages), list(messages.values())
    texts = [text.encode() + b"\0" for text in originals + translations]
    starts = [28 + 16 * len(messages) + sum(map(len, texts[:i])) for i in range(len(texts))]
    header = struct.pack(f"{order}7I", 0x950412DE, 0, len(messages), 28, 28 + 8 * len(messages), 0, 0)
    tables = [struct.pack(f"{order}2I", len(t) - 1, s) for t, s in zip(texts, starts, strict=True)]
    return header + b"".join(tables) + b"".join(texts)


def test_names_of_countries_in_their_script_only(shelf: Shelf, tmp_path: Path) -> None:
    hindi = "कखगघचछजझटठडढ"
    names = {word.title(): hindi[i % 12] + hindi[i // 12] for i, word in enumerate(WORDS)}
    names |= {
        "": "Language: hi\n",
        "Latin": "Latin",
        "Two Words": "दो शब्द",
        "Cafe\u0301": "कैफ़े",
        "No. 7": "सात",
    }
    shelf.put("pycountry", {"pycountry/locales/hi/LC_MESSAGES/iso3166-1.mo": mo(names)})
    parts = read(write_corpus("pycountry-hi", tmp_path / "all"))
    rows = dict(row for part in PARTS for row in parts[part])
    assert rows["Two Words"] == "दो शब्द"
    assert rows["Café"]
    assert "Latin" not in rows
    assert "No. 7" not in rows
    assert all(is_normalized("NFC", text) for row in rows.items() for text in row)
    single = read(write_corpus("pycountry-hi", tmp_path / "single", single_words=True))
    assert {row[0] for part in PARTS for row in single[part]} == set(rows) - {"Two Words"}


def test_single_words_need_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not from bible"):
        write_corpus("bible", tmp_path, single_words=True)


@pytest.mark.parametrize("order", ["<", ">"])
def test_catalogue_of_either_byte_order(order: str) -> None:
    assert catalogue(mo({"": "header", "Greece": "यूनान", "none": ""}, order)) == {"Greece": "यूनान"}


@pytest.mark.parametrize(
    ("script", "text", "fits"),
    [
        ("cyrillic", "Нью-Йорк", True),
        ("cyrillic", "Тиранæ", False),
        ("arabic", "مَكَّة", True),
        ("arabic", "لندن، كندا", False),
        ("arabic", "١٢", False),
        ("katakana", "ニューヨーク", True),
        ("devanagari", "क्\u200dष", True),
        ("latin", "São Tomé", True),
        ("latin", "-", False),
        ("latin", "", False),
    ],
)
def test_script(script: str, text: str, fits: bool) -> None:
    assert written_in(script, text) is fits


def test_cities_of_one_name_are_on_one_side(shelf: Shelf, tmp_path: Path) -> None:
    cities = {
        f"{word}{ending}": {
            "name": f"{name}o",
            "alternatenames": [f"αβγ{ending}", f"αδ{ending}", word, "Москва"],
        }
        for word in WORDS
        for name, ending in ((word.title(), "ν"), (word, "ς"), (f"{word}\u0301", "α"))
    }
    shelf.put("geonames", {CITIES: json.dumps(cities).encode()})
    parts = read(write_corpus("geonames-greek", tmp_path / "out", dev=0.2, test=0.2))
    assert sum(map(len, parts.values())) == 6 * len(WORDS)
    for rows in parts.values():
        bare = Counter(normalize("NFD", source).replace("\u0301", "").lower() for source, _ in rows)
        assert set(bare.values()) == {6}  # three cities, two spellings each


def front_coded(pairs: list[tuple[str, str]], reverse: bool) -> bytes:
    """simplemma's format, written the plain way: nothing shared, lemmas in full or same as before."""
    step = -1 if reverse else 1
    out, before = b"SMFC1" + bytes([reverse]) + varint(len(pairs)), None
    for form, lemma in pairs:
        key, value = form.encode()[::step], lemma.encode()[::step]
        out += varint(0) + varint(len(key)) + key
        out += b"\xfe" if lemma == before else b"\xff" + varint(len(value)) + value
        before = lemma
    return lzma.compress(out)


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


@pytest.mark.parametrize("reverse", [False, True])
def test_dictionary_written_plainly(reverse: bool) -> None:
    pairs = [("gehe", "gehen"), ("geht", "gehen"), ("größer", "groß"), ("x" * 300, "y" * 200)]
    assert list(dictionary(front_coded(pairs, reverse))) == pairs


def test_dictionary_with_shared_starts_and_cut_ends() -> None:
    coded = b"SMFC1\x00\x03" + b"\x00\x05walks\x01\x00" + b"\x04\x02ed\x02\x00" + b"\x00\x04mice\x03\x04ouse"
    assert list(dictionary(lzma.compress(coded))) == [
        ("walks", "walk"),
        ("walked", "walk"),
        ("mice", "mouse"),
    ]


def test_dictionary_of_another_format() -> None:
    with pytest.raises(DataError, match="SMFC1"):
        list(dictionary(lzma.compress(b"\x80\x04pickle")))


def test_forms_are_split_by_lemma(shelf: Shelf, tmp_path: Path) -> None:
    pairs = [(word + ending, word) for word in WORDS for ending in ("", "en", "s")] + [
        ("b4l", "bal"),
        ("a b", "ab"),
    ]
    shelf.put("simplemma", {f"{FOLDER}/de.plzma": front_coded(pairs, False)})
    parts = read(write_corpus("simplemma-de", tmp_path / "out", dev=0.2, test=0.2))
    sides = [{lemma for _, lemma in parts[part]} for part in PARTS]
    assert sum(map(len, sides)) == len(set.union(*sides)) == len(WORDS)
    assert sum(map(len, parts.values())) == 3 * len(WORDS)


def test_verses_with_links_and_without_strays(shelf: Shelf, tmp_path: Path) -> None:
    greek, english, links = ["id\ttext"], ["id\tsource_verse\ttext"], []
    for verse in range(1, 101):
        place = f"40001{verse:03}"
        greek += [f"n{place}001\tα{'β' * verse}", f"n{place}002\tγ"]
        english += [f"{place}{word:03}\t{place}\t{text}" for word, text in enumerate(["the", "w", ","], 1)]
        links.append({"source": [f"n{place}001"], "target": [f"{place}001", f"{place}002"]})
    links.append({"source": ["n40001007002"], "target": ["40001008001"]})
    files = {
        GREEK: "\n".join(greek).encode(),
        ENGLISH: "\n".join(english).encode(),
        LINKS: json.dumps({"records": links}).encode(),
    }
    shelf.put("bible", files)
    written = write_corpus("bible", tmp_path / "out")
    parts = read(written)
    rows = [row for part in PARTS for row in parts[part]]
    assert len(rows) == 98  # verses 7 and 8 are linked with each other
    assert {target for _, target in rows} == {"the w ,"}
    for part in PARTS:
        lines = (tmp_path / "out" / f"{part}.pharaoh").read_text().splitlines()
        assert lines == ["0-0 0-1"] * len(parts[part])
        assert written.files[f"{part}.pharaoh"] == len(lines)


def talk(*turns: list[str]) -> dict[str, object]:
    """As the package has it: a list of turns, each a list of messages."""
    return {"messages": [[{"text": text, "sender": "me"} for text in messages] for messages in turns], "prompt": ""}


def test_conversations_stay_on_one_side_and_every_turn_but_the_first_is_answered(shelf: Shelf, tmp_path: Path) -> None:
    spoken = {word: talk(*([f"{word}{place}", "and\tso  on"] for place in range(7))) for word in WORDS}
    shelf.put("chitchat", {CONVERSATIONS: json.dumps(spoken).encode()})
    parts = read(write_corpus("chitchat", tmp_path / "out", dev=0.2, test=0.2))
    sides = [{source[:3] for source, _ in parts[part]} for part in PARTS]
    assert sum(map(len, sides)) == len(set.union(*sides)) == len(WORDS)
    rows = [row for part in PARTS for row in parts[part]]
    assert len(rows) == 6 * len(WORDS)
    assert ["bal0 and so on ||| bal1 and so on", "bal2 and so on"] in rows
    for source, target in rows:
        before = [int(turn.split()[0][3:]) for turn in split_turns(source)]
        place = int(target.split()[0][3:])
        assert before == list(range(max(place - CONTEXT, 0), place))


def test_a_long_turn_parts_a_conversation(shelf: Shelf, tmp_path: Path) -> None:
    edge, tirade = ["w"] * LONGEST, ["w"] * (LONGEST + 1)
    spoken = {word: talk([f"{word} a"], [" "], ["b"], tirade, ["c"], edge, tirade, ["d"]) for word in WORDS}
    shelf.put("chitchat", {CONVERSATIONS: json.dumps(spoken).encode()})
    parts = read(write_corpus("chitchat", tmp_path / "out", dev=0.2, test=0.2))
    rows = Counter((source[-1], target) for part in PARTS for source, target in parts[part])
    assert rows == {("a", "b"): len(WORDS), ("c", " ".join(edge)): len(WORDS)}


# -- web services ----------------------------------------------------------------------------------------------


def service(**descriptions: str) -> bytes:
    operations = {name: {"documentation": text} for name, text in descriptions.items()}
    return gzip.compress(json.dumps({"operations": operations}).encode(), mtime=0)


REST = "It takes a few minutes until {0} is ready, and what {0} held before is lost forever."


def test_descriptions_become_their_first_sentence(shelf: Shelf, tmp_path: Path) -> None:
    names = [f"Make{number}" for number in range(60)]
    files = {
        f"botocore/data/s{name.lower()}/2024-01-01/service-2.json.gz": service(
            **{name: f"<p>Makes a new {name} at once.</p><note><p>Costly.</p></note><p>{REST.format(name)}</p>"}
        )
        for name in names
    }
    old = {"botocore/data/smake1/2019-01-01/service-2.json.gz": service(Old="Makes an old one. " + REST)}
    again = {"botocore/data/zz/2024-01-01/service-2.json.gz": service(Twin=f"Makes a new Make7 at once. {REST}")}
    shelf.put("botocore", files | old | again)
    parts = read(write_corpus("botocore", tmp_path / "out", dev=0.2, test=0.2))
    every = sorted(tuple(row) for part in PARTS for row in parts[part])
    assert every == sorted((REST.format(name), f"Makes a new {name} at once.") for name in names)


def test_markup_and_notes_are_left_out() -> None:
    text = "<p>Stops <code>it</code> &amp; waits<important>\n<p>Really.</p></important>.</p><ul><li>One</li></ul>"
    assert plain(text) == "Stops it & waits. One"


def test_gist_and_rest_have_bounded_lengths() -> None:
    rest = " ".join(["Word"] * 10)
    assert split_gist(f"Stops one, e.g. Alpha. {rest}") == Gist("Stops one, e.g. Alpha.", rest)
    assert split_gist(f"Stops one. {rest[5:]}") is None  # nine words are too few, and two before them
    assert split_gist(f"Stops it now. {rest} {' '.join(['Word'] * 91)}") is None
    assert split_gist("Stops it now.") is None


def test_services_made_after_one_another_are_one_family() -> None:
    many = {f"Do{number}": "" for number in range(12)}
    half = dict(list(many.items())[:8])
    few = dict(list(many.items())[:7])
    other = {f"Other{number}": "" for number in range(30)}
    found = siblings({"a": many, "b": other, "c": half, "d": few, "e": {**other, **half}})
    assert found == {"a": "a", "b": "a", "c": "a", "d": "d", "e": "a"}  # e brings a and b together; d shares 7 only
