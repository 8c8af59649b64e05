"""Handwritten formulas (CROHME 2014) with their labels in one form, as the published rates have them.

    python -m benchmarks.systems.crohme --data ../shared/data --work /tmp/crohme

writes train.tsv, dev.tsv and test2014.tsv: picture, tokens. The labels come from several hands: x_k and x_{k}, {x^{2}}
and x^{2}, \\mbox{z} and z, \\left( and ( are the same ink. Here arguments are braced and nothing else is, a subscript
comes before a superscript, and what has no ink (sizes, fonts, blanks) is left out. Many wrote the same formula, so the
dev part are texts of which training has none: those of the training part whose hashes are lowest.
"""

import argparse
import os
from pathlib import Path

from regard.data.corpora.split import place

SILENT = {"\\left", "\\right", "\\Big", "\\Bigg", "\\limits", "\\mbox", "\\mathrm", "\\!", "\\;", "\\", ""}
SAME = {"\\lbrack": "[", "\\rbrack": "]", "<": "\\lt", ">": "\\gt", "\\to": "\\rightarrow", "\\ltN": "\\lt N"}
ARGUMENTS = {"\\frac": 2, "\\sqrt": 1}
SCRIPTS = ("_", "^")
DEV = 0.04  # of the texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    data, work = options.data / "crohme", options.work
    work.mkdir(parents=True, exist_ok=True)
    folder = os.path.relpath(data.resolve(), work.resolve())
    parts: dict[str, list[str]] = {"train": [], "dev": [], "test2014": []}
    for name in ("train", "test2014"):
        for line in (data / f"{name}.tsv").read_text("utf-8").splitlines():
            picture, label = line.split("\t")
            text = " ".join(normal(label))
            part = "dev" if name == "train" and place(text, 0) < DEV else name
            parts[part].append(f"{folder}/{picture}\t{text}\n")
    for name, lines in parts.items():
        (work / f"{name}.tsv").write_text("".join(lines), "utf-8")


def normal(label: str) -> list[str]:
    """Tokens of a label in the one form."""
    known = " ".join(SAME.get(token, token) for token in label.replace("'", "^ { \\prime }").split(" "))
    tokens = [token for token in known.split(" ") if token not in SILENT]
    made: list[str] = []
    while tokens:  # more than once only where a brace is closed that was never opened
        made += _group(tokens)
    return made


def _group(tokens: list[str]) -> list[str]:
    """What stands before the brace that closes, which is taken too, or before the end."""
    made: list[str] = []
    while tokens and tokens[0] != "}":
        made += _scripts(tokens) if tokens[0] in SCRIPTS else _one(tokens)
    del tokens[:1]
    return made


def _scripts(tokens: list[str]) -> list[str]:
    """One or both, in any order → the lower one first"""
    found: dict[str, list[str]] = {}
    while tokens and tokens[0] in SCRIPTS and tokens[0] not in found:
        script = tokens.pop(0)
        found[script] = _braced(tokens)
    return [token for script in SCRIPTS if script in found for token in (script, *found[script])]


def _one(tokens: list[str]) -> list[str]:
    """A symbol, a command with its arguments, or the inside of a group"""
    token = tokens.pop(0)
    if token == "{":
        return _group(tokens)
    made = [token]
    if token == "\\sqrt" and tokens[:1] == ["["] and "]" in tokens:  # of which order
        last = tokens.index("]") + 1
        made += tokens[:last]
        del tokens[:last]
    for _ in range(ARGUMENTS.get(token, 0)):
        made += _braced(tokens)
    return made


def _braced(tokens: list[str]) -> list[str]:
    return ["{", *(_one(tokens) if tokens and tokens[0] != "}" else []), "}"]


if __name__ == "__main__":
    main()
