"""A real browser in front of a real server, for the tests of the page."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright

INSTALL = "apt-get install chromium   (or name another one in REGARD_CHROMIUM)"
PATIENCE = 60  # seconds; a server loads torch on a machine where other tests run
QUIET = [  # one process of its own, which talks to nobody
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
]

# Violations of the content-security policy reach the page, not the console's listener, in every case.
REPORT = """document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))"""


def chromium() -> str:
    """Where it is. Without one the tests are skipped; they fail where somebody has asked for a browser."""
    found = os.environ.get("REGARD_CHROMIUM") or shutil.which("chromium")
    if found:
        return found
    if os.environ.get("REGARD_BROWSER") == "required" or os.environ.get("CI"):
        pytest.fail(f"there is no chromium: {INSTALL}")
    pytest.skip(f"there is no chromium: {INSTALL}")


@contextmanager
def browsing() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


class Server(NamedTuple):
    home: str
    process: "subprocess.Popen[bytes]"

    def ready(self) -> str:
        """The address, once somebody answers there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.home}health", timeout=5).close()
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
            else:
                return self.home
        raise AssertionError(f"regard serve did not come up; its exit code is {self.process.poll()}")


@contextmanager
def serving(*runs: Path | str, options: Sequence[str] = ()) -> Iterator[Server]:
    """`regard serve RUNS OPTIONS`, stopped as a user stops it; not waited for: several may start at once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "regard", "serve", *map(str, runs), "--port", str(port), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield Server(f"http://127.0.0.1:{port}/", process)
        finally:
            process.terminate()


@dataclass
class Visit:
    """A page, and what it should not have done."""

    page: Page
    home: str
    expected: list[str] = field(default_factory=list)  # parts of errors that the test provokes
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)  # requests to anywhere else

    def ask(self, source: str) -> None:
        """Types and waits for the answer; a page that shows the old one is not there yet."""
        with self.page.expect_response("**/v1/predict") as response:
            self.page.fill("#source", source)
        assert response.value.ok, response.value.text()
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_selector("#output button")
        self.page.wait_for_selector("#result:not([aria-busy])")

    def words(self) -> list[str]:
        return self.page.locator("#output button:not(.end)").all_text_contents()

    def choose(self, place: int, symbol: str) -> None:
        """Another symbol in one place of the output, by the pointer."""
        self.page.locator("#output button").nth(place).click()
        with self.page.expect_response(lambda response: response.url.endswith(("predict", "force"))):
            self.page.locator(".menu button", has=self.page.get_by_text(symbol, exact=True)).click()
        self.settle()

    def blameless(self) -> None:
        assert self.foreign == []
        assert [error for error in self.errors if not any(part in error for part in self.expected)] == []


@contextmanager
def visiting(
    browser: Browser, home: str, hash: str = "", ready: str = "#model:enabled", **options: Any
) -> Iterator[Visit]:
    """Opens the page and waits until it is ready; at the end it must have stayed at home and have caused no errors."""
    with browser.new_context(accept_downloads=True, **options) as context:
        context.set_default_timeout(20_000)
        context.add_init_script(REPORT)
        visit = Visit(context.new_page(), home)

        def guard(route: Route) -> None:
            if route.request.url.startswith(home):
                route.continue_()
            else:
                visit.foreign.append(route.request.url)
                route.abort()

        def hear(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                visit.errors.append(message.text)

        context.route("**/*", guard)
        visit.page.on("console", hear)
        visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
        visit.page.goto(home + hash)
        visit.page.wait_for_selector(ready)
        yield visit
        visit.blameless()
