"""One service, and one site with a browser in front of it, for all tests that do not need their own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from regard import Run, load
from regard.run import load as load_run
from regard.service.models import Model
from tests.conftest import Reverse
from tests.service import looking
from tests.service.browser import Visit, browsing, visiting
from tests.service.http import Service, serving
from tests.service.site import Site, served


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


@pytest.fixture(scope="session")
def site(reverse: Reverse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(reverse.run, tmp_path_factory.mktemp("page")) as site:
        yield site


@pytest.fixture(scope="module")
def home(site: Site) -> str:
    """The page that is visited; a file of tests may have its own."""
    return site.home


@pytest.fixture(scope="module")
def browser(home: str) -> Iterator[Browser]:
    """After the servers, so that no test of asyncio finds Playwright's loop running."""
    with browsing() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, home: str) -> Iterator[Visit]:
    with visiting(browser, home) as visit:
        yield visit
