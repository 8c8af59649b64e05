"""Every option on one page.

A recipe travels: `recipes/pronounce.yaml` (draft.py) → `Recipe` (frozen dataclasses, checked by pydantic in settings.py
and nowhere else) → plain numbers in constructors. Networks never see a recipe.
"""

import dataclasses
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, StrictInt

Symbols = Literal["graphemes", "tokens", "words", "subwords"]
Size = Annotated[int, Field(ge=1, le=2**16)]  # upper bounds: a hostile recipe must not ask for all memory or time
Pair = Annotated[int, Field(ge=2, le=2**16)]
Reach = Annotated[int, Field(ge=0, le=2**16)]
Few = Annotated[int, Field(ge=1, le=64)]
Width = Annotated[int, Field(ge=1, le=1000)]
Ratio = Annotated[float, Field(ge=0, le=1000)]
Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
PartShare = Annotated[float, Field(ge=0, lt=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Term = Literal["location", "coverage", "position", "markov", "fertility", "plane"]
Terms = Annotated[tuple[Term, ...], Field(max_length=6)]
Stages = Annotated[tuple[Size, ...], Field(min_length=1, max_length=6)]
Parts = tuple[Few, Few]
MOST_HOPS = 8
Blank = Annotated[str, Field(min_length=1, max_length=64)]


def option(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


class _Section:
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Data(_Section):
    """Which columns are read, and what is left out."""

    source_column: StrictInt | str = option(1, "column of the source: a number from 1, or a name in the header")
    target_column: StrictInt | str = option(2, "column of the target")
    features_column: StrictInt | str | None = option(
        None, "column of what is read beside the source (features, hypothesis, question), or null"
    )
    where_column: StrictInt | str | None = option(
        None, "column of what is known of places: word links (0-2 1-1), or the character where a span begins; or null"
    )
    lowercase: bool = option(False, "lower-case sources and targets; classes stay as they are")
    dev_share: float = option(0.05, "share of the sources held back when no dev file is given")
    longest: Count = option(1000, "longest source or target, in symbols; longer pairs are left out and counted")
    embeddings: str | None = option(
        None, "word vectors that the source's symbols begin with: a text file (GloVe, word2vec; .gz), glove, or null"
    )
    embeddings_target: str | None = option(None, "the same for the target's symbols")


@dataclass(frozen=True)
class Side(_Section):
    """How a text becomes symbols."""

    symbols: Symbols = option("graphemes", "graphemes, tokens (between spaces), words (and punctuation) or subwords")
    subwords: Size = option(8000, "how many subwords SentencePiece learns, where symbols are subwords")
    least: Count = option(1, "symbols seen less often than this in training are unknown")


@dataclass(frozen=True)
class Model(_Section):
    """The parts and their sizes."""

    attention: Literal["soft", "hard", "monotonic", "fixed", "none", "abs"] = option(
        "soft",
        "soft; hard (one place is drawn: Xu et al. 2015); monotonic (exact, hard); fixed (the source's summary at "
        "every step); none (summary starts s_0 only); abs (no recurrence: Rush et al. 2015)",
    )
    score: Literal["dot", "scaled", "projected", "bilinear", "additive", "mlp"] = option(
        "additive", "how well a query fits a key"
    )
    normalise: Literal["softmax", "sparsemax", "entmax15"] = option("softmax", "energies → weights")
    terms: Terms = option((), "what an energy also sees of past weights, or of places (position)")
    term_width: Size = option(5, "places a term sees at once, odd")
    window: Reach = option(0, "reach of Luong's local-p window on either side, or of abs's mean; 0 is no window")
    heads: Few = option(1, "attention heads")
    compare: Size = option(256, "size in which queries and keys are compared")
    jump: Reach = option(8, "longest jump with a bias of its own, in monotonic attention")
    query: Literal["previous", "current", "between"] = option(
        "previous", "which state asks: s_{t-1} (Bahdanau), s_t (Luong), or one between two cells (conditional GRU)"
    )
    gate: bool = option(False, "each step says how much of its context it wants (Xu et al. 2015)")
    input_feeding: bool = option(False, "feed the last readout into the cell")
    cell: Literal["tanh", "sigmoid", "gru", "lstm", "lstmn"] = option(
        "lstm", "recurrent cell of encoder and decoder; lstmn looks back at all its states"
    )
    embed: Size = option(128, "size of a symbol's vector")
    hidden: Pair = option(256, "size of the decoder's state; each encoder direction has half")
    encoder_layers: Few = option(1, "layers of the encoder")
    decoder_layers: Few = option(1, "layers of the decoder")
    bidirectional: bool = option(True, "read the source in both directions")
    residual: bool = option(False, "add each layer's input to its output, from the second layer on")
    start: Literal["zero", "learned", "last", "same", "mean"] = option("last", "the decoder's first state")
    output: Literal["state", "plain", "attentional", "deep", "maxout"] = option(
        "attentional", "state and context → symbol"
    )
    readout: Size = option(256, "size of the readout before the symbols")
    tie: bool = option(False, "one matrix embeds and predicts target symbols (readout and embed of one size)")
    ctc: PartShare = option(0.0, "share of the CTC loss on the encoder's values, beside the decoder's; 0 is no CTC")
    reverse: Amount = option(0.0, "weight of a second decoder's loss, which writes answers from their end; 0 is none")
    dropout: PartShare = option(0.2, "dropout on embeddings, between layers and on the readout")
    variational: bool = option(False, "one dropout mask per sequence, in the decoder also on the recurrent state")
    freeze: bool = option(False, "symbols that begin with word vectors (data.embeddings) keep them: no update")
    doubly: Amount = option(0.0, "weight of Σ_j (1 − Σ_t α_tj)²: each place is to be looked at once in all; 0 is none")
    localization: Amount = option(0.0, "weight of how widely each step's weights are spread; 0 is none")
    localization_kind: Literal["variance", "gini"] = option(
        "variance", "how that is measured: by the distance of places, or by their number"
    )
    reinforce: Amount = option(1.0, "hard attention: weight of what the success of its draws teaches")
    entropy: Amount = option(0.002, "hard attention: what it is worth to stay undecided")
    expected: Share = option(0.5, "hard attention: how often a source is read softly instead")
    samples: Few = option(1, "hard attention: how often a batch is read")
    fertility: Amount = option(0.0, "weight of −log p of how much of each source symbol is written; 0 is none")
    agreement: Amount | None = option(
        None, "a second model, target → source, learns beside; γ: what it is worth that both look alike; or null"
    )
    supervision: Amount = option(0.0, "weight of the given links' loss on the attention; 0 is none")
    supervision_kind: Literal["cross-entropy", "squared"] = option(
        "cross-entropy", "how attention is held against given links"
    )
    copy: Literal["none", "gate", "sentinel"] = option(
        "none", "source symbols may be copied: by a gate (See et al. 2017) or a sentinel place (Merity et al. 2016)"
    )
    order: Few = option(5, "last symbols that an abs decoder sees (C)")
    fusion: Literal["shallow", "deep"] = option(
        "shallow", "how an lstmn decoder reads the source: by attention beside the cell, or inside the cell"
    )


@dataclass(frozen=True)
class Training(_Section):
    """How long, how fast, and what is kept."""

    epochs: Count = option(50, "most passes over the training pairs")
    seed: int = option(1, "everything random follows from it")
    batch_tokens: Count = option(4000, "padded symbols per batch and process, at most")
    batch_size: Count = option(64, "pairs per batch and process, at most")
    accumulate: Count = option(1, "batches per update")
    optimiser: Literal["adam", "adamw"] = option("adam", "update rule")
    learning_rate: Amount = option(1e-3, "highest learning rate")
    weight_decay: Amount = option(0.0, "weight decay")
    warmup: Natural = option(0, "updates until the learning rate is reached")
    schedule: Literal["constant", "plateau", "cosine"] = option("plateau", "how the learning rate falls after warm-up")
    plateau_patience: Natural = option(3, "evaluations without improvement before the plateau schedule falls")
    plateau_factor: Share = option(0.5, "what the plateau schedule multiplies by")
    floor: Amount = option(1e-5, "lowest learning rate of plateau and cosine")
    clip: Amount = option(1.0, "longest gradient; 0 is no clipping")
    smoothing: PartShare = option(0.1, "label smoothing ε")
    own_words: Share = option(
        0.0, "scheduled sampling: how often it reads its own symbol, reached linearly over all epochs"
    )
    average: Literal["none", "ema", "checkpoints"] = option("ema", "which weights are evaluated and kept")
    ema: Share = option(0.999, "decay of the running average of weights")
    checkpoints: Count = option(5, "how many of the best checkpoints are averaged")
    precision: Literal["fp32", "bf16"] = option("fp32", "arithmetic of the forward pass")
    evaluate_every: Count = option(1, "epochs between evaluations on the dev pairs")
    patience: Natural = option(10, "evaluations without improvement before it stops; 0 is never")
    metric: str = option("auto", "what early stopping watches: auto is the task's own, or loss")
    save_seconds: Amount = option(60.0, "seconds between saved states; one is also saved at each epoch's end")
    strategy: Literal["ddp", "fsdp"] = option("ddp", "several processes: copies (ddp) or shards (fsdp) of the model")
    tensorboard: bool = option(False, "write TensorBoard scalars and attention pictures (needs the extra)")


@dataclass(frozen=True)
class Search(_Section):
    """How answers are looked for, unless the call says otherwise."""

    beam: Width = option(5, "hypotheses kept side by side; 1 is greedy")
    length_penalty: Finite = option(1.0, "score = log p / length^this")
    coverage_penalty: Amount = option(0.0, "weight of Σ log min(coverage, 1) in the score")
    ctc: Amount = option(0.5, "weight of CTC's log p in the score of a beam's answers, where the model has CTC")
    reverse: Amount = option(1.0, "the same for log p of the decoder from the end, where the model has one")
    shortest: Reach = option(0, "fewest symbols of an answer")
    longest_ratio: Ratio = option(2.0, "most symbols of an answer: this times the source's, plus longest_extra")
    longest_extra: Reach = option(10, "see longest_ratio")
    no_repeat: Reach = option(0, "never write the same n symbols twice; 0 is no rule")


@dataclass(frozen=True)
class Choose(_Section):
    """How a source becomes one vector, where a class is chosen."""

    of: Literal["text", "picture", "clip"] = option("text", "what is classified")
    levels: Literal[1, 2] = option(1, "1: a text is one sequence; 2: words of sentences are read, then the sentences")
    pool: Literal["last", "mean", "max", "attention", "structured"] = option(
        "attention", "values → one vector: the last states, mean, maximum, a learned query, or several (structured)"
    )
    size: Size = option(100, "size in which learned queries and values are compared")
    rows: Few = option(8, "how many learned queries a structured pool has")
    penalty: Amount = option(0.0, "weight of ‖A Aᵀ − I‖², which keeps the rows of a structured pool apart")
    hidden: Reach = option(0, "size of a hidden layer before the classes; 0 is none")


@dataclass(frozen=True)
class Dialog(_Section):
    """How a conversation is read."""

    turns: Reach = option(4, "turns that are read, counted from the last; 0 is all")
    hierarchical: bool = option(True, "turns have an encoder and an attention of their own, above those of words")


@dataclass(frozen=True)
class Sentinel(_Section):
    """The pointer of a language model."""

    window: Annotated[int, Field(ge=0, le=10_000)] = option(
        0, "how many of its last words it may point at instead of the vocabulary; 0 is no pointer"
    )
    supervised: bool = option(False, "a loss of the pointer's own, beside that of the mixture")


@dataclass(frozen=True)
class Point(_Section):
    """How an answer is pointed at in a passage."""

    rounds: Few = option(4, "most rounds of pointing, each from where the last one pointed")
    pieces: Few = option(4, "linear pieces of each maxout, the p of max_p")
    longest_span: Size = option(30, "most tokens of an answer")
    blank: Blank = option("_____", "what stands for the missing word in a question with a blank")


@dataclass(frozen=True)
class Imply(_Section):
    """Which rows of a table of premises and hypotheses are learnt, where labels say how the two stand to each other."""

    label_column: StrictInt | str | None = option(None, "column of the label, or null: all rows are learnt")
    label: str = option("entailment", "rows with this label are learnt and the others left out; capitals do not count")


@dataclass(frozen=True)
class Entail(_Section):
    """How a premise and a hypothesis are put together."""

    reader: Literal["alignment", "words", "sentences"] = option(
        "alignment",
        "each word is compared with what the other text has for it (alignment), the hypothesis reads the premise word "
        "by word (words), or each text is read by itself (sentences)",
    )


@dataclass(frozen=True)
class Look(_Section):
    """How pictures and clips are seen."""

    encoder: str = option(
        "small",
        "small, vgg or dense, which learn from the start; or a trained one: efficientnet-lite0, efficientnet-lite2, "
        "timm:NAME",
    )
    freeze: bool = option(True, "a trained encoder stays as it is, and what it makes of a picture is kept on disk")
    fit: Literal["square", "height", "within", "whole"] = option(
        "square",
        "the middle at size × size; all of it, size high (lines), or within size × size, or its longer side size",
    )
    size: Size = option(96, "pixels, see fit")
    widest: Size = option(2048, "pixels of the widest picture, with fit=height")
    channels: Literal[1, 3] = option(3, "1: shades of grey; 3: colours")
    invert: bool = option(False, "dark becomes light: ink on paper")
    stages: Stages = option((32, 64, 128), "channels of each stage of a small encoder; each halves width and height")
    first: Reach = option(
        0, "channels of a convolution of stride 2 before the stages of a small encoder: a quarter of the work; 0: none"
    )
    bend: Annotated[float, Field(ge=0, le=0.5)] = option(
        0.0, "by how much pictures are slanted and made smaller, at most and at random, while they are learnt from"
    )
    growth: Size = option(24, "channels that each layer of a dense encoder adds")
    depth: Few = option(16, "layers of each of the three blocks of a dense encoder")
    norm: Literal["channels", "places"] = option(
        "channels",
        "each layer is normalised over the channels of a place, or over the places of each channel: better for ink",
    )
    columns: bool = option(
        False, "lines (fit=height): a place is a whole column of cells, and a recurrent layer reads along the line"
    )
    project: Reach = option(0, "size of a linear layer behind a trained, frozen encoder; 0 is none")
    every: Count = option(1, "of a clip, every so manyth frame is seen")
    frames: Size = option(32, "frames of a clip that are seen, at most, evenly spaced")
    local: bool = option(False, "clips: 3-D convolutions see short motions, beside what is seen in each frame")
    motions: Stages = option((16, 32, 64), "channels of each 3-D convolution; each halves width and height")
    pool: Literal["mean", "max"] = option(
        "mean",
        "clips: a frame is the mean of its cells, or the highest of each channel, for small things in large frames",
    )
    parts: Parts = option(
        (1, 1), "clips: rows and columns in which a frame is pooled; their vectors stand side by side"
    )
    moving: bool = option(False, "clips: of each pixel is seen how far it is from its mean over the frames of its clip")
    shift: Reach = option(
        0, "clips: by how many pixels a clip is moved, at most and at random, while it is learnt from"
    )
    states: Literal["alone", "beside", "none"] = option(
        "alone", "clips: states of a recurrent layer stand for the frames; beside what is seen in each; or only that"
    )
    hops: Annotated[int, Field(ge=0, le=MOST_HOPS)] = option(
        2, "how often a question looks at the picture; 0: both are read as a whole"
    )
    layer: bool = option(
        True, "of a question that never looks, a layer reads the picture; without it [question; picture]"
    )
    words: bool = option(False, "a question asks with its words, each weighed by a learned query; else its last state")
    sharpness: Positive = option(
        1.0,
        "a look's energies are multiplied by it: the larger, the sooner its weights leave the even ones of the start",
    )
    names: Amount = option(
        0.0, "places learn to name the words of all that is asked and answered about a picture, and guide the looks"
    )


@dataclass(frozen=True)
class Recipe(_Section):
    """One system: a task and all its options."""

    task: str = option("pronounce", "what it does: the name of a task")
    about: str = option("", "one line about the recipe")
    data: Data = field(default_factory=Data)
    source: Side = field(default_factory=Side)
    target: Side = field(default_factory=Side)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)
    search: Search = field(default_factory=Search)
    choose: Choose = field(default_factory=Choose)
    dialog: Dialog = field(default_factory=Dialog)
    sentinel: Sentinel = field(default_factory=Sentinel)
    point: Point = field(default_factory=Point)
    imply: Imply = field(default_factory=Imply)
    entail: Entail = field(default_factory=Entail)
    look: Look = field(default_factory=Look)


class Described(NamedTuple):
    """An option for people."""

    name: str
    kind: str
    default: Any
    meaning: str


def describe(recipe: Recipe) -> list[Described]:
    """Every option of a recipe, in the order of this page."""
    lines = []
    for name, section in _sections(recipe):
        hints = get_type_hints(type(section))
        for one in dataclasses.fields(section):
            if "meaning" in one.metadata:
                dotted = f"{name}.{one.name}" if name else one.name
                kind = _type_name(hints[one.name])
                lines.append(Described(dotted, kind, getattr(section, one.name), one.metadata["meaning"]))
    return lines


def to_dict(recipe: Recipe) -> dict[str, Any]:
    return dataclasses.asdict(recipe)


@cache
def option_names() -> list[str]:
    return [line.name for line in describe(Recipe())]


def _sections(recipe: Recipe) -> list[tuple[str, Any]]:
    return [("", recipe), *((name, getattr(recipe, name)) for name in section_names())]


def section_names() -> list[str]:
    return [one.name for one in dataclasses.fields(Recipe) if isinstance(one.default_factory, type)]


def _type_name(hint: Any) -> str:
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(_type_name(one) for one in get_args(hint)).replace("NoneType", "null")
    text = hint.__name__ if isinstance(hint, type) else str(hint)
    return text.replace("typing.", "").replace("Literal", "one of ").replace("'", "")
