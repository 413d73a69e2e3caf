"""Whole-number sums of trials: what means and standard errors are made of, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["UNIT", "Moments", "Total", "stratified_stderr"]

UNIT = float(2**32)
_LOW = (1 << 32) - 1


@dataclass(frozen=True)
class Moments:
    """Trials, their ten chances added up, and the products of every two of them.

    Attributes
    ----------
    n : int
        How many trials.
    sums : tuple of int
        Ten sums of chances in units of ``2**-32``.
    products : tuple of int
        A hundred sums of products of two chances, likewise.

    Examples
    --------
    >>> import numpy as np
    >>> one = Moments.of_counts([3, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    >>> one.mean(np.array([1, 2, 2, 3, 3, -1, -2, -2, -3, -3.0]))
    0.5
    """

    n: int = 0
    sums: tuple[int, ...] = (0,) * 10
    products: tuple[int, ...] = (0,) * 100

    @staticmethod
    def of(numbers: Sequence[int]) -> Moments:
        """Take 111 numbers as native code adds them up."""
        return Moments(numbers[0], tuple(numbers[1:11]), tuple(numbers[11:111]))

    @staticmethod
    def of_counts(counts: Sequence[int]) -> Moments:
        """Take games that ended by themselves."""
        products = [0] * 100
        for i, n in enumerate(counts):
            products[11 * i] = n << 32
        return Moments(sum(counts), tuple(n << 32 for n in counts), tuple(products))

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.n + other.n,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(a + b for a, b in zip(self.products, other.products, strict=True)),
        )

    def __neg__(self) -> Moments:
        """Turn differences round: the moments of b - a from those of a - b."""
        return Moments(self.n, tuple(-n for n in self.sums), self.products)

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean chances, ``float64[10]``."""
        return np.array([float(n) for n in self.sums]) / UNIT / max(self.n, 1)

    def mean(self, points: NDArray[np.float64]) -> float:
        """Mean points a trial."""
        return float(np.array([float(n) for n in self.sums]) @ points) / UNIT / max(self.n, 1)

    def squares(self, points: NDArray[np.float64], about: float = 0.0) -> float:
        """Sum of (points - about)² over the trials."""
        products = np.array([float(k) for k in self.products]).reshape(10, 10) / UNIT
        if about:
            # chances add up to 1, so that points may be counted from any number on
            points = points - about
        return max(float(points @ products @ points), 0.0)

    def variance(self, points: NDArray[np.float64]) -> float:
        """Sample variance of a trial's points; nan below two trials."""
        if self.n < 2:
            return math.nan
        return self.squares(points, self.mean(points)) / (self.n - 1)

    def difference_variance(self, points: NDArray[np.float64]) -> float:
        """Sample variance where the chances are differences, which add up to 0."""
        if self.n < 2:
            return math.nan
        spread = self.squares(points) - self.n * self.mean(points) ** 2
        return max(spread, 0.0) / (self.n - 1)

    def stderr(self, points: NDArray[np.float64]) -> float:
        """Give the standard error of `mean`; nan below two trials."""
        return math.sqrt(self.variance(points) / self.n) if self.n > 1 else math.nan

    @property
    def class_stderr(self) -> NDArray[np.float64]:
        """Standard errors of `means`, ``float64[10]``; nan below two trials."""
        if self.n < 2:
            return np.full(10, np.nan)
        squares = np.array([float(self.products[11 * k]) for k in range(10)]) / UNIT
        spread = np.maximum(squares - self.n * self.means**2, 0.0)
        found: NDArray[np.float64] = np.sqrt(spread / (self.n - 1) / self.n)
        return found


class Total:
    """Sums of chunks that may outgrow 64 bits."""

    def __init__(self, size: int) -> None:
        self.low = np.zeros(size, np.int64)
        self.high = np.zeros(size, np.int64)

    def add(self, chunk: NDArray[np.int64]) -> None:
        """Add the sums of a chunk."""
        self.low += chunk & _LOW
        self.high += chunk >> 32

    def part(self, first: int, last: int) -> Total:
        """Give the sums number first .. last - 1 as such."""
        found = Total(0)
        found.low, found.high = self.low[first:last], self.high[first:last]
        return found

    def ints(self, first: int, last: int) -> list[int]:
        """Give sums number first .. last - 1."""
        low, high = self.low[first:last].tolist(), self.high[first:last].tolist()
        return [(h << 32) + x for h, x in zip(high, low, strict=True)]

    def moments(self, at: int, n: int = 1) -> tuple[Moments, ...]:
        """Give n moments that begin at a place."""
        return tuple(Moments.of(self.ints(i, i + 111)) for i in range(at, at + 111 * n, 111))


def stratified_stderr(
    total: Moments,
    cells: NDArray[np.int64],
    sums: NDArray[np.int64],
    ranges: Sequence[tuple[int, int]],
    cycle: int,
    points: NDArray[np.float64],
) -> float:
    """Give the standard error of a mean whose first two rolls were stratified.

    Trials of a cycle have every pair of first rolls equally often, so that only what happens after
    them varies the mean of full cycles. What the pair of rolls explains counts for the trials of
    cycles that are cut short, by the share of the cycle that is missing.

    Parameters
    ----------
    total
        Moments of all trials.
    cells, sums
        Trials and sums of chances by pair of rolls, ``int64[441]`` and ``int64[441, 10]``.
    ranges
        The trials.
    cycle
        How many make a cycle.
    points
        Of the ten classes.

    Examples
    --------
    >>> import nardcore as nc
    >>> p = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})
    >>> plain = nc.rollout(p, games=2592, seed=1)
    >>> spread = nc.rollout(p, games=2592, seed=1, stratified=True)
    >>> spread.stderr() < plain.stderr()
    True
    """
    n = total.n
    if n < 2:
        return math.nan
    mean = total.mean(points)
    about = points - mean
    squares = total.squares(points, mean)
    there = cells > 0
    counts = cells[there].astype(np.float64)
    by_cell = sums[there].astype(np.float64) @ about / UNIT
    between = float((by_cell**2 / counts).sum())
    left = n - len(counts)
    if left < len(counts):  # too few trials to tell what the rolls explain
        return math.sqrt(squares / (n - 1) / n)
    within = max(squares - between, 0.0) / left
    explained = max(squares / (n - 1) - within, 0.0)
    cut = 0.0
    for first, length in ranges:
        last = first + length
        one = first // cycle == last // cycle
        parts = [length] if one else [-first % cycle, last % cycle]
        cut += sum(m * (cycle - m) / (cycle - 1) for m in parts)
    return math.sqrt(n * within + cut * explained) / n
