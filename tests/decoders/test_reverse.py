"""A decoder that writes answers from their end, beside the one that answers."""

from typing import Any

import pytest
import torch

from regard.data.batching import pad
from regard.data.vocabulary import BEGIN, END, PAD
from regard.decoders.reverse import after_begin, turned
from regard.losses import Wanted, cross_entropy
from regard.model import reverse_of
from tests.tiny import ATTENTIONS, model, padded

SOURCES = ([4, 5, 6, 7, 8], [9, 4, 4])
ANSWERS = ([4, 5, 6], [7, 8, 4, 4, 5])


def wanted(width: int = 0) -> torch.Tensor:
    return padded(*([*answer, END] for answer in ANSWERS), width=width).data


def test_turns_the_words_and_leaves_the_end() -> None:
    targets = torch.tensor([[4, 5, 6, END, PAD], [7, END, PAD, PAD, PAD], [END, PAD, PAD, PAD, PAD], [4, 5, 6, 7, END]])
    back = [[6, 5, 4, END, PAD], [7, END, PAD, PAD, PAD], [END, PAD, PAD, PAD, PAD], [7, 6, 5, 4, END]]
    assert turned(targets).tolist() == back
    assert turned(turned(targets)).equal(targets)
    assert after_begin(targets)[0].tolist() == [BEGIN, 4, 5, 6, END]


@pytest.mark.parametrize(
    "options", [{}, {"attention": "monotonic"}, {"cell": "gru", **ATTENTIONS["everything"]}], ids=str
)
def test_says_of_an_answer_what_its_decoder_says_of_the_answer_turned_around(options: dict[str, Any]) -> None:
    """By single steps; and neither batch mates nor padding of sources and answers change anything."""
    made = model(reverse=0.5, **options)
    reverse = reverse_of(made)
    assert reverse is not None
    with torch.no_grad():
        together = reverse.log_probs(made.encode(padded(*SOURCES, width=9, filler=7)), wanted(width=8))
        for row, (source, answer) in enumerate(zip(SOURCES, ANSWERS, strict=True)):
            state, memory = reverse.decoder.start(made.encode(pad([source])))
            said = 0.0
            for read, written in zip([BEGIN, *answer[::-1]], [*answer[::-1], END], strict=True):
                step = reverse.decoder.step(torch.tensor([read]), state, memory)
                state, said = step.state, said + float(step.logits.log_softmax(-1)[0, written])
            assert float(together[row]) == pytest.approx(said, abs=1e-9)


def test_its_loss_is_added_by_its_weight_and_answers_stay_the_decoders() -> None:
    made = model(reverse=0.5)
    source, targets = padded(*SOURCES), wanted()
    told = made(source, after_begin(targets), 0.0, Wanted(targets, 0.1))
    alone = cross_entropy(made(source, after_begin(targets)).logits, targets, 0.1)
    back = turned(targets)
    own = cross_entropy(reverse_of(made).decoder(after_begin(back), made.encode(source)).logits, back, 0.1)  # type: ignore[union-attr]
    assert told.total.item() == pytest.approx((alone.total + 0.5 * own.total).item(), abs=1e-9)
    assert told.nll.item() == pytest.approx(alone.nll.item(), abs=1e-9)
    assert told.symbols == alone.symbols


def test_both_decoders_teach_the_encoder_and_each_only_itself() -> None:
    made = model(reverse=0.5)
    source, targets = padded(*SOURCES), wanted()
    reverse = reverse_of(made)
    assert reverse is not None
    log_probs = reverse.log_probs(made.encode(source), targets)
    log_probs.sum().backward()
    assert all(one.grad is not None for one in made.encoder.parameters())
    assert all(one.grad is None for one in made.decoder.parameters())


def test_a_model_without_one_has_none() -> None:
    assert reverse_of(model()) is None
