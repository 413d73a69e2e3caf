"""One chunk of trials, and one trial turn by turn: the work behind `nardcore.rollouts`."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardcore import _dice, _movegen, _playout, _rollout, _search
from nardcore._ratings import BLOCK, check_tables, rater, signed_points, swapped
from nardcore.dice import ROLLS, key
from nardcore.notation import as_dice
from nardcore.policies import (
    Evaluator,
    Search,
    check_plies,
    default_policy,
    name_of,
    native,
    resolve,
    search_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore._board import Play, Position
    from nardcore._ratings import Rater
    from nardcore._rollout import Stop
    from nardcore.rules import Rules
    from nardcore.typing import Boards, PolicyLike, Seed

__all__ = ["Method", "Replay", "Spec", "Turn", "play_chunk", "replay_trial"]

_OFF = 26


@dataclass(frozen=True)
class Method:
    """How a rollout makes numbers of its trials.

    Attributes
    ----------
    truncate : int or None
        Plies after which a trial ends with what it is worth then.
    evaluator : PolicyLike or None
        What says that, and what the luck of a roll is.
    plies : int
        How many rolls it looks ahead at a truncation.
    reduce : bool
        Whether the luck of the rolls is taken out, too.
    stratified : bool
        Whether the first two rolls are spread evenly.

    Examples
    --------
    >>> Method(truncate=11, evaluator="net", plies=1).leaf
    'net:1'
    """

    truncate: int | None = None
    evaluator: PolicyLike | None = None
    plies: int = 0
    reduce: bool = False
    stratified: bool = False

    @property
    def leaf(self) -> str:
        """What results call the evaluator; empty where it is not asked."""
        if self.evaluator is None or not (self.truncate or self.reduce):
            return ""
        return f"{name_of(self.evaluator)}:{self.plies}"

    @staticmethod
    def make(
        rules: Rules,
        policy: PolicyLike,
        truncate: int | None,
        evaluator: PolicyLike | None,
        plies: int,
        reduce: bool,
        stratified: bool,
    ) -> Method:
        """Check a request; what rates positions is by default what plays, if it gives chances."""
        for name, value in (("variance_reduction", reduce), ("stratified", stratified)):
            if not isinstance(value, bool):
                msg = f"{name} is True or False, not {value!r}"  # type: ignore[unreachable]
                raise TypeError(msg)
        plies = check_plies(plies)
        if truncate is not None:
            if isinstance(truncate, bool):
                msg = f"truncate is a number of plies, not {truncate}"
                raise TypeError(msg)
            if index(truncate) < 1:
                msg = f"truncate is 1 or more, not {truncate}"
                raise ValueError(msg)
            truncate = index(truncate)
        if truncate is None and not reduce:
            return Method(stratified=stratified)
        if evaluator is None:
            evaluator = _chances_of(policy, rules)
        if isinstance(evaluator, Search) or (isinstance(evaluator, str) and ":" in evaluator):
            msg = "the evaluator is a Search; name what it rates by"
            raise ValueError(msg)
        evaluator = resolve(evaluator)
        rater(evaluator, rules, signed_points(None, rules))  # refuses one that only gives scores
        return Method(truncate, evaluator, plies, reduce, stratified)


def _chances_of(policy: PolicyLike, rules: Rules) -> PolicyLike:
    """Name what a policy rates plays by if that gives chances, else the shipped net."""
    search = search_of(policy)
    if search is not None:
        return search.evaluator
    if policy in ("net", "linear", "random", "net:0"):
        return "net"
    if isinstance(policy, Evaluator):
        try:
            rater(policy, rules, signed_points(None, rules))
        except ValueError:
            return "net"
    return policy


@dataclass(frozen=True)
class Spec:
    """Everything that decides what a trial does, but for its number."""

    position: Position
    policies: tuple[PolicyLike, PolicyLike]
    seed: tuple[int, ...]
    dice: tuple[int, int] | None
    opening: bool
    tables: tuple[Any, ...] = ()
    method: Method = Method()

    @staticmethod
    def make(
        position: Position,
        policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None,
        seed: Seed,
        dice: tuple[int, int] | None,
        opening: bool,
        tables: Sequence[Any] = (),
        method: Method | None = None,
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
        first, second = Spec.both(policy, position.rules)
        for one in (first, second):
            by = one.evaluator if isinstance(one, Search) else one
            misfit = by.misfit(position.rules) if isinstance(by, Evaluator) else None
            if misfit:
                msg = f"the evaluator {name_of(by)} cannot play this game: {misfit}"
                raise ValueError(msg)
        if not isinstance(opening, bool):
            msg = f"opening is True or False, not {opening!r}"  # type: ignore[unreachable]
            raise TypeError(msg)
        if dice is not None and opening:
            msg = "dice and opening exclude each other"
            raise ValueError(msg)
        check_tables(tables, position.rules, signed_points(None, position.rules))
        sequence = np.random.SeedSequence(seed)
        entropy: Any = sequence.entropy
        words = tuple(int(word) for word in np.atleast_1d(np.asarray(entropy, dtype=object)))
        if not words:
            msg = "a seed is a whole number or some of them, not an empty sequence"
            raise ValueError(msg)
        spec = Spec(
            position,
            (resolve(first), resolve(second)),
            words,
            None if dice is None else as_dice(dice),
            bool(opening),
            tuple(tables),
            method or Method(),
        )
        for one in spec.policies:
            _Player(one, spec, [])  # refuses what cannot play here
        return spec

    @staticmethod
    def both(
        policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None,
        rules: Rules,
    ) -> tuple[PolicyLike, PolicyLike]:
        """Name the policies of the side on roll and of the other."""
        if policy is None:
            policy = default_policy(rules)
        both = policy if isinstance(policy, tuple) else (policy, policy)
        if len(both) != 2:
            msg = "policy is one policy or a pair"  # type: ignore[unreachable]
            raise ValueError(msg)
        return both

    @property
    def key(self) -> NDArray[np.uint64]:
        """The key of the dice."""
        return key(self.seed[0] if len(self.seed) == 1 else self.seed)

    @property
    def no_double(self) -> bool:
        """Whether the first roll can be no double."""
        return self.opening and self.position.rules.opening == "use_dice"

    @property
    def most_luck(self) -> float:
        """Points of luck that are taken out of a trial at most: two of the dearest games."""
        return 2.0 * max(self.position.rules.points)

    def check_portable(self) -> None:
        """Refuse an executor where something lives in this process alone."""
        for policy in (*self.policies, self.method.evaluator):
            by = policy.evaluator if isinstance(policy, Search) else policy
            if isinstance(policy, Search) and policy.chooser is not None:
                by = policy.chooser
            if isinstance(by, Evaluator):
                msg = f"the evaluator {by.name} lives in this process; use threads"
                raise TypeError(msg)

    def to_bytes(self) -> bytes:
        """Pickle the request for an executor."""
        self.check_portable()
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


class _Player:
    """A policy with what it needs to play."""

    def __init__(self, policy: PolicyLike, spec: Spec, probes: Sequence[Any]) -> None:
        rules = spec.position.rules
        self.policy = policy
        self.native, self.evaluator = native(policy, rules)
        search = search_of(policy)
        self.search: Rater | None = None
        self.plies = self.early_turns = self.early_plies = 0
        if search is not None:
            self.policy = search.evaluator
            points = signed_points(None, rules)
            self.search = rater(
                search.evaluator, rules, points, probes, search.filters, search.chooser
            )
            self.plies = search.plies
            self.early_turns, self.early_plies = search.early_turns, search.early_plies

    def depth(self, ply: int) -> int:
        """How far it looks ahead at a ply."""
        return self.early_plies if ply >> 1 < self.early_turns else self.plies

    @property
    def compiled(self) -> tuple[Any, Any, int, int, int]:
        """Give it to native code."""
        searcher = None if self.search is None else self.search.searcher
        return self.evaluator, searcher, self.plies, self.early_turns, self.early_plies


Chunk: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64] | None, NDArray[np.int64] | None]"
"""Sums; with `keep`, every trial's chances in units, and those less luck."""


def play_chunk(spec: Spec, first: int, n: int, stop: Stop, keep: bool = False) -> Chunk | None:
    """Play trials first .. first + n - 1; None when stopped."""
    rules, method = spec.position.rules, spec.method
    probes = check_tables(spec.tables, rules, signed_points(None, rules))  # outlive their capsules
    players = [_Player(policy, spec, probes) for policy in spec.policies]
    leaf: Rater | None = None
    leaf_native = True
    if method.truncate or method.reduce:
        assert method.evaluator is not None
        leaf = rater(method.evaluator, rules, signed_points(None, rules), probes)
        leaf_native = leaf.searcher is not None
    if leaf_native and all(player.native for player in players):
        return _playout.play_chunk(
            spec.position.board,
            rules,
            [player.compiled for player in players],
            spec.key,
            rules.points,
            spec.dice or (0, 0),
            spec.no_double,
            [probe.capsule for probe in probes],
            (
                method.truncate or 0,
                method.plies,
                None if leaf is None else leaf.searcher,
                method.reduce,
                spec.most_luck,
                method.stratified,
            ),
            first,
            n,
            stop,
            keep,
        )
    games = _Lockstep(spec, np.arange(first, first + n, dtype=np.uint64), probes, leaf)
    while len(games.trials):
        if stop.is_set():
            return None
        games.look_up()
        if len(games.trials) and not (games.cut(stop) and games.advance(stop)):
            return None
    return games.add_up(keep)


class _Lockstep:
    """Many trials, one turn at a time: so that a function rates thousands of results in a call."""

    def __init__(
        self,
        spec: Spec,
        trials: NDArray[np.uint64],
        probes: Sequence[Any] = (),
        leaf: Rater | None = None,
    ) -> None:
        self.spec = spec
        self.rules = spec.position.rules
        self.key = spec.key
        self.players = [_Player(policy, spec, probes) for policy in spec.policies]
        self.probes = probes
        self.capsules = [probe.capsule for probe in probes]
        self.leaf = leaf
        self.trials = trials
        self.at = np.arange(len(trials))  # of the games that go on, among all
        self.boards: Boards = np.tile(spec.position.board, (len(trials), 1))
        self.ply = 0
        self.begun = 0 if spec.dice is None else 1  # the ply of the first throw
        self.strata = None
        if spec.method.stratified:
            self.strata = _dice.strata(self.key, trials, spec.no_double)
        self.ended: NDArray[np.int64] = np.zeros(0, np.int64)  # classes of the games just ended
        self.rolls: Boards = np.zeros((0, 2), np.int8)
        self.results: Boards = self.boards
        n = len(trials)
        self.outcome = np.full(n, -1, np.int64)
        self.chances = np.zeros((n, 10))
        self.side = np.zeros(n, np.int64)
        self.truncated = np.zeros(n, np.bool_)
        self.luck = np.zeros((n, 10))
        self.plies = np.zeros(n, np.int64)
        self.first = np.full(n, -1, np.int64)

    def _end(self, over: NDArray[np.bool_], boards: Boards) -> None:
        """Go on with the games that are not over."""
        self.plies[self.at[over]] = self.ply
        self.trials = self.trials[~over]
        self.at = self.at[~over]
        self.boards = boards

    def look_up(self) -> None:
        """End the games that a table knows."""
        if not self.capsules or (
            self.ply == 0 and (self.spec.dice is not None or self.spec.no_double)
        ):
            return
        known, found = _search.probe_tables(self.capsules, self.boards)
        self.chances[self.at[known]] = found[known]
        self.side[self.at[known]] = self.ply & 1
        self._end(known, self.boards[~known])

    def cut(self, stop: Stop) -> bool:
        """End the games that are truncated here; False when stopped."""
        if self.ply != self.spec.method.truncate:
            return True
        assert self.leaf is not None
        found = self.leaf.values(self.boards, self.spec.method.plies, stop)
        if found is None:
            return False
        self.chances[self.at] = found
        self.side[self.at] = self.ply & 1
        self.truncated[self.at] = True
        self._end(np.ones(len(self.at), bool), self.boards[:0])
        return True

    def _throw(self) -> bool:
        """Throw the dice of a turn; whether they are not given."""
        if self.ply < self.begun:
            self.rolls = np.tile(np.array(self.spec.dice, np.int8), (len(self.trials), 1))
            return False
        no_double = self.ply == 0 and self.spec.no_double
        if self.strata is not None and self.ply < self.begun + 2:
            self.rolls = np.ascontiguousarray(self.strata[self.at, self.ply - self.begun])
        else:
            self.rolls = _dice.rolls_of_ply(self.key, self.trials, self.ply, no_double)
        if self.ply == self.begun:
            self.first[self.at] = _roll_numbers(self.rolls)
        return True

    def _take_luck(self, stop: Stop) -> bool:
        """Add up what the rolls were better than the mean roll; False when stopped."""
        assert self.leaf is not None
        no_double = self.ply == 0 and self.spec.no_double
        side = self.ply & 1
        points = np.array(self.rules.points, np.float64)
        actual = _roll_numbers(self.rolls)
        for first in range(0, len(self.at), BLOCK):
            part = slice(first, first + BLOCK)
            boards = self.boards[part]
            every = np.tile(np.array(ROLLS, np.int8), (len(boards), 1))
            rated = self.leaf.rolls(np.repeat(boards, 21, axis=0), every, 1, stop)
            if rated is None:
                return False
            value = rated[0].reshape(-1, 21, 10)
            mean = np.zeros((len(boards), 10))
            weights = [0 if a == b and no_double else 1 + (a != b) for a, b in ROLLS]
            for r, weight in enumerate(weights):
                if weight:
                    mean += weight * value[:, r]
            mean /= 30 if no_double else 36
            total = self.luck[self.at[part]]
            so_far = _by_points(points, total)
            sign = 1 - 2 * side
            fits = np.ones(len(boards), bool)
            for r, weight in enumerate(weights):
                if weight:
                    x = _by_points(points, value[:, r] - mean)
                    fits &= np.abs(so_far + sign * x) <= self.spec.most_luck
            luck = value[np.arange(len(boards)), actual[part]] - mean
            total[fits] += (swapped(luck) if side else luck)[fits]
            self.luck[self.at[part]] = total
        return True

    def advance(self, stop: Stop | None = None) -> bool:
        """Play one turn of every game; False when stopped."""
        side = self.ply & 1
        stop = stop or _rollout.Stop()
        wanted = self._throw() and self.leaf is not None and self.spec.method.reduce
        if wanted and not self._take_luck(stop):
            return False
        indptr, boards, _ = _movegen.plays(self.boards, self.rolls, self.rules)
        picked = self._choose(self.players[side], indptr, boards, stop)
        if picked is None:
            return False
        self.results = boards[indptr[:-1] + picked]
        classes = _movegen.results(self.results, self.rules).astype(np.int64)
        over = classes >= 0
        ended = classes[over]
        self.ended = (ended + 5) % 10 if side else ended
        self.outcome[self.at[over]] = self.ended
        self.ply += 1
        self._end(over, _movegen.flip(self.results[~over], self.rules))
        if self.ply > 1 << 20:
            msg = f"a game did not end within {self.ply} plies"
            raise RuntimeError(msg)
        return True

    def _choose(
        self, player: _Player, indptr: NDArray[np.int64], boards: Boards, stop: Stop
    ) -> NDArray[np.int64] | None:
        counts = np.diff(indptr)
        evaluator, depth = player.evaluator, player.depth(self.ply)
        if player.search is not None and depth:
            return self._look_ahead(player.search, depth, stop)
        if player.native and evaluator is None:
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
            scores[ask] = _rate(player.policy, boards[ask], points)
        best = np.maximum.reduceat(scores, indptr[:-1])
        hits = np.flatnonzero(scores == best[of_row])
        first = np.unique(of_row[hits], return_index=True)[1]
        return hits[first] - indptr[:-1]

    def _look_ahead(self, search: Rater, depth: int, stop: Stop) -> NDArray[np.int64] | None:
        parts = []
        for at in range(0, len(self.boards), 21 * BLOCK):
            part = slice(at, at + 21 * BLOCK)
            found = search.rolls(self.boards[part], self.rolls[part], depth + 1, stop)
            if found is None:
                return None
            parts.append(found[1])
        return np.concatenate(parts)

    def add_up(self, keep: bool) -> Chunk:
        """Add up the trials, all of which have ended."""
        method, n = self.spec.method, len(self.outcome)
        full = method.reduce or method.stratified
        result = np.zeros(_playout.RESULT_SIZE if full else _playout.PLAIN_SIZE, np.int64)
        cells = None
        if self.strata is not None:
            first, second = self.strata[:, 0], self.strata[:, 1]
            cells = 21 * _roll_numbers(first) + _roll_numbers(second)
        raw = np.empty((n, 10), np.int64) if keep else None
        reduced = np.empty((n, 10), np.int64) if keep and method.reduce else None
        _playout.add_trials(
            result,
            self.outcome,
            self.chances,
            self.side,
            self.truncated,
            self.luck,
            self.plies,
            self.first,
            cells,
            method.reduce,
            raw,
            reduced,
        )
        return result, raw, reduced


def _roll_numbers(rolls: NDArray[np.int8]) -> NDArray[np.int64]:
    """Give the numbers of rolls in `nardcore.dice.ROLLS`."""
    larger, smaller = rolls.max(axis=1).astype(np.int64), rolls.min(axis=1).astype(np.int64)
    found: NDArray[np.int64] = larger * (larger - 1) // 2 + smaller - 1
    return found


def _by_points(points: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of chances, term by term as native code adds them."""
    parts = points * (v[:, :5] - v[:, 5:])
    found: NDArray[np.float64] = parts[:, 0] + parts[:, 1] + parts[:, 2] + parts[:, 3] + parts[:, 4]
    return found


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
    rules = spec.position.rules
    probes = check_tables(spec.tables, rules, signed_points(None, rules))
    games = _Lockstep(spec, np.array([trial], np.uint64), probes)
    stop = _rollout.Stop()
    position = spec.position
    turns = []
    while len(games.trials):
        games.advance(stop)
        first, second = games.rolls[0].tolist()
        plays = position.plays((first, second))
        at = int(np.flatnonzero((plays.boards == games.results[0]).all(axis=1))[0])
        turns.append(Turn(position, plays.dice, plays[at]))
        position = plays[at].result
    return Replay(trial, tuple(turns), int(games.ended[0]))
