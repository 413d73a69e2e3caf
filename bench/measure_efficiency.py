"""Measure how efficient the cube is in short bear-offs, whose worths are exact.

    python bench/measure_efficiency.py [--checkers 6] [--positions 20000]

Draws bear-offs of three checkers or more a side that are won with 5 to 95 %, and compares the
model of `nardcore.cube`, given the exact chance to win, with a table of money equities. For each
efficiency it prints the mean error of the worth with a centred cube, one's own and the opponent's,
and the mean loss by the model's decisions, in points.
"""

from __future__ import annotations

import argparse

import numpy as np

import nardcore as nc
from nardcore._cube_model import OWNERS
from nardcore._cube_terms import Terms


def bearoffs(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    boards = np.zeros((n, 32), np.int8)
    for board in boards:
        for points, off in ((range(6), 26), (range(23, 17, -1), 27)):
            checkers = int(rng.integers(3, most + 1))
            counts = np.bincount(rng.integers(0, 6, checkers), minlength=6)
            board[list(points)] = counts if off == 26 else -counts
            board[off] = 15 - checkers
    return boards


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkers", type=int, default=6)
    parser.add_argument("--positions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table = nc.bearoff.TwoSided.build(checkers=options.checkers, equities="money", dtype="float64")
    boards = bearoffs(options.positions, options.checkers, np.random.default_rng(options.seed))
    win = table.win_batch(boards)
    boards, win = boards[(win > 0.05) & (win < 0.95)], win[(win > 0.05) & (win < 0.95)]
    chances = np.zeros((len(win), 10))
    chances[:, 0], chances[:, 5] = win, 1 - win
    exact = {owner: table.equity_batch(boards, cube=owner) for owner in OWNERS}
    taken = 2 * exact["opponent"]
    best = np.maximum(exact["centred"], np.minimum(taken, 1))
    rules = nc.BACKGAMMON.replace(cube_cap=None)
    print(f"{len(win):,} positions\nefficiency  centred    owned opponent     loss")
    for efficiency in (0, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 1):
        terms = Terms.make(rules, 1, "centred", None, False, None, efficiency)
        model, p = terms.model(chances)
        errors = [np.abs(model.line(1, o).at(p) - exact[o]).mean() for o in OWNERS]
        does = model.decide(1, "centred", p)
        got = np.where(does.offer, np.where(taken <= 1, taken, 1), exact["centred"])
        loss = (best - got).mean()
        print(f"{efficiency:10.2f}", *(f"{error:8.4f}" for error in errors), f"{loss:8.5f}")


if __name__ == "__main__":
    main()
