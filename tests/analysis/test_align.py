"""`regard align`: a run that reads words backwards must link them backwards, and say so when gold stands aside."""

import json
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.analysis.align import look, read_pairs
from regard.pictures import read
from tests.command import backwards, done, refused, train, words, write
from tests.command import regard as command
from tests.conftest import Reverse


def mirror(path: Path, test: Path, aside: int = 0, first: int = 0, mark: str = "-") -> Path:
    """Gold links of the language: the anti-diagonal, or the one that is `aside` target words later."""
    lines = []
    for line in test.read_text().splitlines():
        size = len(line.partition("\t")[0])
        links = [(size - 1 - t, t + aside) for t in range(size) if 0 <= t + aside < size]
        lines.append(" ".join(f"{source + first}{mark}{target + first}" for source, target in links))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def gold(reverse: Reverse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mirror(tmp_path_factory.mktemp("gold") / "test.pharaoh", reverse.test)


def measured(reverse: Reverse, gold: Path, *more: object) -> dict[str, float]:
    file = gold.parent / "measures.json"
    done("align", reverse.run, reverse.test, "--gold", gold, "--measures", file, *more)
    found: dict[str, float] = json.loads(file.read_text())["shifts"]["0"]
    return found


def test_the_anti_diagonal_is_found_in_words_never_seen(reverse: Reverse, gold: Path) -> None:
    found = measured(reverse, gold)
    assert found["aer"] < 0.05
    assert found["match"] > 0.95
    assert found["mass"] > 0.8
    assert measured(reverse, gold, "--links", "mutual")["precision"] >= found["precision"]
    assert measured(reverse, gold, "--threshold", "0.5")["aer"] < 0.05


def test_links_in_every_form_are_the_same(reverse: Reverse, gold: Path, tmp_path: Path) -> None:
    printed = {form: done("align", reverse.run, reverse.test, "--format", form).out for form in ("pharaoh", "talp")}
    objects = done("align", reverse.run, reverse.test, "--format", "json").objects
    assert printed["pharaoh"] == done("align", reverse.run, reverse.test).out
    for name, out in printed.items():
        (tmp_path / f"own.{name}").write_text(out)
        assert measured(reverse, tmp_path / f"own.{name}")["aer"] == 0  # its own links as gold
    for line, one in zip(printed["pharaoh"].splitlines(), objects, strict=True):
        assert line == " ".join(f"{i}-{j}" for i, j in one["links"])
        assert np.sum(one["weights"], 1) == pytest.approx(np.ones(len(one["target"])), abs=1e-4)
        assert one["source"] == [word.lower() for word in one["target"][::-1]]


def test_every_form_of_gold_gives_the_same_measures(reverse: Reverse, gold: Path, tmp_path: Path) -> None:
    plain = measured(reverse, gold)
    assert measured(reverse, mirror(tmp_path / "gold.talp", reverse.test, first=1, mark="S")) == plain
    talp = mirror(tmp_path / "gold.txt", reverse.test, first=1)
    assert measured(reverse, talp, "--gold-format", "talp") == plain
    possible = measured(reverse, mirror(tmp_path / "gold.possible", reverse.test, mark="?"))
    assert possible["recall"] is None  # nothing is sure
    assert possible["precision"] == plain["precision"]


@pytest.mark.parametrize(("aside", "shift", "whose"), [(1, "+1", "after"), (-1, "-1", "before")])
def test_gold_that_stands_aside_is_named(reverse: Reverse, tmp_path: Path, aside: int, shift: str, whose: str) -> None:
    gold = mirror(tmp_path / "gold", reverse.test, aside)
    said = done("align", reverse.run, reverse.test, "--gold", gold).err
    assert "Off by one: " in said
    assert f"that of the target word {whose} it (shift {shift})" in said


def test_a_model_that_stands_right_is_not_accused(reverse: Reverse, gold: Path) -> None:
    result = done("align", reverse.run, reverse.test, "--gold", gold)
    assert "Not off by one" in result.err
    table = [line.split() for line in result.err.splitlines()[:4]]
    assert table[0] == ["shift", "aer", "precision", "recall", "match", "mass"]
    assert [row[0] for row in table[1:]] == ["-1", "0", "+1"]
    assert max(map(len, result.err.splitlines()[:5])) <= 80
    assert float(table[2][1]) < 5 < 50 < float(table[1][1])


def test_words_of_pieces_and_two_directions(reverse: Reverse, tmp_path: Path) -> None:
    """Sentences of subwords, one model each way; what both say is more precise than what one says."""
    known = words("abcd", 2, 4)[:300]
    sentences = [[known[(7 * n + 3 * k) % 300] for k in range(3)] for n in range(100)]
    there = write(tmp_path / "there.tsv", ((" ".join(one), " ".join(one).upper()) for one in sentences))
    back = write(tmp_path / "back.tsv", ((" ".join(one).upper(), " ".join(one)) for one in sentences))
    for pairs, name in ((there, "forth"), (back, "back")):
        assert train(pairs, tmp_path / name, task="translate", epochs=2).code == 0
    run = regard.load(tmp_path / "forth")
    assert {one.weights.shape for one in look(run, read_pairs(run, str(there)))} == {(3, 3)}
    calls = [("align", tmp_path / "forth", there, "--reverse", tmp_path / "back"), ("align", tmp_path / "forth", there)]
    both, one = (links(done(*call).out) for call in calls)
    either = links(done(*calls[0], "--symmetrize", "union").out)
    middle = links(done(*calls[0], "--symmetrize", "grow-diag-final-and").out)
    for n in range(100):
        assert both[n] <= middle[n] <= either[n]
        assert both[n] <= one[n] <= either[n]
    odd = command("align", tmp_path / "forth", there, "--reverse", reverse.run, "--level", "symbols")
    refused(odd, 2, "there.tsv, line 1", "symbols", "--level words")


def links(out: str) -> list[set[str]]:
    return [set(line.split()) for line in out.split("\n")[:-1]]


def test_the_picture_outlines_gold_and_holds_the_weights(reverse: Reverse, gold: Path, tmp_path: Path) -> None:
    for name in ("some.svg", "some.html", "some.json"):
        done("align", reverse.run, reverse.test, "--gold", gold, "-o", tmp_path / name, "--draw", "2,4-5")
        panels = read(tmp_path / name)
        assert [panel.title for panel in panels] == ["Pair 2", "Pair 4", "Pair 5"]
        for panel, place in zip(panels, (1, 3, 4), strict=True):
            source = reverse.unseen[place]
            assert list(panel.columns) == list(source)
            assert list(panel.rows) == backwards(source).split()
            assert panel.marked == {(t, len(source) - 1 - t) for t in range(len(source))}
            forced = regard.load(reverse.run).force(source, backwards(source))
            assert np.asarray(panel.weights) == pytest.approx(forced.attention, abs=1e-6)


def test_without_gold_its_own_links_are_outlined(reverse: Reverse, tmp_path: Path) -> None:
    out = done("align", reverse.run, reverse.test, "-o", tmp_path / "some.json").out.splitlines()
    panels = read(tmp_path / "some.json")
    assert len(panels) == 4
    for panel, line in zip(panels, out, strict=False):
        assert {f"{j}-{t}" for t, j in panel.marked} == set(line.split())


def test_a_run_without_attention_has_nothing_to_link(few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "blind", "--set", "model.attention=none").code == 0
    refused(command("align", tmp_path / "blind", few), 2, "has no attention to align by")


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--symmetrize", "union"], 2, "add --reverse"),
        (["--measures", "x.json"], 2, "add --gold"),
        (["--threshold", "0"], 2, "above 0"),
        (["--gold", "nowhere"], 2, "cannot read nowhere"),
        (["-o", "x.bmp"], 2, ".svg"),
        (["-o", "x.svg", "--draw", "0"], 2, "from 1"),
        (["-o", "x.svg", "--draw", "3-2"], 2, "from 1"),
        (["-o", "x.svg", "--draw", "999"], 2, "only 50 pairs"),
        (["--symmetrize", "gdfa", "--reverse", "x"], 2, "grow-diag-final-and"),
    ],
)
def test_wrong_calls_are_explained(reverse: Reverse, more: list[str], code: int, said: str) -> None:
    refused(command("align", reverse.run, reverse.test, *more), code, said)


def test_gold_of_other_pairs_is_refused(reverse: Reverse, gold: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("".join(gold.read_text().splitlines(True)[:7]))
    refused(command("align", reverse.run, reverse.test, "--gold", short), 1, "has 7 lines for 50 pairs")
    wide = tmp_path / "wide"
    wide.write_text(gold.read_text().replace("0-", "9-", 1))
    refused(command("align", reverse.run, reverse.test, "--gold", wide), 1, "wide, line 1", "source word 10")


def test_a_bad_pair_is_named_without_an_option_that_align_has_not(reverse: Reverse, tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", [("ab", "B A"), ("alone",)])
    result = command("align", reverse.run, pairs)
    refused(result, 1, "pairs.tsv, line 2")
    assert "--skip-bad-lines" not in result.err
