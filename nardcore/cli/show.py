"""``nardcore show``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nardcore.cli._common import (
    DICE,
    echo_json,
    examples,
    json_option,
    numbering_option,
    read_positions,
    rules_option,
    side,
    takes_unicode,
)
from nardcore.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nardcore._board import Position
    from nardcore.rules import Rules
    from nardcore.typing import Numbering

__all__ = ["command"]


@click.command(
    "show",
    epilog=examples(
        "nardcore show",
        "nardcore show 4HPwATDgc/ABMA --dice 31",
        "nardcore show --rules long_nardy --numbering roman",
        "nardcore show --svg board.svg",
        "nardcore show XGID=-b----E-C---eE---c-e----B-:0:0:1:31 --json",
    ),
)
@click.argument("position", default="start")
@rules_option
@click.option("--dice", type=DICE, metavar="DICE", help="Dice to show, such as 31.")
@numbering_option
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Draw the board as SVG into a file (- for standard output) instead.",
)
@json_option
def command(
    position: str,
    rules: Rules | None,
    dice: tuple[int, int] | None,
    numbering: Numbering,
    svg: str | None,
    as_json: bool,
) -> None:
    """Draw a position and write it in every form.

    POSITION is as for 'nardcore moves', by default the start.
    """
    given = read_positions(position, rules)
    if svg is not None and len(given) > 1:
        msg = "one file takes one picture, so --svg needs one position"
        raise click.UsageError(msg)
    for number, one in enumerate(given):
        roll = dice or one.dice
        if svg is not None:
            picture = one.position.svg(numbering=numbering, dice=roll)
            if svg == "-":
                click.echo(picture)
                continue
            Path(svg).write_text(picture + "\n", encoding="utf-8")
        if as_json:
            echo_json(_as_data(one.position, roll))
        elif svg is None:
            if number:
                click.echo()
            _write(one.position, roll, numbering)


def _forms(position: Position, dice: tuple[int, int] | None) -> dict[str, str | None]:
    """Write the position in each form; None where a form cannot express it."""
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: position.text(dice),
        "gnubg_id": position.gnubg_id,
        "xgid": lambda: position.xgid(dice),
    }
    found: dict[str, str | None] = {}
    for name, write in writers.items():
        try:
            found[name] = write()
        except FormatError:
            found[name] = None
    return found


def _write(position: Position, dice: tuple[int, int] | None, numbering: Numbering) -> None:
    from nardcore.render import board_text

    board = position.board
    click.echo(
        board_text(board, position.rules, numbering=numbering, dice=dice, unicode=takes_unicode())
    )
    click.echo()
    titles = {"text": "nardcore", "gnubg_id": "gnubg ID", "xgid": "XGID"}
    for form, text in _forms(position, dice).items():
        click.echo(f"{titles[form]:<9} {text or 'cannot express these rules'}")
    mine, theirs = position.pips
    click.echo(f"{'pips':<9} {side(position)} {mine}, {side(position, False)} {theirs}")


def _as_data(position: Position, dice: tuple[int, int] | None) -> dict[str, Any]:
    return {
        **_forms(position, dice),
        "rules": position.rules.name,
        "turn": position.turn,
        "dice": dice,
        "points": position.points,
        "bar": position.bar,
        "off": position.off,
        "first_turns": position.first_turns,
        "pips": position.pips,
        "outcome": position.outcome,
    }
