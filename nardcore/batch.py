"""Many positions at once: arrays in, arrays out, the GIL released.

A position is a row of ``int8[n, 32]`` (or an element of `nardcore.typing.POSITION_DTYPE`): the
mover's points 1 to 24, above zero its own checkers and below zero the opponent's; the bars and the
checkers off, the mover's first; the colour on roll; flags. Every function checks its rows and names
the first bad one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardcore import _movegen
from nardcore.rules import BACKGAMMON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nardcore.rules import Rules
    from nardcore.typing import PolicyLike, Progress

__all__ = [
    "BatchPlays",
    "equity",
    "evaluate",
    "expand",
    "flip",
    "pips",
    "plays",
    "results",
    "start",
]


class BatchPlays(NamedTuple):
    """Results of many rolls in compressed rows.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n + 1,)
        The results of row ``i`` are ``boards[indptr[i]:indptr[i + 1]]``.
    boards : ndarray of int8, shape (m, 32)
        Distinct results, in the view of the side that has just moved.
    steps : ndarray of int8, shape (m, 8), or None
        One way to each result: (from, to) pairs in own numbers, bar 25, off 0, unused entries -1.

    Examples
    --------
    >>> import nardcore as nc
    >>> found = nc.batch.plays(nc.batch.start(2), [(3, 1), (6, 6)], steps=True)
    >>> found.indptr.tolist(), found.steps.shape
    ([0, 16, 27], (27, 8))
    """

    indptr: NDArray[np.int64]
    boards: NDArray[np.int8]
    steps: NDArray[np.int8] | None


def plays(
    boards: ArrayLike,
    dice: ArrayLike,
    rules: Rules = BACKGAMMON,
    *,
    steps: bool = False,
    out: NDArray[np.int8] | None = None,
) -> BatchPlays:
    """Find every legal play of many positions.

    Parameters
    ----------
    boards
        ``int8[n, 32]``, the side on roll as the mover.
    dice
        ``int8[n, 2]``, or one pair for all.
    rules
        Backgammon by default.
    steps
        Also say which steps make each play.
    out
        ``int8[m, 32]`` to write the results to instead of new memory; it may not overlap `boards`.

    Returns
    -------
    BatchPlays
        As many results as `Position.plays` has for each row, in the same order: a pass is one, a
        finished position has none. With `out`, ``boards`` is the part of it that was filled.

    Raises
    ------
    PositionError
        If a row is no possible position.
    TypeError, ValueError
        If shapes, types or dice are wrong, or `out` is too small.

    Examples
    --------
    >>> import nardcore as nc
    >>> found = nc.batch.plays(nc.batch.start(2), [(3, 1), (6, 6)])
    >>> found.indptr.tolist(), found.boards.shape
    ([0, 16, 27], (27, 32))
    """
    return BatchPlays(*_movegen.plays(boards, dice, rules, steps=steps, out=out))


def expand(boards: ArrayLike, rules: Rules = BACKGAMMON) -> BatchPlays:
    """Find every result of all 21 rolls of many positions.

    Parameters
    ----------
    boards
        ``int8[n, 32]``.
    rules
        Backgammon by default.

    Returns
    -------
    BatchPlays
        ``21 * n`` rows: row ``21 * i + j`` belongs to position ``i`` and the roll
        ``nardcore.dice.ROLLS[j]``, which is thrown by ``nardcore.dice.WEIGHTS[j]`` of 36 throws.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.batch.expand(nc.batch.start(2)).boards.shape
    (894, 32)
    """
    return BatchPlays(*_movegen.expand(boards, rules), None)


def flip(
    boards: ArrayLike, rules: Rules = BACKGAMMON, *, out: NDArray[np.int8] | None = None
) -> NDArray[np.int8]:
    """See many positions from the other side, which is then on roll.

    `out` may be `boards` itself.

    Examples
    --------
    >>> import nardcore as nc
    >>> boards = nc.batch.start(1, nc.LONG_NARDY)
    >>> bool((nc.batch.flip(boards, nc.LONG_NARDY)[:, :24] == boards[:, :24]).all())
    True
    """
    return _movegen.flip(boards, rules, out=out)


def pips(
    boards: ArrayLike, rules: Rules = BACKGAMMON, *, out: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Count the pips that the mover and the opponent still have to travel, ``int32[n, 2]``.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.batch.pips(nc.batch.start(1)).tolist()
    [[167, 167]]
    """
    return _movegen.pips(boards, rules, out=out)


def results(
    boards: ArrayLike, rules: Rules = BACKGAMMON, *, out: NDArray[np.int8] | None = None
) -> NDArray[np.int8]:
    """Give the outcome class of each finished position for its mover, -1 for the others.

    See `Position.outcome` for the ten classes.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.batch.results(nc.batch.start(2)).tolist()
    [-1, -1]
    """
    return _movegen.results(boards, rules, out=out)


def start(n: int, rules: Rules = BACKGAMMON) -> NDArray[np.int8]:
    """Make n copies of the first position, ``int8[n, 32]``, writeable.

    Examples
    --------
    >>> start(3).shape
    (3, 32)
    """
    from nardcore._board import Position

    return np.tile(Position.start(rules).board, (n, 1))


def evaluate(
    boards: ArrayLike,
    rules: Rules = BACKGAMMON,
    *,
    plies: int = 0,
    evaluator: PolicyLike | None = None,
    tables: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] | None = None,
    scoring: str | Sequence[float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Evaluate many positions: chances of the ten classes for the sides on roll.

    Parameters
    ----------
    boards
        ``int8[n, 32]``.
    rules
        Backgammon by default.
    plies, evaluator, tables, filters, scoring, threads, progress
        As for `nardcore.evaluate`.

    Returns
    -------
    ndarray of float32, shape (n, 10)
        The same for any number of threads.

    Examples
    --------
    >>> import nardcore as nc
    >>> def even(boards):
    ...     return np.full((len(boards), 10), 0.1)
    >>> nc.batch.evaluate(nc.batch.start(3), evaluator=even).shape
    (3, 10)
    """
    from nardcore.evaluation import evaluate_boards
    from nardcore.policies import FILTERS

    return evaluate_boards(
        boards,
        rules,
        plies=plies,
        evaluator=evaluator,
        tables=tables,
        filters=FILTERS if filters is None else filters,
        scoring=scoring,
        threads=threads,
        progress=progress,
    )


def equity(
    probabilities: ArrayLike,
    scoring: str | Sequence[float] | None = None,
    rules: Rules = BACKGAMMON,
) -> NDArray[np.float64]:
    """Turn chances of the ten classes into points a game, ``float64[n]``.

    Parameters
    ----------
    probabilities
        ``float[n, 10]``.
    scoring
        A name of `nardcore.SCORING` or points for the loser's five states; by default that of the
        rules, backgammon.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.batch.equity([[1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0] * 9 + [1]]).tolist()
    [1.0, -3.0]
    """
    from nardcore._ratings import signed_points

    p = np.asarray(probabilities, np.float64)
    if p.ndim != 2 or p.shape[1] != 10:
        msg = f"probabilities must have the shape (n, 10), not {p.shape}"
        raise ValueError(msg)
    points = signed_points(scoring, rules)[:5]
    parts = points * (p[:, :5] - p[:, 5:])
    found: NDArray[np.float64] = parts[:, 0] + parts[:, 1] + parts[:, 2] + parts[:, 3] + parts[:, 4]
    return found
