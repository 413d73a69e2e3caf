"""A policy of one's own: a function that rates positions, many at a time."""

import sys

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore.testing import check_policy


def careful(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    """Leave few blots, and among equals move the rearmost checkers up.

    Each row is a board after the play, seen by the side that has just moved; larger is better.
    """
    points = boards[:, :24]
    blots = (points == 1).sum(axis=1)
    rear = (np.maximum(points, 0) * np.arange(1, 25) ** 2).sum(axis=1)
    return -100.0 * blots - rear


def main(games: int = 2000) -> None:
    """Let it play the built-in policy, on roll and not."""
    check_policy(careful, nc.BACKGAMMON)  # the contract: shape, finite, repeatable, row by row

    start = nc.Position.start(nc.BACKGAMMON)
    first = nc.rollout(start, games=games, policy=(careful, "linear"), seed=1)
    second = nc.rollout(start, games=games, policy=("linear", careful), seed=1)
    print(first.policies, first)
    print(second.policies, second)
    equity = (first.equity() - second.equity()) / 2
    stderr = (first.variance() + second.variance()) ** 0.5 / 2 / games**0.5
    print(f"careful wins {equity:+.3f} ± {stderr:.3f} points a game from linear")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
