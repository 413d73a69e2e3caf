"""``nardcore moves``."""

from __future__ import annotations

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
)
from nardcore.notation import format_dice

if TYPE_CHECKING:
    from nardcore._board import Play, Plays
    from nardcore.rules import Rules
    from nardcore.typing import Numbering

__all__ = ["command"]


@click.command(
    "moves",
    epilog=examples(
        "nardcore moves start 31",
        "nardcore moves start 66 --rules long_nardy --numbering roman",
        "nardcore moves 'long_nardy x15,11,o15,11 0/0 0/0 w 31 xo'",
        "nardcore moves XGID=-b----E-C---eE---c-e----B-:0:0:1:31 --json",
        "cat positions.txt | nardcore moves - 52",
    ),
)
@click.argument("position")
@click.argument("dice", type=DICE, required=False)
@rules_option
@numbering_option
@json_option
def command(
    position: str,
    dice: tuple[int, int] | None,
    rules: Rules | None,
    numbering: Numbering,
    as_json: bool,
) -> None:
    """List every legal play of a roll, one for each distinct resulting position.

    POSITION is nardcore's text, a gnubg position ID, an XGID, the word start, or - for one a line
    on standard input. DICE, such as 31, may be left out where the position's text names them.
    A hit is marked with a star.
    """
    given = read_positions(position, rules)
    if dice is None and any(one.dice is None for one in given):
        msg = "the position names no dice, so DICE is needed, such as 31"
        raise click.UsageError(msg)
    for number, one in enumerate(given):
        roll = dice or one.dice
        assert roll is not None  # checked above
        plays = one.position.plays(roll)
        if as_json:
            echo_json(_as_data(plays, numbering))
        else:
            if number:
                click.echo()
            _write(plays, numbering)


def _write(plays: Plays, numbering: Numbering) -> None:
    count = "1 play" if len(plays) == 1 else f"{len(plays):,} plays"
    click.echo(f"{format_dice(plays.dice)} {count}")
    width = len(str(len(plays)))
    for number, play in enumerate(plays, 1):
        click.echo(f"  {number:>{width}}  {play.notation(numbering=numbering)}")


def _as_data(plays: Plays, numbering: Numbering) -> dict[str, Any]:
    return {
        "position": plays.position.text(plays.dice),
        "dice": list(plays.dice),
        "plays": [_one(play, numbering) for play in plays],
    }


def _one(play: Play, numbering: Numbering) -> dict[str, Any]:
    return {
        "play": play.notation(numbering=numbering),
        "steps": [list(step) for step in play.steps],
        "hits": list(play.hits),
        "dice_used": play.dice_used,
        "result": play.result.text(),
    }
