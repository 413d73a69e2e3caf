"""Cubeful rollouts: trials that carry the stake, both sides raising and accepting by a model."""

from __future__ import annotations

import math
import os
import pickle
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from nardcore import _rollout
from nardcore._board import Position
from nardcore._cube_model import Owner, Verdict
from nardcore._cube_terms import Terms
from nardcore._judge import chances_of
from nardcore._ratings import signed_points
from nardcore._result_file import count_of, int_of, read, text_of, write
from nardcore._results import _join, _quantile
from nardcore._trials import Spec, _Lockstep
from nardcore._work import in_order
from nardcore.errors import FormatError, RolloutCancelled, RulesError, TableError
from nardcore.match_equity import EFFICIENCY, whole
from nardcore.notation import as_dice
from nardcore.policies import Evaluator, Search, name_of, plays_net
from nardcore.rollouts import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from nardcore._cube_model import Floats
    from nardcore._rollout import Stop
    from nardcore.match_equity import MatchEquity, MatchScore
    from nardcore.typing import Boards, PolicyLike, Progress, Seed

__all__ = ["CubefulResult", "cubeful_from_dict", "rollout_cubeful"]

_UNIT = 2**32
# More trials at once than in plain rollouts: each turn of a chunk costs some time of its own.
_CHUNK = 4096


@dataclass(frozen=True)
class CubefulResult:
    """What a cubeful rollout counted.

    All numbers are those of the side on roll in `position`, before its roll. The ten classes are
    counted apart from the stake: a game goes on to its end after a refusal has settled what is
    paid.

    Attributes
    ----------
    position : Position
        Where the trials began.
    stake, cube
        The stake at the start and who might raise it; see `cube_decision`.
    match : (int, int) or None
        Points that both sides needed; None for money.
    crawford : bool
        Whether it was the Crawford game.
    policies : tuple of str
        Who played: for the side on roll and for the other.
    judge : str
        What the decisions about the stake were made from.
    efficiency : float
        The weight of the live cube in them.
    seed : tuple of int
        The entropy of the dice.
    dice : (int, int) or None
        The first roll, where it was given.
    opening : bool
        Whether the first roll was an opening throw.
    ranges : tuple of (int, int)
        The trials that are counted: (first, number), ascending, without overlap.
    counts : tuple of int
        Games by outcome class, ten numbers.
    worth_sum, square_sum : int
        What the games paid, added up, in units of ``2**-32``, and the squares of that.
    refusals : (int, int)
        Games that ended in a refusal of the other side, and of the side on roll.
    stakes : tuple of (int, int)
        How many games were settled at which stake.
    table_games : int
        Games that a table of exact worths settled.
    total_plies : int
        Turns of all games together.

    Examples
    --------
    >>> import nardcore as nc
    >>> r = nc.rollout_cubeful(nc.Position.start(), games=200, seed=1)
    >>> r.games, sum(games for _, games in r.stakes)
    (200, 200)
    """

    position: Position
    stake: int
    cube: Owner
    match: tuple[int, int] | None
    crawford: bool
    policies: tuple[str, str]
    judge: str
    efficiency: float
    seed: tuple[int, ...]
    dice: tuple[int, int] | None
    opening: bool
    ranges: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]
    worth_sum: int
    square_sum: int
    refusals: tuple[int, int]
    stakes: tuple[tuple[int, int], ...]
    table_games: int
    total_plies: int

    @property
    def games(self) -> int:
        """How many games were played."""
        return sum(self.counts)

    @property
    def probabilities(self) -> Floats:
        """Chances of the ten classes if nothing is ever refused, ``float64[10]``."""
        return np.array(self.counts, np.float64) / max(self.games, 1)

    @property
    def win(self) -> float:
        """Chance to win a game that is played to its end."""
        return float(self.probabilities[:5].sum())

    def equity(self, scoring: str | Sequence[int] | None = None) -> float:
        """Mean points a game without any stake, as `RolloutResult.equity`.

        Examples
        --------
        >>> import nardcore as nc
        >>> r = nc.rollout_cubeful(nc.Position.start(), games=200, seed=1)
        >>> r.equity() == nc.rollout(nc.Position.start(), games=200, seed=1).equity()
        True
        """
        points = signed_points(scoring, self.position.rules)
        return float(np.array(self.counts, np.float64) @ points / max(self.games, 1))

    @property
    def cubeful(self) -> float:
        """Mean worth of a game with the stake: points, or the chance to win the match."""
        return self.worth_sum / _UNIT / self.games if self.games else math.nan

    @property
    def stderr(self) -> float:
        """The standard error of `cubeful`; nan below two games."""
        n = self.games
        if n < 2:
            return math.nan
        spread = (n * self.square_sum - self.worth_sum**2) / _UNIT**2
        return math.sqrt(max(spread, 0.0) / n / (n - 1) / n)

    def ci(self, level: float = 0.95) -> tuple[float, float]:
        """Give the confidence interval of `cubeful`, by the normal distribution.

        Examples
        --------
        >>> import nardcore as nc
        >>> low, high = nc.rollout_cubeful(nc.Position.start(), games=200, seed=1).ci()
        >>> low < high
        True
        """
        half = _quantile(level) * self.stderr
        return self.cubeful - half, self.cubeful + half

    def merge(self, other: CubefulResult) -> CubefulResult:
        """Count two rollouts of the same request over different trials as one.

        Raises
        ------
        ValueError
            If the requests differ or trials are in both.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position.start()
        >>> a = nc.rollout_cubeful(p, games=120, seed=1)
        >>> b = nc.rollout_cubeful(p, games=80, seed=1, first=120)
        >>> a.merge(b) == b.merge(a) == nc.rollout_cubeful(p, games=200, seed=1)
        True
        """
        if not isinstance(other, CubefulResult):
            kind = type(other).__name__  # type: ignore[unreachable]
            msg = f"a CubefulResult merges with another, not with {kind}"
            raise TypeError(msg)
        request = [field.name for field in fields(self)][:11]
        for name in request:
            if getattr(self, name) != getattr(other, name):
                msg = f"the rollouts differ in {name}, so they do not merge"
                raise ValueError(msg)
        if self.position.rules != other.position.rules:
            msg = "the rollouts were played by different rules, so they do not merge"
            raise ValueError(msg)
        stakes = dict(self.stakes)
        for stake, games in other.stakes:
            stakes[stake] = stakes.get(stake, 0) + games
        return replace(
            self,
            ranges=_join(self.ranges + other.ranges),
            counts=tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            worth_sum=self.worth_sum + other.worth_sum,
            square_sum=self.square_sum + other.square_sum,
            refusals=(
                self.refusals[0] + other.refusals[0],
                self.refusals[1] + other.refusals[1],
            ),
            stakes=tuple(sorted(stakes.items())),
            table_games=self.table_games + other.table_games,
            total_plies=self.total_plies + other.total_plies,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give everything the result holds, and what follows from it, as plain JSON values.

        Examples
        --------
        >>> import nardcore as nc, json
        >>> r = nc.rollout_cubeful(nc.Position.start(), games=20, seed=1)
        >>> json.loads(json.dumps(r.to_dict()))["stakes"] == [list(pair) for pair in r.stakes]
        True
        """
        from nardcore import __version__

        head = {"format": _FORMAT, "version": _VERSION, "nardcore": __version__}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        more = {"games": self.games, "cubeful": self.cubeful, "stderr": self.stderr}
        known = {key: None if math.isnan(value) else value for key, value in more.items()}
        return {**head, **values, "position": self.position.text(), **known}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON; the file appears whole or not at all.

        Examples
        --------
        >>> import nardcore as nc, tempfile, pathlib
        >>> r = nc.rollout_cubeful(nc.Position.start(), games=50, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "r.json")
        ...     r.save(path)
        ...     nc.CubefulResult.load(path) == r
        True
        """
        write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CubefulResult:
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
        >>> nc.CubefulResult.load("no such file")
        Traceback (most recent call last):
            ...
        FileNotFoundError: ...
        """
        found: CubefulResult = read(path, cubeful_from_dict)
        return found

    def __repr__(self) -> str:
        what = "points" if self.match is None else f"match chance at {self.match}"
        return (
            f"<CubefulResult {self.games:,} games: win {100 * self.win:.2f} %, {what} "
            f"{self.cubeful:+.4f} ± {self.stderr:.4f} by {self.position.rules.name}>"
        )


_FORMAT, _VERSION = "nardcore cubeful rollout", 1


def cubeful_from_dict(data: Any) -> CubefulResult:
    """Make a result of the JSON values of `CubefulResult.to_dict`, and check that it adds up."""
    if data["format"] != _FORMAT or int_of(data["version"]) != _VERSION:
        msg = f"this is not version {_VERSION} of the format {_FORMAT!r}"
        raise FormatError(msg)
    dice, match = data["dice"], data["match"]
    numbers = {name: count_of(data[name]) for name in ("stake", "table_games", "total_plies")}
    result = CubefulResult(
        position=Position.parse(text_of(data["position"])),
        cube=data["cube"],
        match=None if match is None else _pair(match),
        crawford=data["crawford"],
        policies=(text_of(data["policies"][0]), text_of(data["policies"][1])),
        judge=text_of(data["judge"]),
        efficiency=data["efficiency"],
        seed=tuple(count_of(word) for word in data["seed"]),
        dice=None if dice is None else as_dice(_pair(dice)),
        opening=data["opening"],
        ranges=_join(tuple(_pair(part) for part in data["ranges"])),
        counts=tuple(count_of(n) for n in data["counts"]),
        worth_sum=int_of(data["worth_sum"]),
        square_sum=count_of(data["square_sum"]),
        refusals=_pair(data["refusals"]),
        stakes=tuple(_pair(part) for part in data["stakes"]),
        **numbers,
    )
    games = result.games
    settled = [number for _, number in result.stakes]
    facts = {
        "cube": result.cube in ("centred", "owned", "opponent"),
        "stake": result.stake >= 1 and all(stake >= 1 for stake, _ in result.stakes),
        "match": match is None or min(_pair(match)) >= 1,
        "crawford": isinstance(result.crawford, bool),
        "efficiency": type(result.efficiency) in (int, float) and 0 <= result.efficiency <= 1,
        "seed": bool(result.seed),
        "opening": isinstance(result.opening, bool),
        "counts": len(result.counts) == 10 and games == int_of(data["games"]),
        "ranges": sum(n for _, n in result.ranges) == games,
        "stakes": sum(settled) == games
        and result.stakes == tuple(sorted(dict(result.stakes).items())),
        "refusals": sum(result.refusals) <= games,
        "table_games": result.table_games <= games,
        "square_sum": result.worth_sum**2 <= games * result.square_sum,
    }
    wrong = [name for name, holds in facts.items() if not holds]
    if wrong:
        msg = f"{wrong[0]} does not fit the {games} games of the result"
        raise FormatError(msg)
    return result


def _pair(value: Any) -> tuple[int, int]:
    first, second = value
    return count_of(first), count_of(second)


@dataclass(frozen=True)
class _Request:
    """Everything that decides what a trial does, but for its number."""

    spec: Spec
    terms: Terms
    judge: Any
    tables: tuple[Any, ...]


class _Sums:
    """What chunks add up to."""

    def __init__(self) -> None:
        self.counts = np.zeros(10, np.int64)
        self.worth = self.square = self.plies = self.table_games = 0
        self.refusals = [0, 0]
        self.stakes: dict[int, int] = {}

    def add(self, other: _Sums) -> None:
        self.counts += other.counts
        self.worth += other.worth
        self.square += other.square
        self.plies += other.plies
        self.table_games += other.table_games
        for side in (0, 1):
            self.refusals[side] += other.refusals[side]
        for stake, games in other.stakes.items():
            self.stakes[stake] = self.stakes.get(stake, 0) + games

    def result(self, request: _Request, first: int, n: int) -> CubefulResult:
        spec, terms = request.spec, request.terms
        return CubefulResult(
            position=spec.position,
            stake=terms.stake,
            cube=terms.owner,
            match=None if terms.match is None else terms.match.away,
            crawford=terms.match is not None and terms.match.crawford,
            policies=(name_of(spec.policies[0]), name_of(spec.policies[1])),
            judge=_name(request.judge),
            efficiency=terms.efficiency,
            seed=spec.seed,
            dice=spec.dice,
            opening=spec.opening,
            ranges=((first, n),) if n else (),
            counts=tuple(int(x) for x in self.counts),
            worth_sum=self.worth,
            square_sum=self.square,
            refusals=(self.refusals[0], self.refusals[1]),
            stakes=tuple(sorted(self.stakes.items())),
            table_games=self.table_games,
            total_plies=self.plies,
        )


def _name(judge: Any) -> str:
    return repr(judge) if _is_table(judge) else name_of(judge)


def _is_table(thing: Any) -> bool:
    return hasattr(thing, "equity_batch") and getattr(thing, "equities", None) == "money"


# ------------------------------------------------------------------------------------- one chunk


class _Games(_Lockstep):
    """Trials with their stakes."""

    def __init__(self, request: _Request, trials: NDArray[np.uint64]) -> None:
        super().__init__(request.spec, trials)
        self.request, self.terms = request, request.terms
        n = len(trials)
        self.stake = np.full(n, self.terms.stake, np.int64)
        # who may raise: 0 both, 1 the side that began, -1 the other
        self.owner = np.full(n, {"centred": 0, "owned": 1, "opponent": -1}[self.terms.owner])
        self.settled = np.zeros(n, bool)
        self.sums = _Sums()

    def settle(self, which: NDArray[np.int64], worth: Floats) -> None:
        """Pay some games, by their worth for the side that began."""
        units = np.rint(worth * _UNIT).astype(np.int64).tolist()
        self.sums.worth += sum(units)
        self.sums.square += sum(u * u for u in units)
        found, games = np.unique(self.stake[which], return_counts=True)
        for stake, n in zip(found.tolist(), games.tolist(), strict=True):
            self.sums.stakes[stake] = self.sums.stakes.get(stake, 0) + n
        self.settled[which] = True

    def worth(self, points: NDArray[np.int64]) -> Floats:
        """Give what points are worth to the side that began."""
        value = self.terms.payoff().value
        found, back = np.unique(points, return_inverse=True)
        return np.array([value(int(k)) for k in found], np.float64)[back]

    def decide(self) -> None:
        """Let the side on roll raise and the other answer, in every game where it may."""
        spec = self.spec
        if self.ply == 0 and (spec.dice is not None or spec.no_double):
            return  # the dice lie on the board
        me = -1 if self.ply & 1 else 1
        self._ask_tables(me)
        if not self.terms.allowed:
            return
        free = ~self.settled & (self.owner != -me)
        for stake in np.unique(self.stake[free]).tolist():
            for owner in (0, me):
                which = np.flatnonzero(free & (self.stake == stake) & (self.owner == owner))
                if len(which):
                    self._decide_some(which, stake, me, "owned" if owner else "centred")

    def _decide_some(self, which: NDArray[np.int64], stake: int, me: int, owner: Owner) -> None:
        boards, judge, beavers = self.boards[which], self.request.judge, self.terms.beavers
        if _is_table(judge):
            verdict = _table_verdict(judge, boards, self.rules, stake, owner, beavers)
            step = self.terms.model(np.full((1, 10), 0.1), stake)[0].step
        else:
            chances = chances_of(judge, boards, self.rules)
            model, p = self.terms.model(chances, stake, mover=me == 1)
            verdict = model.decide(stake, owner, p, beavers)
            step = model.step
        refused = which[verdict.offer & ~verdict.accept]
        if len(refused):
            self.sums.refusals[0 if me == 1 else 1] += len(refused)
            self.settle(refused, self.worth(me * self.stake[refused]))
        taken = verdict.offer & verdict.accept
        for some, times in ((taken & ~verdict.beaver, 1), (taken & verdict.beaver, 2)):
            if some.any():
                higher = stake
                for _ in range(times):
                    higher = step(higher) or higher
                self.stake[which[some]] = higher
                self.owner[which[some]] = -me

    def _ask_tables(self, me: int) -> None:
        """Settle the games whose exact worth a table knows."""
        for table in self.request.tables:
            which = np.flatnonzero(~self.settled & _covered(self.terms, self.boards, self.stake))
            for owner in (0, me, -me):
                some = which[self.owner[which] == owner]
                if not len(some):
                    continue
                boards = self.boards[some]
                name: Owner = "centred" if not owner else "owned" if owner == me else "opponent"
                worth = table.equity_batch(boards, cube=name, rules=self.rules)
                if owner != -me:
                    given = 2 * table.equity_batch(boards, cube="opponent", rules=self.rules)
                    worth = np.maximum(worth, np.minimum(given, 1))
                known = ~np.isnan(worth)
                some = some[known]
                self.sums.table_games += len(some)
                self.settle(some, me * worth[known] * self.stake[some])

    def play(self, stop: Stop) -> _Sums | None:
        """Play all games to their end; None when stopped."""
        while len(self.trials):
            if stop.is_set():
                return None
            self.decide()
            before = self.trials
            self.advance()
            # trials ascend, and those left are some of those before
            over = np.ones(len(before), bool)
            over[np.searchsorted(before, self.trials)] = False
            np.add.at(self.sums.counts, self.ended, 1)
            self.sums.plies += self.ply * len(self.ended)
            self._pay(np.flatnonzero(over))
            stay = ~over
            self.stake, self.owner = self.stake[stay], self.owner[stay]
            self.settled = self.settled[stay]
        return self.sums

    def _pay(self, over: NDArray[np.int64]) -> None:
        """Pay the games that have just ended and were not settled before."""
        due = ~self.settled[over]
        which, ended = over[due], self.ended[due]
        points = np.array(self.terms.points, np.int64)[ended % 5]
        if self.terms.jacoby:
            points = np.where(self.owner[which] == 0, 1, points)
        sign = np.where(ended < 5, 1, -1)
        self.settle(which, self.worth(sign * points * self.stake[which]))


def _covered(terms: Terms, boards: Boards, stake: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say where only plain wins are left and the limit of the stake is far."""
    plain: NDArray[np.bool_] = boards[:, 26:28].min(axis=1) > 0
    if len(set(terms.points)) == 1:
        plain = np.ones(len(boards), bool)
    cap = terms.rules.cube_cap if terms.rules.stake == "cube" else None
    return plain if cap is None else plain & (stake * 16 <= cap)


def _table_verdict(
    table: Any, boards: Boards, rules: Any, stake: int, owner: Owner, beavers: int
) -> Verdict:
    hold = stake * table.equity_batch(boards, cube=owner, rules=rules)
    taken = 2 * stake * table.equity_batch(boards, cube="opponent", rules=rules)
    if np.isnan(hold).any() or np.isnan(taken).any():
        msg = "the judge is a table that does not know every position of the games"
        raise TableError(msg)
    beaver = (taken < 0) & bool(beavers)
    taken = np.where(beaver, 2 * taken, taken)
    refused = np.full(len(boards), float(stake))
    offer = np.minimum(taken, refused) > hold
    return Verdict(hold, taken, refused, offer, taken <= refused, beaver)


def _play(request: _Request, stop: Stop, first: int, n: int) -> _Sums | None:
    return _Games(request, np.arange(first, first + n, dtype=np.uint64)).play(stop)


def _play_elsewhere(raw: bytes, first: int, n: int) -> _Sums | None:
    return _play(pickle.loads(raw), _rollout.Stop(), first, n)


# --------------------------------------------------------------------------------------- running


def rollout_cubeful(
    position: Position,
    *,
    games: int | None = None,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None = None,
    judge: Any = None,
    stake: int = 1,
    cube: Owner = "centred",
    match: tuple[int, int] | MatchScore | None = None,
    crawford: bool = False,
    met: MatchEquity | None = None,
    efficiency: float = EFFICIENCY,
    tables: Sequence[Any] = (),
    seed: Seed = None,
    dice: tuple[int, int] | None = None,
    opening: bool = False,
    target_stderr: float | None = None,
    first: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> CubefulResult:
    """Play a position out many times, with the stake.

    Before each throw the side on roll decides whether to raise, where it may, and the other whether
    to accept, both as `cube_decision` would.

    Parameters
    ----------
    position
        Where each game begins, the side on roll first to throw.
    games
        How many; 100,000 by default. With `target_stderr`, at most as many (no limit by default).
    policy
        What plays, as for `rollout`.
    judge
        What decisions about the stake are made from: a function or an `Evaluator` that rates
        positions as a policy does, with the ten columns of class chances; a two-sided table of
        money equities that covers every position of the games; or ``"pips"``, a crude estimate by
        pip counts and measured shares of dearer wins. By default the policy, if it
        gives ten columns (the policy of the side on roll, of two), else the shipped net, or
        ``"pips"`` where no net knows the rules.
    stake, cube, match, crawford, met, efficiency
        What is at stake; see `cube_decision`. They are those of the side on roll in `position`.
    tables
        Two-sided tables of money equities: where one knows the exact worth of a game, it is paid.
        Money play with the cube or with geometric dave only.
    seed, dice, opening, first, threads, executor, progress
        As for `rollout`. Trial ``i`` of a seed has the same dice, and the same plays, as there.
    target_stderr
        Stop when the standard error of the worth is at most this.

    Returns
    -------
    CubefulResult
        The same for any number of threads and any executor.

    Raises
    ------
    RolloutCancelled
        At Ctrl-C, with what was counted in ``.partial``.
    RulesError
        If nothing is raised under the position's rules.

    Examples
    --------
    >>> import nardcore as nc
    >>> r = nc.rollout_cubeful(nc.Position.start(nc.SHORT_DAVE), games=300, seed=1)
    >>> r
    <CubefulResult 300 games: win ... %, points ... by short_dave>
    """
    spec = Spec.make(position, policy, seed, dice, opening)
    terms = Terms.make(position.rules, stake, cube, match, crawford, met, efficiency)
    for table in tables:
        if not _is_table(table):
            msg = f"tables are two-sided tables of money equities, not {table!r}"
            raise TypeError(msg)
        table.probe(position.rules)  # refuses rules that are not the table's
    exact = bool(tables) or _is_table(judge)
    if exact and (terms.match is not None or terms.rules.stake == "dave_arithmetic"):
        msg = "tables of money equities know money play with a doubled stake alone"
        raise RulesError(msg) if terms.match is None else ValueError(msg)
    if judge is None:
        judge = _default_judge(spec)
    request = _Request(spec, terms, judge, tuple(tables))
    last = Limits.make(games, target_stderr, None, first).last
    first = whole(first, "first")
    total = None if last is None else last - first
    starts = count(first, _CHUNK) if last is None else range(first, last, _CHUNK)
    ranges = ((at, _CHUNK if last is None else min(_CHUNK, last - at)) for at in starts)
    stop = _rollout.Stop()
    if executor is None:
        task: Any = partial(_play, request, stop)
    else:
        spec.to_bytes()  # says what cannot be sent
        task = partial(_play_elsewhere, pickle.dumps(request))
    sums, done = _Sums(), 0
    try:
        with closing(in_order(task, ranges, stop, threads, executor)) as chunks:
            for (_, n), chunk in chunks:
                sums.add(chunk)
                done += n
                if progress is not None:
                    progress(done, total)
                if target_stderr is not None and (
                    sums.result(request, first, done).stderr <= target_stderr
                ):
                    break
    except KeyboardInterrupt:
        msg = f"cancelled after {done:,} games"
        raise RolloutCancelled(msg, partial=sums.result(request, first, done)) from None
    return sums.result(request, first, done)


def _default_judge(spec: Spec) -> Any:
    """Take the policy where it gives class chances."""
    policy: Any = spec.policies[0]
    if isinstance(policy, Search):
        policy = policy.evaluator
    if isinstance(policy, str):
        return "net" if plays_net(spec.position.rules) else "pips"
    after = np.array(spec.position.board)[None, :]
    shape = np.shape(policy(after[0], after) if isinstance(policy, Evaluator) else policy(after))
    return policy if shape == (1, 10) else "pips"
