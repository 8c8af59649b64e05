"""Text → sentences, by a few rules: where lines break, and after . ! ? where what follows does not go on.

A sentence goes on if a small letter follows, and after titles and initials: Mr. Chaplin, J. R. Ewing. The rules need no
list of a language's words and no capitals: in scripts without them every mark that a space follows ends a sentence.
"""

import re

SEPARATOR = "\n"  # the symbol that parts sentences, or turns, in a flat source: no word is a line break
BREAK = re.compile(r"<br\s*/?>|\n", re.IGNORECASE)  # also as it stands in pages of the web
END = re.compile(r"""[.!?…।؟]["'”’»)\]]*\s+|[。！？]""")
TITLES = frozenset({"Mr", "Mrs", "Ms", "Dr", "St", "Prof", "Jr", "Sr", "vs", "No"})
LONGEST_TITLE = 8  # characters before a full stop that are looked at


def split_sentences(text: str) -> list[str]:
    """At least one; together they hold all of the text but white space at their ends and the breaks."""
    found = [sentence for line in BREAK.split(text) for sentence in _of_line(line)]
    return found or [text]


def join_lines(text: str) -> str:
    """The same text in one line."""
    return " ".join(line.strip() for line in BREAK.split(text)).strip() or text


def _of_line(line: str) -> list[str]:
    borders = [match.end() for match in END.finditer(line) if _ends(line, match)]
    pieces = [line[begin:end].strip() for begin, end in zip([0, *borders], [*borders, len(line)], strict=True)]
    return [piece for piece in pieces if piece]


def _ends(line: str, match: "re.Match[str]") -> bool:
    if line[match.end() : match.end() + 1].islower():
        return False
    before = line[max(match.start() - LONGEST_TITLE, 0) : match.start()].replace(".", " ").split(" ")[-1]
    initial = len(before) == 1 and before.isupper() and before != "I"
    return not (match[0].startswith(".") and (initial or before in TITLES))
