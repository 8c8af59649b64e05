"""Runs by name."""

from pathlib import Path

import pytest

from regard.errors import UsageError
from regard.service.models import load_models, named
from regard.service.refusal import Refused
from tests.conftest import Reverse


@pytest.mark.parametrize(
    ("run", "name", "path"),
    [
        ("runs/en", "en", "runs/en"),
        ("runs/en/", "en", "runs/en/"),
        ("english=runs/7", "english", "runs/7"),
        ("x.y-z=hub/name", "x.y-z", "hub/name"),
        ("export/hu.onnx", "hu", "export/hu.onnx"),
        ("owner/name", "name", "owner/name"),
        ("a=b=c", "a", "b=c"),
        ("runs/=x", "=x", "runs/=x"),
    ],
)
def test_a_run_has_the_name_of_its_folder_or_a_given_one(run: str, name: str, path: str) -> None:
    assert named(run) == (name, path)


def test_a_folder_with_an_equals_sign_and_the_one_we_are_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lr=1").mkdir()
    monkeypatch.chdir(tmp_path)
    assert named("lr=1") == ("lr=1", "lr=1")
    monkeypatch.chdir(tmp_path / "lr=1")
    assert named(".") == ("lr=1", ".")


def test_the_same_name_twice_gets_a_number(reverse: Reverse) -> None:
    path = str(reverse.run)
    models = load_models([path, path, f"b={path}", f"run-2={path}", path])
    assert [model.name for model in models] == ["run", "run-2", "b", "run-2-2", "run-3"]
    assert models.find(None).name == "run"
    assert models.find("b").run is models["b"].run
    with pytest.raises(Refused, match="'c'"):
        models.find("c")


def test_a_run_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        load_models([str(tmp_path / "none")])
