"""From a record back to a game: every entry done again, as the rules allow it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from nardcore._entries import CubeAction, Move
from nardcore.errors import IllegalPlayError, NotDueError
from nardcore.stakes import COLOURS

if TYPE_CHECKING:
    from nardcore.game import Game
    from nardcore.records import Entry, GameRecord
    from nardcore.typing import Side

__all__ = ["enter_all"]


def enter_all(game: Game, record: GameRecord) -> None:
    """Do in a new game what was recorded; the work of `Game.from_record`."""
    game._head = dataclasses.replace(record, entries=(), result=None)
    for at, entry in enumerate(record.entries, 1):
        try:
            _enter(game, entry)
        except IllegalPlayError as error:
            msg = f"entry {at}: {error}"
            raise IllegalPlayError(msg) from error
        except NotDueError as error:
            msg = f"entry {at}: {error.args[0]}"
            raise NotDueError(msg, error.due) from error
    if record.result not in (None, game.result()):
        if game.over:
            msg = f"the game ended as {game.result()}, not as {record.result}"
            raise NotDueError(msg)
        # forfeited, or ended in a way that nobody wrote down
        game._state = dataclasses.replace(game._state, result=record.result)


def _enter(game: Game, entry: Entry) -> None:
    if isinstance(entry, Move):
        _must_be(game, entry.side, game.turn)
        if entry.dice is None:
            msg = "the dice are not known"
            raise NotDueError(msg, game.due)
        game.set_dice(entry.dice)
        if entry.steps is None:
            return
        game.push(entry.steps)
    elif isinstance(entry, CubeAction):
        _must_be(game, entry.side, game.to_act)
        getattr(game, entry.action)()
        done = game.entries[-1]
        assert isinstance(done, CubeAction)
        if done.value != entry.value:
            msg = f"the offer is to {done.value}, not to {entry.value}"
            raise NotDueError(msg, game.due)
    else:
        state = 0 if entry.state is None else entry.state
        game.resign(state, side=entry.side, accepted=entry.accepted)
    if entry.comment:
        game._entries[-1] = dataclasses.replace(game._entries[-1], comment=entry.comment)


def _must_be(game: Game, side: Side, due: Side) -> None:
    if not game.over and side != due:
        msg = f"{COLOURS[due]} is to act, not {COLOURS[side]}"
        raise NotDueError(msg, game.due)
