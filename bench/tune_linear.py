"""Tune the weights of the built-in linear evaluator from nothing but its own games.

    python bench/tune_linear.py short long --out nardcore/weights

A sum over points is a poor model of equity, and a fit to the outcomes of games spends its weights
on differences that no decision asks about. So the weights are fitted to decisions. In each round

1. the newest weights play games, with some plays at random for variety;
2. of positions from these games the best few plays of the roll are rolled out by the same weights,
   all with the same dice, and a few trials each;
3. the weights climb the mean rolled-out points of a soft choice among those plays, over the
   decisions of the last rounds. This mean is linear in the rolled-out points, so their noise
   averages out: many decisions with few trials are worth more than few with many.

The first round starts from a hand-set count of pips and points. At the end the weights of late
rounds and their mean play each other, and the best is written, with what it scored against the
yardsticks. Late steps are small and use the decisions of many rounds: with three rounds and long
steps long nardy went in circles, where each round beat the one before it and gained on no other.

Both movements take 11 minutes of processor time. The weights are the same for any number of
threads.
"""

from __future__ import annotations

import argparse
import datetime as dt
import io
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore import batch
from nardcore._rollout import Stop
from nardcore._trials import Spec, play_chunk

sys.path.insert(0, str(Path(__file__).resolve().parent))

from duel import duel
from yardsticks import YARDSTICKS

BYTES, STATES = 28, 32
SIZE = 2 * BYTES * STATES
LARGEST = (
    32_000  # of the integer weights; 28 of them stay below 2**24, so sums are exact as float32
)

Floats = NDArray[np.float64]
Boards = NDArray[np.int8]


@dataclass(frozen=True)
class Plan:
    """How much work goes into the weights of one movement."""

    rules: nc.Rules
    yardstick: str
    seed: int
    decisions: tuple[int, ...]  # of each round
    candidates: int = 4  # of a decision: the best by the newest weights ...
    strays: int = 1  # ... and others at random
    trials: int = 8  # a candidate
    random_plays: float = 0.05  # share of the self-play plays that are taken at random
    keep: int = 8  # rounds whose decisions stay in the fit
    finalists: int = 3  # late rounds that play the final duels


PLANS = {
    "short": Plan(nc.BACKGAMMON, "fewest_blots", 20, (12_000,) * 3 + (30_000,) * 5),
    "long": Plan(nc.LONG_NARDY, "spread_out", 21, (10_000,) * 16),
}


# ------------------------------------------------------------------------------------- the form


def phases(boards: Boards, rules: nc.Rules) -> NDArray[np.int64]:
    """Give 1 for a race and 0 for contact by the evaluator's own test."""
    points = boards[:, :24]
    mine, theirs = points > 0, points < 0
    if rules.movement == "long":
        return (~mine[:, 12:].any(axis=1) & ~theirs[:, :12].any(axis=1)).astype(np.int64)
    highest = np.where(mine.any(axis=1), 23 - mine[:, ::-1].argmax(axis=1), -1)
    highest[boards[:, 24] > 0] = 24
    lowest = np.where(theirs.any(axis=1), theirs.argmax(axis=1), 25)
    return ((highest < lowest) & (boards[:, 25] == 0)).astype(np.int64)


def features(boards: Boards, rules: nc.Rules) -> NDArray[np.int16]:
    """Give the 28 weights that each board adds up, as places in a flat array of weights."""
    at = np.arange(BYTES, dtype=np.int64) * STATES + 16 + boards[:, :BYTES]
    return (at + (phases(boards, rules) * (BYTES * STATES))[:, None]).astype(np.int16)


def integers(weights: Floats) -> NDArray[np.int16]:
    """Scale weights to int16, which changes no order of plays but of near equals."""
    scaled = np.rint(weights * (LARGEST / np.abs(weights).max()))
    return scaled.astype(np.int16).reshape(2, BYTES, STATES)


def player(name: str, weights: Floats, rules: nc.Rules) -> nc.Evaluator:
    return nc.Evaluator.linear(name, integers(weights), rules.movement)


def hand_set(rules: nc.Rules) -> Floats:
    """Give weights to begin with: pips, and made points and blots (short) or points held (long)."""
    w = np.zeros((2, BYTES, STATES))
    n = np.arange(16)
    for point in range(1, 25):
        own = w[:, point - 1]
        own[:, 16:] = -0.01 * point * n
        their_pips = 25 - point if rules.movement == "short" else (point + 11) % 24 + 1
        own[:, 16 - n] += 0.01 * their_pips * n
        if rules.movement == "short":
            own[0, 17] -= 0.004 * (25 - point)
            own[0, 18:] += 0.06
        else:
            own[0, 17:] += 0.08
    w[:, 24, 16:] = -0.3 * n
    w[:, 25, 16:] = 0.3 * n
    w[:, 26, 16:] = 0.02 * n
    w[:, 27, 16:] = -0.02 * n
    return w.reshape(-1)


# -------------------------------------------------------------------------------------- self-play


@dataclass
class Turns:
    """Positions before a roll, and the rolls, of games played in lockstep."""

    boards: list[Boards] = field(default_factory=list)
    rolls: list[Boards] = field(default_factory=list)


def self_play(policy: nc.Evaluator, n: int, plan: Plan, rng: np.random.Generator) -> Turns:
    """Play n games, one turn of all of them at a time."""
    rules, turns = plan.rules, Turns()
    boards = batch.start(n, rules)
    while len(boards):
        rolls = rng.integers(1, 7, (len(boards), 2), dtype=np.int8)
        while not turns.rolls and (same := rolls[:, 0] == rolls[:, 1]).any():
            rolls[same] = rng.integers(1, 7, (int(same.sum()), 2), dtype=np.int8)
        turns.boards.append(boards)
        turns.rolls.append(rolls)
        indptr, found, _ = batch.plays(boards, rolls, rules)
        chosen = policy.choose(boards, indptr, found, rules.points, rules)
        stray = np.flatnonzero(rng.random(len(boards)) < plan.random_plays)
        chosen[stray] = rng.integers(0, np.diff(indptr)[stray])
        after = found[indptr[:-1] + chosen]
        boards = batch.flip(after[batch.results(after, rules) < 0], rules)
    return turns


# -------------------------------------------------------------------------------------- decisions


@dataclass
class Decisions:
    """Rolled-out plays: their features, their points, and where each decision's plays begin."""

    rows: NDArray[np.int16]
    points: Floats
    indptr: NDArray[np.int64]

    @staticmethod
    def join(parts: list[Decisions]) -> Decisions:
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        return Decisions(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.points for part in parts]),
            np.concatenate([[0], np.cumsum(counts)]),
        )


def gather(
    weights: Floats, plan: Plan, decisions: int, rng: np.random.Generator, threads: int
) -> Decisions:
    """Roll out the best few plays of positions from self-play."""
    rules, policy = plan.rules, player("tuned", weights, plan.rules)
    turns = self_play(policy, max(500, decisions // 12), plan, rng)
    boards, rolls = np.concatenate(turns.boards), np.concatenate(turns.rolls)
    order = rng.permutation(len(boards))[: 2 * decisions]
    indptr, found, _ = batch.plays(boards[order], rolls[order], rules)
    rows = features(found, rules)
    scores = weights[rows.astype(np.int64)].sum(axis=1)
    kept: list[NDArray[np.int64]] = []
    for first, last in pairwise(indptr.tolist()):
        if last - first < 2:
            continue
        ranked = first + np.argsort(-scores[first:last], kind="stable")
        others = rng.permutation(ranked[plan.candidates :])[: plan.strays]
        kept.append(np.concatenate([ranked[: plan.candidates], others]))
        if len(kept) == decisions:
            break
    request = Spec.make(
        nc.Position.start(rules), policy, int(rng.integers(1 << 62)), dice=None, opening=False
    )
    stop = Stop()
    value = np.array([*(-p for p in rules.points), *rules.points], np.float64)

    def roll_out(number: int) -> Floats:
        some = found[kept[number]]
        points = np.empty(len(some))
        ended = batch.results(some, rules)
        for i, board in enumerate(batch.flip(some, rules)):
            if ended[i] >= 0:
                points[i] = rules.points[ended[i]]
                continue
            spec = replace(request, position=nc.Position.from_board(board, rules))
            counts = play_chunk(spec, number * plan.trials, plan.trials, stop)
            points[i] = counts[:10] @ value / plan.trials
        return points

    with ThreadPoolExecutor(threads) as pool:
        points = np.concatenate(list(pool.map(roll_out, range(len(kept)))))
    counts = np.array([len(k) for k in kept])
    return Decisions(rows[np.concatenate(kept)], points, np.concatenate([[0], np.cumsum(counts)]))


# -------------------------------------------------------------------------------------------- fit


class Adam:
    """Adam (Kingma and Ba 2015), with a rate that falls to zero along a cosine.

    The floor of the divisor is high on purpose: without it weights of rare states, whose gradient
    is small, take steps as long as the others' and follow nothing but noise.
    """

    def __init__(self, weights: Floats, rate: float, steps: int, floor: float) -> None:
        self.weights, self.rate, self.steps, self.floor = weights, rate, max(steps, 1), floor
        self.mean, self.square, self.step = np.zeros_like(weights), np.zeros_like(weights), 0

    def climb(self, gradient: Floats) -> None:
        self.step += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (gradient**2 - self.square)
        mean = self.mean / (1 - 0.9**self.step)
        square = self.square / (1 - 0.999**self.step)
        rate = self.rate * (1 + np.cos(np.pi * self.step / self.steps)) / 2
        self.weights += rate * mean / (np.sqrt(square) + self.floor)


def fit(
    weights: Floats,
    data: Decisions,
    rng: np.random.Generator,
    *,
    heat: tuple[float, float] = (0.1, 0.03),
    epochs: int = 10,
    rate: float = 0.01,
    floor: float = 0.05,
    size: int = 512,
) -> Floats:
    """Climb the mean points of a soft choice whose heat falls from one value to the other."""
    n = len(data.indptr) - 1
    optimiser = Adam(weights.copy(), rate, epochs * (n // size), floor)
    counts = np.diff(data.indptr)
    for epoch in range(epochs):
        warm = heat[0] * (heat[1] / heat[0]) ** (epoch / max(epochs - 1, 1))
        order = rng.permutation(n)
        for first in range(0, n - size + 1, size):
            some = order[first : first + size]
            starts = np.concatenate([[0], np.cumsum(counts[some])[:-1]])
            of = np.repeat(np.arange(size), counts[some])
            at = np.arange(len(of)) + np.repeat(data.indptr[some] - starts, counts[some])
            rows = data.rows[at].astype(np.int64)
            scores = optimiser.weights[rows].sum(axis=1) / warm
            p = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
            p /= np.add.reduceat(p, starts)[of]
            points = data.points[at]
            slope = p * (points - np.add.reduceat(p * points, starts)[of]) / (warm * size)
            optimiser.climb(np.bincount(rows.ravel(), np.repeat(slope, BYTES), SIZE))
    return optimiser.weights


# ------------------------------------------------------------------------------------------- main


def tune(plan: Plan, threads: int) -> tuple[Floats, list[str]]:
    """Run the rounds and choose among the last; also gives a line for each round."""
    rng = np.random.default_rng(plan.seed)
    parts: list[Decisions] = []
    rounds = [hand_set(plan.rules)]
    lines = []
    for number, decisions in enumerate(plan.decisions, 1):
        began = time.perf_counter()
        parts = [*parts[1 - plan.keep :], gather(rounds[-1], plan, decisions, rng, threads)]
        gathered = time.perf_counter()
        rate = 0.03 if number <= 3 else 0.01
        rounds.append(fit(rounds[-1], Decisions.join(parts), rng, rate=rate))
        fitted = time.perf_counter()
        new, old, first = (player("tuned", rounds[i], plan.rules) for i in (-1, -2, 0))
        gain, total = (duel(new, o, plan.rules, 20_000, 2, threads) for o in (old, first))
        lines.append(
            f"round {number}: {gain.mean:+.3f} ± {gain.half:.3f} points a game against the round "
            f"before, {total.mean:+.3f} against the first weights"
        )
        print(
            f"{plan.rules.movement} {lines[-1]} (gathered in {gathered - began:.0f} s, fit in "
            f"{fitted - gathered:.0f} s)",
            flush=True,
        )
    late = rounds[-plan.finalists :]
    finalists = [np.mean(late, axis=0), *late]
    players = [player(f"finalist {i}", w, plan.rules) for i, w in enumerate(finalists)]
    scores = [
        sum(duel(a, b, plan.rules, 40_000, 3, threads).mean for b in players if b is not a)
        / (len(players) - 1)
        for a in players
    ]
    best = int(np.argmax(scores))
    lines.append(
        "final: " + ", ".join(f"{s:+.4f}" for s in scores) + f" (the mean, then rounds); {best} won"
    )
    print(plan.rules.movement, lines[-1], flush=True)
    return finalists[best], lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "movements", nargs="*", metavar="MOVEMENT", help="short, long; both by default"
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder for linear_*.npz")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if unknown := set(options.movements) - set(PLANS):
        parser.error(f"there is no movement {', '.join(sorted(unknown))}")
    for movement in options.movements or PLANS:
        plan, began = PLANS[movement], time.perf_counter()
        weights, lines = tune(plan, options.threads)
        tuned = player("linear", weights, plan.rules)
        for name in ("random", plan.yardstick):
            other = YARDSTICKS.get(name, name)
            lines.append(str(duel(tuned, other, plan.rules, 20_000, 1, options.threads)))
            print(lines[-1], flush=True)
        rules = plan.rules
        path = options.out / f"linear_{movement}.npz"
        whole = io.BytesIO()
        np.savez_compressed(
            whole,
            weights=integers(weights),
            features=np.array("phase (contact, race) x 28 bytes of the board x value + 16"),
            movement=np.array(movement),
            classes=np.array(rules.classes_fingerprint),
            scoring=np.array(str(rules.scoring)),
            recipe=np.array(f"bench/tune_linear.py {movement}"),
            seed=np.array(str(plan.seed)),
            date=np.array(dt.datetime.now(tz=dt.UTC).date().isoformat()),
            rounds=np.array(str(len(plan.decisions))),
            plan=np.array(repr(plan)),
            measured=np.array("\n".join(lines)),
        )
        path.write_bytes(whole.getvalue())
        print(f"{path}: {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
