"""The command: parse, call one function, print. Results go to stdout, everything said about them to stderr.

A file per command. Nothing heavy is imported at the top of any: `regard --help` must answer at once.
"""

from regard.cli.call import main as main
from regard.cli.group import cli as cli
