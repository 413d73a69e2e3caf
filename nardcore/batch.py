"""Many positions at once: arrays in, arrays out, the GIL released.

A position is a row of ``int8[n, 32]`` (or an element of `nardcore.typing.POSITION_DTYPE`): the
mover's points 1 to 24, above zero its own checkers and below zero the opponent's; the bars and the
checkers off, the mover's first; the colour on roll; flags. Every function checks its rows and names
the first bad one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardcore import _movegen
from nardcore.rules import BACKGAMMON

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nardcore.rules import Rules

__all__ = ["BatchPlays", "expand", "flip", "pips", "plays", "results", "start"]


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
