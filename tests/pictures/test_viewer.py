"""The saved page in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page

from regard.pictures import Outline, Panel, save
from tests.pictures.drawn import on_clip, on_plane
from tests.service.browser import browsing

HOSTILE = "</script><img/src=x/onerror=alert(1)>"
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05]], dtype=np.float32)
PANELS = [
    Panel(WEIGHTS, ["K", HOSTILE], ["c", "a", "t"], "cat", frozenset({(1, 2)})),
    Panel(WEIGHTS.T, ["یہ", "کتاب", "ہے"], ["it", "book"], "یہ کتاب ہے"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """Opened from disk; it must neither ask the network for anything nor complain."""
    save(PANELS, tmp_path / "x.html")
    wrong: list[str] = []
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
        page.goto((tmp_path / "x.html").as_uri())
        yield page
    assert wrong == []


TEXT = Panel(
    [[0.1, 0.6, 0.05, 0.25], [0.7, 0.1, 0.1, 0.1]],
    ["row 1", "row 2"],
    [HOSTILE, "good", "but", "thin"],
    "positive 0.93",
    frozenset({(0, 1)}),
    (2, 2),
    (0.3, 0.7),
)


@pytest.fixture
def text(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    save([TEXT, PANELS[0]], tmp_path / "x.html")
    with browser.new_context(offline=True, viewport={"width": 390, "height": 700}) as context:
        page = context.new_page()
        page.goto((tmp_path / "x.html").as_uri())
        yield page


def test_a_panel_with_lines_is_a_text_beside_a_map(text: Page) -> None:
    first, second = text.locator(".regard-viewer").all()
    assert first.locator(".regard-word").all_text_contents() == list(TEXT.columns) * 2
    assert first.locator(".regard-line").count() == 4
    shares = [float(one.evaluate("e => parseFloat(e.style.getPropertyValue('--share'))")) for one in words(text)]
    assert shares == pytest.approx((100 * np.array(TEXT.weights) / 0.7).ravel().tolist(), abs=0.1)
    assert first.locator(".regard-word.mark").all_text_contents() == ["good"]
    assert first.locator(".regard-side").all_text_contents() == ["0.30", "0.70"] * 2
    assert second.locator(".cell").count() == 6
    assert text.locator("img").count() == 0
    assert text.locator("input[type=radio]:checked").count() == 0  # they are of two kinds
    assert text.evaluate("document.documentElement.scrollWidth") <= 390


def test_words_of_a_text_are_read_by_pointer_and_keyboard(text: Page) -> None:
    words(text)[1].hover()
    assert reading(text) == "good → row 1 0.600, row 2 0.100"
    text.locator(".regard-row-name").nth(1).hover()
    assert reading(text).startswith(f"row 2 ← {HOSTILE} 0.700")
    words(text)[0].focus()
    text.keyboard.press("ArrowRight")
    assert reading(text).startswith("good → ")
    text.check("input[value=map]")
    assert text.locator(".regard-word").count() == 0
    text.check("input[value=text]")
    assert text.locator(".regard-viewer").nth(1).locator(".regard-word").count() == 6


def words(page: Page) -> list[Locator]:
    return page.locator(".regard-viewer").first.locator(".regard-word").all()


def labels(page: Page, side: str, viewer: int = 0) -> list[str]:
    return page.locator(".regard-viewer").nth(viewer).locator(f".label[data-side={side}]").all_text_contents()


def reading(page: Page) -> str:
    return page.locator(".regard-reading").first.inner_text()


def opacity(page: Page, row: int, column: int) -> float:
    cell = page.locator(".regard-viewer").first.locator(f".cell[data-row='{row}'][data-column='{column}']")
    return float(cell.get_attribute("fill-opacity") or "nan")


def test_symbols_and_weights_are_those_of_the_panel(page: Page) -> None:
    assert labels(page, "row") == ["K", HOSTILE]
    assert labels(page, "column") == ["c", "a", "t"]
    assert page.locator("img").count() == 0
    for row, column in np.ndindex(2, 3):
        assert opacity(page, row, column) == pytest.approx(WEIGHTS[row, column] / 0.9, abs=1e-3)
    assert page.locator("rect.mark").count() == 1


def test_pointing_at_a_symbol_reads_its_row_or_column(page: Page) -> None:
    page.locator(".label[data-side=row]").first.hover()
    assert reading(page) == "K ← c 0.700, a 0.200, t 0.100"
    page.locator(".label[data-side=column]").nth(1).hover()
    assert reading(page) == f"a → {HOSTILE} 0.900, K 0.200"
    page.locator(".cell[data-row='1'][data-column='0']").first.hover()
    assert reading(page) == f"{HOSTILE} ← c 0.050"
    page.mouse.move(0, 0)
    assert reading(page).startswith("Largest weight 0.900")


def test_lines_and_threshold(page: Page) -> None:
    ribbons = page.locator(".regard-viewer").first.locator(".ribbon:not(.mark)")
    page.check("input[value=lines]")
    assert ribbons.count() == (WEIGHTS >= 0.09).sum() == 4
    page.locator("input[type=range]").fill("0.5")
    assert ribbons.count() == 2
    assert page.locator("output").inner_text() == "0.50"
    page.check("input[value=map]")
    assert page.locator(".regard-viewer").first.locator(".cell").count() == 2
    page.locator("input[type=range]").fill("0")
    assert page.locator(".regard-viewer").first.locator(".cell").count() == 6


def test_the_keyboard_does_all_of_it(page: Page) -> None:
    page.evaluate("document.addEventListener('regard:row', (event) => { window.heard = event.detail.row })")
    page.keyboard.press("Tab")  # map or lines
    page.keyboard.press("ArrowRight")
    assert page.is_checked("input[value=lines]")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")  # the threshold
    page.keyboard.press("Tab")  # the source of the first panel: one stop, however many symbols
    assert reading(page).startswith("c → K 0.700")
    page.keyboard.press("ArrowRight")
    assert reading(page).startswith("a → ")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert reading(page).startswith(HOSTILE)
    page.keyboard.press("Enter")
    assert page.evaluate("window.heard") == 1


def test_right_to_left_sentences_begin_on_the_right(page: Page) -> None:
    page.check("input[value=lines]")
    places = [
        page.locator(".regard-viewer").nth(1).locator(".label[data-side=row]").nth(number).bounding_box()
        for number in range(3)
    ]
    across = [place["x"] for place in places if place]
    assert across == sorted(across, reverse=True)


def test_dark_where_asked_for(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != light


def test_a_phone_scrolls_the_drawing_not_the_page(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    for kind in ("lines", "map"):
        page.check(f"input[value={kind}]")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_two_hundred_symbols_keep_their_labels_in_sight(browser: Browser, tmp_path: Path) -> None:
    names = [f"w{number}" for number in range(200)]
    save([Panel(np.eye(200), names, names, "large")], tmp_path / "x.html")
    with browser.new_context(viewport={"width": 900, "height": 700}) as context:
        page = context.new_page()
        page.goto((tmp_path / "x.html").as_uri())
        page.evaluate("document.querySelector('.regard-stage').scrollTo(2000, 2500)")
        stage = page.locator(".regard-stage").bounding_box()
        heads, sides = (page.locator(f".regard-{name}").bounding_box() for name in ("heads", "sides"))
        assert stage
        assert heads
        assert sides
        assert heads["y"] == pytest.approx(stage["y"], abs=1)
        assert sides["x"] == pytest.approx(stage["x"], abs=1)


@contextmanager
def scene(browser: Browser, panel: Panel, path: Path, **how: Any) -> Iterator[Page]:
    """A picture or a clip: still no network, and nothing to complain about."""
    save([panel], path, **how)
    wrong: list[str] = []
    with browser.new_context(offline=True, viewport={"width": 390, "height": 700}) as context:
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(path.as_uri())
        yield page
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert [one for one in wrong if "willReadFrequently" not in one] == []  # said to this test, which reads the veil


def veil(page: Page) -> "np.ndarray[Any, Any]":
    """(R, C, 4)"""
    code = "e => [e.height, e.width, ...e.getContext('2d').getImageData(0, 0, e.width, e.height).data]"
    rows, columns, *dots = page.locator(".regard-veil").evaluate(code)
    return np.array(dots).reshape(rows, columns, 4)


def test_a_word_lights_what_it_looked_at(browser: Browser, tmp_path: Path) -> None:
    panel = on_plane(["a", HOSTILE], boxes=(Outline(1, 0.1, 0.2, 0.5, 0.6),))
    with scene(browser, panel, tmp_path / "x.html") as page:
        assert page.locator(".regard-plane img").count() == page.locator("img").count() == 1
        assert page.evaluate("document.querySelector('.regard-plane img').naturalWidth") == 60
        assert page.locator(".regard-symbol").all_text_contents() == ["a", HOSTILE]
        assert veil(page)[..., 3].max() == 0
        for row in (0, 1):
            page.locator(".regard-symbol").nth(row).hover()
            grey, alpha = veil(page)[..., 0] / 255, veil(page)[..., 3] / 255
            shares = np.asarray(panel.weights)[row].reshape(2, 3) / np.max(np.asarray(panel.weights)[row])
            assert grey * alpha / 0.45 == pytest.approx(shares, abs=0.02)
            assert page.locator(".regard-marks .mark").count() == row
        page.locator(".regard-symbol").first.focus()
        page.keyboard.press("ArrowRight")
        assert reading(page).startswith(HOSTILE)
        frame = page.locator(".regard-plane").bounding_box()
        assert frame
        page.mouse.move(frame["x"] + 0.9 * frame["width"], frame["y"] + 0.9 * frame["height"])
        assert reading(page).startswith("2:3 → ")
        page.check("input[value=map]")
        assert page.locator(".cell").count() > 0


def test_a_line_of_urdu_has_its_letters_at_their_places(browser: Browser, tmp_path: Path) -> None:
    panel = on_plane(list("کتاب"), (1, 12), weights=np.eye(12)[[10, 7, 4, 1]], line=True)
    with scene(browser, panel, tmp_path / "x.html") as page:
        frame = page.locator(".regard-plane").bounding_box()
        assert frame
        for number, column in enumerate([10, 7, 4, 1]):
            place = page.locator(".regard-symbol").nth(number).bounding_box()
            assert place
            middle = (place["x"] + place["width"] / 2 - frame["x"]) / frame["width"]
            assert middle == pytest.approx((column + 0.5) / 12, abs=0.01)


def test_an_animation_walks_through_the_words_until_stopped(browser: Browser, tmp_path: Path) -> None:
    with scene(browser, on_plane(["a", "b"]), tmp_path / "x.html", kind="animation") as page:
        page.wait_for_selector(".regard-symbol.on >> text=b")
        page.wait_for_selector(".regard-symbol.on >> text=a")
        page.click(".regard-play")
        assert page.inner_text(".regard-play") == "Play"


def test_frames_stand_above_their_cells(browser: Browser, tmp_path: Path) -> None:
    panel = on_clip(["a", "b"], 5, marked=frozenset({(1, 2)}))
    table = np.asarray(panel.weights)
    with scene(browser, panel, tmp_path / "x.html") as page:
        assert page.locator(".regard-frame img").count() == 5
        cells = page.locator(".regard-shade")
        shares = [float(one.evaluate("e => parseFloat(e.style.getPropertyValue('--share'))")) for one in cells.all()]
        assert shares == pytest.approx((100 * table / table.max()).ravel().tolist(), abs=0.06)
        assert page.locator(".regard-shade.mark").count() == 1
        page.locator(".regard-name.label").nth(1).hover()
        assert reading(page).startswith("b ← ")
        lit = [
            float(one.evaluate("e => e.style.getPropertyValue('--share')"))
            for one in page.locator(".regard-frame").all()
        ]
        assert int(np.argmax(lit)) == int(table[1].argmax())
