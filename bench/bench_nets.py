"""Nanoseconds a net takes for a play, by feature set and size, beside the features alone.

    python bench/bench_nets.py
    python bench/bench_nets.py --hidden 64 256 --repeat 50

The plays are those of games by the linear policy, rated roll by roll; weights are random. A few
hundred plays at a time are timed, and the best of several times counts, so that what else the
machine does matters less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore import nets
from nardcore.policies import linear_evaluator

Turns = list[tuple[NDArray[np.int8], NDArray[np.int8]]]
RULES = {"short": nc.BACKGAMMON, "long": nc.LONG_NARDY}
TOGETHER = 30  # rolls timed together


def net(name: str, hidden: int) -> dict[str, NDArray[Any]]:
    """Make a net at random."""
    rng = np.random.default_rng(1)
    rows, active, buckets = nets.feature_sets()[name]
    first = rng.normal(0, 1 / np.sqrt(active), (rows, hidden))
    first[-1] = 0
    last = rng.normal(0, 3 / hidden, (buckets, 10, hidden))
    floats = {"W1": first, "b1": np.full(hidden, 0.3), "W2": last, "b2": np.zeros((buckets, 10))}
    return nets.quantise(floats, name)


def turns(movement: str, games: int = 20) -> Turns:
    """Positions before a roll and their unfinished results."""
    rules, rng = RULES[movement], np.random.default_rng(1)
    boards, found, linear = nc.batch.start(games, rules), [], linear_evaluator(movement)
    while len(boards):
        plays = nc.batch.plays(boards, rng.integers(1, 7, (len(boards), 2)), rules=rules)
        best = linear.choose(boards, plays.indptr, plays.boards, rules.points, rules)
        for i, board in enumerate(boards):
            results = plays.boards[plays.indptr[i] : plays.indptr[i + 1]]
            results = results[results[:, 26] < rules.checkers]
            if len(results) > 1:
                found.append((board, results))
        after = plays.boards[plays.indptr[:-1] + best]
        boards = nc.batch.flip(after[after[:, 26] < rules.checkers], rules=rules)
    return found


def best_time(call: Callable[[], object], repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        began = time.perf_counter_ns()
        call()
        best = min(best, time.perf_counter_ns() - began)
    return best


class Batch:
    """Rolls timed together."""

    def __init__(self, some: Turns, rules: nc.Rules) -> None:
        self.parents = np.array([parent for parent, _ in some])
        self.boards = np.concatenate([results for _, results in some])
        self.indptr = np.cumsum([0] + [len(results) for _, results in some])
        self.rules = rules

    def features(self, name: str, repeat: int) -> float:
        return best_time(partial(nets.features, self.boards, name), repeat)

    def choices(self, evaluator: nc.Evaluator, repeat: int) -> float:
        more = (self.parents, self.indptr, self.boards, self.rules.points, self.rules)
        return best_time(partial(evaluator.choose, *more), repeat)


def lines(movement: str, hidden: list[int], repeat: int) -> Iterator[str]:
    """Time a movement's sets, in contact and in races, beside plain points in the same place."""
    rules = RULES[movement]
    everything = turns(movement)
    for part in ("contact", "race"):
        some: Turns = []
        for parent, results in everything:
            chosen = results[nets.race(results, movement) == (part == "race")]
            if len(chosen) > 1:
                some.append((parent, chosen))
        some = some[:: len(some) // 300 + 1]
        batches = [Batch(some[i : i + TOGETHER], rules) for i in range(0, len(some), TOGETHER)]
        plays = sum(len(batch.boards) for batch in batches)
        for name in (f"{part}_{movement}", f"points_{movement}"):
            total = sum(batch.features(name, repeat) for batch in batches)
            line = f"{name:14} {part:8} features {total / plays:4.0f}"
            for size in hidden:
                one, meta = net(name, size), {"contact": name, "race": name}
                player = nets.make(
                    {"contact": one, "race": one}, {"sets": meta, "rules": rules.name}
                )
                evaluator = nc.Evaluator.net(player)
                total = sum(batch.choices(evaluator, repeat) for batch in batches)
                line += f"  H{size} {total / plays:4.0f}"
            yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hidden", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    print(f"{nc.isa()}; ns a play")
    for movement in RULES:
        for line in lines(movement, options.hidden, options.repeat):
            print(line, flush=True)


if __name__ == "__main__":
    main()
