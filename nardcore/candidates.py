"""Several plays of a roll, rolled out side by side with the same dice."""

from __future__ import annotations

import math
import os
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _movegen, _playout, _rollout
from nardcore._board import Play, Position
from nardcore._bounds import anytime_bound
from nardcore._moments import Moments, Total
from nardcore._ratings import signed_points
from nardcore._results import RolloutResult
from nardcore._trials import Method, Spec, play_chunk
from nardcore._work import in_order
from nardcore.errors import FormatError, RolloutCancelled
from nardcore.notation import as_dice
from nardcore.policies import native, search_of
from nardcore.rollouts import Limits, chunk_of, gather, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from nardcore._rollout import Stop
    from nardcore.typing import Dice, PolicyLike, Progress, Seed

__all__ = ["PlaysRollout", "RolledPlay", "plays_chunk", "rollout_plays"]

_FORMAT, _VERSION = "nardcore rollout of plays", 1


@dataclass(frozen=True)
class RolledPlay:
    """A play and what its rollout says, seen by the side that makes it.

    Attributes
    ----------
    play : Play
        The play.
    result : RolloutResult
        The rollout after it, in which the opponent is on roll: its numbers are the opponent's.
    equity, stderr : float
        Points a game and its standard error, with luck taken out where the rollout did.
    loss, loss_stderr : float
        How much less than the best play, and the standard error of that, which the common dice keep
        small; 0 and 0 for the best.
    sure : bool
        Whether it is not the best with the confidence that was asked for, however often one looked:
        some other play is better.

    Examples
    --------
    >>> import nardcore as nc
    >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), plays=["8/5 6/5"], games=100, seed=1)
    >>> found.ranked()[0].loss
    0.0
    """

    play: Play
    result: RolloutResult
    equity: float
    stderr: float
    loss: float
    loss_stderr: float
    sure: bool

    def __repr__(self) -> str:
        return (
            f"<RolledPlay {self.play}: {self.equity:+z.4f} ± {self.stderr:.4f}, "
            f"loss {self.loss:z.4f} ± {self.loss_stderr:.4f}>"
        )


@dataclass(frozen=True, eq=False)
class PlaysRollout:
    """What a rollout of several plays counted.

    Attributes
    ----------
    position : Position
        Before the roll.
    dice : (int, int)
        The roll, larger die first.
    plays : tuple of Play
        The plays, in the order they were given.
    results : tuple of RolloutResult
        The rollout after each, of the same trials and dice; the opponent is on roll there. A play
        that was dropped has only the first of the trials.
    pairs : dict
        For every two of the plays, by their numbers, the moments of the differences of the trials
        that both have.
    reduced_pairs : dict
        The same with luck taken out; empty where it was not.

    Examples
    --------
    >>> import nardcore as nc
    >>> plays = ["8/5 6/5", "24/23 13/10"]
    >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), plays=plays, games=2000, seed=5)
    >>> str(found.ranked()[0].play)
    '8/5 6/5'
    """

    position: Position
    dice: tuple[int, int]
    plays: tuple[Play, ...]
    results: tuple[RolloutResult, ...]
    pairs: dict[tuple[int, int], Moments]
    reduced_pairs: dict[tuple[int, int], Moments]

    @property
    def games(self) -> int:
        """How many games were played after each play that was not dropped."""
        return max(result.games for result in self.results)

    @property
    def dropped(self) -> tuple[Play, ...]:
        """The plays that got fewer games, since others are better.

        Examples
        --------
        >>> import nardcore as nc
        >>> more = {"plays": ["8/5 6/5", "6/3 6/5"], "games": 20_000, "policy": "linear"}
        >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), seed=1, drop=0.99, **more)
        >>> [str(play) for play in found.dropped], [result.games for result in found.results]
        (['6/5 6/3'], [20000, 8192])
        """
        most = self.games
        return tuple(
            play
            for play, result in zip(self.plays, self.results, strict=True)
            if result.games < most
        )

    def difference(
        self, first: int, second: int, scoring: str | Sequence[int] | None = None
    ) -> tuple[float, float]:
        """Give how much more play `first` is worth than `second`, and its standard error.

        Examples
        --------
        >>> import nardcore as nc
        >>> plays = ["8/5 6/5", "24/23 13/10"]
        >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), plays=plays, games=500, seed=1)
        >>> found.difference(0, 1)[0] == -found.difference(1, 0)[0]
        True
        """
        if first == second:
            return 0.0, 0.0
        moments = self._pair(first, second, bool(self.reduced_pairs))
        points = self._points(scoring)
        n = moments.n
        error = math.sqrt(moments.difference_variance(points) / n) if n > 1 else math.nan
        return moments.mean(points), error

    def _points(self, scoring: str | Sequence[int] | None) -> NDArray[np.float64]:
        return signed_points(scoring, self.position.rules)

    def _pair(self, first: int, second: int, reduced: bool) -> Moments:
        """Moments of the differences as the side that plays sees them."""
        found = self.reduced_pairs if reduced else self.pairs
        if (first, second) in found:
            return -found[first, second]  # the results are the opponent's
        return found[second, first]

    def _reduced_is_bounded(self, points: NDArray[np.float64]) -> bool:
        return bool(self.reduced_pairs) and tuple(points[:5]) == self.position.rules.points

    def better(
        self,
        first: int,
        second: int,
        confidence: float = 0.95,
        scoring: str | Sequence[int] | None = None,
    ) -> bool:
        """Say whether play `first` is better than `second` for sure.

        The chance that this ever says so of a play that is no better, of any two of the plays and
        however often one looks, is at most ``1 - confidence``; see `best`.

        Examples
        --------
        >>> import nardcore as nc
        >>> plays = ["8/5 6/5", "24/23 13/10"]
        >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), plays=plays, games=100, seed=1)
        >>> found.better(0, 1)
        False
        """
        if not 0 < confidence < 1:
            msg = f"a confidence lies between 0 and 1, not {confidence}"
            raise ValueError(msg)
        points = self._points(scoring)
        reduced = self._reduced_is_bounded(points)
        moments = self._pair(first, second, reduced)
        dearest = float(np.abs(points).max())
        most = 2 * dearest
        if reduced:
            most += 4.0 * max(self.position.rules.points)
        k = len(self.plays)
        alpha = (1 - confidence) / (k * (k - 1))
        return moments.mean(points) * moments.n >= anytime_bound(
            moments.squares(points), most, alpha
        )

    def best(
        self, confidence: float = 0.95, scoring: str | Sequence[int] | None = None
    ) -> Play | None:
        """Give the play that is best for sure, or None while none is.

        A play is, when each other play is worse than some play for sure: the sum of the differences
        of their games passes the anytime bound of Howard, Ramdas, McAuliffe and Sekhon (2021),
        shared among all ordered pairs of the ``k`` plays: ``(1 - confidence) / (k (k - 1))`` for
        each. Then the chance of ever naming a play that is no better than another is at most
        ``1 - confidence``.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position({6: 2, 1: 2}, {1: 2})
        >>> found = nc.rollout_plays(p, (6, 5), plays=["6/off 6/1"], games=20, seed=1)
        >>> str(found.best())
        '6/1 6/off'
        """
        left = [i for i in range(len(self.plays)) if not self._beaten(i, confidence, scoring)]
        return self.plays[left[0]] if len(left) == 1 else None

    def _beaten(
        self, number: int, confidence: float, scoring: str | Sequence[int] | None = None
    ) -> bool:
        """Say whether some other play is better for sure."""
        others = (j for j in range(len(self.plays)) if j != number)
        return any(self.better(j, number, confidence, scoring) for j in others)

    def ranked(
        self, scoring: str | Sequence[int] | None = None, *, confidence: float = 0.95
    ) -> list[RolledPlay]:
        """Rank the plays, the best first; those that were dropped come after the others.

        Examples
        --------
        >>> import nardcore as nc
        >>> plays = ["8/5 6/5", "24/23 13/10"]
        >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), plays=plays, games=500, seed=1)
        >>> first, second = found.ranked()
        >>> abs(first.equity - second.equity - second.loss) < 1e-9
        True
        """
        estimates = [result.estimate(scoring) for result in self.results]
        fewer = [result.games < self.games for result in self.results]
        order = sorted(range(len(self.plays)), key=lambda i: (fewer[i], estimates[i][0], i))
        best = order[0]
        found = []
        for i in order:
            loss, error = self.difference(best, i, scoring)
            sure = i != best and self._beaten(i, confidence, scoring)
            equity, stderr = estimates[i]
            found.append(
                RolledPlay(self.plays[i], self.results[i], -equity, stderr, loss, error, sure)
            )
        return found

    def merge(self, other: PlaysRollout) -> PlaysRollout:
        """Count two rollouts of the same plays over different trials as one.

        Examples
        --------
        >>> import nardcore as nc
        >>> more = {"plays": ["8/5 6/5", "24/23 13/10"], "seed": 1}
        >>> start = nc.Position.start()
        >>> a = nc.rollout_plays(start, (3, 1), games=30, **more)
        >>> b = nc.rollout_plays(start, (3, 1), games=20, first=30, **more)
        >>> a.merge(b) == nc.rollout_plays(start, (3, 1), games=50, **more)
        True
        """
        if not isinstance(other, PlaysRollout):
            kind = type(other).__name__  # type: ignore[unreachable]
            msg = f"a PlaysRollout merges with another, not with {kind}"
            raise TypeError(msg)
        mine, theirs = (
            (one.position, one.position.rules, one.dice, _texts(one.plays)) for one in (self, other)
        )
        if mine != theirs:
            msg = "the rollouts are of different plays, so they do not merge"
            raise ValueError(msg)
        return replace(
            self,
            results=tuple(a.merge(b) for a, b in zip(self.results, other.results, strict=True)),
            pairs={key: m + other.pairs[key] for key, m in self.pairs.items()},
            reduced_pairs={
                key: m + other.reduced_pairs[key] for key, m in self.reduced_pairs.items()
            },
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlaysRollout):
            return NotImplemented
        return (
            self.position == other.position
            and self.dice == other.dice
            and _texts(self.plays) == _texts(other.plays)
            and self.results == other.results
            and (self.pairs, self.reduced_pairs) == (other.pairs, other.reduced_pairs)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fewer = f", {len(self.dropped)} of them dropped" if self.dropped else ""
        return f"<PlaysRollout of {len(self.plays)} plays, {self.games:,} games each{fewer}>"

    # ---- files

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain JSON values.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position({6: 2, 1: 2}, {1: 2})
        >>> found = nc.rollout_plays(p, (6, 5), plays=["6/off 6/1"], games=20, seed=1)
        >>> found.to_dict()["plays"]
        ['6/1 6/off']
        """
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "position": self.position.text(self.dice),
            "plays": _texts(self.plays),
            "results": [result.to_dict() for result in self.results],
            "pairs": [[*key, m.n, m.sums, m.products] for key, m in self.pairs.items()],
            "reduced_pairs": [
                [*key, m.n, m.sums, m.products] for key, m in self.reduced_pairs.items()
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON; the file appears whole or not at all.

        Examples
        --------
        >>> import nardcore as nc, tempfile, pathlib
        >>> p = nc.Position({6: 2, 1: 2}, {1: 2})
        >>> found = nc.rollout_plays(p, (6, 5), plays=["6/off 6/1"], games=20, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(pathlib.Path(folder, "r.json"))
        ...     nc.PlaysRollout.load(pathlib.Path(folder, "r.json")) == found
        True
        """
        from nardcore._result_file import write

        write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PlaysRollout:
        """Read what `save` wrote.

        Raises
        ------
        FormatError
            If the file is no such result, is cut short, or does not add up.
        OSError
            If it cannot be read.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.PlaysRollout.load("no such file")
        Traceback (most recent call last):
            ...
        FileNotFoundError: ...
        """
        from nardcore._result_file import read

        found: PlaysRollout = read(path, _from_dict)
        return found


def _texts(plays: Sequence[Play]) -> list[str]:
    return [str(play) for play in plays]


def _from_dict(data: Any) -> PlaysRollout:
    from nardcore._result_file import result_from_dict
    from nardcore.formats.positions import parse_position

    if data["format"] != _FORMAT or data["version"] != _VERSION:
        msg = f"the format is {data['format']!r} {data['version']}, not {_FORMAT!r} {_VERSION}"
        raise FormatError(msg)
    found = parse_position(data["position"])
    if found.dice is None:
        msg = "the position names no dice"
        raise FormatError(msg)
    position = Position.from_board(found.board, found.rules)
    dice = as_dice(found.dice)
    legal = position.plays(dice)
    plays = tuple(legal.find(text) for text in data["plays"])
    results = tuple(result_from_dict(one) for one in data["results"])
    if len(results) != len(plays):
        msg = "the results are not those of the plays"
        raise FormatError(msg)
    wanted = {
        (i, j): _common(results[i].ranges, results[j].ranges)
        for i, j in combinations(range(len(plays)), 2)
    }
    tables = []
    for name in ("pairs", "reduced_pairs"):
        moments = {}
        for first, second, count, sums, products in data[name]:
            moments[int(first), int(second)] = Moments(
                int(count), tuple(int(k) for k in sums), tuple(int(k) for k in products)
            )
        if (moments or name == "pairs") and (
            {key: m.n for key, m in moments.items()} != wanted
            or any((len(m.sums), len(m.products)) != (10, 100) for m in moments.values())
        ):
            msg = f"the {name} are not those of {len(plays)} plays and their games"
            raise FormatError(msg)
        tables.append(moments)
    return PlaysRollout(position, dice, plays, results, tables[0], tables[1])


def _common(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Count the trials that are in both."""
    return sum(max(0, min(a + n, b + m) - max(a, b)) for a, n in some for b, m in others)


# ----------------------------------------------------------------------------------------- running


def plays_chunk(specs: Sequence[Spec], first: int, n: int, stop: Stop) -> NDArray[np.int64] | None:
    """Play the same trials of several rollouts: their sums, and those of their differences.

    Examples
    --------
    >>> import nardcore as nc
    >>> spec = Spec.make(nc.Position.start(), "linear", 1, None, False)
    >>> plays_chunk([spec, spec], 0, 10, _rollout.Stop())[-111:].tolist() == [10] + 110 * [0]
    True
    """
    parts, raw, reduced = [], [], []
    for spec in specs:
        played = play_chunk(spec, first, n, stop, keep=True)
        if played is None:
            return None
        parts.append(played[0])
        raw.append(played[1])
        reduced.append(played[2])
    for kept in (raw, reduced):
        for a, b in combinations(kept, 2):
            if a is not None and b is not None:
                parts.append(_playout.difference_moments(a, b))
    return np.concatenate(parts)


def _shortlist(position: Position, dice: Dice, policy: PolicyLike, limit: int) -> tuple[Play, ...]:
    """Give the plays that a policy rates best."""
    plays = position.plays(dice)
    if len(plays) <= limit:
        return tuple(plays)
    search = search_of(policy)
    is_native, evaluator = native(policy, position.rules)
    if is_native and evaluator is None:
        msg = f"there are {len(plays)} plays; name those to compare, plays=[…]"
        raise ValueError(msg)
    boards = np.ascontiguousarray(plays.boards)
    rated: Any = search.evaluator if search is not None else policy
    answer = evaluator(position.board, boards) if evaluator is not None else rated(boards)
    scores = np.asarray(answer, np.float64)
    if scores.ndim == 2:
        scores = scores @ signed_points(None, position.rules)
    classes = _movegen.results(boards, position.rules)
    scores[classes >= 0] = np.inf
    order = np.lexsort((np.arange(len(scores)), -scores))[:limit]
    return tuple(plays[i] for i in order.tolist())


def rollout_plays(
    position: Position,
    dice: Dice,
    *,
    plays: Sequence[Play | str] | None = None,
    limit: int = 5,
    games: int | None = None,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None = None,
    seed: Seed = None,
    target_stderr: float | None = None,
    confidence: float | None = None,
    drop: float | None = None,
    seconds: float | None = None,
    scoring: str | Sequence[int] | None = None,
    tables: Sequence[Any] = (),
    truncate: int | None = None,
    evaluator: PolicyLike | None = None,
    plies: int = 0,
    variance_reduction: bool = False,
    stratified: bool = False,
    first: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> PlaysRollout:
    """Roll out several plays of a roll with the same dice, and rank them.

    Trial ``i`` throws the same dice after each play, so that much of the luck is common and the
    differences are known better than the equities.

    Parameters
    ----------
    position, dice
        The position and its roll.
    plays
        Which plays; by default those that the policy rates best.
    limit
        How many these are.
    games
        How many after each play; 10,000 by default, without limit where something else stops.
    policy
        As for `nardcore.rollout`; a pair names the policies of the side that plays and of the
        other.
    target_stderr
        Stop when the standard error of every loss is at most this, of the plays not dropped.
    confidence
        Stop when one play is best with this confidence, however often one looks: see
        `PlaysRollout.best`.
    drop
        Give no more games to a play once another is better with this confidence, however often one
        looks: at least `confidence`, where that is given too. Looked at after 4 chunks of games,
        after 8, 16 and so on. By default every play gets all games.
    seconds
        Stop after the chunk in which this time has passed.
    scoring
        For `target_stderr`, `confidence` and `drop`; the rules' own by default.
    seed, tables, truncate, evaluator, plies, variance_reduction, stratified
        As for `nardcore.rollout`.
    first, threads, executor, progress
        As for `nardcore.rollout`; games of all plays together are counted once.

    Returns
    -------
    PlaysRollout
        The same for any number of threads and any executor.

    Examples
    --------
    >>> import nardcore as nc
    >>> found = nc.rollout_plays(nc.Position.start(), (3, 1), limit=2, games=200, seed=1)
    >>> found
    <PlaysRollout of 2 plays, 200 games each>
    """
    if not isinstance(position, Position):
        kind = type(position).__name__  # type: ignore[unreachable]
        msg = f"plays are those of a Position, not of {kind}"
        raise TypeError(msg)
    own, other = Spec.both(policy, position.rules)
    roll = as_dice(dice)
    legal = position.plays(roll)
    if plays is None:
        chosen = _shortlist(position, roll, own, max(limit, 1))
    else:
        chosen = tuple(legal.find(play) for play in plays)
    if not chosen or len({bytes(play.result) for play in chosen}) != len(chosen):
        msg = "there is no play to roll out" if not chosen else "a play is given twice"
        raise ValueError(msg)
    if any(play.result.outcome is not None for play in chosen):
        msg = "a play that ends the game needs no rollout"
        raise ValueError(msg)
    for level in (confidence, drop):
        if level is not None and not 0 < level < 1:
            msg = f"a confidence lies between 0 and 1, not {level}"
            raise ValueError(msg)
    if confidence is not None and drop is not None and drop < confidence:
        msg = f"a play is dropped with the confidence {drop}, less than the {confidence} asked for"
        raise ValueError(msg)
    rules = position.rules
    signed_points(scoring, rules)
    method = Method.make(rules, own, truncate, evaluator, plies, variance_reduction, stratified)
    leading = Spec.make(chosen[0].result, (other, own), seed, None, False, tables, method)
    # one seed for all, also where it was drawn
    specs = [replace(leading, position=play.result) for play in chosen]
    open_ended = target_stderr is not None or confidence is not None or seconds is not None
    if games is None and not open_ended:
        games = 10_000
    limits = Limits.make(games, target_stderr, seconds, first, open_ended)
    if executor is not None:
        leading.check_portable()
    size = _playout.RESULT_SIZE if variance_reduction or stratified else _playout.PLAIN_SIZE
    keys = list(combinations(range(len(chosen)), 2))
    pairs_at = size * len(chosen)
    blocks = 1 + variance_reduction  # of differences: as games ended, and less luck
    total = Total(pairs_at + 111 * len(keys) * blocks)
    alive = list(range(len(chosen)))
    played = [0] * len(chosen)

    def places() -> NDArray[np.int64]:
        """Say where the sums of a chunk belong, that of the plays still alive."""
        parts = [np.arange(i * size, (i + 1) * size) for i in alive]
        both = [k for k, (i, j) in enumerate(keys) if i in alive and j in alive]
        for block in range(blocks):
            for k in both:
                at = pairs_at + 111 * (block * len(keys) + k)
                parts.append(np.arange(at, at + 111))
        return np.concatenate(parts)

    def so_far() -> PlaysRollout:
        results = tuple(
            gather(spec, first, played[i], total.part(i * size, (i + 1) * size))
            for i, spec in enumerate(specs)
        )
        found = total.moments(pairs_at, len(keys) * blocks)
        pairs = dict(zip(keys, found, strict=False))
        less = dict(zip(keys, found[len(keys) :], strict=True)) if variance_reduction else {}
        return PlaysRollout(position, roll, chosen, results, pairs, less)

    def reached() -> bool:
        if target_stderr is None and confidence is None:
            return False
        found = so_far()
        if confidence is not None and found.best(confidence, scoring) is not None:
            return True
        return target_stderr is not None and all(
            one.loss_stderr <= target_stderr
            for one in found.ranked(scoring)
            if one.result.games == found.games
        )

    try:
        for chunks in _stages(limits.chunks(chunk_of(leading)), drop is not None):
            stop = _rollout.Stop()
            some = [specs[i] for i in alive]
            task: Callable[..., Any] = partial(_chunk_here, some, stop)
            if executor is not None:
                task = partial(_chunk_there, some)
            where = places()
            with closing(in_order(task, chunks, stop, threads, executor)) as answers:
                for (_, n), chunk in answers:
                    sums = np.zeros(len(total.low), np.int64)
                    sums[where] = chunk
                    total.add(sums)
                    for i in alive:
                        played[i] += n
                    tell(progress, max(played), limits.total, so_far)
                    if reached() or limits.late():
                        return so_far()
            if drop is not None:
                found = so_far()
                alive = [i for i in alive if not found._beaten(i, drop, scoring)] or alive
    except KeyboardInterrupt:
        msg = f"cancelled after {max(played):,} games of each play"
        raise RolloutCancelled(msg, partial=so_far()) from None
    return so_far()


_STAGE = 4  # chunks before one looks for the first time which plays to drop


def _stages(
    chunks: Iterator[tuple[int, int]], several: bool
) -> Iterator[Iterable[tuple[int, int]]]:
    """Cut chunks into stages, after which plays may be dropped: each doubles what went before."""
    if not several:
        yield chunks
        return
    size = done = _STAGE
    while part := list(islice(chunks, size)):
        yield part
        size, done = done, 2 * done


def _chunk_here(specs: list[Spec], stop: Stop, first: int, n: int) -> NDArray[np.int64] | None:
    return plays_chunk(specs, first, n, stop)


def _chunk_there(specs: list[Spec], first: int, n: int) -> NDArray[np.int64]:
    found = plays_chunk(specs, first, n, _rollout.Stop())
    assert found is not None  # nobody else holds the flag
    return found
