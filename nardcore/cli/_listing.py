"""The moves of a game as lines: a number for each pair of turns, what is wrong below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nardcore.cli._phrases import result_name, say
from nardcore.errors import InvalidPlayError
from nardcore.notation import format_dice, format_play
from nardcore.records import CubeAction, Move

if TYPE_CHECKING:
    from nardcore._board import Position
    from nardcore._terms import Language
    from nardcore.records import Entry, GameRecord
    from nardcore.typing import Numbering

__all__ = ["entry_text", "listing"]


def entry_text(
    entry: Entry, position: Position, numbering: Numbering, lang: Language, *, short: bool = False
) -> str:
    """Write what was done, hits marked; `short` leaves out who did it."""
    if isinstance(entry, Move):
        play = _play(entry, position, numbering)
        dice = "?-?" if entry.dice is None else format_dice(entry.dice)
        return (
            f"{dice} {play}"
            if short
            else say("played", lang, side=entry.side, dice=dice, play=play)
        )
    if isinstance(entry, CubeAction):
        return say(entry.action, lang, side=entry.side, value=entry.value)
    name = "?" if entry.state is None else result_name(position.rules, entry.state, lang)
    text = say("resign", lang, side=entry.side, name=name)
    if not entry.accepted:
        other = "b" if entry.side == "w" else "w"
        text += f"; {say('refuse_resignation', lang, side=other)}"
    return text


def _play(move: Move, position: Position, numbering: Numbering) -> str:
    if move.steps is None:
        return "???"
    points = position.points
    hits = {end for _, end in move.steps if 1 <= end <= 24 and points[end - 1] == -1}
    steps = [(start, end, end in hits) for start, end in move.steps]
    try:
        return format_play(steps, numbering=numbering, rules=position.rules, turn=position.turn)
    except InvalidPlayError:
        return str(move)


def listing(game: GameRecord, numbering: Numbering, lang: Language) -> list[str]:
    """Write a game as a sheet: white left, black right."""
    rows: list[str] = []
    number, left = 0, ""
    pending = False

    def close() -> None:
        nonlocal pending, left
        if pending:
            rows.append(f"{number:>3}. {left}".rstrip())
        pending, left = False, ""

    for entry, position in game.positions():
        text = entry_text(entry, position, numbering, lang, short=True)
        if not isinstance(entry, Move):
            close()
            rows.append(f"     {text}")
        elif entry.side == "w":
            close()
            number += 1
            left, pending = text, True
        else:
            if not pending:
                number += 1
                left = "..." if number > 1 or game.starter == "b" else ""
            rows.append(f"{number:>3}. {left:<28} {text}")
            pending, left = False, ""
        if entry.problem:
            close()
            rows.append(f"     ! {entry.problem}")
        if entry.comment:
            close()
            rows.append(f"     {entry.comment}")
    close()
    if game.result is not None:
        result = game.result
        name = result_name(game.rules, result.state, lang)
        rows.append(f"     {say('won', lang, side=result.winner, points=result.points, name=name)}")
    return rows
