"""Every task learns a toy language through the command line, and every variant trains."""

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from regard.run import load
from regard.tasks.inflect import METRIC as INFLECT
from tests.command import done, train, words, write
from tests.conftest import Reverse


def score(run: Path, test: Path) -> dict[str, Any]:
    return dict(done("evaluate", run, test, "--json").objects[0]["metrics"])


def test_pronounce_learns_to_read_backwards(reverse: Reverse) -> None:
    metrics = score(reverse.run, reverse.test)
    assert metrics["accuracy"] >= 95
    assert metrics["wer"] == pytest.approx(100 - metrics["accuracy"])
    assert metrics["per"] <= 5


def test_transliterate_learns_another_script(tmp_path: Path) -> None:
    greek = str.maketrans("abcd", "αβγδ")
    rows = [(word, word.translate(greek)) for word in words("abcd", 2, 4)]
    pairs, test = write(tmp_path / "train.tsv", rows[:300]), write(tmp_path / "test.tsv", rows[300:])
    assert train(pairs, tmp_path / "run", task="transliterate", epochs=15).code == 0
    metrics = score(tmp_path / "run", test)
    assert metrics["accuracy"] >= 95
    assert metrics["cer"] <= 2


def test_inflect_does_what_the_feature_says(tmp_path: Path) -> None:
    lemmas = words("abcd", 2, 4)
    rows = [row for word in lemmas for row in ((word, word[::-1], "V;REV"), (word, word.upper(), "V;UP"))]
    pairs, test = write(tmp_path / "train.tsv", rows[:500]), write(tmp_path / "test.tsv", rows[500:])
    assert train(pairs, tmp_path / "run", task="inflect", epochs=10).code == 0
    assert score(tmp_path / "run", test)[INFLECT] >= 95
    answers = [done("predict", tmp_path / "run", "dab", "--features", tag).out for tag in ("V;REV", "V;UP")]
    assert answers == ["bad\n", "DAB\n"]
    for rows in ([("dab", "bad", "V;REV"), ("dab", "DAB", "V;UP")], [("dab", "V;REV"), ("dab", "V;UP")]):
        asked = write(tmp_path / "asked.tsv", rows)  # a table like that of training, or only what is read
        assert done("predict", tmp_path / "run", "--input", asked).out == "bad\nDAB\n"
    assert load(tmp_path / "run").predict(["dab\tV;UP", "dab\tV;REV"])[0].source_tokens == ["d", "a", "b", "+V", "+UP"]


def test_translate_learns_a_small_language_by_subwords(tmp_path: Path) -> None:
    english = ["tom", "ann", "bob", "sees", "hears", "likes", "big", "red", "old", "cats", "dogs", "birds"]
    foreign = ["mot", "nna", "bbo", "lat", "ter", "pod", "oxo", "rur", "dlo", "miau", "wuf", "tsip"]
    lexicon = dict(zip(english, foreign, strict=True))
    sentences = list(itertools.product(english[:3], english[3:6], english[6:9], english[9:]))  # subject, verb, …
    random.Random(1).shuffle(sentences)
    rows = [(" ".join(one), " ".join(lexicon[word] for word in one)) for one in sentences]
    pairs, test = write(tmp_path / "train.tsv", rows[:70]), write(tmp_path / "test.tsv", rows[70:])
    assert train(pairs, tmp_path / "run", task="translate", epochs=25).code == 0
    report = done("evaluate", tmp_path / "run", test, "--json").objects[0]
    assert report["examples"] == 11
    assert report["metrics"]["bleu"] >= 90
    assert report["metrics"]["chrf"] >= 90
    assert report["signatures"]["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    tokens = done("predict", tmp_path / "run", rows[0][0], "--json").objects[0]["source_tokens"]
    assert "".join(tokens).replace("▁", " ").strip() == rows[0][0]


SMALL = {"model.embed": 8, "model.hidden": 12, "model.compare": 10, "model.readout": 8, "training.batch_size": 16}


@pytest.mark.parametrize(
    ("variant", "task"),
    [
        ("bahdanau", "pronounce"),
        ("bahdanau", "translate"),
        ("luong", "inflect"),
        ("luong", "transliterate"),
        ("monotonic", "transliterate"),
        ("monotonic", "inflect"),
        ("no-attention", "translate"),
        ("fixed-context", "pronounce"),
        ("copy", "pronounce"),
        ("sentinel", "inflect"),
        ("abs", "translate"),
    ],
)
def test_every_variant_trains_and_answers(tmp_path: Path, variant: str, task: str) -> None:
    pairs = write(tmp_path / "copy.tsv", ((word, " ".join(word.upper()), "V;UP") for word in words("ab", 2, 4)))
    small = {key: value for key, value in SMALL.items() if key != "model.readout" or variant != "abs"}  # it has none
    sizes = [part for key, value in small.items() for part in ("--set", f"{key}={value}")]
    subwords = ["--set", "source.subwords=20", "--set", "target.subwords=20"]
    result = train(pairs, tmp_path / "run", "--recipe", variant, *sizes, *subwords, task=task)
    assert result.code == 0, result.err
    for answer in done("predict", tmp_path / "run", "abba", "ba", "--beam", 2, "--json").objects:
        if variant in ("no-attention", "fixed-context"):
            assert answer["attention"] is None
        else:
            outputs, sources = len(answer["output_tokens"]), len(answer["source_tokens"])
            assert [len(row) for row in answer["attention"]] == [sources] * outputs
            assert [sum(row) for row in answer["attention"]] == pytest.approx([1] * outputs, abs=1e-5)
