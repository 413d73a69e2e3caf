"""Two-sided tables: exact values of bear-offs in which both sides count."""

from __future__ import annotations

import math
import os
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff, _movegen
from nardcore.bearoff._crew import Crew
from nardcore.bearoff._file import check_place
from nardcore.bearoff._ranking import (
    MOST_CHECKERS,
    Places,
    as_boards,
    as_limit,
    as_out,
    check_kind,
    places,
    rank,
    whole,
)
from nardcore.bearoff._table import Table, frozen, plays_of
from nardcore.errors import TableError
from nardcore.rules import BACKGAMMON, SCORING, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from nardcore._board import Play, Position
    from nardcore.typing import Progress

__all__ = ["Cube", "Equities", "TwoSided"]

Equities = Literal["win", "money", "scoring"]
Cube = Literal["none", "owned", "centred", "opponent"]

DTYPES = ("uint16", "float32", "float64")
VALUES: dict[str, tuple[str, ...]] = {
    "win": ("win",),
    "money": ("win", "owned", "centred", "opponent"),
    "scoring": ("equity",),
}
_CHUNK = 2048
# A play moves a checker at least one pip, and a roll at most 24 in all.
_REACH = 24


class TwoSided(Table):
    """Values of every position in which both sides have all their checkers home or off.

    Made by `build` or `open`. Values are exact but for their storage: the play is perfect, for the
    winning chance (``equities="win"``), for the money with each state of the cube (``"money"``) or
    for the points of a scoring table (``"scoring"``). Every number is seen by the side on roll,
    before it rolls.

    Attributes
    ----------
    checkers : tuple of int
        The most checkers of the side on roll and of the other; a table of (8, 6) also knows the
        positions in which it is the other way round.
    equities : {'win', 'money', 'scoring'}
        What the table holds.
    rules : Rules
        The rules it was built under. It serves all rules whose bear-off is the same.
    scoring : tuple of int or None
        The points of a ``"scoring"`` table.

    Examples
    --------
    >>> import nardcore as nc
    >>> table = nc.bearoff.TwoSided.build(checkers=3)
    >>> p = nc.Position.from_points([0, 1, 0, 0, 0, 1] + [0] * 17 + [-1])
    >>> round(table.win(p), 4)
    0.3611
    """

    KIND = "two-sided"

    checkers: tuple[int, int]
    equities: Equities
    scoring: tuple[int, ...] | None

    _dtype: str
    _largest: float
    _cubes: dict[str, int]
    _table: _bearoff.TwoSidedTable

    @classmethod
    def _make(
        cls,
        checkers: tuple[int, int],
        equities: Equities,
        rules: Rules,
        dtype: str,
        scoring: tuple[int, ...] | None,
        arrays: dict[str, NDArray[Any]],
        path: Path | None = None,
    ) -> TwoSided:
        self = object.__new__(cls)
        self.checkers, self.equities, self.scoring = checkers, equities, scoring
        self._dtype = dtype
        self._largest = 1.0 if scoring is None else float(max(scoring[:2]))
        self._cubes = {"none": 0}
        if equities == "money":
            self._cubes |= {name: i for i, name in enumerate(VALUES["money"]) if i}
        sides = (places(checkers[0]), places(checkers[1]))
        raw = [[_bytes(arrays[name]) for name in half] for half in _names(checkers, equities)]
        self._table = _bearoff.TwoSidedTable(
            checkers,
            [side.place for side in sides],
            raw if len(raw) == 2 else raw * 2,
            DTYPES.index(dtype),
            len(VALUES[equities]),
        )
        self._hold(rules, arrays, path)
        return self

    def _parts(self) -> tuple[Any, ...]:
        return self.checkers, self.equities, self.rules, self._dtype, self.scoring, self._arrays

    def _fingerprint_of(self, rules: Rules) -> str:
        return _fingerprint(rules, self.equities, self.scoring)

    def _about(self) -> dict[str, Any]:
        return _about(self.checkers, self.equities, self._dtype, self.scoring)

    def _extent(self) -> str:
        return f"a table of {self.checkers[0]} x {self.checkers[1]} checkers on six points"

    @classmethod
    def _from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path
    ) -> TwoSided:
        rules = Rules.parse(header["rules"])
        checkers = (int(header["checkers"][0]), int(header["checkers"][1]))
        equities: Equities = header["equities"]
        scoring = None if header["scoring"] is None else tuple(header["scoring"])
        dtype = arrays[_names(checkers, equities)[0][0]].dtype.name
        for name, shape in _shapes(checkers, equities).items():
            if arrays[name].shape != shape or arrays[name].dtype.name != dtype:
                raise ValueError(name)
        return cls._make(checkers, equities, rules, dtype, scoring, arrays, path)

    # ---------------------------------------------------------------------------------- building

    @classmethod
    def build(
        cls,
        *,
        checkers: int | tuple[int, int] = 6,
        equities: Equities = "win",
        scoring: str | Sequence[int] | None = None,
        rules: Rules = BACKGAMMON,
        dtype: str = "uint16",
        path: str | os.PathLike[str] | None = None,
        max_memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> TwoSided:
        """Compute a table.

        Parameters
        ----------
        checkers
            The most checkers of either side on its six home points, or a pair for the two sides.
        equities
            ``"win"``, the chance to win; ``"money"``, also the equities per point of the stake with
            the cube owned, centred and owned by the opponent (no limit, no Jacoby rule, no
            beavers); or ``"scoring"``, points by the loser's state, where one side or both have all
            the checkers of the rules.
        scoring
            A name or five points, for ``"scoring"``; the rules' own by default.
        rules
            The rules of bearing off.
        dtype
            ``"uint16"``, in steps of 1/65535 of the range, ``"float32"`` or ``"float64"``.
        path
            Where to save the table, which is then used from the file.
        max_memory
            Bytes that a build may take. A larger table is built in its file; a build that was
            interrupted goes on after the last finished level.
        threads
            How many; all processors by default. The table is the same, bit for bit.
        progress
            Called as ``progress(done, total)``, in pairs of positions.

        Returns
        -------
        TwoSided
            The table.

        Raises
        ------
        KeyboardInterrupt
            At Ctrl-C, with nothing half done left in memory.
        TableError
            If such a table cannot be, or does not fit into `max_memory` and there is no `path`.
        OSError
            If its file cannot be written, for example because the disk is full.
        """
        plan = _Plan.make(checkers, equities, scoring, rules, dtype)
        max_memory = as_limit(max_memory)
        if max_memory is not None and plan.memory > max_memory:
            if path is None:
                msg = (
                    f"the table takes {plan.memory:,} bytes, more than max_memory={max_memory:,}; "
                    "with a path it is built in its file"
                )
                raise TableError(msg)
            from nardcore.bearoff._out_of_core import build_in_file

            build_in_file(plan, Path(path), max_memory, threads, progress)
            return cls.open(path, rules=rules)
        if path is not None:
            check_place(path, plan.nbytes)
        with Crew(threads, progress, plan.pairs) as crew:
            programs = plan.programs(crew)
            arrays = {name: np.zeros(shape, dtype) for name, shape in plan.shapes().items()}
            halves = [[arrays[name] for name in half] for half in _names(plan.checkers, equities)]
            for mover, half in enumerate(halves):
                plan.set_ends(half, mover)
            raw = [[_bytes(array) for array in half] for half in halves]
            job = _bearoff.TwoSidedJob(
                programs[0],
                programs[1],
                DTYPES.index(dtype),
                len(VALUES[equities]),
                _movegen.isa() == "avx2",
                crew.stop,
                tables=raw if len(raw) == 2 else raw * 2,
            )
            crew.advance(plan.pairs_of(0))
            for level in range(1, plan.levels):
                plan.run_level(crew, job, level)
        table = cls._make(plan.checkers, equities, rules, dtype, plan.scoring, frozen(arrays))
        if path is not None:
            table.save(path)
            return cls.open(path, rules=rules)
        return table

    # ----------------------------------------------------------------------------------- queries

    def __repr__(self) -> str:
        n, m = self.checkers
        return f"<TwoSided {n} x {m}, {self.equities}, {self._dtype}, rules {self.rules.name}>"

    @property
    def dtype(self) -> str:
        """How values are stored: ``"uint16"``, ``"float32"`` or ``"float64"``."""
        return self._dtype

    @property
    def raw(self) -> dict[str, NDArray[Any]]:
        """The data as they are stored: read-only arrays ``[strip, place of the opponent, 64]``.

        Entry ``[s, r, l]`` is for a mover at place ``64 * s + l``; `place` gives places. A value
        ``v`` stands for the chance ``v`` or the equity ``2 * v - 1`` (times the largest points of a
        scoring), where integers are first divided by 65535.
        """
        return dict(self._arrays)

    def place(self, counts: ArrayLike, *, side: int = 0) -> NDArray[np.int32]:
        """Give the places of positions of a side in `raw`.

        Parameters
        ----------
        counts
            Rows of checkers on points 1 to 6.
        side
            0 for the first number of `checkers`, 1 for the second.

        Raises
        ------
        ValueError
            If a row does not have six numbers, or the table does not hold so many checkers.
        """
        rows = np.asarray(counts)
        if rows.ndim not in (1, 2) or rows.shape[-1] != 6:
            msg = f"counts are rows of 6 numbers, not of shape {rows.shape}"
            raise ValueError(msg)
        ranks = rank(rows)
        most = self.checkers[whole(side, "side", 0, 1)]
        if np.any(rows.sum(axis=-1) > most):
            msg = f"this side of the table has at most {most} checkers"
            raise ValueError(msg)
        found: NDArray[np.int32] = places(most).place[ranks]
        return found

    def win(self, position: Position) -> float:
        """Give the chance of the side on roll to win, before it rolls, under perfect play.

        Raises
        ------
        TableError
            If the table does not hold the position, is for other rules or holds no chances.
        """
        if self.equities == "scoring":
            self._no_chances()
        found: float = self._table.one(position, 0)
        if found < 0:
            self._admit(position.rules)
            found = self._table.one(position, 0, True)
            if found < 0:
                raise self._outside(position)
        return found

    def _no_chances(self) -> None:
        msg = "a table of scoring holds equities, no chances to win"
        raise TableError(msg)

    def equity(self, position: Position, *, cube: Cube = "none", double: bool = False) -> float:
        """Give the equity of the side on roll, before it rolls, in points per game.

        Parameters
        ----------
        position
            The position.
        cube
            ``"none"``: without a cube. In a ``"money"`` table also ``"owned"`` by the side on roll,
            ``"centred"`` or owned by the ``"opponent"``; the equity is that of a cube at 1.
        double
            With a cube: give the better of doubling now and not, instead of the equity without a
            double now.

        Raises
        ------
        TableError
            If the table does not hold it.
        """
        at = self._cubes.get(cube)
        if at is None:
            at = self._value(cube)
        double = double and 0 < at < 3
        found: float = self._table.equity(position, at, double)
        if found < -1:
            self._admit(position.rules)
            found = self._table.equity(position, at, double, True)
            if found < -1:
                raise self._outside(position)
        return found * self._largest

    def _value(self, cube: Cube) -> int:
        if cube in self._cubes:
            return self._cubes[cube]
        if cube not in ("none", *VALUES["money"][1:]):
            msg = f"cube is 'none', 'owned', 'centred' or 'opponent', not {cube!r}"
            raise ValueError(msg)
        msg = "only a table of money equities knows the cube"
        raise TableError(msg)

    def win_batch(
        self,
        boards: ArrayLike,
        *,
        rules: Rules | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Give the chances to win of boards, ``int8[n, 32]``; NaN where the table has none.

        Parameters
        ----------
        boards
            Positions, each seen by its side on roll.
        rules
            Their rules; the table's own by default.
        out
            ``float64[n]`` to fill.
        """
        if self.equities == "scoring":
            self._no_chances()
        return self._batch(boards, 0, rules, out)

    def equity_batch(
        self,
        boards: ArrayLike,
        *,
        cube: Cube = "none",
        rules: Rules | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Give the equities of boards, ``int8[n, 32]``, without a double now; see `equity`."""
        found = self._batch(boards, self._value(cube), rules, out)
        np.multiply(found, 2 * self._largest, out=found)
        return np.subtract(found, self._largest, out=found)

    def _batch(
        self,
        boards: ArrayLike,
        value: int,
        rules: Rules | None,
        out: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        rules = self._of(rules)
        rows = as_boards(boards)
        found = as_out(out, (len(rows),))
        self._table.many(rows, rules, value, found)
        return found

    def best_play(self, position: Position, dice: tuple[int, int], *, cube: Cube = "none") -> Play:
        """Give the best play of a roll: the first of those that are best.

        Parameters
        ----------
        position
            A position of the table.
        dice
            The roll.
        cube
            For which equity; see `equity`. The opponent may double before its roll.
        """
        plays = plays_of(position, dice)
        after = _movegen.flip(plays.boards, position.rules)
        mirror: dict[Cube, Cube] = {"owned": "opponent", "opponent": "owned"}
        theirs = mirror.get(cube, cube)
        values = self._batch(after, self._value(theirs), position.rules, None)
        if theirs in ("owned", "centred"):
            given = 4 * self._batch(after, 3, position.rules, None) - 2
            values = np.maximum(values, (np.minimum(given, 1) + 1) / 2)
        done = np.asarray(after)[:, 27] == position.rules.checkers
        values[done] = self._lost(after[done])
        if np.isnan(values).any():
            raise self._outside(position)
        return plays[int(np.argmin(values))]

    def _lost(self, after: NDArray[np.int8]) -> NDArray[np.float64]:
        """Value a lost game for the side that has lost."""
        if self.scoring is None:
            return np.zeros(len(after))
        points = np.where(after[:, 26] > 0, self.scoring[0], self.scoring[1])
        return (1 - points / self._largest) / 2

    def probe(self, rules: Rules | None = None) -> Any:
        """Give the table to native code, as an ``nc_table`` in a capsule; see ``nardcore.h``.

        It covers what a table of chances fixes for every class still possible: positions with a
        checker off on both sides, and all of its positions where every win counts alike.
        """
        if self.equities == "scoring":
            self._no_chances()
        rules = self._of(rules)
        return _bearoff.TwoSidedProbe(self._table, rules, len(set(rules.points)) == 1)


# ------------------------------------------------------------------------------------------- plans


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _fingerprint(rules: Rules, equities: str, scoring: tuple[int, ...] | None) -> str:
    if equities != "scoring":
        return rules.bearoff_fingerprint(6)
    return rules.replace(scoring=scoring).bearoff_fingerprint(6, scoring=True)


def _about(
    checkers: tuple[int, int], equities: str, dtype: str, scoring: tuple[int, ...] | None
) -> dict[str, Any]:
    return {
        "points": 6,
        "checkers": list(checkers),
        "equities": equities,
        "dtype": dtype,
        "scale": 65535 if dtype == "uint16" else 1,
        "scoring": None if scoring is None else list(scoring),
    }


def _names(checkers: tuple[int, int], equities: str) -> list[list[str]]:
    """Name the arrays of each half: a table for two equal sides has one half."""
    if checkers[0] == checkers[1]:
        return [list(VALUES[equities])]
    return [[f"{name} {side}" for name in VALUES[equities]] for side in ("first", "second")]


def _shapes(checkers: tuple[int, int], equities: str) -> dict[str, tuple[int, int, int]]:
    shapes = {}
    n = [_bearoff.position_count(6, k) for k in checkers]
    for side, half in enumerate(_names(checkers, equities)):
        for name in half:
            shapes[name] = (-(-n[side] // _bearoff.LANES), n[1 - side], _bearoff.LANES)
    return shapes


class _Plan:
    """What is to be built, checked, and the order of the work."""

    def __init__(
        self,
        checkers: tuple[int, int],
        equities: Equities,
        rules: Rules,
        dtype: str,
        scoring: tuple[int, ...] | None,
    ) -> None:
        self.checkers, self.equities, self.rules, self.dtype = checkers, equities, rules, dtype
        self.scoring = scoring
        self.sides: tuple[Places, Places] = (places(checkers[0]), places(checkers[1]))
        self.levels = 6 * max(checkers) + 1
        self.same = checkers[0] == checkers[1]
        self.movers = (0,) if self.same else (0, 1)

    @classmethod
    def make(
        cls,
        checkers: int | tuple[int, int],
        equities: Equities,
        scoring: str | Sequence[int] | None,
        rules: Rules,
        dtype: str,
    ) -> _Plan:
        check_kind(rules)
        pair = tuple(checkers) if isinstance(checkers, (tuple, list)) else (checkers, checkers)
        if len(pair) != 2:
            msg = f"checkers are a number or a pair of numbers, not {checkers!r}"
            raise ValueError(msg)
        most = min(MOST_CHECKERS, rules.checkers)
        n, m = (whole(k, "checkers", 1, most) for k in pair)
        if equities not in VALUES:
            msg = f"equities is 'win', 'money' or 'scoring', not {equities!r}"
            raise ValueError(msg)
        if dtype not in DTYPES:
            msg = f"dtype is one of {', '.join(DTYPES)}, not {dtype!r}"
            raise ValueError(msg)
        points = None
        if equities == "scoring":
            if rules.checkers not in (n, m):
                msg = (
                    f"a table of scoring is for all {rules.checkers} checkers of its rules on one "
                    "side or both: with fewer nobody loses a mars"
                )
                raise TableError(msg)
            points = _points(rules.points if scoring is None else scoring)
        elif scoring is not None:
            msg = "scoring is for equities='scoring'"
            raise ValueError(msg)
        return cls((n, m), equities, rules, dtype, points)

    @property
    def pairs(self) -> int:
        return len(self.sides[0]) * len(self.sides[1]) * len(self.movers)

    @property
    def nbytes(self) -> int:
        size = np.dtype(self.dtype).itemsize
        return sum(math.prod(shape) * size for shape in self.shapes().values())

    @property
    def memory(self) -> int:
        """About what a build takes: the table, the results of all rolls, room for the threads."""
        return self.nbytes + sum(450 * len(self.sides[m]) for m in self.movers) + (8 << 20)

    def shapes(self) -> dict[str, tuple[int, int, int]]:
        return _shapes(self.checkers, self.equities)

    def halves(self) -> list[tuple[int, int]]:
        return [(m, 1 - m) for m in self.movers]

    def programs(self, crew: Crew) -> list[Any]:
        """Find the results of every roll of every position, by the rules."""
        made = []
        for m in self.movers:
            side = self.sides[m]
            cuts = [*range(0, len(side), 256), len(side)]
            parts = crew.run(
                partial(_bearoff.program, self.rules, side.counts, side.place, a, b, crew.stop)
                for a, b in pairwise(cuts)
            )
            if any(part is None for part in parts):
                msg = f"under {self.rules.name} a play can leave every checker where it is"
                raise TableError(msg)
            count = np.concatenate([part[0] for part in parts])
            start = np.zeros(len(side) + 1, np.int64)
            np.cumsum(count.sum(axis=1, dtype=np.int64), out=start[1:])
            nexts = np.concatenate([part[1] for part in parts])
            made.append(_bearoff.Program(start, count, nexts))
        return made * 2 if self.same else made

    def lost(self, side: int) -> NDArray[np.float64]:
        """Value a game that the opponent has won, for every position of a side, from 0 to 1."""
        counts = self.sides[side].counts
        if self.scoring is None:
            return np.zeros(len(counts))
        whole_side = counts.sum(axis=1) == self.rules.checkers
        points = np.where(whole_side, self.scoring[1], self.scoring[0])
        return (1 - points / max(self.scoring[:2])) / 2

    def stored(self, values: NDArray[np.float64]) -> NDArray[Any]:
        if self.dtype == "uint16":
            return np.rint(values * 65535).astype(np.uint16)
        return values.astype(self.dtype)

    def ends(self, mover: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the values of finished games: the opponent has won; the mover has won."""
        lost = self.stored(self.lost(mover))
        won = self.stored(1 - self.lost(1 - mover))
        won[0] = 0  # nobody has won where both have borne off
        lost[0] = 0
        return lost, won

    def set_ends(self, half: list[NDArray[Any]], mover: int) -> None:
        lost, won = self.ends(mover)
        for table in half:
            padded = np.zeros(table.shape[0] * _bearoff.LANES, table.dtype)
            padded[: len(lost)] = lost
            table[:, 0, :] = padded.reshape(-1, _bearoff.LANES)
            table[0, :, 0] = won

    def phases(self, level: int) -> list[list[tuple[int, ...]]]:
        """Give a level's two phases: (mover, lanes, places, rows that the results are among)."""

        def place(m: int, pips: int) -> int:
            first = self.sides[m].first
            return int(first[min(max(pips, 0), len(first) - 1)])

        few: list[tuple[int, ...]] = []
        many: list[tuple[int, ...]] = []
        for m in self.movers:
            begin, end, last = place(m, level), place(m, level + 1), len(self.sides[m])
            lanes, other = place(1 - m, level), len(self.sides[1 - m])
            few.append((m, lanes, other, begin, end, place(m, level - _REACH), begin))
            lanes_end = place(1 - m, level + 1)
            many.append((m, lanes, lanes_end, end, last, place(m, level + 1 - _REACH), last))
        return [few, many]

    def pairs_of(self, level: int) -> int:
        """Count the pairs that a level finds."""
        return sum(
            (l1 - l0) * (u1 - u0) for phase in self.phases(level) for _, l0, l1, u0, u1, *_ in phase
        )

    def run_level(self, crew: Crew, job: Any, level: int) -> None:
        """Compute all pairs in which the side with fewer pips has `level` of them."""
        for phase in self.phases(level):
            for m, l0, l1, u0, u1, low, high in phase:
                if l0 == l1 or u0 == u1:
                    continue
                pairs = (l1 - l0) * (u1 - u0)
                job.begin()
                # Small phases are done before a second thread would have begun.
                strips = l1 // _bearoff.LANES - l0 // _bearoff.LANES + 1
                chunk = _CHUNK if strips < 4 * crew.threads else 1 << 40
                work: Callable[[], int] = partial(job.work, m, l0, l1, u0, u1, low, high, chunk)
                if pairs < 1 << 15:
                    statuses = [work()]
                else:
                    statuses = crew.run(
                        [work] * min(crew.threads, strips * (1 + (u1 - u0) // chunk))
                    )
                if min(statuses) < 0:
                    msg = "reading or writing the table's file failed"
                    raise OSError(msg)
        crew.advance(self.pairs_of(level))


def _points(scoring: str | Sequence[int]) -> tuple[int, ...]:
    if isinstance(scoring, str):
        if scoring not in SCORING:
            msg = f"there is no scoring {scoring!r}; known are {', '.join(SCORING)}"
            raise ValueError(msg)
        return SCORING[scoring]
    points = tuple(whole(k, "points", 1, 2**31 - 1) for k in scoring)
    if len(points) != 5:
        msg = "a scoring is a name or five numbers, one for each state of the loser"
        raise ValueError(msg)
    return points
