"""What is due in a game, and why anything else is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from nardcore.stakes import COLOURS

if TYPE_CHECKING:
    from nardcore._board import Position
    from nardcore._entries import GameResult, Resignation
    from nardcore.stakes import Stake
    from nardcore.typing import Dice

__all__ = ["ACTIONS", "Action", "State", "due", "why_not"]

Action: TypeAlias = Literal[
    "roll",
    "offer",
    "push",
    "accept",
    "refuse",
    "beaver",
    "resign",
    "accept_resignation",
    "refuse_resignation",
]

ACTIONS: Final[tuple[Action, ...]] = (
    "roll",
    "offer",
    "push",
    "accept",
    "refuse",
    "beaver",
    "resign",
    "accept_resignation",
    "refuse_resignation",
)
"""Everything a side may do in a game, by the names of the methods that do it."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything about a game that an action changes."""

    position: Position
    stake: Stake
    ply: int = 0
    dice: Dice | None = None
    resignation: Resignation | None = None
    result: GameResult | None = None


def due(state: State, opening: Dice | None) -> tuple[Action, ...]:
    """Name what may be done; `opening` are opening dice that are the first roll."""
    if state.result is not None:
        return ()
    if state.resignation is not None:
        return ("accept_resignation", "refuse_resignation")
    if state.stake.offered is not None:
        beaver: tuple[Action, ...] = () if state.stake.why_no_beaver() else ("beaver",)
        return ("accept", "refuse", *beaver)
    if state.dice is not None:
        return ("push", "resign")
    return ("roll", "resign") if _no_offer(state, opening) else ("roll", "offer", "resign")


def _no_offer(state: State, opening: Dice | None) -> str | None:
    if state.ply == 0 and opening is not None:
        return "the opening dice are the first roll, so there is no offer before it"
    return state.stake.why_not(state.position.turn)


def why_not(state: State, opening: Dice | None, what: Action) -> str:
    """Say why something is not due."""
    stake, who = state.stake, COLOURS[state.position.turn]
    if state.result is not None:
        return "the game is over"
    if state.resignation is not None:
        return f"{COLOURS[state.resignation.side]} has resigned and awaits the answer"
    if stake.by is not None:
        waits = f"{COLOURS[stake.by]} has offered {stake.word} and awaits the answer"
        return (stake.why_no_beaver() if what == "beaver" else None) or waits
    if what == "push":
        return f"{who} has not thrown yet"
    if what in ("roll", "offer") and state.dice is not None:
        return f"{who} has thrown {state.dice[0]}-{state.dice[1]}"
    if what == "offer":
        return _no_offer(state, opening) or "no offer is due"
    if what in ("accept", "refuse", "beaver"):
        return "nothing has been offered"
    return "nobody has resigned"
