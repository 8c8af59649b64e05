"""Which options of a model go together."""

from regard.errors import UsageError
from regard.recipe import Model

NO_CONTEXT = ("none", "monotonic", "abs")  # attentions that have none to hand on between two cells


def check_model(model: Model) -> None:
    """Refuse parts that cannot stand beside each other."""
    if model.cell == "lstmn":
        _check_lstmn(model)
    if model.fusion == "deep" and (model.cell != "lstmn" or model.attention != "soft"):
        raise UsageError("model.fusion=deep needs model.cell=lstmn and model.attention=soft")
    if model.copy != "none":
        _check_copying(model)
    if model.query == "between" and (model.cell == "lstmn" or model.copy != "none" or model.attention in NO_CONTEXT):
        raise UsageError(
            f"model.query=between came with model.cell={model.cell}, model.copy={model.copy} and "
            f"model.attention={model.attention}; it needs a plain cell, no copying and an attention of soft or hard"
        )


def _check_lstmn(model: Model) -> None:
    """Its decoder has one way to look at the source, and copies nothing."""
    if model.attention in ("hard", "monotonic", "abs"):
        raise UsageError(f"model.attention={model.attention} needs another model.cell than lstmn")
    if model.copy != "none":
        raise UsageError(f"model.copy={model.copy} needs another model.cell than lstmn")


def _check_copying(model: Model) -> None:
    """What is copied is what soft attention looks at; a sentinel stands among the energies of one softmax."""
    if model.attention != "soft" or model.ctc > 0 or model.reverse > 0:
        raise UsageError(
            f"model.copy={model.copy} came with model.attention={model.attention}, model.ctc={model.ctc} and "
            f"model.reverse={model.reverse}; copying needs soft attention, and neither CTC nor a decoder from the end, "
            "which cannot spell what is copied: set model.ctc=0 and model.reverse=0"
        )
    plain = Model()
    odd = [
        one for one in ("heads", "terms", "window", "normalise", "gate") if getattr(model, one) != getattr(plain, one)
    ]
    if model.copy == "sentinel" and odd:
        raise UsageError(f"model.copy=sentinel has no place beside model.{odd[0]}: use model.copy=gate")
