"""Class chances of positions on roll: what decisions about the stake are made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nardcore import _movegen
from nardcore._cube_terms import as_chances
from nardcore.match_equity import SHARES
from nardcore.policies import Evaluator, name_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nardcore._cube_model import Floats
    from nardcore.rules import Rules
    from nardcore.typing import Boards

__all__ = ["by_pips", "chances_of"]

_SWAP = [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]


def chances_of(judge: Any, boards: Boards, rules: Rules) -> Floats:
    """Ask a function or an evaluator for the class chances of positions on roll.

    Parameters
    ----------
    judge
        Rates positions for the side that has just moved, with ten columns; ``"pips"`` for the
        pip count.
    boards
        Positions, each seen by its side on roll.

    Returns
    -------
    ndarray of float64, shape (n, 10)
        Seen by the side on roll.
    """
    if isinstance(judge, str):
        if judge != "pips":
            msg = f"a judge is 'pips', a function or an Evaluator, not {judge!r}"
            raise ValueError(msg)
        return by_pips(boards, rules)
    before = _movegen.flip(boards, rules)  # as the side sees it that has just moved
    if isinstance(judge, Evaluator):
        # each as the result of a pass, which leaves the board as it is
        rows = [judge(board, board[None, :]) for board in before]
        answer = np.concatenate(rows) if rows else np.zeros((0, 10))
    else:
        answer = np.asarray(judge(before))
    if answer.shape != (len(boards), 10):
        msg = (
            f"{name_of(judge)} gave the shape {answer.shape} for {len(boards)} positions; "
            f"decisions about the stake need chances of the ten classes, ({len(boards)}, 10)"
        )
        raise ValueError(msg)
    if answer.dtype.kind not in "fiu":
        msg = f"{name_of(judge)} gave {answer.dtype}, not numbers"
        raise TypeError(msg)
    return as_chances(answer.astype(np.float64))[:, _SWAP]


def by_pips(boards: Boards, rules: Rules) -> Floats:
    """Estimate class chances by pip counts alone, with the measured shares of dearer wins.

    In a race the chance to win is Kleinman's: with D pips of lead, four more for being on roll, and
    S pips in all, that of a normal variable to be below (D + 4) / sqrt(2 (S - 4)). While the sides
    are in contact pips say less: the argument counts two fifths, and three fifths in long nardy at
    all times, which fits 3,000 games of the policy ``linear``. A side that has borne a checker off
    loses plainly.
    """
    pips = _movegen.pips(boards, rules).astype(np.float64)
    lead = pips[:, 1] - pips[:, 0] + 4
    spread = np.sqrt(np.maximum(pips.sum(axis=1) - 4, 1.0))
    weight = np.full(len(boards), 0.3)
    if rules.movement == "short":
        weight = np.where(_contact(boards), 0.2, 0.5)
    erf = np.array([math.erf(x) for x in weight * lead / spread])
    win = (0.5 + 0.5 * erf)[:, None]
    plain = np.array([1.0, 0, 0, 0, 0])
    shares = np.array(SHARES[rules.movement])
    shares = shares / shares.sum()
    theirs = np.where(boards[:, 27:28] > 0, plain, shares)
    mine = np.where(boards[:, 26:27] > 0, plain, shares)
    return np.concatenate([win * theirs, (1 - win) * mine], axis=1)


def _contact(boards: Boards) -> NDArray[np.bool_]:
    """Say where checkers of the two sides can still meet, in short nardy."""
    points = np.arange(1, 25)
    last = np.where(boards[:, :24] > 0, points, 0).max(axis=1)
    first = np.where(boards[:, :24] < 0, points, 25).min(axis=1)
    found: NDArray[np.bool_] = (boards[:, 24:26] > 0).any(axis=1) | (last > first)
    return found
