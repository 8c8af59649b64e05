"""What tests of tasks that look share: a table of drawn pictures."""

from pathlib import Path

import pytest

from tests.tasks.drawn import write_pictures


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captions")
    return write_pictures(folder, 120, lambda name, colour, way: f"{name}\ta bar, {way} and {colour}")
