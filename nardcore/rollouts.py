"""Rollouts: play a position out many times and count how it ends."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from operator import index
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _playout, _rollout
from nardcore._moments import Total
from nardcore._ratings import signed_points
from nardcore._results import CLASSES, RolloutResult, RollShare
from nardcore._trials import Method, Spec, play_chunk
from nardcore._work import in_order
from nardcore.errors import RolloutCancelled
from nardcore.policies import name_of, search_of
from nardcore.rules import BACKGAMMON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from nardcore._board import Position
    from nardcore._rollout import Stop
    from nardcore.typing import PolicyLike, Progress, Seed

__all__ = ["CHUNK", "CLASSES", "RollShare", "RolloutResult", "rollout", "rollout_chunk"]

CHUNK = 2048
"""Trials in a chunk: what is handed to a thread, and how often a stopping rule looks.

Where a trial takes longer, by look-ahead or by luck taken out, a chunk is smaller.
"""


def chunk_of(spec: Spec) -> int:
    """Say how many trials make a chunk of a rollout."""
    searches = [search for policy in spec.policies if (search := search_of(policy)) is not None]
    deepest = max((max(s.plies, s.early_plies) for s in searches), default=0)
    if deepest > 1:
        return 36
    if deepest or spec.method.reduce:
        return 144
    return 432 if spec.method.plies > 1 or "net" in spec.policies else CHUNK


def gather(spec: Spec, first: int, n: int, total: Total) -> RolloutResult:
    """Make a result of the sums of the trials first .. first + n - 1."""
    method = spec.method
    early = total.moments(_playout.EARLY)[0]
    return RolloutResult(
        position=spec.position,
        policies=(name_of(spec.policies[0]), name_of(spec.policies[1])),
        seed=spec.seed,
        dice=spec.dice,
        opening=spec.opening,
        ranges=((first, n),) if n else (),
        counts=np.array(total.ints(0, 10), np.int64),
        plies=np.array(total.ints(11, 11 + _playout.PLIES), np.int64),
        total_plies=total.ints(10, 11)[0],
        tables=tuple(repr(table) for table in spec.tables),
        table_games=early.n,
        table_sums=early.sums,
        table_products=early.products,
        truncated_games=total.ints(_playout.TRUNCATED, _playout.TRUNCATED + 1)[0],
        truncate=method.truncate,
        evaluator=method.leaf,
        stratified=method.stratified,
        rolls=total.moments(_playout.ROLLS_AT, 21),
        reduced=total.moments(_playout.REDUCED, 22) if method.reduce else (),
        cells=(
            np.array(total.ints(_playout.CELLS, _playout.RESULT_SIZE), np.int64).reshape(441, 21)
            if method.stratified
            else None
        ),
        _spec=spec,
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
    played = play_chunk(Spec.from_bytes(spec), first, n, _rollout.Stop())
    assert played is not None  # nobody else holds the flag
    return played[0].astype("<i8").tobytes()


def rollout(
    position: Position,
    *,
    games: int | None = None,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None = None,
    seed: Seed = None,
    dice: tuple[int, int] | None = None,
    opening: bool = False,
    target_stderr: float | None = None,
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
) -> RolloutResult:
    """Play a position out many times and count how it ends.

    Parameters
    ----------
    position
        Where each game begins, the side on roll first to throw.
    games
        How many; 100,000 by default. With `target_stderr` or `seconds`, at most as many (no limit
        by default).
    policy
        ``"net"``, ``"net:1"`` to ``"net:3"`` which look ahead, ``"linear"`` (ten times as quick,
        and weaker), ``"random"``, an `Evaluator`, a `nardcore.policies.Search`, or a function that
        takes results of rolls as ``int8[n, 32]``, in the view of the side that has just moved, and
        returns ``n`` scores (larger is better for that side) or ``float[n, 10]`` class
        probabilities. A pair names the policies of the side on roll and of the other. By default
        ``"net"``, and ``"linear"`` where no net knows the rules.
    seed
        As `numpy.random.SeedSequence` takes; drawn from the system by default, and kept in the
        result. Trial ``i`` of a seed has the same dice whatever is played.
    dice
        The first roll, where it is known.
    opening
        Throw the first roll as an opening: no double under rules where the opening dice are it.
    target_stderr
        Stop when the standard error of the equity is at most this, of the one with luck taken out
        if it is (looked at after each chunk, in their order, so that the answer does not depend on
        threads).
    seconds
        Stop after the chunk in which this time has passed.
    scoring
        For `target_stderr`: the equity it looks at; the rules' own by default.
    tables
        Bear-off tables (`nardcore.bearoff.TwoSided`), asked before each throw: where one fixes
        every class still possible, the trial ends with its exact chances.
    truncate
        End each trial after so many turns with what the position is worth then.
    evaluator
        What says that, and what the luck of a roll is: ``"net"``, an `Evaluator` of chances, or a
        function that gives chances; by default what the first policy rates by, if that gives
        chances, else the net.
    plies
        How many rolls it looks ahead at a truncation.
    variance_reduction
        Also give every number with the luck of the rolls taken out: of each roll, what its best
        play is worth less the mean over all rolls, by the evaluator. It takes some 20 times as
        long a game, and many times fewer games.
    stratified
        Spread the first two rolls evenly: each once in 36 games, each pair once in 1296.
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
    rules = getattr(position, "rules", BACKGAMMON)
    method = Method.make(
        rules,
        Spec.both(policy, rules)[0],
        truncate,
        evaluator,
        plies,
        variance_reduction,
        stratified,
    )
    spec = Spec.make(position, policy, seed, dice, opening, tables, method)
    limits = Limits.make(games, target_stderr, seconds, first)
    signed_points(scoring, position.rules)
    stop = _rollout.Stop()
    task: Callable[..., Any]
    if executor is None:
        task = partial(_sums_of_chunk, spec, stop)
    else:
        task = partial(rollout_chunk, spec.to_bytes())
    full = method.reduce or method.stratified
    total = Total(_playout.RESULT_SIZE if full else _playout.PLAIN_SIZE)
    done = 0

    def so_far() -> RolloutResult:
        return gather(spec, first, done, total)

    def reached() -> bool:
        return target_stderr is not None and so_far().estimate(scoring)[1] <= target_stderr

    try:
        with closing(
            in_order(task, limits.chunks(chunk_of(spec)), stop, threads, executor)
        ) as chunks:
            for (_, n), chunk in chunks:
                total.add(np.frombuffer(chunk, "<i8") if isinstance(chunk, bytes) else chunk)
                done += n
                tell(progress, done, limits.total, so_far)
                if reached() or limits.late():
                    break
    except KeyboardInterrupt:
        msg = f"cancelled after {done:,} games"
        raise RolloutCancelled(msg, partial=so_far()) from None
    except Exception as error:
        if done:
            error.partial = so_far()  # type: ignore[attr-defined]
            error.add_note(f"the {done:,} games before it are in the exception's .partial")
        raise
    return so_far()


def _sums_of_chunk(spec: Spec, stop: Stop, first: int, n: int) -> NDArray[np.int64] | None:
    played = play_chunk(spec, first, n, stop)
    return None if played is None else played[0]


def tell(
    progress: Progress | None, done: int, total: int | None, so_far: Callable[[], Any]
) -> None:
    """Tell how far it is, and where things stand if that is wanted."""
    counted = getattr(progress, "counted", None)
    if counted is not None:
        counted(done, total, so_far())
    elif progress is not None:
        progress(done, total)


@dataclass(frozen=True)
class Limits:
    """Which trials to play, and until when."""

    first: int
    last: int | None
    until: float

    @staticmethod
    def make(
        games: int | None,
        target_stderr: float | None,
        seconds: float | None,
        first: int,
        open_ended: bool = False,
    ) -> Limits:
        """Check a request."""
        for name, value in (("target_stderr", target_stderr), ("seconds", seconds)):
            if value is not None and not value > 0:
                msg = f"{name} is above 0, not {value}"
                raise ValueError(msg)
        open_ended = open_ended or target_stderr is not None or seconds is not None
        until = math.inf if seconds is None else perf_counter() + seconds
        return Limits(first, _last_trial(games, open_ended, first), until)

    @property
    def total(self) -> int | None:
        """How many trials; None where that is open."""
        return None if self.last is None else self.last - self.first

    def late(self) -> bool:
        """Say whether the time has passed."""
        return self.until < math.inf and perf_counter() >= self.until

    def chunks(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield the chunks: their first trials and numbers of trials."""
        first = self.first
        while self.last is None or first < self.last:
            n = size if self.last is None else min(size, self.last - first)
            yield first, n
            first += n


def _whole(value: object, name: str) -> int:
    """Take a whole number; a bool or a text is none."""
    try:
        if not isinstance(value, bool):
            return index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    msg = f"{name} is a whole number, not {value!r}"
    raise TypeError(msg)


def _last_trial(games: int | None, open_ended: bool, first: int) -> int | None:
    first = _whole(first, "first")
    if first < 0:
        msg = f"first is 0 or more, not {first}"
        raise ValueError(msg)
    if games is None:
        return None if open_ended else first + 100_000
    games = _whole(games, "games")
    if games < 1:
        msg = f"games is 1 or more, not {games}"
        raise ValueError(msg)
    if first + games > 2**62:
        msg = "trials are numbered below 2**62"
        raise ValueError(msg)
    return first + games
