import re
from html.parser import HTMLParser

import pytest

from regard.errors import UsageError
from regard.pictures import Panel, draw_html
from regard.pictures.numbers import from_json
from regard.pictures.page import embedded

HOSTILE = "</script><img src=x onerror=alert(1)>]]><!--\"'\u2028"
PANEL = Panel([[0.25, 0.75]], [HOSTILE], [HOSTILE, "b"], HOSTILE)


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_no_label_breaks_out_of_the_data() -> None:
    page = draw_html([PANEL], title=HOSTILE)
    tags = Tags(page).found
    assert [tag for tag, _ in tags].count("script") == 2
    assert "img" not in [tag for tag, _ in tags]
    assert from_json(embedded(page)) == [PANEL]


def test_nothing_is_fetched_from_elsewhere() -> None:
    page = draw_html([PANEL])
    for tag, attributes in Tags(page).found:
        assert tag not in ("link", "img", "iframe", "object")
        assert not {"src", "href"} & set(attributes)
    rest = page.replace('"http://www.w3.org/2000/svg"', "")  # a name, not an address
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttp|eval\(|new Function", rest)
    policy = next(one["content"] for tag, one in Tags(page).found if "http-equiv" in one)
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_the_title_is_what_tells_pages_apart() -> None:
    def titled(page: str) -> str:
        found = re.search("<title>(.*)</title>", page)
        assert found
        return found[1]

    assert titled(draw_html([PANEL._replace(title="a → b")])) == "a → b"
    assert titled(draw_html([PANEL, PANEL])) == "attention weights"
    assert titled(draw_html([PANEL], title="two & two")) == "two &amp; two"


def test_the_kind_it_begins_with_must_exist() -> None:
    assert 'data-kind="lines"' in draw_html([PANEL], kind="lines")
    with pytest.raises(UsageError, match="map, lines, text, overlay, places, filmstrip, animation and auto"):
        draw_html([PANEL], kind="arcs")
