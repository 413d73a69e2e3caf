"""Rollouts: play a position out many times and count how it ends."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _rollout
from nardcore._trials import Spec, play_chunk, replay_trial
from nardcore.errors import RolloutCancelled
from nardcore.policies import name_of
from nardcore.rules import SCORING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from nardcore._board import Position
    from nardcore._trials import Replay
    from nardcore.typing import PolicyLike, Progress, Seed

__all__ = ["CHUNK", "CLASSES", "RolloutResult", "rollout", "rollout_chunk"]

CHUNK = 2048
"""Trials in a chunk: what is handed to a thread, and how often a stopping rule looks."""

CLASSES = tuple(
    f"{side} {state}"
    for side in ("win", "loss")
    for state in ("any off", "all home", "outside", "winner home", "bar")
)
"""Names of the ten outcome classes."""


def _scoring(scoring: str | Sequence[int] | None, position: Position) -> NDArray[np.float64]:
    """Turn a scoring into signed points of the ten classes, for the side on roll."""
    table: Any = position.rules.points if scoring is None else scoring
    if isinstance(table, str):
        if table not in SCORING:
            msg = f"there is no scoring {table!r}; known are {', '.join(SCORING)}"
            raise ValueError(msg)
        table = SCORING[table]
    points = np.asarray(table, np.float64)
    if points.shape != (5,) or not np.isfinite(points).all():
        msg = "a scoring is a name or five numbers, one for each state of the loser"
        raise ValueError(msg)
    return np.concatenate([points, -points])


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
        Trials that a table ended; they are in no count, but in every chance and equity.
    table_sums : tuple of int
        Of those trials, the chances of the ten classes added up, in units of ``2**-32``.
    table_products : tuple of int
        The products of every two of these chances added up, likewise, 100 numbers.

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
    _spec: Spec | None = None

    def __post_init__(self) -> None:
        self.counts.setflags(write=False)
        self.plies.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # functions and native evaluators stay in their process, as they do when a result is saved
        values = [getattr(self, field.name) for field in fields(self)]
        if not all(
            isinstance(policy, str) for policy in (self._spec.policies if self._spec else ())
        ):
            values[-1] = None
        return RolloutResult, tuple(values)

    @property
    def games(self) -> int:
        """How many games were played, to their end or to a table."""
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
        p = self.probabilities
        return {
            "win": float(p[:5].sum()),
            "win_gammon": float(p[1:5].sum()),
            "win_backgammon": float(p[3:5].sum()),
            "lose": float(p[5:].sum()),
            "lose_gammon": float(p[6:].sum()),
            "lose_backgammon": float(p[8:].sum()),
        }

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
        points = _scoring(scoring, self.position)
        if self.table_games and len(set(self.position.rules.points)) == 1 < len(set(points[:5])):
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

        Examples
        --------
        >>> import nardcore as nc
        >>> 0.03 < nc.rollout(nc.Position.start(), games=500, seed=1).stderr("single") < 0.05
        True
        """
        return math.sqrt(self.variance(scoring) / self.games) if self.games > 1 else math.nan

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
        for field in ("position", "policies", "seed", "dice", "opening", "tables"):
            if getattr(self, field) != getattr(other, field):
                msg = f"the rollouts differ in {field}, so they do not merge"
                raise ValueError(msg)
        if self.position.rules != other.position.rules:
            msg = "the rollouts were played by different rules, so they do not merge"
            raise ValueError(msg)
        return RolloutResult(
            self.position,
            self.policies,
            self.seed,
            self.dice,
            self.opening,
            _join(self.ranges + other.ranges),
            self.counts + other.counts,
            self.plies + other.plies,
            self.total_plies + other.total_plies,
            self.tables,
            self.table_games + other.table_games,
            tuple(a + b for a, b in zip(self.table_sums, other.table_sums, strict=True)),
            tuple(a + b for a, b in zip(self.table_products, other.table_products, strict=True)),
            self._spec or other._spec,
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
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<RolloutResult {self.games:,} games: win {100 * self.win:.2f} %, equity "
            f"{self.equity():+.4f} ± {self.stderr():.4f} by {self.position.rules.name}>"
        )

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


_UNIT = float(2**32)


def _total(counts: NDArray[np.int64], table_sums: Sequence[int]) -> NDArray[np.float64]:
    """Add what was counted and what tables say, by class."""
    total: NDArray[np.float64] = counts + np.array([float(n) for n in table_sums]) / _UNIT
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
        products = np.array([float(k) for k in table_products]).reshape(10, 10) / _UNIT
        spread += float((points - mean) @ products @ (points - mean))
    return max(spread, 0.0) / (n - 1)


def _gather(
    spec: Spec, first: int, n: int, sums: NDArray[np.int64], tables: list[int]
) -> RolloutResult:
    """Make a result of the sums of the trials first .. first + n - 1."""
    return RolloutResult(
        spec.position,
        (name_of(spec.policies[0]), name_of(spec.policies[1])),
        spec.seed,
        spec.dice,
        spec.opening,
        ((first, n),) if n else (),
        sums[:10].copy(),
        sums[11 : 11 + _rollout.PLIES].copy(),
        int(sums[10]),
        tuple(repr(table) for table in spec.tables),
        tables[0],
        tuple(tables[1:11]),
        tuple(tables[11:]),
        spec,
    )


# --------------------------------------------------------------------------------------- running


def rollout_chunk(spec: bytes, first: int, n: int) -> bytes:
    """Play trials ``first`` to ``first + n - 1``: the unit of work that executors are given.

    Parameters
    ----------
    spec
        What to play, as `nardcore.rollout` pickles it.
    first, n
        Which trials.

    Returns
    -------
    bytes
        Sums as little-endian int64. The same call gives the same bytes, on any machine.

    Examples
    --------
    >>> import nardcore as nc
    >>> from concurrent.futures import ProcessPoolExecutor
    >>> with ProcessPoolExecutor(1) as pool:
    ...     result = nc.rollout(nc.Position.start(), games=50, seed=1, executor=pool)
    >>> result == nc.rollout(nc.Position.start(), games=50, seed=1)
    True
    """
    first, n = _whole(first, "first"), _whole(n, "n")
    if first < 0 or n < 0 or first + n > 2**62:
        msg = f"there are no {n} trials from {first} on"
        raise ValueError(msg)
    sums = play_chunk(Spec.from_bytes(spec), first, n, _rollout.Stop())
    assert sums is not None  # nobody else holds the flag
    return sums.astype("<i8").tobytes()


def rollout(
    position: Position,
    *,
    games: int | None = None,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] = "linear",
    seed: Seed = None,
    dice: tuple[int, int] | None = None,
    opening: bool = False,
    target_stderr: float | None = None,
    scoring: str | Sequence[int] | None = None,
    tables: Sequence[Any] = (),
    first: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> RolloutResult:
    """Play a position out many times and count how it ends.

    Parameters
    ----------
    position
        Where each game begins, the side on roll first to throw.
    games
        How many; 100,000 by default. With `target_stderr`, at most as many (no limit by default).
    policy
        ``"linear"``, ``"random"``, an `Evaluator`, or a function that takes results of rolls as
        ``int8[n, 32]``, in the view of the side that has just moved, and returns ``n`` scores
        (larger is better for that side) or ``float[n, 10]`` class probabilities. A pair names the
        policies of the side on roll and of the other.
    seed
        As `numpy.random.SeedSequence` takes; drawn from the system by default, and kept in the
        result. Trial ``i`` of a seed has the same dice whatever is played.
    dice
        The first roll, where it is known.
    opening
        Throw the first roll as an opening: no double under rules where the opening dice are it.
    target_stderr
        Stop when the standard error of the equity is at most this (looked at after each chunk, in
        their order, so that the answer does not depend on threads).
    scoring
        For `target_stderr`: the equity it looks at; the rules' own by default.
    tables
        Bear-off tables (`nardcore.bearoff.TwoSided`), asked before each throw: where one fixes
        every class still possible, the trial ends with its exact chances.
    first
        The first trial's number: to go on where another rollout of the seed ended.
    threads
        How many of this machine; all processors by default.
    executor
        Any `concurrent.futures.Executor` (processes, Dask's ``client.get_executor()``, …) to run on
        instead of threads. Policies must then pickle.
    progress
        Called as ``progress(done, total)`` in this thread between chunks. If it has a method
        ``counted``, that is called instead, as ``counted(done, total, result)`` with the result
        so far, to show where the equity stands.

    Returns
    -------
    RolloutResult
        The same, bit for bit, for any number of threads and any executor.

    Raises
    ------
    RolloutCancelled
        At Ctrl-C; its ``partial`` is the result of the trials up to the first unfinished one.
    ValueError, TypeError
        If a request makes no sense.

    Examples
    --------
    >>> import nardcore as nc
    >>> r = nc.rollout(nc.Position.start(), games=2000, seed=7)
    >>> r.games, 0.4 < r.win < 0.65
    (2000, True)
    """
    from nardcore._work import in_order

    spec = Spec.make(position, policy, seed, dice, opening, tables)
    last = _last_trial(games, target_stderr, first)
    points = _scoring(scoring, position)
    ranges = (
        (i, min(CHUNK, last - i) if last is not None else CHUNK)
        for i in (range(first, last, CHUNK) if last is not None else _from(first))
    )
    sums = np.zeros(_rollout.RESULT_SIZE, np.int64)
    at = 11 + _rollout.PLIES
    known = [0] * (_rollout.RESULT_SIZE - at)  # what tables say: sums that outgrow 64 bits
    done = 0
    total = None if last is None else last - first
    counted = getattr(progress, "counted", None)
    stop = _rollout.Stop()
    task: Callable[..., Any]
    if executor is None:
        task = partial(play_chunk, spec, stop=stop)
    else:
        task = partial(rollout_chunk, spec.to_bytes())
    try:
        with closing(in_order(task, ranges, stop, threads, executor)) as chunks:
            for (_, n), chunk in chunks:
                added = np.frombuffer(chunk, "<i8") if isinstance(chunk, bytes) else chunk
                sums[:at] += added[:at]
                if spec.tables:
                    known = [a + b for a, b in zip(known, added[at:].tolist(), strict=True)]
                done += n
                if counted is not None:
                    counted(done, total, _gather(spec, first, done, sums, known))
                elif progress is not None:
                    progress(done, total)
                if target_stderr is not None:
                    spread = _variance(sums[:10], known[0], known[1:11], known[11:], points)
                    if math.sqrt(spread / done) <= target_stderr:
                        break
    except KeyboardInterrupt:
        msg = f"cancelled after {done:,} games"
        raise RolloutCancelled(msg, partial=_gather(spec, first, done, sums, known)) from None
    except Exception as error:
        if done:
            error.partial = _gather(spec, first, done, sums, known)  # type: ignore[attr-defined]
            error.add_note(f"the {done:,} games before it are in the exception's .partial")
        raise
    return _gather(spec, first, done, sums, known)


def _from(first: int) -> Iterator[int]:
    while True:
        yield first
        first += CHUNK


def _whole(value: object, name: str) -> int:
    """Take a whole number; a bool or a text is none."""
    try:
        if not isinstance(value, bool):
            return index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    msg = f"{name} is a whole number, not {value!r}"
    raise TypeError(msg)


def _last_trial(games: int | None, target_stderr: float | None, first: int) -> int | None:
    first = _whole(first, "first")
    if first < 0:
        msg = f"first is 0 or more, not {first}"
        raise ValueError(msg)
    if target_stderr is not None and not target_stderr > 0:
        msg = f"target_stderr is above 0, not {target_stderr}"
        raise ValueError(msg)
    if games is None:
        return None if target_stderr is not None else first + 100_000
    games = _whole(games, "games")
    if games < 1:
        msg = f"games is 1 or more, not {games}"
        raise ValueError(msg)
    if first + games > 2**62:
        msg = "trials are numbered below 2**62"
        raise ValueError(msg)
    return first + games
