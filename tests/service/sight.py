"""What the tests of the page see with."""

import json
import re
import xml.etree.ElementTree as ElementTree

from playwright.sync_api import Page


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


def percent(probability: float) -> str:
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
