"""Pairs of texts → class: each reader learns, through the command line, what needs both, and shows where it looked."""

import random
from pathlib import Path

import pytest
import torch

from regard.data.batching import Padded
from regard.data.readers import Example
from regard.decoders.choice import Chooser
from regard.errors import UsageError
from regard.prediction import Prediction
from regard.recipe import Search
from regard.run import load
from regard.settings import build
from regard.tasks import entail
from regard.tasks.choices import Codec
from regard.tasks.entail import read
from regard.tasks.request import Request
from tests.command import Result, done, refused, regard, write

WORDS = ["ant", "bee", "cat", "dog", "eel", "owl", "gnu", "hen", "ibis", "jay"]
Row = tuple[str, str, str]


def train(pairs: Path, out: Path, *more: object) -> Result:
    return regard(
        *("train", pairs, "--task", "entail", "--recipe", "tiny-choice", "--out", out, "--device", "cpu", "--quiet"),
        *more,
    )


def contained(count: int, seed: int) -> list[Row]:
    """The label says whether every word of the hypothesis occurs in the premise."""
    draw, rows = random.Random(seed), []
    for number in range(count):
        premise = draw.sample(WORDS, 3)
        hypothesis = draw.sample(premise, 2)
        if number % 2:
            hypothesis[draw.randrange(2)] = draw.choice([word for word in WORDS if word not in premise])
        rows.append((" ".join(premise), " ".join(hypothesis), "no" if number % 2 else "yes"))
    return rows


def alike(count: int, seed: int) -> list[Row]:
    """The label says whether both texts are about birds, or both about other animals: neither text alone tells."""
    draw = random.Random(seed)
    topics = [[*WORDS[:4], "the", "a"], [*WORDS[4:], "the", "a"]]
    rows = []
    for number in range(count):
        first = draw.randrange(2)
        texts = [
            [draw.choice(topics[topic][:4]), *draw.choices(topics[topic], k=2)]
            for topic in (first, (first + number) % 2)
        ]
        rows.append((" ".join(texts[0]), " ".join(texts[1]), "other" if number % 2 else "same"))
    return rows


def found(answer: Prediction) -> list[bool]:
    """Of the hypothesis's words that are in the premise: is their heaviest premise word their equal?"""
    assert answer.attention is not None
    heaviest = [answer.source_tokens[place] for place in answer.attention.argmax(1)]
    words = zip(answer.attention_rows, heaviest, strict=True)
    return [word == heavy for word, heavy in words if word in answer.source_tokens]


def test_a_word_finds_its_equal(tmp_path: Path) -> None:
    pairs, test = write(tmp_path / "train.tsv", contained(400, 1)), write(tmp_path / "test.tsv", contained(100, 2))
    result = train(pairs, tmp_path / "run", "--epochs", 10, "--set", "model.cell=gru")
    assert result.code == 0, result.err
    report = done("evaluate", tmp_path / "run", test, "--json").objects[0]
    assert report["metrics"]["accuracy"] >= 90
    assert report["metrics"]["macro_f1"] >= 90
    answers = load(tmp_path / "run").predict(
        [f"{premise}\t{hypothesis}" for premise, hypothesis, _ in contained(40, 3)]
    )
    equals = [equal for answer in answers for equal in found(answer)]
    assert sum(equals) >= 0.9 * len(equals)


OTHERS = {
    "words": ("model.score=additive",),
    "sentences": ("model.score=additive", "choose.rows=2", "choose.penalty=0.01"),
}


@pytest.mark.parametrize("reader", OTHERS)
def test_the_other_readers_learn_what_neither_text_tells_alone(tmp_path: Path, reader: str) -> None:
    pairs, test = write(tmp_path / "train.tsv", alike(200, 1)), write(tmp_path / "test.tsv", alike(100, 2))
    options = [part for one in OTHERS[reader] for part in ("--set", one)]
    result = train(pairs, tmp_path / "run", "--epochs", 8, "--set", f"entail.reader={reader}", *options)
    assert result.code == 0, result.err
    assert done("evaluate", tmp_path / "run", test, "--json").objects[0]["metrics"]["accuracy"] >= 90
    answer = load(tmp_path / "run").predict("the jay a\then hen a bee")
    assert answer.attention is not None
    rows = ["1", "2"] if reader == "sentences" else ["hen", "hen", "a", "bee"]
    assert list(answer.attention_rows) == rows
    assert answer.attention.shape == (len(rows), 3)
    wanted = [("hypothesis", (2, 4), ["hen", "hen", "a", "bee"]), ("overlap of the rows", (2, 2), rows)]
    wanted = wanted if reader == "sentences" else []
    assert [(look.name, look.weights.shape, look.columns) for look in answer.looks] == wanted


def test_an_answer_shows_both_directions(tmp_path: Path) -> None:
    assert train(write(tmp_path / "train.tsv", contained(40, 1)), tmp_path / "run", "--epochs", 1).code == 0
    answer = load(tmp_path / "run").predict("ant bee cat dog\tbee owl")
    assert answer.source_tokens == ["ant", "bee", "cat", "dog"]
    assert list(answer.attention_rows) == ["bee", "owl"]
    assert answer.attention is not None
    assert answer.attention.sum(1) == pytest.approx([1, 1], abs=1e-5)
    (look,) = answer.looks
    assert (look.rows, look.columns) == (answer.source_tokens, ["bee", "owl"])
    assert look.weights.sum(1) == pytest.approx([1] * 4, abs=1e-5)
    assert [panel.axes for panel in answer.panels()] == [("hypothesis", "premise"), ("premise", "hypothesis")]
    assert answer.to_dict()["axes"] == ["hypothesis", "premise"]
    assert answer.to_dict()["looks"][0]["axes"] == ["premise", "hypothesis"]
    assert answer.probabilities is not None
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    done("show", tmp_path / "run", "ant bee", "--beside", "bee", "-o", tmp_path / "pair.svg")
    assert (tmp_path / "pair.svg").stat().st_size > 0


def test_a_hypothesis_is_needed(tmp_path: Path) -> None:
    rows = contained(40, 1)
    pairs = write(tmp_path / "train.tsv", rows)
    with pytest.raises(UsageError, match=r"set data.features_column to the column of the hypothesis"):
        read(str(pairs), build({"task": "entail", "data.features_column": None}, "here"))
    refused(train(write(tmp_path / "gap.tsv", [*rows, ("ant", "", "yes")]), tmp_path / "run"), 1, "gap.tsv, line 41")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("choose.rows=3", "choose.rows=3 does nothing with entail.reader=alignment"),
        ("choose.pool=max", "choose.pool=max does nothing with entail.reader=alignment"),
        ("model.heads=2", "model.heads=2 does nothing"),
    ],
)
def test_options_that_do_nothing_are_refused(tmp_path: Path, option: str, said: str) -> None:
    pairs = write(tmp_path / "train.tsv", contained(40, 1))
    refused(train(pairs, tmp_path / "run", "--set", option), 2, said)


EXAMPLES = [
    Example(" ".join(WORDS[:first]), "yes" if first % 2 else "no", " ".join(WORDS[-second:]))
    for first, second in [(3, 1), (1, 5), (7, 2), (2, 8)]
]


def made(reader: str, dropout: float) -> tuple[Chooser, Codec]:
    sizes = {"model.embed": 5, "model.hidden": 6, "choose.size": 7, "model.dropout": dropout}
    options = {"task": "entail", "data.features_column": 2, "source.symbols": "words", "entail.reader": reader}
    recipe = build(options | sizes, "here")
    learnt = entail.codec(EXAMPLES, recipe)
    torch.manual_seed(0)
    return entail.build(learnt, recipe).double(), learnt


@pytest.mark.parametrize("reader", ["alignment", *OTHERS])
def test_nothing_about_an_answer_depends_on_its_batch_mates(reader: str) -> None:
    model, learnt = made(reader, 0.0)
    request = Request(Search())
    together = entail.answer([model.eval()], learnt, EXAMPLES, request, range(4))
    for number, answer in enumerate(together):
        (alone,) = entail.answer([model], learnt, [EXAMPLES[number]], request, [0])
        assert alone.probabilities == pytest.approx(answer.probabilities, abs=1e-9)
        assert alone.attention is not None
        assert alone.attention == pytest.approx(answer.attention, abs=1e-6)
        assert [look.columns for look in alone.looks] == [look.columns for look in answer.looks]
        for one, other in zip(alone.looks, answer.looks, strict=True):
            assert one.weights == pytest.approx(other.weights, abs=1e-6)


def test_dropout_leaves_equal_words_equal() -> None:
    """Or a model learns from texts that never have a word in common, and meets them when it answers."""
    model, _ = made("alignment", 0.5)
    text = Padded(torch.tensor([[5, 7, 6]]), torch.tensor([3]))
    encoder = model.train().get_submodule("reader.pair.encoder")
    assert torch.equal(encoder(text).values, encoder(text).values)
    assert not torch.equal(model(text, text).logits, model(text, text).logits)  # there is dropout after the comparison
