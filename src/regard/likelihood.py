"""How likely a model finds given targets: −log p per symbol, by teacher forcing."""

from collections.abc import Sequence
from typing import Any

import torch

from regard.data.batching import length_buckets
from regard.tasks import Task


@torch.inference_mode()
def loss_per_symbol(task: Task, model: Any, encodings: Sequence[Any], device: torch.device, tokens: int) -> float:
    """−Σ log p(y_t | y_<t, x) / Σ T, END counted; its exponential is the perplexity. `tokens` bounds a batch."""
    widths = [one.width for one in encodings]
    order = sorted(range(len(widths)), key=widths.__getitem__)
    nll, symbols = 0.0, 0
    for cut in length_buckets([widths[number] for number in order], tokens, 256):
        loss = task.loss(model, task.batch(encodings, [order[place] for place in cut]).to(device))
        nll, symbols = nll + float(loss.nll), symbols + int(loss.symbols)
    return nll / max(symbols, 1)
