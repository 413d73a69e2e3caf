"""Let two policies play each other in both seats, with the same dice.

    python bench/duel.py linear fewest_blots --games 20000
    python bench/duel.py linear spread_out --rules long_nardy
    python bench/duel.py my_module:my_policy old.npz --json

A policy is a name of the library (linear, random), a yardstick of bench/yardsticks.py, a file of
weights (*.npz, of nets or of the linear evaluator), or a function as module:function. Half of the
games are played in each seat, and game i of both halves has the same dice, which takes luck out of
the mean: the interval comes from the means of blocks of such pairs, by Student's distribution.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc

sys.path.insert(0, str(Path(__file__).resolve().parent))

from yardsticks import YARDSTICKS

__all__ = ["Duel", "duel", "find"]

BLOCKS = 32
_T = 2.0395  # the 97.5 % point of Student's t with BLOCKS - 1 degrees of freedom


@dataclass(frozen=True)
class Duel:
    """What a duel measured, for its first policy.

    Attributes
    ----------
    policies : (str, str)
        Who played.
    rules : str
        By which rules; the points are theirs.
    games : int
        Games of both seats together.
    seed : int
        Of the dice.
    mean : float
        Points a game.
    half : float
        Half of the width of its 95 % interval.
    win : float
        Share of games won.
    seats : (float, float)
        Points a game when it moves first, and when it moves second.
    plies : float
        Turns a game.
    seconds : float
        Time it took.
    """

    policies: tuple[str, str]
    rules: str
    games: int
    seed: int
    mean: float
    half: float
    win: float
    seats: tuple[float, float]
    plies: float
    seconds: float

    def __str__(self) -> str:
        a, b = self.policies
        return (
            f"{a} against {b} by {self.rules}, {self.games:,} games: "
            f"{self.mean:+.4f} ± {self.half:.4f} points a game, wins {100 * self.win:.2f} % "
            f"(first {self.seats[0]:+.4f}, second {self.seats[1]:+.4f}; {self.plies:.1f} turns a "
            f"game; {self.seconds:.1f} s)"
        )


def find(name: str, movement: str) -> Any:
    """Find a policy by its name."""
    if name in YARDSTICKS:
        return YARDSTICKS[name]
    if name.endswith(".npz"):
        with np.load(name, allow_pickle=False) as file:
            if "meta" in file:
                return nc.Evaluator.net(name)
            return nc.Evaluator.linear(Path(name).stem, file["weights"], movement)
    if ":" in name:
        module, function = name.split(":", 1)
        return getattr(importlib.import_module(module), function)
    return name


def duel(
    a: Any,
    b: Any,
    rules: nc.Rules = nc.BACKGAMMON,
    games: int = 20_000,
    seed: int = 1,
    threads: int | None = None,
) -> Duel:
    """Play a duel; the same for any number of threads.

    The number of games is rounded up to whole blocks.
    """
    began = time.perf_counter()
    size = max(1, math.ceil(games / 2 / BLOCKS))
    start = nc.Position.start(rules)
    value = np.array(rules.points, np.float64)

    def block(number: int) -> tuple[NDArray[np.int64], int]:
        play = partial(
            nc.rollout, start, games=size, first=number * size, seed=seed, opening=True, threads=1
        )
        first, second = play(policy=(a, b)), play(policy=(b, a))
        return np.stack([first.counts, np.roll(second.counts, 5)]), (
            first.total_plies + second.total_plies
        )

    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
        blocks = list(pool.map(block, range(BLOCKS)))
    counts = np.stack([c for c, _ in blocks])  # block, seat, class, seen by a
    points = (counts[:, :, :5] - counts[:, :, 5:]) @ value / size
    names = tuple(
        p if isinstance(p, str) else getattr(p, "name", None) or p.__name__ for p in (a, b)
    )
    total = 2 * size * BLOCKS
    means = points.mean(axis=1)
    return Duel(
        policies=(names[0], names[1]),
        rules=rules.name,
        games=total,
        seed=seed,
        mean=float(means.mean()),
        half=float(_T * means.std(ddof=1) / math.sqrt(BLOCKS)),
        win=float(counts[:, :, :5].sum() / total),
        seats=(float(points[:, 0].mean()), float(points[:, 1].mean())),
        plies=sum(p for _, p in blocks) / total,
        seconds=time.perf_counter() - began,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", help="a policy")
    parser.add_argument("b", help="its opponent")
    parser.add_argument("--rules", default="backgammon", help="as Rules.parse reads them")
    parser.add_argument("--games", type=int, default=20_000, help="in both seats together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, help="all processors by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.games < 1:
        parser.error("--games is 1 or more")
    rules = nc.Rules.parse(options.rules)
    a, b = (find(name, rules.movement) for name in (options.a, options.b))
    found = duel(a, b, rules, options.games, options.seed, options.threads)
    print(json.dumps(asdict(found)) if options.json else found)


if __name__ == "__main__":
    main()
