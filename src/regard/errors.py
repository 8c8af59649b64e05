"""What can go wrong, by who can mend it. Every message says what came, what was expected and the likely fix.

The command turns these into one or two lines on stderr and an exit code: 1, the job failed; 2, the call was wrong.
"""


class RegardError(Exception):
    """The job failed: the data, the disk or the training went wrong."""

    exit_code = 1


class DataError(RegardError):
    """A file's content is not what it should be; the message names file and line."""


class UsageError(RegardError):
    """The call was wrong: an unknown option, a missing file, a folder that is taken."""

    exit_code = 2


class MissingExtra(UsageError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str):
        super().__init__(f"this needs the package {package}, which is not installed: pip install 'regard[{extra}]'")
