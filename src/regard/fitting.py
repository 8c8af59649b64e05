"""Which options of a model go together."""

from regard.errors import UsageError
from regard.recipe import Model

IGNORED = {
    "monotonic": ("heads", "terms", "window", "normalise", "query", "input_feeding", "residual"),
    "abs": ("heads", "terms", "query", "input_feeding", "residual", "tie", "variational", "ctc"),
}


def check_model(model: Model, name: str) -> None:
    """What one part has no use for; better an error than an option that does nothing."""
    plain = Model()
    for one in IGNORED.get(model.attention, ()):
        if getattr(model, one) != getattr(plain, one):
            raise UsageError(
                f"{name}: model.{one} does nothing with model.attention={model.attention}: leave it at "
                f"{getattr(plain, one)!r} or use --recipe {model.attention}"
            )
    if model.cell == "lstmn":
        _refuse_lstmn(model, name)
    if model.fusion == "deep" and (model.cell != "lstmn" or model.attention != "soft"):
        raise UsageError(f"{name}: model.fusion=deep needs model.cell=lstmn and model.attention=soft")
    if model.copy != "none":
        _refuse_copying(model, name)


def _refuse_lstmn(model: Model, name: str) -> None:
    """Its decoder has one way to look at the source, and neither copies nor feeds its readout back."""
    for one in ("input_feeding", "residual"):
        if getattr(model, one):
            raise UsageError(f"{name}: model.{one} does nothing with model.cell=lstmn: leave it out")
    if model.attention in ("monotonic", "abs"):
        raise UsageError(f"{name}: model.attention={model.attention} needs another model.cell than lstmn")
    if model.copy != "none":
        raise UsageError(f"{name}: model.copy={model.copy} needs another model.cell than lstmn")


def _refuse_copying(model: Model, name: str) -> None:
    """What is copied is what soft attention looks at; a sentinel stands among the energies of one softmax."""
    if model.attention != "soft" or model.ctc > 0:
        raise UsageError(
            f"{name}: model.copy={model.copy} came with model.attention={model.attention} and model.ctc={model.ctc}; "
            "copying needs soft attention and no CTC, which cannot spell what is copied: set model.ctc=0"
        )
    plain = Model()
    odd = [one for one in ("heads", "terms", "window", "normalise") if getattr(model, one) != getattr(plain, one)]
    if model.copy == "sentinel" and odd:
        raise UsageError(f"{name}: model.copy=sentinel has no place beside model.{odd[0]}: use model.copy=gate")
