import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from regard.errors import UsageError
from regard.pictures import Panel, draw_text, show

PANELS = [Panel([[0.2, 0.8]], ["X"], ["a", "b"], "ab → X"), Panel([[1.0]], ["Y"], ["c"])]


def test_a_terminal_gets_characters(capsys: pytest.CaptureFixture[str]) -> None:
    show(PANELS)
    out = capsys.readouterr().out
    assert out.startswith("ab → X\n\n")
    assert "█" in out
    assert "\x1b" not in out  # what is not a terminal wants no colour
    show(PANELS, kind="lines")
    assert "X ← b 0.80  a 0.20" in capsys.readouterr().out


def test_no_line_is_wider_than_told_and_colour_comes_when_asked_for() -> None:
    long = Panel([[1 / 60] * 60], ["X"], [f"word{i}" for i in range(60)], "t " * 60)
    assert max(map(len, draw_text([long], width=40).splitlines())) <= 40
    assert "\x1b[48;5;" in draw_text(PANELS, colour=True)


class Notebook(ModuleType):
    """What of IPython a notebook's kernel offers."""

    def __init__(self, shell: Any) -> None:
        super().__init__("IPython")
        self.shown: list[str] = []
        self.get_ipython = lambda: shell
        self.display = SimpleNamespace(display=self.shown.append, HTML=lambda text: text)


def test_a_notebook_gets_the_picture(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    notebook = Notebook(SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", notebook.display)
    show(PANELS)
    assert notebook.shown[0].startswith("<svg ")
    assert capsys.readouterr().out == ""


def test_ipython_in_a_terminal_gets_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in (SimpleNamespace(), None):
        monkeypatch.setitem(sys.modules, "IPython", Notebook(shell))
        show(PANELS)
        assert "█" in capsys.readouterr().out


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="map, lines, text, overlay, places, filmstrip, animation and auto"):
        show(PANELS, kind="arcs")
