"""Whatever comes in: one or two lines that say what is wrong, the right exit code, and nothing lost."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command import backwards, done, refused, regard, train, words, write
from tests.conftest import Reverse
from tests.test_files import small_disk

LONG = 100_000


def content(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


# options


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("model.hiden=3", "model.hiden is not an option; did you mean hidden?"),
        ("hidden=3", "hidden is not an option; did you mean model.hidden?"),
        ("modle.hidden=3", "modle.hidden is not an option; did you mean model.hidden?"),
        ("zzz=3", "zzz is not an option"),
        ("model.hidden", "expected key=value"),
        ("model.hidden=many", "model.hidden: Input should be a valid integer"),
        ("model.hidden=[", "--set model.hidden: this is not YAML"),
        ("model.hidden=1000000000", "model.hidden: Input should be less than or equal to 65536"),
        ("model.hidden=0", "model.hidden: Input should be greater than"),
        ("model.heads=0", "model.heads"),
        ("model.encoder_layers=0", "model.encoder_layers"),
        ("model.dropout=1", "model.dropout: Input should be less than 1"),
        ("model.cell=grru", "model.cell: Input should be 'tanh', 'sigmoid', 'gru', 'lstm' or 'lstmn', got 'grru'"),
        ("model.terms=[place]", "model.terms"),
        ("training.batch_size=0", "training.batch_size: Input should be greater than or equal to 1, got 0"),
        ("training.accumulate=0", "training.accumulate"),
        ("training.evaluate_every=0", "training.evaluate_every"),
        ("training.learning_rate=.nan", "training.learning_rate: Input should be a finite number"),
        ("training.learning_rate=-1", "training.learning_rate"),
        ("training.metric=bleu", "training.metric=bleu is not measured here; there are auto, loss, wer, per, accuracy"),
        ("data.dev_share=2", "between 0 and 1"),
        ("data.source_column=0", "counted from 1"),
        ("data.lowercase=perhaps", "data.lowercase"),
        ("task=translate", "--task is pronounce"),
        ("search.beam=0", "search.beam"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_written(few: Path, tmp_path: Path, setting: str, said: str) -> None:
    refused(train(few, tmp_path / "run", "--set", setting), 2, said)
    assert not (tmp_path / "run").exists()


def test_options_that_do_not_fit_together_are_refused_before_anything_is_written(few: Path, tmp_path: Path) -> None:
    settings = ["--set", "model.tie=true", "--set", "model.embed=8", "--set", "model.readout=9"]
    refused(train(few, tmp_path / "run", *settings), 2, "model.tie")
    settings = ["--set", "model.terms=[location]", "--set", "model.term_width=4"]
    refused(train(few, tmp_path / "run", *settings), 2, "4 places")
    assert not (tmp_path / "run").exists()


def test_no_epochs_is_no_training(few: Path, tmp_path: Path) -> None:
    refused(train(few, tmp_path / "run", epochs=0), 2, "training.epochs")


def test_an_unknown_task_names_its_neighbour(few: Path, tmp_path: Path) -> None:
    result = train(few, tmp_path / "run", task="pronunce")
    refused(result, 2, "no task 'pronunce'", "did you mean pronounce?", "inflect")


def test_an_unknown_recipe_names_its_neighbour(few: Path, tmp_path: Path) -> None:
    result = train(few, tmp_path / "run", "--recipe", "bahdanaw")
    refused(result, 2, "no recipe 'bahdanaw'", "did you mean bahdanau?", "`regard recipes`")
    refused(train(few, tmp_path / "run", "--recipe", "mine.yaml"), 2, "no recipe 'mine.yaml'")
    refused(train(few, tmp_path / "run", "--recipe", "translate"), 2, "for the task translate, not pronounce")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model: {hiden: 3}", "model.hiden is not an option; did you mean hidden?"),
        ("model: [", "not YAML"),
        ("- a\n- b", "options by name"),
        ("model: 3", "model is not an option"),
        ("model: {hidden: {a: 3}}", "model.hidden.a is not an option"),
        ("model: {hidden: !!python/object/apply:os.system [true]}", "not YAML"),
        ("a: &a [x]\nb: *a", "aliases"),
        ("scale: 3", "each line of scale"),
        ("scale: [{up_to: few, set: {}}]", "each line of scale"),
        ("scale: [{up_to: 3, set: {model.hiden: 3}}]", "model.hiden"),
        pytest.param("[" * 1500, "not YAML", id="deep"),
    ],
)
def test_a_wrong_recipe_file_is_named(few: Path, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    refused(train(few, tmp_path / "run", "--recipe", str(tmp_path / "mine.yaml")), 2, "mine.yaml", said)


def test_a_recipe_file_that_is_no_text(few: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes(b"model: \xff\xfe")
    refused(train(few, tmp_path / "run", "--recipe", str(tmp_path / "mine.yaml")), 2, "cannot read", "mine.yaml")


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["abc", "--nbest", "3", "--beam", "2"], 2, "3 best of a beam of 2"),
        (["abc", "--nbest", "-1"], 2, "n-best -1"),
        (["abc", "--beam", "0"], 2, "search.beam"),
        (["abc", "--batch-size", "0"], 2, "batch size 0"),
        (["abc", "--input", "words.txt"], 2, "TEXT or --input, not both"),
        (["abc", "--features", "V"], 2, "reads nothing beside"),
        (["abc", "--length-penalty", "nan"], 2, "search.length_penalty"),
        (["abc", "--prefix", "C Z"], 2, "never seen in training: Z"),
        (["abc", "--sample", "--temperature", "0"], 2, "temperature"),
        (["abc", "--sample", "--top-p", "2"], 2, "top_p"),
        (["", "abc"], 1, "TEXT 1 is empty"),
        (["abc\udc80"], 1, "U+DC80"),
    ],
)
def test_a_wrong_call_of_predict(reverse: Reverse, more: list[str], code: int, said: str) -> None:
    result = regard("predict", reverse.run, *more)
    refused(result, code, said)
    assert result.out == ""


def test_predict_without_a_word(reverse: Reverse) -> None:
    refused(regard("predict", reverse.run, stdin=b""), 1, "standard input is empty")
    refused(regard("predict", reverse.run, stdin=b"\n\n"), 1, "only empty lines")


# files


@pytest.mark.parametrize("command", ["train", "evaluate", "predict"])
def test_a_missing_file_names_a_similar_one(reverse: Reverse, few: Path, tmp_path: Path, command: str) -> None:
    missing = few.with_name("fw.tsv")
    calls = {
        "train": lambda: train(missing, tmp_path / "run"),
        "evaluate": lambda: regard("evaluate", reverse.run, missing),
        "predict": lambda: regard("predict", reverse.run, "--input", missing),
    }
    refused(calls[command](), 2, f"there is no file {missing}; did you mean {few}?")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"abc", "expected at least 2 tab-separated columns, found 1 ('abc')"),
        (b"abc C B A", "put a tab, not spaces"),
        (b"\tC B A", "the source is empty"),
        (b"abc\t", "the target is empty"),
        (b"abc\tC \xff A", "byte 7 (0xff) is not valid UTF-8"),
    ],
)
def test_a_malformed_line_names_file_and_line_and_can_be_skipped(
    few: Path, tmp_path: Path, bad: bytes, said: str
) -> None:
    few.write_bytes(few.read_bytes() + bad + b"\nab\tB A\n")
    number = len(words("ab", 2, 4)) + 1
    refused(train(few, tmp_path / "run"), 1, f"{few}, line {number}: ", said, "--skip-bad-lines")
    assert not (tmp_path / "run").exists()
    result = train(few, tmp_path / "run", "--skip-bad-lines")
    assert result.code == 0
    assert f"regard: left out 1 bad lines; the first: {few}, line {number}: " in result.err


@pytest.mark.parametrize(("text", "said"), [("", "is empty"), ("\n \n", "is empty")])
def test_an_empty_file_is_said_to_be_empty(reverse: Reverse, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pairs.tsv").write_text(text)
    refused(train(tmp_path / "pairs.tsv", tmp_path / "run"), 1, str(tmp_path / "pairs.tsv"), said)
    refused(regard("evaluate", reverse.run, tmp_path / "pairs.tsv"), 1, str(tmp_path / "pairs.tsv"), said)


def test_a_file_of_which_nothing_is_left(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", [["a"], ["b"]])
    refused(train(pairs, tmp_path / "run", "--skip-bad-lines"), 1, "none of 2 lines can be used", "line 1")


def test_one_source_cannot_be_split(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", [["ab", "B A"]] * 3)
    refused(train(pairs, tmp_path / "run"), 1, "cannot split off a dev part: 1 different sources")
    assert train(pairs, tmp_path / "run", "--dev", pairs).code == 0


def test_one_symbol_is_enough(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", (["a" * length, "X " * length] for length in range(1, 9)))
    assert train(pairs, tmp_path / "run").code == 0
    answer = done("predict", tmp_path / "run", "aaa", "--beam", 3, "--nbest", 2, "--json").objects[0]
    assert set(answer["output_tokens"]) <= {"X"}
    assert len(answer["nbest"]) == 2


def test_invalid_utf8_to_predict(reverse: Reverse, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_bytes(b"abc\nab\xc3\n")
    refused(regard("predict", reverse.run, "--input", tmp_path / "lines.txt"), 1, "lines.txt, line 2", "UTF-8")


# length


def test_a_very_long_source_is_refused_before_anything_is_computed(
    reverse: Reverse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("this would need memory for all these symbols")

    monkeypatch.setattr("regard.tasks.pronounce.answer", forbidden)
    said = ("100,000 symbols", "at most 1,000", "data.longest")
    refused(regard("predict", reverse.run, "a" * LONG), 1, "TEXT 1", *said)
    lines = write(tmp_path / "lines.txt", [["abc"], ["ab" * (LONG // 2)]])
    refused(regard("predict", reverse.run, "--input", lines), 1, "lines.txt, line 2", *said)
    refused(regard("evaluate", reverse.run, write(tmp_path / "pairs.tsv", [["a" * LONG, "A"]])), 1, *said)


def test_a_very_long_line_can_be_passed_over(reverse: Reverse, tmp_path: Path) -> None:
    lines = write(tmp_path / "lines.txt", [["abc"], ["ab" * (LONG // 2)], ["edc"]])
    result = done("predict", reverse.run, "--input", lines, "--skip-bad-lines")
    assert result.out == "C B A\n\nC D E\n"
    assert "1 bad line is answered by an empty one: " in result.err
    assert "lines.txt, line 2 has 100,000 symbols" in result.err
    only = write(tmp_path / "only.txt", [["ab" * (LONG // 2)]])
    refused(regard("predict", reverse.run, "--input", only, "--skip-bad-lines"), 1, "no line can be read", "line 1")
    refused(regard("predict", reverse.run, "abc", "--skip-bad-lines"), 2, "--input")


def test_lines_that_are_no_text_can_be_passed_over(reverse: Reverse, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_bytes(b"abc\n\xff\xfe\n\nedc\n" + b"ab" * LONG + b"\n")
    refused(regard("predict", reverse.run, "--input", lines), 1, "line 2: byte 1", "--skip-bad-lines")
    result = done("predict", reverse.run, "--input", lines, "--skip-bad-lines")
    assert result.out == "C B A\n\n\nC D E\n\n"
    assert "1 empty lines are answered by empty lines; the first: " in result.err
    assert "2 bad lines are answered by empty lines; the first: " in result.err
    assert "lines.txt, line 2: byte 1 (0xff) is not valid UTF-8" in result.err
    only = tmp_path / "only.jsonl"
    only.write_text('{"source"\n', "utf-8")
    call = ("predict", reverse.run, "--input", only, "--skip-bad-lines")
    refused(regard(*call), 1, "no line can be read", "line 1: not a JSON object")


def test_very_long_pairs_are_left_out_of_training_and_counted(few: Path, tmp_path: Path) -> None:
    rows = [["a" * LONG, "A"], ["ab", "A " * LONG], ["ba" * 500, "A"]]
    write(tmp_path / "more.tsv", rows)
    few.write_bytes(few.read_bytes() + (tmp_path / "more.tsv").read_bytes())
    result = train(few, tmp_path / "run", "--dev", tmp_path / "more.tsv")
    assert result.code == 0
    count = len(words("ab", 2, 4)) + len(rows)
    assert f"regard: left out 2 of {count} training pairs longer than data.longest=1000 symbols" in result.err
    assert "regard: left out 2 of 3 dev pairs" in result.err
    only = write(tmp_path / "only.tsv", rows[:2])
    refused(train(few, tmp_path / "other", "--dev", only), 1, "all 2 dev pairs are longer than data.longest=1000")


# the folder of the run


def test_a_folder_that_holds_another_run_is_kept(reverse: Reverse, few: Path) -> None:
    before = content(reverse.run)
    refused(train(few, reverse.run), 2, f"{reverse.run} holds a run already", "--resume")
    assert content(reverse.run) == before


def test_a_folder_that_holds_something_else_is_kept(few: Path, tmp_path: Path) -> None:
    for more in ([], ["--resume"]):
        refused(train(few, tmp_path, *more), 2, f"{tmp_path} is not empty and holds no run")
    assert [one.name for one in tmp_path.iterdir()] == ["few.tsv"]


def test_a_folder_that_is_a_file(few: Path, tmp_path: Path) -> None:
    before = few.read_bytes()
    refused(train(few, few), 2, f"{few} is a file")
    refused(train(few, few / "run"), 2, "cannot make the folder", "Not a directory")
    assert few.read_bytes() == before
    (tmp_path / "empty").mkdir()
    assert train(few, tmp_path / "empty").code == 0  # an empty folder is welcome


def test_a_read_only_folder(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.mkstemp", fail)  # permissions would not stop root
    refused(train(few, tmp_path / "run"), 1, f"cannot write {tmp_path / 'run' / 'recipe.yaml'}: Read-only file system")
    monkeypatch.undo()
    assert train(few, tmp_path / "run").code == 0  # nothing is in the way of a second try


def test_a_full_disk_loses_nothing(few: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert train(few, run).code == 0
    before = content(run)
    with small_disk(20_000):
        result = train(few, run, "--resume", epochs=2)
    refused(result, 1, "cannot write", "model.safetensors: File too large")
    after = content(run)
    kept = ("model.safetensors", "training.safetensors", "config.json", "vocabulary.json", "README.md")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert set(after) == set(before)  # no temporary file
    done("predict", run, "ab")
    assert train(few, run, "--resume", epochs=2).code == 0
    assert (run / "log.jsonl").read_text().count('"epoch": 2') == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--set", "model.hidden=32"], "model.hidden=64, now it is 32"),
        (["--seed", "5"], "training.seed=1, now it is 5"),
        (["--recipe", "luong"], "source.subwords=60, now it is 8000"),
    ],
)
def test_resume_with_other_options(few: Path, tmp_path: Path, more: list[str], said: str) -> None:
    assert train(few, tmp_path / "run").code == 0
    before = content(tmp_path / "run")
    refused(train(few, tmp_path / "run", "--resume", *more, epochs=2), 2, "--resume", said, "another --out")
    assert content(tmp_path / "run") == before


def other_pairs(rows: list[list[str]]) -> dict[str, list[list[str]]]:
    swap = str.maketrans("abAB", "yzYZ")
    return {
        "other letters": [[part.translate(swap) for part in row] for row in rows],
        "other targets": [[source, target[::-1]] for source, target in rows],
        "other order": rows[::-1],
        "fewer": rows[:-3],
    }


@pytest.mark.parametrize("change", other_pairs([]))
def test_resume_with_other_pairs(few: Path, tmp_path: Path, change: str) -> None:
    """Also when the other pairs are the same numbers, and without touching a file of the run."""
    rows = [line.split("\t") for line in few.read_text().splitlines()]
    rows = [[source, target.replace("B A", "B B")] for source, target in rows]  # not the same backwards
    write(few, rows)
    assert train(few, tmp_path / "run", "--dev", few).code == 0
    before = content(tmp_path / "run")
    write(few, other_pairs(rows)[change])
    result = train(few, tmp_path / "run", "--dev", few, "--resume")
    refused(result, 2, "--resume: the pairs (training or dev) are not those", str(tmp_path / "run"))
    assert content(tmp_path / "run") == before


def test_resume_without_the_training_state_does_not_begin_anew(spare: Path, reverse: Reverse) -> None:
    """A run from the hub has none; its weights must not be lost."""
    (spare / "training.safetensors").unlink()
    before = content(spare)
    refused(train(reverse.pairs, spare, "--resume", epochs=7), 2, "came without training.safetensors")
    assert content(spare) == before


def test_resume_may_change_how_long(few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "run").code == 0
    assert train(few, tmp_path / "run", "--resume", epochs=2).code == 0
    recipe: dict[str, Any] = yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert recipe["training"]["epochs"] == 2
    assert len((tmp_path / "run" / "log.jsonl").read_text().splitlines()) == 2


def test_resume_where_nothing_is_begins(few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "run", "--resume").code == 0
    done("evaluate", tmp_path / "run", write(tmp_path / "test.tsv", [["ab", backwards("ab")]]))


# what is not a run


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("few.tsv", "there is no run"),
        (".", "is not a finished run: config.json is missing"),
        ("no/such/folder", "there is no run"),
        ("nothing", "there is no run"),
    ],
)
def test_predict_on_something_that_is_not_a_run(few: Path, tmp_path: Path, name: str, said: str) -> None:
    for call in (["predict", tmp_path / name, "abc"], ["evaluate", tmp_path / name, few]):
        refused(regard(*call), 2, said, str(tmp_path / name))


def test_a_typo_in_the_name_of_a_run(spare: Path) -> None:
    refused(regard("predict", spare.with_name("spar"), "abc"), 2, f"did you mean {spare}?")
    wrong = spare.parent.with_name(spare.parent.name + "x") / spare.name
    refused(regard("predict", wrong, "abc"), 2, f"did you mean {spare}?")
