"""The language model: what it reads, what it tells of texts, how it goes on, and toy languages it learns."""

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, END
from regard.errors import DataError, UsageError
from regard.model import EncoderDecoder
from regard.recipe import Recipe, Search
from regard.run import Run
from regard.settings import build
from regard.tasks import model as task
from regard.tasks.checking import check_options
from regard.tasks.request import Request
from tests.command import done, refused, regard, train

TINY = {"model.embed": 6, "model.readout": 6, "model.hidden": 7, "model.compare": 5, "model.dropout": 0.0}
OPTIONS = {"model.attention": "none", "model.start": "learned", "target.symbols": "tokens", **TINY}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "state": {"model.output": "state", "model.cell": "gru", "model.decoder_layers": 2},
    "lstmn": {"model.cell": "lstmn", "model.tie": True},
    "sentinel": {"sentinel.window": 4, "sentinel.supervised": True},
}
LINES = ["a b c", "b", "c a b a d a", "d d", "a c b d"]
EXAMPLES = [Example(line, line) for line in LINES]

every_kind = pytest.mark.parametrize("kind", KINDS)


def recipe(**options: Any) -> Recipe:
    return build({"task": "model", **OPTIONS, **options}, "here")


def made(kind: str) -> tuple[EncoderDecoder, task.TextCodec]:
    torch.manual_seed(0)
    chosen = recipe(**KINDS[kind])
    codec = task.codec(EXAMPLES, chosen)
    model = task.build(codec, chosen).double().eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight)
    return model, codec


# -- reading ---------------------------------------------------------------------------------------------------


def test_a_line_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("A man.\n\n  Two men \n")
    read = task.read(str(tmp_path / "text.txt"), recipe()).examples
    assert [(one.source, one.target) for one in read] == [("A man.", "A man."), ("Two men", "Two men")]


def test_a_column_of_a_table_or_a_key_of_json_lines(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text("id\ttitle\n1\tA Man\n")
    found = task.read(str(tmp_path / "table.tsv"), recipe(**{"data.source_column": "title", "data.lowercase": True}))
    assert found.examples[0].target == "a man"
    (tmp_path / "some.jsonl").write_text(json.dumps({"text": "one", "other": "two"}) + "\n")
    assert task.read(str(tmp_path / "some.jsonl"), recipe()).examples[0].target == "one"
    assert (
        task.read(str(tmp_path / "some.jsonl"), recipe(**{"data.source_column": "other"})).examples[0].source == "two"
    )


def test_beginnings_are_read_from_the_key_that_was_learnt_from(tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in ("ab", "abab") * 5))
    more = ("--set", "target.symbols=graphemes", "--set", "model.hidden=4")
    assert train(tmp_path / "some.jsonl", tmp_path / "run", *more, task="model").code == 0
    assert len(done("predict", tmp_path / "run", "--input", tmp_path / "some.jsonl").out.splitlines()) == 10


def test_what_a_language_model_has_no_use_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reads one text, but two files came"):
        task.read(["a.de", "a.en"], recipe())
    with pytest.raises(UsageError, match="reads one column"):
        task.read("a.tsv", recipe(**{"data.features_column": 3}))
    with pytest.raises(UsageError, match=r"set target.symbols and target.least"):
        task.codec(EXAMPLES, recipe(**{"source.symbols": "words"}))
    codec = task.codec(EXAMPLES, recipe())
    for wrong in ({"model.attention": "soft"}, {"model.start": "last"}, {"model.ctc": 0.3}, {"model.reverse": 1.0}):
        with pytest.raises(UsageError, match=r"has no source: it needs model.attention=none"):
            task.build(codec, recipe(**wrong))
    with pytest.raises(UsageError, match=r"sentinel.window=3 does nothing with model.cell=lstmn"):
        check_options(task, recipe(**{"model.cell": "lstmn", "sentinel.window": 3}))
    for name, value in {"fertility": 1.0, "agreement": 0.0, "supervision": 1.0, "encoder_layers": 2}.items():
        with pytest.raises(UsageError, match=f"model.{name}={value} does nothing in the task model"):
            check_options(task, recipe(**{f"model.{name}": value}))
    with pytest.raises(UsageError, match=r"sentinel.supervised=true does nothing with sentinel.window=0"):
        check_options(task, recipe(**{"sentinel.supervised": True}))


def test_the_codec_is_written_once_and_read_back() -> None:
    codec = task.codec(EXAMPLES, recipe())
    content = json.loads(json.dumps(codec.to_json()))
    assert set(content) == {"text", "lowercase"}
    assert task.TextCodec.from_json(content).to_json() == codec.to_json()
    assert codec.encode(Example("", "a z")).source == []
    for damaged in ({}, {**content, "lowercase": 1}, {**content, "text": {}}):
        with pytest.raises(DataError):
            task.TextCodec.from_json(damaged)


# -- telling ---------------------------------------------------------------------------------------------------


def by_hand(model: EncoderDecoder, codec: task.TextCodec, line: str) -> float:
    """log p of a line and its end, one symbol after another."""
    state, memory = model.decoder.start(model.encode(task.batch(task.encode(codec, [Example("", "a")]), [0]).source))
    token, total = BEGIN, 0.0
    for following in [*codec.target.vocabulary.encode(line.split()), END]:
        step = model.decoder.step(torch.tensor([token]), state, memory)
        p = np.exp(step.logits[0].detach().numpy())
        total += math.log(p[following] / p.sum())
        token, state = following, step.state
    return total


@every_kind
def test_perplexity_is_the_sum_over_all_lines(kind: str) -> None:
    model, codec = made(kind)
    cost = -sum(by_hand(model, codec, line) for line in LINES)
    symbols = sum(len(line.split()) + 1 for line in LINES)
    run = Run(Path(), recipe(**KINDS[kind]), codec, [model])
    assert run.perplexity(EXAMPLES) == pytest.approx(math.exp(cost / symbols), rel=1e-9)
    numbers = list(range(len(EXAMPLES)))
    together = task.loss(model, task.batch(task.encode(codec, EXAMPLES), numbers))
    assert together.nll.item() == pytest.approx(cost, rel=1e-9)


def test_perplexity_by_words_and_characters() -> None:
    examples = [Example("", "ab c!"), Example("", "zz")]
    codec = task.codec([Example("", "ab c!")], recipe(**{"target.symbols": "graphemes"}))
    found = task.per_unit(codec, examples, 2.0)  # 6 + 3 symbols of one bit each
    assert found["words"] == 3 + 2
    assert found["word_perplexity"] == pytest.approx(2 ** (9 / 5))
    assert found["bits_per_character"] == pytest.approx(9 / 9)
    assert found["unknown"] == pytest.approx(100 * 2 / 9)


# -- going on --------------------------------------------------------------------------------------------------

REQUESTS = {
    "greedy": Request(Search(beam=1, longest_extra=4)),
    "beam": Request(Search(beam=4, longest_extra=4), nbest=3),
    "sample": Request(Search(longest_extra=4), sampling=True, nbest=2, temperature=1.3, top_k=5, top_p=0.9),
    "prefix": Request(Search(beam=2, longest_extra=4), prefix="d c"),
}
BEGINNINGS = [Example(text, "") for text in ("a b", "", "c z a", "d")]


def asked(model: EncoderDecoder, codec: task.TextCodec, request: Request, numbers: Sequence[int]) -> list[Any]:
    return task.answer([model], codec, [BEGINNINGS[number] for number in numbers], request, numbers)


@every_kind
@pytest.mark.parametrize("search", REQUESTS)
def test_an_answer_is_the_beginning_and_what_follows(kind: str, search: str) -> None:
    model, codec = made(kind)
    request = REQUESTS[search]
    found = asked(model, codec, request, range(4))
    for number, (first, example) in enumerate(zip(found, BEGINNINGS, strict=True)):
        (alone,) = asked(model, codec, request, [number])
        given = ("d c " * (search == "prefix") + example.source).split()
        for one, other in zip([first, *first.nbest], [alone, *alone.nbest], strict=True):
            assert one.output_tokens[: len(given)] == given
            assert one.output == other.output == " ".join(one.output_tokens)
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-9)
            whole = by_hand(model, codec, " ".join(one.output_tokens)) if one.finished else None
            assert whole is None or one.log_probability == pytest.approx(whole, abs=1e-5)
            size = len(one.output_tokens)
            if kind in ("plain", "state"):
                assert one.attention is None
            else:
                assert one.attention.shape == (size, size)
                np.testing.assert_allclose(one.attention.sum(-1), np.ones(size), atol=1e-6)
                np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)
                assert one.source_tokens == [model.decoder.before, *one.output_tokens][:size]
    assert found[2].unknown == ["z"]


@every_kind
def test_a_given_text_is_read_again(kind: str) -> None:
    model, codec = made(kind)
    found = task.force([model], codec, [Example("a", "a z b"), Example("", "c")], [["a", "z", "b"], ["c"]], 1.0)
    assert [one.prediction.output for one in found] == ["a z b", "c"]
    for one in found:
        assert one.prediction.log_probability == pytest.approx(by_hand(model, codec, one.prediction.output), abs=1e-9)
        assert np.exp(one.following).sum() == pytest.approx(1, abs=1e-5)


def test_models_together_have_no_look_in_common() -> None:
    model, codec = made("lstmn")
    found = task.answer([model, model], codec, BEGINNINGS, REQUESTS["greedy"], range(4))
    alone = asked(model, codec, REQUESTS["greedy"], range(4))
    assert [one.output for one in found] == [one.output for one in alone]
    assert all(one.attention is None for one in found)


# -- learning --------------------------------------------------------------------------------------------------


def learn(tmp_path: Path, lines: Sequence[str], *more: object, epochs: int) -> Path:
    """A run that has seen these lines; they are also what stopping early would look at."""
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines))
    result = train(text, tmp_path / "run", "--dev", text, *more, task="model", epochs=epochs)
    assert result.code == 0, result.err
    return tmp_path / "run"


@pytest.mark.parametrize("cell", ["lstm", "lstmn"])
def test_learns_to_count(tmp_path: Path, cell: str) -> None:
    """aⁿbⁿ: which n comes is worth log 8; whoever sees the last letter alone must guess at every letter, at best with
    3.5 ln(4.5 / 3.5) + ln 4.5 for the a's and as much for the b's of a line, a perplexity of 1.61."""
    lines = ["a" * n + "b" * n for n in range(1, 9)] * 25
    run = learn(
        *(tmp_path, lines, "--set", "target.symbols=graphemes", "--set", f"model.cell={cell}"),
        *("--set", "model.hidden=32"),
        epochs=12,
    )
    report = done("evaluate", run, tmp_path / "text.txt", "--json").objects[0]
    assert report["examples"] == 200
    assert report["perplexity"] < 1.4
    assert report["perplexity"] > math.exp(math.log(8) / 10)  # nobody can do better
    assert report["bits_per_character"] == pytest.approx(math.log2(report["perplexity"]), rel=1e-6)
    assert done("predict", run, "aaab").out == "aaabbb\n"
    drawn = done("predict", run, "", "--sample", "--nbest", 40).out.splitlines()
    texts = [line.split("\t")[1] for line in drawn]
    assert len(set(texts)) > 4
    right = sum(text == "a" * (len(text) // 2) + "b" * (len(text) // 2) for text in texts)
    assert right >= 14  # where one letter is all that is seen, 5 of 40
    picture = regard("show", run, "aabb", "-o", tmp_path / "looks.svg")
    if cell == "lstm":
        refused(picture, 2, "there is no attention to draw")
    else:
        assert picture.code == 0
        assert "&lt;begin&gt;" in (tmp_path / "looks.svg").read_text()


def test_a_pointer_repeats_a_name_that_it_has_never_seen_repeated(tmp_path: Path) -> None:
    """Half of the names are only seen alone. Of a line with one of these twice the vocabulary knows that it is one of
    half the names, at best, which makes a perplexity of (100 · 2 · 50)^¼ = 10 of the four symbols; copied, of 3.8."""
    names = [f"n{number}" for number in range(100)]
    random.Random(1).shuffle(names)
    known, rare = names[:50], names[50:]
    lines = [f"{name} saw {name}" for name in known] * 2 + [f"{name} slept" for name in names]
    run = learn(
        *(tmp_path, lines, "--set", "target.symbols=tokens", "--set", "target.least=1"),
        *("--set", "sentinel.window=5", "--set", "sentinel.supervised=true", "--set", "training.learning_rate=0.01"),
        epochs=15,
    )
    unseen = tmp_path / "unseen.txt"
    unseen.write_text("".join(f"{name} saw {name}\n" for name in rare))
    report = done("evaluate", run, unseen, "--json").objects[0]
    assert report["unknown"] == 0
    assert report["perplexity"] < 7
    refused(regard("align", run, unseen), 2, "reads no source")
    answers = done("predict", run, *(f"{name} saw" for name in rare), "--json").objects
    right = [one for one, name in zip(answers, rare, strict=True) if one["output"] == f"{name} saw {name}"]
    assert len(right) >= 45
    assert sum([2, 1] in one.get("copied", []) for one in right) >= 45  # the third word from the first


def test_cannot_be_exported(tmp_path: Path) -> None:
    run = learn(tmp_path, ["a b", "b a"], "--set", "target.symbols=tokens", "--set", "target.least=1", epochs=1)
    refused(regard("export", run, "--format", "onnx", "--out", tmp_path / "a.onnx"), 2, "cannot be exported")
    refused(regard("predict", run, "--input", "-", stdin=b"\n"), 1, "holds only empty lines")
