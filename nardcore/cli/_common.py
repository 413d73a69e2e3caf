"""What the commands share: options, positions from text, output."""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nardcore._board import Position
from nardcore.errors import FormatError, NardcoreError
from nardcore.notation import NUMBERINGS, parse_dice
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from nardcore.formats.state import MatchState

__all__ = [
    "COUNT",
    "DICE",
    "RULES",
    "Given",
    "Written",
    "console",
    "echo_json",
    "examples",
    "json_option",
    "numbering_option",
    "read_positions",
    "rules_option",
    "side",
    "takes_unicode",
    "threads_option",
]


def examples(*lines: str) -> str:
    """Write the examples under a command's help."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


# ------------------------------------------------------------------------------------------ values


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:  # older click has no type arguments
    _ParamType = click.ParamType


class Written(_ParamType):
    """A value that a function reads from text; its ValueError says what is wrong."""

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        self.name = name
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a default that is no text stays."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


_COUNT = re.compile(r"([0-9]{1,30})(?:\.([0-9]{1,9}))?(?:([kmg])|e([0-9]{1,2}))?")
_POWERS = {"k": 3, "m": 6, "g": 9}


def _count(text: str) -> int:
    """Read a number of things as people write it: 36000, 36_000, 36k, 1.5m, 1e6."""
    match = _COUNT.fullmatch(text.lower().replace("_", "").replace(",", ""))
    if match:
        whole, part, letter, exponent = match.groups()
        part = (part or "").rstrip("0")
        power = _POWERS[letter] if letter else int(exponent or 0)
        if len(part) <= power:
            return int(whole + part + "0" * (power - len(part)))
    msg = f"{text!r} is no whole number such as 36000, 36k or 1e6"
    raise ValueError(msg)


RULES = Written("rules", Rules.parse)
DICE = Written("dice", parse_dice)
COUNT = Written("number", _count)

rules_option = click.option(
    "--rules",
    type=RULES,
    metavar="RULES",
    help="A ruleset, such as triktrak or long_nardy+block=flat; see 'nardcore rules'. "
    "Backgammon, or what the position's text names, by default.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON, one object on a line."
)
numbering_option = click.option(
    "--numbering",
    type=click.Choice(NUMBERINGS),
    default="own",
    show_default=True,
    help="How points are named.",
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads to use; all processors by default. Results do not depend on it.",
)


# --------------------------------------------------------------------------------------- positions


class Given(NamedTuple):
    """A position someone asked about, with the dice its text names, and the stake if it does."""

    position: Position
    dice: tuple[int, int] | None
    state: MatchState | None = None


def read_positions(text: str | None, rules: Rules | None) -> list[Given]:
    """Read the position of a command, or all those on standard input for ``-``.

    Everything is read and checked before any work begins.
    """
    if text != "-":
        return [_read("start" if text is None else text, rules, "")]
    found = [
        _read(line, rules, f"line {number}: ")
        for number, line in enumerate(sys.stdin, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not found:
        msg = "there is no position on standard input"
        raise click.UsageError(msg)
    return found


def _read(text: str, rules: Rules | None, place: str) -> Given:
    from nardcore.formats import loads, sniff
    from nardcore.formats.positions import parse_position
    from nardcore.formats.state import MatchState

    if text.strip() == "start":
        return Given(Position.start(rules or BACKGAMMON), None)
    state = None  # of a whole XGID, a match ID or a FIBS line, which tell the cube and the score
    try:
        kind = sniff(text)
        if kind == "fibs" or text.count(":") == {"gnubg": 1, "xgid": 9}.get(kind or ""):
            value = loads(text, rules=rules)
            state = value if isinstance(value, MatchState) else None
        if state is not None and kind != "xgid":
            return Given(state.position, state.dice, state)
        found = parse_position(text, rules)
        position = Position.from_board(found.board, found.rules)
        if rules is not None and rules != found.rules:
            if rules.movement != found.rules.movement:
                msg = f"the position is one of {found.rules.name}, not of {rules.name}"
                raise FormatError(msg)
            position = position.with_rules(rules)
    except NardcoreError as error:
        what = str(error)
        if isinstance(error, FormatError) and error.column is not None:
            # The text is one line, so only the column tells something.
            what = f"column {error.column}: {error.args[0]}"
        msg = f"{place}{what}"
        raise click.UsageError(msg) from error
    dice = None if found.dice is None else (found.dice[0], found.dice[1])
    return Given(position, dice, state)


def side(position: Position, mover: bool = True) -> str:
    """Name the colour of the side on roll, or of the other."""
    return "white" if (position.turn == "w") is mover else "black"


# ------------------------------------------------------------------------------------------ output


def takes_unicode() -> bool:
    """Say whether the output can show more than ASCII."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"


def echo_json(data: object) -> None:
    """Write a value on one line; what is no number becomes null."""
    click.echo(json.dumps(_plain(data), ensure_ascii=not takes_unicode(), allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def console(*, stderr: bool = False) -> Console:
    """Give rich's console; a pipe gets no colours and no cut columns."""
    from nardcore.cli._console import Terminal

    made = Terminal(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = max(made.width, 110)
    return made
