"""``nardcore convert``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from nardcore.cli._common import echo_json, examples, json_option, numbering_option, rules_option
from nardcore.errors import FormatError, NardcoreError

if TYPE_CHECKING:
    from nardcore.formats.files import Value
    from nardcore.records import GameRecord
    from nardcore.rules import Rules
    from nardcore.typing import Numbering

__all__ = ["command"]

_MOST_WARNINGS = 50


class _Name(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # older click has none
    """A format by name."""

    name = "format"

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Check the name."""
        from nardcore.formats.files import FORMATS

        if value not in FORMATS:
            self.fail(f"{value!r} is none of {', '.join(FORMATS)}", param, ctx)
        return value


@click.command(
    "convert",
    epilog=examples(
        "nardcore convert match.mat match.json",
        "nardcore convert match.sgf match.sheet --numbering traditional",
        "nardcore convert game.txt - --to mat --lossy",
        "nardcore convert XGID.txt - --to gnubg",
    ),
)
@click.argument("source", metavar="IN", type=click.Path(dir_okay=False, allow_dash=True))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--from", "from_", type=_Name(), help="The format of IN; by default what it looks like."
)
@click.option("--to", type=_Name(), help="The format of OUT; by default what its ending says.")
@rules_option
@numbering_option
@click.option(
    "--dialect",
    type=click.Choice(("words", "numbers")),
    default="words",
    show_default=True,
    help="How a .mat names the bar and the tray.",
)
@click.option("--lossy", is_flag=True, help="Leave out what the format of OUT cannot hold.")
@json_option
def command(
    source: str,
    target: str,
    from_: str | None,
    to: str | None,
    rules: Rules | None,
    numbering: Numbering,
    dialect: str,
    lossy: bool,
    as_json: bool,
) -> None:
    """Read a game, a match or a position in one format and write it in another.

    IN and OUT are files, - standard input and output. Formats: json, sheet, mat, sgf for matches;
    text, gnubg, xgid, fibs for positions; xg, bgblitz (read only). Plays that the rules forbid are
    kept and named on standard error. OUT is written whole or not at all. With --json, standard
    output tells what was read.
    """
    from nardcore.formats.files import dump, dumps, encoded

    if as_json and target == "-":
        msg = "--json tells about a file, so OUT is none"
        raise click.UsageError(msg)
    value = _read(source, from_, rules)
    for line in _warnings(value):
        click.echo(f"nardcore convert: {line}", err=True)
    try:
        if target != "-":
            dump(value, target, to, lossy=lossy, numbering=numbering, dialect=dialect)
            if as_json:
                echo_json(_summary(value))
            return
        if to is None:
            msg = "standard output tells no format; say --to"
            raise click.UsageError(msg)
        text = dumps(value, to, lossy=lossy, numbering=numbering, dialect=dialect)
        encoded(text, to)
    except FormatError as error:
        hint = str(error).replace("pass lossy=True to leave it out", "--lossy leaves it out")
        raise click.ClickException(hint) from error
    click.echo(text, nl=not text.endswith("\n"))


def _read(source: str, form: str | None, rules: Rules | None) -> Value:
    from nardcore.formats._text import MAX_BYTES, decode
    from nardcore.formats.files import load, loads

    try:
        if source != "-":
            return load(source, form, rules=rules)
        return loads(decode(sys.stdin.buffer.read(MAX_BYTES + 1)), form, rules=rules)
    except NardcoreError as error:
        msg = f"{'standard input' if source == '-' else source}: {error}"
        raise click.ClickException(msg) from error


def _games(value: Value) -> tuple[GameRecord, ...]:
    from nardcore.records import GameRecord, MatchRecord

    if isinstance(value, GameRecord):
        return (value,)
    return value.games if isinstance(value, MatchRecord) else ()


def _summary(value: Value) -> dict[str, Any]:
    games = _games(value)
    problems = [
        {
            "game": number,
            "line": entry.line,
            "side": "white" if entry.side == "w" else "black",
            "problem": problem,
        }
        for number, game in enumerate(games, 1)
        for entry, problem in game.problems
    ]
    entries = sum(len(game.entries) for game in games)
    kind = type(value).__name__
    return {"read": kind, "games": len(games), "entries": entries, "problems": problems}


def _warnings(value: Value) -> list[str]:
    """Name every entry that the rules forbid."""
    games = _games(value)
    found = []
    for number, game in enumerate(games, 1):
        for entry, problem in game.problems:
            place = f"game {number}" + (f", line {entry.line}" if entry.line else "")
            found.append(f"{place}: {'white' if entry.side == 'w' else 'black'}: {problem}")
    if len(found) > _MOST_WARNINGS:
        more = len(found) - _MOST_WARNINGS
        found = [*found[:_MOST_WARNINGS], f"and {more} more that the rules forbid"]
    return found
