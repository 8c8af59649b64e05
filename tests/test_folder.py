"""A run folder is checked in full when it is read: damage or malice gives one clear error, never half a run."""

import json
import os
import pickle
import random
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from regard import __version__
from regard.draft import load_draft
from regard.errors import DataError, RegardError, UsageError
from regard.folder import FORMAT, Folder, read_tensors, write_tensors
from regard.recipe import Recipe
from regard.run import load
from tests.command import done, refused, regard
from tests.conftest import Reverse


def change_json(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps(change(content)))


def change_recipe(folder: Path, dotted: str, value: Any) -> None:
    content = yaml.safe_load((folder / "recipe.yaml").read_text())
    section, _, name = dotted.rpartition(".")
    (content[section] if section else content)[name] = value
    (folder / "recipe.yaml").write_text(yaml.safe_dump(content))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights, _ = read_tensors(folder / "model.safetensors")
    change(weights)
    write_tensors(folder / "model.safetensors", weights)


def first(weights: dict[str, torch.Tensor]) -> str:
    return sorted(weights)[0]


def poison(weights: dict[str, torch.Tensor], value: float) -> None:
    weights[first(weights)].view(-1)[-1] = value


# writing and reading back


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    recipe = load_draft("tiny", "inflect").resolve(10, {"model.terms": ["location"], "about": "žluťoučký"})
    folder.write_recipe(recipe)
    folder.write_config("inflect", __version__, {"accuracy": 12.5}, 3)
    folder.write_vocabulary({"source": "ß"})
    assert folder.read_recipe() == recipe
    assert folder.read_config()["dev_metrics"] == {"accuracy": 12.5}
    assert folder.read_config()["model_type"] == "regard"
    assert folder.read_vocabulary() == {"source": "ß"}


def test_tensors_keep_their_bits_and_notes(tmp_path: Path) -> None:
    tensors = {"a": torch.tensor([1.5, -0.0, 3e-42]), "b": torch.arange(6).view(2, 3).t()}
    write_tensors(tmp_path / "x.safetensors", tensors, {"note": "ø"})
    read, notes = read_tensors(tmp_path / "x.safetensors")
    assert notes == {"note": "ø"}
    assert {name: (one.dtype, one.tolist()) for name, one in read.items()} == {
        name: (one.dtype, one.tolist()) for name, one in tensors.items()
    }


def test_making_a_folder_sweeps_what_a_kill_left(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".model.safetensors.abc.regard.tmp").write_text("half")
    Folder(tmp_path / "run").make()
    assert list((tmp_path / "run").iterdir()) == []


def test_only_one_training_holds_a_folder(tmp_path: Path) -> None:
    first, second = Folder(tmp_path), Folder(tmp_path)
    Folder(tmp_path / "none").hold()  # there is nothing to keep anybody from
    first.hold()
    first.hold()
    with pytest.raises(UsageError, match="trained by another process"):
        second.hold()
    first.release()
    second.hold()
    second.release()
    assert list(tmp_path.iterdir()) == []


def test_a_second_training_of_a_folder_is_refused(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{word}\t{word.upper()}\n" for word in ("ab", "ba", "aab", "bba") * 5), "utf-8")
    train = ("train", pairs, "--task", "transliterate", "--recipe", "tiny", "--out", tmp_path / "run", "--quiet")
    done(*train, "--epochs", 1)
    other = Folder(tmp_path / "run")
    before = other.training.read_bytes()
    other.hold()
    refused(regard(*train, "--epochs", 2, "--resume"), 2, "is being trained by another process")
    assert other.training.read_bytes() == before
    other.release()
    done(*train, "--epochs", 2, "--resume")


def test_a_folder_nobody_can_make(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot make the folder"):
        Folder("/proc/regard/run").make()


# damage


def damage_truncate(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
def test_half_a_file(spare: Path, name: str) -> None:
    damage_truncate(spare, name)
    refused(regard("predict", spare, "abc"), 1, str(spare / name), "is damaged")


@pytest.mark.parametrize("name", ["config.json", "recipe.yaml", "vocabulary.json", "model.safetensors"])
@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"\xff\xfe" * 50, b"[1, 2]", b"{}", pytest.param(b"[" * 1500, id="deep")]
)
def test_any_file_holding_something_else(spare: Path, name: str, content: bytes) -> None:
    (spare / name).write_bytes(content)
    result = regard("predict", spare, "abc")
    if name == "recipe.yaml" and content == b"{}":  # all options at their defaults: other sizes than the weights
        refused(result, 1, "does not fit its recipe")
    else:
        refused(result, 1, str(spare / name))


@pytest.mark.parametrize("name", ["config.json", "recipe.yaml", "vocabulary.json", "model.safetensors"])
def test_a_missing_file(spare: Path, name: str) -> None:
    (spare / name).unlink()
    refused(regard("predict", spare, "abc"), 2, f"{spare} is not a finished run: {name} is missing")


@pytest.mark.parametrize("name", ["config.json", "recipe.yaml", "vocabulary.json", "model.safetensors"])
def test_a_folder_instead_of_a_file(spare: Path, name: str) -> None:
    (spare / name).unlink()
    (spare / name).mkdir()
    refused(regard("predict", spare, "abc"), 1, str(spare / name))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_type": "bert"}, "model_type is not regard"),
        ({"format": FORMAT + 1}, f"has format {FORMAT + 1}, this version of regard reads {FORMAT}"),
        ({"format": None}, "has format None"),
        ({"dev_metrics": None}, "dev_metrics"),
    ],
)
def test_a_config_of_something_else(spare: Path, change: dict[str, Any], said: str) -> None:
    change_json(spare / "config.json", lambda config: config | change)
    refused(regard("predict", spare, "abc"), 1, str(spare), said)


@pytest.mark.parametrize(
    ("dotted", "value", "said"),
    [
        ("model.hiden", 3, "model.hiden is not an option; did you mean hidden?"),
        ("model.hidden", "many", "model.hidden: Input should be a valid integer"),
        ("model.hidden", 66, "does not fit its recipe"),
        ("model.cell", "gru", "does not fit its recipe"),
        ("model.decoder_layers", 2, "does not fit its recipe"),
        ("model.attention", "none", "does not fit its recipe"),
        ("task", "dance", "no task 'dance'"),
        ("task", ["pronounce"], "task"),
        ("model.readout", 32.5, "model.readout"),
        ("search.beam", 10**12, "search.beam"),
        ("search.longest_ratio", 1e300, "search.longest_ratio"),
    ],
)
def test_a_recipe_that_is_not_this_runs(spare: Path, dotted: str, value: Any, said: str) -> None:
    change_recipe(spare, dotted, value)
    refused(regard("predict", spare, "abc"), 1, str(spare), said)


def test_a_recipe_with_code_in_it_is_not_run(spare: Path, tmp_path: Path) -> None:
    text = f"task: !!python/object/apply:os.mkdir ['{tmp_path / 'owned'}']\n"
    (spare / "recipe.yaml").write_text(text)
    refused(regard("predict", spare, "abc"), 1, str(spare / "recipe.yaml"))
    assert not (tmp_path / "owned").exists()


def test_a_few_lines_of_yaml_that_stand_for_very_many(spare: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} {{{', '.join(f'k{k}: *a{n - 1}' for k in range(10))}}}" for n in range(1, 6)]
    (spare / "recipe.yaml").write_text("\n".join(lines))
    refused(regard("predict", spare, "abc"), 1, str(spare / "recipe.yaml"), "aliases")


@pytest.mark.parametrize(
    "hostile",
    [
        {"model.hidden": 10**9},
        {"model.hidden": 2**16, "model.readout": 2**16, "model.compare": 2**16, "model.embed": 2**16},
        {"model.encoder_layers": 10**9},
        {"model.heads": 10**9},
        {"model.jump": 10**12, "model.attention": "monotonic"},
    ],
)
def test_a_recipe_that_asks_for_all_memory_gets_none(spare: Path, hostile: dict[str, int]) -> None:
    for dotted, value in hostile.items():
        change_recipe(spare, dotted, value)
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 300_000_000, before[1]))
    try:
        result = regard("predict", spare, "abc")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    refused(result, 1, str(spare))
    assert "alloc" not in result.err
    assert "MemoryError" not in result.err


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("vocabulary", lambda symbols: [*symbols, "a"], "twice"),
        ("vocabulary", lambda symbols: symbols[:4], "no symbols"),
        ("vocabulary", lambda symbols: symbols[1:], "<pad>"),
        ("vocabulary", lambda symbols: [*symbols, 5], "expected text"),
        ("vocabulary", lambda _: "abc", "list of symbols"),
        ("symbols", lambda _: "runes", "runes"),
        ("symbols", lambda _: ["graphemes"], "TypeError"),
        ("symbols", lambda _: "subwords", "subword model is empty"),
        ("model", lambda _: "é", "ASCII"),
        ("model", lambda _: 5, "TypeError"),
    ],
)
def test_half_a_vocabulary_that_cannot_be(spare: Path, part: str, change: Callable[[Any], Any], said: str) -> None:
    change_json(
        spare / "vocabulary.json", lambda one: {**one, "source": one["source"] | {part: change(one["source"][part])}}
    )
    refused(regard("predict", spare, "abc"), 1, f"{spare / 'vocabulary.json'} is damaged", said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one | {"source": {"symbols": "graphemes"}}, "model"),
        (lambda one: one | {"source": one["source"] | {"symbols": "subwords", "model": "AAAA"}}, "SentencePiece"),
        (lambda one: one | {"target": None}, "NoneType"),
        (lambda one: one | {"features": "no"}, "expected true or false"),
        (lambda one: one | {"more": 1}, "expected source, target, features and lowercase"),
        (lambda one: {"source": one["source"]}, "expected source, target, features and lowercase"),
    ],
)
def test_a_vocabulary_that_cannot_be(spare: Path, change: Callable[[Any], Any], said: str) -> None:
    change_json(spare / "vocabulary.json", change)
    refused(regard("predict", spare, "abc"), 1, f"{spare / 'vocabulary.json'} is damaged", said)


def test_a_vocabulary_of_another_size(spare: Path) -> None:
    longer = [*json.loads((spare / "vocabulary.json").read_text())["target"]["vocabulary"], "Z"]
    change_json(spare / "vocabulary.json", lambda one: one | {"target": one["target"] | {"vocabulary": longer}})
    refused(regard("predict", spare, "abc"), 1, str(spare / "model.safetensors"), "does not fit its recipe")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda weights: weights.pop(first(weights)), "is missing"),
        (lambda weights: weights.update(more=torch.zeros(1)), "more is not expected"),
        (lambda weights: weights.update({first(weights): torch.zeros(2, 3)}), "(2, 3), not"),
        (lambda weights: poison(weights, float("nan")), "not finite"),
        (lambda weights: poison(weights, float("inf")), "not finite"),
        (lambda weights: poison(weights, float("-inf")), "not finite"),
        (lambda weights: weights.update({first(weights): weights[first(weights)].half()}), "torch.float16"),
        (lambda weights: weights.update({first(weights): weights[first(weights)].long()}), "torch.int64"),
    ],
)
def test_weights_that_cannot_be(spare: Path, change: Callable[[dict[str, torch.Tensor]], object], said: str) -> None:
    change_weights(spare, change)
    refused(regard("predict", spare, "abc"), 1, str(spare / "model.safetensors"), said)


class Owned:
    """Unpickling this makes a folder."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["model.safetensors", "training.safetensors"])
@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_a_pickle_is_never_opened(spare: Path, reverse: Reverse, tmp_path: Path, name: str, how: str) -> None:
    if how == "pickle":
        (spare / name).write_bytes(pickle.dumps(Owned(tmp_path / "owned")))
    else:
        torch.save(Owned(tmp_path / "owned"), spare / name)
    if name == "model.safetensors":
        result = regard("predict", spare, "abc")
    else:
        call = ["train", reverse.pairs, "--task", "pronounce", "--recipe", "tiny", "--out", spare, "--quiet"]
        result = regard(*call, "--resume", "--epochs", 7)
    refused(result, 1, str(spare / name), "is damaged")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("seed", range(40))
def test_one_wrong_byte_gives_a_run_or_an_error_that_names_the_folder(spare: Path, seed: int) -> None:
    draw = random.Random(seed)
    path = spare / ("config.json", "recipe.yaml", "vocabulary.json", "model.safetensors")[seed % 4]
    content = bytearray(path.read_bytes())
    content[draw.randrange(min(len(content), 2000))] = draw.randrange(256)  # of the weights: their header
    path.write_bytes(content)
    said = str(spare)
    try:
        load(spare, device="cpu")
    except RegardError as error:
        said = str(error)
    assert str(spare) in said


def test_the_python_call_raises_what_the_command_prints(spare: Path) -> None:
    (spare / "config.json").write_text("{")
    with pytest.raises(DataError, match=r"config\.json is damaged"):
        load(spare)
    with pytest.raises(UsageError, match="there is no run"):
        load(spare / "none")


def test_defaults_fill_in_options_that_an_older_recipe_lacks(spare: Path) -> None:
    content = yaml.safe_load((spare / "recipe.yaml").read_text())
    del content["search"]["no_repeat"]
    (spare / "recipe.yaml").write_text(yaml.safe_dump(content))
    assert load(spare).recipe.search.no_repeat == Recipe().search.no_repeat
