"""What the program thinks of the plays of a roll."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nardcore.evaluation import rank_plays
from nardcore.policies import check_net, native

if TYPE_CHECKING:
    from nardcore._board import Play
    from nardcore.game import Game

__all__ = ["Rated", "rate"]


class Rated(NamedTuple):
    """A play and how it is rated."""

    play: Play
    score: float
    unit: str
    """``"equity"``, points a game, or ``"score"``, a number that only orders plays."""


def rate(game: Game) -> list[Rated]:
    """Rate the plays of the dice that have been thrown, best first."""
    plays = game.position.plays(game.dice or (1, 1))
    try:
        check_net(game.rules)
    except ValueError:
        pass  # no net knows these rules
    else:
        ranked = rank_plays(game.position, plays.dice, plies=1)
        return [Rated(one.play, one.equity, "equity") for one in ranked]
    _, evaluator = native("linear", game.rules)
    assert evaluator is not None
    scores = np.asarray(evaluator(game.position.board, plays.boards), np.float64)
    points = game.rules.points
    for at, play in enumerate(plays):
        if play.result.outcome is not None:
            scores[at] = 1e9 + points[play.result.outcome - 5]
    order = np.argsort(-scores, kind="stable").tolist()
    return [Rated(plays[at], float(scores[at]), "score") for at in order]
