"""What was played, as plain values: moves, stake actions, games and matches.

A record holds what happened, right or wrong. A play that the rules forbid stays as it was written,
with the reason beside it, because a play stands once the next dice are thrown. Every value here is
immutable and equal to another with the same contents.

Steps are pairs ``(from, to)`` in the own numbers of the side that moves: 24 is the farthest point,
1 the last before bearing off, 25 the bar, 0 off. Sides are ``"w"`` and ``"b"``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nardcore._board import Position
from nardcore.errors import AmbiguousPlayError, IllegalPlayError, InvalidPlayError
from nardcore.notation import as_dice, format_play
from nardcore.rules import STATES, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from nardcore.typing import Dice, Side

__all__ = [
    "CubeAction",
    "Entry",
    "GameRecord",
    "GameResult",
    "MatchRecord",
    "Move",
    "Resignation",
    "Throw",
    "check",
    "enter_steps",
    "state_of",
]

Steps: TypeAlias = tuple[tuple[int, int], ...]
Action: TypeAlias = Literal["offer", "accept", "refuse", "beaver"]
Reason: TypeAlias = Literal["played", "refused", "resigned", "forfeit", "unknown"]

ACTIONS: tuple[Action, ...] = ("offer", "accept", "refuse", "beaver")
REASONS: tuple[Reason, ...] = ("played", "refused", "resigned", "forfeit", "unknown")
_BAR, _OFF = 25, 0


# -------------------------------------------------------------------------------- what is checked


def _side(value: object, what: str = "side") -> None:
    if not (isinstance(value, str) and value in ("w", "b")):
        msg = f"{what} is 'w' or 'b', not {value!r}"
        raise ValueError(msg)


def _whole(value: object, what: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{what} is an int, not {value!r}"
        raise TypeError(msg)
    if value < least:
        msg = f"{what} is {least} or more, not {value}"
        raise ValueError(msg)


def _one_of(value: object, words: tuple[str, ...], what: str) -> None:
    if value not in words:
        msg = f"{what} is one of {', '.join(words)}, not {value!r}"
        raise ValueError(msg)


def _a(kind: type, value: object, what: str) -> None:
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
        _side(self.side)
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
        _side(self.side)
        _one_of(self.action, ACTIONS, "action")
        _whole(self.value, "value", 1)


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
        _side(self.side)
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
        _side(self.winner, "winner")
        object.__setattr__(self, "state", state_of(self.state))
        _whole(self.points, "points", 0)
        _whole(self.stake, "stake", 1)
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
    _whole(state, "state", 0)
    if state >= len(STATES):
        msg = f"state is 0 to {len(STATES) - 1}, not {state}"
        raise ValueError(msg)
    return state


# ----------------------------------------------------------------------------------------- a game


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game from its first throw to its result.

    Attributes
    ----------
    rules : Rules
        What it is played by.
    start : Position or None
        The first position where it is not that of the rules.
    first : {"w", "b"} or None
        Who moves first; None where the record does not say, and the first entry does.
    throws : tuple of Throw
        The throws for the first move, equal ones included.
    score : (int, int)
        White's and black's points before the game.
    crawford : bool
        Whether this is the game of a match in which nobody may double.
    stake : int
        The stake before anything happened, automatic doubles aside.
    owner : {"w", "b"} or None
        Who may raise that stake; None for either side.
    entries : tuple of Move, CubeAction, Resignation
        What happened.
    result : GameResult or None
        None while the game is not over.
    comment : str
        Free text.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.records import GameRecord, Move
    >>> game = GameRecord(nc.BACKGAMMON, entries=(Move("w", (3, 1), ((8, 5), (6, 5))),))
    >>> [position.pips for entry, position in game.positions()], game.final.pips
    ([(167, 167)], (167, 163))
    """

    rules: Rules
    start: Position | None = None
    first: Side | None = None
    throws: tuple[Throw, ...] = ()
    score: tuple[int, int] = (0, 0)
    crawford: bool = False
    stake: int = 1
    owner: Side | None = None
    entries: tuple[Entry, ...] = ()
    result: GameResult | None = None
    comment: str = ""

    def __post_init__(self) -> None:
        _a(Rules, self.rules, "rules")
        if self.start is not None:
            _a(Position, self.start, "start")
            same = self.start.rules.movement_fingerprint == self.rules.movement_fingerprint
            if not same:
                msg = "the first position is of other rules than the game"
                raise ValueError(msg)
        if self.first is not None:
            _side(self.first, "first")
        if self.owner is not None:
            _side(self.owner, "owner")
        _whole(self.stake, "stake", 1)
        for name in ("throws", "score", "entries"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.score) != 2:
            msg = f"score is a pair of ints, not {self.score!r}"  # type: ignore[unreachable]
            raise ValueError(msg)
        for points in self.score:
            _whole(points, "score", 0)

    @property
    def starter(self) -> Side:
        """Who moves first, as far as the record tells; white if nothing does."""
        if self.first is not None:
            return self.first
        for throw in self.throws:
            if throw.white != throw.black:
                return "w" if throw.white > throw.black else "b"
        for entry in self.entries:
            if isinstance(entry, Move):
                return entry.side
        return self.start.turn if self.start is not None else "w"

    @property
    def opening(self) -> Position:
        """The first position, seen by the side that begins."""
        position = self.start if self.start is not None else Position.start(self.rules)
        return _seen_by(position, self.starter) if self.start is None else _turned(self)

    def positions(self) -> Iterator[tuple[Entry, Position]]:
        """Walk through the entries, each with the position before it.

        Steps that the rules forbid are taken as they are written wherever the checkers allow it;
        where they do not, the position stays.

        Yields
        ------
        entry : Move, CubeAction or Resignation
        position : Position
            Seen by the side on turn: for a move, the side that makes it.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.records import GameRecord, Move
        >>> pass_ = Move("b", (6, 6), ())
        >>> game = GameRecord(nc.LONG_NARDY, first="w", entries=(pass_,))
        >>> [(entry is pass_, position.turn) for entry, position in game.positions()]
        [(True, 'b')]
        """
        position = self.opening
        for entry in self.entries:
            if isinstance(entry, Move) and entry.side != position.turn:
                position = position.flip()
            yield entry, position
            if isinstance(entry, Move):
                position = enter_steps(position, entry)[0]

    @property
    def final(self) -> Position:
        """The position after the last entry, seen by the side that would be on turn."""
        position = self.opening
        for entry, before in self.positions():
            position = enter_steps(before, entry)[0] if isinstance(entry, Move) else before
        return position


def _board_seen_by(position: Position, side: Side) -> NDArray[np.int8]:
    board = position.board.copy()
    board[28] = side == "b"
    return board


def _seen_by(position: Position, side: Side) -> Position:
    """Say that the mover of a position is the side of this colour."""
    if position.turn == side:
        return position
    return Position.from_board(_board_seen_by(position, side), position.rules)


def _turned(record: GameRecord) -> Position:
    assert record.start is not None
    start = record.start.with_rules(record.rules)
    return start if start.turn == record.starter else start.flip()


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
    raw, fault = _raw(position, move.steps)
    if move.dice is None or position.outcome is not None:
        if position.outcome is not None:
            fault = "the game is over"
        return (position.flip() if raw is None else raw.flip()), fault
    plays = position.plays(move.dice)
    if raw is not None and (plays.boards == raw.board).all(axis=1).any():
        return raw.flip(), None
    try:
        return plays.find(_written(move.steps)).result, None
    except (IllegalPlayError, AmbiguousPlayError, InvalidPlayError) as error:
        return (position.flip() if raw is None else raw.flip()), str(error)


def _written(steps: Steps) -> str:
    return " ".join(f"{a}/{b}" for a, b in steps) or "pass"


def _raw(position: Position, steps: Steps) -> tuple[Position | None, str | None]:
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
    return Position.from_board(board, position.rules), None


# ---------------------------------------------------------------------------------------- a match


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match or a session of games.

    Attributes
    ----------
    rules : Rules
        What is played.
    white, black : str
        Names of the players.
    length : int
        Points to win; 0 for a session that no number of points ends.
    games_to_play : int
        How many games there are; 0 where nothing says so.
    games : tuple of GameRecord
        The games so far.
    info : tuple of (str, str)
        Whatever else is known, such as ``("event", "...")`` or ``("date", "...")``.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.records import GameRecord, GameResult, MatchRecord
    >>> won = GameRecord(nc.BACKGAMMON, score=(3, 1), result=GameResult("w", 0, points=2, stake=2))
    >>> match = MatchRecord(nc.BACKGAMMON, length=5, games=(won,))
    >>> match.score, match.winner
    ((5, 1), 'w')
    """

    rules: Rules
    white: str = "White"
    black: str = "Black"
    length: int = 0
    games_to_play: int = 0
    games: tuple[GameRecord, ...] = ()
    info: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _a(Rules, self.rules, "rules")
        _a(str, self.white, "white")
        _a(str, self.black, "black")
        _whole(self.length, "length", 0)
        _whole(self.games_to_play, "games_to_play", 0)
        info: Any = self.info
        if hasattr(info, "items"):
            info = info.items()
        pairs = tuple((key, value) for key, value in info)
        for pair in pairs:
            for part in pair:
                _a(str, part, "info")
        object.__setattr__(self, "info", pairs)
        object.__setattr__(self, "games", tuple(self.games))

    @property
    def score(self) -> tuple[int, int]:
        """White's and black's points after the last game."""
        if not self.games:
            return 0, 0
        last = self.games[-1]
        white, black = last.score
        if last.result is None:
            return white, black
        won = last.result.points
        return (white + won, black) if last.result.winner == "w" else (white, black + won)

    @property
    def winner(self) -> Side | None:
        """Who has won; None while nobody has, and for a session without an end."""
        white, black = self.score
        if self.length:
            if max(white, black) < self.length:
                return None
        elif not self.games_to_play or sum(g.result is not None for g in self.games) < (
            self.games_to_play
        ):
            return None
        if white == black:
            return None
        return "w" if white > black else "b"

    def details(self) -> Mapping[str, str]:
        """Give `info` as a mapping; of equal keys the last one counts.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.records import MatchRecord
        >>> MatchRecord(nc.TRIKTRAK, info=(("event", "Club"),)).details()
        {'event': 'Club'}
        """
        return dict(self.info)


# ---------------------------------------------------------------------------------------- checking


def check(record: GameRecord) -> GameRecord:
    """Replay a game and note beside each entry why the rules forbid it.

    Parameters
    ----------
    record : GameRecord
        Its own remarks on problems are replaced.

    Returns
    -------
    GameRecord
        The same entries, each with `problem` set or None. Nothing is repaired.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.records import GameRecord, Move, check
    >>> record = GameRecord(nc.BACKGAMMON, entries=(Move("w", (6, 5), ((24, 18), (13, 9))),))
    >>> check(record).entries[0].problem
    '24/18 13/9 is illegal with 6-5: 13/9 takes 4 pips, which the dice do not give; near: ...'
    """
    entries: list[Entry] = []
    for entry, position in record.positions():
        problem = enter_steps(position, entry)[1] if isinstance(entry, Move) else None
        entries.append(dataclasses.replace(entry, problem=problem))
    return dataclasses.replace(record, entries=tuple(entries))
