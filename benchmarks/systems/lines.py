"""Which systems are measured on which data, and how large they are. measure.py trains and measures them."""

from typing import NamedTuple


class Line(NamedTuple):
    name: str
    data: str  # of DATA
    train: str  # what `regard train` is given, below the folder of the data
    test: str
    task: str
    more: str = ""  # further options of `regard train`
    shown: str = ""  # metrics, the first is the one that counts
    how: str = "evaluate"  # or align: AER instead
    where: str = ""  # what else is measured of where it looks: spread, inside


def _imdb(recipe: str, epochs: int) -> tuple[str, ...]:
    return "imdb", "train.jsonl", "test.jsonl", "classify", f"--recipe {recipe} --epochs {epochs}", "accuracy macro_f1"


def _sick(task: str, more: str, shown: str) -> tuple[str, ...]:
    """The mark is on the dev part; training splits off its own."""
    return "sick", "train.tsv", "dev.tsv", task, more, shown


def _fairytale(kind: str, more: str, shown: str) -> tuple[str, ...]:
    ending = "tsv" if kind == "fill" else "jsonl"
    parts = f"{kind}-train.{ending} --dev {kind}-dev.{ending}", f"{kind}-test.{ending}"
    return "fairytale", *parts, kind, more, shown


def _chitchat(recipe: str) -> tuple[str, ...]:
    shown = "perplexity bleu chrf distinct1 distinct2"
    return "chitchat", "train8k.tsv --dev dev1k.tsv", "test1k.tsv", "respond", f"--recipe {recipe} --epochs 5", shown


def _lines(recipe: str) -> tuple[str, ...]:
    parts = "train.en --dev val.en", "test_2016_flickr.en"
    return "multi30k", *parts, "model", f"--recipe {recipe} --epochs 3 --set data.lowercase=true", "perplexity"


def _fused(recipe: str) -> tuple[str, ...]:
    sizes = "--epochs 3 --set data.lowercase=true --set model.hidden=256 --set model.dropout=0.2"
    return (*_PAIRS, "translate", f"--recipe {recipe} {sizes}", "bleu chrf")


def _biased(recipe: str) -> tuple[str, ...]:
    sizes = "hidden=192 embed=128 readout=128 compare=96 dropout=0.2"
    rates = "learning_rate=0.002 ema=0.99 metric=loss"
    options = f"--recipe {recipe} --epochs 3 {_set('model', sizes)} {_set('training', rates)}"
    return (*_PAIRS, "translate", options, "bleu chrf")


def _verses(recipe: str, more: str = "") -> tuple[str, ...]:
    """As in benchmarks/alignment.py, but for fewer epochs."""
    model = "query=current embed=64 readout=64 hidden=128 compare=64 dropout=0.1"
    rates = "learning_rate=0.004 warmup=100 smoothing=0 average=none metric=loss evaluate_every=4"
    sides = "--set data.lowercase=true --set source.least=2 --set target.least=2 --set source.symbols=subwords"
    sizes = f"{sides} --set source.subwords=4000 --set target.symbols=tokens {_set('model', model)}"
    options = f"--recipe {recipe} --epochs 12 {sizes} {_set('training', rates)} {more}"
    return "bible", "verses.tsv --dev dev.tsv", "test.tsv", "translate", options, "aer", "align"


def _gists(more: str) -> tuple[str, ...]:
    return "botocore", "train.tsv --dev dev.tsv", "test.tsv", "summarize", more, "rougeL rouge1 rouge2"


def _forms(recipe: str) -> tuple[str, ...]:
    return "inflection", "german-train-medium.tsv", "german-dev.tsv", "inflect", f"--recipe {recipe}", "accuracy cer"


def _photographs(recipe: str) -> tuple[str, ...]:
    shown = "bleu4 bleu1 bleu2 bleu3 rougeL cider"
    return "flickr8k", "train.tsv", "dev.tsv", "caption", f"--recipe {recipe}", shown


def _formulas(more: str) -> tuple[str, ...]:
    """Column by column, by a network that learns to see within the hour."""
    how = f"--dev dev.tsv --recipe formulas --set training.evaluate_every=2 {more}"
    shown = "exprate exprate1 exprate2 cer wer"
    return "crohme", "train.tsv", "test2014.tsv", "transcribe", how, shown, "evaluate", "spread"


def _rooms(more: str) -> tuple[str, ...]:
    return "daquar", "train.tsv", "test.tsv", "answer", f"{more} {_GLOVE}", "accuracy macro_f1"


def _lips(local: bool, states: str, attends: bool = True) -> tuple[str, ...]:
    """Sizes and rates were chosen, with attention, on clips that were held back from those of training."""
    look = "fit=within size=20 channels=1 every=2 stages=[4] norm=places pool=mean parts=[4,10] moving=true shift=1"
    model = "cell=gru embed=32 hidden=128 " + ("compare=64 terms=[position]" if attends else "attention=none")
    rates = "batch_size=16 learning_rate=0.003 ema=0.99 evaluate_every=5 metric=loss"
    motions = "local=true motions=[8]" if local else "local=false"
    sizes = f"{_set('look', f'{look} {motions} states={states}')} {_set('model', model)}"
    more = f"{sizes} {_set('training', rates)} --epochs 60"
    where = "inside" if attends else ""
    return "grid", "train.tsv", "dev.tsv", "describe", more, "wer accuracy", "evaluate", where


def _set(section: str, options: str) -> str:
    return " ".join(f"--set {section}.{option}" for option in options.split())


_PAIRS = ("multi30k", "train.de,train.en --dev val.de,val.en", "test_2016_flickr.de,test_2016_flickr.en")
_SPANS = "--set model.freeze=true --set source.least=1 --set data.where_column=where"
_GLOVE = "--embeddings glove --set model.embed=50"
_READERS = ("entail", "entail-words", "entail-sentences")
_BIASES = ("position", "markov", "fertility-local", "fertility-global", "biases", "agreement")

LINES = [
    Line("imdb-han", *_imdb("classify", 6)),
    Line("imdb-structured", *_imdb("structured", 6)),
    Line("imdb-last", *_imdb("last-state", 8)),
    *(Line(f"sick-{one}", *_sick("entail", f"--recipe {one} {_GLOVE}", "accuracy macro_f1")) for one in _READERS),
    Line("sick-imply", *_sick("imply", "", "perplexity bleu chrf")),
    Line("fairytale-read", *_fairytale("read", f"--epochs 12 {_SPANS} {_GLOVE}", "f1 em")),
    Line("fairytale-plain", *_fairytale("read", f"--recipe read-plain --epochs 16 {_SPANS} {_GLOVE}", "f1 em")),
    Line("fairytale-fill", *_fairytale("fill", f"--epochs 5 --set model.hidden=128 {_GLOVE}", "accuracy")),
    Line("respond", *_chitchat("respond")),
    Line("respond-single", *_chitchat("respond-single")),
    Line("respond-flat", *_chitchat("respond-flat")),
    Line("lines-lstm", *_lines("model")),
    Line("lines-lstmn", *_lines("lstmn")),
    Line("lines-pointer", *_lines("pointer-sentinel")),
    Line("fused-none", *_fused("translate")),
    Line("fused-shallow", *_fused("lstmn-shallow")),
    Line("fused-deep", *_fused("lstmn-deep")),
    Line("verses-plain", *_verses("translate", "--set model.agreement=0")),
    Line("verses-position", *_verses("position")),
    Line("verses-markov", *_verses("markov")),
    Line("verses-fertility-local", *_verses("fertility-local")),
    Line("verses-fertility-global", *_verses("fertility-global")),
    Line("verses-biases", *_verses("biases")),
    Line("verses-agreement", *_verses("agreement")),
    Line("verses-agreement-biases", *_verses("agreement-biases")),
    Line("verses-supervised", *_verses("supervised", "--alignments verses.pharaoh")),
    Line("biased-plain", *_biased("translate")),
    *(Line(f"biased-{one}", *_biased(one)) for one in _BIASES),
    Line("gists-gate", *_gists("")),
    Line("gists-none", *_gists("--set model.copy=none")),
    Line("gists-sentinel", *_gists("--recipe sentinel")),
    Line("gists-abs", *_gists("--recipe abs")),
    Line("forms-plain", *_forms("inflect")),
    Line("forms-copy", *_forms("copy")),
    Line("forms-sentinel", *_forms("sentinel")),
    Line("flickr-soft", *_photographs("caption")),
    Line("flickr-static", *_photographs("caption-static")),
    Line("flickr-hard", *_photographs("caption-hard")),
    Line("formulas-localized", *_formulas("--set model.localization=0.001")),
    Line("formulas-free", *_formulas("")),
    Line("rooms-concatenated", *_rooms("--recipe answer-concatenated")),
    Line("rooms-plain", *_rooms("--recipe answer-plain")),
    Line("rooms-one", *_rooms("--set look.hops=1")),
    Line("rooms-two", *_rooms("")),
    Line("lips-basic", *_lips(False, "alone", attends=False)),
    Line("lips-local", *_lips(True, "alone", attends=False)),
    Line("lips-global", *_lips(False, "beside")),
    Line("lips-both", *_lips(True, "beside")),
]
