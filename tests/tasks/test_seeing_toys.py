"""Toys of the tasks that look, learned through the command and drawn."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from regard.data.readers import Example
from regard.folder import Folder, read_tensors
from regard.loading import load
from regard.pictures import png_bytes
from regard.tasks.answer import batch, encode
from tests.command import done, refused, regard
from tests.tasks.drawn import COLOURS, damaged, write_pictures

STEPS = {"up": (-2, 0), "left": (0, -2), "right": (0, 2)}


def train(table: Path, out: Path, task: str, epochs: int, *settings: str, recipe: str) -> None:
    options = [part for one in settings for part in ("--set", one)]
    how = ("--task", task, "--recipe", recipe, "--epochs", epochs)
    done("train", table, *how, *options, "--quiet", "--out", out)


def measured(run: Path, table: Path) -> dict[str, float]:
    metrics: dict[str, float] = json.loads(done("evaluate", run, table, "--json").out)["metrics"]
    return metrics


def test_captions_are_learned_and_drawn(rows: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(rows, run, "caption", 10, "look.size=16", "look.stages=[8,16]", "training.batch_size=8", recipe="tiny-look")
    assert measured(run, rows)["bleu4"] > 80
    picture = rows.parent / "pictures" / "5.png"
    shown = json.loads(done("predict", run, picture, "--json").out)
    height, width = shown["grid"]
    assert np.array(shown["attention"]).shape == (len(shown["output_tokens"]), height * width)
    done("show", run, picture, "-o", tmp_path / "seen.svg")
    assert "<image" in (tmp_path / "seen.svg").read_text("utf-8")
    listed = tmp_path / "list.txt"
    listed.write_text(f"{picture}\n", "utf-8")
    assert done("predict", run, "--input", listed).out.strip() == shown["output"]
    exported = regard("export", run, "--format", "onnx", "--out", tmp_path / "x.onnx")
    refused(exported, 2, "only runs that read texts are exported")
    missing = regard("predict", run, tmp_path / "none.png")
    assert missing.code > 0
    assert "there is no file" in missing.err


@pytest.fixture(scope="module")
def motions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips of a small square that goes one of three ways: what is learned is where it goes, for it begins anywhere."""
    folder, generator, lines = tmp_path_factory.mktemp("motions"), np.random.default_rng(1), []
    for number in range(72):
        way, steps = list(STEPS)[number % 3], 3 + number % 2
        row, column = generator.integers(5, 10, 2) - np.array(STEPS[way]) * (steps // 2)
        (folder / str(number)).mkdir()
        for frame in range(steps):
            picture = np.full((16, 16, 3), 230, np.uint8)
            top, left = row + frame * STEPS[way][0], column + frame * STEPS[way][1]
            picture[max(top, 0) : top + 4, max(left, 0) : left + 4] = COLOURS["red"]
            (folder / str(number) / f"{frame}.png").write_bytes(png_bytes(picture))
        lines.append(f"{number}\tit moves {way}\n")
    (folder / "rows.tsv").write_text("".join(lines), "utf-8")
    return folder / "rows.tsv"


def test_motions_are_learned_and_drawn_as_a_filmstrip(motions: Path, tmp_path: Path) -> None:
    run, sizes = tmp_path / "run", ["look.size=16", "look.stages=[8,16]", "look.local=true", "look.pool=max"]
    train(motions, run, "describe", 14, *sizes, "look.norm=places", "training.batch_size=8", recipe="tiny-look")
    assert measured(run, motions)["accuracy"] > 70  # 33 by chance
    shown = json.loads(done("predict", run, motions.parent / "2", "--json").out)
    assert np.array(shown["attention"]).shape == (len(shown["output_tokens"]), shown["frames"])
    done("show", run, motions.parent / "2", "-o", tmp_path / "strip.svg")
    assert (tmp_path / "strip.svg").read_text("utf-8").count("<image") == shown["frames"]


QUESTIONS = ["look.encoder=small", "look.size=16", "look.stages=[8,16]", "look.project=0", "choose.size=16"]
QUESTIONS += ["model.embed=8", "model.hidden=16", "model.dropout=0", "training.average=none", "training.batch_size=16"]
QUESTIONS += ["training.learning_rate=0.005", "training.warmup=10", "training.patience=0"]


def test_questions_about_pictures_are_learned(tmp_path: Path) -> None:
    table = write_pictures(
        tmp_path,
        120,
        lambda name, colour, way: f"{name}\t{colour}\twhat colour is it\n{name}\t{way}\thow does it lie",
    )
    run = tmp_path / "run"
    train(table, run, "answer", 12, *QUESTIONS, "look.words=true", recipe="answer")
    assert measured(run, table)["accuracy"] > 90
    asked = ("predict", run, tmp_path / "pictures" / "0.png", "--beside", "what colour is it", "--json")
    shown = json.loads(done(*asked).out)
    assert shown["probabilities"]["red"] > 0.5
    assert len(shown["attention"]) == 2  # hops
    (words,) = shown["looks"]  # of the question; that looks are alike says nothing about an answer
    assert words["columns"] == ["what", "colour", "is", "it"]
    assert np.sum(words["weights"]) == pytest.approx(1)
    assert words["rows"] == [shown["output"]]
    drawn = tmp_path / "asked.svg"
    done("show", *asked[1:-1], "-o", drawn)
    assert f"what colour is it → {shown['output']}" in drawn.read_text("utf-8")
    assert "words of the question" in drawn.read_text("utf-8")


@pytest.mark.parametrize("how", ["answer-plain", "answer-concatenated"])
def test_a_picture_and_a_question_may_be_read_as_a_whole(how: str, tmp_path: Path) -> None:
    table = write_pictures(tmp_path, 60, lambda name, colour, way: f"{name}\t{colour}\twhat colour is it")
    run, sizes = tmp_path / "run", [one for one in QUESTIONS if "choose" not in one]
    train(table, run, "answer", 12, *sizes, "training.batch_size=8", recipe=how)
    assert measured(run, table)["accuracy"] > 90  # 33 by chance
    asked = ("predict", run, tmp_path / "pictures" / "0.png", "--beside", "what colour is it", "--json")
    shown = json.loads(done(*asked).out)
    assert shown["output"] == "red"
    assert not shown["attention"]


def test_what_one_question_says_of_a_picture_is_named_at_another(tmp_path: Path) -> None:
    table = write_pictures(
        tmp_path,
        60,
        lambda name, colour, way: f"{name}\tyes\tis it {colour}\n{name}\t{colour}\twhat colour is it",
    )
    train(table, tmp_path / "run", "answer", 12, *QUESTIONS, "training.batch_size=8", "look.names=0.5", recipe="answer")
    loaded = load(tmp_path / "run")
    files = [str(tmp_path / "pictures" / f"{number}.png") for number in range(3)]
    examples = [Example(file, "", features="what colour is it") for file in files]
    sources = batch(encode(loaded.codec, examples), [0, 1, 2])
    with torch.no_grad():
        named = loaded.models[0](sources.source, sources.beside).named  # (3, N)
    colours = named[:, loaded.codec.question.vocabulary.encode(COLOURS)]  # (3, 3)
    assert colours.argmax(1).tolist() == [0, 1, 2]


def test_questions_may_begin_with_word_vectors(tmp_path: Path) -> None:
    table = write_pictures(tmp_path, 6, lambda name, colour, way: f"{name}\t{colour}\twhat colour is it")
    (tmp_path / "vectors.txt").write_text("what 1 2 3 4\nit 5 6 7 8\n", "utf-8")
    sizes = ["look.encoder=small", "look.size=16", "look.stages=[4,4]", "look.project=0", "model.embed=4"]
    more = [f"data.embeddings={tmp_path / 'vectors.txt'}", "model.freeze=true", "source.least=1"]
    train(table, tmp_path / "run", "answer", 1, *sizes, *more, recipe="answer")
    words = load(tmp_path / "run").codec.question.vocabulary.symbols
    tensors, _ = read_tensors(Folder(tmp_path / "run").weights)
    (learnt,) = [one for name, one in tensors.items() if name.endswith("table.weight")]
    assert learnt[words.index("what")].tolist() == [1, 2, 3, 4]
    assert learnt[words.index("it")].tolist() == [5, 6, 7, 8]


def test_hard_attention_learns_captions(rows: Path, tmp_path: Path) -> None:
    """One place is drawn at each step, so the bar must be found by REINFORCE."""
    sizes = ["look.size=16", "look.stages=[8,16]", "look.norm=places", "model.attention=hard"]
    train(rows, tmp_path / "run", "caption", 14, *sizes, "training.batch_size=8", recipe="tiny-look")
    assert measured(tmp_path / "run", rows)["bleu4"] > 60


def test_motions_are_learned_as_classes(motions: Path, tmp_path: Path) -> None:
    table = motions.with_name("classes.tsv")
    table.write_text(motions.read_text("utf-8").replace("it moves ", ""), "utf-8")
    sizes = ["look.size=16", "look.stages=[8,16]", "model.hidden=24", "model.dropout=0", "choose.size=16"]
    rates = ["training.average=none", "training.learning_rate=0.005", "training.warmup=10", "training.patience=0"]
    train(table, tmp_path / "run", "classify", 11, *sizes, *rates, recipe="clips")
    assert measured(tmp_path / "run", table)["accuracy"] > 70  # 33 by chance
    shown = json.loads(done("predict", tmp_path / "run", table.parent / "2", "--json").out)
    assert sum(shown["probabilities"].values()) == pytest.approx(1, abs=1e-3)
    assert np.sum(shown["attention"]) == pytest.approx(1, abs=1e-3)


GLYPHS = {  # 5 × 3, as on an old display
    "i": "010 010 010 010 010",
    "o": "111 101 101 101 111",
    "t": "111 010 010 010 010",
    "z": "111 001 010 100 111",
}


def write_line(text: str, generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Dark letters of 10 × 6 on light paper 16 high, each a little higher or lower, and a little apart."""
    page = np.full((16, 10 * len(text) + 4), 255, np.uint8)
    for number, letter in enumerate(text):
        dots = np.array([[int(dot) for dot in row] for row in GLYPHS[letter].split()])
        top, left = int(generator.integers(1, 5)), 10 * number + int(generator.integers(0, 5))
        page[top : top + 10, left : left + 6] = 255 - 255 * np.kron(dots, np.ones((2, 2), int))
    return np.repeat(page[:, :, None], 3, 2)


class Writing(NamedTuple):
    table: Path
    unseen: Path
    pictures: list[Path]  # of the unseen lines


LINES = ["look.fit=height", "look.size=16", "look.channels=1", "look.invert=true", "look.stages=[8,16,24]"]
LINES += ["target.symbols=graphemes", "model.hidden=96", "model.compare=64", "look.norm=places"]


@pytest.fixture(scope="module")
def writing(tmp_path_factory: pytest.TempPathFactory) -> Writing:
    folder = tmp_path_factory.mktemp("writing")
    generator, lines = np.random.default_rng(2), []
    for number in range(360):
        text = "".join(generator.choice(list(GLYPHS), int(generator.integers(1, 4))))
        (folder / f"{number}.png").write_bytes(png_bytes(write_line(text, generator)))
        lines.append(f"{number}.png\t{text}\n")
    table, unseen = folder / "rows.tsv", folder / "unseen.tsv"
    table.write_text("".join(lines[:320]), "utf-8")
    unseen.write_text("".join(lines[320:]), "utf-8")
    return Writing(table, unseen, [folder / f"{number}.png" for number in range(320, 360)])


def test_writing_is_read_letter_by_letter_from_left_to_right(writing: Writing, tmp_path: Path) -> None:
    """All of the reader of the notes but its size: coverage in the plane, two cells, maxout, localization."""
    parts = ["model.query=between", "model.terms=[plane]", "model.output=maxout", "model.localization=0.01"]
    train(writing.table, tmp_path / "run", "transcribe", 12, *LINES, *parts, recipe="tiny-look")
    assert measured(tmp_path / "run", writing.unseen)["cer"] < 15
    _check_steps(tmp_path / "run", writing.pictures)


def test_columns_are_read_in_fewer_epochs(writing: Writing, tmp_path: Path) -> None:
    """All of the recipe `formulas` but its size and CTC: columns of bent pictures, an attention that knows its past."""
    parts = ["look.columns=true", "look.bend=0.1", "model.terms=[fertility]"]
    train(writing.table, tmp_path / "run", "transcribe", 8, *LINES, *parts, recipe="tiny-look")
    assert measured(tmp_path / "run", writing.unseen)["cer"] < 15
    _check_steps(tmp_path / "run", writing.pictures)
    shown = json.loads(done("predict", tmp_path / "run", writing.pictures[0], "--json").out)
    assert shown["grid"][0] == 1
    done("show", tmp_path / "run", writing.pictures[0], "-o", tmp_path / "line.svg")
    assert (tmp_path / "line.svg").stat().st_size > 1000


def _check_steps(run: Path, pictures: list[Path]) -> None:
    """Nearly always, the next letter is found further to the right."""
    paths = run.parent / "paths.txt"
    paths.write_text("".join(f"{path}\n" for path in pictures), "utf-8")
    answers = done("predict", run, "--input", paths, "--json").out.splitlines()
    steps = np.concatenate([_steps(json.loads(line)) for line in answers])
    assert (steps > 0).mean() > 0.8


def _steps(shown: dict[str, Any]) -> np.ndarray[Any, Any]:
    """How far to the right the middle of what it looks at goes, from letter to letter."""
    height, width = shown["grid"]
    columns = np.array(shown["attention"]).reshape(-1, height, width).sum(1)  # (T, W)
    letters = [number for number, token in enumerate(shown["output_tokens"]) if token in GLYPHS]
    moved: np.ndarray[Any, Any] = np.diff(columns[letters] @ np.arange(width))
    return moved


def test_answers_keep_their_place_where_bad_files_are_skipped(rows: Path, tmp_path: Path) -> None:
    train(rows, tmp_path / "run", "caption", 1, "look.size=16", "look.stages=[4,4]", recipe="tiny-look")
    noise = png_bytes(np.random.default_rng(1).integers(0, 256, (16, 16, 3), dtype=np.uint8))
    for number, content in enumerate([noise, damaged(noise), b"no picture", noise]):
        (tmp_path / f"{number}.png").write_bytes(content)
    (tmp_path / "names.txt").write_text("0.png\n1.png\n2.png\n\nnowhere.png\n3.png\n", "utf-8")
    call = ("predict", tmp_path / "run", "--input", tmp_path / "names.txt")
    failed = regard(*call)
    assert failed.code == 1
    assert "--skip-bad-lines" in failed.err
    result = done(*call, "--skip-bad-lines", "--json")
    assert [one["source"] for one in result.objects] == ["0.png", "", "", "", "", "3.png"]
    assert "3 bad lines are answered by empty lines; the first: " in result.err
    assert re.search(r"names\.txt, line 2.*1\.png", result.err)
