"""Tables that begin with word vectors: which rows, once only, frozen or tuned, alone, resumed and in groups."""

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.vocabulary import SPECIALS
from regard.errors import DataError, UsageError
from regard.folder import Folder, read_tensors
from regard.loading import load
from tests.command import done
from tests.command import train as train_by_command
from tests.training import groups
from tests.training.test_distributed import curve, once_more
from tests.training.test_resume import RECIPES, killed
from tests.training.toys import SIZES, differences, toy_files, toy_trainer, train_toy

SOURCE, WORDS = "encoder.0.table.weight", "decoder.words.weight"
ROWS = {"a": 0.5, "c": -2.0, "B": 3.0}  # "B" stands for the target's B; the source's b is not in the file
FROZEN = {"model.freeze": True, "training.weight_decay": 0.3, "training.optimiser": "adamw"}


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    return write_vectors(tmp_path)


def write_vectors(folder: Path, size: int = 7) -> Path:
    lines = [f"{word} {' '.join([str(value)] * size)}\n" for word, value in ROWS.items()]
    (folder / "vectors.txt").write_text("".join(lines))
    return folder / "vectors.txt"


def first_weights(folder: Path, options: dict[str, Any]) -> tuple[dict[str, Tensor], dict[str, list[str]]]:
    """Weights before the first update, and the symbols of each side."""
    folder.mkdir()
    trainer = toy_trainer(folder, options)
    sides = {side: list(getattr(trainer.job.codec, side).vocabulary.symbols) for side in ("source", "target")}
    return trainer.learner.weights(), sides


def check_rows(table: Tensor, plain: Tensor, symbols: list[str], known: dict[str, float]) -> None:
    """Rows of known symbols are the file's; all others, the specials too, are what was drawn."""
    for number, symbol in enumerate(symbols):
        expected = torch.full((table.size(1),), known[symbol]) if symbol in known else plain[number]
        assert torch.equal(table[number], expected), symbol
    assert torch.equal(table[0], torch.zeros(table.size(1)))  # padding
    assert len(set(known) & set(symbols)) == len(known) < len(symbols) - len(SPECIALS)


def test_only_rows_of_the_file_s_words_begin_otherwise(vectors: Path, tmp_path: Path) -> None:
    plain, symbols = first_weights(tmp_path / "plain", {})
    source, _ = first_weights(tmp_path / "source", {"data.embeddings": str(vectors)})
    check_rows(source[SOURCE], plain[SOURCE], symbols["source"], {"a": 0.5, "c": -2.0})
    assert [name for name in plain if not torch.equal(plain[name], source[name])] == [SOURCE]
    target, _ = first_weights(tmp_path / "target", {"data.embeddings_target": str(vectors)})
    # A and C are found in lower case
    check_rows(target[WORDS], plain[WORDS], symbols["target"], {"A": 0.5, "B": 3.0, "C": -2.0})
    assert [name for name in plain if not torch.equal(plain[name], target[name])] == [WORDS]


def test_a_second_model_the_other_way_keeps_what_was_drawn(vectors: Path, tmp_path: Path) -> None:
    """Its tables have the other side's symbols, also where there are equally many on both sides."""
    there_and_back = {"model.agreement": 1.0}
    plain, symbols = first_weights(tmp_path / "plain", there_and_back)
    assert len(symbols["source"]) == len(symbols["target"])
    begun, _ = first_weights(tmp_path / "begun", {**there_and_back, "data.embeddings": str(vectors)})
    assert [name for name in plain if not torch.equal(plain[name], begun[name])] == [SOURCE]


def test_a_decoder_from_the_end_begins_with_the_target_s_too(vectors: Path, tmp_path: Path) -> None:
    plain, symbols = first_weights(tmp_path / "plain", {"model.reverse": 1.0})
    begun, _ = first_weights(tmp_path / "begun", {"model.reverse": 1.0, "data.embeddings_target": str(vectors)})
    tables = [WORDS, f"asides.0.{WORDS}"]
    assert [name for name in plain if not torch.equal(plain[name], begun[name])] == tables
    for table in tables:
        check_rows(begun[table], plain[table], symbols["target"], {"A": 0.5, "B": 3.0, "C": -2.0})


def test_a_tied_output_begins_with_them_too(tmp_path: Path) -> None:
    tied = {"model.tie": True, "model.embed": 11, "data.embeddings_target": str(write_vectors(tmp_path, 11))}
    (tmp_path / "run").mkdir()
    trainer = toy_trainer(tmp_path / "run", {**tied, "model.freeze": True})
    decoder: Any = trainer.learner.model.decoder
    assert decoder.output.O.weight is decoder.words.weight
    row = decoder.words.weight[trainer.job.codec.target.vocabulary.encode(["B"])[0]]
    assert torch.equal(row.detach(), torch.full((11,), 3.0))
    frozen = [one for one in trainer.learner.model.parameters() if not one.requires_grad]
    assert len(frozen) == 1
    assert frozen[0] is decoder.words.weight


def test_what_was_found_is_reported(vectors: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "regard"):
        first_weights(tmp_path / "run", {"data.embeddings": str(vectors)})
    assert caplog.messages == [f"{vectors}: 2 of 5 source symbols have vectors (40 %)"]


def tables_of(run: Path) -> dict[str, Tensor]:
    kept, state = read_tensors(run / "model.safetensors")[0], read_tensors(run / "training.safetensors")[0]
    return {"kept": kept[SOURCE], "last": state[f"model/{SOURCE}"]} | (
        {"average": state[f"average/{SOURCE}"]} if f"average/{SOURCE}" in state else {}
    )


@pytest.mark.parametrize("average", ["none", "ema", "checkpoints"])
def test_frozen_tables_stay_and_all_else_moves(average: str, vectors: Path, tmp_path: Path) -> None:
    options = {**FROZEN, "data.embeddings": str(vectors), "training.average": average}
    first, _ = first_weights(tmp_path / "first", options)
    train_toy(tmp_path, "run", options)
    tables = tables_of(tmp_path / "run")
    assert ("average" in tables) == (average == "ema")
    for name, table in tables.items():
        assert table.numpy().tobytes() == first[SOURCE].numpy().tobytes(), name
    last = read_tensors(tmp_path / "run" / "training.safetensors")[0]
    assert [name for name in first if torch.equal(first[name], last[f"model/{name}"])] == [SOURCE]
    assert not any(name.startswith(f"optimiser/{SOURCE}") for name in last)


def test_tuned_tables_move(vectors: Path, tmp_path: Path) -> None:
    options = {"data.embeddings": str(vectors)}
    first, symbols = first_weights(tmp_path / "first", options)
    train_toy(tmp_path, "run", options)
    for table in tables_of(tmp_path / "run").values():
        moved = (table != first[SOURCE]).any(-1)  # (N,)
        assert {symbol for symbol, one in zip(symbols["source"], moved, strict=True) if one} >= set("abcde")


@pytest.mark.parametrize("update", [2, 7])
@pytest.mark.parametrize("more", [{}, {**FROZEN, "training.average": "ema"}], ids=["tuned", "frozen"])
def test_a_resumed_run_is_the_same_and_does_not_open_the_file(
    update: int, more: dict[str, Any], vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**more, "data.embeddings": str(vectors)}
    train_toy(tmp_path, "alone", options)
    monkeypatch.setitem(RECIPES, "vectors", options)
    killed(tmp_path, "vectors", update, 0.0)
    vectors.unlink()
    train_toy(tmp_path, "run", options, resume=True)
    assert differences(tmp_path / "run", tmp_path / "alone") == []
    assert load(tmp_path / "run").predict("abc").output == load(tmp_path / "alone").predict("abc").output


def test_resumed_before_anything_was_saved_it_begins_with_them_again(vectors: Path, tmp_path: Path) -> None:
    options = {**FROZEN, "data.embeddings": str(vectors)}
    train_toy(tmp_path, "alone", options)
    train_toy(tmp_path, "run", options, resume=True)
    assert differences(tmp_path / "run", tmp_path / "alone") == []


def test_a_run_keeps_the_option_as_given(vectors: Path, tmp_path: Path) -> None:
    train_toy(tmp_path, "run", {"data.embeddings": str(vectors)}, epochs=1)
    assert Folder(tmp_path / "run").read_recipe().data.embeddings == str(vectors)


@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_two_processes_follow_the_curve_of_one(strategy: str, vectors: Path, tmp_path: Path) -> None:
    options = {**FROZEN, "data.embeddings": str(vectors), "training.average": "ema", "training.schedule": "constant"}
    train_toy(tmp_path, "single", {**options, "training.batch_size": 2, "training.batch_tokens": 4000}, epochs=2)
    two = {**SIZES, **options, "training.batch_size": 1, "training.batch_tokens": 2000, "training.epochs": 2}

    def run(out: Path) -> None:
        command = groups.train_command(*toy_files(tmp_path), out, {**two, "training.strategy": strategy})
        groups.finish([groups.torchrun(2, command)])

    both = once_more(run, tmp_path / "both")
    assert curve(both) == pytest.approx(curve(tmp_path / "single"), rel=1e-4, abs=1e-4)
    frozen = tables_of(tmp_path / "single")["kept"]
    assert all(torch.equal(table, frozen) for table in tables_of(both).values())


def test_the_command_takes_both_files_and_says_what_they_have(vectors: Path, tmp_path: Path) -> None:
    pairs, _ = toy_files(tmp_path)
    small = [f"--set={key}={value}" for key, value in SIZES.items()]
    given = ["--embeddings", vectors, "--embeddings-target", vectors, "--set", "model.freeze=true"]
    result = train_by_command(pairs, tmp_path / "run", *small, *given)
    assert result.code == 0, result.err
    assert "2 of 5 source symbols have vectors (40 %)" in result.err
    assert "3 of 5 target symbols have vectors (60 %)" in result.err
    vectors.unlink()
    done("predict", tmp_path / "run", "abc")


def refusal(folder: Path, options: dict[str, Any]) -> str:
    with pytest.raises((UsageError, DataError)) as caught:
        train_toy(folder, "run", options)
    assert not (folder / "run").exists()
    return str(caught.value)


def test_calls_that_cannot_be_meant_are_refused_before_anything_is_written(vectors: Path, tmp_path: Path) -> None:
    assert "give --embeddings too" in refusal(tmp_path, {"model.freeze": True})
    assert "--set model.embed=7" in refusal(tmp_path, {"data.embeddings": str(vectors), "model.embed": 8})
    assert "there is no file" in refusal(tmp_path, {"data.embeddings": str(tmp_path / "vector.txt")})
    vectors.write_text("tree 1 2 3 4 5 6 7\n")
    assert "none of the source's 5 symbols" in refusal(tmp_path, {"data.embeddings": str(vectors)})
