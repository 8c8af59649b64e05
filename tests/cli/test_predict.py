"""`regard predict`: what it prints, in which order, whatever the batching."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command import backwards, done, refused, regard, train, words, write
from tests.conftest import Reverse

KEYS = ["source", "output", "score", "source_tokens", "output_tokens", "attention"]


def same(one: Any, other: Any) -> None:
    """Equal answers: text exactly, numbers within what batching may change."""
    assert [{key: each[key] for key in each if key not in ("score", "attention")} for each in one] == [
        {key: each[key] for key in each if key not in ("score", "attention")} for each in other
    ]
    for left, right in zip(one, other, strict=True):
        assert left["score"] == pytest.approx(right["score"], abs=1e-5)
        for row, twin in zip(left["attention"], right["attention"], strict=True):
            assert row == pytest.approx(twin, abs=1e-5)


def test_json_has_one_object_a_line_with_these_keys(reverse: Reverse) -> None:
    result = done("predict", reverse.run, "abc", "edcb", "--json")
    assert len(result.out.splitlines()) == 2
    assert [list(one) for one in result.objects] == [KEYS, KEYS]
    first = result.objects[0]
    assert first["source"] == "abc"
    assert first["source_tokens"] == ["a", "b", "c"]
    assert first["output"] == "C B A"
    assert first["output_tokens"] == ["C", "B", "A"]
    assert first["score"] < 0


def test_attention_has_a_row_per_output_token_and_a_column_per_source_token(reverse: Reverse) -> None:
    for one in done("predict", reverse.run, *reverse.unseen, "--json").objects:
        assert len(one["attention"]) == len(one["output_tokens"])
        for row in one["attention"]:
            assert len(row) == len(one["source_tokens"])
            assert sum(row) == pytest.approx(1, abs=1e-5)
            assert min(row) >= 0


def test_plain_answers_are_one_a_line(reverse: Reverse) -> None:
    assert done("predict", reverse.run, "abc", "edc").out == "C B A\nC D E\n"


@pytest.mark.parametrize("size", [1, 3])
def test_batching_changes_neither_order_nor_answers(reverse: Reverse, tmp_path: Path, size: int) -> None:
    sources = write(tmp_path / "sources.txt", ([word] for word in reverse.unseen))
    expected = done("predict", reverse.run, "--input", sources, "--batch-size", 50, "--json").objects
    assert [one["source"] for one in expected] == reverse.unseen
    same(done("predict", reverse.run, "--input", sources, "--batch-size", size, "--json").objects, expected)


def test_batching_changes_nothing_with_a_beam(reverse: Reverse) -> None:
    call = ("predict", reverse.run, *reverse.unseen[:20], "--beam", 3, "--json")
    same(done(*call, "--batch-size", 7).objects, done(*call, "--batch-size", 20).objects)


def test_nbest_is_a_list_of_answers_with_falling_scores(reverse: Reverse) -> None:
    for one in done("predict", reverse.run, *reverse.unseen[:5], "--nbest", 3, "--beam", 4, "--json").objects:
        assert list(one) == [*KEYS, "nbest"]
        assert len(one["nbest"]) == 3
        assert one["nbest"][0] == {key: one[key] for key in KEYS}
        scores = [each["score"] for each in one["nbest"]]
        assert scores == sorted(scores, reverse=True)
        assert len({each["output"] for each in one["nbest"]}) == 3
        assert all(len(each["attention"]) == len(each["output_tokens"]) for each in one["nbest"])


def test_nbest_without_a_beam_widens_it(reverse: Reverse) -> None:
    assert len(done("predict", reverse.run, "abc", "--nbest", 4, "--json").objects[0]["nbest"]) == 4


def test_nbest_as_text_numbers_the_sources(reverse: Reverse) -> None:
    lines = done("predict", reverse.run, "abc", "cba", "--nbest", 2).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["1", "1", "2", "2"]
    assert lines[0].split("\t")[1] == "C B A"
    assert float(lines[0].split("\t")[2]) > float(lines[1].split("\t")[2])


def test_a_beam_finds_at_least_as_likely_answers(reverse: Reverse) -> None:
    """Words longer than any it has learnt: it is unsure, so a wider beam matters."""
    long = [word * 2 for word in reverse.unseen[:20]]
    narrow, wide = (
        [one["score"] for one in done("predict", reverse.run, *long, "--beam", width, "--json").objects]
        for width in (1, 8)
    )
    assert narrow != wide
    assert sum(wide) > sum(narrow)


def test_every_answer_begins_with_the_prefix(reverse: Reverse) -> None:
    plain, forced = (
        done("predict", reverse.run, *reverse.unseen[:10], *more, "--json").objects
        for more in ([], ["--prefix", "E A"])
    )
    assert all(one["output_tokens"][:2] == ["E", "A"] for one in forced)
    assert not all(one["output_tokens"][:2] == ["E", "A"] for one in plain)
    assert all(len(one["attention"]) == len(one["output_tokens"]) for one in forced)


def sampled(reverse: Reverse, *more: object) -> list[str]:
    call = ("predict", reverse.run, *reverse.unseen[:12], "--sample", "--temperature", 3, "--json")
    return done(*call, *more).outputs


def test_samples_follow_from_their_seed_whatever_the_batching(reverse: Reverse) -> None:
    first = sampled(reverse, "--seed", 1)
    assert first == sampled(reverse, "--seed", 1, "--batch-size", 1) == sampled(reverse, "--seed", 1, "--batch-size", 5)
    assert first != sampled(reverse, "--seed", 2)


def test_samples_are_cut_to_the_likeliest(reverse: Reverse) -> None:
    greedy = done("predict", reverse.run, *reverse.unseen[:12], "--json").outputs
    assert sampled(reverse) != greedy
    assert sampled(reverse, "--top-k", 1) == greedy
    assert sampled(reverse, "--top-p", 1e-6) == greedy


def test_several_samples_of_one_source(reverse: Reverse) -> None:
    found = done("predict", reverse.run, "abcd", "--sample", "--temperature", 4, "--nbest", 6, "--json").objects[0]
    assert len({one["output"] for one in found["nbest"]}) > 1


def test_second_opinions_from_training_to_answers(tmp_path: Path) -> None:
    """They are in the score of a beam's answers, of the run and of what is exported, and can be switched off."""
    known = words("abcde", 3, 4)[:500]
    pairs = write(tmp_path / "pairs.tsv", ((word, " ".join(word.upper())) for word in known))
    opinions = ("--set", "model.ctc=0.5", "--set", "model.reverse=1")
    assert train(pairs, tmp_path / "run", *opinions, epochs=4).code == 0
    assert done("evaluate", tmp_path / "run", pairs, "--json").objects[0]["metrics"]["wer"] < 20
    done("export", tmp_path / "run", "--format", "onnx", "--out", tmp_path / "x.onnx")
    silent = ["--ctc", 0, "--reverse", 0]
    mine, exported, alone, ctc, reverse = (
        done("predict", tmp_path / path, "abcde", "edc", "--beam", 3, "--json", *call).objects
        for path, call in (("run", []), ("x.onnx", []), ("run", silent), ("run", silent[2:]), ("run", silent[:2]))
    )
    for one, same, other, *each in zip(mine, exported, alone, ctc, reverse, strict=True):
        assert one["output"] == same["output"]
        assert one["score"] == pytest.approx(same["score"], abs=1e-4)
        assert one["score"] < min(two["score"] for two in each)  # a log p was added
        assert max(two["score"] for two in each) < other["score"]


def test_an_ensemble_is_between_its_members(reverse: Reverse, tmp_path: Path) -> None:
    assert train(reverse.pairs, tmp_path / "second", "--seed", 2, "--set", "training.batch_size=64").code == 0
    alone, other, both = (
        done("predict", *call, "abcd", "--prefix", backwards("abcd"), "--json").objects[0]
        for call in ([reverse.run], [tmp_path / "second"], [reverse.run, "--ensemble", tmp_path / "second"])
    )
    assert other["score"] < both["score"] < alone["score"]
    for row, one, two in zip(both["attention"], alone["attention"], other["attention"], strict=True):
        assert row == pytest.approx([(x + y) / 2 for x, y in zip(one, two, strict=True)], abs=1e-5)


def test_an_ensemble_of_other_recipes_is_told_what_differs(reverse: Reverse, tmp_path: Path) -> None:
    for name, options, said in (
        ("lower", ["--set", "data.lowercase=true"], "data.lowercase=True, not False"),
        ("script", ["--task", "transliterate"], "is a run of the task transliterate"),
    ):
        assert train(reverse.pairs, tmp_path / name, *options).code == 0
        refused(regard("predict", reverse.run, "abc", "--ensemble", tmp_path / name), 2, said)


def test_an_ensemble_needs_one_vocabulary(reverse: Reverse, few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "other").code == 0
    result = regard("predict", reverse.run, "abc", "--ensemble", tmp_path / "other")
    refused(result, 2, "other vocabularies", str(tmp_path / "other"))


@pytest.mark.parametrize("call", [["--input", "-"], []])
def test_standard_input(reverse: Reverse, call: list[str]) -> None:
    assert done("predict", reverse.run, *call, stdin=b"abc\r\nedc\n").out == "C B A\nC D E\n"


def test_empty_lines_keep_their_place(reverse: Reverse, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("abc\n\n  \nedc\n")
    result = done("predict", reverse.run, "--input", tmp_path / "lines.txt")
    assert result.out == "C B A\n\n\nC D E\n"
    assert "2 empty lines" in result.err
    assert "line 2" in result.err
    objects = done("predict", reverse.run, "--input", tmp_path / "lines.txt", "--json").objects
    assert [one["source"] for one in objects] == ["abc", "", "", "edc"]
    assert [list(one) for one in objects] == [KEYS] * 4


def test_unseen_symbols_are_read_as_unknown_and_reported(reverse: Reverse) -> None:
    result = done("predict", reverse.run, "abz", "cba", "é", "--json")
    assert [one.get("unknown") for one in result.objects] == [["z"], None, ["é"]]
    assert result.objects[0]["source_tokens"] == ["a", "b", "z"]
    assert "2 sources hold symbols never seen in training" in result.err
    assert "z é" in result.err


def test_an_answer_that_was_cut_off_says_so(reverse: Reverse, spare: Path) -> None:
    recipe = yaml.safe_load((spare / "recipe.yaml").read_text())
    recipe["search"] |= {"longest_ratio": 0.0, "longest_extra": 2}
    (spare / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    result = done("predict", spare, "abcd", "--json")
    assert result.objects[0]["finished"] is False
    assert len(result.objects[0]["output_tokens"]) == 2
    assert "1 answers reached the length limit" in result.err


def test_attention_is_drawn(reverse: Reverse) -> None:
    lines = done("predict", reverse.run, "abc", "--attention").out.splitlines()
    assert lines[0] == "C B A"
    assert lines[1].split() == ["a", "b", "c"]
    assert [line[0] for line in lines[2:5]] == ["C", "B", "A"]
