"""Questions with a blank, made of any text."""

from pathlib import Path

import pytest

from regard.data.corpora import Written, write_cloze
from regard.data.corpora.cloze import BLANK, COMMON, SENTENCES, STRETCH, common_words, cut, is_content, questions
from regard.data.places import find_tokens
from regard.errors import DataError, UsageError
from tests.command import done, refused, regard

NOUNS = [a + b + c + d for a in "bdgk" for b in "aeiou" for c in "lmnr" for d in "aeiou"]  # 400


def book(sentences: int = 1500) -> str:
    """Sentences of words that come again after a while, in paragraphs of seven; each has a number of its own."""
    lines = []
    for number in range(sentences):
        words = [NOUNS[(7 * number // 9 + 31 * place) % len(NOUNS)] for place in range(5)]
        lines.append(f'"{words[0].title()} {number} {words[1]}," said {words[2]} to {words[3]}{words[4]}!')
        lines += [""] if number % 7 == 6 else []
    return "\n".join(lines)


def rows(written: Written, part: str) -> list[list[str]]:
    return [line.split("\t") for line in (written.folder / f"{part}.tsv").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("cloze")
    (folder / "book.txt").write_text(book(), "utf-8")
    return write_cloze(folder / "book.txt", folder / "out", dev=0.2, test=0.2)


def test_the_missing_word_stands_in_the_passage_and_its_sentence_comes_next(written: Written) -> None:
    text = " ".join(book().split())
    for part in ("train", "dev", "test"):
        for passage, word, question in rows(written, part):
            assert question.count(BLANK) == 1
            assert f"{passage} {question.replace(BLANK, word)}" in text
            assert len(cut(passage)) == SENTENCES
            assert word.lower() in passage.lower().replace('"', " ").replace(",", " ").replace("!", " ").split()


def test_no_sentence_is_on_two_sides(written: Written) -> None:
    sides = [{number for row in rows(written, part) for number in "".join(row[::2]).split() if number.isdigit()}
             for part in ("train", "dev", "test")]  # fmt: skip
    assert all(sides)
    assert len(set.union(*sides)) == sum(map(len, sides))


def test_the_same_text_gives_the_same_files_and_another_seed_another_split(written: Written, tmp_path: Path) -> None:
    text = written.folder.parent / "book.txt"
    again = write_cloze(text, tmp_path / "again", dev=0.2, test=0.2)
    assert all(rows(again, part) == rows(written, part) for part in ("train", "dev", "test"))
    other = write_cloze(text, tmp_path / "other", seed=1, dev=0.2, test=0.2)
    assert rows(other, "test") != rows(written, "test")
    readme = (written.folder / "README.txt").read_text("utf-8")
    assert "Columns: passage, answer, question" in readme
    assert f"stretch of {STRETCH} sentences" in readme
    assert "book.txt\n" in readme


def test_common_words_are_never_missing() -> None:
    sentences = cut(book())
    common = common_words(sentences)
    assert len(common) == COMMON
    assert {"said", "to", ",", '"'} <= common
    missing = [row.target.lower() for row in questions(sentences, common)]
    assert len(missing) > 100
    assert not common & set(missing)
    assert all(word.isalpha() and len(word) >= 3 for word in missing)


def test_words_with_vowel_signs_and_sentences_of_other_scripts() -> None:
    (book,) = find_tokens("किताबें", "words")
    assert is_content(book, ())
    assert not any(is_content(one, ()) for one in find_tokens("। ,", "words"))
    assert [one.text for one in cut("यह घर है। वह आया।")] == ["यह घर है।", "वह आया।"]
    assert [one.text for one in cut("یہ گھر ہے۔ کیا؟")] == ["یہ گھر ہے۔", "کیا؟"]
    assert [one.text for one in cut("我来。你去！")] == ["我来。", "你去！"]


def test_sentences_end_at_stops_and_with_paragraphs() -> None:
    text = 'He said: "Go!" She went...  Mr. X\nstayed\n\nA title\n\nEnd'
    assert [one.text for one in cut(text)] == ['He said: "Go!"', "She went...", "Mr.", "X stayed", "A title", "End"]


def test_a_text_that_is_too_short_or_none_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("One. Two.", "utf-8")
    (tmp_path / "latin.txt").write_bytes("Süß. ".encode("latin-1"))
    with pytest.raises(DataError, match=r"gives no question: .* give a longer text"):
        write_cloze(tmp_path / "short.txt", tmp_path / "out")
    with pytest.raises(DataError, match="is not UTF-8"):
        write_cloze(tmp_path / "latin.txt", tmp_path / "out")
    with pytest.raises(UsageError, match="cannot read"):
        write_cloze(tmp_path / "none.txt", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_through_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(book(4000), "utf-8")
    result = done("data", "cloze", "--text", tmp_path / "book.txt", "--out", tmp_path / "out")
    assert [line.partition(":")[0] for line in result.out.splitlines()] == ["train.tsv", "dev.tsv", "test.tsv"]
    assert "cloze --text FILE" in done("data", "list").out
    refused(regard("data", "cloze", "--out", tmp_path / "other"), 2, "--text goes with cloze")
    refused(regard("data", "cmudict", "--text", "x", "--out", tmp_path / "other"), 2, "--text goes with cloze")
