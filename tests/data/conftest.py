"""A shelf of made-up packages."""

from pathlib import Path

import pytest

from tests.data.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    (tmp_path / "packages").mkdir()
    return Shelf(tmp_path / "packages", monkeypatch)
