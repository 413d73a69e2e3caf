"""Bear-off tables beside makebearoff: times, errors, queries.

python -P bench/bench_bearoff.py              a minute or two (makebearoff: 6 x 6, 6 points)
python -P bench/bench_bearoff.py --seven      also 6 x 7 and 7 points
python -P bench/bench_bearoff.py --full       also 15 x 15 (6 GB of memory) and 10 points
python -P bench/bench_bearoff.py --large      only errors of 16 bits beyond 8 x 8 (12 GB of memory)
python -P bench/bench_bearoff.py --memory     only what builds take beyond their tables
python -P bench/bench_bearoff.py --hyper FILE only distributions beside a solved hypergammon

Both sides of a ratio are computed in the same run, and compared before their times are.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import nardcore as nc
from nardcore.bearoff import OneSided, TwoSided, position_count, read_gnubg, unrank

MAKEBEAROFF = Path("/usr/games/makebearoff")


def timed(work, repeat=1):
    best, found = float("inf"), None
    for _ in range(repeat):
        begun = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - begun)
    return best, found


def makebearoff(*args):
    if not MAKEBEAROFF.exists():
        return None, None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.bd")
        seconds, _ = timed(
            lambda: subprocess.run(
                [MAKEBEAROFF, *args, "-f", path], check=True, capture_output=True
            )
        )
        return seconds, read_gnubg(path)


def ratio(ours, theirs):
    return (
        "makebearoff skipped"
        if theirs is None
        else f"makebearoff {theirs:.2f} s, x {theirs / ours:.0f}"
    )


def two_sided(n):
    theirs, table = makebearoff("-t", f"6x{n}")
    for equities in ("win", "money"):
        ours, found = timed(lambda e=equities: TwoSided.build(checkers=n, equities=e), 5)
        steps = ""
        if table is not None:
            worst = {
                name: int(np.abs(found.raw[name].astype(int) - table.raw[name].astype(int)).max())
                for name in found.raw
            }
            assert max(worst.values()) <= 5, worst
            steps = f", 16-bit steps apart at most: {worst}"
        print(f"two-sided {n} x {n} {equities}: {ours:.4f} s; {ratio(ours, theirs)}{steps}")


def one_sided(points):
    theirs, table = makebearoff("-o", str(points))
    ours, found = timed(lambda: OneSided.build(points=points), 3)
    apart = ""
    if table is not None:
        means = {
            g: float(np.abs(found.raw[g] - table.raw[g]).max()) for g in ("off mean", "first mean")
        }
        assert max(means.values()) < 1e-3, means
        apart = f", means apart at most: {means}"
    print(f"one-sided {points} points: {ours:.4f} s; {ratio(ours, theirs)}{apart}")


def errors(n, equities, dtype, most):
    """Compare 16 bits, strip by strip, with floats; they wait in a file, not in memory."""
    with tempfile.TemporaryDirectory() as folder:
        small = TwoSided.build(checkers=n, equities=equities, path=Path(folder, "t.nct"))
        exact = TwoSided.build(checkers=n, equities=equities, dtype=dtype)
        worst = {
            name: max(
                float(np.abs(a / 65535 - b).max())
                for a, b in zip(small.raw[name], exact.raw[name], strict=True)
            )
            for name in exact.raw
        }
        del small
    print(f"error of 16 bits, {n} x {n} {equities}, of the range, against {dtype}: {worst}")
    assert max(worst.values()) < most


def large():
    for n in (9, 10):
        errors(n, "money", "float64", 3.5e-5)
    errors(11, "money", "float32", 4e-5)
    errors(12, "win", "float64", 3e-5)
    errors(15, "win", "float32", 3e-5)


PEAK = """
import sys
from nardcore.bearoff import TwoSided

def peak():  # not getrusage: a child begins with what its parent took
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024

n, equities = int(sys.argv[1]), sys.argv[2]
TwoSided.build(checkers=2, equities=equities)
before = peak()
table = TwoSided.build(checkers=n, equities=equities)
print((peak() - before) / table.nbytes - 1)
"""


def memory():
    """Compare peak memory with the table, a process for each build."""
    for n, equities in (
        (6, "money"),
        (7, "money"),
        (8, "win"),
        (8, "money"),
        (9, "win"),
        (10, "win"),
        (10, "money"),
        (12, "win"),
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-c", PEAK, str(n), equities],
            check=True,
            capture_output=True,
            text=True,
        )
        print(f"memory beyond the table, {n} x {n} {equities}: {float(done.stdout):.1%}")


def random_boards(n, k, seed=0):
    rng = np.random.default_rng(seed)
    u, v = (unrank(rng.integers(1, position_count(6, n), k), points=6) for _ in range(2))
    boards = np.zeros((k, 32), np.int8)
    boards[:, :6], boards[:, 18:24] = u, -v[:, ::-1]
    boards[:, 26], boards[:, 27] = 15 - u.sum(axis=1), 15 - v.sum(axis=1)
    return boards


def whole_boards(k, seed=0):
    """Pair positions of all 15 checkers, so that both sides may lose a mars."""
    rng = np.random.default_rng(seed)
    every = unrank(np.arange(position_count(6, 14), position_count(6, 15)), points=6)
    u, v = (every[rng.integers(0, len(every), k)] for _ in range(2))
    boards = np.zeros((k, 32), np.int8)
    boards[:, :6], boards[:, 18:24] = u, -v[:, ::-1]
    return boards


def one_against_two(n=8):
    exact, near = TwoSided.build(checkers=n, dtype="float32"), nc.bearoff.default()
    boards = random_boards(n, 200_000)
    error = near.win_batch(boards) - exact.win_batch(boards)
    print(
        f"win chance from two distributions, {n} x {n}, 200,000 random pairs, error: "
        f"mean {error.mean():+.5f}, deviation {error.std():.5f}, largest {np.abs(error).max():.4f}"
    )


def mars():
    """Distributions beside exact points: one side has all its checkers, the other up to eight."""
    exact = TwoSided.build(checkers=(15, 8), equities="scoring")
    near = nc.bearoff.default()
    rng = np.random.default_rng(1)
    k = 200_000
    every = unrank(np.arange(position_count(6, 15)), points=6)
    whole, few = every[every.sum(axis=1) == 15], every[1 : position_count(6, 8)]
    points = np.array(nc.BACKGAMMON.points)
    for name, mover, other in (("mover", whole, few), ("other", few, whole)):
        u, v = mover[rng.integers(0, len(mover), k)], other[rng.integers(0, len(other), k)]
        boards = np.zeros((k, 32), np.int8)
        boards[:, :6], boards[:, 18:24] = u, -v[:, ::-1]
        boards[:, 26], boards[:, 27] = 15 - u.sum(axis=1), 15 - v.sum(axis=1)
        outcomes = near.outcomes_batch(boards)
        error = (outcomes[:, :5] - outcomes[:, 5:]) @ points - exact.equity_batch(boards)
        print(
            f"equity from two distributions, all 15 checkers ({name}) against up to 8, 200,000 "
            f"random pairs, error: mean {error.mean():+.5f}, deviation {error.std():.5f}, "
            f"largest {np.abs(error).max():.4f}"
        )


def hyper(path):
    """Distributions beside the solved game, in all its races."""
    exact = nc.bearoff.Contact.open(path)
    rules = exact.rules
    near = nc.bearoff.OneSided.build(points=18, rules=rules)
    n = position_count(18, rules.checkers)
    counts = unrank(np.arange(n), points=18)
    counts = counts[counts.sum(axis=1) > 0]
    top = 18 - (counts[:, ::-1] > 0).argmax(axis=1)
    first, second = np.nonzero(top[:, None] + top[None, :] < 25)
    boards = np.zeros((len(first), 32), np.int8)
    boards[:, :18] = counts[first]
    boards[:, 6:24] -= counts[second][:, ::-1]
    boards[:, 26] = rules.checkers - counts[first].sum(axis=1)
    boards[:, 27] = rules.checkers - counts[second].sum(axis=1)
    a, b = near.outcomes_batch(boards), exact.outcomes_batch(boards).astype(float)
    print(f"races of hypergammon: {len(boards):,}; error of two distributions by class:")
    for k in range(10):
        error = a[:, k] - b[:, k]
        print(
            f"  {k}: mean {error.mean():+.6f}, deviation {error.std():.6f}, "
            f"largest {np.abs(error).max():.4f}"
        )
    points = np.array(rules.points)
    error = (a[:, :5] - a[:, 5:] - b[:, :5] + b[:, 5:]) @ points
    print(
        f"  equity: mean {error.mean():+.6f}, deviation {error.std():.6f}, "
        f"largest {np.abs(error).max():.4f}"
    )


def queries():
    table = TwoSided.build(checkers=8, equities="money")
    near = nc.bearoff.default()
    boards, whole = random_boards(8, 1_000_000), whole_boards(1_000_000)
    out, many = np.empty(len(boards)), np.empty((len(boards), 10))
    batches = {
        "win": lambda: table.win_batch(boards, out=out),
        "equity": lambda: table.equity_batch(boards, cube="centred", out=out),
        "mean rolls of both sides": lambda: near.mean_rolls_batch(boards),
        "outcomes from distributions": lambda: near.outcomes_batch(boards, out=many),
        "win from distributions": lambda: near.win_batch(boards),
        "outcomes from distributions, 15 checkers": lambda: near.outcomes_batch(whole, out=many),
        "win from distributions, 15 checkers": lambda: near.win_batch(whole),
    }
    for name, work in batches.items():
        print(f"batch, {name}: {len(boards) / timed(work, 5)[0] / 1e6:.1f} million/s")
    p = nc.Position.from_board(boards[0])
    singles = {
        "win": lambda: table.win(p),
        "equity, cube, double": lambda: table.equity(p, cube="centred", double=True),
        "mean rolls": lambda: near.mean_rolls(p),
        "effective pips": lambda: near.epc(p),
        "distribution": lambda: near.distribution(p),
        "win from distributions": lambda: near.win(p),
        "outcomes from distributions": lambda: near.outcomes(p),
    }
    for name, work in singles.items():
        seconds, _ = timed(lambda work=work: [work() for _ in range(100_000)], 5)
        print(f"single, {name}: {seconds * 10:.2f} us")


def from_successors(table, k=10_000):
    """Recompute values of random pairs in float64 from the table's values of their successors."""
    boards = random_boards(table.checkers[0], k, seed=7)
    found = nc.batch.expand(boards, rules=nc.BACKGAMMON)
    indptr, after = found.indptr, found.boards
    flipped = nc.batch.flip(after, rules=nc.BACKGAMMON)
    theirs = table.win_batch(flipped)
    theirs[np.asarray(after)[:, 26] == 15] = 0
    best = 1 - np.minimum.reduceat(theirs, indptr[:-1])
    weights = np.array(nc.dice.WEIGHTS)
    value = best.reshape(k, 21) @ weights / 36
    return float(np.abs(value - table.win_batch(boards)).max())


def full():
    seconds, table = timed(lambda: TwoSided.build(checkers=15))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    gigabytes = table.nbytes / 1e9
    print(f"two-sided 15 x 15: {seconds:.1f} s, {gigabytes:.2f} GB, peak memory {memory:.2f} GB")
    print(
        f"  10,000 random pairs from their successors: off by {from_successors(table):.2e} at most"
    )
    del table
    seconds, table = timed(lambda: OneSided.build(points=10))
    print(f"one-sided 10 points: {seconds:.1f} s, {table.nbytes / 1e9:.2f} GB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seven", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only-full", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--hyper", metavar="FILE")
    options = parser.parse_args()
    print(f"nardcore {nc.__version__}, {nc.isa()}")
    if options.only_full or options.large or options.memory or options.hyper:
        if options.only_full:
            full()
        if options.large:
            large()
        if options.memory:
            memory()
        if options.hyper:
            hyper(options.hyper)
        return
    queries()
    for n in (10, 12):
        print(f"two-sided {n} x {n}: {timed(lambda n=n: TwoSided.build(checkers=n))[0]:.2f} s")
    for n in (6, 7, 8):
        errors(n, "money", "float64", 3e-5)
    one_against_two()
    mars()
    one_sided(6)
    two_sided(6)
    if options.seven or options.full:
        one_sided(7)
        two_sided(7)
    if options.full:
        full()


if __name__ == "__main__":
    main()
