"""Larger tables: out of core, ten checkers a side, all checkers under a scoring, leftovers."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nardcore as nc
from nardcore.bearoff import TwoSided


def home(rng: np.random.Generator, checkers: int) -> dict[int, int]:
    """Put checkers on home points, about as often few as many points."""
    points = rng.choice(np.arange(1, 7), rng.integers(1, 7), replace=False)
    counts = np.bincount(rng.choice(points, checkers), minlength=7)
    return {p: int(counts[p]) for p in range(1, 7) if counts[p]}


def recomputed(position: nc.Position, table: TwoSided, ends: tuple[int, int] | None) -> float:
    """Find a value from those of what the rolls lead to; ends: the points of a win and a mars."""
    total = 0.0
    for roll, weight in zip(nc.dice.ROLLS, nc.dice.WEIGHTS, strict=True):
        best = -np.inf
        for play in position.plays(roll):
            after = play.result
            if after.off[1] == position.rules.checkers:
                value = 1.0 if ends is None else float(ends[after.off[0] == 0])
            elif ends is None:
                value = 1 - table.win(after)
            else:
                value = -table.equity(after)
            best = max(best, value)
        total += weight * best
    return total / 36


def test_ten_checkers_a_side_agree_with_their_successors() -> None:
    table = TwoSided.build(checkers=10)
    rng = np.random.default_rng(4)
    for _ in range(25):
        mine, theirs = (home(rng, int(n)) for n in rng.integers(1, 11, 2))
        p = nc.Position(mine, theirs)
        assert table.win(p) == pytest.approx(recomputed(p, table, None), abs=1.6e-5)


@pytest.mark.parametrize("scoring", ["triktrak", "beginner"])
@pytest.mark.parametrize("checkers", [7, pytest.param(15, marks=pytest.mark.slow)])
def test_all_checkers_under_a_scoring_agree_with_their_successors(
    checkers: int, scoring: str
) -> None:
    """All fifteen take 6 GB of memory."""
    rules = nc.BACKGAMMON.replace(scoring=scoring, checkers=checkers, start=((24, checkers),))
    table = TwoSided.build(
        checkers=checkers,
        equities="scoring",
        rules=rules,
        dtype="uint16" if checkers == 15 else "float64",
    )
    # a stored number and those that it comes from, each half a step off
    error = 2.02 * max(rules.points) / 65535 if checkers == 15 else 1e-12
    rng = np.random.default_rng(5)
    ends = nc.SCORING[scoring][:2]
    marses = 0
    for _ in range(100 if checkers == 15 else 30):
        full = checkers if rng.random() < 0.8 else int(rng.integers(1, checkers + 1))
        sides = [home(rng, full), home(rng, int(rng.integers(1, checkers + 1)))]
        if rng.random() < 0.5:
            sides.reverse()
        p = nc.Position(*sides, rules=rules)
        found = table.equity(p)
        assert found == pytest.approx(recomputed(p, table, (ends[0], ends[1])), abs=error)
        marses += abs(found) > 1 + 1e-3
    assert marses > 5


@pytest.mark.parametrize("checkers", [(7, 4), pytest.param((15, 8), marks=pytest.mark.slow)])
def test_all_checkers_of_one_side_under_a_scoring(checkers: tuple[int, int]) -> None:
    n, m = checkers
    rules = nc.BACKGAMMON.replace(scoring="triktrak", checkers=n, start=((24, n),))
    table = TwoSided.build(checkers=checkers, equities="scoring", rules=rules)
    rng = np.random.default_rng(6)
    for _ in range(30):
        sides = [home(rng, n), home(rng, int(rng.integers(1, m + 1)))]
        if rng.random() < 0.5:
            sides.reverse()
        p = nc.Position(*sides, rules=rules)
        found = recomputed(p, table, (1, 2))
        assert table.equity(p) == pytest.approx(found, abs=2.02 * 2 / 65535)


@pytest.mark.slow
def test_eight_a_side_built_in_a_file_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "eight.nct"
    table = TwoSided.build(checkers=8, path=path, max_memory=4_000_000)
    inside = TwoSided.build(checkers=8)
    assert table.nbytes > 4 * 4_000_000
    assert hashlib.sha256(table.raw["win"]).digest() == hashlib.sha256(inside.raw["win"]).digest()
    TwoSided.open(path, verify=True)


PEAK = """
from nardcore.bearoff import TwoSided

def peak():  # not getrusage: a child begins with what its parent took
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024

TwoSided.build(checkers=2)
before = peak()
table = TwoSided.build(checkers=10)
print((peak() - before) / table.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_a_build_takes_little_more_memory_than_its_table() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PEAK], check=True, capture_output=True, text=True
    )
    assert float(done.stdout) < 1.2


SAVE = """
import os, sys, nardcore as nc
table = nc.bearoff.TwoSided.build(checkers=3)
def stuck(handle):
    print("there", flush=True)
    import time
    time.sleep(60)
os.fsync = stuck
table.save(sys.argv[1])
"""


@pytest.mark.skipif(os.name != "posix", reason="files in use are told by POSIX locks")
def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t[1].nct"
    children = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", SAVE, str(path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "there\n"
        assert len(list(tmp_path.iterdir())) == 2
        children[0].send_signal(signal.SIGKILL)
        children[0].wait()
        TwoSided.build(checkers=2).save(path)
        left = sorted(one.name for one in tmp_path.iterdir())
        assert len(left) == 2
        assert left[1] == path.name
        assert left[0].endswith(".part")
    finally:
        for child in children:
            child.kill()
            child.communicate()
    TwoSided.build(checkers=2).save(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
