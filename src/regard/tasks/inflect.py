"""Lemma + features → form: `absetzen`, V;IND;PST;3;SG → setzte ab."""

from regard.tasks.sequence import CODEC, SECTIONS, UNUSED, answer, batch, build, codec, encode, force, loss, read
from regard.tasks.transliterate import METRIC, measure
