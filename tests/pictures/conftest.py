"""Fonts that are the same on every machine: matplotlib's own, and a few letters of Noto for three scripts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib import font_manager

from regard.pictures import fonts

FONTS = Path(__file__).parent / "fonts"
CACHES = (fonts._best, fonts._entries, fonts._has, fonts._has_bold, fonts._characters)


@pytest.fixture
def own_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    manager = font_manager.fontManager
    own = [entry for entry in manager.ttflist if "mpl-data" in Path(entry.fname).parts]
    monkeypatch.setattr(manager, "ttflist", own)
    monkeypatch.setattr(fonts, "_missed", set())
    for name in ("urdu.ttf", "hindi.ttf", "japanese.otf"):
        manager.addfont(FONTS / name)
    _forget()
    yield
    _forget()


def _forget() -> None:
    for cache in (*CACHES, font_manager.fontManager._findfont_cached):  # type: ignore[attr-defined]
        cache.cache_clear()
