"""One service for all tests that do not need their own."""

from collections.abc import Iterator

import pytest

from regard import Run, load
from regard.run import load as load_run
from regard.service.models import Model
from tests.conftest import Reverse
from tests.service import looking
from tests.service.http import Service, serving


@pytest.fixture(scope="session")
def run(reverse: Reverse) -> Run:
    return load_run(reverse.run)


@pytest.fixture(scope="session")
def service(run: Run, reverse: Reverse) -> Iterator[Service]:
    with serving([Model("reverse", run), Model("other", load(reverse.run))]) as service:
        yield service


@pytest.fixture(scope="session")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Writes what it sees in a drawn picture."""
    return looking.trained(tmp_path_factory.mktemp("captions"))
