"""One-sided tables: how many rolls a side needs, whatever the other does."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff
from nardcore.bearoff._crew import Crew
from nardcore.bearoff._file import check_place
from nardcore.bearoff._ranking import (
    MOST_CHECKERS,
    as_boards,
    as_out,
    check_kind,
    position_count,
    whole,
)
from nardcore.bearoff._table import Table, frozen, plays_of
from nardcore.errors import TableError
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nardcore._board import Play, Position
    from nardcore.typing import Progress

__all__ = ["Goal", "OneSided", "default"]

Goal = Literal["off", "first", "home"]
GOALS: tuple[Goal, ...] = ("off", "first", "home")

PIPS_PER_ROLL = 49 / 6
"""The mean number of pips of a roll: what `OneSided.epc` multiplies the mean number of rolls by."""

_MOST = 18
_PARTS = ("start", "first", "length", "rows", "mean")
# A position while it is computed, as the native code sees it.
_PLACE = np.dtype(
    [("mean", "f8"), ("start", "i8"), ("first", "u1"), ("length", "u1"), ("unused", "u1", 6)]
)
_STUCK, _FULL = 1, 2
# How many positions are done at once, from how many on threads share them, numbers for each.
_PORTION, _LEAST, _ROOM = 1 << 16, 1 << 9, 16


class OneSided(Table):
    """Distributions of the number of rolls that a side needs, for each of its positions.

    Three goals: ``"off"``, the last checker is off; ``"first"``, the first is (then a loss is no
    mars); ``"home"``, all are on points 1 to 6. Each is under the policy that minimises its own
    mean number of rolls, the opponent out of the way.

    What is computed for two sides takes their distributions as independent, and both sides as
    playing for the fewest rolls, which perfect play does not always do: such numbers are close, not
    exact (see the documentation for measured errors). `TwoSided` is exact.

    Attributes
    ----------
    points : int
        How many points a covered position may have checkers on.
    checkers : int
        How many checkers it may have there.
    rules : Rules
        The rules it was built under. It serves all rules whose bear-off is the same.

    Examples
    --------
    >>> import nardcore as nc
    >>> table = nc.bearoff.OneSided.build(points=6, checkers=2)
    >>> p = nc.Position.from_points([0, 0, 0, 0, 0, 1] + [0] * 17 + [-1])
    >>> table.mean_rolls(p)
    1.25
    >>> table.distribution(p)
    array([0.  , 0.75, 0.25])
    """

    KIND = "one-sided"

    points: int
    checkers: int

    _goals: dict[str, int]
    _table: _bearoff.OneSidedTable

    @classmethod
    def _make(
        cls,
        points: int,
        checkers: int,
        rules: Rules,
        arrays: dict[str, NDArray[Any]],
        path: Path | None = None,
    ) -> OneSided:
        self = object.__new__(cls)
        self.points, self.checkers = points, checkers
        self._goals = {goal: i for i, goal in enumerate(GOALS)}
        self._table = _bearoff.OneSidedTable(
            points,
            checkers,
            [
                tuple(arrays[f"{goal} {part}"] for part in _PARTS)
                if f"{goal} mean" in arrays
                else None
                for goal in GOALS
            ],
        )
        self._hold(rules, arrays, path)
        return self

    def _parts(self) -> tuple[Any, ...]:
        return self.points, self.checkers, self.rules, self._arrays

    def _fingerprint_of(self, rules: Rules) -> str:
        return rules.bearoff_fingerprint(self.points)

    def _about(self) -> dict[str, Any]:
        return {"points": self.points, "checkers": self.checkers, "dtype": "float64", "scale": 1}

    def _extent(self) -> str:
        return (
            f"a table of {self.checkers} checkers on {self.points} points, or the sides can still "
            "meet"
        )

    @classmethod
    def _from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path
    ) -> OneSided:
        points, checkers = int(header["points"]), int(header["checkers"])
        n = position_count(points, checkers)
        for goal in {name.split()[0] for name in arrays} | {"off"}:
            for part in ("start", "first", "length", "mean"):
                if arrays[f"{goal} {part}"].shape != (n,):
                    raise ValueError(part)
        return cls._make(points, checkers, Rules.parse(header["rules"]), arrays, path)

    # ---------------------------------------------------------------------------------- building

    @classmethod
    def build(
        cls,
        *,
        points: int = 6,
        checkers: int | None = None,
        rules: Rules = BACKGAMMON,
        path: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> OneSided:
        """Compute a table.

        Parameters
        ----------
        points
            How many points to cover, 1 to 18. Ten take about 2 GB of memory.
        checkers
            How many checkers; those of the rules by default.
        rules
            The rules of bearing off.
        path
            Where to save the table, which is then used from the file.
        threads
            How many; all processors by default. The table is the same, bit for bit.
        progress
            Called as ``progress(done, total)``, in positions.

        Returns
        -------
        OneSided
            The table.
        """
        points = whole(points, "points", 1, _MOST)
        check_kind(rules)
        most = min(MOST_CHECKERS, rules.checkers)
        checkers = whole(most if checkers is None else checkers, "checkers", 1, most)
        n = position_count(points, checkers)
        if n >= 1 << 32:
            msg = f"{n:,} positions are more than a table holds"
            raise TableError(msg)
        if path is not None:
            check_place(path)
        goals = ["off"]
        if checkers == rules.checkers:
            goals.append("first")
        if points > 6:
            goals.append("home")
        arrays: dict[str, NDArray[Any]] = {}
        with Crew(threads, progress, n * len(goals)) as crew:
            # Keys of the best plays: room that all goals share.
            near, far = (_aligned(k * (n if _plain(rules, points) else 1)) for k in (8, 12))
            for goal in goals:
                found = _build(crew, rules, points, checkers, GOALS.index(goal), n, near, far)
                arrays |= {f"{goal} {part}": found[part] for part in _PARTS}
        table = cls._make(points, checkers, rules, frozen(arrays))
        if path is not None:
            table.save(path)
            return cls.open(path, rules=rules)
        return table

    # ----------------------------------------------------------------------------------- queries

    def __repr__(self) -> str:
        return f"<OneSided {self.checkers} on {self.points} points, rules {self.rules.name}>"

    @property
    def raw(self) -> dict[str, NDArray[Any]]:
        """The data as they are stored: read-only arrays by goal and part, indexed by `rank`.

        ``"off mean"`` holds means; the distribution of rank ``r`` is
        ``raw["off rows"][s : s + raw["off length"][r]]`` with ``s = raw["off start"][r]``, its
        first entry for ``raw["off first"][r]`` rolls.
        """
        return dict(self._arrays)

    def ranks(self, boards: ArrayLike, *, rules: Rules | None = None) -> NDArray[np.int64]:
        """Give the ranks of both sides of boards, ``int64[n, 2]``: the side on roll first.

        A side that the table does not cover has rank -1; both have it where the sides can still
        meet.
        """
        rules = self._of(rules)
        rows = as_boards(boards)
        found: NDArray[np.int64] = _bearoff.race_ranks(rows, rules, self.points, self.checkers)
        return found

    def _goal(self, side: int, goal: Goal) -> int:
        at = self._goals.get(goal)
        if at is None:
            msg = f"goal is 'off', 'first' or 'home', not {goal!r}"
            raise ValueError(msg)
        if side not in (0, 1):
            msg = f"side is 0 for the side on roll or 1 for the other, not {side!r}"
            raise ValueError(msg)
        return at

    def distribution(
        self, position: Position, *, side: int = 0, goal: Goal = "off"
    ) -> NDArray[np.float64]:
        """Give the chances of needing 0, 1, 2, … rolls.

        Parameters
        ----------
        position
            A position in which the sides are past each other.
        side
            0 for the side on roll, 1 for the other.
        goal
            ``"off"``, ``"first"`` or ``"home"``.

        Returns
        -------
        float64 array
            The chances; they sum to 1.
        """
        at = self._goal(side, goal)
        found: NDArray[np.float64] | None = self._table.distribution(position, side, at)
        if found is None:
            self._admit(position.rules)
            found = self._table.distribution(position, side, at, True)
            if found is None:
                raise self._outside(position)
        return found

    def mean_rolls(self, position: Position, *, side: int = 0, goal: Goal = "off") -> float:
        """Give the mean number of rolls that a side needs; see `distribution`."""
        at = self._goal(side, goal)
        found: float = self._table.mean(position, side, at)
        if found < 0:
            self._admit(position.rules)
            found = self._table.mean(position, side, at, True)
            if found < 0:
                raise self._outside(position)
        return found

    def epc(self, position: Position, *, side: int = 0) -> float:
        """Give the effective pip count: the mean number of rolls to bear off times 49/6.

        Examples
        --------
        >>> import nardcore as nc
        >>> ace_point = nc.Position.from_points([2] + [0] * 22 + [-2])
        >>> round(nc.bearoff.default().epc(ace_point), 4)
        8.1667
        """
        return self.mean_rolls(position, side=side) * PIPS_PER_ROLL

    def mean_rolls_batch(
        self, boards: ArrayLike, *, rules: Rules | None = None, goal: Goal = "off"
    ) -> NDArray[np.float64]:
        """Give mean numbers of rolls, ``float64[n, 2]``: the side on roll first; NaN outside."""
        rules = self._of(rules)
        rows = as_boards(boards)
        found = np.empty((len(rows), 2))
        self._table.means(rows, rules, self._goal(0, goal), found)
        return found

    def outcomes(self, position: Position) -> NDArray[np.float64]:
        """Give the chances of the ten outcome classes for the side on roll, nearly.

        Both sides' distributions are taken as independent, and a loser's as if it had played for
        just the goal that saves it: see the class.
        """
        found: NDArray[np.float64] | None = self._table.outcome(position)
        if found is None:
            self._admit_classes(position.rules)
            found = self._table.outcome(position, True)
            if found is None:
                raise self._outside(position)
        return found

    def _admit_classes(self, rules: Rules) -> None:
        self._admit(rules)
        if rules.long_koks == "none_home" and rules.movement == "long" and self.points > 6:
            msg = "koks by none_home is not counted by one-sided tables beyond the home"
            raise TableError(msg)

    def outcomes_batch(
        self,
        boards: ArrayLike,
        *,
        rules: Rules | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Give the outcome chances of boards, ``float64[n, 10]``; NaN where not covered."""
        return self._outcomes(boards, rules, out, 10)

    def _outcomes(
        self,
        boards: ArrayLike,
        rules: Rules | None,
        out: NDArray[np.float64] | None,
        width: int,
    ) -> NDArray[np.float64]:
        rules = self._of(rules)
        self._admit_classes(rules)
        rows = as_boards(boards)
        found = as_out(out, (len(rows), width))
        self._table.outcomes(rows, rules, found)
        return found

    def win(self, position: Position) -> float:
        """Give the chance of the side on roll to win, nearly: see `outcomes`."""
        found: float = self._table.win(position)
        if found < 0:
            self._admit_classes(position.rules)
            found = self._table.win(position, True)
            if found < 0:
                raise self._outside(position)
        return found

    def win_batch(self, boards: ArrayLike, *, rules: Rules | None = None) -> NDArray[np.float64]:
        """Give the chances to win of boards, nearly; NaN where not covered."""
        return self._outcomes(boards, rules, None, 1)[:, 0]

    def best_play(self, position: Position, dice: tuple[int, int], *, goal: Goal = "off") -> Play:
        """Give the play that leaves the fewest rolls in the mean: the first of those that do."""
        plays = plays_of(position, dice)
        means = self.mean_rolls_batch(plays.boards, rules=position.rules, goal=goal)[:, 0]
        if np.isnan(means).any():
            raise self._outside(position)
        return plays[int(np.argmin(means))]


@lru_cache(maxsize=4)
def default(rules: Rules = BACKGAMMON) -> OneSided:
    """Give the one-sided table of six points, built in memory on first use.

    Parameters
    ----------
    rules
        The rules of bearing off.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.bearoff.default().checkers
    15
    """
    return OneSided.build(points=6, rules=rules)


# ------------------------------------------------------------------------------------------- build


def _plain(rules: Rules, points: int) -> bool:
    """Tell whether every die can be played until the last checker is off."""
    return not (
        rules.exact_first
        or (points > 6 and rules.last_home_larger)
        or (rules.movement == "long" and rules.block == "flat")
    )


def _aligned(n: int) -> NDArray[np.uint64]:
    """Allocate numbers that begin with a line of the cache."""
    raw = np.empty(n + 7, np.uint64)
    skip = -raw.ctypes.data % 64 // 8
    return raw[skip : skip + n]


def _build(
    crew: Crew,
    rules: Rules,
    points: int,
    checkers: int,
    goal: int,
    n: int,
    near: NDArray[np.uint64],
    far: NDArray[np.uint64],
) -> dict[str, NDArray[Any]]:
    plain = _plain(rules, points)
    order, counts, levels = _bearoff.level_order(points, checkers, goal)
    crew.advance(n - len(order))  # the rest have reached the goal: no rolls
    at = np.zeros(n, _PLACE)
    at["length"] = 1
    near[:8] = far[:12] = 0
    choice = np.empty(21 * int(np.diff(levels).max()), np.uint32)
    rows = np.empty(max(_ROOM * n, 64))
    rows[0] = 1
    job = _bearoff.OneSidedJob(
        rules,
        points,
        goal,
        plain,
        n.bit_length(),
        order,
        counts,
        levels,
        at.view(np.uint8),
        near,
        far,
        choice,
        crew.stop,
    )
    job.use(rows)
    last = len(levels) - 1
    while job.level < last:
        # Enough levels for the threads to be worth their start, few enough for the progress.
        begun = int(levels[job.level])
        end = min(int(np.searchsorted(levels, begun + _PORTION)), last)
        threads = crew.threads if levels[end] - begun >= _LEAST else 1
        job.begin(end, threads)
        told = max(crew.run([job.work] * threads))
        if told == _STUCK:
            msg = f"under {rules.name} a play can leave every checker where it is"
            raise TableError(msg)
        if told == _FULL:
            rows = np.concatenate([rows, np.empty(max(job.used - len(rows), len(rows) // 2))])
            job.use(rows)
        crew.advance(int(levels[job.level]) - begun)
    found: dict[str, NDArray[Any]] = {
        name: np.ascontiguousarray(at[name]) for name in ("start", "first", "length", "mean")
    }
    return found | {"rows": rows[: job.used]}
