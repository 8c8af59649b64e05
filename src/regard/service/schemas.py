"""What comes and goes over HTTP, checked by pydantic; the OpenAPI description is made of these."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.prediction import Prediction

LONG = 1_000_000  # characters; what the service takes is in its limits, and the description says so
Text = Annotated[str, Field(max_length=LONG, examples=["attention"])]
FILE = "; for a model that looks at files, one as data:image/png;base64,…"
Source = Annotated[str, Field(max_length=1000 * LONG, examples=["attention"])]
Symbol = Annotated[str, Field(min_length=1, max_length=1000)]
Symbols = Annotated[list[Symbol], Field(max_length=10_000, examples=[["AH", "T"]])]
Penalty = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(None, description="Name of a model; the first by default.", max_length=1000)
    features: str = Field("", description="For models that read them.", max_length=10_000, examples=["V;PST;3;SG"])


class Predict(_Asked):
    """One source, or several; and how to look for their answers."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"source": "attention", "beam": 5, "nbest": 3}],
            "oneOf": [{"required": ["source"]}, {"required": ["sources"]}],
        }
    )

    source: Source | None = Field(None, description=f"What to answer{FILE}.")
    sources: list[Source] | None = Field(
        None, description="Instead of `source`: several.", min_length=1, max_length=10_000
    )
    beam: int | None = Field(None, ge=1, le=1000, description="Hypotheses kept side by side; 1 is greedy.")
    nbest: int = Field(0, ge=0, le=1000, description="Answers to each source, best first; 0: only the best.")
    prefix: Symbols | Text = Field("", description="Every answer begins with these symbols, or with this text.")
    length_penalty: Penalty | None = Field(None, description="score = log p / length^this")
    coverage_penalty: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = Field(
        None, description="Weight of unread source places in the score."
    )
    no_repeat: int | None = Field(None, ge=0, le=1000, description="Never write the same n symbols twice.")

    @model_validator(mode="after")
    def _one_of_both(self) -> "Predict":
        if (self.source is None) == (self.sources is None):
            raise ValueError("give either source or sources")
        return self

    @property
    def given(self) -> dict[str, str]:
        """The sources by the names of their fields."""
        if self.source is not None:
            return {"source": self.source}
        return {f"sources.{number}": source for number, source in enumerate(self.sources or [])}


class Force(_Asked):
    """A source and a given answer to it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"source": "cat", "target": "K AE1 T"}]})

    source: Source = Field(description=f"A text{FILE}.")
    target: Symbols | Text = Field(description="A text, or its symbols.")


class Choices(_Asked):
    """A source, and how its answer begins."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"source": "cat", "prefix": ["K"], "count": 5}]})

    source: Source = Field(description=f"A text{FILE}.")
    prefix: Symbols | Text = Field("", description="The answer so far.")
    count: int = Field(10, ge=1, le=50, description="How many.")


class Picture(_Asked):
    """A source and an answer, to be drawn."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"source": "cat", "target": ["K", "AE1", "T"], "format": "svg"}]}
    )

    source: Source = Field(description=f"A text{FILE}.")
    target: Symbols | Text | None = Field(
        None, description="A text, or its symbols; the model's own answer by default."
    )
    format: Literal["svg", "png", "pdf", "gif", "html", "json"] = "svg"
    kind: Literal["auto", "map", "lines", "text", "overlay", "places", "filmstrip", "animation"] = Field(
        "auto",
        description="A heat map, lines between the two sides, or highlighted words; over a picture or clip that was "
        "looked at, overlay, places, animation or filmstrip. By default what suits it.",
    )


class FurtherWeights(BaseModel):
    name: str
    weights: list[list[float]]
    rows: list[str]
    columns: list[str]
    axes: tuple[str, str] = Field(("", ""), description="What rows and columns are. Absent where it need not be said.")


class Answer(BaseModel):
    """attention[t][j] is the weight of source token j when output token t was written; null without attention."""

    source: str
    output: str
    score: float
    log_probability: float
    source_tokens: list[str]
    output_tokens: list[str]
    attention: list[list[float]] | None
    finished: bool = Field(True, description="False: it reached the length limit. Absent otherwise.")
    unknown: list[str] = Field([], description="Source symbols never seen in training. Absent when there are none.")
    probabilities: dict[str, float] = Field({}, description="Of every class, likeliest first, where one is chosen.")
    span: tuple[int, int] | None = Field(None, description="Characters of the source where the answer stands.")
    attention_rows: list[str] = Field([], description="What looked, where that is not the output tokens.")
    axes: tuple[str, str] | None = Field(None, description="What rows and columns are, if not output and source.")
    lines: list[int] = Field([], description="Tokens of each sentence or turn of the source, where it has several.")
    line_weights: list[float] = Field([], description="Of the sentences or turns.")
    copied: list[tuple[int, int]] = Field([], description="(t, j): output token t was copied from source token j.")
    looks: list[FurtherWeights] = Field([], description="Further weights behind the answer.")
    left_out: int = Field(0, description="Source tokens beyond what the model reads.")
    grid: tuple[int, int] | None = Field(
        None, description="Rows and columns of cells of a picture; row by row they are the source tokens."
    )
    frames: int = Field(0, description="Frames of a clip that were seen: they are the source tokens.")
    nbest: list["Answer"] = Field([], description="Best first, when asked for.")


class Answers(BaseModel):
    model: str
    predictions: list[Answer]


class NextSymbol(BaseModel):
    symbol: str = Field(description="Empty: the end of the answer.")
    probability: float


class NextSymbols(BaseModel):
    model: str
    choices: list[NextSymbol]


class Looks(BaseModel):
    """How a model looks at a file."""

    kind: Literal["picture", "clip"]
    fit: Literal["square", "height", "within", "whole"] = Field(
        description="The middle square is seen; or all: at one height, up to a size, or its longer side at that size."
    )
    size: int = Field(description="Pixels of the side or height that is seen.")
    line: bool = Field(description="Whether pictures are lines of writing.")
    every: int = Field(description="Of a clip, each so many-th frame is seen,")
    frames: int = Field(description="and at most so many frames.")


class ModelCard(BaseModel):
    name: str
    task: str
    weights: int | None = Field(description="How many numbers were learnt; null for an exported run.")
    features: bool = Field(description="Whether it reads a second text beside the source.")
    beside: str = Field(description="What that text is: features, a hypothesis, a question.")
    writes: bool = Field(description="Whether it writes answers symbol by symbol: only then can they be forced.")
    attends: bool = Field(description="Whether its answers have attention.")
    longest: int = Field(description="The longest source it reads, in symbols.")
    exported: bool
    looks: Looks | None = Field(description="How it looks at files; null for a model that reads texts.")


class ModelCards(BaseModel):
    models: list[ModelCard]
    beam: int = Field(description="The widest beam that may be asked for.")
    nbest: int = Field(description="The most answers to a source that may be asked for.")
    picture: int = Field(description="The most bytes that the files of a request may have.")


class Health(BaseModel):
    status: Literal["ok"]
    version: str
    models: int
    waiting: int = Field(description="Sources that wait for an answer.")


class Problem(BaseModel):
    message: str
    fix: str = Field("", description="What would help. Absent when unknown.")
    request_id: str


class Problems(BaseModel):
    error: Problem


def written(prediction: Prediction) -> dict[str, Any]:
    """A prediction as an `Answer`."""
    alone = replace(prediction, nbest=[])
    content: dict[str, Any] = {**alone.to_dict(), "log_probability": prediction.log_probability}
    if prediction.nbest:
        content["nbest"] = [written(one) for one in prediction.nbest]
    return content
