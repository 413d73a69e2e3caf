"""The group of commands, loaded one by one, and what becomes of errors."""

from __future__ import annotations

import contextlib
import os
import sys
from importlib import import_module
from io import UnsupportedOperation
from typing import TYPE_CHECKING, Any, NoReturn

import click

from nardcore.errors import NardcoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "app", "run"]

DONE, FAILED, MISUSED, CANCELLED = 0, 1, 2, 130

COMMANDS = {
    "play": "Play a game or a match against a policy.",
    "rollout": "Play a position out many times and count how it ends.",
    "evaluate": "Say what a position is worth.",
    "best": "Rank the plays of a roll.",
    "moves": "List every legal play of a roll.",
    "show": "Draw a position and write it in every form.",
    "replay": "Show the games of a file, position by position.",
    "perft": "Count the tree of rolls and plays.",
    "rules": "List the rulesets, or describe one.",
    "convert": "Write a match or a position in another format.",
    "bearoff": "Build tables of bear-offs and ask them.",
    "cube": "Advise whether to raise the stake, and whether to accept.",
    "bench": "Measure this machine, or print the behavioural signature.",
    "version": "Tell the version and the instruction set in use.",
}
"""Every command with its line in the help; its module is imported when it is called."""


class LazyGroup(click.Group):
    """Commands by name, each in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(cmd_name, COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            msg = f"there is no command {cmd_name!r}{hint}"
            raise click.UsageError(msg, ctx)
        command = import_module(f"nardcore.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(  # type: ignore[override]  # never returns, whatever the mode
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run and leave the process, as click's own does."""
        sys.exit(run(self, args, prog_name or "nardcore", **extra))


def _show_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        from nardcore.cli.version import sentence

        click.echo(sentence())
        ctx.exit()


@click.group(
    "nardcore",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExamples:\n"
    "  nardcore rollout\n"
    "  nardcore rollout --rules long_nardy --games 100k\n"
    "  nardcore best start 31\n"
    "  nardcore moves start 31\n"
    "  nardcore show 4HPwATDgc/ABMA",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Tell the version and the instruction set in use.",
)
def app() -> None:
    """Short and long nardy: every legal play, rollouts, and the numbers behind them."""


# ------------------------------------------------------------------------------------------ errors


def run(
    group: click.Group, args: Sequence[str] | None, prog: str = "nardcore", **extra: Any
) -> int:
    """Run a command and turn whatever goes wrong into one line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without these letters shows a question mark, not a traceback.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    words = list(sys.argv[1:] if args is None else args)
    try:
        return _run(group, words, prog, **extra)
    except KeyboardInterrupt:
        return CANCELLED


def _run(group: click.Group, args: list[str], prog: str, **extra: Any) -> int:
    ctx: click.Context | None = None

    def tell(message: str, code: int) -> int:
        """Write one line on standard error, beginning with the command."""
        called = (ctx and ctx.invoked_subcommand) or ""
        with contextlib.suppress(OSError):
            click.echo(f"{f'{prog} {called}'.strip()}: {' '.join(message.split())}", err=True)
        return code

    try:
        if "_NARDCORE_COMPLETE" in os.environ:
            click.Group.main(group, args, prog)
        code = DONE
        try:
            with group.make_context(prog, args, **extra) as ctx:
                group.invoke(ctx)
        except click.exceptions.Exit as request:
            code = request.exit_code
        if sys.stdout is not None:  # it is None where the caller has closed it
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return MISUSED
    except click.UsageError as error:
        return tell(error.format_message(), MISUSED)
    except click.ClickException as error:
        return tell(error.format_message(), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return tell("cancelled", CANCELLED)
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        _drop_output()
        return DONE
    except OSError as error:
        _drop_output()
        place = f"{error.filename}: " if error.filename else ""
        return tell(f"{place}{error.strerror or error}", FAILED)
    except (NardcoreError, ValueError) as error:
        return tell(str(error), MISUSED)
    except (RuntimeError, MemoryError) as error:
        return tell(str(error) or "out of memory", FAILED)
    return code


def _drop_output() -> None:
    """Keep the interpreter from writing, and failing, once more when it closes the output."""
    with contextlib.suppress(OSError, UnsupportedOperation, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
