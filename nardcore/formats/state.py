"""The state of a match at one moment: what a match ID, an XGID or a FIBS board line tells."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nardcore._board import Position
from nardcore._entries import MAX_LENGTH, check_pair
from nardcore.notation import as_dice
from nardcore.records import impossible_score

if TYPE_CHECKING:
    from nardcore.typing import Dice, Side

__all__ = ["MatchState"]

Offer: TypeAlias = Literal["double", "beaver", "raccoon"]
Status: TypeAlias = Literal["none", "playing", "over", "resigned", "dropped"]

OFFERS: tuple[Offer, ...] = ("double", "beaver", "raccoon")
STATUSES: tuple[Status, ...] = ("none", "playing", "over", "resigned", "dropped")
"""In the order of gnubg's match ID."""


def _number(value: object, what: str, low: int, high: int | None = None) -> None:
    if type(value) is not int:
        msg = f"{what} is an int, not {value!r}"
        raise TypeError(msg)
    if value < low or (high is not None and value > high):
        msg = f"{what} is {low} to {high}, not {value}" if high else f"{what} is not {value}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, eq=False)
class MatchState:
    """A position with its dice, its cube and the score around it.

    Sides are ``"w"`` and ``"b"``; white is the X of an XGID and of a FIBS board, and player 1 of a
    match ID.

    Attributes
    ----------
    position : Position
        Seen by the side on roll. While a double is offered, the side that offers it.
    dice : (int, int) or None
        The dice to play, the larger first; None before the roll.
    cube : int
        Its value, a power of two. While a double is offered, the value before it.
    cube_owner : {"w", "b"} or None
        Who has it; None where it is centred.
    score : (int, int)
        White's and black's points; while the game is going on, fewer than `length`.
    length : int
        Points to win, at most 32,767; 0 for money play.
    crawford : bool
        Whether this is the game in which nobody may double: one side is a point away.
    jacoby, beavers : bool
        Money play only: whether gammons count before a double, whether a double may be turned back.
    max_cube : int or None
        The largest value of the cube; None where nobody says so.
    offer : {"double", "beaver", "raccoon"} or None
        What waits for an answer: a double, its being turned back, or that turned back again.
    resignation : int
        What `resigner` has offered to lose: 1 a single game, 2 a gammon, 3 a backgammon; 0 for
        none.
    resigner : {"w", "b"} or None
        Who waits for that to be accepted; None for no one.
    status : {"playing", "none", "over", "resigned", "dropped"}
        Whether a game is going on, and how it ended.
    white, black : str
        Names, where the text has them.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import MatchState, dumps
    >>> state = MatchState(nc.Position.start(), (3, 1), cube=2, cube_owner="b", length=7)
    >>> dumps(state, "xgid")
    'XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:0:0:0:7:10'
    >>> dumps(state, "gnubg")
    '4HPwATDgc/ABMA:QYnlAAAAAAAE'
    """

    position: Position
    dice: Dice | None = None
    cube: int = 1
    cube_owner: Side | None = None
    score: tuple[int, int] = (0, 0)
    length: int = 0
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    max_cube: int | None = None
    offer: Offer | None = None
    resignation: int = 0
    resigner: Side | None = None
    status: Status = "playing"
    white: str = ""
    black: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.position, Position):
            msg = f"position is a Position, not {self.position!r}"  # type: ignore[unreachable]
            raise TypeError(msg)
        if self.dice is not None:
            object.__setattr__(self, "dice", as_dice(self.dice))
        for name in ("cube", "max_cube"):
            value = getattr(self, name)
            if value is not None:
                _number(value, name, 1)
                if value & (value - 1):
                    msg = f"{name} is a power of two, not {value}"
                    raise ValueError(msg)
        for name in ("cube_owner", "resigner"):
            if getattr(self, name) not in (None, "w", "b"):
                msg = f"{name} is 'w', 'b' or None, not {getattr(self, name)!r}"
                raise ValueError(msg)
        object.__setattr__(self, "score", check_pair(self.score, "score"))
        for points in self.score:
            _number(points, "score", 0)
        _number(self.length, "length", 0, MAX_LENGTH)
        _number(self.resignation, "resignation", 0, 3)
        if (self.resignation > 0) is not (self.resigner is not None):
            msg = "resignation and resigner go together"
            raise ValueError(msg)
        for name in ("crawford", "jacoby", "beavers"):
            if type(getattr(self, name)) is not bool:
                msg = f"{name} is True or False, not {getattr(self, name)!r}"
                raise TypeError(msg)
        if self.crawford and not self.length:
            msg = "crawford: only a match has a Crawford game"
            raise ValueError(msg)
        wrong = impossible_score(self.score, self.length, crawford=self.crawford)
        if wrong is not None and self.status == "playing":
            raise ValueError(wrong)
        if self.length and (self.jacoby or self.beavers):
            msg = "jacoby and beavers are for money play, not for a match"
            raise ValueError(msg)
        if self.offer is not None and (self.offer not in OFFERS or self.dice is not None):
            msg = f"offer is one of {', '.join(OFFERS)} before the roll, not {self.offer!r}"
            raise ValueError(msg)
        if self.status not in STATUSES:
            msg = f"status is one of {', '.join(STATUSES)}, not {self.status!r}"
            raise ValueError(msg)
        for name in ("white", "black"):
            if not isinstance(getattr(self, name), str):
                msg = f"{name} is a text, not {getattr(self, name)!r}"
                raise TypeError(msg)

    @property
    def turn(self) -> Side:
        """The side that has to do something: the one on roll, or the one that has to answer."""
        side = self.position.turn
        other: Side = "b" if side == "w" else "w"
        if self.resigner is not None:
            return "b" if self.resigner == "w" else "w"
        return other if self.offer in ("double", "raccoon") else side

    def terms(self) -> dict[str, Any]:
        """Give what `nardcore.cube_decision` takes beside the position.

        That is ``rules``, ``stake``, ``cube``, ``match`` and ``crawford``, by name.

        Raises
        ------
        ValueError
            If the dice are thrown, or the game is not going on: no offer is due then.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.formats import loads
        >>> state = loads("XGID=-b----E-C---eE---c-e----B-:1:1:1:00:3:5:0:7:10")
        >>> terms = state.terms()
        >>> terms["stake"], terms["cube"], terms["match"], terms["crawford"]
        (2, 'owned', (4, 2), False)
        >>> nc.cube_decision(state.position, **terms).match
        (4, 2)
        """
        if self.dice is not None:
            msg = "the dice are thrown: an offer is made before the throw"
            raise ValueError(msg)
        if self.status in ("over", "resigned", "dropped"):
            msg = "the game is over"
            raise ValueError(msg)
        rules = self.position.rules
        if rules.stake == "cube" and not self.length:
            rules = rules.replace(
                jacoby=self.jacoby,
                beavers=max(rules.beavers, 1) if self.beavers else 0,
                cube_cap=rules.cube_cap if self.max_cube is None else self.max_cube,
            )
        match = None
        if self.length:
            white, black = (self.length - points for points in self.score)
            match = (white, black) if self.position.turn == "w" else (black, white)
        holder = "owned" if self.cube_owner == self.position.turn else "opponent"
        return {
            "rules": rules,
            "stake": self.cube,
            "cube": "centred" if self.cube_owner is None else holder,
            "match": match,
            # where both need a point, nothing is raised anyway
            "crawford": self.crawford and match != (1, 1),
        }

    def _key(self) -> tuple[object, ...]:
        # A position does not compare the colours, but here they say whose cube and score it is.
        values = (getattr(self, field.name) for field in fields(self))
        return (self.position.turn, *values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MatchState):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())
