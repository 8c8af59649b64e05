"""A run from Python: load, predict, join, share."""

import math
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.data.batching import pad
from regard.data.readers import Example
from regard.errors import DataError, MissingExtra, RegardError, UsageError
from regard.run import BATCH_TOKENS, Run, load
from tests.command import backwards
from tests.conftest import Reverse


@pytest.fixture(scope="module")
def run(reverse: Reverse) -> Run:
    return load(reverse.run, device="cpu")


# predict


def test_text_in_prediction_out(run: Run) -> None:
    found = run.predict("abc", beam=3)
    assert isinstance(found, regard.Prediction)
    assert (found.source, found.output, str(found)) == ("abc", "C B A", "C B A")
    assert found.attention is not None
    assert found.attention.shape == (3, 3)
    assert found.attention.dtype == np.float32
    assert found.attention.argmax(1).tolist() == [2, 1, 0]  # it looks where it reads: from the end
    assert found.nbest == []
    assert found.finished


def test_list_in_list_out(run: Run) -> None:
    found = run.predict(["abc", "edcb", "abc"])
    assert [one.output for one in found] == [backwards("abc"), backwards("edcb"), backwards("abc")]
    assert run.predict([]) == []


def test_attention_does_not_depend_on_batch_mates(run: Run, reverse: Reverse) -> None:
    together = run.predict(reverse.unseen, batch_size=50)
    for word, one in zip(reverse.unseen[:10], together, strict=False):
        alone = run.predict(word)
        assert alone.output == one.output
        assert alone.attention is not None
        assert one.attention is not None
        np.testing.assert_allclose(alone.attention, one.attention, atol=1e-5)


def test_a_beam_hypothesis_is_its_forced_decoding(run: Run, reverse: Reverse) -> None:
    best = [one for found in run.predict(reverse.unseen[:20], beam=5, nbest=5) for one in found.nbest]
    given = run.force([one.source for one in best], [one.output for one in best])
    assert [one.output_tokens for one in given] == [one.output_tokens for one in best]
    for one, other in zip(given, best, strict=True):
        assert one.attention is not None
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-5)
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)


def test_one_pair_or_a_list_of_pairs_is_forced(run: Run) -> None:
    alone = run.force("abc", "A A")
    assert isinstance(alone, regard.Prediction)
    assert (alone.source, alone.output, alone.output_tokens) == ("abc", "A A", ["A", "A"])
    assert alone.log_probability < run.force("abc", "C B A").log_probability
    assert run.force([], []) == []
    with pytest.raises(UsageError, match="2 sources came with 1 targets"):
        run.force(["abc", "ab"], ["A"])


def test_a_given_answer_keeps_symbols_the_run_does_not_know(run: Run) -> None:
    given = run.force("abc", "C Ж A")
    assert given.output_tokens == ["C", "Ж", "A"]
    assert given.output == "C Ж A"
    assert given.unknown == []  # which tells of the source
    assert given.attention is not None
    assert given.attention.shape == (3, 3)


def test_choices_are_what_may_come_next(run: Run) -> None:
    everything = run.choices("abc", ["C"], count=1000)
    assert everything[0].symbol == "B"
    assert sum(one.probability for one in everything) == pytest.approx(1, abs=1e-2)  # but for what is never written
    assert [one.probability for one in everything] == sorted((one.probability for one in everything), reverse=True)
    assert run.choices("abc", "C B A", count=1) == [("", pytest.approx(1, abs=0.1))]  # the end
    assert run.choices("abc", "C") == run.choices("abc", ["C"])
    with pytest.raises(UsageError, match="never seen in training: Ж"):
        run.choices("abc", "Ж")


def test_ever_new_options_do_not_fill_the_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.answering.KEPT_SEARCHES", 5)
    for number in range(20):
        assert run.request(length_penalty=number / 10).search.length_penalty == number / 10
        assert len(run._searches) <= 5


def test_a_prefix_may_be_a_list_of_symbols(run: Run) -> None:
    given = run.predict("abc", prefix=["A", "A"])
    assert given.output_tokens[:2] == ["A", "A"]
    assert given.to_dict() == run.predict("abc", prefix="A A").to_dict()


def test_the_source_is_normalised_like_in_training(run: Run) -> None:
    assert run.predict("  abc\n").source == "abc"
    assert run.predict("\ufeffabc").output == "C B A"
    assert run.predict("e\u0301").unknown == ["é"]  # one character, whichever way it is written


def test_batches_stay_within_the_memory_they_may_use(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    answer = run.task.answer

    def watch(models: Any, codec: Any, examples: Sequence[Example], *rest: Any) -> Any:
        seen.append(len(examples) * max(len(one.source) for one in examples))
        return answer(models, codec, examples, *rest)

    monkeypatch.setattr(run.task, "answer", watch)
    run.predict(["ab" * 450] * 10 + ["abc"] * 40, beam=5, longest_ratio=0.0, longest_extra=1)
    assert len(seen) > 1
    assert max(seen) * 5 <= BATCH_TOKENS
    assert sum(seen) == 10 * 900 + 40 * 3


@pytest.mark.parametrize("call", [{}, {"beam": 3, "nbest": 2}, {"sampling": True, "seed": 7}])
def test_answers_as_they_come_are_those_of_all_at_once(
    run: Run, reverse: Reverse, call: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.answering.BLOCK", 2)
    examples = [Example(word, "") for word in reverse.unseen[:23]]
    one_by_one = list(run.answers(examples, batch_size=3, **call))
    at_once = run.answer(examples, batch_size=7, **call)
    assert [one.source for one in one_by_one] == reverse.unseen[:23]
    assert [one.output for one in one_by_one] == [one.output for one in at_once]
    assert [one.score for one in one_by_one] == pytest.approx([one.score for one in at_once], abs=1e-5)


def test_the_first_answers_come_before_the_last_are_looked_for(
    run: Run, reverse: Reverse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.answering.BLOCK", 2)
    asked: list[int] = []
    find = run.find
    monkeypatch.setattr(
        run, "find", lambda some, request, numbers: (asked.extend(numbers), find(some, request, numbers))[1]
    )
    answers = run.answers([Example(word, "") for word in reverse.unseen[:23]], batch_size=3)
    assert asked == []
    next(answers)
    assert sorted(asked) == list(range(6))
    assert len(list(answers)) == 22
    assert sorted(asked) == list(range(23))


def test_a_wrong_call_is_told_before_the_first_answer(run: Run) -> None:
    with pytest.raises(UsageError, match="hiden"):
        run.answers([Example("abc", "")], hiden=3)
    with pytest.raises(DataError, match="symbols"):
        run.answers([Example("abc", ""), Example("a" * 5000, "")])


def test_perplexity_is_that_of_the_symbols_one_by_one(run: Run) -> None:
    """exp of the mean −log p of every symbol and the end, each example alone and step by step."""
    examples = [Example("abc", "c b a"), Example("de", "e d"), Example("abcd", "d c")]
    log_probs = []
    for source, target, _ in run.task.encode(run.codec, examples):
        state, memory = run.models[0].decoder.start(run.models[0].encode(pad([source])))
        for before, after in pairwise(target):
            step = run.models[0].decoder.step(torch.tensor([before]), state, memory)
            state = step.state
            log_probs.append(step.logits.detach().log_softmax(-1)[0, after].item())
    assert len(log_probs) == 4 + 3 + 3
    assert run.perplexity(examples) == pytest.approx(math.exp(-sum(log_probs) / len(log_probs)), rel=1e-4)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"bean": 3}, "predict has no option bean; did you mean beam?"),
        ({"beam": "many"}, "search.beam"),
        ({"beam": 2, "nbest": 3}, "3 best of a beam of 2"),
        ({"prefix": "Q"}, "never seen in training: Q"),
        ({"batch_size": 0}, "batch size 0"),
        ({"search": None}, "no option search"),
    ],
)
def test_wrong_options_of_predict(run: Run, call: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run.predict("abc", **call)


def test_nothing_to_read(run: Run) -> None:
    with pytest.raises(DataError, match="source 2 is empty"):
        run.predict(["abc", "  "])


def test_evaluate_groups_references(run: Run) -> None:
    examples = [Example("abc", "C B A"), Example("abc", "X"), Example("cba", "X")]
    measured, count = run.evaluate_counted(examples)
    assert count == 2
    assert measured.metrics["accuracy"] == 50
    assert run.evaluate(examples) == measured


def test_a_run_says_what_it_is(run: Run, reverse: Reverse) -> None:
    assert repr(run) == f"<regard run {reverse.run}: pronounce, {run.weights_count():,} weights>"
    assert run.weights_count() == sum(one.numel() for one in run.models[0].parameters())
    assert run.device == torch.device("cpu")
    assert set(run.dev_metrics()) == {"wer", "per", "accuracy"}
    assert not run.models[0].training


def test_tied_weights_are_loaded(tmp_path: Path, few: Path) -> None:
    made = regard.train(
        few,
        task="pronounce",
        recipe="tiny",
        out=tmp_path / "run",
        epochs=1,
        device="cpu",
        set={"model.tie": True},
        progress=False,
    )
    decoder: Any = made.models[0].decoder
    assert decoder.output.O.weight is decoder.words.weight
    assert made.predict("ab").output == load(tmp_path / "run").predict("ab").output


# join


def test_a_run_joined_with_itself_is_itself(run: Run) -> None:
    both = run.join(run)
    assert len(both.models) == 2
    one, other = both.predict("abcd", beam=2), run.predict("abcd", beam=2)
    assert one.output == other.output
    assert one.score == pytest.approx(other.score, abs=1e-5)
    assert len(run.models) == 1


# the hub


class Hub:
    """What the hub would do, in a folder; and what it was asked."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def snapshot_download(self, repo_id: str, **options: Any) -> str:
        self.asked.append((repo_id, options))
        return str(self.folder)

    def create_repo(self, repo_id: str, **options: Any) -> None:
        self.asked.append((repo_id, options))

    def upload_folder(self, **options: Any) -> None:
        self.asked.append(("upload", options))


@pytest.fixture
def hub(reverse: Reverse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub(Path(shutil.copytree(reverse.run, tmp_path / "cache")))
    for name in ("snapshot_download", "create_repo", "upload_folder"):
        monkeypatch.setattr(f"huggingface_hub.{name}", getattr(made, name))
    monkeypatch.chdir(tmp_path)
    return made


def test_a_hub_id_is_fetched(hub: Hub) -> None:
    (hub.folder / "training.safetensors").unlink()
    found = regard.load("owner/name", revision="v1", token="secret")
    assert found.predict("abc").output == "C B A"
    name, options = hub.asked[0]
    assert (name, options["revision"], options["token"]) == ("owner/name", "v1", "secret")
    assert "training.safetensors" in options["ignore_patterns"]


@pytest.mark.parametrize(
    "typo", ["runs/em", "run/en", "runs/zzzzzz", "runs", "./runs/em", "a/b/c", "/runs/en", "runs/en/model.safetensors"]
)
def test_a_typo_does_not_go_online(hub: Hub, tmp_path: Path, typo: str) -> None:
    shutil.copytree(hub.folder, tmp_path / "runs" / "en")
    if typo == "runs":
        with pytest.raises(UsageError, match=r"runs is not a finished run"):
            load(typo)
    else:
        with pytest.raises(UsageError, match="there is no run"):
            load(typo)
    assert hub.asked == []


def test_a_typo_is_told_its_neighbour(hub: Hub, tmp_path: Path) -> None:
    shutil.copytree(hub.folder, tmp_path / "runs" / "en")
    for typo in ("runs/em", "run/en"):
        with pytest.raises(UsageError, match=f"there is no run {typo}; did you mean runs/en?"):
            load(typo)


def test_a_path_object_is_never_a_hub_id(hub: Hub) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        load(Path("owner/name"))
    assert hub.asked == []


def test_the_hub_gets_the_folder_without_the_training_state(hub: Hub, reverse: Reverse) -> None:
    from huggingface_hub.utils import filter_repo_objects

    load(reverse.run).push_to_hub("owner/name", private=True, token="secret")
    (name, made), (_, sent) = hub.asked
    assert (name, made["private"], made["token"], made["exist_ok"]) == ("owner/name", True, "secret", True)
    assert (sent["repo_id"], sent["folder_path"], sent["token"]) == ("owner/name", str(reverse.run), "secret")
    files = [one.name for one in reverse.run.iterdir()]
    more = ["checkpoints/update-5.safetensors", "tensorboard/events.out", ".model.safetensors.x.regard.tmp"]
    kept = set(filter_repo_objects([*files, *more], ignore_patterns=sent["ignore_patterns"]))
    assert kept == set(files) - {"training.safetensors"}
    assert {"config.json", "recipe.yaml", "vocabulary.json", "model.safetensors", "README.md"} <= kept


def test_what_the_hub_says_is_one_line(hub: Hub, reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("no network\nmany\nmore lines")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    monkeypatch.setattr("huggingface_hub.create_repo", fail)
    with pytest.raises(RegardError, match=r"there is no folder owner/name, and the hub .*: no network$"):
        load("owner/name")
    with pytest.raises(RegardError, match=r"cannot upload to owner/name on the hub: no network$"):
        load(reverse.run).push_to_hub("owner/name")


def test_without_the_hub_package(hub: Hub, reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for call in (lambda: load("owner/name"), lambda: load(reverse.run).push_to_hub("owner/name")):
        with pytest.raises(MissingExtra, match=r"huggingface_hub.*pip install 'regard\[hub\]'"):
            call()
    assert MissingExtra("a", "b").exit_code == 2


# devices


def test_a_gpu_that_is_not_there(reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="sees no GPU"):
        load(reverse.run, device="cuda")
    assert load(reverse.run, device="auto").device == torch.device("cpu")
