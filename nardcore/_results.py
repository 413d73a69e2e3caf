"""What a rollout counted, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore._moments import UNIT, Moments, stratified_stderr
from nardcore._ratings import inclusive, signed_points
from nardcore._trials import replay_trial
from nardcore.dice import ROLLS

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from nardcore._board import Position
    from nardcore._trials import Replay, Spec

__all__ = ["CLASSES", "RollShare", "RolloutResult"]

CLASSES = tuple(
    f"{side} {state}"
    for side in ("win", "loss")
    for state in ("any off", "all home", "outside", "winner home", "bar")
)
"""Names of the ten outcome classes."""


@dataclass(frozen=True)
class RollShare:
    """What a rollout says of the games that began with one roll.

    Attributes
    ----------
    dice : (int, int)
        The first roll thrown, larger die first.
    games : int
        How many games.
    equity, stderr : float
        Their mean points for the side on roll in the rollout's position, and its standard error.
    reduced_equity, reduced_stderr : float or None
        The same with luck taken out, where the rollout did.

    Examples
    --------
    >>> import nardcore as nc
    >>> shares = nc.rollout(nc.Position.start(), games=720, seed=1, stratified=True).by_roll()
    >>> shares[1].dice, shares[1].games
    ((2, 1), 40)
    """

    dice: tuple[int, int]
    games: int
    equity: float
    stderr: float
    reduced_equity: float | None = None
    reduced_stderr: float | None = None


@dataclass(frozen=True, eq=False)
class RolloutResult:
    """What a rollout counted.

    All numbers are those of the side on roll in `position`, before its roll.

    Attributes
    ----------
    position : Position
        Where the trials began.
    policies : tuple of str
        Who played: for the side on roll and for the other.
    seed : tuple of int
        The entropy of the dice.
    dice : (int, int) or None
        The first roll, where it was given.
    opening : bool
        Whether the first roll was an opening throw.
    ranges : tuple of (int, int)
        The trials that are counted: (first, number), ascending, without overlap.
    counts : ndarray of int64, shape (10,)
        Games by outcome class: five of a win, five of a loss, by the loser's state; see `CLASSES`.
    plies : ndarray of int64
        Histogram: games that took ``i`` turns; the last of 4096 bins takes all longer ones.
    total_plies : int
        Turns of all games together.
    tables : tuple of str
        The tables that could end a trial.
    table_games : int
        Trials that a table or a truncation ended; they are in no count, but in every chance and
        equity.
    table_sums : tuple of int
        Of those trials, the chances of the ten classes added up, in units of ``2**-32``.
    table_products : tuple of int
        The products of every two of these chances added up, likewise, 100 numbers.
    truncated_games : int
        How many of them were truncated.
    truncate : int or None
        Plies after which a trial was truncated.
    evaluator : str
        What rated positions there, and rolls; empty where nothing was rated.
    stratified : bool
        Whether the first two rolls were spread evenly.
    rolls : tuple of Moments, or None
        Sums by the first roll thrown, 21; None in results of older files.
    reduced : tuple of Moments
        With luck taken out: sums of all trials, then by the first roll thrown; else empty.
    cells : ndarray of int64, shape (441, 21), or None
        Where stratified, by the first two rolls: trials, sums of chances, and of those less luck.

    Examples
    --------
    >>> import nardcore as nc
    >>> result = nc.rollout(nc.Position.start(), games=500, seed=1)
    >>> result.games, result.ranges, int(result.counts.sum())
    (500, ((0, 500),), 500)
    """

    position: Position
    policies: tuple[str, str]
    seed: tuple[int, ...]
    dice: tuple[int, int] | None
    opening: bool
    ranges: tuple[tuple[int, int], ...]
    counts: NDArray[np.int64]
    plies: NDArray[np.int64]
    total_plies: int
    tables: tuple[str, ...] = ()
    table_games: int = 0
    table_sums: tuple[int, ...] = (0,) * 10
    table_products: tuple[int, ...] = (0,) * 100
    truncated_games: int = 0
    truncate: int | None = None
    evaluator: str = ""
    stratified: bool = False
    rolls: tuple[Moments, ...] | None = None
    reduced: tuple[Moments, ...] = ()
    cells: NDArray[np.int64] | None = None
    _spec: Spec | None = None

    def __post_init__(self) -> None:
        self.counts.setflags(write=False)
        self.plies.setflags(write=False)
        if self.cells is not None:
            self.cells.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # functions and native evaluators stay in their process, as they do when a result is saved
        values = [getattr(self, field.name) for field in fields(self)]
        if not all(
            policy is None or isinstance(policy, str)
            for policy in (
                (*self._spec.policies, self._spec.method.evaluator) if self._spec else ()
            )
        ):
            values[-1] = None
        return RolloutResult, tuple(values)

    @property
    def games(self) -> int:
        """How many games were played, to their end, to a table or to a truncation."""
        return int(self.counts.sum()) + self.table_games

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Chances of the ten classes for the side on roll, ``float64[10]``; they add up to 1."""
        return _total(self.counts, self.table_sums) / max(self.games, 1)

    @property
    def win(self) -> float:
        """Chance that the side on roll wins."""
        return float(self.probabilities[:5].sum())

    @property
    def inclusive(self) -> dict[str, float]:
        """Chances for the side on roll as other programs print them.

        A gammon is a game whose loser has nothing off, a backgammon one whose loser also has a
        checker in the winner's home or on the bar; the first includes the second.
        """
        return inclusive(self.probabilities)

    def equity(self, scoring: str | Sequence[int] | None = None) -> float:
        """Mean points a game for the side on roll.

        Parameters
        ----------
        scoring
            A name of `nardcore.SCORING`, or points for the loser's five states; the rules' own by
            default. Stakes are not counted.

        Examples
        --------
        >>> import nardcore as nc
        >>> r = nc.rollout(nc.Position.start(), games=500, seed=1)
        >>> abs(r.equity("single") - (2 * r.win - 1)) < 1e-12
        True
        """
        points = self._points(scoring)
        return float(_total(self.counts, self.table_sums) @ points / max(self.games, 1))

    def _points(self, scoring: str | Sequence[int] | None) -> NDArray[np.float64]:
        points = signed_points(scoring, self.position.rules)
        ended_by_tables = self.table_games - self.truncated_games
        if ended_by_tables and len(set(self.position.rules.points)) == 1 < len(set(points[:5])):
            msg = "tables ended trials as plain wins, so that only scorings of plain wins apply"
            raise ValueError(msg)
        return points

    def variance(self, scoring: str | Sequence[int] | None = None) -> float:
        """Give the sample variance of the points of one game.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.rollout(nc.Position.start(), games=500, seed=1).variance("single") <= 500 / 499
        True
        """
        points = self._points(scoring)
        return _variance(
            self.counts, self.table_games, self.table_sums, self.table_products, points
        )

    def stderr(self, scoring: str | Sequence[int] | None = None) -> float:
        """Give the standard error of `equity` over the trials; nan below two games.

        Of a stratified rollout, it counts what the even spread of the first rolls saves.

        Examples
        --------
        >>> import nardcore as nc
        >>> 0.03 < nc.rollout(nc.Position.start(), games=500, seed=1).stderr("single") < 0.05
        True
        """
        if self.stratified:
            return self._stratified(self._moments, 1, self._points(scoring))
        return math.sqrt(self.variance(scoring) / self.games) if self.games > 1 else math.nan

    @property
    def _moments(self) -> Moments:
        early = Moments(self.table_games, self.table_sums, self.table_products)
        return Moments.of_counts(self.counts.tolist()) + early

    def _stratified(self, total: Moments, at: int, points: NDArray[np.float64]) -> float:
        assert self.cells is not None
        no_double = self.opening and self.position.rules.opening == "use_dice"
        cycle = 36 * (30 if no_double else 36)
        sums = self.cells[:, at : at + 10]
        return stratified_stderr(total, self.cells[:, 0], sums, self.ranges, cycle, points)

    def ci(
        self, level: float = 0.95, scoring: str | Sequence[int] | None = None
    ) -> tuple[float, float]:
        """Give the confidence interval of `equity`, by the normal distribution.

        Examples
        --------
        >>> import nardcore as nc
        >>> low, high = nc.rollout(nc.Position.start(), games=500, seed=1).ci(0.95)
        >>> low < high
        True
        """
        equity, half = self.equity(scoring), _quantile(level) * self.stderr(scoring)
        return equity - half, equity + half

    def probability_ci(self, level: float = 0.95) -> NDArray[np.float64]:
        """Give confidence intervals of the ten `probabilities`, ``float64[10, 2]``.

        Wilson's score intervals (Wilson 1927), which also serve for classes that hardly occur.

        Examples
        --------
        >>> import nardcore as nc
        >>> r = nc.rollout(nc.Position.start(), games=500, seed=1)
        >>> low, high = r.probability_ci().T
        >>> bool((low <= r.probabilities).all() and (r.probabilities <= high).all())
        True
        """
        n, p, z = self.games, self.probabilities, _quantile(level)
        if not n:
            return np.tile([0.0, 1.0], (10, 1))
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        # rounding must not leave the share itself outside, as it would where nothing was counted
        low, high = np.minimum(centre - half, p), np.maximum(centre + half, p)
        limits: NDArray[np.float64] = np.stack([low, high], axis=1).clip(0, 1)
        return limits

    @property
    def probability_stderr(self) -> NDArray[np.float64]:
        """Standard errors of the ten `probabilities`, ``float64[10]``; nan below two games."""
        return self._moments.class_stderr

    # ---- with luck taken out

    @property
    def variance_reduction(self) -> bool:
        """Whether the luck of the rolls was taken out, too."""
        return bool(self.reduced)

    def _reduced(self) -> Moments:
        if not self.reduced:
            msg = "this rollout did not take luck out; see variance_reduction="
            raise ValueError(msg)
        return self.reduced[0]

    @property
    def reduced_probabilities(self) -> NDArray[np.float64]:
        """`probabilities` with luck taken out; chance may take one below 0 or above 1."""
        return self._reduced().means

    @property
    def reduced_probability_stderr(self) -> NDArray[np.float64]:
        """Standard errors of `reduced_probabilities`."""
        return self._reduced().class_stderr

    def reduced_equity(self, scoring: str | Sequence[int] | None = None) -> float:
        """Mean points a game with the luck of the rolls taken out.

        Both this and `equity` are unbiased; this one varies less.

        Examples
        --------
        >>> import nardcore as nc
        >>> def pips(boards):
        ...     own, other = nc.batch.pips(boards).T
        ...     win = 1 / (1 + np.exp((own - other + 4) / 4))
        ...     rest = np.zeros((len(boards), 4))
        ...     return np.column_stack([win, rest, 1 - win, rest])
        >>> p = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})
        >>> r = nc.rollout(p, games=200, seed=1, policy=pips, variance_reduction=True)
        >>> r.reduced_stderr() < r.stderr()
        True
        """
        return self._reduced().mean(self._points(scoring))

    def reduced_stderr(self, scoring: str | Sequence[int] | None = None) -> float:
        """Give the standard error of `reduced_equity`; nan below two games.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.rollout(nc.Position.start(), games=10, seed=1).reduced_stderr()
        Traceback (most recent call last):
            ...
        ValueError: this rollout did not take luck out; see variance_reduction=
        """
        total, points = self._reduced(), self._points(scoring)
        if self.stratified:
            return self._stratified(total, 11, points)
        return total.stderr(points)

    def reduced_ci(
        self, level: float = 0.95, scoring: str | Sequence[int] | None = None
    ) -> tuple[float, float]:
        """Give the confidence interval of `reduced_equity`, by the normal distribution.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.rollout(nc.Position.start(), games=10, seed=1).reduced_ci()
        Traceback (most recent call last):
            ...
        ValueError: this rollout did not take luck out; see variance_reduction=
        """
        equity, half = self.reduced_equity(scoring), _quantile(level) * self.reduced_stderr(scoring)
        return equity - half, equity + half

    def estimate(self, scoring: str | Sequence[int] | None = None) -> tuple[float, float]:
        """Give the best estimate of the equity and its standard error: luck taken out if it was.

        Examples
        --------
        >>> import nardcore as nc
        >>> r = nc.rollout(nc.Position.start(), games=100, seed=1)
        >>> r.estimate() == (r.equity(), r.stderr())
        True
        """
        if self.reduced:
            return self.reduced_equity(scoring), self.reduced_stderr(scoring)
        return self.equity(scoring), self.stderr(scoring)

    def by_roll(self, scoring: str | Sequence[int] | None = None) -> tuple[RollShare, ...]:
        """Break the result down by the first roll that was thrown, 21 rolls.

        Games that a table ended before a roll are in none.

        Examples
        --------
        >>> import nardcore as nc
        >>> shares = nc.rollout(nc.Position.start(), games=1000, seed=1).by_roll()
        >>> len(shares), sum(share.games for share in shares)
        (21, 1000)
        """
        if self.rolls is None:
            msg = "this result comes from an older file, which has no sums by roll"
            raise ValueError(msg)
        points = self._points(scoring)
        found = []
        for i, (dice, raw) in enumerate(zip(ROLLS, self.rolls, strict=True)):
            less = self.reduced[1 + i] if self.reduced else None
            found.append(
                RollShare(
                    dice,
                    raw.n,
                    raw.mean(points) if raw.n else math.nan,
                    raw.stderr(points),
                    less.mean(points) if less is not None and raw.n else None,
                    less.stderr(points) if less is not None else None,
                )
            )
        return tuple(found)

    @property
    def mean_plies(self) -> float:
        """Turns a game, of both sides together; nan without games."""
        return self.total_plies / self.games if self.games else math.nan

    def merge(self, other: RolloutResult) -> RolloutResult:
        """Count two rollouts of the same request over different trials as one.

        Parameters
        ----------
        other
            Trials that this result does not hold.

        Returns
        -------
        RolloutResult
            The same as one rollout over all of the trials, whatever the order of merging.

        Raises
        ------
        ValueError
            If the requests differ or trials are in both.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position.start()
        >>> a = nc.rollout(p, games=300, seed=1)
        >>> b = nc.rollout(p, games=200, seed=1, first=300)
        >>> a.merge(b) == nc.rollout(p, games=500, seed=1)
        True
        """
        if not isinstance(other, RolloutResult):
            kind = type(other).__name__  # type: ignore[unreachable]
            msg = f"a RolloutResult merges with another, not with {kind}"
            raise TypeError(msg)
        for field in (
            *("position", "policies", "seed", "dice", "opening", "tables"),
            *("truncate", "evaluator", "variance_reduction", "stratified"),
        ):
            if getattr(self, field) != getattr(other, field):
                msg = f"the rollouts differ in {field}, so they do not merge"
                raise ValueError(msg)
        if self.position.rules != other.position.rules:
            msg = "the rollouts were played by different rules, so they do not merge"
            raise ValueError(msg)
        early = Moments(self.table_games, self.table_sums, self.table_products) + Moments(
            other.table_games, other.table_sums, other.table_products
        )
        rolls = None
        if self.rolls is not None and other.rolls is not None:
            rolls = tuple(a + b for a, b in zip(self.rolls, other.rolls, strict=True))
        cells = None
        if self.cells is not None and other.cells is not None:
            cells = self.cells + other.cells
        return replace(
            self,
            ranges=_join(self.ranges + other.ranges),
            counts=self.counts + other.counts,
            plies=self.plies + other.plies,
            total_plies=self.total_plies + other.total_plies,
            table_games=early.n,
            table_sums=early.sums,
            table_products=early.products,
            truncated_games=self.truncated_games + other.truncated_games,
            rolls=rolls,
            reduced=tuple(a + b for a, b in zip(self.reduced, other.reduced, strict=True)),
            cells=cells,
            _spec=self._spec or other._spec,
        )

    def replay(self, trial: int) -> Replay:
        """Play one trial again, turn by turn.

        Parameters
        ----------
        trial
            Its number; any, counted here or not.

        Returns
        -------
        Replay
            Every turn's position, dice and play, and how the game ended.

        Raises
        ------
        ValueError
            If the policies are functions that this result, read from a file, does not have.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.rollout(nc.Position.start(), games=10, seed=1).replay(3)
        >>> game.turns[-1].play.result.off  # the winner has just borne off its last checker
        (..., 15)
        """
        if self._spec is None:
            msg = "this result does not hold its policies, so its games cannot be played again"
            raise ValueError(msg)
        return replay_trial(self._spec, trial)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RolloutResult):
            return NotImplemented
        return (
            self.position == other.position
            and self.position.turn == other.position.turn
            and self.position.rules == other.position.rules
            and self.policies == other.policies
            and (self.seed, self.dice, self.opening) == (other.seed, other.dice, other.opening)
            and self.ranges == other.ranges
            and self.total_plies == other.total_plies
            and (self.tables, self.table_games) == (other.tables, other.table_games)
            and self.table_sums == other.table_sums
            and self.table_products == other.table_products
            and bool((self.counts == other.counts).all())
            and bool((self.plies == other.plies).all())
            and (self.truncate, self.evaluator) == (other.truncate, other.evaluator)
            and (self.truncated_games, self.stratified) == (other.truncated_games, other.stratified)
            and (self.rolls, self.reduced) == (other.rolls, other.reduced)
            and np.array_equal(_rows(self.cells), _rows(other.cells))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = (
            f"{self.games:,} games: win {100 * self.win:.2f} %, equity "
            f"{self.equity():+.4f} ± {self.stderr():.4f} by {self.position.rules.name}"
        )
        if self.reduced:
            text += f", less luck {self.reduced_equity():+.4f} ± {self.reduced_stderr():.4f}"
        return f"<RolloutResult {text}>"

    # ---- files

    def to_dict(self) -> dict[str, Any]:
        """Give everything the result holds as plain JSON values.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.rollout(nc.Position.start(), games=50, seed=1).to_dict()["games"]
        50
        """
        from nardcore._result_file import to_dict

        return to_dict(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON; the file appears whole or not at all.

        Examples
        --------
        >>> import nardcore as nc, tempfile, pathlib
        >>> r = nc.rollout(nc.Position.start(), games=50, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "r.json")
        ...     r.save(path)
        ...     nc.RolloutResult.load(path) == r
        True
        """
        from nardcore._result_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RolloutResult:
        """Read a result that `save` wrote.

        Raises
        ------
        FormatError
            If the file is no such result, is cut short, or does not add up.
        OSError
            If it cannot be read.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.RolloutResult.load("no such file")
        Traceback (most recent call last):
            ...
        FileNotFoundError: ...
        """
        from nardcore._result_file import load

        return load(path)


def _quantile(level: float) -> float:
    from statistics import NormalDist

    if not 0 < level < 1:
        msg = f"a confidence level lies between 0 and 1, not {level}"
        raise ValueError(msg)
    return NormalDist().inv_cdf(0.5 + level / 2)


def _join(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Sort ranges of trials and join those that touch; refuse overlap."""
    joined: list[tuple[int, int]] = []
    for first, n in sorted(ranges):
        if joined and first < sum(joined[-1]):
            msg = f"trial {first} is in both rollouts, so they do not merge"
            raise ValueError(msg)
        if joined and first == sum(joined[-1]):
            joined[-1] = (joined[-1][0], joined[-1][1] + n)
        elif n:
            joined.append((first, n))
    return tuple(joined)


def _total(counts: NDArray[np.int64], table_sums: Sequence[int]) -> NDArray[np.float64]:
    """Add what was counted and what tables say, by class."""
    total: NDArray[np.float64] = counts + np.array([float(n) for n in table_sums]) / UNIT
    return total


def _variance(
    counts: NDArray[np.int64],
    table_games: int,
    table_sums: Sequence[int],
    table_products: Sequence[int],
    points: NDArray[np.float64],
) -> float:
    """Give the sample variance of one trial's points; nan below two trials."""
    n = int(counts.sum()) + table_games
    if n < 2:
        return math.nan
    mean = _total(counts, table_sums) @ points / n
    spread = float(counts @ (points - mean) ** 2)
    if table_games:
        # of a trial with chances p: (p @ (points - mean)) ** 2, as p adds up to 1
        products = np.array([float(k) for k in table_products]).reshape(10, 10) / UNIT
        spread += float((points - mean) @ products @ (points - mean))
    return max(spread, 0.0) / (n - 1)


def _rows(cells: NDArray[np.int64] | None) -> NDArray[np.int64]:
    return np.zeros((0, 21), np.int64) if cells is None else cells
