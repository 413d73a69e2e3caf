"""Games of very few checkers in full contact, solved: hypergammon."""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff, _movegen
from nardcore.bearoff._crew import Crew
from nardcore.bearoff._file import check_place
from nardcore.bearoff._ranking import as_boards, as_limit, check_kind, position_count, unrank
from nardcore.bearoff._table import Table, plays_of
from nardcore.dice import ROLLS
from nardcore.errors import TableError
from nardcore.rules import HYPERGAMMON, Rules

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from nardcore._board import Play, Position
    from nardcore.typing import Progress

__all__ = ["Contact"]

_PLACES = 25  # 24 points and the bar
_MOST = 3
_SLICE = 1 << 18  # pairs between two looks at Ctrl-C
_PROOFS = 20
_ROOM = 1 << 62
_WIN = (1,) * 5 + (0,) * 5


class Contact(Table):
    """Chances of all outcome classes in every position of one to three checkers a side.

    Full contact, cubeless, under the play that is best for the rules' scoring. Numbers are for the
    side on roll, before it rolls. How far they may be off is proved, see `build`.

    Attributes
    ----------
    rules : Rules
        The rules, short ones, with at most three checkers.
    tolerance : float
        What `build` was asked for.
    error : float
        No equity and no chance is off by more, and by the rounding to float32: proved.
    sweeps : int
        How often all positions were looked at.

    Examples
    --------
    >>> import nardcore as nc
    >>> rules = nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),))
    >>> table = nc.bearoff.Contact.build(rules=rules)
    >>> 0.6 < table.win(nc.Position.start(rules)) < 0.61
    True
    """

    KIND = "contact"
    _SHARED = "game"

    tolerance: float
    error: float
    sweeps: int

    _points: tuple[int, ...]
    _table: _bearoff.ContactTable

    @classmethod
    def _make(
        cls,
        rules: Rules,
        tolerance: float,
        error: float,
        sweeps: int,
        values: NDArray[np.float32],
        path: Path | None = None,
    ) -> Contact:
        self = object.__new__(cls)
        self.tolerance, self.error, self.sweeps = tolerance, error, sweeps
        self._points = (*rules.points, *(-k for k in rules.points))
        self._table = _bearoff.ContactTable(values, rules.checkers)
        self._hold(rules, {"outcomes": values}, path)
        return self

    def _parts(self) -> tuple[Any, ...]:
        return self.rules, self.tolerance, self.error, self.sweeps, self.raw

    def _fingerprint_of(self, rules: Rules) -> str:
        return _fingerprint(rules)

    def _about(self) -> dict[str, Any]:
        return {
            "checkers": self.rules.checkers,
            "tolerance": self.tolerance,
            "error": self.error,
            "sweeps": self.sweeps,
            "dtype": "float32",
            "scale": 1,
        }

    @classmethod
    def _from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path
    ) -> Contact:
        rules = Rules.parse(header["rules"])
        n = position_count(_PLACES, rules.checkers)
        values = arrays["outcomes"]
        if values.shape != (n, n, 10) or rules.movement != "short":
            raise ValueError(values.shape)
        tolerance, error = float(header["tolerance"]), float(header["error"])
        return cls._make(rules, tolerance, error, int(header["sweeps"]), values, path)

    @classmethod
    def build(
        cls,
        *,
        rules: Rules = HYPERGAMMON,
        tolerance: float = 1e-6,
        path: str | os.PathLike[str] | None = None,
        max_memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Contact:
        """Solve a game.

        Parameters
        ----------
        rules
            Short rules with one to three checkers; three take 6 GB and many minutes.
        tolerance
            What no equity and no chance may be off by.
        path
            Where to save the table, which is then used from the file.
        max_memory
            Bytes for lists of where all plays lead; no limit by default. Plays that do not fit are
            generated every time, which takes longer and finds the same.
        threads
            How many; all processors by default. The table is the same, bit for bit.
        progress
            Called as ``progress(done, None)``, in positions; how many sweeps it takes is not known.

        Returns
        -------
        Contact
            The table.

        Notes
        -----
        Let V be the exact equities: V(s) is the mean over rolls of the largest -V(s') of the
        results s' of a roll. Write T f for the same with any f in the place of V; T turns f <= g
        into T f >= T g. Say E are the equities found, g >= 0 any function that is 0 where the game
        is over, and d > 0. If ``T(E - d g) <= E + d g`` and ``T(E + d g) >= E - d g`` everywhere,
        then ``abs(E - V) <= d g``. For let r(s) be by how much V(s) lies outside of E(s) ± d g(s).
        Where V is above, V(s) - E(s) - d g(s) <= (T V - T(E - d g))(s), which is at most the mean
        over rolls of the largest r(s') of a roll's results; below likewise. So r is at most its
        largest value times the chance that the game is still on after k turns, for all k, and
        that chance goes to 0 whatever is played, if from every position some rolls end the game
        whatever is played.

        The last is looked at for every position, from the ends of games backwards, and so are the
        two inequalities, in float64, at the end of a build.
        For g serve the turns that the game lasts when both sides play best but for a preference
        of d a turn for long games: then both hold with d to spare, where rounding is of the order
        of 1e-15. The bound is d times the largest g.

        The chances of the classes are those of the plays found. When a sweep changes no chance by
        more than c, none is off by more than c times the turns that the game still lasts.
        """
        check_kind(rules)
        if rules.movement != "short" or rules.checkers > _MOST:
            msg = f"only short games of 1 to {_MOST} checkers are solved, not {rules.name}"
            raise TableError(msg)
        max_memory = as_limit(max_memory)
        if not 1e-9 <= tolerance <= 1:
            msg = f"tolerance is 1e-9 to 1, not {tolerance}"
            raise ValueError(msg)
        if path is not None:
            check_place(path, 40 * position_count(_PLACES, rules.checkers) ** 2)
        told = None if progress is None else lambda done, _: progress(done, None)
        with Crew(threads, told, 0) as crew:
            solver = _Solver(crew, rules, tolerance, max_memory)
            solver.find_plays()
            values = solver.find_chances()
            error = solver.prove()
        values.flags.writeable = False
        table = cls._make(rules, tolerance, error, solver.sweeps, values)
        if path is not None:
            table.save(path)
            return cls.open(path, rules=rules)
        return table

    def __repr__(self) -> str:
        return f"<Contact {self.rules.checkers} checkers, rules {self.rules.name}>"

    @property
    def raw(self) -> NDArray[np.float32]:
        """The data: ``float32[mover, opponent, class]`` by `rank` on 25 points, the last the bar.

        Pairs that stand on one point, or that have both borne off, hold zeros.
        """
        values: NDArray[np.float32] = self._arrays["outcomes"]
        return values

    def outcomes_batch(
        self, boards: ArrayLike, *, rules: Rules | None = None
    ) -> NDArray[np.float32]:
        """Give the chances of the ten outcome classes of boards, ``float32[n, 10]``."""
        rules = self._of(rules)
        rows = as_boards(boards)
        _movegen.results(rows, rules)  # refuses impossible boards
        found = np.empty((len(rows), 10), np.float32)
        self._table.many(rows, found)
        return found

    def outcomes(self, position: Position) -> NDArray[np.float32]:
        """Give the chances of the ten outcome classes for the side on roll."""
        found: NDArray[np.float32] | None = self._table.outcome(position)
        if found is None:
            self._admit(position.rules)
            found = self._table.outcome(position, True)
            assert found is not None
        return found

    def win(self, position: Position) -> float:
        """Give the chance of the side on roll to win."""
        return self._mean(position, _WIN)

    def equity(self, position: Position) -> float:
        """Give the equity of the side on roll in points per game."""
        return self._mean(position, self._points)

    def _mean(self, position: Position, points: tuple[int, ...]) -> float:
        found: float = self._table.mean(position, points)
        if found != found:
            self._admit(position.rules)
            found = self._table.mean(position, points, True)
        return found

    def probe(self, rules: Rules | None = None) -> Any:
        """Give the table to native code, as an ``nc_table`` in a capsule; see ``nardcore.h``.

        It covers every position, so that a rollout asks it instead of playing on.
        """
        self._of(rules)
        return _bearoff.ContactProbe(self._table)

    def best_play(self, position: Position, dice: tuple[int, int]) -> Play:
        """Give the best play of a roll: the first of those that are best."""
        plays = plays_of(position, dice)
        after = _movegen.flip(plays.boards, position.rules)
        outcomes = self.outcomes_batch(after, rules=position.rules).astype(np.float64)
        theirs = (outcomes[:, :5] - outcomes[:, 5:]) @ np.array(self.rules.points)
        return plays[int(np.argmin(theirs))]


class _Solver:
    """A build: plays are chosen and followed in turn until they are the best ones."""

    def __init__(self, crew: Crew, rules: Rules, tolerance: float, room: int | None) -> None:
        n = position_count(_PLACES, rules.checkers)
        counts = unrank(np.arange(n), points=_PLACES)
        self.crew, self.tolerance, self.n = crew, tolerance, n
        self.pairs, levels = _pairs(counts)
        self.levels = list(pairwise(levels.tolist()))
        self.now = np.zeros((n * n, 2))  # an equity, and the turns that the game still lasts
        self.sweeps = 0
        self.job = _bearoff.ContactJob(
            rules,
            counts,
            self.pairs,
            self.now.reshape(-1),
            np.empty(10 * max(b - a for a, b in self.levels)),
            np.empty(len(self.pairs) * len(ROLLS), np.uint32),
            [*map(float, rules.points), *(-float(k) for k in rules.points)],
            _ROOM if room is None else room,
            crew.stop,
        )
        self.job.ends()

    def find_plays(self) -> None:
        """Choose plays until none is better by more than a part of what the proof allows."""
        residual = max(self._levels(partial(self.job.choose, take=True, delta=0.0), False))
        while residual > self._allowed() / 8:
            while max(change for change, _ in self._follow(True)) > max(
                residual / 100, self._allowed() / 16
            ):
                pass
            residual = max(self._choose(0.0))
        self._follow(True)

    def find_chances(self) -> NDArray[np.float32]:
        """Sweep the chances of the classes under the plays found."""
        chances = np.zeros(10 * len(self.now))
        self.job.ends(chances)
        while max(self._levels(self.job.spread, True)) > self._allowed() / 2:
            pass
        return chances.astype(np.float32).reshape(self.n, self.n, 10)

    def prove(self) -> float:
        """Bound the error of every equity, by the argument in `Contact.build`."""
        self._see_that_games_end()
        delta = self._allowed()
        for _ in range(_PROOFS):
            if not sum(self._choose(delta)):
                return delta * self._longest()
            while max(longer for _, longer in self._follow(False)) > 1e-3:
                pass
            delta = min(delta, self._allowed())
        msg = f"a tolerance of {self.tolerance} cannot be proved"
        raise TableError(msg)

    def _see_that_games_end(self) -> None:
        over = np.zeros((self.n, self.n), np.uint8)
        over[0] = over[:, 0] = 1
        left, before = len(self.pairs), len(self.pairs) + 1
        close = partial(self.job.close, over=over.reshape(-1))
        while left:
            if left == before:
                msg = f"a game may last for ever in {left:,} positions"
                raise TableError(msg)
            before = left
            left = sum(sum(self._share(close, a, b)) for a, b in self.levels)

    def _longest(self) -> float:
        return float(self.now[:, 1].max())

    def _allowed(self) -> float:
        """How far an equity may be off for every turn that the game still lasts."""
        return self.tolerance / (1.25 * self._longest())

    def _follow(self, equities: bool) -> list[tuple[float, float]]:
        return self._levels(partial(self.job.follow, equities=equities), False)

    def _levels(self, work: Callable[[int, int], Any], spread: bool) -> list[Any]:
        """Sweep level after level."""
        found = []
        for a, b in self.levels:
            found += self._share(work, a, b)
            self.job.settle(a, b, spread)
        self.sweeps += 1
        return found

    def _choose(self, delta: float) -> list[float]:
        """Choose plays everywhere by the values as they are."""
        found = []
        for a in range(0, len(self.pairs), _SLICE):
            b = min(a + _SLICE, len(self.pairs))
            found += self._share(partial(self.job.choose, take=False, delta=delta), a, b)
        self.sweeps += 1
        return found

    def _share(self, work: Callable[[int, int], Any], a: int, b: int) -> list[Any]:
        self.job.begin()
        call = partial(work, a, b)
        found = [call()] if b - a < 256 else self.crew.run([call] * self.crew.threads)
        self.crew.advance(b - a)
        return found


def _fingerprint(rules: Rules) -> str:
    """Tell apart what matters: movement, classes and points, but not where a game starts."""
    plain = rules.replace(start=((24, rules.checkers),))
    text = f"nardcore contact 1 {plain.classes_fingerprint} {rules.points}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _pairs(counts: NDArray[np.int8]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give all pairs of positions to play by the pips of both, and where each number begins."""
    held = counts[:, :24] > 0
    masks = held @ (1 << np.arange(24, dtype=np.int64))
    mirrored = held[:, ::-1] @ (1 << np.arange(24, dtype=np.int64))
    apart = (masks[:, None] & mirrored[None, :]) == 0
    apart[0] = apart[:, 0] = False  # a side has borne off: the game is over
    first, second = np.nonzero(apart)
    pips = (counts @ np.arange(1, _PLACES + 1)).astype(np.int32)
    total = pips[first] + pips[second]
    order = np.argsort(total, kind="stable")
    pairs = np.stack([first[order], second[order]], axis=1).astype(np.int32)
    return pairs, np.concatenate([[0], np.cumsum(np.bincount(total))]).astype(np.int64)
