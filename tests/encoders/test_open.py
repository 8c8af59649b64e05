"""What may be copied from each place, counted as the codec counts."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.data.batching import Padded, pad
from regard.data.readers import Example
from regard.data.vocabulary import PAD, UNKNOWN
from regard.encoders.bag import Bag
from regard.encoders.open import LACKS, OpenEncoder, ranks
from regard.encoders.recurrent import Embed
from regard.errors import DataError
from regard.model import hollow
from regard.recipe import Side
from regard.tasks.codec import Codec
from regard.tasks.copying import held_symbols
from tests.tiny import padded

WORDS = Side(symbols="tokens", least=2)
PAIRS = [Example("the cat the cat dog", "cat cat mouse"), Example("the dog", "the the mouse")]
CODEC = Codec.learn(
    PAIRS, WORDS, WORDS, features=False, lowercase=False, copies=True
)  # dog: source only, mouse: target
V, N = len(CODEC.source.vocabulary), len(CODEC.target.vocabulary)


def encoder() -> OpenEncoder:
    return OpenEncoder(Bag(Embed(V, 3)), held_symbols(CODEC), N)


def test_symbols_are_shared_by_name() -> None:
    table = dict(zip(CODEC.source.vocabulary.symbols, held_symbols(CODEC), strict=True))
    target = {symbol: number for number, symbol in enumerate(CODEC.target.vocabulary.symbols)}
    assert "mouse" in target
    assert table == {**{name: target[name] for name in (*target,) if name != "mouse"}, "dog": LACKS}


def test_what_a_vocabulary_lacks_has_a_number_beyond_it() -> None:
    source = ["fox", "cat", "dog", "yak", "fox", "dog"]
    assert CODEC.source_numbers(source)[0] == CODEC.source_numbers(source)[4] == V + N
    assert CODEC.source_numbers(source)[3] == V + N + 2
    assert CODEC.source_numbers(["mouse"]) == [V + CODEC.target_numbers(["mouse"], [])[0]]
    assert CODEC.foreign(source) == ["fox", "dog", "yak"]
    target = CODEC.target_numbers(["yak", "mouse", "dog", "gnu", "fox"], source)
    assert [target[0], target[2], target[4]] == [N + 2, N + 1, N]
    assert target[1] < N
    assert target[3] == UNKNOWN
    decoded = CODEC.target.vocabulary.decode(target, CODEC.foreign(source))
    assert decoded == ["yak", "mouse", "dog", "�", "fox"]


def test_without_copying_nothing_is_beyond() -> None:
    plain = Codec.learn(PAIRS, WORDS, WORDS, features=False, lowercase=False)
    assert plain.source_numbers(["fox"]) == plain.target_numbers(["fox"], ["fox"]) == [UNKNOWN]
    assert "copies" not in plain.to_json()


def test_a_copying_codec_survives_being_saved() -> None:
    again = Codec.from_json(json.loads(json.dumps(CODEC.to_json())))
    assert again.copies
    assert again.encode(Example("fox cat", "fox")) == CODEC.encode(Example("fox cat", "fox"))


words = st.sampled_from(["the", "cat", "dog", "mouse", "fox", "yak", "gnu"])


@given(st.lists(st.lists(words, min_size=1), min_size=1, max_size=5))
def test_places_hold_what_the_codec_calls_their_symbols(sources: list[list[str]]) -> None:
    encoded = encoder()(pad([CODEC.source_numbers(source) for source in sources]))
    for row, source in enumerate(sources):
        assert encoded.symbols[row, : len(source)].tolist() == CODEC.target_numbers(source, source)
        assert (encoded.symbols[row, len(source) :] == PAD).all()


def test_the_encoder_reads_unknown_and_padding_says_nothing() -> None:
    made = encoder()
    long = padded([V + N, 4, V + N + 1], [5], width=5)
    garbage = Padded(torch.where(long.mask, long.data, V + N + 7), long.lengths)
    plain, other = made(long), made(garbage)
    torch.testing.assert_close(plain.values[0, [0, 2]], made.encoder.embed.table.weight[[UNKNOWN, UNKNOWN]])
    for one, two in zip(plain, other, strict=True):
        torch.testing.assert_close(one, two)


def test_ranks_count_distinct_numbers() -> None:
    numbers = torch.tensor([[7, 3, 7, 9, 3, 8]])
    assert ranks(numbers, torch.ones_like(numbers) > 0).tolist() == [[0, 1, 0, 2, 1, 3]]
    counted = torch.tensor([[False, True, False, True, True, True]])
    assert ranks(numbers, counted)[counted].tolist() == [0, 1, 0, 2]


def test_the_table_is_no_weight_but_is_there_without_storage() -> None:
    with hollow():
        made = encoder()
    assert [name for name, _ in made.named_parameters()] == ["encoder.embed.table.weight"]
    assert list(made.state_dict()) == ["encoder.embed.table.weight"]
    assert made.table.tolist() == held_symbols(CODEC)


@pytest.mark.parametrize("value", [1, "yes", None])
def test_a_damaged_flag_is_named(value: object) -> None:
    with pytest.raises(DataError, match="copies is"):
        Codec.from_json({**CODEC.to_json(), "copies": value})
