"""What a game is played for: dave and the doubling cube, and who may raise them when.

A `Stake` is one immutable state. Its methods give the next one or say why a raise is not due; they
know nothing of dice and turns, which are the game's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nardcore.errors import NotDueError, RulesError
from nardcore.rules import Rules

if TYPE_CHECKING:
    from nardcore.typing import Side

__all__ = ["COLOURS", "Stake", "other"]

COLOURS: Final = {"w": "white", "b": "black"}
"""The sides by name."""


def other(side: Side) -> Side:
    """Name the other side.

    Examples
    --------
    >>> from nardcore.stakes import other
    >>> other("w")
    'b'
    """
    return "b" if side == "w" else "w"


@dataclass(frozen=True, slots=True)
class Stake:
    """The stake of a game at one moment.

    Attributes
    ----------
    rules : Rules
        Their fields `stake`, `cube_cap`, `jacoby`, `beavers` and `scoring` matter here.
    value : int
        What is played for now.
    owner : {"w", "b"} or None
        Who alone may raise it; None for either side.
    length : int
        Points of the match; 0 in money play.
    crawford : bool
        Whether this is the game of the match in which nobody may raise.
    turned : bool
        Whether a raise has been accepted in this game.
    offered : int or None
        The stake that is offered and not answered yet.
    by : {"w", "b"} or None
        Who made that offer.
    taker : {"w", "b"} or None
        Who will own the stake if it is accepted: the side the first offer was made to.
    before : int
        What is paid when the offer is refused.
    beavers : int
        How many times this offer has been raised again.

    Examples
    --------
    Dave in arithmetic progression: after three acceptances the stake is 4.

    >>> import nardcore as nc
    >>> from nardcore.stakes import Stake
    >>> stake = Stake(nc.SHORT_DAVE.replace(stake="dave_arithmetic"))
    >>> for side in ("w", "b", "w"):
    ...     stake = stake.offer(side).accept()
    >>> stake.value, stake.owner
    (4, 'b')
    >>> stake.offer("w")
    Traceback (most recent call last):
        ...
    nardcore.errors.NotDueError: only black, who accepted last, may offer a dave
    """

    rules: Rules
    value: int = 1
    owner: Side | None = None
    length: int = 0
    crawford: bool = False
    turned: bool = False
    offered: int | None = None
    by: Side | None = None
    taker: Side | None = None
    before: int = 1
    beavers: int = 0

    @staticmethod
    def start(
        rules: Rules,
        *,
        value: int = 1,
        owner: Side | None = None,
        length: int = 0,
        crawford: bool = False,
        equal_throws: int = 0,
    ) -> Stake:
        """Give the stake at the beginning of a game.

        Parameters
        ----------
        rules
            What is played.
        value, owner
            A stake that has been raised before, for a game that begins in the middle.
        length
            Points of the match; 0 in money play.
        crawford
            Whether nobody may raise in this game of the match.
        equal_throws
            How many throws for the first move were equal; automatic doubles follow from them.

        Raises
        ------
        RulesError
            If the rules have automatic doubles in a match.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> Stake.start(nc.BACKGAMMON.replace(auto_doubles=1), equal_throws=2).value
        2
        """
        if rules.auto_doubles and length:
            msg = "auto_doubles: automatic doubles are for money play, not for matches"
            raise RulesError(msg)
        for _ in range(min(rules.auto_doubles, equal_throws)):
            if rules.cube_cap is None or 2 * value <= rules.cube_cap:
                value *= 2
        return Stake(
            rules,
            value,
            owner,
            length,
            crawford=crawford and rules.stake == "cube" and rules.crawford and length > 0,
            turned=owner is not None,
        )

    @property
    def word(self) -> str:
        """What an offer is called: "a dave" or "a double".

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> Stake(nc.BACKGAMMON).word
        'a double'
        """
        return "a double" if self.rules.stake == "cube" else "a dave"

    def _next(self, value: int) -> int:
        return value + 1 if self.rules.stake == "dave_arithmetic" else 2 * value

    def _above_cap(self, value: int) -> bool:
        cap = self.rules.cube_cap
        return self.rules.stake == "cube" and cap is not None and value > cap

    def why_not(self, side: Side) -> str | None:
        """Say why a side may not offer to raise; None if it may, once it is on turn to throw.

        Parameters
        ----------
        side
            Who would offer.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> Stake(nc.TRIKTRAK).why_not("w")
        'the stake is never raised in triktrak'
        >>> Stake(nc.BACKGAMMON).why_not("w") is None
        True
        """
        if self.rules.stake == "none":
            return f"the stake is never raised in {self.rules.name}"
        if self.crawford:
            return "nobody may double in the Crawford game"
        if self.offered is not None:
            return f"{self.word} awaits its answer"
        if self.owner not in (None, side):
            return f"only {COLOURS[other(side)]}, who accepted last, may offer {self.word}"
        if self._above_cap(self._next(self.value)):
            return f"the cube is at its highest value, {self.value}"
        return None

    def offer(self, side: Side) -> Stake:
        """Offer to raise the stake.

        Parameters
        ----------
        side
            Who offers.

        Raises
        ------
        NotDueError
            If it may not.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> offer = Stake(nc.BACKGAMMON).offer("w")
        >>> offer.value, offer.offered, offer.before, offer.taker
        (1, 2, 1, 'b')
        """
        why = self.why_not(side)
        if why is not None:
            raise NotDueError(why)
        return dataclasses.replace(
            self,
            offered=self._next(self.value),
            by=side,
            taker=other(side),
            before=self.value,
            beavers=0,
        )

    def _pending(self) -> tuple[int, Side]:
        if self.offered is None or self.by is None:
            msg = "nothing has been offered"
            raise NotDueError(msg)
        return self.offered, self.by

    def accept(self) -> Stake:
        """Accept the offer.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> taken = Stake(nc.BACKGAMMON).offer("w").accept()
        >>> taken.value, taken.owner
        (2, 'b')
        """
        value, _ = self._pending()
        return dataclasses.replace(
            self,
            value=value,
            owner=self.taker,
            turned=True,
            offered=None,
            by=None,
            taker=None,
            before=1,
            beavers=0,
        )

    def refuse(self) -> tuple[Side, int]:
        """Refuse the offer: who wins, and how much.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> Stake(nc.SHORT_DAVE, value=2, owner="w").offer("w").refuse()
        ('w', 2)
        """
        _, by = self._pending()
        return by, self.before

    def why_no_beaver(self) -> str | None:
        """Say why the offer may not be raised again; None if it may.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> Stake(nc.BACKGAMMON).offer("w").why_no_beaver()
        'backgammon has no beavers'
        """
        value, _ = self._pending()
        if self.rules.stake != "cube" or not self.rules.beavers:
            return f"{self.rules.name} has no beavers"
        if self.length:
            return "there are no beavers in a match"
        if self.beavers >= self.rules.beavers:
            return f"an offer may be raised again {self.rules.beavers} times, not more"
        if self._above_cap(self._next(value)):
            return f"the cube would pass its highest value, {self.rules.cube_cap}"
        return None

    def beaver(self) -> Stake:
        """Accept the offer and raise it again at once; the cube stays with its first taker.

        Raises
        ------
        NotDueError
            If the rules do not allow it.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> stake = Stake(nc.BACKGAMMON.replace(beavers=1)).offer("w").beaver()
        >>> stake.offered, stake.by, stake.refuse()
        (4, 'b', ('b', 2))
        >>> stake.accept().owner
        'b'
        """
        value, by = self._pending()
        why = self.why_no_beaver()
        if why is not None:
            raise NotDueError(why)
        return dataclasses.replace(
            self,
            offered=self._next(value),
            by=other(by),
            before=value,
            beavers=self.beavers + 1,
        )

    def points(self, state: int) -> int:
        """Count the points of a game that ends now with the loser in a state.

        Parameters
        ----------
        state
            The loser's state, 0 to 4.

        Returns
        -------
        int
            What the winner gets.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> Stake(nc.BACKGAMMON, value=4, owner="w", turned=True).points(1)
        8
        >>> Stake(nc.BACKGAMMON.replace(jacoby=True)).points(1)
        1
        """
        if self.rules.stake in ("dave_geometric", "dave_arithmetic"):
            return self.value  # a dave game knows no mars
        table = self.rules.points
        if self.jacoby and not self.turned:
            return self.value * table[0]
        return self.value * table[state]

    @property
    def jacoby(self) -> bool:
        """Whether more than a single win counts only after a double.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.stakes import Stake
        >>> rules = nc.BACKGAMMON.replace(jacoby=True)
        >>> Stake(rules).jacoby, Stake(rules, length=7).jacoby
        (True, False)
        """
        return self.rules.jacoby and self.rules.stake == "cube" and not self.length
