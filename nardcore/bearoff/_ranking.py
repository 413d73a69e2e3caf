"""Numbers for positions of one side: ranks, and the order of tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff, _movegen
from nardcore.rules import Rules

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "MOST_CHECKERS",
    "MOST_POINTS",
    "Places",
    "as_boards",
    "as_limit",
    "as_out",
    "check_kind",
    "places",
    "position_count",
    "rank",
    "unrank",
    "whole",
]

MOST_POINTS = 25
MOST_CHECKERS = 15


def whole(value: Any, name: str, least: int, most: int) -> int:
    """Take a whole number within bounds."""
    if isinstance(value, bool):
        msg = f"{name} is an int, not a bool"
        raise TypeError(msg)
    number = index(value)
    if not least <= number <= most:
        msg = f"{name} is {least} to {most}, not {number}"
        raise ValueError(msg)
    return int(number)


def as_limit(max_memory: int | None) -> int | None:
    """Check a limit of memory."""
    return None if max_memory is None else whole(max_memory, "max_memory", 0, 2**63 - 1)


def check_kind(rules: object) -> None:
    """Refuse what are no rules."""
    if not isinstance(rules, Rules):
        msg = f"rules are a nardcore.Rules, not {type(rules).__name__}"
        raise TypeError(msg)


def as_boards(boards: ArrayLike) -> NDArray[np.int8]:
    """Take ``int8[n, 32]``."""
    found: NDArray[np.int8] = _movegen._boards(boards)  # type: ignore[attr-defined]
    return found


def as_out(out: NDArray[np.float64] | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Check an array to fill, or make one."""
    found: NDArray[np.float64] = _movegen._out(out, shape, np.float64)  # type: ignore[attr-defined]
    return found


def position_count(points: int, checkers: int) -> int:
    """Count the positions of at most `checkers` checkers on `points` points.

    Examples
    --------
    >>> position_count(6, 15), position_count(25, 15)
    (54264, 40225345056)
    """
    points = whole(points, "points", 1, MOST_POINTS)
    return _bearoff.position_count(points, whole(checkers, "checkers", 0, MOST_CHECKERS))


def rank(counts: ArrayLike) -> Any:
    """Give the numbers of positions of one side in the combinatorial number system.

    With ``s(k)`` the checkers on the ``k`` highest points, the rank is the sum over ``k`` of the
    binomial coefficients ``C(s(k) + k - 1, k)``. It does not depend on a limit of checkers, every
    step of a checker lowers it, and gnubg numbers its bear-off positions the same way.

    Parameters
    ----------
    counts
        Checkers on points 1, 2, …: one row of 1 to 25 numbers, or rows of them.

    Returns
    -------
    int or int64 array
        The rank of each row.

    Raises
    ------
    ValueError
        If a count is negative or a row holds more than 15 checkers.

    Examples
    --------
    >>> rank([0, 0, 0, 0, 0, 0]), rank([1, 0, 0, 0, 0, 0]), rank([0, 0, 0, 0, 0, 15])
    (0, 1, 54263)
    >>> rank([[1, 0], [0, 1], [2, 0]])
    array([1, 2, 3])
    """
    array = np.asarray(counts)
    if array.dtype.kind not in "iu":
        msg = f"counts are whole numbers, not {array.dtype}"
        raise TypeError(msg)
    if array.ndim not in (1, 2) or not 1 <= array.shape[-1] <= MOST_POINTS:
        msg = f"counts are rows of 1 to {MOST_POINTS} numbers, not of shape {array.shape}"
        raise ValueError(msg)
    rows = array.reshape(-1, array.shape[-1])
    # Each number first: a sum of wild numbers may come out small.
    if rows.size and (rows.min() < 0 or rows.max() > MOST_CHECKERS):
        msg = f"a point holds 0 to {MOST_CHECKERS} checkers"
        raise ValueError(msg)
    if rows.size and rows.sum(axis=1, dtype=np.int64).max() > MOST_CHECKERS:
        msg = f"a side has at most {MOST_CHECKERS} checkers"
        raise ValueError(msg)
    found = np.empty(len(rows), np.int64)
    _bearoff.rank_batch(np.ascontiguousarray(rows, np.int8), found)
    return int(found[0]) if array.ndim == 1 else found


def unrank(ranks: ArrayLike, *, points: int) -> NDArray[np.int8]:
    """Give the positions of ranks: the inverse of `rank`.

    Parameters
    ----------
    ranks
        One rank or many, below ``position_count(points, 15)``.
    points
        How many points a position has.

    Returns
    -------
    int8 array
        Checkers on points 1, 2, …, a row a rank.

    Examples
    --------
    >>> unrank(54263, points=6).tolist()
    [0, 0, 0, 0, 0, 15]
    """
    points = whole(points, "points", 1, MOST_POINTS)
    array = np.asarray(ranks)
    if array.dtype.kind not in "iu":
        msg = f"ranks are whole numbers, not {array.dtype}"
        raise TypeError(msg)
    flat = np.ascontiguousarray(array.reshape(-1), np.int64)
    if flat.size and (array.min() < 0 or array.max() >= position_count(points, MOST_CHECKERS)):
        msg = f"ranks on {points} points are 0 to {position_count(points, MOST_CHECKERS) - 1}"
        raise ValueError(msg)
    found = np.empty((len(flat), points), np.int8)
    _bearoff.unrank_batch(flat, found)
    return found.reshape(*array.shape, points)


@dataclass(frozen=True, eq=False)
class Places:
    """The positions of a side in the order of two-sided tables: by pips, then by rank."""

    checkers: int
    counts: NDArray[np.int8]
    """Checkers on points 1 to 6, by place."""
    place: NDArray[np.int32]
    """The place of each rank."""
    ranks: NDArray[np.int64]
    """The rank of each place."""
    first: NDArray[np.int64]
    """The first place of each number of pips; one entry more than there are classes."""

    def __len__(self) -> int:
        return len(self.counts)


@lru_cache(maxsize=32)
def places(checkers: int) -> Places:
    """Order the positions of at most `checkers` checkers on six points."""
    n = position_count(6, checkers)
    counts = unrank(np.arange(n), points=6)
    pips = counts @ np.arange(1, 7)
    ranks = np.argsort(pips, kind="stable")
    place = np.empty(n, np.int32)
    place[ranks] = np.arange(n)
    first = np.searchsorted(pips[ranks], np.arange(6 * checkers + 2))
    for array in (counts, ranks, place, first):
        array.flags.writeable = False
    ordered = np.ascontiguousarray(counts[ranks])
    ordered.flags.writeable = False
    return Places(checkers, ordered, place, ranks.astype(np.int64), first.astype(np.int64))
