"""Data sets that come inside packages or are made here, written as split TSV files: `regard data NAME --out DIR`.

Read package → cmudict, names, bible, lemmas, operations, chitchat → split → table → write → cloze, which makes
questions of any text. Pictures: emoji; canvas → shapes, moves; hand → digits → drawings; fonts → lines. All but emoji
need Pillow and are imported when they are asked for.
"""

from regard.data.corpora.cloze import write_cloze as write_cloze
from regard.data.corpora.emoji import write_emoji as write_emoji
from regard.data.corpora.table import CORPORA as CORPORA
from regard.data.corpora.table import MADE as MADE
from regard.data.corpora.table import Corpus as Corpus
from regard.data.corpora.table import corpus_names as corpus_names
from regard.data.corpora.write import Written as Written
from regard.data.corpora.write import write_corpus as write_corpus
