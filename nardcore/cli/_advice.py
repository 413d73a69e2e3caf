"""What the program thinks of a game under way: the best plays, and what to do about the stake.

Stakes are judged by `nardcore.cube_decision` from a small rollout: enough for a game in the
terminal.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from nardcore.cube import cube_decision
from nardcore.errors import NardcoreError
from nardcore.policies import native
from nardcore.rollouts import rollout
from nardcore.rules import STATES

if TYPE_CHECKING:
    from nardcore._board import Play
    from nardcore.cube import CubeDecision
    from nardcore.game import Game
    from nardcore.rollouts import RolloutResult
    from nardcore.typing import PolicyLike, Side

__all__ = ["Adviser", "Rated", "rate"]

_GAMES, _GLANCE = 300, 50
LONGEST = 25  # points of a match that the equity table knows


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
        self._known: dict[object, RolloutResult] = {}

    def _judge(self, game: Game, games: int = _GAMES) -> RolloutResult:
        """Roll the position out, seen by the side on turn."""
        key = game.position, game.dice, games
        if key not in self._known:
            done = rollout(
                game.position, games=games, seed=0, dice=game.dice, policy=self.policy, threads=1
            )
            self._known = {key: done}
        return self._known[key]

    def _worth(self, game: Game, side: Side, games: int = _GAMES) -> float:
        """Points a game for a side at the stake 1, if the stake is not raised any more."""
        judged = self._judge(game, games)
        dave = game.rules.stake.startswith("dave")
        equity = 2 * judged.win - 1 if dave else judged.equity()
        return equity if side == game.turn else -equity

    def _decide(self, game: Game) -> CubeDecision:
        """Judge the offer that the side on turn might make or has made."""
        stake = game.stake
        # before the offer the stake was its own, or nobody's
        holder: Literal["centred", "owned"] = "centred" if stake.owner is None else "owned"
        mine = "wb".index(game.turn)
        away = game.length - game.score[mine], game.length - game.score[1 - mine]
        in_match = game.length > 0 and max(away) <= LONGEST
        return cube_decision(
            self._judge(game),
            rules=game.rules,
            stake=stake.value,
            cube=holder,
            match=away if in_match else None,
        )

    def offers(self, game: Game) -> bool:
        """Whether the side on turn, which may, should offer to raise the stake."""
        # a glance saves most of the time: nobody raises when far behind
        return self._worth(game, game.turn, _GLANCE) > 0 and self._decide(game).offer

    def accepts(self, game: Game) -> str:
        """Name the answer to what has been offered."""
        side, stake = game.to_act, game.stake
        assert stake.offered is not None
        if stake.beavers:
            # whoever doubled is asked now; the cube is lost to it either way
            worth = self._worth(game, side)
            return "accept" if worth * stake.offered >= -stake.before else "refuse"
        decision = self._decide(game)
        if decision.beaver and "beaver" in game.due:
            return "beaver"
        return "accept" if decision.accept else "refuse"

    def takes_resignation(self, game: Game) -> bool:
        """Whether to take what the other side concedes."""
        resignation, stake = game.resignation, game.stake
        assert resignation is not None
        assert resignation.state is not None
        points = stake.points(resignation.state)
        if points >= max(stake.points(state) for state in range(len(STATES))):
            return True
        return points >= (self._worth(game, game.to_act) - 0.02) * stake.value
