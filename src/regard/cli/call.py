"""Runs a command; what goes wrong becomes one or two lines and an exit code."""

import logging
import os
import sys
import traceback

import click

from regard.cli.group import cli
from regard.errors import RegardError


def main() -> None:
    """Run the command; turn what went wrong into one or two lines and an exit code."""
    debug = "--debug" in sys.argv  # wherever it stands, also after the subcommand
    arguments = [one for one in sys.argv[1:] if one != "--debug"]
    logging.basicConfig(format="regard: %(message)s", stream=sys.stderr)
    logging.getLogger("regard").setLevel(logging.INFO)
    code = 0
    try:
        cli.main(arguments, prog_name="regard", standalone_mode=False)
    except click.ClickException as error:
        _show(error, arguments)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("regard: stopped", err=True)
        code = 130
    except SystemExit:  # click's answer to a closed pipe; but `regard predict … | head` is no error
        _leave_stdout()
    except Exception as error:
        code = _explain(error, debug)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        # gloo sometimes aborts at interpreter exit (pytorch issue 190489); everything is written, so leave at once
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _show(error: click.ClickException, arguments: list[str]) -> None:
    """What click found wrong, in two lines; without any command, the help."""
    if not arguments:
        error.show()
        return
    click.echo(f"regard: {' '.join(error.format_message().split())}", err=True)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"({error.ctx.command_path} --help shows what it takes)", err=True)


def _explain(error: Exception, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    if isinstance(error, RegardError):
        click.echo(f"regard: {error}", err=True)
        return error.exit_code
    if isinstance(error, OSError):  # perhaps the disk that stdout goes to is full
        _leave_stdout()
    text = str(error).splitlines()
    click.echo(
        f"regard: {type(error).__name__}: {text[0] if text else ''}\n(--debug shows where it happened)",
        err=True,
    )
    return 1


def _leave_stdout() -> None:
    """Nothing more can be written there; without this, Python tries once more on its way out, and complains."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  it must stay open until the interpreter has flushed it
