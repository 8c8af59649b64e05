"""The data of each size, cut into symbols once and for all toolkits: symbols between spaces, one pair per line.

Every toolkit makes its vocabulary of the training pairs. Where a size asks for more symbols than the chosen pairs have,
filler pairs follow that hold one of each missing symbol, so that all toolkits have exactly the same vocabulary.
Multi30k does not fill 32,000 subwords: what SentencePiece cannot find is made up (▁filler123).
"""

import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import sentencepiece

from toolkits.sizes import LONGEST, Size

Pair = tuple[list[str], list[str]]
DEV_PAIRS = 16  # toolkits want some; they are never looked at while the clock runs
FILLER_LENGTH = 14  # about that of a sentence


def write(size: Size, data: Path, folder: Path) -> None:
    """train and learn as .src, .trg and .tsv; dev likewise; test.src. Nothing is done if they are there."""
    if (folder / "test.src").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if size.task == "pronounce":
        pairs, tests = _cmudict(folder)
    elif size.task == "transliterate":
        pairs, tests = _dakshina(data / "dakshina_hi")
    else:
        pairs, tests = _multi30k(data / "multi30k", size.vocabulary, folder)
    train, test = _short(pairs), _short(tests)[: size.decoded]
    symbols = _subwords(size.vocabulary, folder) if size.vocabulary else []
    _write_pairs(folder, "dev", train[:DEV_PAIRS])
    for part, count in (("train", size.pairs), ("learn", size.learn_pairs)):
        chosen = train[:count]
        if len(chosen) < count:
            raise SystemExit(f"{size.name} wants {count:,} pairs, there are {len(chosen):,}")
        _write_pairs(folder, part, [*chosen, *_filler(chosen, symbols)])
    (folder / "test.src").write_text("".join(" ".join(source) + "\n" for source, _ in test), "utf-8")


def read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text("utf-8").splitlines()]


def _cmudict(folder: Path) -> tuple[list[Pair], list[Pair]]:
    out = folder / "cmudict"
    subprocess.run([sys.executable, "-m", "regard", "data", "cmudict", "--out", str(out)], check=True, stdout=2)
    train, test = _rows(out / "train.tsv"), _rows(out / "test.tsv")
    return [(list(word), sound.split()) for word, sound in train], [(list(word), sound.split()) for word, sound in test]


def _dakshina(folder: Path) -> tuple[list[Pair], list[Pair]]:
    train, test = _rows(folder / "train.tsv"), _rows(folder / "dev.tsv")
    return [(list(latin), list(native)) for latin, native in train], [(list(one), list(two)) for one, two in test]


def _rows(path: Path) -> list[tuple[str, str]]:
    """The first two columns, one row per source, in an order that is always the same."""
    rows: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        source, target, *_ = line.split("\t")
        rows.setdefault(source, target)
    shuffled = [(source, target) for source, target in rows.items() if " " not in source]
    random.Random(1).shuffle(shuffled)
    return shuffled


def _multi30k(folder: Path, vocabulary: int, to: Path) -> tuple[list[Pair], list[Pair]]:
    """German to English, in subwords that both languages share."""

    def sentences(name: str) -> list[str]:
        return [line.replace('"', "”") for line in (folder / name).read_text("utf-8").splitlines()]

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences("train.de") + sentences("train.en")),
        model_prefix=str(to / "subwords"),
        vocab_size=vocabulary,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(to / "subwords.model"))

    def pairs(*names: str) -> list[Pair]:
        sides = [[line for name in names for line in sentences(f"{name}.{side}")] for side in ("de", "en")]
        return list(zip(*(model.encode(side, out_type=str) for side in sides), strict=True))

    return pairs("train"), pairs("test_2016_flickr", "val")


def _subwords(vocabulary: int, folder: Path) -> list[str]:
    """Exactly that many symbols: SentencePiece's, without its special ones, then made-up ones."""
    lines = (folder / "subwords.vocab").read_text("utf-8").splitlines()
    found = [line.split("\t")[0] for line in lines][3:]
    return [*found, *(f"▁filler{number}" for number in range(vocabulary - len(found)))][:vocabulary]


def _short(pairs: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in pairs if all(0 < len(side) <= LONGEST for side in pair)]


def _filler(pairs: list[Pair], symbols: list[str]) -> Iterator[Pair]:
    missing = [sorted(set(symbols).difference(*(pair[side] for pair in pairs))) for side in (0, 1)]
    sides = [[some[at : at + FILLER_LENGTH] for at in range(0, len(some), FILLER_LENGTH)] for some in missing]
    for source, target in zip_longest(*sides):
        yield source or sides[0][0], target or sides[1][0]


def _write_pairs(folder: Path, name: str, pairs: list[Pair]) -> None:
    lines = [tuple(" ".join(side) for side in pair) for pair in pairs]
    (folder / f"{name}.src").write_text("".join(f"{source}\n" for source, _ in lines), "utf-8")
    (folder / f"{name}.trg").write_text("".join(f"{target}\n" for _, target in lines), "utf-8")
    (folder / f"{name}.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in lines), "utf-8")
