"""The plain text that a data set is made of."""

from pathlib import Path

from regard.errors import DataError, UsageError


def read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 (byte {error.start + 1}): convert it") from error
