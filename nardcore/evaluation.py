"""What positions and plays are worth: an evaluator, a few rolls of look-ahead, exact tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from nardcore import _movegen, _rollout, _search
from nardcore._board import Position
from nardcore._ratings import check_tables, inclusive, rater, signed_points, swapped
from nardcore.dice import ROLLS
from nardcore.policies import (
    FILTERS,
    check_filters,
    check_plies,
    name_of,
    net_approximates,
    resolve,
    search_of,
)
from nardcore.rules import BACKGAMMON, STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from nardcore._board import Play
    from nardcore._ratings import Rater
    from nardcore.rules import Rules
    from nardcore.typing import Dice, PolicyLike, Progress

__all__ = ["Outcomes", "RankedPlay", "best_play", "evaluate", "evaluate_boards", "rank_plays"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Chances of the ten outcome classes, of the side on roll before its roll.

    In a `RankedPlay` they are those of the side that makes the play.

    Attributes
    ----------
    probabilities : ndarray of float64, shape (10,)
        Five of a win by the loser's state, five of a loss; see `nardcore.rollouts.CLASSES`.
    rules : Rules
        Their points are the equity's.
    plies : int
        How many rolls were looked ahead.
    evaluator : str
        By what.
    exact : bool
        Whether a table knows the position, or the game is over.

    Examples
    --------
    >>> import nardcore as nc
    >>> def even(boards):
    ...     return np.full((len(boards), 10), 0.1)
    >>> p = nc.Position({1: 2}, {1: 3})
    >>> nc.evaluate(p, evaluator=even, plies=1).win  # the next roll bears both off
    1.0
    """

    probabilities: NDArray[np.float64]
    rules: Rules
    plies: int
    evaluator: str
    exact: bool = False

    def __post_init__(self) -> None:
        self.probabilities.setflags(write=False)

    @property
    def win(self) -> float:
        """Chance to win."""
        return float(self.probabilities[:5].sum())

    @property
    def approximate(self) -> bool:
        """Whether the shipped net said it, which learned by rules that move a little differently.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.evaluate(nc.Position.start(nc.NACKGAMMON)).approximate
        True
        """
        return self.evaluator == "net" and not self.exact and net_approximates(self.rules)

    @property
    def how(self) -> str:
        """Where it comes from, in words.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.evaluate(nc.Position.start(nc.NACKGAMMON), plies=1).how
        'net, 1-ply, approximate'
        """
        if self.exact:
            return "exact"
        return f"{self.evaluator}, {self.plies}-ply" + ", approximate" * self.approximate

    @property
    def inclusive(self) -> dict[str, float]:
        """The chances as other programs print them: a gammon includes the backgammons."""
        return inclusive(self.probabilities)

    def equity(self, scoring: str | Sequence[float] | None = None) -> float:
        """Points a game under a scoring, the rules' own by default; stakes are not counted.

        Examples
        --------
        >>> import nardcore as nc
        >>> def even(boards):
        ...     return np.full((len(boards), 10), 0.1)
        >>> round(nc.evaluate(nc.Position.start(), evaluator=even).equity(), 6)
        0.0
        """
        points = signed_points(scoring, self.rules)[:5]
        return _equity(points, self.probabilities)

    def table(self) -> str:
        """Give the chances as a small table of text.

        Examples
        --------
        >>> import nardcore as nc
        >>> def even(boards):
        ...     return np.full((len(boards), 10), 0.1)
        >>> print(nc.evaluate(nc.Position.start(), evaluator=even).table())
        loser's state     win    loss
        any off        10.00%  10.00%
        all home       10.00%  10.00%
        outside        10.00%  10.00%
        winner home    10.00%  10.00%
        bar            10.00%  10.00%
        all            50.00%  50.00%
        equity +0.0000 (backgammon)
        """
        p = self.probabilities
        lines = [f"{chr(39).join(('loser', 's state')):<13} {'win':>7} {'loss':>7}"]
        for i, state in enumerate(STATES):
            name = state.replace("_", " ").lower()
            lines.append(f"{name:<13} {p[i]:>7.2%} {p[5 + i]:>7.2%}")
        lines.append(f"{'all':<13} {p[:5].sum():>7.2%} {p[5:].sum():>7.2%}")
        lines.append(f"equity {self.equity():+.4f} ({self.rules.name})")
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcomes):
            return NotImplemented
        return self.rules == other.rules and bool((self.probabilities == other.probabilities).all())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<Outcomes win {100 * self.win:.2f} %, equity {self.equity():+.4f} by "
            f"{self.rules.name}, {self.how}>"
        )


@dataclass(frozen=True)
class RankedPlay:
    """A play and what it is worth.

    Attributes
    ----------
    play : Play
        The play.
    outcomes : Outcomes
        The chances of the side that makes it, after it.
    equity : float
        Points a game under the scoring that was asked for.
    loss : float
        How much less than the best play.
    plies : int
        How many rolls were looked ahead: fewer where a filter took the play out.

    Examples
    --------
    >>> import nardcore as nc
    >>> def even(boards):
    ...     return np.full((len(boards), 10), 0.1)
    >>> ranked = nc.rank_plays(nc.Position({1: 1, 3: 1}, {1: 3}), (3, 1), evaluator=even)
    >>> ranked[0].equity, ranked[0].play.result.outcome is not None
    (1.0, True)
    """

    play: Play
    outcomes: Outcomes
    equity: float
    loss: float
    plies: int

    def __repr__(self) -> str:
        return (
            f"<RankedPlay {self.play}: {self.equity:+z.4f} ({-self.loss:z.4f}), {self.plies}-ply>"
        )


def _equity(points: NDArray[np.float64], p: NDArray[np.float64]) -> float:
    parts = points * (p[:5] - p[5:])
    return float(parts[0] + parts[1] + parts[2] + parts[3] + parts[4])


# ---------------------------------------------------------------------------------------- requests


@dataclass(frozen=True)
class _Request:
    """How positions are to be evaluated."""

    rater: Rater
    name: str
    plies: int
    rules: Rules
    points: NDArray[np.float64]
    filters: tuple[tuple[int, float], ...]
    probes: list[Any]
    threads: int | None
    progress: Progress | None

    @staticmethod
    def make(
        rules: Rules,
        plies: int,
        evaluator: PolicyLike | None,
        tables: Sequence[Any],
        filters: Sequence[tuple[int, float]],
        scoring: str | Sequence[float] | None,
        threads: int | None,
        progress: Progress | None = None,
    ) -> _Request:
        from nardcore._work import workers

        plies, filters = check_plies(plies), check_filters(filters)
        asked: PolicyLike = resolve("net" if evaluator is None else evaluator)
        if search_of(asked) is not None:
            msg = "the evaluator is a Search; name what it rates by, and say plies="
            raise ValueError(msg)
        workers(threads, None)
        points = signed_points(scoring, rules)
        probes = check_tables(tables, rules, points)
        made = rater(asked, rules, points, probes, filters)
        return _Request(
            made, name_of(asked), plies, rules, points, filters, probes, threads, progress
        )

    @property
    def native(self) -> bool:
        """Whether threads help."""
        return self.rater.searcher is not None


def _values(
    request: _Request, boards: NDArray[np.int8], plies: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Give the value of every position, finished ones too, and say which are exact."""
    values = np.zeros((len(boards), 10))
    classes = _movegen.results(boards, request.rules).astype(np.int64)
    exact = classes >= 0
    values[np.flatnonzero(exact), classes[exact]] = 1
    if request.probes:
        capsules = [probe.capsule for probe in request.probes]
        rest = np.flatnonzero(~exact)
        known, found = _search.probe_tables(capsules, np.ascontiguousarray(boards[rest]))
        values[rest[known]] = found[known]
        exact[rest[known]] = True
    rest = np.flatnonzero(~exact)
    if len(rest):
        values[rest] = _search_positions(request, np.ascontiguousarray(boards[rest]), plies)
    return values, exact


def _search_positions(
    request: _Request, boards: NDArray[np.int8], plies: int
) -> NDArray[np.float64]:
    """Look ahead from unfinished positions that no table knows."""
    from nardcore._work import in_order

    if plies == 0:
        task: Any = partial(_static, request, boards)
        total = len(boards)
        size = 4096
    else:
        task = partial(_rolls, request, boards, plies)
        total = 21 * len(boards)
        size = {1: 21 * 64, 2: 63, 3: 3}[plies] if request.native else 21 * 64
    items = [(at, min(at + size, total)) for at in range(0, total, size)]
    stop = _rollout.Stop()
    task = partial(task, stop)
    threads = request.threads if request.native else 1
    parts: list[Any] = [None] * len(items)
    if len(items) == 1:
        parts[0] = task(*items[0])
    else:
        for number, ((_, done), found) in enumerate(in_order(task, items, stop, threads)):
            parts[number] = found
            if request.progress is not None:
                request.progress(done * len(boards) // total, len(boards))
    joined = np.concatenate(parts)
    return joined if plies == 0 else _search.gather_rolls(joined)


def _static(
    request: _Request, boards: NDArray[np.int8], stop: _rollout.Stop, first: int, last: int
) -> NDArray[np.float64]:
    found = request.rater.values(boards[first:last], 0, stop)
    return np.zeros((0, 10)) if found is None else found


def _rolls(
    request: _Request,
    boards: NDArray[np.int8],
    plies: int,
    stop: _rollout.Stop,
    first: int,
    last: int,
) -> NDArray[np.float64]:
    """Rate the best plays of rolls number first .. last - 1, 21 to a position."""
    at = np.arange(first, last)
    rolls = np.array(ROLLS, np.int8)[at % 21]
    found = request.rater.rolls(boards[at // 21], rolls, plies, stop)
    return np.zeros((0, 10)) if found is None else found[0]


# --------------------------------------------------------------------------------------- functions


@overload
def evaluate(
    position: Position,
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Outcomes: ...
@overload
def evaluate(
    position: Sequence[Position],
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Outcomes]: ...
def evaluate(
    position: Position | Sequence[Position],
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Outcomes | list[Outcomes]:
    """Say what a position is worth for the side on roll, before its roll.

    Parameters
    ----------
    position
        A position, or several of the same rules; `nardcore.batch.evaluate` takes arrays.
    plies
        How many rolls to look ahead, 0 to 3. 0 asks the evaluator alone (gnubg's 0-ply, bgsage's
        1-ply), 1 averages the 21 rolls with the best reply by it, and so on.
    evaluator
        The shipped net by default, or an `Evaluator` of chances, or a function that takes results
        of rolls as ``int8[n, 32]``, in the view of the side that has just moved, and returns
        ``float[n, 10]`` chances for it.
    tables
        Bear-off tables, asked at every position of the search.
    filters
        Which plays the search rates deeper; see `nardcore.policies.FILTERS`.
    scoring
        What plays are chosen for, the rules' own by default.
    threads
        How many, all processors by default. The answer does not depend on it.
    progress
        Called as ``progress(done, total)`` with positions, between chunks.

    Returns
    -------
    Outcomes or list of Outcomes
        Chances that are impossible are exactly zero.

    Raises
    ------
    ValueError, TypeError
        If a request makes no sense; if the evaluator only gives scores.

    Examples
    --------
    >>> import nardcore as nc
    >>> def pips(boards):
    ...     own, other = nc.batch.pips(boards).T
    ...     win = 1 / (1 + np.exp((own - other + 4) / 12))
    ...     rest = np.zeros((len(boards), 4))
    ...     return np.column_stack([win, rest, 1 - win, rest])
    >>> start = nc.Position.start()
    >>> nc.evaluate(start, evaluator=pips)
    <Outcomes win 58.26 %, equity +0.1651 by backgammon, pips, 0-ply>
    """
    one = isinstance(position, Position)
    several: list[Position] = [position] if one else list(position)  # type: ignore[list-item, arg-type]
    if not all(isinstance(p, Position) for p in several):
        msg = "evaluate takes a Position or some of them; nardcore.batch.evaluate takes arrays"
        raise TypeError(msg)
    if not several:
        return []
    rules = several[0].rules
    if any(p.rules != rules for p in several):
        msg = "the positions have different rules"
        raise ValueError(msg)
    request = _Request.make(rules, plies, evaluator, tables, filters, scoring, threads, progress)
    boards = np.stack([p.board for p in several])
    values, exact = _values(request, boards, request.plies)
    found = [
        Outcomes(value, rules, request.plies, request.name, bool(known))
        for value, known in zip(values, exact, strict=True)
    ]
    return found[0] if one else found


def evaluate_boards(
    boards: ArrayLike,
    rules: Rules = BACKGAMMON,
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Evaluate an array of positions: `nardcore.batch.evaluate`.

    Examples
    --------
    >>> import nardcore as nc
    >>> def even(boards):
    ...     return np.full((len(boards), 10), 0.1)
    >>> evaluate_boards(nc.batch.start(3), evaluator=even).shape
    (3, 10)
    """
    request = _Request.make(rules, plies, evaluator, tables, filters, scoring, threads, progress)
    rows = _movegen.flip(_movegen.flip(boards, rules), rules)  # checked, and our own
    return _values(request, rows, request.plies)[0].astype(np.float32)


def rank_plays(
    position: Position,
    dice: Dice,
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[RankedPlay]:
    """Rank the plays of a roll by what they are worth to the side that makes them.

    Every play is rated 0 plies deep; those that pass a filter are rated deeper, up to `plies`.
    Plays that were looked at deeper come first, and a play that wins the game before all others.

    Parameters
    ----------
    position, dice
        The position and its roll.
    plies, evaluator, tables, filters, scoring, threads, progress
        As for `evaluate`; equities are those of `scoring`.

    Returns
    -------
    list of RankedPlay
        The best play first; of equals, the first in the fixed order of plays.

    Examples
    --------
    >>> import nardcore as nc
    >>> def pips(boards):
    ...     own, other = nc.batch.pips(boards).T
    ...     win = 1 / (1 + np.exp((own - other) / 12))
    ...     rest = np.zeros((len(boards), 4))
    ...     return np.column_stack([win, rest, 1 - win, rest])
    >>> best, second, *_ = nc.rank_plays(nc.Position.start(), (3, 1), evaluator=pips)
    >>> best.loss, second.loss >= 0
    (0.0, True)
    """
    if not isinstance(position, Position):
        kind = type(position).__name__  # type: ignore[unreachable]
        msg = f"plays are those of a Position, not of {kind}"
        raise TypeError(msg)
    if position.outcome is not None:
        msg = "the game is over in this position"
        raise ValueError(msg)
    rules = position.rules
    request = _Request.make(rules, plies, evaluator, tables, filters, scoring, threads, progress)
    found = position.plays(dice)
    boards = np.ascontiguousarray(found.boards)
    classes = _movegen.results(boards, rules).astype(np.int64)
    won = classes >= 0
    values = np.zeros((len(boards), 10))
    depth = np.zeros(len(boards), np.int64)
    values[np.flatnonzero(won), classes[won]] = 1
    rest = np.flatnonzero(~won)
    values[rest] = request.rater.rate(position.board, np.ascontiguousarray(boards[rest]))
    equity = np.array([_equity(request.points[:5], value) for value in values])
    exact = won.copy()
    if request.probes:
        capsules = [probe.capsule for probe in request.probes]
        flipped = _movegen.flip(boards[rest], rules)
        exact[rest] = _search.probe_tables(capsules, flipped)[0]
    alive = rest
    for level in range(1, request.plies + 1):
        if won.any():
            break
        if len(alive) > 1:
            alive = np.array(list(_pass(request, alive, equity, level - 1)), np.int64)
        if len(alive) == 1 and level < request.plies:
            continue
        rated, _ = _values(request, _movegen.flip(boards[alive], rules), level)
        values[alive] = swapped(rated)
        depth[alive] = level
        for i in alive.tolist():
            equity[i] = _equity(request.points[:5], values[i])
    depth[exact] = request.plies  # no look-ahead would change it
    order = sorted(range(len(boards)), key=lambda i: (not won[i], -depth[i], -equity[i], i))
    best = equity[order[0]]
    return [
        RankedPlay(
            found[i],
            Outcomes(values[i].copy(), rules, int(depth[i]), request.name, bool(exact[i])),
            float(equity[i]),
            max(float(best - equity[i]), 0.0),
            int(depth[i]),
        )
        for i in order
    ]


def _pass(
    request: _Request, alive: NDArray[np.int64], equity: NDArray[np.float64], level: int
) -> Iterator[int]:
    """Yield the plays that a filter lets through, best first."""
    order = sorted(alive.tolist(), key=lambda i: (-equity[i], i))
    keep, within = request.filters[level] if level < len(request.filters) else (len(order), np.inf)
    for rank, i in enumerate(order):
        if rank >= keep or equity[i] < equity[order[0]] - within:
            return
        yield i


def best_play(
    position: Position,
    dice: Dice,
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
) -> Play:
    """Give the best play of a roll; see `rank_plays`.

    Examples
    --------
    >>> import nardcore as nc
    >>> def blots(boards):
    ...     risk = (boards[:, :24] == 1).sum(axis=1) / 20
    ...     rest = np.zeros((len(boards), 4))
    ...     return np.column_stack([1 - risk, rest, risk, rest])
    >>> str(nc.best_play(nc.Position.start(), (3, 1), evaluator=blots))
    '8/5 6/5'
    """
    ranked = rank_plays(
        position,
        dice,
        plies=plies,
        evaluator=evaluator,
        tables=tables,
        filters=filters,
        scoring=scoring,
        threads=threads,
    )
    return ranked[0].play
