"""Made-up packages that Python finds before any real ones."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from regard.data.corpora import CORPORA, Written
from regard.data.corpora.package import Package, sum_of_sums

PARTS = ("train", "dev", "test")
WORDS = [a + b + c for a in "bdgk" for b in "aeiou" for c in "lmnrst"]  # 120 words


def install(folder: Path, package: Package, files: Mapping[str, bytes], version: str = "") -> Package:
    """Put the files there under the package's name. → the package, with their sum as the expected one"""
    version = version or package.version
    info = folder / f"{package.name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return package._replace(sha256=sum_of_sums(dict(sorted(files.items()))))


class Shelf:
    """A folder of made-up packages that Python finds before any real ones."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        monkeypatch.syspath_prepend(str(folder))

    def put(self, corpus: str, files: Mapping[str, bytes], version: str = "") -> None:
        """Install the files under the package's name; the table expects their sum from now on."""
        expected = install(self.folder, CORPORA[corpus].package, files, version)
        self.monkeypatch.setitem(CORPORA, corpus, CORPORA[corpus]._replace(package=expected))


def read(written: Written) -> dict[str, list[list[str]]]:
    """The rows of each part."""

    def rows(part: str) -> list[list[str]]:
        text = (written.folder / f"{part}.tsv").read_bytes().decode("utf-8")
        assert text.endswith("\n")
        return [line.split("\t") for line in text[:-1].split("\n")]

    return {part: rows(part) for part in PARTS}
