"""One chunk of trials, and one trial turn by turn: the work behind `nardcore.rollouts`."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _dice, _movegen, _rollout
from nardcore.dice import key
from nardcore.notation import as_dice
from nardcore.policies import Evaluator, name_of, native, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore._board import Play, Position
    from nardcore._rollout import Stop
    from nardcore.typing import Boards, PolicyLike, Seed

__all__ = ["Replay", "Spec", "Turn", "play_chunk", "replay_trial"]

_OFF = 26


@dataclass(frozen=True)
class Spec:
    """Everything that decides what a trial does, but for its number."""

    position: Position
    policies: tuple[PolicyLike, PolicyLike]
    seed: tuple[int, ...]
    dice: tuple[int, int] | None
    opening: bool
    tables: tuple[Any, ...] = ()

    @staticmethod
    def make(
        position: Position,
        policy: PolicyLike | tuple[PolicyLike, PolicyLike],
        seed: Seed,
        dice: tuple[int, int] | None,
        opening: bool,
        tables: Sequence[Any] = (),
    ) -> Spec:
        """Check a request."""
        from nardcore._board import Position

        if not isinstance(position, Position):
            kind = type(position).__name__  # type: ignore[unreachable]
            msg = f"a rollout begins at a Position, not {kind}"
            raise TypeError(msg)
        if position.outcome is not None:
            msg = "the game is over in this position"
            raise ValueError(msg)
        both = policy if isinstance(policy, tuple) else (policy, policy)
        if len(both) != 2:
            msg = "policy is one policy or a pair"  # type: ignore[unreachable]
            raise ValueError(msg)
        for one in both:
            misfit = one.misfit(position.rules) if isinstance(one, Evaluator) else None
            if misfit:
                msg = f"the evaluator {name_of(one)} cannot play this game: {misfit}"
                raise ValueError(msg)
        if not isinstance(opening, bool):
            msg = f"opening is True or False, not {opening!r}"  # type: ignore[unreachable]
            raise TypeError(msg)
        if dice is not None and opening:
            msg = "dice and opening exclude each other"
            raise ValueError(msg)
        for table in tables:
            if not callable(getattr(table, "probe", None)):
                msg = f"a table has probe(rules), as those of nardcore.bearoff; {table!r} has not"
                raise TypeError(msg)
            table.probe(position.rules)  # refuses rules that are not the table's
        sequence = np.random.SeedSequence(seed)
        entropy: Any = sequence.entropy
        words = tuple(int(word) for word in np.atleast_1d(np.asarray(entropy, dtype=object)))
        if not words:
            msg = "a seed is a whole number or some of them, not an empty sequence"
            raise ValueError(msg)
        return Spec(
            position,
            (resolve(both[0]), resolve(both[1])),
            words,
            None if dice is None else as_dice(dice),
            bool(opening),
            tuple(tables),
        )

    @property
    def key(self) -> NDArray[np.uint64]:
        """The key of the dice."""
        return key(self.seed[0] if len(self.seed) == 1 else self.seed)

    @property
    def no_double(self) -> bool:
        """Whether the first roll can be no double."""
        return self.opening and self.position.rules.opening == "use_dice"

    def to_bytes(self) -> bytes:
        """Pickle the request for an executor."""
        for policy in self.policies:
            if isinstance(policy, Evaluator):
                msg = f"the evaluator {policy.name} lives in this process; use threads"
                raise TypeError(msg)
        return pickle.dumps(self)

    @staticmethod
    @lru_cache(maxsize=16)
    def from_bytes(raw: bytes) -> Spec:
        """Read what `to_bytes` wrote, by this version on a machine you trust."""
        spec = pickle.loads(raw)
        if not isinstance(spec, Spec):
            msg = "these bytes are no rollout"
            raise TypeError(msg)
        return spec


def play_chunk(spec: Spec, first: int, n: int, stop: Stop) -> NDArray[np.int64] | None:
    """Play trials first .. first + n - 1: class counts, plies, histogram; None when stopped."""
    rules = spec.position.rules
    kinds = [native(policy, rules) for policy in spec.policies]
    probes = [table.probe(rules) for table in spec.tables]  # they outlive their capsules
    capsules = tuple(probe.capsule for probe in probes)
    if all(is_native for is_native, _ in kinds):
        return _rollout.play_chunk(
            spec.position.board,
            rules,
            tuple(evaluator for _, evaluator in kinds),
            spec.key,
            rules.points,
            spec.dice or (0, 0),
            spec.no_double,
            capsules,
            first,
            n,
            stop,
        )
    sums = np.zeros(_rollout.RESULT_SIZE, np.int64)
    games = _Lockstep(spec, np.arange(first, first + n, dtype=np.uint64))
    while len(games.trials):
        if stop.is_set():
            return None
        if capsules:
            games.look_up(capsules, sums)
            if not len(games.trials):
                break
        games.advance()
        ended = games.ended
        np.add.at(sums, ended, 1)
        sums[10] += games.ply * len(ended)
        sums[11 + min(games.ply, _rollout.PLIES - 1)] += len(ended)
    return sums


class _Lockstep:
    """Many trials, one turn at a time: so that a function rates thousands of results in a call."""

    def __init__(self, spec: Spec, trials: NDArray[np.uint64]) -> None:
        self.spec = spec
        self.rules = spec.position.rules
        self.key = spec.key
        self.trials = trials
        self.boards: Boards = np.tile(spec.position.board, (len(trials), 1))
        self.ply = 0
        self.ended: NDArray[np.int64] = np.zeros(0, np.int64)  # classes of the games just ended
        self.rolls: Boards = np.zeros((0, 2), np.int8)
        self.results: Boards = self.boards

    def look_up(self, tables: tuple[Any, ...], sums: NDArray[np.int64]) -> None:
        """End the games that a table knows, and add what it says to the sums of the chunk."""
        if self.ply == 0 and (self.spec.dice is not None or self.spec.no_double):
            return
        sides = np.full(len(self.trials), self.ply & 1, np.int64)
        known = _rollout.ask_tables(tables, self.boards, sides, sums)
        n = int(known.sum())
        sums[10] += self.ply * n
        sums[11 + min(self.ply, _rollout.PLIES - 1)] += n
        self.trials = self.trials[~known]
        self.boards = self.boards[~known]

    def advance(self) -> None:
        """Play one turn of every game."""
        spec, side = self.spec, self.ply & 1
        if self.ply == 0 and spec.dice is not None:
            self.rolls = np.tile(np.array(spec.dice, np.int8), (len(self.trials), 1))
        else:
            no_double = self.ply == 0 and spec.no_double
            self.rolls = _dice.rolls_of_ply(self.key, self.trials, self.ply, no_double)
        indptr, boards, _ = _movegen.plays(self.boards, self.rolls, self.rules)
        chosen = indptr[:-1] + self._choose(spec.policies[side], indptr, boards)
        self.results = boards[chosen]
        classes = _movegen.results(self.results, self.rules).astype(np.int64)
        over = classes >= 0
        ended = classes[over]
        self.ended = (ended + 5) % 10 if side else ended
        self.trials = self.trials[~over]
        self.boards = _movegen.flip(self.results[~over], self.rules)
        self.ply += 1
        if self.ply > 1 << 20:
            msg = f"a game did not end within {self.ply} plies"
            raise RuntimeError(msg)

    def _choose(
        self, policy: PolicyLike, indptr: NDArray[np.int64], boards: Boards
    ) -> NDArray[np.int64]:
        counts = np.diff(indptr)
        is_native, evaluator = native(policy, self.rules)
        if is_native and evaluator is None:
            return _dice.choices_of_ply(self.key, self.trials, self.ply, counts)
        if evaluator is not None:
            return evaluator.choose(self.boards, indptr, boards, self.rules.points, self.rules)
        points = np.array(self.rules.points, np.float64)
        scores = np.full(len(boards), -np.inf)
        won = boards[:, _OFF] == self.rules.checkers
        of_row = np.repeat(np.arange(len(counts)), counts)
        decided = np.zeros(len(counts), bool)
        decided[of_row[won]] = True
        if won.any():
            scores[won] = points[_movegen.results(boards[won], self.rules)]
        ask = ~decided[of_row] & (counts > 1)[of_row]
        if ask.any():
            scores[ask] = _rate(policy, boards[ask], points)
        best = np.maximum.reduceat(scores, indptr[:-1])
        hits = np.flatnonzero(scores == best[of_row])
        first = np.unique(of_row[hits], return_index=True)[1]
        return hits[first] - indptr[:-1]


def _rate(policy: Any, boards: Boards, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ask a function and check its answer."""
    answer = np.asarray(policy(boards))
    n = len(boards)
    if answer.shape not in ((n,), (n, 10)):
        msg = (
            f"the policy {name_of(policy)} gave the shape {answer.shape} for {n} positions; "
            f"expected ({n},) scores or ({n}, 10) probabilities"
        )
        raise ValueError(msg)
    if answer.dtype.kind not in "fiu":
        msg = f"the policy {name_of(policy)} gave {answer.dtype}, not numbers"
        raise TypeError(msg)
    scores = answer.astype(np.float64)
    if not np.isfinite(scores).all():
        msg = f"the policy {name_of(policy)} gave values that are not finite"
        raise ValueError(msg)
    if scores.ndim == 2:
        # term by term, as native evaluators are rated; a product of matrices rounds as it likes
        parts = (scores[:, :5] - scores[:, 5:]) * points
        scores = parts[:, 0] + parts[:, 1] + parts[:, 2] + parts[:, 3] + parts[:, 4]
    return scores


# ----------------------------------------------------------------------------------------- replay


@dataclass(frozen=True)
class Turn:
    """One turn of a game.

    Attributes
    ----------
    position : Position
        Before the roll, in the view of the side on roll.
    dice : (int, int)
        Larger die first.
    play : Play
        What was played.

    Examples
    --------
    >>> import nardcore as nc
    >>> turn = nc.rollout(nc.Position.start(), games=1, seed=1).replay(0).turns[0]
    >>> turn.play in turn.position.plays(turn.dice)
    True
    """

    position: Position
    dice: tuple[int, int]
    play: Play


@dataclass(frozen=True)
class Replay:
    """One trial, turn by turn.

    Attributes
    ----------
    trial : int
        Its number.
    turns : tuple of Turn
        The turns, the side on roll in the rollout's position first.
    outcome : int
        The outcome class, 0 to 9, for that side.

    Examples
    --------
    >>> import nardcore as nc
    >>> result = nc.rollout(nc.Position.start(), games=1, seed=1)
    >>> game = result.replay(0)
    >>> int(result.counts[game.outcome]), len(game.turns) == result.total_plies
    (1, True)
    """

    trial: int
    turns: tuple[Turn, ...]
    outcome: int


def replay_trial(spec: Spec, trial: int) -> Replay:
    """Play one trial and keep its turns."""
    trial = index(trial)
    if not 0 <= trial < 2**62:
        msg = f"trials are numbered from 0, below 2**62, not {trial}"
        raise ValueError(msg)
    games = _Lockstep(spec, np.array([trial], np.uint64))
    position = spec.position
    turns = []
    while len(games.trials):
        games.advance()
        first, second = games.rolls[0].tolist()
        plays = position.plays((first, second))
        at = int(np.flatnonzero((plays.boards == games.results[0]).all(axis=1))[0])
        turns.append(Turn(position, plays.dice, plays[at]))
        position = plays[at].result
    return Replay(trial, tuple(turns), int(games.ended[0]))
