"""Let two policies play each other in both seats, with the same dice.

    python bench/duel.py linear fewest_blots --games 20000
    python bench/duel.py linear spread_out --rules long_nardy
    python bench/duel.py net:1 net --games 20000
    python bench/duel.py net gnubg --games 300000 --threads 2
    python bench/duel.py my_module:my_policy old.npz --json

A policy is a name of the library (linear, random, net, net:1 to net:3), a yardstick of
bench/yardsticks.py, a file of weights or nets (*.npz, or *.npz:1 to look ahead by it), an ONNX
model (*.onnx), a peer where it is installed (gnubg for gnubg-nn's 0-ply, gnubg:1; bgsage for its
1-ply, bgsage:2ply), or a function as module:function. A path may end in @KEEP to set how many plays
a net keeps after pruning (0 for all).

Half of the games are played in each seat, and game i of both halves has the same dice, which takes
luck out of the mean: the interval comes from the means of blocks of such pairs, by Student's
distribution. Policies that are functions hold the GIL while they run: --processes plays the blocks
in processes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore.policies import name_of

sys.path.insert(0, str(Path(__file__).resolve().parent))

import peers
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
    base, _, more = name.partition(":")
    if base == "gnubg":
        return peers.gnubg_policy(int(more or 0))
    if base == "bgsage":
        return peers.sage_policy(more or "1ply")
    if base.endswith(".onnx"):
        from nardcore.onnx_models import OnnxEvaluator

        model = OnnxEvaluator(base)
        return nc.Search(model, int(more)) if more else model
    file, _, keep = base.partition("@")
    if file.endswith(".npz"):
        return _of_file(file, keep, more, movement)
    if more and base != "net":
        return getattr(importlib.import_module(base), more)
    return name


def _of_file(file: str, keep: str, plies: str, movement: str) -> Any:
    with np.load(file, allow_pickle=False) as content:
        if "weights" in content:
            return nc.Evaluator.linear(Path(file).stem, content["weights"], movement)
    player = nc.Evaluator.net(file, keep=int(keep) if keep else None)
    if not plies:
        return player
    return nc.Search(nc.Evaluator.net(file, full=True), int(plies), chooser=player)


def _block(
    a: str, b: str, rules: str, size: int, seed: int, number: int
) -> tuple[NDArray[np.int64], int]:
    """Play one block in a process of its own, which finds the policies by their names."""
    by = nc.Rules.parse(rules)
    return play_block(find(a, by.movement), find(b, by.movement), by, size, seed, number)


def play_block(
    a: Any, b: Any, rules: nc.Rules, size: int, seed: int, number: int
) -> tuple[NDArray[np.int64], int]:
    """Play the same games in both seats: counts by seat and class as `a` sees them, and turns."""
    start = nc.Position.start(rules)
    play = partial(
        nc.rollout, start, games=size, first=number * size, seed=seed, opening=True, threads=1
    )
    first, second = play(policy=(a, b)), play(policy=(b, a))
    counts = np.stack([first.counts, np.roll(second.counts, 5)])
    return counts, first.total_plies + second.total_plies


def duel(
    a: Any,
    b: Any,
    rules: nc.Rules = nc.BACKGAMMON,
    games: int = 20_000,
    seed: int = 1,
    threads: int | None = None,
    processes: bool = False,
    progress: bool = False,
) -> Duel:
    """Play a duel; the same for any number of threads or processes.

    The number of games is rounded up to whole blocks. With processes, the policies are names.
    """
    began = time.perf_counter()
    size = max(1, math.ceil(games / 2 / BLOCKS))
    value = np.array(rules.points, np.float64)
    workers = threads or len(os.sched_getaffinity(0))
    task: Any
    if processes:
        pool: Any = ProcessPoolExecutor(workers, get_context("spawn"))
        task = partial(_block, a, b, rules.name, size, seed)
    else:
        pool = ThreadPoolExecutor(workers)
        task = partial(play_block, a, b, rules, size, seed)
    blocks = []
    with pool:
        for block in pool.map(task, range(BLOCKS)):
            blocks.append(block)
            if progress:
                print(f"\r{len(blocks)}/{BLOCKS} blocks", end="", file=sys.stderr, flush=True)
    if progress:
        print(file=sys.stderr)
    counts = np.stack([c for c, _ in blocks])  # block, seat, class, seen by a
    points = (counts[:, :, :5] - counts[:, :, 5:]) @ value / size
    names = (name_of(a), name_of(b))
    total = 2 * size * BLOCKS
    means = points.mean(axis=1)
    return Duel(
        policies=names,
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
    parser.add_argument("--processes", action="store_true", help="instead of threads")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.games < 1:
        parser.error("--games is 1 or more")
    rules = nc.Rules.parse(options.rules)
    a, b = options.a, options.b
    if not options.processes:
        a, b = (find(name, rules.movement) for name in (a, b))
    progress = sys.stderr.isatty()
    found = duel(
        *(a, b, rules, options.games, options.seed, options.threads, options.processes, progress)
    )
    print(json.dumps(asdict(found)) if options.json else found)


if __name__ == "__main__":
    main()
