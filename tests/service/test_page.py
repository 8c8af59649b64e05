"""The page as somebody uses it: a real browser in front of `regard serve`."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Route

from regard import Prediction
from regard.prediction import Span
from regard.service.schemas import written
from tests.service.browser import Visit, visiting
from tests.service.sight import CONTRASTS, COVERED, NUMBERS, hovered, percent
from tests.service.site import HOSTILE, Site
from tests.test_prediction import CHOSEN

pytestmark = pytest.mark.xdist_group("browser")  # one worker starts the browsers and two servers


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


def test_classes_called_by_numbers_are_likeliest_first_too(visit: Visit) -> None:
    choose(visit, replace(CHOSEN, output="5", output_tokens=["5"], probabilities={"5": 0.6, "1": 0.3, "3": 0.1}))
    assert visit.page.locator("#classes .name").all_text_contents() == ["5", "1", "3"]


def test_lines_have_no_bar_beside_several_rows(visit: Visit) -> None:
    """A mean, which none of the rows has."""
    rows = {"attention": np.full((2, 6), 1 / 6, np.float32), "attention_rows": ["1", "2"]}
    choose(visit, replace(CHOSEN, **rows))
    visit.page.check("input[value=text]")
    assert visit.page.locator("#viewer .regard-word").count() > 0
    assert visit.page.locator("#viewer .regard-side").count() == 0


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
        ("end here" if one.symbol == "" else one.symbol, percent(one.probability))
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
