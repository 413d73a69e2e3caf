"""Decisions about stakes in games that policies play, by `nardcore.cube_decision`.

The net judges each position, or a small rollout where no net knows the rules: enough for a game
that goes on.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from nardcore._cube_terms import MOST_STAKE
from nardcore.cube import cube_decision
from nardcore.evaluation import evaluate
from nardcore.policies import check_net
from nardcore.rollouts import rollout
from nardcore.rules import STATES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nardcore.cube import CubeDecision
    from nardcore.game import Game
    from nardcore.rules import Rules
    from nardcore.typing import PolicyLike, Side

__all__ = ["Adviser"]

_GAMES, _GLANCE = 300, 50
LONGEST = 25  # points of a match that the equity table knows


@cache
def _has_net(rules: Rules) -> bool:
    try:
        check_net(rules)
    except ValueError:
        return False
    return True


class Adviser:
    """Says of a game what to do about its stake, or about a resignation.

    Parameters
    ----------
    policy : PolicyLike
        Plays the rollouts that judge a position.

    Examples
    --------
    >>> import nardcore as nc
    >>> game = nc.Game(nc.SHORT_DAVE, position=nc.Position({1: 4}, {1: 4}))
    >>> adviser = Adviser("linear")
    >>> adviser(game), game.offer(), adviser(game)
    ('offer', 2, 'refuse')
    """

    def __init__(self, policy: PolicyLike) -> None:
        self.policy = policy
        self._known: dict[object, NDArray[np.float64]] = {}

    def __call__(self, game: Game) -> str:
        """Name one of what is due, but for a play."""
        due = game.due
        if "roll" in due:
            return "offer" if "offer" in due and self.offers(game) else "roll"
        if "accept_resignation" in due:
            takes = self.takes_resignation(game)
            return "accept_resignation" if takes else "refuse_resignation"
        return self.accepts(game)

    def _judge(self, game: Game, games: int = _GAMES) -> NDArray[np.float64]:
        """Give the chances of the ten classes for the side on turn."""
        key = game.position, game.dice, games
        if key not in self._known:
            self._known = {key: self._chances(game, games)}
        return self._known[key]

    def _chances(self, game: Game, games: int) -> NDArray[np.float64]:
        if game.dice is None and _has_net(game.rules):
            return evaluate(game.position, plies=1).probabilities
        return rollout(
            game.position, games=games, seed=0, dice=game.dice, policy=self.policy, threads=1
        ).probabilities

    def _worth(self, game: Game, side: Side, games: int = _GAMES) -> float:
        """Points a game for a side at the stake 1, if the stake is not raised any more."""
        chances = self._judge(game, games)
        dave = game.rules.stake.startswith("dave")
        points = np.ones(5) if dave else np.array(game.rules.points)
        equity = float(points @ (chances[:5] - chances[5:]))
        return equity if side == game.turn else -equity

    def _decide(self, game: Game) -> CubeDecision:
        """Judge the offer that the side on turn might make or has made."""
        rules, value, owner = game.rules, game.stake.value, game.stake.owner
        cube = rules.stake == "cube"
        # games that begin in the middle may have stakes that no raise leads to; and dave knows no
        # limit, but of stakes as high as this only the ratios matter
        value = min(value, (cube and rules.cube_cap) or MOST_STAKE)
        if rules.stake != "dave_arithmetic":
            value = 1 << (value.bit_length() - 1)
        # before the offer the stake was its own, or nobody's
        free = value == 1 or (owner is None and cube)
        holder: Literal["centred", "owned"] = "centred" if free else "owned"
        mine = "wb".index(game.turn)
        away = game.length - game.score[mine], game.length - game.score[1 - mine]
        in_match = game.length > 0 and max(away) <= LONGEST
        return cube_decision(
            self._judge(game),
            rules=rules,
            stake=value,
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
            return "accept" if worth >= -(stake.before / stake.offered) else "refuse"
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
        return points / stake.value >= self._worth(game, game.to_act) - 0.02
