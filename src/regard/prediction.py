"""An answer, with where it looked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.pictures import Panel, Scene

HEADING = 70  # columns of a terminal that a heading may take, before the source in it is shortened
SHORTENED = 24  # columns that are left of such a source
LONG = 40  # tokens; what several rows of a chosen answer looked at in a longer source is legible as text only


class Span(NamedTuple):
    """Where an answer stands in the source: characters begin … end − 1."""

    begin: int
    end: int


class Look(NamedTuple):
    """Further weights behind an answer, with labels of their own: of sentences, between two texts, of each round."""

    name: str
    weights: NDArray[np.float32]  # (rows, columns)
    rows: list[str]
    columns: list[str]
    axes: tuple[str, str] = ("", "")  # what rows and columns are; empty: it need not be said

    def to_dict(self) -> dict[str, Any]:
        named = {"axes": list(self.axes)} if any(self.axes) else {}
        return {
            "name": self.name,
            "weights": self.weights.tolist(),
            "rows": self.rows,
            "columns": self.columns,
            **named,
        }


class Sight(Protocol):
    """A picture or a clip that is not drawn, and perhaps not even read, unless somebody asks."""

    def measures(self) -> dict[str, Any]: ...  # as JSON: how many cells or frames there are

    def scene(self) -> "Scene": ...


@dataclass(frozen=True)
class Prediction:
    """What a run answers to one source.

    `attention[t, j]` is the weight of source token j when output token t was written; each row sums to 1, but for what
    a sentinel has of it.
    It is None for a model without attention. Where an answer is chosen, not written, `attention_rows` names the rows.
    """

    source: str
    output: str
    score: float  # log probability over length^penalty, plus the coverage penalty
    log_probability: float
    source_tokens: list[str]
    output_tokens: list[str]
    attention: NDArray[np.float32] | None
    finished: bool = True  # False: it reached the length limit before it wrote an end
    unknown: list[str] = field(default_factory=list)  # source symbols never seen in training, read as unknown
    nbest: list["Prediction"] = field(default_factory=list)  # best first, this one included, when asked for
    probabilities: Mapping[str, float] | None = None  # of every class, likeliest first, where one is chosen
    span: Span | None = None  # where the answer stands in the source, if that is where it was found
    attention_rows: Sequence[str] = ()  # what looked; empty: the output tokens
    lines: Sequence[int] = ()  # tokens of each sentence or turn of the source; empty: it is one
    line_weights: Sequence[float] = ()  # of the sentences or turns
    copied: Sequence[tuple[int, int]] = ()  # (t, j): output token t was copied from source token j
    looks: Sequence[Look] = ()  # further weights behind the answer
    left_out: int = 0  # source tokens beyond what the run reads
    axes: tuple[str, str] | None = None  # what the rows and columns of the attention are, if not output and source
    sight: Sight | None = field(default=None, repr=False, compare=False)  # what was looked at, if that is no text
    question: str = ""  # what was asked about it

    @property
    def scene(self) -> "Scene | None":
        """What pictures draw under the weights, read now: the source's cells or frames are its tokens."""
        return None if self.sight is None else self.sight.scene()

    def to_dict(self) -> dict[str, Any]:
        """As `regard predict --json` prints it."""
        content: dict[str, Any] = {
            "source": self.source,
            "output": self.output,
            "score": self.score,
            "source_tokens": self.source_tokens,
            "output_tokens": self.output_tokens,
            "attention": None if self.attention is None else self.attention.tolist(),
        }
        if not self.finished:
            content["finished"] = False
        if self.unknown:
            content["unknown"] = self.unknown
        if self.probabilities:
            content["probabilities"] = dict(self.probabilities)
        if self.span:
            content["span"] = list(self.span)
        for name in ("attention_rows", "axes", "lines", "line_weights", "copied", "left_out"):
            if value := getattr(self, name):
                content[name] = value if isinstance(value, int) else list(value)
        if self.sight:
            content |= self.sight.measures()
        if self.looks:
            content["looks"] = [look.to_dict() for look in self.looks]
        if self.nbest:
            content["nbest"] = [one.to_dict() for one in self.nbest]
        return content

    @property
    def title(self) -> str:
        """Source → output, the source shortened where both are too long for a heading; where the answer was chosen or
        pointed at, only that, and how sure it is, after the question if there was one."""
        if self.probabilities is not None:
            chosen = f"{self.output} {self.probabilities.get(self.output, 0.0):.2f}"
            return _heading(self.question, chosen) if self.question else chosen
        if self.span is not None:
            return f"{self.output} {exp(self.log_probability):.2f}"
        return _heading(self.source, self.output)

    @property
    def has_weights(self) -> bool:
        """Whether there is anything to draw."""
        return self.attention is not None or bool(self.looks)

    def _span_places(self) -> list[int]:
        """Which source tokens lie in the span, found one after the other in the source."""
        places, begin, text = [], 0, self.source.lower()
        for place, token in enumerate(self.source_tokens if self.span else ()):
            found = text.find(token.lower(), begin)
            if found >= 0 and self.span and found < self.span.end and found + len(token) > self.span.begin:
                places.append(place)
            begin = found + len(token) if found >= 0 else begin
        return places

    def panel(self, title: str | None = None) -> "Panel":
        """What `regard.pictures` draws of it, with `title` for a heading unless told otherwise."""
        from regard.pictures import Panel
        from regard.pictures.panel import AXES

        if self.attention is None:
            raise UsageError(
                "there is no attention to draw: the run was trained without any (model.attention: none, or a recipe "
                "such as last-state, read-plain or model); a run of another recipe shows where it looks"
            )
        rows = self.attention_rows or self.output_tokens
        places = self._span_places()
        chosen = self.probabilities is not None or self.span is not None
        is_text = chosen and self.sight is None and (len(rows) == 1 or len(self.source_tokens) > LONG)
        return Panel(
            self.attention,
            rows,
            self.source_tokens,
            self.title if title is None else title,
            frozenset(self.copied),
            tuple(self.lines) or ((len(self.source_tokens),) if is_text else ()),
            tuple(self.line_weights) if len(rows) == 1 else (),  # of several rows they are a mean, which none has
            self.axes or (("", "source") if self.attention_rows else AXES),
            "map" if self.lines and not chosen else "",  # as a text, there would be a copy for each symbol written
            (places[0], places[-1] + 1) if places else (0, 0),
            self.scene,
        )

    def panels(self, title: str | None = None) -> "list[Panel]":
        """The answer's attention, if there is any, and all further weights behind it, each with its name."""
        from regard.pictures import Panel

        further = [Panel(look.weights, look.rows, look.columns, look.name, axes=look.axes) for look in self.looks]
        return further if self.attention is None and further else [self.panel(title), *further]

    def save(self, path: str | Path, *, kind: str = "auto") -> None:
        """A picture of a kind that `regard.pictures` knows, or what suits it, by the ending: .svg, .png, .pdf, .gif,
        .html (interactive) or .json."""
        from regard.pictures import save

        save(self.panels(), path, kind=kind)

    def show(self, *, kind: str = "auto") -> None:
        """In a notebook the picture; in a terminal characters: a map, a list, a highlighted text, a grid of shades."""
        from regard.pictures import show

        show(self.panels(), kind=kind)

    def _repr_html_(self) -> str | None:
        """A notebook shows the picture by itself; an answer without attention is shown as any other object."""
        from regard.pictures import draw_svg

        return draw_svg(self.panels()) if self.has_weights else None

    def __str__(self) -> str:
        return self.output


def _heading(source: str, output: str) -> str:
    from regard.pictures.labels import cells, cut

    return f"{cut(source, max(HEADING - 3 - cells(output), SHORTENED))} → {output}"
