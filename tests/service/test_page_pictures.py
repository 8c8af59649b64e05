"""The page for runs that look at pictures and clips: a real browser, files that are chosen, dropped and pasted."""

import base64
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator

from regard import Run
from regard.pictures import Plane, read
from regard.service.limits import Limits
from regard.service.models import Model
from tests.data.made import Pixels, animation, film, flat_frames, grey, noise, save
from tests.service.browser import Visit, chromium, visiting
from tests.service.http import Service, serving
from tests.service.looking import RED, reads, square, untrained
from tests.service.sight import CONTRASTS, tab_to, width

pytestmark = pytest.mark.xdist_group("browser")

MOST = 20_000  # bytes of a file


@pytest.fixture(scope="module")
def gallery(captions: Run) -> Iterator[Service]:
    chromium()  # without one, nothing need be served
    models = [
        Model("captions", captions),
        Model("questions", untrained("answer", "red", "blue", features="what colour ?")),
        Model("clips", untrained("describe", "up", "down", frames=4)),
        Model("lines", untrained("transcribe", "a", "b", fit="height", channels=1, invert=True, widest=64)),
        Model("texts", reads()),
    ]
    with serving(models, Limits(picture=MOST)) as service:
        yield service


@pytest.fixture(scope="module")
def home(gallery: Service) -> str:
    return f"{gallery.url}/"


@pytest.fixture
def red(tmp_path: Path) -> str:
    """Three times as wide as high: of this the run sees the middle."""
    return save(tmp_path / "red door.png", square("red", 24, 0, width=48))


def choose(visit: Visit, path: str) -> None:
    with visit.page.expect_response("**/v1/predict") as response:
        visit.page.set_input_files("#file", path)
    assert response.value.ok, response.value.text()
    visit.page.wait_for_selector("#result:not([aria-busy]):not([inert])")


def pixels(image: Locator) -> Pixels:
    """(H, W, 3) of an image or a veil, as the browser has it."""
    found = image.evaluate(PIXELS)
    return np.array(found["data"], dtype=np.uint8).reshape(found["height"], found["width"], 4)


PIXELS = """async (one) => {
    if (one.decode) await one.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [one.naturalWidth ?? one.width, one.naturalHeight ?? one.height];
    const brush = canvas.getContext("2d");
    brush.drawImage(one, 0, 0);
    const { data, width, height } = brush.getImageData(0, 0, canvas.width, canvas.height);
    return { data: [...data], width, height };
}"""


def test_a_picture_is_captioned_and_each_word_lights_its_region(visit: Visit, captions: Run, red: str) -> None:
    page, answer = visit.page, captions.predict(RED, beam=5)
    assert page.is_hidden("#source-field")
    assert "Choose a picture above" in page.inner_text("#empty")
    choose(visit, red)
    assert visit.words() == answer.output_tokens
    assert page.locator("#viewer .regard-symbol").all_text_contents() == answer.output_tokens
    for image in (page.locator("#viewer img"), page.locator("#preview img")):  # cut as the run saw it
        assert (pixels(image)[..., :3] == square("red", 8, 0)).all()
    veil = page.locator("#viewer .regard-veil")
    assert not pixels(veil).any()
    word = page.locator("#viewer .regard-symbol").nth(1)
    word.click()
    lit = pixels(veil)
    assert lit.shape == (4, 4, 4)
    assert answer.attention is not None
    brightest = np.unravel_index(int(answer.attention[1].argmax()), (4, 4))
    assert lit[..., 3].min() > 0
    assert lit[brightest][0] == lit[..., 0].max()  # white where it looked
    assert page.locator(".menu").count() == 0
    page.mouse.move(5, 5)
    assert (pixels(veil) == lit).all()  # until something else is chosen
    page.keyboard.press("ArrowRight" if len(visit.words()) > 2 else "ArrowLeft")
    assert not (pixels(veil) == lit).all()
    assert page.evaluate(CONTRASTS) == []
    assert "data:" not in page.url


def test_words_of_the_output_light_the_picture_and_can_be_replaced(visit: Visit, captions: Run, red: str) -> None:
    choose(visit, red)
    veil = visit.page.locator("#viewer .regard-veil")
    visit.page.locator("#output button").nth(1).hover()
    hovered = pixels(veil)
    assert hovered[..., 3].min() > 0
    visit.page.locator("#output button").nth(1).click()
    visit.page.wait_for_selector(".menu button:focus")
    visit.page.mouse.move(5, 5)
    assert (pixels(veil) == hovered).all()  # while another symbol is chosen
    visit.page.keyboard.press("Escape")
    visit.choose(1, "blue")
    assert visit.words() == captions.predict(RED, beam=5, prefix=[visit.words()[0], "blue"]).output_tokens


def test_everything_by_keyboard_in_the_dark_on_a_phone(browser: Browser, gallery: Service, red: str) -> None:
    phone = {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}
    with visiting(browser, f"{gallery.url}/", **phone) as visit:
        page = visit.page
        tab_to(page, "#file")
        assert page.get_by_label("Picture", exact=True).get_attribute("id") == "file"
        choose(visit, red)
        while not page.evaluate("document.activeElement.matches('#viewer .regard-symbol')"):
            page.keyboard.press("Tab")
        assert pixels(page.locator("#viewer .regard-veil"))[..., 3].min() > 0
        assert page.evaluate(CONTRASTS) == []
        assert width(page) <= 390


@pytest.mark.parametrize("event", ["drop", "paste"])
def test_a_picture_may_be_dropped_or_pasted(visit: Visit, captions: Run, red: str, event: str) -> None:
    with visit.page.expect_response("**/v1/predict"):
        visit.page.evaluate(GIVE, [event, base64.b64encode(Path(red).read_bytes()).decode()])
    visit.settle()
    assert visit.words() == captions.predict(RED, beam=5).output_tokens
    assert visit.page.evaluate("document.querySelector('#file').files[0].name") == "given.png"


GIVE = """([event, content]) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
    transfer.items.add(new File([bytes], "given.png", { type: "image/png" }));
    const how = { bubbles: true, cancelable: true };
    const given = event === "drop" ? new DragEvent(event, { ...how, dataTransfer: transfer })
        : new ClipboardEvent(event, { ...how, clipboardData: transfer });
    document.body.dispatchEvent(given);
}"""


def test_a_download_is_drawn_over_the_picture(visit: Visit, red: str, tmp_path: Path) -> None:
    choose(visit, red)
    visit.page.check("input[value=animation]")
    visit.page.click("#download")
    with visit.page.expect_download() as download:
        visit.page.locator(".menu button", has_text="PNG").click()  # which does not move
    assert download.value.suggested_filename == "red-door.png"
    download.value.save_as(tmp_path / "x.png")
    [panel] = read(tmp_path / "x.png")
    assert isinstance(panel.scene, Plane)
    assert list(panel.rows) == visit.words()
    visit.page.click("#download")
    assert "GIF" in visit.page.locator(".menu .label").all_text_contents()


def test_a_question_waits_for_its_picture_and_a_picture_for_its_question(visit: Visit, red: str) -> None:
    page = visit.page
    page.select_option("#model", "questions")
    page.set_input_files("#file", red)
    page.get_by_text("Give a question too.").wait_for()
    with page.expect_response("**/v1/predict") as response:
        page.fill("#features", "what colour ?")
    assert response.value.ok
    page.wait_for_selector("#result:not([aria-busy]) .chosen")
    assert page.inner_text("#output") in ("red", "blue")
    assert page.locator("#viewer .regard-symbol").all_text_contents() == ["1", "2"]  # looks
    page.locator("#viewer .regard-symbol").nth(1).click()
    assert pixels(page.locator("#viewer .regard-veil")).shape == (8, 8, 4)


def test_writing_is_shown_at_its_places(visit: Visit, tmp_path: Path) -> None:
    line = save(tmp_path / "line.png", noise(16, 40, 1))
    visit.page.select_option("#model", "lines")
    choose(visit, line)
    visit.choose(0, "a")  # so that the answer has a symbol, whatever random weights write
    assert visit.page.is_checked("input[value=places]")
    assert visit.page.locator("#viewer .regard-places .regard-symbol").count() == len(visit.words()) > 0
    assert pixels(visit.page.locator("#viewer img")).shape == (16, 40, 4)
    visible = visit.page.locator("#kinds label:visible").all_text_contents()
    assert visible == ["Overlay", "Places", "Animation", "Map"]


def test_a_clip_is_a_filmstrip_of_the_frames_that_were_seen(visit: Visit, tmp_path: Path) -> None:
    clip = animation(tmp_path / "c.gif", flat_frames(6))
    visit.page.select_option("#model", "clips")
    choose(visit, clip)
    frames = visit.page.locator("#viewer .regard-frame img")
    shades = [int(pixels(frames.nth(place))[..., 0].mean()) for place in range(frames.count())]
    assert shades == pytest.approx([grey(number) for number in (0, 2, 3, 5)], abs=3)  # as ClipView chooses
    assert visit.page.inner_text("label[for=file]") == "Clip"


def test_a_video_is_a_filmstrip_too(visit: Visit, tmp_path: Path) -> None:
    clip = film(tmp_path / "c.webm", flat_frames(4), "libvpx")
    visit.page.select_option("#model", "clips")
    choose(visit, clip)
    frames = visit.page.locator("#viewer .regard-frame img")
    assert frames.count() == 4
    shades = [pixels(frames.nth(place))[..., 0].mean() for place in range(4)]
    assert shades == pytest.approx([grey(number) for number in range(4)], abs=4)


def test_a_clip_that_the_browser_cannot_show_is_a_map(visit: Visit, tmp_path: Path) -> None:
    clip = film(tmp_path / "c.avi", flat_frames(3))
    visit.page.select_option("#model", "clips")
    choose(visit, clip)
    assert visit.page.is_checked("input[value=map]")
    assert visit.page.locator("#viewer .label[data-side=column]").all_text_contents() == ["1", "2", "3"]
    assert visit.page.is_hidden("#preview")


def test_what_is_wrong_with_a_file_is_said(visit: Visit, tmp_path: Path, red: str) -> None:
    visit.expected.append("Failed to load resource")
    page = visit.page
    choose(visit, red)
    (tmp_path / "text.png").write_text("no picture at all")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "large.png").write_bytes(b"x" * (MOST + 100_000))
    for name, said in (
        ("text.png", "is no picture"),
        ("empty.png", "The file is empty."),
        ("large.png", "The file has 120 kB, this server takes at most 20 kB."),
    ):
        page.set_input_files("#file", tmp_path / name)
        page.locator("#trouble", has_text=said).wait_for()
        assert page.is_hidden("#result")
    choose(visit, red)
    assert page.is_hidden("#trouble")


def test_a_run_that_reads_has_its_field_again(visit: Visit, red: str) -> None:
    choose(visit, red)
    visit.page.select_option("#model", "texts")
    assert visit.page.is_hidden("#file-field")
    assert "Type a source above" in visit.page.inner_text("#empty")
    visit.ask("cab")
    assert visit.page.locator("#kinds label:visible").all_text_contents() == ["Map", "Lines", "Text"]
    with visit.page.expect_response("**/v1/predict"):
        visit.page.select_option("#model", "captions")
    visit.page.wait_for_selector("#viewer .regard-veil")
