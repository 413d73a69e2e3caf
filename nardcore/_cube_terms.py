"""What is at stake in a game: checked terms, and the model that goes with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nardcore._cube_model import OWNERS, CubeModel, Money, Owner, Payoff, raises
from nardcore.errors import RulesError
from nardcore.match_equity import SHARES, MatchEquity, MatchScore, default_table, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore._cube_model import Floats
    from nardcore.rules import Rules

__all__ = ["MOST_STAKE", "Terms", "as_chances"]

_MONEY = Money()
MOST_STAKE = 1 << 30


@dataclass(frozen=True)
class Terms:
    """A stake, who may raise it, and what points are worth; seen by one side, the mover."""

    rules: Rules
    stake: int
    owner: Owner
    match: MatchScore | None
    efficiency: float

    @staticmethod
    def make(
        rules: Rules,
        stake: int,
        cube: str,
        match: tuple[int, int] | MatchScore | None,
        crawford: bool,
        met: MatchEquity | None,
        efficiency: float,
    ) -> Terms:
        """Check a request."""
        if rules.stake == "none":
            msg = "stake: nothing is raised under these rules; try rules.replace(stake='cube')"
            raise RulesError(msg)
        stake = whole(stake, "stake")
        if cube not in OWNERS:
            msg = f"cube is 'centred', 'owned' or 'opponent', not {cube!r}"
            raise ValueError(msg)
        owner: Owner = cube  # type: ignore[assignment]
        if not 0 <= efficiency <= 1:
            msg = f"efficiency is 0 to 1, not {efficiency}"
            raise ValueError(msg)
        _check_stake(rules, stake, owner)
        score = None
        if isinstance(match, MatchScore):
            if met is not None or crawford:
                msg = "a MatchScore holds its table and says itself whether it is the Crawford game"
                raise ValueError(msg)
            score = match
        elif match is not None:
            mine, theirs = (whole(n, "match") for n in match)
            if met is None:
                met = default_table(rules, max(mine, theirs, 1))
            score = MatchScore((mine, theirs), met, crawford)
        elif met is not None or crawford:
            msg = "met and crawford need match, the points that both sides still need"
            raise ValueError(msg)
        if score is not None and score.crawford and (stake, owner) != (1, "centred"):
            msg = "the stake stays 1 in the Crawford game"
            raise ValueError(msg)
        return Terms(rules, stake, owner, score, float(efficiency))

    @property
    def points(self) -> tuple[int, ...]:
        """Points of the five states; a game for dave knows no mars."""
        return self.rules.points if self.rules.stake == "cube" else (1,) * 5

    @property
    def allowed(self) -> bool:
        """Whether anybody may raise in this game."""
        return self.match is None or not self.match.crawford

    @property
    def beavers(self) -> int:
        """How many times a raise may be answered by another."""
        return self.rules.beavers if self.match is None and self.rules.stake == "cube" else 0

    @property
    def jacoby(self) -> bool:
        """Whether dearer wins count only after a raise."""
        return self.match is None and self.rules.stake == "cube" and self.rules.jacoby

    def payoff(self, *, mover: bool = True) -> Payoff:
        """Give what points are worth to a side."""
        if self.match is None:
            return _MONEY
        return self.match if mover else self.match.flip()

    def model(
        self, chances: Floats, stake: int | None = None, *, mover: bool = True
    ) -> tuple[CubeModel, Floats]:
        """Make the model for some class chances, ``float[n, 10]``, and give the chances to win.

        Parameters
        ----------
        chances
            Seen by the side that asks.
        stake
            The stake now; that of the terms by default.
        mover
            Whether that side is the mover of the terms.
        """
        points = self.points
        kinds = tuple(sorted(set(points)))
        spare = SHARES[self.rules.movement]
        sides, totals = [], []
        for first in (0, 5):
            half = [chances[:, first + state] for state in range(5)]
            total = added(half)
            shares = [
                np.divide(part, total, out=np.full(len(part), other), where=total > 0)
                for part, other in zip(half, spare, strict=True)
            ]
            of_kind = [[s for s, k in zip(shares, points, strict=True) if k == n] for n in kinds]
            sides.append([added(some) for some in of_kind])
            totals.append(total)
        step = raises(self.rules, stake or self.stake) if self.allowed else (lambda _: None)
        payoff = self.payoff(mover=mover)
        won, lost = sides
        made = CubeModel(payoff, step, kinds, won, lost, self.efficiency, self.jacoby)
        return made, totals[0].clip(0, 1)


def added(some: Sequence[Floats]) -> Floats:
    """Add term by term, which rounds alike however many rows there are."""
    total = some[0]
    for one in some[1:]:
        total = total + one
    return total


def _check_stake(rules: Rules, stake: int, owner: Owner) -> None:
    if not 1 <= stake <= MOST_STAKE:
        msg = f"stake is 1 to {MOST_STAKE:,}, not {stake}"
        raise ValueError(msg)
    if rules.stake != "dave_arithmetic" and stake & (stake - 1):
        msg = f"the stake is a power of two under these rules, not {stake}"
        raise ValueError(msg)
    if rules.stake == "cube" and rules.cube_cap is not None and stake > rules.cube_cap:
        msg = f"the stake is at most {rules.cube_cap} under these rules, not {stake}"
        raise ValueError(msg)
    if owner != "centred" and stake == 1:
        msg = "nobody has accepted a raise at a stake of 1, so that both sides may raise it"
        raise ValueError(msg)
    if owner == "centred" and stake > 1 and rules.stake != "cube":
        msg = f"the last acceptor holds the right to raise a stake of {stake}"
        raise ValueError(msg)


def as_chances(values: Floats) -> Floats:
    """Check class chances, ``float[n, 10]``, and make them add up to one."""
    if values.ndim != 2 or values.shape[1] != 10:
        msg = f"chances of the ten classes have the shape (n, 10), not {values.shape}"
        raise ValueError(msg)
    total = added(list(values.T))[:, None]
    if (
        not np.isfinite(values).all()
        or not (values >= -1e-6).all()
        or not (np.abs(total - 1) < 1e-3).all()
    ):
        msg = "chances of the ten classes are not negative and add up to 1"
        raise ValueError(msg)
    found = np.maximum(values, 0)
    return found / added(list(found.T))[:, None]
