"""What games consist of: moves, stake actions, resignations; `nardcore.records` gives them out."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from nardcore._board import Position
from nardcore.errors import (
    AmbiguousPlayError,
    IllegalPlayError,
    InvalidPlayError,
    PositionError,
)
from nardcore.notation import as_dice, format_play
from nardcore.rules import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from nardcore._board import Play, Plays
    from nardcore.typing import Dice, Side

__all__ = [
    "MAX_LENGTH",
    "CubeAction",
    "Entry",
    "GameResult",
    "Move",
    "Resignation",
    "Steps",
    "Throw",
    "check_kind",
    "check_number",
    "check_pair",
    "check_side",
    "check_throws",
    "enter_steps",
    "play_of",
    "state_of",
]

Steps: TypeAlias = tuple[tuple[int, int], ...]
"""Steps (from, to) in the mover's own numbers: 24 to 1, bar 25, off 0."""

Action: TypeAlias = Literal["offer", "accept", "refuse", "beaver"]
Reason: TypeAlias = Literal["played", "refused", "resigned", "forfeit", "unknown"]

ACTIONS: tuple[Action, ...] = ("offer", "accept", "refuse", "beaver")
REASONS: tuple[Reason, ...] = ("played", "refused", "resigned", "forfeit", "unknown")
_BAR, _OFF = 25, 0

MAX_LENGTH = 32_767
"""The most points, or games, that a match goes to: what a gnubg match ID holds."""


# -------------------------------------------------------------------------------- what is checked


def check_side(value: object, what: str = "side") -> None:
    if not (isinstance(value, str) and value in ("w", "b")):
        msg = f"{what} is 'w' or 'b', not {value!r}"
        raise ValueError(msg)


def check_number(value: object, what: str, least: int, most: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{what} is an int, not {value!r}"
        raise TypeError(msg)
    if value < least:
        msg = f"{what} is {least} or more, not {value}"
        raise ValueError(msg)
    if most is not None and value > most:
        shown = value if value < 10**20 else "more"
        msg = f"{what} is {least} to {most:,}, not {shown}"
        raise ValueError(msg)


def check_pair(value: Any, what: str) -> tuple[int, int]:
    try:
        first, second = value
    except (TypeError, ValueError):
        msg = f"{what} is a pair of ints, not {value!r}"
        raise ValueError(msg) from None
    return first, second


def _one_of(value: object, words: tuple[str, ...], what: str) -> None:
    if value not in words:
        msg = f"{what} is one of {', '.join(words)}, not {value!r}"
        raise ValueError(msg)


def check_kind(kind: type, value: object, what: str) -> None:
    if not isinstance(value, kind):
        msg = f"{what} is a {kind.__name__}, not {value!r}"
        raise TypeError(msg)


def _steps(value: Any) -> Steps:
    """Check steps: numbers of the board, whatever the rules say about them."""
    found = []
    for step in value:
        try:
            start, end = (index(number) for number in step)
        except (TypeError, ValueError):
            msg = f"a step is a pair (from, to) of ints, not {step!r}"
            raise TypeError(msg) from None
        if not (_OFF <= start <= _BAR and _OFF <= end <= _BAR):
            msg = f"a step is between 25 (bar) and 0 (off), not {start}/{end}"
            raise ValueError(msg)
        found.append((start, end))
    return tuple(found)


# --------------------------------------------------------------------------------------- entries


@dataclass(frozen=True, slots=True)
class Move:
    """One turn: a roll and what was played with it.

    Attributes
    ----------
    side : {"w", "b"}
        Who moved.
    dice : (int, int) or None
        Larger first; None where the record does not tell them.
    steps : tuple of (int, int) or None
        The steps in the mover's own numbers. An empty tuple is a pass; None means that the roll was
        not played or that nobody wrote down how.
    problem : str or None
        Why the rules forbid the recorded play; see `check`.
    line : int or None
        The line of the file it was read from. Not compared.
    comment : str
        Free text.

    Examples
    --------
    >>> from nardcore.records import Move
    >>> move = Move("w", (1, 3), ((8, 5), (6, 5)))
    >>> move.dice, str(move)
    ((3, 1), '8/5 6/5')
    """

    side: Side
    dice: Dice | None
    steps: Steps | None = None
    problem: str | None = None
    line: int | None = field(default=None, compare=False)
    comment: str = ""

    def __post_init__(self) -> None:
        check_side(self.side)
        if self.dice is not None:
            object.__setattr__(self, "dice", as_dice(self.dice))
        if self.steps is not None:
            object.__setattr__(self, "steps", _steps(self.steps))

    def __str__(self) -> str:
        if self.steps is None:
            return "???"
        try:
            return format_play((a, b, False) for a, b in self.steps)
        except InvalidPlayError:  # a step that leads nowhere is still shown
            return " ".join(f"{a}/{b}" for a, b in self.steps)


@dataclass(frozen=True, slots=True)
class CubeAction:
    """An offer to raise the stake or the answer to one, by cube and dave alike.

    Attributes
    ----------
    side : {"w", "b"}
        Who offers or answers.
    action : {"offer", "accept", "refuse", "beaver"}
        What it does. A beaver accepts and raises once more.
    value : int
        The stake that is played for once the offer is accepted. For a refusal, the stake that was
        offered.
    problem, line, comment
        As for `Move`.

    Examples
    --------
    >>> from nardcore.records import CubeAction
    >>> CubeAction("w", "offer", 2) == CubeAction("w", "offer", 2, line=17)
    True
    """

    side: Side
    action: Action
    value: int
    problem: str | None = None
    line: int | None = field(default=None, compare=False)
    comment: str = ""

    def __post_init__(self) -> None:
        check_side(self.side)
        _one_of(self.action, ACTIONS, "action")
        check_number(self.value, "value", 1)


@dataclass(frozen=True, slots=True)
class Resignation:
    """A side gives the game up.

    Attributes
    ----------
    side : {"w", "b"}
        Who resigns.
    state : int or None
        The loser's state it concedes, 0 to 4 in the order of the scoring table; None where that is
        not known. A name such as ``"all_home"`` is read as its number.
    accepted : bool
        Whether the other side took it; if not, the game goes on.
    problem, line, comment
        As for `Move`.

    Examples
    --------
    >>> from nardcore.records import Resignation
    >>> Resignation("b", "all_home").state
    1
    """

    side: Side
    state: int | None = None
    accepted: bool = True
    problem: str | None = None
    line: int | None = field(default=None, compare=False)
    comment: str = ""

    def __post_init__(self) -> None:
        check_side(self.side)
        if self.state is not None:
            object.__setattr__(self, "state", state_of(self.state))


Entry: TypeAlias = Move | CubeAction | Resignation
"""Whatever a game consists of, in the order it happened."""


@dataclass(frozen=True, slots=True)
class Throw:
    """One throw for the first move: a die of each side. Equal dice are thrown again.

    Attributes
    ----------
    white, black : int
        The dice.

    Examples
    --------
    >>> from nardcore.records import Throw
    >>> Throw(white=5, black=2).black
    2
    """

    white: int
    black: int

    def __post_init__(self) -> None:
        as_dice((self.white, self.black))


def check_throws(throws: Iterable[tuple[int, int]]) -> tuple[Throw, ...]:
    """Check the throws for a first move: equal dice but for the last throw."""
    try:
        pairs = [(white, black) for white, black in throws]
    except (TypeError, ValueError):
        msg = "throws are pairs of dice such as [(6, 6), (5, 3)]"
        raise TypeError(msg) from None
    found = tuple(Throw(white, black) for white, black in pairs)
    if not found or found[-1].white == found[-1].black:
        msg = "the last throw for the first move has two different dice"
        raise ValueError(msg)
    if any(throw.white != throw.black for throw in found[:-1]):
        msg = "different dice decide who begins, so there is no throw after them"
        raise ValueError(msg)
    return found


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended.

    Attributes
    ----------
    winner : {"w", "b"}
        The side that won.
    state : int
        The loser's state, 0 to 4: a checker off, all home, one outside, one in the winner's home,
        one on the bar (koks). What a refusal or resignation conceded, where nothing was played out.
    points : int
        What the winner gets, stake included.
    stake : int
        The stake the game ended at.
    reason : {"played", "refused", "resigned", "forfeit", "unknown"}
        What ended it.

    Examples
    --------
    >>> from nardcore.records import GameResult
    >>> GameResult("w", 2, points=8, stake=4).name
    'outside'
    """

    winner: Side
    state: int
    points: int
    stake: int = 1
    reason: Reason = "played"

    def __post_init__(self) -> None:
        check_side(self.winner, "winner")
        object.__setattr__(self, "state", state_of(self.state))
        check_number(self.points, "points", 0)
        check_number(self.stake, "stake", 1)
        _one_of(self.reason, REASONS, "reason")

    @property
    def name(self) -> str:
        """The loser's state by name."""
        return STATES[self.state]


def state_of(state: int | str) -> int:
    """Give the number of a loser's state.

    Parameters
    ----------
    state
        0 to 4, or one of ``any_off``, ``all_home``, ``outside``, ``winner_home``, ``bar``.

    Returns
    -------
    int

    Examples
    --------
    >>> from nardcore.records import state_of
    >>> state_of("bar"), state_of(2)
    (4, 2)
    """
    if isinstance(state, str):
        _one_of(state, STATES, "state")
        return STATES.index(state)
    check_number(state, "state", 0)
    if state >= len(STATES):
        msg = f"state is 0 to {len(STATES) - 1}, not {state}"
        raise ValueError(msg)
    return state


def play_of(plays: Plays, steps: Steps) -> Play:
    """Find the legal play that recorded steps mean.

    Parameters
    ----------
    plays : Plays
        Of the position and the roll.
    steps : tuple of (int, int)
        In the mover's own numbers; steps of one checker may be joined.

    Returns
    -------
    Play

    Raises
    ------
    IllegalPlayError, AmbiguousPlayError
        As `Plays.find`.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.records import play_of
    >>> play_of(nc.Position.start().plays((6, 5)), ((24, 13),))
    <Play 24/18/13>
    """
    raw, _ = _raw(plays.position, steps)
    if raw is not None and len(plays):
        same = (plays.boards.view(np.int64) == raw.view(np.int64)).all(axis=1)  # 8 bytes at once
        at = int(same.argmax())
        if same[at]:
            return plays[at]
    return plays.find(" ".join(f"{a}/{b}" for a, b in steps) or "pass")


def enter_steps(position: Position, move: Move) -> tuple[Position, str | None]:
    """Take the steps of a recorded move, legal or not.

    Parameters
    ----------
    position : Position
        Before the roll, seen by the side that moves.
    move : Move
        What was recorded.

    Returns
    -------
    position : Position
        After the move, seen by the other side. A move without steps leaves position and turn as
        they are.
    problem : str or None
        Why the rules forbid it; None where they do not or where the dice are not known.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.records import Move, enter_steps
    >>> after, problem = enter_steps(nc.Position.start(), Move("w", (3, 1), ((8, 4), (6, 5))))
    >>> after.pips, problem[:34]
    ((167, 162), '8/4 6/5 is illegal with 3-1: it ta')
    """
    if move.steps is None:
        return position, None
    if move.dice is not None and position.outcome is None:
        try:
            return play_of(position.plays(move.dice), move.steps).result, None
        except (IllegalPlayError, AmbiguousPlayError, InvalidPlayError) as error:
            fault: str | None = str(error)
        raw, _ = _raw(position, move.steps)
    else:
        raw, fault = _raw(position, move.steps)
        if position.outcome is not None:
            fault = "the game is over"
    if raw is None:
        return position.flip(), fault
    try:
        return Position.from_board(raw, position.rules).flip(), fault
    except PositionError as error:
        return position.flip(), fault or str(error)


def _raw(position: Position, steps: Steps) -> tuple[NDArray[np.int8] | None, str | None]:
    """Move checkers without asking the rules; None and the reason where they cannot be moved."""
    board = position.board.copy()
    board[29] &= ~1
    closed = -1 if position.rules.movement == "long" else -2
    # from the farthest point on, so that a checker has arrived before it goes on
    for start, end in sorted(steps, reverse=True):
        at = 24 if start == _BAR else start - 1
        if start == _OFF or board[at] <= 0:
            return None, f"there is no checker to move from {start}"
        if end >= start:
            return None, f"{start}/{end} leads backwards"
        if end != _OFF and board[end - 1] <= closed:
            return None, f"point {end} is closed by the opponent"
        board[at] -= 1
        if end == _OFF:
            board[26] += 1
            continue
        if board[end - 1] == -1:
            board[end - 1] = 0
            board[25] += 1
        board[end - 1] += 1
    return board, None
