"""Write docs/commands.md again from what --help says:  python scripts/make_docs.py"""

from pathlib import Path

import click

from regard.cli import cli
from regard.files import write_text

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
WIDTH = 100


def page() -> str:
    top = _context(cli, "regard", None)
    parts = [("regard", cli.get_help(top))]
    for name in cli.list_commands(top):
        command = cli.commands[name]
        parts.append((f"regard {name}", command.get_help(_context(command, name, top))))
    told = "\n".join(f"\n## {name}\n\n```text\n{text}\n```" for name, text in parts)
    return f"# Commands\n\nWhat `--help` says, put here by `python scripts/make_docs.py`.\n{told}\n"


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    settings = cli.context_settings if parent is None else {}
    return click.Context(command, parent, name, terminal_width=WIDTH, **settings)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    write_text(PAGE, page())
