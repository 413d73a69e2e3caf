"""Games of very few checkers in full contact, solved: hypergammon."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff, _movegen
from nardcore.bearoff._crew import Crew
from nardcore.bearoff._file import check_rules, open_table, save_table
from nardcore.bearoff._ranking import as_boards, check_kind, position_count, unrank
from nardcore.errors import TableError
from nardcore.rules import HYPERGAMMON, Rules

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike

    from nardcore._board import Play, Position
    from nardcore.typing import Progress

__all__ = ["Contact"]

_PLACES = 25  # 24 points and the bar
_MOST = 3


class Contact:
    """Chances of all outcome classes in every position of one to three checkers a side.

    Full contact, cubeless, under the play that is best for the rules' scoring. The recursion is
    iterated until no equity and no chance changes by more than a tolerance in a whole sweep.
    Numbers are for the side on roll, before it rolls.

    Attributes
    ----------
    rules : Rules
        The rules, short ones, with at most three checkers.
    tolerance : float
        The largest change that the last sweep was allowed.
    sweeps : int
        How many sweeps there were.

    Examples
    --------
    >>> import nardcore as nc
    >>> rules = nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),))
    >>> table = nc.bearoff.Contact.build(rules=rules)
    >>> 0.6 < table.win(nc.Position.start(rules)) < 0.61
    True
    """

    rules: Rules
    tolerance: float
    sweeps: int
    path: Path | None
    """The file it was opened from."""

    _values: NDArray[np.float32]
    _fingerprint: str
    _known: set[Rules]

    def __init__(self) -> None:
        msg = "make a table by Contact.build or Contact.open"
        raise TypeError(msg)

    @classmethod
    def _make(
        cls,
        rules: Rules,
        tolerance: float,
        sweeps: int,
        values: NDArray[np.float32],
        path: Path | None = None,
    ) -> Contact:
        self = object.__new__(cls)
        self.rules, self.tolerance, self.sweeps, self.path = rules, tolerance, sweeps, path
        self._values = values
        self._fingerprint = _fingerprint(rules)
        self._known = {rules}
        return self

    @classmethod
    def build(
        cls,
        *,
        rules: Rules = HYPERGAMMON,
        tolerance: float = 1e-6,
        path: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Contact:
        """Solve a game.

        Parameters
        ----------
        rules
            Short rules with one to three checkers; three take some 600 MB and many minutes.
        tolerance
            When to stop: nothing changes by more in a whole sweep.
        path
            Where to save the table, which is then used from the file.
        threads
            How many; all processors by default. The table is the same, bit for bit.
        progress
            Called as ``progress(done, None)``, in positions; how many sweeps it takes is not known.

        Returns
        -------
        Contact
            The table.
        """
        check_kind(rules)
        if rules.movement != "short" or rules.checkers > _MOST:
            msg = f"only short games of 1 to {_MOST} checkers are solved, not {rules.name}"
            raise TableError(msg)
        if not tolerance >= 1e-9:
            msg = f"tolerance is at least 1e-9, not {tolerance}"
            raise ValueError(msg)
        told = None if progress is None else lambda done, _: progress(done, None)
        n = position_count(_PLACES, rules.checkers)
        counts = unrank(np.arange(n), points=_PLACES)
        pairs, levels = _pairs(counts, rules.checkers)
        values = np.zeros((n, n, 10), np.float32)
        equities = np.zeros((n, n))
        widest = int(np.diff(levels).max())
        fresh, better = np.empty((widest, 10), np.float32), np.empty(widest)
        points = [*map(float, rules.points), *(-float(k) for k in rules.points)]
        with Crew(threads, told, 0) as crew:
            job = _bearoff.ContactJob(
                rules,
                counts,
                values.reshape(-1),
                equities.reshape(-1),
                fresh.reshape(-1),
                better,
                points,
                crew.stop,
            )
            sweeps, change = 0, np.inf
            while change > tolerance:
                change = 0.0
                sweeps += 1
                for a, b in zip(levels[:-1].tolist(), levels[1:].tolist(), strict=True):
                    job.begin()
                    work = partial(job.work, pairs, a, b)
                    found = [work()] if b - a < 256 else crew.run([work] * crew.threads)
                    job.settle(pairs, a, b)
                    change = max(change, *found)
                    crew.advance(b - a)
        values.flags.writeable = False
        table = cls._make(rules, tolerance, sweeps, values)
        if path is not None:
            table.save(path)
            return cls.open(path, rules=rules)
        return table

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file; it appears whole or not at all."""
        about = {
            "checkers": self.rules.checkers,
            "rules": self.rules.name,
            "fingerprint": self._fingerprint,
            "tolerance": self.tolerance,
            "sweeps": self.sweeps,
            "dtype": "float32",
            "scale": 1,
        }
        save_table(path, "contact", about, {"outcomes": self._values})

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, rules: Rules | None = None, verify: bool = False
    ) -> Contact:
        """Open a table that was saved; see `TwoSided.open`."""
        opened = open_table(path, "contact", verify=verify)
        header = opened.header
        try:
            made_for = Rules.parse(header["rules"])
            n = position_count(_PLACES, made_for.checkers)
            values = opened.arrays["outcomes"]
            if values.shape != (n, n, 10):
                raise ValueError
            tolerance, sweeps = float(header["tolerance"]), int(header["sweeps"])
        except (KeyError, TypeError, ValueError) as error:
            msg = f"the header of {opened.path} is damaged"
            raise TableError(msg) from error
        for one in (made_for, rules):
            if one is not None:
                check_rules(opened.path, header, one, _fingerprint(one))
        return cls._make(made_for, tolerance, sweeps, values, opened.path)

    def __repr__(self) -> str:
        return f"<Contact {self.rules.checkers} checkers, rules {self.rules.name}>"

    @property
    def nbytes(self) -> int:
        """The size of the data."""
        return self._values.nbytes

    @property
    def raw(self) -> NDArray[np.float32]:
        """The data: ``float32[mover, opponent, class]`` by `rank` on 25 points, the last the bar.

        Pairs that stand on one point, or that have both borne off, hold zeros.
        """
        return self._values

    def outcomes_batch(
        self, boards: ArrayLike, *, rules: Rules | None = None
    ) -> NDArray[np.float32]:
        """Give the chances of the ten outcome classes of boards, ``float32[n, 10]``."""
        rules = self.rules if rules is None else rules
        if rules not in self._known:
            if _fingerprint(rules) != self._fingerprint:
                msg = f"this table is for {self.rules.name}, not for {rules.name}"
                raise TableError(msg)
            self._known.add(rules)
        rows = as_boards(boards)
        _movegen.results(rows, rules)  # refuses impossible boards
        at = np.empty(len(rows), np.int64)
        _bearoff.contact_indices(rows, len(self._values), at)
        found: NDArray[np.float32] = self._values.reshape(-1, 10)[at]
        return found

    def outcomes(self, position: Position) -> NDArray[np.float32]:
        """Give the chances of the ten outcome classes for the side on roll."""
        found: NDArray[np.float32] = self.outcomes_batch(
            position.board[None], rules=position.rules
        )[0]
        return found

    def win(self, position: Position) -> float:
        """Give the chance of the side on roll to win."""
        return float(self.outcomes(position)[:5].sum())

    def equity(self, position: Position) -> float:
        """Give the equity of the side on roll in points per game."""
        outcomes = self.outcomes(position).astype(np.float64)
        return float((outcomes[:5] - outcomes[5:]) @ np.array(self.rules.points))

    def best_play(self, position: Position, dice: tuple[int, int]) -> Play:
        """Give the best play of a roll: the first of those that are best."""
        plays = position.plays(dice)
        after = _movegen.flip(plays.boards, position.rules)
        outcomes = self.outcomes_batch(after, rules=position.rules).astype(np.float64)
        theirs = (outcomes[:, :5] - outcomes[:, 5:]) @ np.array(self.rules.points)
        return plays[int(np.argmin(theirs))]


def _fingerprint(rules: Rules) -> str:
    """Tell apart what matters: movement, classes and points, but not where a game starts."""
    plain = rules.replace(start=((24, rules.checkers),))
    text = f"nardcore contact 1 {plain.classes_fingerprint} {rules.points}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _pairs(counts: NDArray[np.int8], checkers: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give all possible pairs of positions by the pips of both, and where each number begins."""
    held = counts[:, :24] > 0
    masks = held @ (1 << np.arange(24, dtype=np.int64))
    mirrored = held[:, ::-1] @ (1 << np.arange(24, dtype=np.int64))
    apart = (masks[:, None] & mirrored[None, :]) == 0
    apart[0, 0] = False  # both cannot have borne off
    first, second = np.nonzero(apart)
    pips = (counts @ np.arange(1, _PLACES + 1)).astype(np.int32)
    total = pips[first] + pips[second]
    order = np.argsort(total, kind="stable")
    pairs = np.stack([first[order], second[order]], axis=1).astype(np.int32)
    assert counts.sum(axis=1).max() == checkers
    return pairs, np.concatenate([[0], np.cumsum(np.bincount(total))]).astype(np.int64)
