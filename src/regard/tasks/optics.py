"""Options → eyes and encoders for pictures and clips."""

from functools import cache
from typing import Any

import torch
from torch import nn

from regard.data.clip import ClipView
from regard.data.view import View
from regard.encoders.bending import BentEncoder
from regard.encoders.columns import ColumnEncoder
from regard.encoders.convolution import VGG16, ConvolutionEncoder
from regard.encoders.dense import DenseEncoder
from regard.encoders.plane import MapEncoder, PlaneEncoder
from regard.encoders.pretrained import load_pretrained, make_pretrained
from regard.encoders.video import FrameEncoder, LocalEncoder
from regard.errors import UsageError
from regard.model import hollow
from regard.recipe import Look, Model
from regard.tasks.eyes import ClipEye, PictureEye
from regard.tasks.parts import make_dropout, make_layers

FROM_THE_START = ("small", "vgg", "dense")


def is_trained(look: Look) -> bool:
    return look.encoder not in FROM_THE_START


def make_picture_eye(look: Look) -> PictureEye:
    facts = _facts(look)
    frozen = look.encoder if is_trained(look) and look.freeze else ""
    line = look.fit == "height"
    if look.columns and not line:
        raise UsageError(f"look.columns reads lines of one height, but look.fit={look.fit}: set look.fit=height")
    if frozen and look.bend > 0:
        raise UsageError("look.bend needs the pictures themselves: set look.freeze=false, or an encoder that learns")
    return PictureEye(_view(look, facts), facts.stride, frozen, line, look.columns)


def make_clip_eye(look: Look) -> ClipEye:
    if look.columns:
        raise UsageError("look.columns is for lines of writing and does nothing for clips: set look.columns=false")
    if look.bend > 0:
        raise UsageError(
            "look.bend would bend every frame of a clip otherwise: set look.bend=0, and look.shift moves it"
        )
    facts = _facts(look)
    frozen = look.encoder if is_trained(look) and look.freeze else ""
    if frozen and look.local:
        raise UsageError("look.local needs the frames themselves: set look.freeze=false, or a small encoder")
    if frozen and (look.moving or look.shift):
        raise UsageError("look.moving and look.shift need the frames themselves: set look.freeze=false")
    if frozen and (look.pool == "max" or look.parts != (1, 1)):
        raise UsageError(
            "look.pool=max and look.parts are for encoders that learn: of a frozen one the mean over each frame is kept"
        )
    return ClipEye(ClipView(_view(look, facts), look.every, look.frames), frozen)


def _view(look: Look, facts: "_Facts") -> View:
    return View(look.channels, look.fit, look.size, look.widest, look.invert, facts.mean, facts.std)


class _Facts:
    """What an eye must know of an encoder."""

    def __init__(self, encoder: Any):
        self.stride, self.size = encoder.stride, encoder.size
        self.mean, self.std = getattr(encoder, "mean", ()), getattr(encoder, "std", ())


@cache
def _facts(look: Look) -> _Facts:
    with hollow():
        return _Facts(_make_plane(look, Model()))


def _make_plane(look: Look, options: Model) -> PlaneEncoder:
    """What sees pixels."""
    if look.encoder == "small":
        stages = [(size, size) for size in look.stages]
        return ConvolutionEncoder(
            look.channels, stages, dropout=make_dropout(options), norm=look.norm, first=look.first
        )
    if look.encoder == "vgg":
        return ConvolutionEncoder(look.channels, VGG16, dropout=make_dropout(options), norm=look.norm)
    if look.encoder == "dense":
        return DenseEncoder(look.channels, look.growth, look.depth, make_dropout(options), look.norm)
    if look.channels != 3 or look.invert:
        raise UsageError(f"look.encoder={look.encoder} was trained on colours: set look.channels=3, look.invert=false")
    return make_pretrained(look.encoder)


def make_picture_encoder(look: Look, options: Model) -> nn.Module:
    """Pictures → Encoded; of pictures that a frozen encoder has seen, its maps → Encoded."""
    made: Any
    if is_trained(look) and look.freeze:
        made = MapEncoder(_facts(look).size, look.project or None, make_dropout(options))
    else:
        made = _make_plane(look, options)
        made = BentEncoder(made, look.bend) if look.bend > 0 else made
    module: nn.Module = _along_the_line(made, look, options) if look.columns else made
    return module


def _along_the_line(plane: PlaneEncoder, look: Look, options: Model) -> ColumnEncoder:
    """Rows of cells are counted from the pixels, also where maps were computed before."""
    rows = -(-look.size // _facts(look).stride)
    return ColumnEncoder(plane, make_layers(plane.size * rows, options))


def make_clip_encoder(look: Look, options: Model) -> nn.Module:
    """Clips → Encoded over their frames."""
    frames: Any = make_picture_encoder(look, options)
    local = LocalEncoder(look.channels, look.motions, 0, look.pool, look.parts) if look.local else None
    size = frames.size * look.parts[0] * look.parts[1] + (local.size if local else 0)
    rnn = None if look.states == "none" else make_layers(size, options)
    beside = look.states == "beside"
    return FrameEncoder(frames, rnn, local, look.pool, look.parts, look.moving, look.shift, beside)


def begin_trained(encoder: nn.Module, look: Look) -> None:
    """A trained encoder that goes on learning begins with its weights; a run that is loaded has its own."""
    weights = next(encoder.parameters(), None)
    if not is_trained(look) or look.freeze or weights is None or weights.is_meta:
        return
    tuned: Any = encoder
    if isinstance(encoder, FrameEncoder):
        tuned = encoder.frames
    elif isinstance(encoder, ColumnEncoder):
        tuned = encoder.plane
    if isinstance(tuned, BentEncoder):
        tuned = tuned.plane
    with torch.no_grad():
        tuned.load_state_dict(load_pretrained(look.encoder).state_dict())
