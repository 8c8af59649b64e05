"""Gradient × input: to first order, what an output symbol's log probability owes to each source vector."""

from typing import cast

import numpy as np
import torch
from torch import Tensor

from regard.analysis.audit.walking import Array, array
from regard.data.batching import Padded
from regard.encoders.recurrent import Embed, RecurrentEncoder, TextEncoder
from regard.model import EncoderDecoder


def gradient_times_input(model: EncoderDecoder, source: Padded, tokens: Tensor) -> Array:
    """E(x_j) · ∂ log p(y_t | y_<t, x) / ∂ E(x_j)        (B, T, S)"""
    embed = cast(Embed, cast(TextEncoder, model.encoder)[0])
    vectors = embed(source).data.detach().requires_grad_()  # (B, S, E)
    found = []
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):  # cuDNN's loops send no gradient in eval mode
        told = log_probs(model, Padded(vectors, source.lengths), tokens)  # (B, T)
        for step in told.sum(0):  # sources do not see each other, so the gradient of a sum is that of each
            (slope,) = torch.autograd.grad(step, vectors, retain_graph=True)  # (B, S, E)
            found.append(array((slope * vectors).sum(-1)))
    return np.stack(found, 1)


def log_probs(model: EncoderDecoder, vectors: Padded, tokens: Tensor) -> Tensor:
    """log p(y_t | y_<t, x) (B, T) of a source given as vectors (B, S, E)"""
    layers = cast(RecurrentEncoder, cast(TextEncoder, model.encoder)[1])
    logits = model.decoder(tokens[:, :-1], layers(vectors)).logits  # (B, T, N)
    return logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]
