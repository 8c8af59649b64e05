"""Tasks that look: the codec, paths, bad files, independence of the batch, and options that do nothing."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.data.readers import Example
from regard.errors import DataError, UsageError
from regard.pictures import png_bytes
from regard.settings import build
from regard.tasks import answer, caption, classify, describe, get_task, transcribe
from regard.tasks.checking import check_options
from regard.tasks.optics import make_clip_eye
from regard.tasks.request import Request
from tests.tasks.drawn import damaged, draw, write_pictures

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


def test_answers_about_pictures_are_lowered_as_their_questions_are(tmp_path: Path) -> None:
    table = write_pictures(tmp_path, 4, lambda name, colour, way: f"{name}\t{colour.title()}\tWhat Colour?")
    for lowercase, wanted in ((True, "red"), (False, "Red")):
        how = recipe("answer", **{"data.lowercase": lowercase, "data.features_column": 3})
        assert answer.read(str(table), how).examples[0].target == wanted


def test_a_files_name_is_written_as_it_is_on_the_disk(tmp_path: Path) -> None:
    """Some systems write é as two characters, and others keep what they were given."""
    name = unicodedata.normalize("NFD", "café.png")
    (tmp_path / name).write_bytes(png_bytes(draw("red", "flat")))
    (tmp_path / "rows.tsv").write_text(f"{name}\ta bar\n", "utf-8")
    reading = caption.read(str(tmp_path / "rows.tsv"), recipe("caption"))
    assert reading.examples[0].path == str(tmp_path / name)


def test_a_bad_file_is_named_and_can_be_skipped(tmp_path: Path) -> None:
    table = write_pictures(tmp_path, 4, lambda name, colour, way: f"{name}\t{colour}")
    (tmp_path / "pictures" / "1.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"rows.tsv, line 2.*1\.png"):
        caption.read(str(table), recipe("caption"))
    reading = caption.read(str(table), recipe("caption"), skip_bad_lines=True)
    assert len(reading.examples) == 3
    assert "1.png" in reading.skipped[0]


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
    "describe, parts": {"look.frames": 5, "look.local": True, "look.motions": [3], "look.parts": [2, 3]}
    | {"look.states": "none", "look.moving": True, "look.shift": 1, "model.terms": ["position"]},
    "answer": {"look.fit": "within", "look.hops": 2, "choose.size": 3, "data.features_column": 3},
    "answer, names": {"look.fit": "within", "look.hops": 1, "choose.size": 3, "data.features_column": 3}
    | {"look.names": 0.5, "look.sharpness": 15.0},
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
        return float(task.loss(model, batch._replace(source=_double(batch.source))).total)

    assert price(0, 1, 2, 3) == pytest.approx(sum(price(number) for number in range(4)), rel=1e-9)
    single = model.float()
    answers = task.answer([single], codec, examples, request, range(4))
    for number, example in enumerate(examples):
        (mine,) = task.answer([single], codec, [example], request, [number])
        assert mine.output == answers[number].output
        assert mine.attention is not None
        np.testing.assert_allclose(mine.attention, answers[number].attention, atol=2e-5)
        np.testing.assert_allclose(mine.attention.sum(1), 1, atol=1e-4)


def test_a_picture_is_named_by_all_that_is_said_of_it(sources: tuple[list[str], list[str]]) -> None:
    """Words of other questions about it, and of their answers, as far as questions know them."""
    pictures, how = sources[0], recipe("answer", **{"data.features_column": 3, "source.symbols": "words"})
    rows = [(0, "lamp", "what is it ?"), (1, "bed", "is it a lamp ?"), (0, "red", "which bed ?")]
    examples = [Example(pictures[number], target, question) for number, target, question in rows]
    codec = answer.codec(examples, how)
    said = [{codec.question.vocabulary.symbols[word] for word in one.said} for one in answer.encode(codec, examples)]
    assert said[0] == said[2] == {"lamp", "what", "is", "it", "?", "which", "bed"}
    assert said[1] == {"bed", "is", "it", "a", "lamp", "?"}


def _double(source: Any) -> Any:
    return source._replace(data=source.data.double())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"task": "answer", "look.hops": 0, "look.names": 1.0}, r"look\.names=1\.0 does nothing with look\.hops=0"),
        ({"task": "answer", "look.layer": False}, r"look\.layer=false does nothing with look\.hops=2"),
        ({"task": "answer", "look.hops": 8, "look.layer": False}, r"look\.layer=false does nothing with look\.hops=8"),
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"look.motions": [8]}, r"look\.motions=\[8\] does nothing with look\.local=false"),
        (
            {"look.states": "none", "model.encoder_layers": 2},
            r"model\.encoder_layers=2 does nothing .*look\.states=none",
        ),
    ],
)
@pytest.mark.parametrize("task", ["describe", "classify"])
def test_options_of_parts_that_are_not_there_are_refused(task: str, options: dict[str, Any], said: str) -> None:
    of = {"choose.of": "clip"} if task == "classify" else {}
    with pytest.raises(UsageError, match=said):
        check_options(get_task(task), build({"task": task, **of, **options}, "here"))


@pytest.mark.parametrize("option", [{"look.parts": [2, 2]}, {"look.moving": True}, {"look.shift": 1}])
def test_a_frozen_encoder_has_kept_means_of_frames_and_nothing_else(option: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(option)).replace(".", r"\.")):
        make_clip_eye(recipe("describe", **{"look.encoder": "efficientnet-lite0"}, **option).look)
