"""The page's manners: how it looks to whom, all of it by keyboard, and what it says when something goes wrong."""

import re

import pytest
from playwright.sync_api import Browser

from tests.service.browser import Visit, visiting
from tests.service.sight import CONTRASTS, tab_to, width
from tests.service.site import HOSTILE, TOKEN, Site

pytestmark = pytest.mark.xdist_group("browser")


# ---- looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(browser: Browser, site: Site, scheme: str) -> None:
    """Contrast of at least 4.5 : 1 between every text and what is behind it (WCAG 2, level AA)."""
    with visiting(browser, site.home, color_scheme=scheme) as visit:
        visit.ask("abz")
        visit.choose(0, "B")
        assert visit.page.evaluate(CONTRASTS) == []
        background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
        assert (brightness > 128) == (scheme == "light")


def test_a_phone_shows_it_without_scrolling_sideways(browser: Browser, site: Site) -> None:
    """Nor does a source of one long word, an answer of forty symbols, or a menu."""
    long = f"#source={'abcde' * 9}&beam=2" + "&forced=A" * 40
    with visiting(browser, site.home, long, viewport={"width": 390, "height": 844}) as visit:
        visit.settle()
        assert len(visit.words()) >= 40
        assert width(visit.page) <= 390
        visit.page.locator("#output button").nth(7).click()
        visit.page.wait_for_selector(".menu button")
        box = visit.page.locator(".menu").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert width(visit.page) <= 390
        visit.page.keyboard.press("Escape")
        visit.page.check("input[value=lines]")
        assert width(visit.page) <= 390


def test_text_from_right_to_left(visit: Visit, site: Site) -> None:
    visit.page.select_option("#model", "hebrew")
    visit.ask("אבג")
    for place, letter in enumerate("גבא"):  # so that the answer has three letters, whatever the run has learnt
        visit.choose(place, letter)
    direction = "element => getComputedStyle(element).direction"
    assert visit.page.locator("#source").evaluate(direction) == "rtl"
    assert visit.page.locator("#output").evaluate(direction) == "rtl"
    first, second = (visit.page.locator("#output button").nth(place).bounding_box() for place in (0, 1))
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"]
    assert visit.page.locator(".candidate .text").first.evaluate(direction) == "rtl"
    assert visit.page.locator("#viewer .label").first.evaluate(direction) == "rtl"
    assert visit.words() == site.hebrew.predict("אבג", beam=5, prefix=list("גבא")).output_tokens


def test_a_symbol_that_looks_like_html_is_text(visit: Visit, site: Site) -> None:
    visit.page.select_option("#model", "hebrew")
    visit.ask("אב<b>")
    visit.choose(0, HOSTILE)
    assert visit.words()[0] == HOSTILE
    assert HOSTILE in visit.page.inner_text("#viewer")
    assert HOSTILE in visit.page.inner_text("#forced")
    assert visit.page.locator("main img, main b").count() == 0


def test_nothing_moves_for_those_who_asked_for_rest(browser: Browser, site: Site) -> None:
    with visiting(browser, site.home, reduced_motion="reduce") as visit:
        visit.ask("abc")
        moving = "[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).transitionProperty !== 'none')"
        assert visit.page.evaluate(f"{moving}.filter(e => getComputedStyle(e).transitionDuration !== '0s').length") == 0


# ---- the keyboard


def test_everything_can_be_done_by_keyboard(visit: Visit, site: Site) -> None:
    page = visit.page
    assert page.evaluate("document.activeElement.id") == "source"
    with page.expect_response("**/v1/predict"):
        page.keyboard.type("abcd")
        page.keyboard.press("Enter")
    visit.settle()
    free = visit.words()
    tab_to(page, "#output [data-place='1']")
    page.keyboard.press("Enter")
    page.wait_for_selector(".menu button:focus")
    page.keyboard.press("Escape")
    assert page.locator(".menu").count() == 0
    assert page.evaluate("document.activeElement.dataset.place") == "1"
    page.keyboard.press("Enter")
    page.wait_for_selector(".menu button:focus")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")  # from the last to the first
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.activeElement.value")
    with page.expect_response("**/v1/predict"):
        page.keyboard.press("Enter")
    visit.settle()
    assert visit.words()[:2] == [free[0], chosen]
    page.wait_for_selector("#output [data-place='1']:focus")
    tab_to(page, "#unforce")
    with page.expect_response("**/v1/predict"):
        page.keyboard.press("Enter")
    page.wait_for_selector("#source:focus")
    tab_to(page, "input[name=kind]")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("input[value=lines]")
    tab_to(page, "#threshold")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#threshold-shown") == "0.01"
    tab_to(page, "#download")
    page.keyboard.press("Enter")
    page.wait_for_selector(".menu button:focus")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".svg")
    tab_to(page, "input[name=pick]")
    page.keyboard.press("ArrowDown")
    assert visit.words() == site.reverse.predict("abcd", beam=5, nbest=5).nbest[1].output_tokens


# ---- trouble


def test_trouble_is_told_in_words(visit: Visit) -> None:
    visit.expected.append("Failed to load resource")
    visit.ask("abc")
    visit.page.fill("#source", "a" * 1001)
    visit.page.wait_for_selector("#trouble:not([hidden])")
    assert "has 1,001 symbols" in visit.page.inner_text("#trouble")
    assert "Shorten or split it" in visit.page.inner_text("#trouble")
    assert visit.page.is_hidden("#result")  # which answers what was asked before
    visit.ask("abc")
    assert visit.page.is_hidden("#trouble")


def test_a_busy_server_is_asked_again(visit: Visit, site: Site) -> None:
    visit.expected.append("Failed to load resource")
    busy = {"error": {"message": "too many wait", "request_id": "1"}}
    visit.page.route(
        "**/v1/predict", lambda route: route.fulfill(status=429, headers={"Retry-After": "1"}, json=busy), times=1
    )
    visit.page.fill("#source", "abcd")
    visit.page.wait_for_selector("#waiting:not([hidden])")
    assert visit.page.inner_text("#waiting") == "The server is busy; asking again in 1 s."
    visit.settle()
    assert visit.words() == site.reverse.predict("abcd", beam=5).output_tokens
    assert visit.page.is_hidden("#waiting")


def test_a_server_that_is_gone_can_be_asked_again(visit: Visit) -> None:
    visit.expected.append("Failed to load resource")
    visit.page.route("**/v1/predict", lambda route: route.abort(), times=1)
    visit.page.fill("#source", "abcd")
    visit.page.wait_for_selector("#trouble:not([hidden])")
    assert "The server does not answer." in visit.page.inner_text("#trouble")
    visit.page.click("#trouble button")
    visit.settle()
    assert visit.page.is_hidden("#trouble")


def test_a_token_is_asked_for_and_kept_for_the_tab(browser: Browser, site: Site) -> None:
    with visiting(browser, site.locked, ready="#token-dialog[open]") as visit:
        visit.expected.append("Failed to load resource")
        page = visit.page
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        page.get_by_text("The token was not accepted.").wait_for()
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_selector("#model:enabled")
        visit.ask("abcd")
        assert visit.words() == site.reverse.predict("abcd", beam=3).output_tokens
        assert page.locator("#beam option").all_inner_texts() == ["1 (greedy)", "2", "3"]  # what this server takes
        assert page.input_value("#beam") == "3"
        assert TOKEN not in page.url
        assert page.evaluate("localStorage.length") == 0
        assert page.evaluate("document.cookie") == ""
        page.reload()
        visit.settle()
