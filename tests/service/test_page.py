"""The page as somebody uses it: a real browser in front of `regard serve`."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, Route

from regard import Prediction, Run, load
from regard.prediction import Span
from regard.service.schemas import written
from tests.command import backwards, train, words, write
from tests.conftest import Reverse
from tests.service.browser import Visit, browsing, chromium, serving, visiting
from tests.test_prediction import CHOSEN

pytestmark = pytest.mark.xdist_group("browser")  # one worker starts one browser and two servers

HEBREW = "אבגד"
HOSTILE = "<img/src=x/onerror=alert(1)>"  # a symbol that would be an element if it were read as HTML
TOKEN = "open-sesame"


class Site(NamedTuple):
    home: str
    locked: str  # the same behind a token, with narrower beams
    reverse: Run
    hebrew: Run
    blind: Run  # without attention, with features


@pytest.fixture(scope="module")
def site(reverse: Reverse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    chromium()  # without one, nothing else need be made
    folder = tmp_path_factory.mktemp("page")
    hebrew = ((word, f"{backwards(word)} {HOSTILE}") for word in words(HEBREW, 2, 3))
    assert train(write(folder / "hebrew.tsv", hebrew), folder / "hebrew").code == 0
    inflected = ((word, word + "s", "N;PL") for word in words("ab", 2, 4))
    columns = ("--set", "model.attention=none")
    result = train(write(folder / "blind.tsv", inflected), folder / "blind", *columns, task="inflect")
    assert result.code == 0, result.err
    runs = (reverse.run, folder / "hebrew", folder / "blind")
    named = f"reverse={reverse.run}"
    with serving(named, *runs[1:]) as open_to_all, serving(named, options=["--token", TOKEN, "--beam", "3"]) as locked:
        yield Site(open_to_all.ready(), locked.ready(), *map(load, runs))


@pytest.fixture(scope="module")
def browser(site: Site) -> Iterator[Browser]:
    """After the servers, so that no test of asyncio finds Playwright's loop running."""
    with browsing() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    with visiting(browser, site.home) as visit:
        yield visit


# ---- reading an answer


def test_the_answer_is_that_of_the_run(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    answer = site.reverse.predict("abcd", beam=5)
    assert visit.words() == answer.output_tokens
    assert f"−{abs(answer.log_probability):.3}"[:4] in visit.page.inner_text("#facts")
    assert visit.page.inner_text("#said") == f"Output: {answer.output}, answer 1 of 5"


def test_a_cell_tells_its_weight(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    attention = site.reverse.predict("abcd", beam=5).attention
    assert attention is not None
    for row, column in [(0, 3), (3, 0), (2, 2)]:
        assert f"{attention[row, column]:.3f}" in hovered(visit.page, row, column)
    assert f"{attention[0, 3]:.3f}" != f"{attention[3, 0]:.3f}"


def test_lines_and_threshold(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    attention = site.reverse.predict("abcd", beam=5).attention
    assert attention is not None
    visit.page.check("input[value=lines]")
    visit.page.fill("#threshold", "0.2")
    assert visit.page.locator("#viewer .ribbon").count() == (attention >= 0.2).sum()
    visit.page.fill("#threshold", "0.9")
    assert visit.page.locator("#viewer .ribbon").count() == (attention >= 0.9).sum()
    assert "threshold=0.9" in visit.page.url


def test_another_of_the_best_answers_is_shown_with_its_attention(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    answers = site.reverse.predict("abcd", beam=5, nbest=5).nbest
    assert visit.page.locator(".candidate .text").all_text_contents() == [one.output for one in answers]
    visit.page.locator("input[name=pick]").nth(2).check()
    assert visit.words() == answers[2].output_tokens
    assert visit.page.locator("#viewer .label[data-side=row]").all_text_contents() == answers[2].output_tokens
    assert answers[2].attention is not None
    last = len(answers[2].output_tokens) - 1
    for column in range(4):
        assert f"{answers[2].attention[last, column]:.3f}" in hovered(visit.page, last, column)
    assert "pick=2" in visit.page.url


def test_greedy_gives_one_answer_and_no_list(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    visit.page.select_option("#beam", "1")
    visit.page.wait_for_selector("#candidates", state="hidden")
    assert visit.words() == site.reverse.predict("abcd", beam=1).output_tokens


def test_symbols_never_seen_are_named(visit: Visit) -> None:
    visit.ask("abz")
    assert visit.page.inner_text("#notes") == "Never seen in training, read as unknown: z."


def test_a_run_without_attention_says_so_and_reads_features(visit: Visit, site: Site) -> None:
    visit.page.select_option("#model", "blind")
    visit.page.fill("#features", "N;PL")
    visit.ask("aba")
    assert visit.words() == site.blind.predict("aba\tN;PL", beam=5).output_tokens
    assert "This run has no attention" in visit.page.inner_text("#blind")
    assert visit.page.is_hidden("#viewer")
    assert visit.page.is_hidden("#download")


# ---- answers that are chosen or pointed at


def choose(visit: Visit, answer: Prediction) -> None:
    """A page whose run gives this answer to everything."""
    card = {"name": "reader", "task": "read", "weights": 7, "features": True, "beside": "question", "writes": False}
    card |= {"attends": True, "longest": 1000, "exported": False}
    told = {"models": [card], "beam": 5, "nbest": 5}
    visit.page.route("**/v1/models", lambda route: route.fulfill(json=told))
    visit.page.route(
        "**/v1/predict", lambda route: route.fulfill(json={"model": "r", "predictions": [written(answer)]})
    )
    visit.page.reload()
    visit.page.wait_for_selector("#model:enabled")
    with visit.page.expect_request("**/v1/predict") as asked:
        visit.page.fill("#source", "anything")
    assert set(asked.value.post_data_json) == {"model", "source", "features"}
    visit.page.wait_for_selector("#result:not([aria-busy]) .chosen")


def test_a_chosen_answer_has_a_bar_for_each_class_and_a_text(visit: Visit) -> None:
    choose(visit, CHOSEN)
    page = visit.page
    assert page.locator("#output").all_text_contents() == ["positive"]
    assert page.locator("#output button").count() == 0
    assert page.is_hidden("#output-hint")
    assert page.is_hidden("#beam-field")
    assert page.inner_text("#features-name") == "Question"
    assert page.locator("#classes .name").all_text_contents() == ["positive", "negative"]
    assert page.locator("#classes .share").all_text_contents() == ["92.6 %", "7.4 %"]
    tracks, lengths = (page.locator(f"#classes .{name}").first.bounding_box() for name in ("track", "length"))
    assert tracks
    assert lengths
    assert lengths["width"] / tracks["width"] == pytest.approx(0.926, abs=0.01)
    assert page.locator("#viewer .regard-word").all_text_contents() == CHOSEN.source_tokens
    assert page.locator("#viewer .regard-side").all_text_contents() == ["0.70", "0.30"]
    assert page.is_checked("input[value=text]")
    assert page.locator("#looks figcaption").all_text_contents() == ["overlap"]
    assert page.locator("#looks .cell").count() == 2
    page.check("input[value=map]")
    assert page.locator("#viewer .cell").count() == 6
    assert page.locator("#looks .cell").count() == 2
    assert page.evaluate(CONTRASTS) == []


def test_a_span_is_marked_in_the_source(visit: Visit) -> None:
    source = f"🙂 {HOSTILE} Good film ."
    begin = source.index("Good")
    answer = replace(
        CHOSEN, source=source, output="Good film", probabilities=None, span=Span(begin, begin + 9), looks=[]
    )
    choose(visit, answer)
    assert visit.page.locator("#passage mark").all_text_contents() == ["Good film"]
    assert visit.page.inner_text("#passage") == source
    assert visit.page.is_hidden("#classes")
    assert visit.page.locator("main img").count() == 0


# ---- forcing


def test_a_forced_symbol_begins_the_answer_and_can_be_cleared(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    free = visit.words()
    other = next(one.symbol for one in site.reverse.choices("abcd", free[:1]) if one.symbol not in ("", free[1]))
    visit.choose(1, other)
    prefix = [free[0], other]
    assert visit.words()[:2] == prefix
    assert visit.words() == site.reverse.predict("abcd", beam=5, prefix=prefix).output_tokens
    assert visit.page.inner_text("#forced").startswith(f"forced: {' '.join(prefix)}")
    visit.page.click("#unforce")
    visit.page.wait_for_selector("#forced", state="hidden")
    assert visit.words() == free


def test_the_menu_shows_what_the_model_believes(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    answer = visit.words()
    visit.page.locator("#output button").nth(2).click()
    visit.page.wait_for_selector(".menu button")
    expected = [
        ("end here" if one.symbol == "" else one.symbol, _percent(one.probability))
        for one in site.reverse.choices("abcd", answer[:2], 50)
    ]
    labels = visit.page.locator(".menu .label").all_text_contents()
    assert list(zip(labels, visit.page.locator(".menu .detail").all_text_contents(), strict=True)) == expected
    assert visit.page.locator(".menu [aria-checked=true] .label").all_text_contents() == [answer[2]]


def test_nothing_covers_a_menu(browser: Browser, site: Site) -> None:
    """Without motion: an answer that is still being dimmed lies in a layer of its own."""
    with visiting(browser, site.home, reduced_motion="reduce") as visit:
        visit.ask("abcd")
        visit.page.click("#download")
        visit.page.wait_for_selector(".menu button:focus")
        assert visit.page.evaluate(COVERED) == []


def test_an_answer_can_be_ended(visit: Visit, site: Site) -> None:
    visit.ask("abcd")
    free = visit.words()
    visit.choose(2, "end here")
    assert visit.words() == free[:2]
    ended = site.reverse.force("abcd", " ".join(free[:2]))
    assert f"−{abs(ended.log_probability):.3}"[:4] in visit.page.inner_text("#facts")
    assert "ended=yes" in visit.page.url


def test_a_label_of_the_picture_opens_the_menu_too(visit: Visit) -> None:
    visit.ask("abcd")
    visit.page.locator("#viewer .label[data-side=row]").nth(1).click()
    visit.page.wait_for_selector(".menu button:focus")
    assert visit.page.locator("#output button[aria-expanded=true]").get_attribute("data-place") == "1"


# ---- the address, and the order of answers


def test_an_address_brings_back_the_view(visit: Visit, browser: Browser, site: Site) -> None:
    visit.ask("abcd")
    visit.choose(1, visit.words()[0])
    visit.page.locator("input[name=pick]").nth(1).check()
    visit.page.check("input[value=lines]")
    shown, hash = visit.words(), visit.page.url.removeprefix(site.home)
    with visiting(browser, site.home, hash) as other:
        other.settle()
        assert other.words() == shown
        assert other.page.is_checked("input[value=lines]")
        assert other.page.locator("input[name=pick]").nth(1).is_checked()
        assert other.page.is_visible("#forced")


def test_what_is_typed_before_the_runs_are_known_is_answered(browser: Browser, site: Site) -> None:
    with visiting(browser, "about:blank", ready="body") as visit:
        held: list[Route] = []
        visit.home = site.home
        visit.page.route("**/v1/models", lambda route: held.append(route))
        visit.page.goto(site.home)
        visit.page.keyboard.type("abcd")
        visit.page.wait_for_timeout(500)
        assert len(held) == 1
        held[0].continue_()
        visit.settle()
        assert visit.words() == site.reverse.predict("abcd", beam=5).output_tokens


def test_a_slow_answer_never_overwrites_a_later_one(visit: Visit, site: Site) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if '"ab"' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.fallback()

    visit.page.route("**/v1/predict", hold)
    with visit.page.expect_request("**/v1/predict"):
        visit.page.fill("#source", "ab")
    visit.ask("cde")
    later = visit.words()
    assert len(held) == 1
    held[0].continue_()
    visit.page.wait_for_timeout(300)
    assert visit.words() == later == site.reverse.predict("cde", beam=5).output_tokens


# ---- downloads


@pytest.mark.parametrize("format", ["svg", "html", "json"])  # as in NUMBERS; numbers of pixels cannot be read
def test_the_downloaded_picture_holds_the_weights(visit: Visit, site: Site, tmp_path: Path, format: str) -> None:
    visit.ask("abcd")
    visit.page.locator("input[name=pick]").nth(1).check()
    shown = site.reverse.predict("abcd", beam=5, nbest=5).nbest[1]
    visit.page.click("#download")
    with visit.page.expect_download() as download:
        visit.page.locator(".menu button", has_text=format.upper()).click()
    assert download.value.suggested_filename == f"abcd.{format}"
    download.value.save_as(tmp_path / "picture")
    assert shown.attention is not None
    numbers = NUMBERS[format]((tmp_path / "picture").read_text("utf-8"))
    assert numbers == pytest.approx(shown.attention.ravel().tolist(), abs=1e-5)


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


# ---- what the tests see with


def hovered(page: Page, row: int, column: int) -> str:
    """What the picture says about the cell under the pointer."""
    page.locator("#viewer .regard-body").scroll_into_view_if_needed()
    ground = page.locator("#viewer .ground").bounding_box()
    assert ground is not None
    rows, columns = (page.locator(f"#viewer .label[data-side={side}]").count() for side in ("row", "column"))
    x = ground["x"] + ground["width"] * (column + 0.5) / columns
    page.mouse.move(x, ground["y"] + ground["height"] * (row + 0.5) / rows)
    return page.inner_text("#viewer .regard-reading")


def in_titles(svg: str) -> list[float]:
    titles = [one.text or "" for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
    return [float(found[1]) for found in (re.search(r": (\d\.\d+)$", title) for title in titles) if found]


def in_script(text: str) -> list[float]:
    """The first table of weights, in a file of JSON or with one inside."""
    found = re.search(r'"weights":\s*(\[\s*\[.*?\]\s*\])', text, re.DOTALL)
    assert found is not None
    return [weight for row in json.loads(found[1]) for weight in row]


NUMBERS = {"svg": in_titles, "html": in_script, "json": in_script}


def _percent(probability: float) -> str:
    if probability >= 0.9995:
        return "100 %"
    return "< 0.1 %" if probability < 0.001 else f"{100 * probability:.1f} %"


def width(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


def tab_to(page: Page, selector: str) -> None:
    """Tab until there, and one must see that one is there."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert page.evaluate(SEEN), f"{selector} does not show that it has the focus"
            return
    raise AssertionError(f"{selector} cannot be reached with Tab")


# The focus is seen as an outline, on the control itself or on what is drawn in its place.
SEEN = """() => [document.activeElement, document.activeElement.nextElementSibling].filter(Boolean).some((one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
})"""

# The menu laid over the picture, whose labels have layers of their own; and whatever is on top there but the menu.
COVERED = """() => {
    document.querySelector("#viewer").scrollIntoView({ block: "center" });
    const picture = document.querySelector("#viewer").getBoundingClientRect();
    document.querySelector(".menu").style.left = `${picture.x + window.scrollX}px`;
    document.querySelector(".menu").style.top = `${picture.y + window.scrollY}px`;
    const menu = document.querySelector(".menu").getBoundingClientRect();
    const boxes = [...document.querySelectorAll("#viewer text")].map((text) => text.getBoundingClientRect());
    const points = boxes.map((box) => [box.x + box.width / 2, box.y + box.height / 2]);
    const below = points.filter(([x, y]) => x > menu.left && x < menu.right && y > menu.top && y < menu.bottom);
    const seen = below.map(([x, y]) => document.elementFromPoint(x, y)).filter((one) => !one?.closest(".menu"));
    if (below.length < 4) return ["the menu lies beside the picture"];
    return seen.map((one) => one?.outerHTML);
}"""

# Every element with a text of its own whose contrast is below 4.5; half-transparent colours are laid over each other.
CONTRASTS = """() => {
    const parse = (colour) => {
        const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
        return { rgb: [r, g, b], a };
    };
    const over = (top, below) => below.map((value, place) => top.rgb[place] * top.a + value * (1 - top.a));
    const behind = (element) => {
        if (!element) return [255, 255, 255];
        return over(parse(getComputedStyle(element).backgroundColor), behind(element.parentElement));
    };
    const luminance = (rgb) => {
        const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const visible = (element) => element.getClientRects().length && getComputedStyle(element).visibility === "visible";
    const written = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    return [...document.body.querySelectorAll("*")].filter((one) => visible(one) && written(one)).flatMap((one) => {
        const style = getComputedStyle(one);
        const back = behind(one);
        const front = over(parse(one instanceof SVGElement ? style.fill : style.color), back);
        const [bright, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
        const contrast = (bright + 0.05) / (dark + 0.05);
        return contrast < 4.5 ? [`${one.tagName} ${one.textContent.trim()}: ${contrast.toFixed(2)}`] : [];
    });
}"""
