"""What was played, as plain values: moves, stake actions, games and matches.

A record holds what happened, right or wrong. A play that the rules forbid stays as it was written,
with the reason beside it, because a play stands once the next dice are thrown. Every value here is
immutable and equal to another with the same contents.

Steps are pairs ``(from, to)`` in the own numbers of the side that moves: 24 is the farthest point,
1 the last before bearing off, 25 the bar, 0 off. Sides are ``"w"`` and ``"b"``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nardcore._board import Position
from nardcore._entries import (
    MAX_LENGTH,
    CubeAction,
    Entry,
    GameResult,
    Move,
    Resignation,
    Steps,
    Throw,
    check_kind,
    check_number,
    check_pair,
    check_side,
    enter_steps,
    play_of,
    state_of,
)
from nardcore.errors import NotDueError
from nardcore.notation import as_dice
from nardcore.rules import Rules
from nardcore.stakes import COLOURS, Stake, other

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
    "Steps",
    "Throw",
    "check",
    "enter_steps",
    "play_of",
    "state_of",
]


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
    length : int
        Points of the match it belongs to; 0 in money play. A `MatchRecord` sets it in its games.

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
    length: int = 0

    def __post_init__(self) -> None:
        check_kind(Rules, self.rules, "rules")
        if self.start is not None:
            check_kind(Position, self.start, "start")
            same = self.start.rules.movement_fingerprint == self.rules.movement_fingerprint
            if not same:
                msg = "the first position is of other rules than the game"
                raise ValueError(msg)
        if self.first is not None:
            check_side(self.first, "first")
        if self.owner is not None:
            check_side(self.owner, "owner")
        check_number(self.stake, "stake", 1)
        check_number(self.length, "length", 0, MAX_LENGTH)
        for name in ("throws", "entries"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "score", check_pair(self.score, "score"))
        for points in self.score:
            check_number(points, "score", 0)

    @property
    def problems(self) -> tuple[tuple[Entry, str], ...]:
        """The entries that break the rules, each with the reason; see `check`."""
        return tuple((entry, entry.problem) for entry in self.entries if entry.problem is not None)

    @property
    def equal_throws(self) -> int:
        """How many throws for the first move were equal."""
        return sum(throw.white == throw.black for throw in self.throws)

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
        check_kind(Rules, self.rules, "rules")
        check_kind(str, self.white, "white")
        check_kind(str, self.black, "black")
        check_number(self.length, "length", 0, MAX_LENGTH)
        check_number(self.games_to_play, "games_to_play", 0, MAX_LENGTH)
        info: Any = self.info
        if hasattr(info, "items"):
            info = info.items()
        pairs = tuple((key, value) for key, value in info)
        for pair in pairs:
            for part in pair:
                check_kind(str, part, "info")
        object.__setattr__(self, "info", pairs)
        games = tuple(
            game if game.length == self.length else dataclasses.replace(game, length=self.length)
            for game in self.games
        )
        object.__setattr__(self, "games", games)

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


def impossible_score(score: tuple[int, int], length: int, *, crawford: bool) -> str | None:
    """Say why no game of a match begins at a score; None where one may, and in money play."""
    white, black = score
    if length and max(score) >= length:
        return f"a match to {length} is over at {white}-{black}"
    if length and crawford and length - 1 not in score:
        return f"nobody is a point away at {white}-{black} of {length}, so this is no Crawford game"
    return None


def check(record: GameRecord) -> GameRecord:
    """Replay a game and note beside each entry why the rules forbid it.

    Parameters
    ----------
    record : GameRecord
        Its own remarks on problems are replaced. What is wrong with the score is told with the
        first entry.

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
    referee = _Referee(record)
    entries = []
    position = record.opening
    for entry in record.entries:
        if isinstance(entry, Move) and entry.side != position.turn:
            position = position.flip()
        problem, position = referee(entry, position)
        entries.append(dataclasses.replace(entry, problem=problem))
    return dataclasses.replace(record, entries=tuple(entries))


class _Referee:
    """Whether each entry of a game was due, and what it leads to, right or wrong."""

    def __init__(self, record: GameRecord) -> None:
        self.stake = Stake.start(
            record.rules,
            value=record.stake,
            owner=record.owner,
            length=record.length,
            crawford=record.crawford,
            equal_throws=record.equal_throws,
        )
        self.turn = record.starter
        self.thrown = False
        self.score = impossible_score(record.score, record.length, crawford=self.stake.crawford)
        self.over = record.opening.outcome is not None
        self.opening: Dice | None = None
        last = record.throws[-1] if record.throws else None
        if last and last.white != last.black and record.rules.opening == "use_dice":
            self.opening = as_dice((last.white, last.black))

    def __call__(self, entry: Entry, position: Position) -> tuple[str | None, Position]:
        """Judge one entry, and give the position after it.

        The first one bears what is wrong with the score as well.
        """
        wrong, self.score = self.score, None
        fault: str | None = None
        after = position
        if isinstance(entry, Move):
            after, fault = enter_steps(position, entry)
        problem = self._judge(entry, after, fault)
        return "; ".join(part for part in (wrong, problem) if part) or None, after

    def _judge(self, entry: Entry, after: Position, fault: str | None) -> str | None:
        if self.over:
            return "the game is over"
        if isinstance(entry, Move):
            return self._move(entry, after, fault)
        if isinstance(entry, CubeAction):
            return self._action(entry)
        problem = f"{self.stake.word} awaits its answer" if self.stake.offered else None
        self.over = entry.accepted
        return problem

    def _move(self, move: Move, after: Position, fault: str | None) -> str | None:
        problems = []
        if self.stake.offered:
            problems.append(f"{self.stake.word} awaits its answer")
        if move.side != self.turn:
            problems.append(f"it is {COLOURS[self.turn]}'s turn")
        elif self.thrown:
            problems.append(f"{COLOURS[self.turn]} has thrown already")
        if self.opening and move.dice not in (None, self.opening):
            larger, smaller = self.opening
            problems.append(f"the opening dice {larger}-{smaller} are the first roll")
        self.opening = None
        self.thrown = move.steps is None
        self.turn = move.side
        if move.steps is not None:
            if fault:
                problems.append(fault)
            self.over = after.outcome is not None
            self.turn = other(move.side)
        return "; ".join(problems) or None

    def _action(self, entry: CubeAction) -> str | None:
        before = self.stake
        try:
            problem = self._offer(entry) if entry.action == "offer" else self._answer(entry)
        except NotDueError as error:
            problem = str(error)
            self._take(entry, before)
        return problem

    def _offer(self, entry: CubeAction) -> str | None:
        self.stake = self.stake.offer(entry.side)
        problem = self._worth(entry)
        if entry.side != self.turn:
            return f"it is {COLOURS[self.turn]}'s turn"
        if self.thrown:
            return f"{COLOURS[self.turn]} has thrown already"
        if self.opening:
            return "the opening dice are the first roll, so there is no offer before it"
        return problem

    def _worth(self, entry: CubeAction) -> str | None:
        if entry.value == self.stake.offered:
            return None
        offered = self.stake.offered
        self.stake = dataclasses.replace(self.stake, offered=entry.value)
        return f"the offer is to {offered}, not to {entry.value}"

    def _answer(self, entry: CubeAction) -> str | None:
        stake, problem = self.stake, None
        if stake.by == entry.side:
            problem = f"the answer is {COLOURS[other(entry.side)]}'s"
        if entry.action == "beaver":
            self.stake = stake.beaver()
            return self._worth(entry) or problem
        if stake.offered is not None:
            problem = self._worth(entry) or problem
        if entry.action == "accept":
            self.stake = self.stake.accept()
        else:
            stake.refuse()
            self.over = True
        return problem

    def _take(self, entry: CubeAction, before: Stake) -> None:
        """Go on from what was done, though it was not due."""
        if entry.action in ("offer", "beaver"):
            taker = other(entry.side) if entry.action == "offer" else entry.side
            self.stake = dataclasses.replace(
                before,
                offered=entry.value,
                by=entry.side,
                taker=taker,
                before=before.offered or before.value,
            )
        elif entry.action == "accept":
            self.stake = dataclasses.replace(
                before, value=entry.value, owner=entry.side, turned=True, offered=None
            )
        else:
            self.over = True
