"""Conversations of two people about anything, typed: the Chit-Chat Challenge of Brigham Young University."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from regard.data.corpora.package import Contents
from regard.data.corpora.split import Row, tidy
from regard.data.turns import join_turns

CONVERSATIONS = "chitchat_dataset/dataset.json"
CONTEXT = 4  # turns before an answer
LONGEST = 50  # words of a turn


def answers(contents: Contents, _: str) -> Iterator[Row]:
    """The last turns of a conversation → the next; all rows of one conversation stay on one side.

    What one person typed in a row is one turn. Turns of more than LONGEST words, one in twenty, are tirades and pasted
    texts: a conversation goes on after one as if it began there.
    """
    for name, conversation in json.loads(contents[CONVERSATIONS]).items():
        said = [turn for turn in map(_turn, conversation["messages"]) if turn]
        for short, stretch in groupby(said, key=lambda turn: len(turn.split()) <= LONGEST):
            if short:
                yield from _rows(name, list(stretch))


def _turn(messages: list[dict[str, Any]]) -> str:
    return tidy(" ".join(message["text"] for message in messages))


def _rows(key: str, turns: list[str]) -> Iterator[Row]:
    for place in range(1, len(turns)):
        yield Row(key, join_turns(turns[max(place - CONTEXT, 0) : place]), turns[place])
