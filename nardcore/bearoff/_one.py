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
from nardcore.bearoff._file import check_rules, open_table, save_table
from nardcore.bearoff._ranking import (
    MOST_CHECKERS,
    as_boards,
    as_out,
    check_kind,
    position_count,
    whole,
)
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


class OneSided:
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

    points: int
    checkers: int
    rules: Rules
    path: Path | None
    """The file it was opened from."""

    _arrays: dict[str, NDArray[Any]]
    _goals: tuple[Goal, ...]
    _table: _bearoff.OneSidedTable
    _fingerprint: str
    _known: set[Rules]

    def __init__(self) -> None:
        msg = "make a table by OneSided.build or OneSided.open"
        raise TypeError(msg)

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
        self.points, self.checkers, self.rules, self.path = points, checkers, rules, path
        self._arrays = arrays
        self._goals = tuple(goal for goal in GOALS if f"{goal} mean" in arrays)
        self._table = _bearoff.OneSidedTable(
            points,
            checkers,
            [
                tuple(arrays[f"{goal} {part}"] for part in _PARTS[:4])
                if goal in self._goals
                else None
                for goal in GOALS
            ],
        )
        self._fingerprint = rules.bearoff_fingerprint(points)
        self._known = {rules}
        return self

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
        for array in arrays.values():
            array.flags.writeable = False
        table = cls._make(points, checkers, rules, arrays)
        if path is not None:
            table.save(path)
            return cls.open(path, rules=rules)
        return table

    # ------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file; it appears whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written, for example because the disk is full.
        """
        about = {
            "points": self.points,
            "checkers": self.checkers,
            "rules": self.rules.name,
            "fingerprint": self._fingerprint,
            "dtype": "float64",
            "scale": 1,
        }
        save_table(path, "one-sided", about, self._arrays)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, rules: Rules | None = None, verify: bool = False
    ) -> OneSided:
        """Open a table that was saved: it is mapped into memory, and read where it is asked.

        Parameters
        ----------
        path
            The file.
        rules
            Refuse the table unless it serves these rules.
        verify
            Check the hash of the data too, which reads all of them.

        Raises
        ------
        TableError
            If the file is no such table, cut, damaged, of a newer format or of other rules.
        OSError
            If it cannot be read.
        """
        opened = open_table(path, "one-sided", verify=verify)
        header = opened.header
        try:
            made_for = Rules.parse(header["rules"])
            points, checkers = int(header["points"]), int(header["checkers"])
            fingerprint = made_for.bearoff_fingerprint(points)
            n = position_count(points, checkers)
            goals = {name.split()[0] for name in opened.arrays}
            for goal in goals | {"off"}:
                for part in ("start", "first", "length", "mean"):
                    if opened.arrays[f"{goal} {part}"].shape != (n,):
                        raise ValueError
        except (KeyError, TypeError, ValueError) as error:
            msg = f"the header of {opened.path} is damaged"
            raise TableError(msg) from error
        check_rules(opened.path, header, made_for, fingerprint)
        if rules is not None:
            check_rules(opened.path, header, rules, rules.bearoff_fingerprint(points))
        return cls._make(points, checkers, made_for, opened.arrays, path=opened.path)

    # ----------------------------------------------------------------------------------- queries

    def __repr__(self) -> str:
        return f"<OneSided {self.checkers} on {self.points} points, rules {self.rules.name}>"

    @property
    def nbytes(self) -> int:
        """The size of the data."""
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def raw(self) -> dict[str, NDArray[Any]]:
        """The data as they are stored: read-only arrays by goal and part, indexed by `rank`.

        ``"off mean"`` holds means; the distribution of rank ``r`` is
        ``raw["off rows"][s : s + raw["off length"][r]]`` with ``s = raw["off start"][r]``, its
        first entry for ``raw["off first"][r]`` rolls.
        """
        return dict(self._arrays)

    def _admit(self, rules: Rules) -> None:
        if rules.bearoff_fingerprint(self.points) != self._fingerprint:
            msg = f"this table is for {self.rules.name}, whose bear-off is not that of {rules.name}"
            raise TableError(msg)
        if len(self._known) > 100:
            self._known.clear()
        self._known.add(rules)

    def ranks(self, boards: ArrayLike, *, rules: Rules | None = None) -> NDArray[np.int64]:
        """Give the ranks of both sides of boards, ``int64[n, 2]``: the side on roll first.

        A side that the table does not cover has rank -1; both have it where the sides can still
        meet.
        """
        rules = self.rules if rules is None else rules
        if rules not in self._known:
            self._admit(rules)
        rows = as_boards(boards)
        found: NDArray[np.int64] = _bearoff.race_ranks(rows, rules, self.points, self.checkers)
        return found

    def _rank(self, position: Position, side: int) -> int:
        found = int(self.ranks(position.board[None], rules=position.rules)[0, side])
        if found < 0:
            msg = (
                f"{position!r} is outside a table of {self.checkers} checkers on {self.points} "
                "points, or the sides can still meet"
            )
            raise TableError(msg)
        return found

    def _goal(self, goal: Goal) -> Goal:
        if goal not in GOALS:
            msg = f"goal is 'off', 'first' or 'home', not {goal!r}"
            raise ValueError(msg)
        return goal

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
        at, goal = self._rank(position, side), self._goal(goal)
        if goal not in self._goals:
            return np.ones(1)
        part = {name: self._arrays[f"{goal} {name}"] for name in _PARTS}
        first, length, start = (int(part[name][at]) for name in ("first", "length", "start"))
        found = np.zeros(first + length)
        found[first:] = part["rows"][start : start + length]
        return found

    def mean_rolls(self, position: Position, *, side: int = 0, goal: Goal = "off") -> float:
        """Give the mean number of rolls that a side needs; see `distribution`."""
        at, goal = self._rank(position, side), self._goal(goal)
        return float(self._arrays[f"{goal} mean"][at]) if goal in self._goals else 0.0

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
        ranks = self.ranks(boards, rules=rules)
        if self._goal(goal) not in self._goals:
            return np.where(ranks < 0, np.nan, 0.0)
        found: NDArray[np.float64] = self._arrays[f"{goal} mean"][np.maximum(ranks, 0)]
        found[ranks < 0] = np.nan
        return found

    def outcomes(self, position: Position) -> NDArray[np.float64]:
        """Give the chances of the ten outcome classes for the side on roll, nearly.

        Both sides' distributions are taken as independent, and a loser's as if it had played for
        just the goal that saves it: see the class.
        """
        self._rank(position, 0)
        self._rank(position, 1)
        found: NDArray[np.float64] = self.outcomes_batch(
            position.board[None], rules=position.rules
        )[0]
        return found

    def outcomes_batch(
        self,
        boards: ArrayLike,
        *,
        rules: Rules | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Give the outcome chances of boards, ``float64[n, 10]``; NaN where not covered."""
        rules = self.rules if rules is None else rules
        rows = as_boards(boards)
        ranks = self.ranks(rows, rules=rules)
        if rules.long_koks == "none_home" and self.points > 6:
            msg = "koks by none_home is not counted by one-sided tables beyond the home"
            raise TableError(msg)
        found = as_out(out, (len(rows), 10))
        self._table.outcomes(rows, ranks, found)
        return found

    def win(self, position: Position) -> float:
        """Give the chance of the side on roll to win, nearly: see `outcomes`."""
        return float(self.outcomes(position)[:5].sum())

    def win_batch(self, boards: ArrayLike, *, rules: Rules | None = None) -> NDArray[np.float64]:
        """Give the chances to win of boards, nearly; NaN where not covered."""
        found: NDArray[np.float64] = self.outcomes_batch(boards, rules=rules)[:, :5].sum(axis=1)
        return found

    def best_play(self, position: Position, dice: tuple[int, int], *, goal: Goal = "off") -> Play:
        """Give the play that leaves the fewest rolls in the mean: the first of those that do."""
        plays = position.plays(dice)
        ranks = self.ranks(plays.boards, rules=position.rules)[:, 0]
        if (ranks < 0).any():
            msg = f"{position!r} is outside this table"
            raise TableError(msg)
        if self._goal(goal) not in self._goals:
            return plays[0]
        return plays[int(np.argmin(self._arrays[f"{goal} mean"][ranks]))]


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
