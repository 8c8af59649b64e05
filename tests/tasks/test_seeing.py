"""Tasks that look: the codec, paths, bad files, independence of the batch, and toys learned through the command."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.data.readers import Example
from regard.errors import DataError, UsageError
from regard.folder import Folder, read_tensors
from regard.loading import load
from regard.pictures import png_bytes
from regard.settings import build
from regard.tasks import answer, caption, classify, describe, get_task, transcribe
from regard.tasks.checking import check_options
from regard.tasks.request import Request
from tests.command import done, refused, regard

COLOURS = {"red": (220, 30, 30), "green": (30, 160, 30), "blue": (30, 30, 220)}
WAYS = ("upright", "flat")
STEPS = {"up": (-2, 0), "left": (0, -2), "right": (0, 2)}
SMALL: dict[str, Any] = {
    "look.encoder": "small",
    "look.size": 16,
    "look.stages": [4, 6],
    "look.project": 0,
    "model.embed": 5,
    "model.hidden": 6,
    "model.dropout": 0.0,
    "search.longest_ratio": 0.0,
    "search.longest_extra": 4,
}


def draw(colour: str, way: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """A coloured bar somewhere in a dark picture of 16 × 16."""
    generator = np.random.default_rng(seed)
    picture = np.zeros((16, 16, 3), np.uint8)
    height, width = (9, 3) if way == "upright" else (3, 9)
    top, left = (int(generator.integers(0, 17 - side)) for side in (height, width))
    picture[top : top + height, left : left + width] = COLOURS[colour]
    return picture


def write_pictures(folder: Path, count: int, row: Callable[[str, str, str], str]) -> Path:
    (folder / "pictures").mkdir(parents=True)
    lines = []
    for number in range(count):
        colour, way = list(COLOURS)[number % 3], WAYS[number // 3 % 2]
        name = f"pictures/{number}.png"
        (folder / name).write_bytes(png_bytes(draw(colour, way, seed=number)))
        lines.append(row(name, colour, way))
    (folder / "rows.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "rows.tsv"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captions")
    return write_pictures(folder, 120, lambda name, colour, way: f"{name}\ta bar, {way} and {colour}")


# -- codec and files -----------------------------------------------------------------------------------------------


def recipe(task: str, **more: Any) -> Any:
    return build({"task": task, **SMALL, **more}, "here")


def test_paths_are_seen_from_the_table(rows: Path) -> None:
    reading = caption.read(str(rows), recipe("caption"))
    assert reading.examples[0].source == "pictures/0.png"
    assert Path(reading.examples[0].path) == rows.parent / "pictures" / "0.png"
    assert reading.examples[0].target == "a bar, upright and red"


def test_targets_are_lowered_and_paths_are_not(tmp_path: Path) -> None:
    table = write_pictures(tmp_path / "Some", 4, lambda name, colour, way: f"{name}\tA {colour.title()} Square")
    reading = caption.read(str(table), recipe("caption", **{"data.lowercase": True}))
    assert reading.examples[0].target == "a red square"
    assert "Some" in reading.examples[0].path


def test_a_bad_file_is_named_and_can_be_skipped(tmp_path: Path) -> None:
    table = write_pictures(tmp_path, 4, lambda name, colour, way: f"{name}\t{colour}")
    (tmp_path / "pictures" / "1.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"rows.tsv, line 2.*1\.png"):
        caption.read(str(table), recipe("caption"))
    reading = caption.read(str(table), recipe("caption"), skip_bad_lines=True)
    assert len(reading.examples) == 3
    assert "1.png" in reading.skipped[0]


def damaged(content: bytes) -> bytes:
    """A PNG whose header and end are sound, and whose middle is not."""
    middle = len(content) // 2
    return content[:middle] + bytes(9) + content[middle + 9 :]


@pytest.mark.parametrize("task", [caption, describe])
def test_a_file_with_a_sound_header_is_decoded_before_it_is_trusted_if_bad_ones_are_skipped(
    tmp_path: Path, task: Any
) -> None:
    """Else training would end in its first epoch, at a file that was to be left out."""
    noise = png_bytes(np.random.default_rng(1).integers(0, 256, (16, 16, 3), dtype=np.uint8))
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(damaged(noise) if name == "b" else noise)
    names = [name if task is describe else f"{name}/1.png" for name in "abc"]
    (tmp_path / "rows.tsv").write_text("".join(f"{name}\twords\n" for name in names), "utf-8")
    seen = task.read(str(tmp_path / "rows.tsv"), recipe(task.__name__.rpartition(".")[2]), skip_bad_lines=True)
    assert [one.source for one in seen.examples] == [names[0], names[2]]
    assert "line 2" in seen.skipped[0]
    assert "1.png" in seen.skipped[0]


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


@pytest.mark.parametrize("task", [caption, transcribe, describe])
def test_codecs_of_writers_come_back_from_json(rows: Path, task: Any) -> None:
    name = task.__name__.rpartition(".")[2]
    examples = caption.read(str(rows), recipe("caption")).examples
    codec = task.codec(examples, recipe(name))
    again = task.CODEC.from_json(json.loads(json.dumps(codec.to_json())))
    assert again.to_json() == codec.to_json()
    with pytest.raises(DataError):
        task.CODEC.from_json({**codec.to_json(), "eye": {"kind": "ear"}})


@pytest.mark.parametrize("task", [answer, classify])
def test_codecs_of_choosers_come_back_from_json(rows: Path, task: Any) -> None:
    name = task.__name__.rpartition(".")[2]
    more: dict[str, Any] = {"choose.of": "picture"} if task is classify else {"data.features_column": 3}
    read = caption.read(str(rows), recipe("caption")).examples
    given = [Example(one.path, one.target.split()[-1], "what ?") for one in read]
    codec = task.codec(given, recipe(name, **more))
    assert task.CODEC.from_json(json.loads(json.dumps(codec.to_json()))).to_json() == codec.to_json()


def test_what_pictures_cannot_do_is_refused(rows: Path) -> None:
    examples = caption.read(str(rows), recipe("caption")).examples
    codec = caption.codec(examples, recipe("caption"))
    for more in ({"model.copy": "gate"}, {"model.agreement": 1.0}):
        with pytest.raises(UsageError, match="picture"):
            caption.build(codec, recipe("caption", **more))


# -- laws ------------------------------------------------------------------------------------------------------------

CASES: dict[str, dict[str, Any]] = {
    "caption": {"look.fit": "within", "model.gate": True, "model.doubly": 1.0},
    "caption, hard": {"look.fit": "within", "model.attention": "hard"},
    "transcribe": {"look.fit": "height", "look.channels": 1, "look.invert": True, "model.query": "between"}
    | {"model.terms": ["plane"], "model.term_width": 3, "model.output": "maxout", "model.localization": 0.1},
    "transcribe, dense": {
        "look.fit": "height",
        "look.size": 32,
        "look.encoder": "dense",
        "look.growth": 2,
        "look.depth": 1,
        "look.norm": "places",
    },
    "describe": {"look.frames": 5, "look.local": True},
    "answer": {"look.fit": "within", "look.hops": 2, "choose.size": 3, "data.features_column": 3},
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Pictures of several sizes, and clips of several lengths."""
    folder = tmp_path_factory.mktemp("sources")
    pictures, clips = [], []
    for number, (height, width) in enumerate([(16, 16), (9, 14), (12, 7), (16, 11)]):
        path = folder / f"{number}.png"
        path.write_bytes(png_bytes(draw("red", "flat", seed=number)[:height, :width]))
        pictures.append(str(path))
        clip = folder / f"clip{number}"
        clip.mkdir()
        for frame in range(number + 1):
            (clip / f"{frame}.png").write_bytes(png_bytes(draw("blue", "upright", seed=10 * number + frame)))
        clips.append(str(clip))
    return pictures, clips


@pytest.mark.parametrize("case", CASES)
def test_answers_and_losses_do_not_depend_on_batch_mates(case: str, sources: tuple[list[str], list[str]]) -> None:
    name = case.partition(",")[0]
    task, how = get_task(name), recipe(name, **CASES[case])
    files = sources[1] if name == "describe" else sources[0]
    targets = ["a b", "b", "a c a", "c"] if name != "answer" else ["b", "c", "a", "c"]
    examples = [Example(file, target, "what a b ?") for file, target in zip(files, targets, strict=True)]
    codec = task.codec(examples, how)
    torch.manual_seed(3)
    model = task.build(codec, how).double().eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    encodings = task.encode(codec, examples)
    request = Request(how.search)

    @torch.no_grad()
    def price(*numbers: int) -> float:
        batch = task.batch(encodings, list(numbers))
        return float(task.loss(model, batch._replace(source=_double(batch.source))).nll)

    assert price(0, 1, 2, 3) == pytest.approx(sum(price(number) for number in range(4)), rel=1e-9)
    single = model.float()
    answers = task.answer([single], codec, examples, request, range(4))
    for number, example in enumerate(examples):
        (mine,) = task.answer([single], codec, [example], request, [number])
        assert mine.output == answers[number].output
        assert mine.attention is not None
        np.testing.assert_allclose(mine.attention, answers[number].attention, atol=2e-5)
        np.testing.assert_allclose(mine.attention.sum(1), 1, atol=1e-4)


def _double(source: Any) -> Any:
    return source._replace(data=source.data.double())


# -- toys, through the command -----------------------------------------------------------------------------------------


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
    run, sizes = tmp_path / "run", ["look.size=16", "look.stages=[8,16]", "look.local=true"]
    train(motions, run, "describe", 20, *sizes, "look.norm=places", "training.batch_size=8", recipe="tiny-look")
    assert measured(run, motions)["accuracy"] > 70  # 33 by chance
    shown = json.loads(done("predict", run, motions.parent / "2", "--json").out)
    assert np.array(shown["attention"]).shape == (len(shown["output_tokens"]), shown["frames"])
    done("show", run, motions.parent / "2", "-o", tmp_path / "strip.svg")
    assert (tmp_path / "strip.svg").read_text("utf-8").count("<image") == shown["frames"]


def test_questions_about_pictures_are_learned(tmp_path: Path) -> None:
    table = write_pictures(
        tmp_path,
        120,
        lambda name, colour, way: f"{name}\t{colour}\twhat colour is it\n{name}\t{way}\thow does it lie",
    )
    run = tmp_path / "run"
    sizes = ["look.encoder=small", "look.size=16", "look.stages=[8,16]", "look.project=0", "choose.size=16"]
    sizes += ["model.embed=8", "model.hidden=16", "model.dropout=0"]
    rates = ["training.average=none", "training.learning_rate=0.005", "training.batch_size=16"]
    rates += ["training.warmup=10", "training.patience=0"]
    train(table, run, "answer", 12, *sizes, *rates, "look.words=true", recipe="answer")
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
    train(rows, tmp_path / "run", "caption", 16, *sizes, "training.batch_size=8", recipe="tiny-look")
    assert measured(tmp_path / "run", rows)["bleu4"] > 60


def test_motions_are_learned_as_classes(motions: Path, tmp_path: Path) -> None:
    table = motions.with_name("classes.tsv")
    table.write_text(motions.read_text("utf-8").replace("it moves ", ""), "utf-8")
    sizes = ["look.size=16", "look.stages=[8,16]", "model.hidden=24", "model.dropout=0", "choose.size=16"]
    rates = ["training.average=none", "training.learning_rate=0.005", "training.warmup=10", "training.patience=0"]
    train(table, tmp_path / "run", "classify", 15, *sizes, *rates, recipe="clips")
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


def test_writing_is_read_letter_by_letter_from_left_to_right(tmp_path: Path) -> None:
    """All of the reader of the notes but its size: coverage in the plane, two cells, maxout, localization."""
    generator, lines = np.random.default_rng(2), []
    for number in range(360):
        text = "".join(generator.choice(list(GLYPHS), int(generator.integers(1, 4))))
        (tmp_path / f"{number}.png").write_bytes(png_bytes(write_line(text, generator)))
        lines.append(f"{number}.png\t{text}\n")
    table, unseen = tmp_path / "rows.tsv", tmp_path / "unseen.tsv"
    table.write_text("".join(lines[:320]), "utf-8")
    unseen.write_text("".join(lines[320:]), "utf-8")
    sizes = ["look.fit=height", "look.size=16", "look.channels=1", "look.invert=true", "look.stages=[8,16,24]"]
    sizes += ["target.symbols=graphemes", "model.query=between", "model.terms=[plane]", "model.output=maxout"]
    sizes += ["model.localization=0.01", "model.hidden=96", "model.compare=64", "look.norm=places"]
    train(table, tmp_path / "run", "transcribe", 12, *sizes, recipe="tiny-look")
    assert measured(tmp_path / "run", unseen)["cer"] < 15
    paths = tmp_path / "paths.txt"
    paths.write_text("".join(f"{tmp_path / line.partition(chr(9))[0]}\n" for line in lines[320:]), "utf-8")
    answers = done("predict", tmp_path / "run", "--input", paths, "--json").out.splitlines()
    steps = np.concatenate([_steps(json.loads(line)) for line in answers])
    assert (steps > 0).mean() > 0.8


def _steps(shown: dict[str, Any]) -> np.ndarray[Any, Any]:
    """How far to the right the middle of what it looks at goes, from letter to letter."""
    height, width = shown["grid"]
    columns = np.array(shown["attention"]).reshape(-1, height, width).sum(1)  # (T, W)
    letters = [number for number, token in enumerate(shown["output_tokens"]) if token in GLYPHS]
    moved: np.ndarray[Any, Any] = np.diff(columns[letters] @ np.arange(width))
    return moved


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"task": "answer", "look.hops": 0, "look.words": True}, r"look\.words=true does nothing with look\.hops=0"),
        *(
            (
                {"task": task, "look.hops": 1, "look.words": True},
                rf"look\.hops=1, look\.words=true do nothing .* {task}",
            )
            for task in ("caption", "describe", "transcribe")
        ),
    ],
)
def test_where_nothing_is_asked_no_question_looks(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_options(get_task(options["task"]), build(options, "here"))
