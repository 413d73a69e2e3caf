"""Values of a stake that can be raised, as functions of the chance to win.

The model: the chance to win wanders without jumps until it is 0 or 1. Whoever may raise the stake
does so at the best moment; the value of the game, as a function of the chance, is then made of
straight pieces, and its corners are the chances at which somebody refuses. That is the *live* cube.
A *dead* cube is never turned again: one straight line. Real games jump, and the truth lies between;
Janowski takes the weighted mean of the two, with the weight called the efficiency of the cube.

Everything is seen by one side, the *mover*; arrays hold many positions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nardcore.rules import Rules

__all__ = ["CubeModel", "Line", "Money", "Owner", "Payoff", "Verdict", "raises"]

Floats = NDArray[np.float64]
Owner = Literal["centred", "owned", "opponent"]
OWNERS = ("centred", "owned", "opponent")

# How far beyond the stake an endless series is followed: a step matters a quarter as much as the
# one before it, and less where the stake is not doubled.
_FAR = 14


class Payoff(Protocol):
    """What a result is worth to the mover."""

    def value(self, points: int) -> float:
        """Give the worth of winning some points; of losing them, where they are negative."""

    def enough(self, stake: int, *, mover: bool) -> bool:
        """Say whether a win of one stake already gives a side all it can win."""


@dataclass(frozen=True)
class Money:
    """Every point counts the same."""

    def value(self, points: int) -> float:
        """Give the points."""
        return float(points)

    def enough(self, stake: int, *, mover: bool) -> bool:
        """Say that one can always win more."""
        del stake, mover
        return False


def raises(rules: Rules, stake: int) -> Callable[[int], int | None]:
    """Give the function from a stake to the next one, None where it cannot be raised."""
    if rules.stake == "none":
        return lambda _: None
    if rules.stake == "dave_arithmetic":
        last = stake + _FAR
        return lambda v: v + 1 if v < last else None
    most = rules.cube_cap if rules.stake == "cube" else None
    highest = stake << _FAR if most is None else most
    return lambda v: 2 * v if 2 * v <= highest else None


def _ratio(a: Floats, b: Floats) -> Floats:
    """Divide; nought where there is nothing to divide by."""
    some = b > 1e-15
    found: Floats = np.where(some, a / np.where(some, b, 1.0), 0.0)
    return found


class Line(NamedTuple):
    """Straight pieces over the chance to win: (0, start), (a, ya), (b, yb), (1, end), rising."""

    start: Floats
    a: Floats
    ya: Floats
    b: Floats
    yb: Floats
    end: Floats

    @classmethod
    def straight(cls, start: Floats, end: Floats) -> Line:
        """Join the two ends."""
        return cls(start, np.zeros_like(start), start, np.ones_like(end), end, end)

    @classmethod
    def bent(cls, start: Floats, at: Floats, y: Floats, end: Floats) -> Line:
        """Join the two ends by way of one corner."""
        return cls(start, at, y, at, y, end)

    def mirror(self) -> Line:
        """See it from the other side."""
        return Line(-self.end, 1 - self.b, -self.yb, 1 - self.a, -self.ya, -self.start)

    def at(self, p: Floats) -> Floats:
        """Give the value at some chances to win."""
        start, a, ya, b, yb, end = self
        first = start + (ya - start) * _ratio(p, a)
        middle = ya + (yb - ya) * _ratio(p - a, b - a)
        last = yb + (end - yb) * _ratio(p - b, 1 - b)
        return np.where(p <= a, first, np.where(p <= b, middle, last))

    def reaches(self, y: Floats) -> Floats:
        """Give the least chance at which the value is at least y; 1 if it never is."""
        start, a, ya, b, yb, end = self
        first = a * _ratio(y - start, ya - start)
        middle = a + (b - a) * _ratio(y - ya, yb - ya)
        last = b + (1 - b) * _ratio(y - yb, end - yb)
        found = np.where(end >= y, last, 1.0)
        found = np.where(yb >= y, middle, found)
        found = np.where(ya >= y, first, found)
        return np.where(start >= y, 0.0, found)

    def leaves(self, y: Floats) -> Floats:
        """Give the largest chance at which the value is at most y; 0 if it never is."""
        return 1 - self.mirror().reaches(-y)

    def mean(self, straight: Line, weight: float) -> Line:
        """Take the mean with a straight line, which has the rest of the weight."""
        a, b = straight.at(self.a), straight.at(self.b)
        rest = 1 - weight
        return Line(
            weight * self.start + rest * straight.start,
            self.a,
            weight * self.ya + rest * a,
            self.b,
            weight * self.yb + rest * b,
            weight * self.end + rest * straight.end,
        )


class Verdict(NamedTuple):
    """What is to be done before a throw, and what it is worth to the mover."""

    hold: Floats
    taken: Floats
    refused: Floats
    offer: NDArray[np.bool_]
    accept: NDArray[np.bool_]
    beaver: NDArray[np.bool_]

    @property
    def value(self) -> Floats:
        """The worth of the best both sides can do."""
        return np.where(self.offer, np.where(self.accept, self.taken, self.refused), self.hold)


class CubeModel:
    """The values of a stake in positions that have the same shares of dearer wins, or many.

    Parameters
    ----------
    payoff
        What results are worth to the mover.
    step
        From a stake to the next one.
    points
        Points of the kinds of win.
    wins, losses
        Shares of these kinds among the mover's wins and among its losses, ``float[kinds, n]``.
    efficiency
        The weight of the live cube.
    jacoby
        Whether with a centred cube every win counts one stake.
    """

    def __init__(
        self,
        payoff: Payoff,
        step: Callable[[int], int | None],
        points: tuple[int, ...],
        wins: Sequence[Floats],
        losses: Sequence[Floats],
        efficiency: float,
        jacoby: bool = False,
    ) -> None:
        self.payoff, self.step = payoff, step
        self.points, self.wins, self.losses = points, wins, losses
        self.efficiency, self.jacoby = efficiency, jacoby
        self._least = max(min(points), 1)
        self._mean: tuple[Floats, Floats] | None = None
        self._live: dict[tuple[int, Owner], Line] = {}

    def _all(self, value: float) -> Floats:
        return np.full(len(self.wins[0]), value)

    def ends(self, stake: int, owner: Owner) -> tuple[Floats, Floats]:
        """Give the worth of a loss and of a win, if the stake stays as it is."""
        value = self.payoff.value
        if self.jacoby and owner == "centred":
            return self._all(value(-stake)), self._all(value(stake))
        if isinstance(self.payoff, Money):
            if self._mean is None:
                self._mean = self._sums(1)
            return stake * self._mean[0], stake * self._mean[1]
        return self._sums(stake)

    def _sums(self, stake: int) -> tuple[Floats, Floats]:
        value = self.payoff.value
        lost, won = self._all(0.0), self._all(0.0)
        # term by term: a product of matrices rounds by how many rows there are
        for k, mine, theirs in zip(self.points, self.wins, self.losses, strict=True):
            won = won + value(stake * k) * mine
            lost = lost + value(-stake * k) * theirs
        return lost, won

    def may(self, stake: int, *, mover: bool) -> int | None:
        """Give the stake a side would raise to, None where it gains nothing by it."""
        if self.payoff.enough(stake * self._least, mover=mover):
            return None
        return self.step(stake)

    def free(self, stake: int, owner: Owner) -> int | None:
        """Give the stake that its owner may raise to with nothing to lose, None if there is none.

        A side that loses all by losing the stake it holds loses no more by losing a higher one.
        """
        mine = owner == "owned"
        if owner == "centred" or not self.payoff.enough(stake * self._least, mover=not mine):
            return None
        return self.may(stake, mover=mine)

    def dead(self, stake: int, owner: Owner) -> Line:
        """Give the value if nobody raises any more, but for raises that cost nothing."""
        higher = self.free(stake, owner)
        if higher is None:
            return Line.straight(*self.ends(stake, owner))
        if owner == "owned":
            return self._bent(stake, owner, self.dead(higher, "opponent"), None)
        return self._bent(stake, owner, None, self.dead(higher, "owned"))

    def live(self, stake: int, owner: Owner) -> Line:
        """Give the value if raises come at the best moment."""
        key = stake, owner
        if key not in self._live:
            self._live[key] = self._make_live(stake, owner)
        return self._live[key]

    def _make_live(self, stake: int, owner: Owner) -> Line:
        mine = None if owner == "opponent" else self.may(stake, mover=True)
        theirs = None if owner == "owned" else self.may(stake, mover=False)
        return self._bent(
            stake,
            owner,
            None if mine is None else self.live(mine, "opponent"),
            None if theirs is None else self.live(theirs, "owned"),
        )

    def _bent(self, stake: int, owner: Owner, given: Line | None, taken: Line | None) -> Line:
        """Bend the line between a loss and a win where somebody refuses.

        Parameters
        ----------
        stake, owner
            The stake, and who may raise it.
        given, taken
            The value after the mover, and after the opponent, has raised and been accepted; None
            for a side that does not raise.
        """
        start, end = self.ends(stake, owner)
        up, down = self._all(self.payoff.value(stake)), self._all(self.payoff.value(-stake))
        # The opponent refuses from b on, the mover below a. Where the dearer wins are worth more
        # than that, the owner plays on: its value is the concave hull of what it can have.
        b = None if given is None else given.reaches(up)
        a = None if taken is None else taken.leaves(down)
        above = below = Line.straight(start, end)
        if b is not None:
            above = Line.bent(start, b, np.maximum(up, start + (end - start) * b), end)
        if a is not None:
            below = Line.bent(start, a, np.minimum(down, start + (end - start) * a), end)
        if a is None or b is None:
            return below if b is None else above
        # With both, the shortest way under the one corner and over the other.
        middle = _ratio(up - down, b - a)
        low = middle >= _ratio(down - start, a) - 1e-12
        high = middle >= _ratio(end - up, 1 - b) - 1e-12
        both = low & high & (a < b)
        only_above = ~both & (above.at(a) <= down)
        return Line(
            start,
            np.where(both, a, np.where(only_above, b, a)),
            np.where(both, down, np.where(only_above, above.yb, below.yb)),
            np.where(both, b, np.where(only_above, b, a)),
            np.where(both, up, np.where(only_above, above.yb, below.yb)),
            end,
        )

    def line(self, stake: int, owner: Owner) -> Line:
        """Give the value with the efficiency of the cube, before anybody raises now."""
        return self.live(stake, owner).mean(self.dead(stake, owner), self.efficiency)

    def decide(self, stake: int, owner: Owner, p: Floats, beavers: int = 0) -> Verdict:
        """Say what both sides do before the mover's throw.

        Parameters
        ----------
        stake, owner
            The stake, and who may raise it.
        p
            Chances of the mover to win.
        beavers
            How many times a raise may be answered by another; more than one changes nothing.
        """
        hold = self.line(stake, owner).at(p)
        refused = self._all(self.payoff.value(stake))
        no = np.zeros(len(p), bool)
        higher = None if owner == "opponent" else self.step(stake)
        if higher is None:
            return Verdict(hold, hold, refused, no, hold <= refused, no)
        taken = self.line(higher, "opponent").at(p)
        beaver = no
        again = self.step(higher) if beavers else None
        if again is not None:
            raised = self.line(again, "opponent").at(p)
            beaver = raised < taken
            taken = np.where(beaver, raised, taken)
        accept = taken <= refused
        offer = no
        if self.may(stake, mover=True) is not None:
            # What rounding leaves is no reason to raise; but a raise that costs nothing may as well
            # come now, for there may be no other time for it.
            sign = 1 if self.free(stake, owner) is None else -1
            offer = np.minimum(taken, refused) > hold + sign * 1e-12 * np.abs(refused)
        return Verdict(hold, taken, refused, offer, accept, beaver)
