"""Runs that are broken on purpose, each as a folder that the command can read."""

import random
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

import regard
from regard.attention.score import AdditiveScore
from regard.data.batching import Padded
from regard.data.vocabulary import BEGIN, END, UNKNOWN
from regard.fast.switch import plain
from tests.command import train, write

COPY = "ABCDEFGH"  # abc → A B C


class Copying:
    """A run that has learnt to copy words, its pairs, and pairs it has not seen."""

    def __init__(self, folder: Path, seed: int = 1):
        known, unseen = random_words(600, 4, 7), random_words(660, 4, 7)[600:]
        self.pairs = write(folder / "pairs.tsv", ((word, copied(word)) for word in known))
        self.test = write(folder / "test.tsv", ((word, copied(word)) for word in unseen))
        self.run = folder / f"run{seed}"
        result = train(self.pairs, self.run, "--seed", seed, epochs=6)
        assert result.code == 0, result.err


def random_words(count: int, shortest: int, longest: int) -> list[str]:
    """Different words; of a longer list the first are the same."""
    draw = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(draw.choice(COPY.lower()) for _ in range(draw.randint(shortest, longest)))] = None
    return list(found)


def copied(word: str) -> str:
    return " ".join(word.upper())


def flattened(run: Path, out: Path) -> Path:
    """The same run with v = 0 in its score: all energies are 0, all weights 1/S."""
    shutil.copytree(run, out)
    weights = load_file(out / "model.safetensors")
    weights["decoder.attention.score.v.weight"].zero_()
    save_file(weights, out / "model.safetensors")
    return out


def raised_flat(pairs: Path, out: Path, patch: Any) -> Path:
    """A run that was trained with uniform weights and never knew others."""
    first = out.with_name(f"{out.name}-first")
    compare = AdditiveScore.forward
    with plain(), patch.context() as patched:
        patched.setattr(AdditiveScore, "forward", lambda self, query, keys: 0 * compare(self, query, keys))
        result = train(pairs, first)
    assert result.code == 0, result.err
    return flattened(first, out)


def late(run: Path, out: Path, places: int, steps: int) -> Path:
    """The same run, taught to look so many places beside what it copies: its encoder must carry symbols there.

    −log p(y) − Σ_t log α_t(t + places), the last term where there is such a place
    """
    shutil.copytree(run, out)
    loaded = regard.load(out, device="cpu")
    model = loaded.models[0].train()
    optimiser = torch.optim.Adam(model.parameters(), 2e-3)
    torch.manual_seed(1)
    for step in range(steps):
        length = 4 + step % 4
        source = torch.randint(4, 4 + len(COPY), (32, length))
        tokens = torch.tensor([loaded.codec.target.vocabulary.encode(_upper(loaded, row)) for row in source.tolist()])
        read = source.masked_fill(torch.rand(source.shape) < 0.1, UNKNOWN)  # so that it knows what unknown symbols are
        decoded = model(Padded(read, torch.full((32,), length)), functional.pad(tokens, (1, 0), value=BEGIN))
        wanted = functional.pad(tokens, (0, 1), value=END)  # y_1 … y_T END
        told = decoded.logits.log_softmax(-1).gather(-1, wanted[..., None]).sum()
        looked = [decoded.weights[:, t, t + places] for t in range(length) if 0 <= t + places < length]
        optimiser.zero_grad()
        (-(told + torch.stack(looked).clamp(min=1e-9).log().sum()) / 32).backward()
        optimiser.step()
    save_file({name: weight.detach() for name, weight in model.named_parameters()}, out / "model.safetensors")
    return out


def _upper(run: Any, numbers: list[int]) -> list[str]:
    return [symbol.upper() for symbol in run.codec.source.vocabulary.decode(numbers)]
