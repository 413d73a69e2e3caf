"""Speed beside other programs, in one run: what is computed is compared first, then timed.

    python bench/compare.py            # a few minutes
    python bench/compare.py --json

A peer that is not installed (pip install gnubg-nn bgsage open-spiel) is reported as skipped. Times
are the best of several rounds, peers and nardcore in turn, everything on one thread unless said.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nardcore as nc
from nardcore import _movegen
from nardcore._trials import Spec, _Lockstep

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peers import GnubgNN, OpenSpiel, Sage, key, load

ROWS: list[dict[str, Any]] = []
RULES = nc.BACKGAMMON.replace(hit_and_hide="off")


def report(
    work: str, ours: float, unit: str, peer: str = "", theirs: float | None = None, note: str = ""
) -> None:
    ratio = None if theirs is None else ours / theirs
    ROWS.append(
        {
            "work": work,
            "nardcore": ours,
            "unit": unit,
            "peer": peer,
            "peer_rate": theirs,
            "ratio": ratio,
            "note": note,
        }
    )
    shown = f"{ours:14,.0f} {unit}"
    if theirs is not None:
        shown += f"   {peer}: {theirs:,.0f}   ratio {ratio:,.1f}"
    elif peer:
        shown += f"   {peer}: skipped"
    print(f"{work:44}{shown}   {note}", file=sys.stderr, flush=True)


def best(rounds: int, *works: Callable[[], float]) -> list[float]:
    """Best rate of each work, taken in turn."""
    rates = [[work() for work in works] for _ in range(rounds)]
    return [max(column) for column in zip(*rates, strict=True)]


def positions(rules: nc.Rules, n: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rolls of random games, spread over the games' length."""
    games = _Lockstep(
        Spec.make(nc.Position.start(rules), "random", seed, None, False),
        np.arange(2000, dtype=np.uint64),
    )
    boards, rolls = [], []
    while len(games.trials):
        before = games.boards
        games.advance()
        boards.append(before)
        rolls.append(games.rolls)
    take = np.random.default_rng(seed).permutation(sum(map(len, boards)))[:n]
    return np.concatenate(boards)[take], np.concatenate(rolls)[take]


def rate(n: int, work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return n / (time.perf_counter() - start)


def random_games(rules: nc.Rules, games: int, policy: str = "random", threads: int = 1) -> float:
    start = nc.Position.start(rules)
    return rate(
        games, lambda: nc.rollout(start, games=games, policy=policy, seed=1, threads=threads)
    )


def open_spiel(quick: bool) -> None:
    module = load("pyspiel")
    games = 20_000 if quick else 100_000
    if module is None:
        report("random games, short, 1 thread", random_games(RULES, games), "games/s", "open-spiel")
        return
    peer, rng = OpenSpiel(module), random.Random(1)
    seen = 0
    while seen < (2_000 if quick else 10_000):
        for board, roll, results in peer.turns(rng):
            found = _movegen.plays(board[None, :], roll, RULES)[1]
            ours = {key(row) for row in found}
            assert ours == results, (board.tolist(), roll)
            seen += 1
    throws = [peer.play(rng) for _ in range(200)]
    count = 150 if quick else 600
    ours, theirs = best(
        3,
        lambda: random_games(RULES, games),
        lambda: rate(count, lambda: [peer.play(rng) for _ in range(count)]),
    )
    ply = nc.rollout(nc.Position.start(RULES), games=20_000, policy="random", seed=2).mean_plies
    report(
        "random games, short, 1 thread",
        ours,
        "games/s",
        peer.name,
        theirs,
        f"same results of {seen:,} rolls of two dice; plies a game {ply:.1f}, "
        f"theirs {statistics.mean(throws):.1f}",
    )


def all_plays(quick: bool) -> None:
    n = 20_000 if quick else 100_000
    boards, rolls = positions(RULES, n)
    many = np.tile(boards, (4, 1)), np.tile(rolls, (4, 1))
    room = np.empty((40 * len(many[0]), 32), np.int8)

    def ours() -> float:
        return rate(len(many[0]), lambda: nc.batch.plays(*many, RULES, out=room))

    def ours_new() -> float:
        return rate(len(many[0]), lambda: nc.batch.plays(*many, RULES))

    for name, kind in (("gnubg_nn", GnubgNN), ("bgsage", Sage)):
        module = load(name)
        if module is None:
            report(
                "all plays of a roll, batch.plays",
                max(ours() for _ in range(3)),
                "positions/s",
                name,
            )
            continue
        peer = kind(module)
        count = 5_000 if quick else 20_000
        theirs = [peer.board(b) for b in boards[:count]]
        pairs = [tuple(r) for r in rolls[:count].tolist()]
        indptr, found, _ = nc.batch.plays(boards[:count], rolls[:count], RULES)
        differ = 0
        for i, (b, (d1, d2)) in enumerate(zip(theirs, pairs, strict=True)):
            mine = {key(row) for row in found[indptr[i] : indptr[i + 1]]}
            differ += mine != peer.keys(b, peer.plays(b, d1, d2))

        def peer_work(peer: Any = peer, theirs: Any = theirs, pairs: Any = pairs) -> float:
            def work() -> None:
                for b, (d1, d2) in zip(theirs, pairs, strict=True):
                    peer.plays(b, d1, d2)

            return rate(len(theirs), work)

        a, b_new, c = best(3, ours, ours_new, peer_work)
        same = f"{count - differ:,} of {count:,} positions: same results"
        report("all plays of a roll, batch.plays(out=)", a, "positions/s", peer.name, c, same)
        report("all plays of a roll, batch.plays", b_new, "positions/s", peer.name, c)


def scalar() -> None:
    p = nc.Position.start()
    loops = 100_000

    def call() -> float:
        def work() -> None:
            for _ in range(loops):
                p.plays((3, 1))

        return rate(loops, work)

    def each() -> float:
        plays = p.plays((1, 1))

        def work() -> None:
            for _ in range(2_000):
                for _play in plays:
                    pass

        return rate(2_000 * len(plays), work)

    a, b = best(5, call, each)
    report("Position.plays((3, 1))", a, "calls/s", note=f"{1e6 / a:.2f} us a call")
    report("iterating over plays", b, "plays/s", note=f"{1e9 / b:.0f} ns a play")


def games(quick: bool) -> None:
    n = 50_000 if quick else 300_000
    for rules, name in ((RULES, "short"), (nc.LONG_NARDY, "long")):
        for policy in ("random", "linear"):
            a = max(random_games(rules, n, policy, threads=2) for _ in range(3))
            report(
                f"{policy} games, {name}, 2 threads",
                a,
                "games/s",
                note=f"{60 * a / 1e6:.2f} M a minute",
            )


def imports() -> None:
    def cost(code: str) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-P", "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    numpy, ours = cost("import numpy"), cost("import nardcore")
    report(
        "import nardcore above import numpy",
        1 / max(ours - numpy, 1e-6),
        "imports/s",
        note=f"{1e3 * (ours - numpy):.1f} ms",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    print(
        f"nardcore {nc.__version__}, kernels {nc.isa()}, Python {sys.version.split()[0]}",
        file=sys.stderr,
    )
    imports()
    scalar()
    all_plays(options.quick)
    open_spiel(options.quick)
    games(options.quick)
    if options.json:
        print(json.dumps(ROWS, indent=1))


if __name__ == "__main__":
    main()
