"""What the program thinks of the plays of a roll."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nardcore.errors import NardcoreError
from nardcore.policies import native

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
    if find_spec("nardcore.evaluation") is not None:
        from importlib import import_module

        try:
            ranked: Any = import_module("nardcore.evaluation").rank_plays(game.position, plays.dice)
            return [Rated(one.play, one.equity, "equity") for one in ranked]
        except (NardcoreError, ValueError, TypeError, OSError):
            pass  # no net for these rules
    _, evaluator = native("linear", game.rules)
    assert evaluator is not None
    scores = np.asarray(evaluator(game.position.board, plays.boards), np.float64)
    points = game.rules.points
    for at, play in enumerate(plays):
        if play.result.outcome is not None:
            scores[at] = 1e9 + points[play.result.outcome - 5]
    order = np.argsort(-scores, kind="stable").tolist()
    return [Rated(plays[at], float(scores[at]), "score") for at in order]
