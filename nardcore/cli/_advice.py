"""What the program thinks of a game under way: the best plays, and what to do about the stake.

Stakes are judged by a small rollout and without the worth of raising again: enough for a game in
the terminal.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nardcore.errors import NardcoreError
from nardcore.policies import native
from nardcore.rollouts import rollout

if TYPE_CHECKING:
    from nardcore._board import Play
    from nardcore.game import Game
    from nardcore.typing import PolicyLike, Side

__all__ = ["Adviser", "Rated", "rate"]

_GAMES = 500
_CLOSE = 0.84  # the share of a refusal's worth from which an offer is made


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


class Adviser:
    """Decisions about stakes and resignations."""

    def __init__(self, policy: PolicyLike) -> None:
        self.policy = policy
        self._known: tuple[Any, float, float] | None = None

    def _judge(self, game: Game) -> tuple[float, float]:
        """Give the mean points, stake aside, and the chance to win of the side on turn."""
        key = game.position, game.dice
        if self._known is None or self._known[0] != key:
            done = rollout(
                game.position, games=_GAMES, seed=0, dice=game.dice, policy=self.policy, threads=1
            )
            self._known = key, done.equity(), done.win
        return self._known[1:]

    def _worth(self, game: Game, side: Side) -> float:
        """Points a game for a side at the stake 1, if the stake is not raised any more."""
        equity, win = self._judge(game)
        if game.rules.stake.startswith("dave"):
            equity = 2 * win - 1
        return equity if side == game.turn else -equity

    def offers(self, game: Game) -> bool:
        """Whether the side on turn, which may, should offer to raise the stake."""
        side, stake = game.turn, game.stake
        if game.length:
            away = game.length - game.score["wb".index(side)]
            if stake.value >= away:
                return False  # the match is won with this game anyway
        raised = stake.offer(side)
        assert raised.offered is not None
        worth = self._worth(game, side)
        too_good = not game.rules.stake.startswith("dave") and worth * stake.value > raised.before
        return worth * raised.offered >= _CLOSE * raised.before and not too_good

    def accepts(self, game: Game) -> str:
        """Name the answer to what has been offered."""
        side, stake = game.to_act, game.stake
        assert stake.offered is not None
        worth = self._worth(game, side)
        if game.length:
            away = game.length - game.score[1 - "wb".index(side)]
            if stake.before >= away:
                return "accept"  # a refusal loses the match
        if "beaver" in game.due and worth > 0:
            return "beaver"
        return "accept" if worth * stake.offered >= -stake.before else "refuse"

    def takes_resignation(self, game: Game) -> bool:
        """Whether to take what the other side concedes."""
        resignation, stake = game.resignation, game.stake
        assert resignation is not None
        assert resignation.state is not None
        points = stake.points(resignation.state)
        if points >= max(stake.points(state) for state in range(5)):
            return True
        return points >= (self._worth(game, game.to_act) - 0.02) * stake.value
