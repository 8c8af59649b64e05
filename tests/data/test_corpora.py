"""Corpora from packages, on tiny packages made here; the real ones need not be installed."""

from collections import Counter
from pathlib import Path

import pytest

from regard.data.corpora import CORPORA, corpus_names, write_corpus
from regard.data.corpora.cmudict import DICTIONARY
from regard.data.corpora.package import sum_of_sums
from regard.data.corpora.split import Row, place, split
from regard.data.demo import demo_files
from regard.errors import DataError, MissingExtra, RegardError, UsageError
from tests.data.shelf import PARTS, WORDS, Shelf, read


def cmudict_file() -> dict[str, bytes]:
    lines = [f"{word} {word[0].upper()} AH1 T # note\n{word}(2) {word[0].upper()} EH0 T\n" for word in WORDS]
    return {DICTIONARY: "".join(lines).encode()}


def test_pronunciations_stay_on_one_side_and_nothing_is_lost(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    written = write_corpus("cmudict", tmp_path / "out", dev=0.2, test=0.2)
    parts = read(written)
    sides = [{word for word, _ in parts[part]} for part in PARTS]
    assert set.union(*sides) == set(WORDS)
    assert sum(map(len, sides)) == len(WORDS)
    together = [tuple(row) for part in PARTS for row in parts[part]]
    assert Counter(word for word, _ in together) == dict.fromkeys(WORDS, 2)
    assert ("bal", "B AH T") in together
    assert ("bal", "B EH T") in together
    assert written.files == {f"{part}.tsv": len(parts[part]) for part in PARTS}


def test_stress_marks_are_kept_on_request(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    parts = read(write_corpus("cmudict-stress", tmp_path / "out"))
    assert ["bal", "B AH1 T"] in parts["train"] + parts["dev"] + parts["test"]


def test_same_seed_same_bytes_other_seed_other_split(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_corpus("cmudict", tmp_path / folder, seed=seed)
    a, b, c = ({f.name: f.read_bytes() for f in (tmp_path / folder).iterdir()} for folder in "abc")
    assert a == b
    assert a["dev.tsv"] != c["dev.tsv"]


def test_readme_names_source_licence_and_counts(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    written = write_corpus("cmudict", tmp_path / "out")
    readme = (tmp_path / "out" / "README.txt").read_text("utf-8")
    assert "Carnegie Mellon" in readme
    assert "Carnegie Mellon" in written.credit
    assert "BSD" in readme
    assert f"train {written.files['train.tsv']} rows ({written.files['train.tsv'] // 2} keys)" in readme


def test_changed_file_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    (shelf.folder / DICTIONARY).write_bytes(b"bal B AE L\n")
    with pytest.raises(DataError, match=r"SHA-256 .* expected .* cmudict==1\.1\.3"):
        write_corpus("cmudict", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_vanished_file_is_named(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    (shelf.folder / DICTIONARY).unlink()
    with pytest.raises(DataError, match=r"cannot read .*cmudict\.dict.*reinstall"):
        write_corpus("cmudict", tmp_path / "out")


def test_other_version_is_refused_and_the_right_one_named(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file(), version="9.9")
    with pytest.raises(DataError, match=r"cmudict 9\.9 is installed.*cmudict==1\.1\.3"):
        write_corpus("cmudict", tmp_path / "out")


def test_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = CORPORA["cmudict"].package._replace(name="no-such-package")
    monkeypatch.setitem(CORPORA, "cmudict", CORPORA["cmudict"]._replace(package=package))
    with pytest.raises(MissingExtra, match=r"no-such-package.*regard\[corpora\]"):
        write_corpus("cmudict", tmp_path / "out")


def test_code_of_a_package_is_never_run(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file() | {"cmudict/__init__.py": b"raise SystemExit('was imported')"})
    package = CORPORA["cmudict"].package
    shelf.monkeypatch.setitem(
        CORPORA,
        "cmudict",
        CORPORA["cmudict"]._replace(package=package._replace(sha256=sum_of_sums(cmudict_file()))),
    )
    assert write_corpus("cmudict", tmp_path / "out").files


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cmudcit", "no corpus 'cmudcit'; did you mean cmudict.*Known: .*bible"),
        ("cmudict-", "no corpus"),
        ("pycountry-hindi", "did you mean .*pycountry-hi"),
        ("esperanto", "Known: cmudict, cmudict-stress, pycountry-XX"),
        ("geonames", "which geonames.*one of arabic, .*greek"),
    ],
)
def test_unknown_name_brings_its_neighbours(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=hint):
        write_corpus(name, tmp_path)
    assert name not in corpus_names()


def test_foreign_folder_is_left_alone_and_own_is_written_again(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "train.tsv").write_text("precious")
    with pytest.raises(UsageError, match="not empty"):
        write_corpus("cmudict", taken)
    assert (taken / "train.tsv").read_text() == "precious"
    (taken / "train.tsv").unlink()
    assert write_corpus("cmudict", taken) == write_corpus("cmudict", taken)
    with pytest.raises(UsageError, match="does not hold cmudict-stress"):
        write_corpus("cmudict-stress", taken)


def test_file_in_place_of_the_folder(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", cmudict_file())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        write_corpus("cmudict", tmp_path / "file")
    with pytest.raises(RegardError, match="file"):
        write_corpus("cmudict", tmp_path / "file" / "below")


@pytest.mark.parametrize(("dev", "test"), [(0.0, 0.1), (0.1, 0.0), (0.5, 0.5), (-0.1, 0.1), (float("nan"), 0.1)])
def test_impossible_shares(dev: float, test: float, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no room"):
        write_corpus("cmudict", tmp_path, dev=dev, test=test)


def test_too_small_for_three_parts(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("cmudict", {DICTIONARY: b"a AH0\n"})
    with pytest.raises(DataError, match="too small"):
        write_corpus("cmudict", tmp_path / "out")


def test_split_shares_and_fair_heads() -> None:
    parts = split((Row(str(i), str(i), "x") for i in range(20_000)), seed=0, dev=0.05, test=0.1)
    assert [len(part) / 20_000 for part in parts] == pytest.approx([0.85, 0.05, 0.1], abs=0.01)
    head = [int(row.key) for row in parts.train[:2000]]
    assert sum(head) / len(head) == pytest.approx(10_000, rel=0.05)


def test_split_drops_repeated_rows_and_ignores_their_order() -> None:
    rows = [Row(f"k{i % 50}", f"s{i % 50}", f"t{i % 100}") for i in range(400)]
    there = split(rows, seed=3, dev=0.2, test=0.2)
    back = split(reversed(rows), seed=3, dev=0.2, test=0.2)
    assert [set(part) for part in there] == [set(part) for part in back]
    assert sum(map(len, there)) == 100


def test_place_is_pinned_for_ever() -> None:
    """Another hash would mix the test words of yesterday's model into today's training."""
    assert place("word", 0) == 0.6288779155039128


def test_every_corpus_states_its_terms() -> None:
    for corpus in CORPORA.values():
        assert corpus.licence
        assert corpus.credit
        assert len(corpus.package.sha256) == 64
    assert len(corpus_names()) == len(set(corpus_names()))


def test_demo_data_is_small_disjoint_and_phonemic() -> None:
    files = demo_files()
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert "Carnegie Mellon" in (files.train.parent / "LICENSE").read_text()
    parts = [[line.split("\t") for line in path.read_text("utf-8").splitlines()] for path in files]
    words = [{word for word, _ in rows} for rows in parts]
    assert [len(each) for each in words] == [14_000, 1_000, 1_000]
    assert len(set.union(*words)) == 16_000
    assert all(set(word) <= set("abcdefghijklmnopqrstuvwxyz'") for each in words for word in each)
    assert len({phone for rows in parts for _, phones in rows for phone in phones.split()}) == 39
    assert all(len(rows) == len({tuple(row) for row in rows}) for rows in parts)
