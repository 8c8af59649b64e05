"""Any plain text → questions with a blank: some sentences are the passage, the next one the question, and a word of it
that also stands in the passage is held back (as in Hill et al. 2016)."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import category

from regard.data.corpora.about import About
from regard.data.corpora.plain import read_text
from regard.data.corpora.split import Row, place, tidy
from regard.data.corpora.write import Written, check_target, write_rows
from regard.data.places import Token, find_tokens
from regard.errors import DataError

NAME = "cloze"
BLANK = "_____"
SENTENCES = 10  # of a passage
STRETCH = 60  # sentences that stay on one side of the split: passages overlap inside a stretch, and nowhere else
COMMON = 200  # words so frequent in the whole text are no content words, in any language
SHORTEST = 3  # letters of a content word
SENTENCE = re.compile(r"\S.*?(?:[.!?…।؟۔]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[”’」』）]*|$)", re.DOTALL)


class Sentence(NamedTuple):
    text: str
    tokens: list[Token]


def write_cloze(text: Path, out: Path, *, seed: int = 0, dev: float = 0.05, test: float = 0.05) -> Written:
    """Write train.tsv, dev.tsv and test.tsv (passage, missing word, question; no header) into the folder `out`."""
    about = About(
        meaning=f"passages of {SENTENCES} sentences, the next sentence with a blank → the missing word",
        task="fill",
        key=f"stretch of {STRETCH} sentences",
        source=text.name,
        licence="that of the text",
        credit=f"made of {text.name}",
        columns="passage, answer, question",
    )
    check_target(NAME, out, dev, test)
    rows = list(_rows(read_text(text)))
    if not rows:
        raise DataError(
            f"{text} gives no question: none of its sentences holds a word that also stands in the {SENTENCES} before "
            f"it and is not one of the text's {COMMON} most frequent words; give a longer text"
        )
    return write_rows(NAME, about, rows, out, seed=seed, dev=dev, test=test)


def _rows(text: str) -> Iterator[Row]:
    sentences = cut(text)
    return questions(sentences, common_words(sentences))


def questions(sentences: Sequence[Sentence], common: Collection[str]) -> Iterator[Row]:
    """One question for every sentence that has a fitting word, and enough sentences before it in its stretch."""
    for begin in range(0, len(sentences), STRETCH):
        stretch = sentences[begin : begin + STRETCH]
        for number in range(SENTENCES, len(stretch)):
            row = _question(stretch[number - SENTENCES : number], stretch[number], common, f"{begin} {stretch[0].text}")
            if row is not None:
                yield row


def cut(text: str) -> list[Sentence]:
    """A sentence ends at a stop with a space behind it, or with its paragraph."""
    texts = [tidy(one) for block in re.split(r"\n\s*\n", text) for one in SENTENCE.findall(block)]
    return [Sentence(one, find_tokens(one, "words")) for one in texts]


def common_words(sentences: Sequence[Sentence]) -> set[str]:
    counts = Counter(token.text.lower() for one in sentences for token in one.tokens)
    return {word for word, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:COMMON]}


def is_content(token: Token, common: Collection[str]) -> bool:
    word = token.text.lower()
    letters = any(map(str.isalpha, word)) and all(one.isalpha() or category(one)[0] == "M" for one in word)
    return len(word) >= SHORTEST and letters and word not in common


def _question(before: Sequence[Sentence], asked: Sentence, common: Collection[str], key: str) -> Row | None:
    """A word is drawn by a hash, so that the same text always gives the same questions."""
    known = {token.text.lower() for one in before for token in one.tokens}
    fitting = [one for one in asked.tokens if is_content(one, common) and one.text.lower() in known]
    if not fitting or BLANK in asked.text:
        return None
    held = min(fitting, key=lambda one: (place(f"{asked.text} {one.begin}", 0), one.begin))
    blanked = asked.text[: held.begin] + BLANK + asked.text[held.end :]
    return Row(key, " ".join(one.text for one in before), held.text, features=blanked)
