"""Match equity: the chance to win a match, by the points that the sides still need.

`MatchEquity.compute` makes a table by a recursion over scores, `MatchEquity.read` takes one from a
file of gnubg's kind. A table answers by *away* scores: ``met(2, 5)`` is the chance of a side that
needs two points against one that needs five.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from nardcore._cube_model import CubeModel, raises
from nardcore.errors import FormatError
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["EFFICIENCY", "FIRST_DOUBLES", "SHARES", "MatchEquity", "MatchScore", "default_table"]

MOST_POINTS: Final = 64
MOST_BYTES: Final = 1 << 20

EFFICIENCY: Final = 0.7
"""How much of a live cube's value a cube has: the weight in Janowski's interpolation.

Published values lie between 0.6 and 0.8; with this one the computed table is nearest to rolled-out
ones. See the page on cube and dave.
"""

SHARES: Final = {
    "short": (0.6958, 0.0180, 0.2712, 0.0146, 0.0004),
    "long": (0.7691, 0.0238, 0.1477, 0.0594, 0.0),
}
"""Shares of the loser's five states among all games, by movement.

Measured by ``bench/measure_match.py``: self-play of the policy ``linear`` from the start, 400,000
games, under the rules ``backgammon`` and ``long_nardy``. They stand in where no class chances are
known.
"""

FIRST_DOUBLES: Final = (
    0.4239,
    0.4645,
    0.4781,
    0.4908,
    0.5026,
    0.5072,
    0.5102,
    0.5221,
    0.5389,
    0.5679,
)
"""Chances to win before a side's first throw that it may raise before, ten parts of equal weight.

Measured by ``bench/measure_match.py`` in the same way.
"""


@dataclass(frozen=True)
class MatchScore:
    """A score as a decision about the stake sees it: what results are worth in match chances.

    Attributes
    ----------
    away : (int, int)
        Points that the side in question and the other still need.
    met : MatchEquity
        The table.
    crawford : bool
        Whether this is the Crawford game, in which nobody may raise.
    player : {0, 1}
        Which of the table's players the side is; only tables of unequal players ask.

    Examples
    --------
    >>> import nardcore as nc
    >>> score = MatchScore((3, 2), nc.MatchEquity.compute(length=3))
    >>> score.value(3), score.value(-1) == score.met(3, 1)
    (1.0, True)
    """

    away: tuple[int, int]
    met: MatchEquity
    crawford: bool = False
    player: Literal[0, 1] = 0

    def __post_init__(self) -> None:
        mine, theirs = (whole(n, "away") for n in self.away)
        longest = self.met.length
        if min(mine, theirs) == 0:
            msg = (
                f"a side that needs 0 points has won the match already: {mine} away, {theirs} away"
            )
            raise ValueError(msg)
        if not (1 <= mine <= longest and 1 <= theirs <= longest):
            msg = f"the table knows scores of 1 to {longest} away, not {mine} and {theirs}"
            raise ValueError(msg)
        if self.crawford and (not self.met.crawford or min(mine, theirs) != 1 or mine == theirs):
            msg = f"there is no Crawford game at {mine} away, {theirs} away"
            raise ValueError(msg)

    def value(self, points: int) -> float:
        """Give the chance to win the match after a game won by some points; lost, if negative.

        Examples
        --------
        >>> import nardcore as nc
        >>> MatchScore((3, 2), nc.MatchEquity.compute(length=3)).value(-2)
        0.0
        """
        mine, theirs = self.away
        if points >= mine:
            return 1.0
        if -points >= theirs:
            return 0.0
        after = min(mine, theirs) == 1
        mine, theirs = (mine - points, theirs) if points > 0 else (mine, theirs + points)
        return self.met(mine, theirs, post_crawford=after, player=self.player)

    def enough(self, stake: int, *, mover: bool) -> bool:
        """Say whether a win of one stake already wins the match for a side.

        Examples
        --------
        >>> import nardcore as nc
        >>> score = MatchScore((3, 2), nc.MatchEquity.compute(length=3))
        >>> score.enough(2, mover=True), score.enough(2, mover=False)
        (False, True)
        """
        return stake >= self.away[0 if mover else 1]

    def flip(self) -> MatchScore:
        """Give the same score as the other side sees it.

        Examples
        --------
        >>> import nardcore as nc
        >>> MatchScore((3, 2), nc.MatchEquity.compute(length=3)).flip().away
        (2, 3)
        """
        player: Literal[0, 1] = 0 if self.player else 1
        return MatchScore((self.away[1], self.away[0]), self.met, self.crawford, player)


@dataclass(frozen=True, eq=False)
class MatchEquity:
    """A match equity table.

    Attributes
    ----------
    name : str
        What it is called.
    table : ndarray of float64, shape (length, length)
        Chances of the first player that needs row + 1 points against one that needs column + 1.
        With the Crawford rule the first row and column are those of the Crawford game.
    trailing : ndarray of float64, shape (2, length)
        After the Crawford game: chances of a player, the first and the second, that needs
        column + 1 points against an opponent that needs one.
    crawford : bool
        Whether matches have a Crawford game.

    Examples
    --------
    >>> import nardcore as nc
    >>> met = nc.MatchEquity.compute(length=5)
    >>> met
    <MatchEquity computed for backgammon, 5 points>
    >>> round(met(1, 2), 3), met(1, 2) + met(2, 1), met(3, 3)
    (0.674, 1.0, 0.5)
    """

    name: str
    table: NDArray[np.float64] = field(repr=False)
    trailing: NDArray[np.float64] = field(repr=False)
    crawford: bool = True

    def __post_init__(self) -> None:
        for values in (self.table, self.trailing):
            values.setflags(write=False)

    @property
    def length(self) -> int:
        """The most points that it knows a side to need."""
        return len(self.table)

    def __repr__(self) -> str:
        return f"<MatchEquity {self.name}, {self.length} points>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MatchEquity):
            return NotImplemented
        return (
            self.crawford == other.crawford
            and np.array_equal(self.table, other.table)
            and np.array_equal(self.trailing, other.trailing)
        )

    def __hash__(self) -> int:
        return hash((self.crawford, self.table.tobytes()))

    def __call__(
        self,
        mine: int,
        theirs: int,
        *,
        post_crawford: bool = False,
        player: Literal[0, 1] = 0,
    ) -> float:
        """Give the chance to win a match.

        Parameters
        ----------
        mine, theirs
            Points that the side in question and its opponent still need.
        post_crawford
            Whether the Crawford game has been played; it only matters where a side needs one point.
        player
            Whether the side is the table's first player or its second.

        Returns
        -------
        float
            The chance of the side in question.

        Raises
        ------
        ValueError
            If the table does not know the score.

        Examples
        --------
        >>> import nardcore as nc
        >>> met = nc.MatchEquity.compute(length=5)
        >>> met(2, 1, post_crawford=True) > met(2, 1)
        True
        """
        mine, theirs = whole(mine, "mine"), whole(theirs, "theirs")
        if not (1 <= mine <= self.length and 1 <= theirs <= self.length):
            msg = f"the table knows scores of 1 to {self.length} away, not {mine}, {theirs}"
            raise ValueError(msg)
        if post_crawford and theirs == 1 < mine:
            return float(self.trailing[player][mine - 1])
        if post_crawford and mine == 1 < theirs:
            return 1 - float(self.trailing[1 - player][theirs - 1])
        if player:
            return 1 - float(self.table[theirs - 1, mine - 1])
        return float(self.table[mine - 1, theirs - 1])

    # ------------------------------------------------------------------------------- computing

    @classmethod
    def compute(
        cls,
        *,
        length: int = 25,
        rules: Rules = BACKGAMMON,
        shares: Sequence[float] | None = None,
        efficiency: float = EFFICIENCY,
        first_doubles: Sequence[float] = FIRST_DOUBLES,
    ) -> MatchEquity:
        """Compute a table for two equal players by recursion over the scores.

        Parameters
        ----------
        length
            Points, at most 64.
        rules
            How results count and how the stake is raised.
        shares
            Shares of the loser's five states among all games; `SHARES` of the movement by default.
        efficiency
            The weight of the live cube, 0 to 1.
        first_doubles
            Chances to win at a side's first occasion to raise, of equal weight: what makes the
            right to refuse at once after the Crawford game worth something.

        Returns
        -------
        MatchEquity
            The table.

        Notes
        -----
        A game begins with even chances. Its worth is that of a centred stake at 1 in the model of
        `nardcore.cube`: the mean of a live and of a dead cube, whose corners are the scores after
        the game, known from the recursion. The Crawford game has no cube. After it the trailing
        side raises at its first occasion; the leader, for whom the raised cube is dead, takes or
        refuses according to the chances of that moment, `first_doubles`.

        Examples
        --------
        >>> import nardcore as nc
        >>> met = nc.MatchEquity.compute(length=7, rules=nc.SHORT_DAVE)
        >>> met.crawford, round(met(4, 7), 2)
        (False, 0.73)
        """
        length = whole(length, "length")
        if not 1 <= length <= MOST_POINTS:
            msg = f"a match has 1 to {MOST_POINTS} points, not {length}"
            raise ValueError(msg)
        if not 0 <= efficiency <= 1:
            msg = f"efficiency is 0 to 1, not {efficiency}"
            raise ValueError(msg)
        chances = np.asarray(first_doubles, np.float64)
        if chances.ndim != 1 or not len(chances) or not ((chances > 0) & (chances < 1)).all():
            msg = "first_doubles are chances between 0 and 1"
            raise ValueError(msg)
        return _Recursion(length, rules, _kinds(shares, rules), efficiency, chances).run()

    # --------------------------------------------------------------------------------- reading

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> MatchEquity:
        """Read a file of gnubg's kind (XML, ``<met>``).

        Raises
        ------
        FormatError
            If it is none, is larger than a megabyte, or gives formulas in place of a table.
        OSError
            If it cannot be read.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.MatchEquity.read("no such file")
        Traceback (most recent call last):
            ...
        FileNotFoundError: ...
        """
        path = Path(path)
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        return cls.loads(raw)

    @classmethod
    def loads(cls, text: str | bytes) -> MatchEquity:
        """Read the text of a file of gnubg's kind; see `read`.

        Entities are not expanded and nothing is fetched: a text that declares one is refused.

        Examples
        --------
        >>> import nardcore as nc
        >>> met = nc.MatchEquity.loads('''<met><info><name>Two points</name></info>
        ... <pre-crawford-table type="explicit"><row><me>0.5</me><me>0.68</me></row>
        ... <row><me>0.32</me><me>0.5</me></row></pre-crawford-table>
        ... <post-crawford-table type="explicit" player="both"><row><me>0.5</me><me>0.49</me></row>
        ... </post-crawford-table></met>''')
        >>> met(1, 2), met(1, 2, post_crawford=True)
        (0.68, 0.51)
        """
        return _read_xml(text.encode("utf-8") if isinstance(text, str) else text)


@lru_cache(maxsize=8)
def default_table(rules: Rules, length: int = 25) -> MatchEquity:
    """Give the computed table of some rules; it is computed once.

    Examples
    --------
    >>> import nardcore as nc
    >>> default_table(nc.BACKGAMMON) is default_table(nc.BACKGAMMON)
    True
    """
    return MatchEquity.compute(length=length, rules=rules)


def whole(value: Any, name: str) -> int:
    from operator import index

    try:
        if not isinstance(value, (bool, np.bool_)):
            return index(value)
    except TypeError:
        pass
    msg = f"{name} is a whole number, not {value!r}"
    raise TypeError(msg)


def _kinds(shares: Sequence[float] | None, rules: Rules) -> dict[int, float]:
    """Give the shares of wins by their points."""
    values = np.asarray(SHARES[rules.movement] if shares is None else shares, np.float64)
    if values.shape != (5,) or not (values >= 0).all() or not abs(values.sum() - 1) < 0.01:
        msg = "shares are five numbers that add up to 1, one for each state of the loser"
        raise ValueError(msg)
    values = values / values.sum()
    found: dict[int, float] = {}
    for points, share in zip(rules.points, values.tolist(), strict=True):
        found[points] = found.get(points, 0.0) + share
    return found


class _Recursion:
    """A table in the making: scores with fewer points to go first."""

    def __init__(
        self,
        length: int,
        rules: Rules,
        kinds: dict[int, float],
        efficiency: float,
        first_doubles: NDArray[np.float64],
    ) -> None:
        self.rules, self.kinds = rules, kinds
        self.efficiency, self.first_doubles = efficiency, first_doubles
        self.crawford = rules.stake == "cube" and rules.crawford
        self.made = MatchEquity(
            f"computed for {rules.name}",
            np.full((length, length), 0.5),
            np.full((2, length), 0.5),
            self.crawford,
        )

    def run(self) -> MatchEquity:
        length, made = self.made.length, self.made
        made.table.setflags(write=True)
        made.trailing.setflags(write=True)
        for away in range(2, length + 1):
            made.trailing[:, away - 1] = self.after_crawford(away)
        for both in range(3, 2 * length):
            for mine in range(max(1, both - length), (both + 1) // 2):
                theirs = both - mine
                value = self.game(mine, theirs)
                made.table[mine - 1, theirs - 1] = value
                # so that the two add up to one also in floating point
                made.table[theirs - 1, mine - 1] = 1 - value
        made.__post_init__()
        return made

    def after_crawford(self, away: int) -> float:
        """Give the chance of the trailing side, which raises as soon as it may."""
        step = raises(self.rules, 1)(1)
        stake = 1 if step is None else step

        def after(points: int) -> float:
            left = away - points
            return 1.0 if left <= 0 else float(self.made.trailing[0][left - 1])

        won = sum(share * after(stake * points) for points, share in self.kinds.items())
        if step is None:
            return won / 2
        return float(np.minimum(self.first_doubles * won, after(1)).mean())

    def game(self, mine: int, theirs: int) -> float:
        """Give the chance of the side that needs `mine` points at the start of a game."""
        made = self.made
        if mine == 1 and not self.crawford:
            return 1 - float(made.trailing[1][theirs - 1])
        score = MatchScore((mine, theirs), made, self.crawford and mine == 1)
        shares = [np.array([share]) for share in self.kinds.values()]
        step = raises(self.rules, 1) if mine > 1 else (lambda _: None)
        model = CubeModel(score, step, tuple(self.kinds), shares, shares, self.efficiency)
        return float(model.line(1, "centred").at(np.array([0.5]))[0])


# ------------------------------------------------------------------------------------------- XML

_SPACE = re.compile(r"\s+")


def _read_xml(raw: bytes) -> MatchEquity:
    import xml.parsers.expat as expat

    if len(raw) > MOST_BYTES:
        msg = f"a match equity table takes less than {MOST_BYTES:,} bytes"
        raise FormatError(msg)
    reader = _Reader()
    # expat fetches nothing by itself. Entities are refused where they are declared, so that none
    # can be expanded.
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = _refuse_entity
    reader.line = lambda: parser.CurrentLineNumber
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        msg = f"this is no XML: {expat.ErrorString(error.code)}"
        raise FormatError(msg, line=error.lineno, column=error.offset + 1) from None
    except (ValueError, LookupError) as error:
        if isinstance(error, FormatError):
            raise
        # an encoding that Python does not know or that expat cannot use
        msg = f"this is no XML: {error}"
        raise FormatError(msg) from None
    return reader.made()


def _refuse_entity(*_: Any) -> None:
    msg = "the file declares an entity; a table needs none"
    raise FormatError(msg)


class _Reader:
    """What the elements of a file say."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.name = ""
        self.pre: list[list[float]] = []
        self.post: dict[str, list[list[float]]] = {}
        self.player = "both"
        self.content = ""
        self.line: Any = lambda: None

    def fail(self, msg: str) -> FormatError:
        return FormatError(msg, line=self.line())

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.path and tag != "met":
            msg = f"a match equity table is an element met, not {tag[:40]}"
            raise self.fail(msg)
        if len(self.path) > 8:
            msg = "elements are nested too deep for a table"
            raise self.fail(msg)
        if tag in ("pre-crawford-table", "post-crawford-table"):
            kind = attributes.get("type", "explicit")
            if kind != "explicit":
                msg = (
                    f"the {tag} is given by the formula {kind[:40]!r}, not by numbers; "
                    "MatchEquity.compute makes tables from parameters"
                )
                raise self.fail(msg)
        if tag == "post-crawford-table":
            self.player = attributes.get("player", "both")
            if self.player not in ("0", "1", "both") or self.player in self.post:
                msg = "a post-crawford-table is for the player 0, 1 or both, one for each"
                raise self.fail(msg)
            self.post[self.player] = []
        self.path.append(tag)
        self.content = ""
        if tag == "row":
            self.rows().append([])
            if len(self.rows()) > MOST_POINTS:
                msg = f"a table has at most {MOST_POINTS} rows"
                raise self.fail(msg)

    def rows(self) -> list[list[float]]:
        if "pre-crawford-table" in self.path:
            return self.pre
        if "post-crawford-table" in self.path:
            return self.post[self.player]
        msg = "a row outside a table"
        raise self.fail(msg)

    def text(self, some: str) -> None:
        if len(self.content) < 1000:
            self.content += some

    def end(self, tag: str) -> None:
        self.path.pop()
        if tag == "me":
            try:
                value = float(self.content)
            except ValueError:
                value = -1.0
            if not 0 <= value <= 1:
                msg = f"a chance is a number from 0 to 1, not {self.content.strip()[:40]!r}"
                raise self.fail(msg)
            rows = self.rows()
            if not rows or len(rows[-1]) >= MOST_POINTS:
                msg = f"a row holds at most {MOST_POINTS} chances"
                raise self.fail(msg)
            rows[-1].append(value)
        elif tag == "name" and self.path[-1:] == ["info"]:
            self.name = _SPACE.sub(" ", self.content).strip()
        self.content = ""

    def made(self) -> MatchEquity:
        """Check what was read and make a table of it."""
        n = len(self.pre)
        if not n or any(len(row) != n for row in self.pre):
            msg = "the table before the Crawford game is not square"
            raise FormatError(msg)
        both = self.post.get("both")
        sides = [self.post.get("0", both), self.post.get("1", both)]
        trailing = []
        for rows in sides:
            if not rows or len(rows) != 1 or len(rows[0]) < max(n - 1, 1):
                msg = f"the chances after the Crawford game are not one row of {n} for each player"
                raise FormatError(msg)
            # some tables leave the last out, a score that no match of that length comes to
            trailing.append([*rows[0], rows[0][-1]][:n])
        return MatchEquity(
            self.name or "without a name", np.array(self.pre), np.array(trailing), True
        )
