"""What positions are worth by an evaluator, native or a function: the same search either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nardcore import _movegen, _search
from nardcore.dice import ROLLS
from nardcore.policies import FILTERS, Evaluator, check_net, name_of, net_evaluator, net_policy
from nardcore.rules import SCORING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore._rollout import Stop
    from nardcore.rules import Rules
    from nardcore.typing import Boards, PolicyLike

__all__ = ["BLOCK", "Rater", "check_tables", "inclusive", "rater", "signed_points", "swapped"]

_OFF = 26
BLOCK = 64  # positions whose rolls a function rates in one call: some 27,000 results


class Rater(Protocol):
    """Values of positions by an evaluator; None when stopped."""

    searcher: _search.Searcher | None

    def values(self, on_roll: Boards, plies: int, stop: Stop) -> NDArray[np.float64] | None:
        """Rate unfinished positions before their rolls, ``float64[n, 10]``."""

    def rolls(
        self, on_roll: Boards, rolls: NDArray[np.int8], plies: int, stop: Stop
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
        """Rate the best play of each roll ``plies - 1`` deep, and number it."""

    def rate(self, parent: NDArray[np.int8], results: Boards) -> NDArray[np.float64]:
        """Rate unfinished results of one roll 0 plies deep."""


def signed_points(scoring: str | Sequence[float] | None, rules: Rules) -> NDArray[np.float64]:
    """Turn a scoring into signed points of the ten classes, for the side on roll."""
    table: Any = rules.points if scoring is None else scoring
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


def inclusive(p: NDArray[np.float64]) -> dict[str, float]:
    """Give ten chances as other programs print them; a gammon includes the backgammons."""
    return {
        "win": float(p[:5].sum()),
        "win_gammon": float(p[1:5].sum()),
        "win_backgammon": float(p[3:5].sum()),
        "lose": float(p[5:].sum()),
        "lose_gammon": float(p[6:].sum()),
        "lose_backgammon": float(p[8:].sum()),
    }


def check_tables(tables: Sequence[Any], rules: Rules, points: NDArray[np.float64]) -> list[Any]:
    """Check tables and give their probes, which must outlive their capsules."""
    probes = []
    for table in tables:
        if not callable(getattr(table, "probe", None)):
            msg = f"a table has probe(rules), as those of nardcore.bearoff; {table!r} has not"
            raise TypeError(msg)
        probes.append(table.probe(rules))  # refuses rules that are not the table's
    if probes and len(set(rules.points)) == 1 < len(set(points[:5].tolist())):
        msg = "tables know plain wins under these rules, so that only scorings of plain wins apply"
        raise ValueError(msg)
    return probes


def rater(
    evaluator: PolicyLike,
    rules: Rules,
    points: NDArray[np.float64],
    probes: Sequence[Any] = (),
    filters: Sequence[tuple[int, float]] = FILTERS,
    chooser: Evaluator | None = None,
) -> Rater:
    """Make the search of an evaluator of chances."""
    found: Evaluator | None = None
    if isinstance(evaluator, str) and evaluator.startswith("net"):
        check_net(rules)
        found = net_evaluator(rules.movement)
        if all(float(p).is_integer() and abs(p) <= 100 for p in points[:5]):
            chooser = net_policy(rules.movement, tuple(int(p) for p in points[:5]))
    elif isinstance(evaluator, str):
        msg = f"{evaluator!r} gives no chances: it can play, but not evaluate"
        raise ValueError(msg)
    elif isinstance(evaluator, Evaluator):
        found = evaluator
    if found is not None:
        if misfit := found.misfit(rules):
            msg = f"the evaluator {found.name} cannot rate this game: {misfit}"
            raise ValueError(msg)
        capsules = [probe.capsule for probe in probes]
        searcher = _search.Searcher(found, rules, points[:5], capsules, filters, chooser)
        return _Native(searcher, probes)
    return _Function(evaluator, rules, points, probes, filters)


def swapped(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """See chances from the other side."""
    return np.concatenate([values[:, 5:], values[:, :5]], axis=1)


class _Native:
    """A native search, and what keeps its tables alive."""

    def __init__(self, searcher: _search.Searcher, probes: Sequence[Any]) -> None:
        self._probes = probes
        self.searcher: _search.Searcher | None = searcher
        self.values = searcher.values
        self.rolls = searcher.rolls
        self.rate = searcher.rate


class _Function:
    """The same search by a function of results, which is asked about thousands of them at once."""

    def __init__(
        self,
        function: Any,
        rules: Rules,
        points: NDArray[np.float64],
        probes: Sequence[Any],
        filters: Sequence[tuple[int, float]],
    ) -> None:
        self.searcher: _search.Searcher | None = None
        self.function = function
        self.rules = rules
        self.points = points[:5]
        self.probes = probes
        self.capsules = [probe.capsule for probe in probes]
        self.filters = tuple(filters)

    def values(self, on_roll: Boards, plies: int, stop: Stop) -> NDArray[np.float64] | None:
        known, found = _search.probe_tables(self.capsules, on_roll)
        rest = np.flatnonzero(~known)
        if not len(rest):
            return found
        if plies == 0:
            found[rest] = swapped(self._ask(_movegen.flip(on_roll[rest], self.rules)))
            return found
        every = np.array(ROLLS, np.int8)
        for at in range(0, len(rest), BLOCK):
            part = rest[at : at + BLOCK]
            boards, rolls = np.repeat(on_roll[part], 21, axis=0), np.tile(every, (len(part), 1))
            rated = self.rolls(boards, rolls, plies, stop)
            if rated is None:
                return None
            found[part] = _search.gather_rolls(rated[0])
        return found

    def rolls(
        self, on_roll: Boards, rolls: NDArray[np.int8], plies: int, stop: Stop
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
        if stop.is_set():
            return None
        indptr, results, _ = _movegen.plays(on_roll, rolls, self.rules)
        counts = np.diff(indptr)
        of_row = np.repeat(np.arange(len(counts)), counts)
        won = results[:, _OFF] == self.rules.checkers
        decided = np.zeros(len(counts), bool)
        decided[of_row[won]] = True
        value = np.zeros((len(results), 10))
        equity = np.full(len(results), -np.inf)
        at = np.flatnonzero(won)
        classes = _movegen.results(results[at], self.rules).astype(np.int64)
        value[at, classes] = 1
        equity[at] = self.points[classes]
        alive = ~decided[of_row]
        self._settle(value, equity, np.flatnonzero(alive), self.rate(None, results[alive]))
        for level in range(1, plies):
            left = np.bincount(of_row[alive], minlength=len(counts))
            alive &= self._pass(of_row, equity, alive, level - 1)
            left = np.bincount(of_row[alive], minlength=len(counts))
            deep = alive if level == plies - 1 else alive & (left > 1)[of_row]
            rows = np.flatnonzero(deep)
            if not len(rows):
                continue
            rated = self.values(_movegen.flip(results[rows], self.rules), level, stop)
            if rated is None:
                return None
            self._settle(value, equity, rows, swapped(rated))
        equity[~(alive | won)] = -np.inf
        best = np.maximum.reduceat(equity, indptr[:-1])
        hits = np.flatnonzero(equity == best[of_row])
        chosen = hits[np.unique(of_row[hits], return_index=True)[1]]
        return value[chosen], chosen - indptr[:-1]

    def _settle(
        self,
        value: NDArray[np.float64],
        equity: NDArray[np.float64],
        rows: NDArray[np.int64],
        rated: NDArray[np.float64],
    ) -> None:
        """Keep what results are worth; term by term, as native code adds up."""
        value[rows] = rated
        parts = (rated[:, :5] - rated[:, 5:]) * self.points
        equity[rows] = parts[:, 0] + parts[:, 1] + parts[:, 2] + parts[:, 3] + parts[:, 4]

    def _pass(
        self,
        of_row: NDArray[np.int64],
        equity: NDArray[np.float64],
        alive: NDArray[np.bool_],
        level: int,
    ) -> NDArray[np.bool_]:
        """Say which results a filter lets through."""
        passed = np.zeros(len(alive), bool)
        if level >= len(self.filters):
            passed[:] = True
            return passed
        keep, within = self.filters[level]
        at = np.flatnonzero(alive)
        order = at[np.lexsort((at, -equity[at], of_row[at]))]
        rows = of_row[order]
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        block = np.repeat(first, np.diff(np.append(first, len(rows))))
        rank = np.arange(len(rows)) - block
        passed[order] = (rank < keep) & (equity[order] >= equity[order[block]] - within)
        return passed

    def rate(self, _parent: NDArray[np.int8] | None, results: Boards) -> NDArray[np.float64]:
        value = self._ask(results)
        if self.capsules and len(results):
            known, found = _search.probe_tables(self.capsules, _movegen.flip(results, self.rules))
            value[known] = swapped(found[known])
        return value

    def _ask(self, results: Boards) -> NDArray[np.float64]:
        n = len(results)
        if not n:
            return np.zeros((0, 10))
        answer = np.asarray(self.function(results))
        name = name_of(self.function)
        if answer.shape != (n, 10):
            msg = (
                f"{name} gave the shape {answer.shape} for {n} positions; an evaluation needs "
                f"({n}, 10) chances"
            )
            raise ValueError(msg)
        if answer.dtype.kind not in "fiu":
            msg = f"{name} gave {answer.dtype}, not numbers"
            raise TypeError(msg)
        raw = np.ascontiguousarray(answer, dtype=np.float32)
        found, bad = _search.clean_chances(np.ascontiguousarray(results), raw, self.rules)
        if bad >= 0:
            msg = f"{name} gave chances that are below 0 or do not add up to 1: {raw[bad].tolist()}"
            raise ValueError(msg)
        return found
