"""What the text exports of analysing programs say of one position."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nardcore.formats.state import MatchState

if TYPE_CHECKING:
    from nardcore.typing import Side

__all__ = ["Analysis", "Candidate", "CubeAnalysis", "decimal"]

Chances = tuple[float, float, float]


def decimal(text: str) -> float:
    """Read a number with a decimal point or comma, with or without a sign and a per cent sign.

    Parameters
    ----------
    text
        Such as ``-0,306``, ``+1.000``, ``44,57 %``. Nothing depends on the locale.

    Returns
    -------
    float
        Per cents as a share of one.

    Raises
    ------
    ValueError
        If it is no such number.

    Examples
    --------
    >>> from nardcore.formats.analysis import decimal
    >>> decimal("-0,306"), decimal("44,57 %"), decimal("8.36%")
    (-0.306, 0.4457, 0.0836)
    """
    word = text.strip().replace("\N{MINUS SIGN}", "-")
    share = word.endswith("%")
    digits = word.removesuffix("%").rstrip().replace(",", ".")
    sign = digits[:1] if digits[:1] in ("+", "-") else ""
    digits = digits[len(sign) :]
    whole, point, part = digits.partition(".")
    if not (len(digits) <= 24 and digits.isascii() and whole.isdigit()) or (
        point and not part.isdigit()
    ):
        msg = f"{text[:40]!r} is no number"
        raise ValueError(msg)
    # the point is moved in the text, so that 44.57 % is the same number as 0.4457
    return float(f"{sign}{digits}e-2" if share else f"{sign}{digits}")


def _chances(value: object, name: str) -> None:
    good = isinstance(value, tuple) and len(value) == 3
    if not good or not all(type(one) is float and math.isfinite(one) for one in value):  # type: ignore[attr-defined]
        msg = f"{name} is three floats, not {value!r}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One play that a program has judged.

    Attributes
    ----------
    rank : int
        1 for the best.
    play : str
        As the program writes it, in the own numbers of the side on roll.
    equity : float
        For the side on roll, as the program counts it.
    loss : float
        What it gives away against the best, 0 or less.
    player, opponent : (float, float, float)
        Chances to win, to win a gammon or more, to win a backgammon.
    depth : str
        How deep the program looked, in its words.

    Examples
    --------
    >>> from nardcore.formats import Candidate
    >>> Candidate(1, "8/5 6/5", 0.16).loss
    0.0
    """

    rank: int
    play: str
    equity: float
    loss: float = 0.0
    player: Chances = (0.0, 0.0, 0.0)
    opponent: Chances = (0.0, 0.0, 0.0)
    depth: str = ""

    def __post_init__(self) -> None:
        _chances(self.player, "player")
        _chances(self.opponent, "opponent")


@dataclass(frozen=True, slots=True)
class CubeAnalysis:
    """What a program says of a double.

    Attributes
    ----------
    player, opponent : (float, float, float)
        Chances to win, to win a gammon or more, to win a backgammon, of the side on roll and of the
        other one.
    no_double, double_take, double_pass : float
        Equities with the cube.
    cubeless_no_double, cubeless_double : float or None
        Equities without it, where they are told.
    redouble : bool
        Whether the side on roll owns the cube already.
    depth : str
        How deep the program looked, in its words.

    Examples
    --------
    >>> from nardcore.formats import CubeAnalysis
    >>> chances = (0.54, 0.18, 0.0), (0.46, 0.12, 0.0)
    >>> CubeAnalysis(*chances, no_double=0.337, double_take=0.215, double_pass=1.0).best
    'no double / take'
    """

    player: Chances
    opponent: Chances
    no_double: float
    double_take: float
    double_pass: float = 1.0
    cubeless_no_double: float | None = None
    cubeless_double: float | None = None
    redouble: bool = False
    depth: str = ""

    def __post_init__(self) -> None:
        _chances(self.player, "player")
        _chances(self.opponent, "opponent")

    @property
    def best(self) -> str:
        """The right actions, after the equities: ``double / take`` and the like."""
        double = "redouble" if self.redouble else "double"
        answer = "pass" if self.double_pass < self.double_take else "take"
        doubled = min(self.double_take, self.double_pass)
        if doubled >= self.no_double:
            return f"{double} / {answer}"
        too_good = self.no_double > self.double_pass and answer == "pass"
        return f"too good to {double} / pass" if too_good else f"no {double} / {answer}"


@dataclass(frozen=True, slots=True)
class Analysis:
    """A position with what a program said about it.

    Attributes
    ----------
    state : MatchState
        The position, the score, the cube and the names.
    source : str
        The program: ``"eXtreme Gammon"`` or ``"BGBlitz"``.
    language : str
        Of the text, such as ``"en"``.
    candidates : tuple of Candidate
        Plays, the best first; empty for a decision about the cube.
    cube : CubeAnalysis or None
        What it says of a double.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import Analysis, MatchState
    >>> Analysis(MatchState(nc.Position.start()), "BGBlitz", "de").pips
    {'w': 167, 'b': 167}
    """

    state: MatchState
    source: str
    language: str
    candidates: tuple[Candidate, ...] = ()
    cube: CubeAnalysis | None = None

    @property
    def pips(self) -> dict[Side, int]:
        """Pips of both sides."""
        mine, theirs = self.state.position.pips
        white = self.state.position.turn == "w"
        return {"w": mine, "b": theirs} if white else {"w": theirs, "b": mine}
