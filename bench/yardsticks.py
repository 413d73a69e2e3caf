"""One-line policies to measure others against: each rates results by a single idea.

They are plain functions of boards, as `nardcore.rollout` takes them: the side that has just moved
is the mover, and a larger score is better. Among equals the first result in the fixed order plays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["YARDSTICKS", "fewest_blots", "fewest_pips", "spread_out"]

Boards = NDArray[np.int8]
Scores = NDArray[np.float64]

_HEAD = 23


def fewest_blots(boards: Boards) -> Scores:
    """Short: leave the fewest blots, points that hold one own checker."""
    return -(boards[:, :24] == 1).sum(axis=1).astype(np.float64)


def spread_out(boards: Boards) -> Scores:
    """Long: hold the most points, and with as many points leave the fewest checkers on the head.

    The score is 16 for each point that holds an own checker less the checkers on the 24-point,
    which are 15 at most.
    """
    points = (boards[:, :24] > 0).sum(axis=1)
    return 16.0 * points - np.maximum(boards[:, _HEAD], 0)


def fewest_pips(boards: Boards) -> Scores:
    """Keep the enemy's pips left less one's own as large as hits make it, in short.

    The play of a roll moves as many pips as it can, so only hits and lost dice tell results apart.
    In long nardy only lost dice do, and this is the first legal play of the longest.
    """
    points = boards[:, :24].astype(np.float64)
    travel = np.arange(1, 25)
    own = np.maximum(points, 0) @ travel + 25.0 * boards[:, 24]
    theirs = np.maximum(-points, 0) @ (25 - travel) + 25.0 * boards[:, 25]
    return theirs - own


YARDSTICKS = {f.__name__: f for f in (fewest_blots, fewest_pips, spread_out)}
"""The policies by name."""
