"""Names of points, written plays and written dice.

Everything here speaks in *own numbers*: each side counts the points for itself, 24 is farthest,
1 is the last point before bearing off, 25 stands for the bar and 0 for a checker borne off. The
other numberings are names for the same points, made and read at this border only.

Nothing here knows whether a play is legal; that is a question for a position.
"""

from __future__ import annotations

import operator
import re
import reprlib
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeAlias, get_args

from nardcore.errors import InvalidPlayError
from nardcore.typing import Numbering

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nardcore.rules import Rules

__all__ = [
    "BAR",
    "NUMBERINGS",
    "OFF",
    "Hop",
    "Numbering",
    "Turn",
    "as_dice",
    "format_dice",
    "format_play",
    "parse_dice",
    "parse_play",
    "parse_point",
    "point_name",
]

Turn: TypeAlias = Literal["w", "b"]
"""The side whose own numbers are meant: white or black."""

NUMBERINGS: tuple[Numbering, ...] = get_args(Numbering)
"""Every numbering, the default first."""

BAR = 25
"""The own number that stands for the bar."""

OFF = 0
"""The own number that stands for a checker borne off."""

MAX_HOPS = 4
"""A double gives four steps, so no written play has more hops."""

_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_ROMAN_TO_OWN = {name: 24 - index for index, name in enumerate(_ROMAN)}
_BAR_WORDS = frozenset({"bar", "b", "25"})
_OFF_WORDS = frozenset({"off", "o", "0"})
_PASS_WORDS = frozenset({"", "-", "pass", "cannot move", "no play", "no move", "dances"})
_TOKEN = re.compile(r"\s*([0-9]+|[A-Za-z]+|[/*(),;])")
_SHORT_NUMBER = re.compile(r"[1-9][0-9]?")
_TRADITIONAL = re.compile(r"(0?)([1-9][0-9]?)")
_DICE = re.compile(r"\s*([0-9])\s*[-,:/ ]?\s*([0-9])\s*")


class Hop(NamedTuple):
    """One written hop of one checker, in own numbers.

    Examples
    --------
    >>> Hop(8, 5, True) == (8, 5, True)
    True
    """

    source: int
    """Where the checker starts: 1 to 24, or 25 for the bar."""
    target: int
    """Where it lands: 1 to 24, or 0 for off. Several dice may lie between the two."""
    hit: bool
    """Whether the text marks a hit on the target."""


# ---------------------------------------------------------------------------------------- points


def _check_numbering(numbering: str) -> None:
    if numbering not in NUMBERINGS:
        msg = f"unknown numbering {numbering!r}; expected one of {', '.join(NUMBERINGS)}"
        raise ValueError(msg)


def _check_turn(turn: str) -> None:
    if turn not in ("w", "b"):
        msg = f"unknown side {turn!r}; expected 'w' or 'b'"
        raise ValueError(msg)


def _white_own(point: int, rules: Rules | None, turn: str) -> int:
    """Turn the own number of one side into white's; its own inverse, so it serves both ways."""
    if turn == "w":
        return point
    if rules is None:
        msg = "rules= is needed for black's points: where they lie depends on the movement"
        raise TypeError(msg)
    if rules.movement == "short":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


def _name(point: int, rules: Rules | None, turn: str, numbering: str) -> str:
    if point == BAR:
        return "bar"
    if point == OFF:
        return "off"
    if numbering == "own":
        return str(point)
    white = _white_own(point, rules, turn)
    if numbering == "through" or white <= 12:
        return str(white)
    return f"0{25 - white}" if numbering == "traditional" else _ROMAN[24 - white]


def point_name(
    point: int, rules: Rules | None = None, turn: str = "w", numbering: str = "own"
) -> str:
    """Name a point, given by its own number, in one of the four numberings.

    Parameters
    ----------
    point
        The own number of the side `turn`: 1 to 24, 25 for the bar, 0 for off.
    rules
        Only the movement matters, and only for black in a numbering other than ``"own"``.
    turn
        ``"w"`` or ``"b"``: whose own number `point` is.
    numbering
        ``"own"`` counts from the side's own end. The others are white's names, used for both
        sides: ``"through"`` is 1 to 24, ``"traditional"`` 1 to 12 then 012 to 01, ``"roman"``
        1 to 12 then XII to I.

    Returns
    -------
    str
        The name; ``"bar"`` and ``"off"`` are the same in every numbering.

    Raises
    ------
    ValueError
        If the point, the side or the numbering does not exist.

    Examples
    --------
    >>> [point_name(24, numbering=n) for n in ("own", "traditional", "through", "roman")]
    ['24', '01', '24', 'I']
    >>> from nardcore.rules import BACKGAMMON, LONG_NARDY
    >>> point_name(24, BACKGAMMON, "b", "through"), point_name(24, LONG_NARDY, "b", "through")
    ('1', '12')
    """
    _check_numbering(numbering)
    _check_turn(turn)
    number = operator.index(point)
    if not OFF <= number <= BAR:
        msg = f"there is no point {number}; points are 1 to 24, the bar is 25, off is 0"
        raise ValueError(msg)
    return _name(number, rules, turn, numbering)


def _point_or_none(text: str, rules: Rules | None, turn: str, numbering: str) -> int | None:
    """Read one name of a point without its surroundings; None if it is none."""
    word = text.lower()
    if word in _BAR_WORDS:
        return BAR
    if word in _OFF_WORDS:
        return OFF
    white: int | None = None
    if numbering == "traditional":
        match = _TRADITIONAL.fullmatch(word)
        if match and int(match[2]) <= 12:
            white = 25 - int(match[2]) if match[1] else int(match[2])
    elif _SHORT_NUMBER.fullmatch(word):
        number = int(word)
        if number <= (12 if numbering == "roman" else 24):
            white = number
    elif numbering == "roman":
        white = _ROMAN_TO_OWN.get(word.upper())
    if white is None or numbering == "own":
        return white
    return _white_own(white, rules, turn)


def parse_point(
    text: str, rules: Rules | None = None, turn: str = "w", numbering: str = "own"
) -> int:
    """Read the name of a point; the inverse of `point_name`.

    Parameters
    ----------
    text
        A name in the given numbering, or ``bar``, ``b``, ``25``, ``off``, ``o``, ``0`` in any
        case of letters.
    rules, turn, numbering
        As in `point_name`.

    Returns
    -------
    int
        The own number of the side `turn`; 25 for the bar, 0 for off.

    Raises
    ------
    InvalidPlayError
        If the text names no point in this numbering.

    Examples
    --------
    >>> parse_point("012", numbering="traditional"), parse_point("xii", numbering="roman")
    (13, 13)
    >>> parse_point("bar")
    25
    """
    _check_numbering(numbering)
    _check_turn(turn)
    point = _point_or_none(_as_text(text).strip(), rules, turn, numbering)
    if point is None:
        msg = f"{_short(text)} names no point in the {numbering} numbering; {_expected(numbering)}"
        raise InvalidPlayError(msg)
    return point


def _expected(numbering: str) -> str:
    names = {
        "own": "1 to 24",
        "through": "1 to 24",
        "traditional": "1 to 12 or 012 to 01",
        "roman": "1 to 12 or XII to I",
    }
    return f"expected {names[numbering]}, bar or off"


def _as_text(text: object) -> str:
    if not isinstance(text, str):
        msg = f"expected text, not {type(text).__name__}"
        raise TypeError(msg)
    return text


def _short(text: str, limit: int = 60) -> str:
    """Quote a piece of input for a message, cut so that no input makes a huge message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


# ----------------------------------------------------------------------------------------- plays


def _chains(hops: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Join hops into paths of single checkers, the same whatever order the hops come in.

    A hop starts where an earlier one ended whenever it can. Checkers only travel downwards, so
    with the sources in descending order whatever can precede a hop has been placed before it.
    """
    chains: list[list[int]] = []
    for source, target in sorted(hops, reverse=True):
        for chain in chains:
            if chain[-1] == source:
                chain.append(target)
                break
        else:
            chains.append([source, target])
    return sorted((tuple(chain) for chain in chains), reverse=True)


def format_play(
    steps: Iterable[tuple[int, int, bool]],
    *,
    numbering: str = "own",
    rules: Rules | None = None,
    turn: str = "w",
) -> str:
    """Write a play, farthest checkers first; one text for all orders of its steps.

    Parameters
    ----------
    steps
        ``(from, to, hit)`` in own numbers of the side `turn`, bar 25 and off 0, in any order.
        Steps of one checker are joined and every stop is named.
    numbering, rules, turn
        As in `point_name`.

    Returns
    -------
    str
        Such as ``"8/5 6/5"``, ``"bar/20"``, ``"13/7/3"``, ``"8/5*"`` or ``"8/7(2)"``; the mark of
        a hit stands where its point is first reached. No steps at all give ``"pass"``.

    Raises
    ------
    InvalidPlayError
        If a step does not lead downwards from 1 to 25 to 0 to 24.

    Examples
    --------
    >>> format_play([(6, 5, False), (8, 5, False)])
    '8/5 6/5'
    >>> format_play([(25, 20, True), (20, 16, False)]), format_play([(6, 0, False)])
    ('bar/20*/16', '6/off')
    >>> format_play([(8, 7, False)] * 2 + [(6, 5, False)] * 2)
    '8/7(2) 6/5(2)'
    >>> format_play([(24, 18, False)], numbering="traditional")
    '01/07'
    >>> format_play([])
    'pass'
    """
    _check_numbering(numbering)
    _check_turn(turn)
    hops: list[tuple[int, int]] = []
    hits: set[int] = set()
    for source, target, hit in steps:
        start, end = operator.index(source), operator.index(target)
        if not OFF <= end < start <= BAR:
            msg = f"a step leads down from 25 (bar) at most to 0 (off) at least, not {start}/{end}"
            raise InvalidPlayError(msg)
        hops.append((start, end))
        if hit:
            hits.add(end)
    if not hops:
        return "pass"
    words = []
    for chain, times in Counter(_chains(hops)).items():
        word = _name(chain[0], rules, turn, numbering)
        for stop in chain[1:]:
            word += "/" + _name(stop, rules, turn, numbering)
            if stop in hits:
                hits.remove(stop)
                word += "*"
        words.append(f"{word}({times})" if times > 1 else word)
    return " ".join(words)


class _Reader:
    """A recursive-descent reader over the tokens of one written play."""

    def __init__(self, text: str, numbering: str, rules: Rules | None, turn: str) -> None:
        self.text, self.numbering, self.rules, self.turn = text, numbering, rules, turn
        self.tokens: list[tuple[str, int]] = []
        self.next = 0
        end = len(text.rstrip())
        at = 0
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                self.fail(f"unexpected {text[at]!r}", at)
            self.tokens.append((match[1], match.start(1)))
            at = match.end()

    def fail(self, what: str, at: int | None = None) -> NoReturn:
        if at is None:
            at = self.tokens[self.next][1] if self.next < len(self.tokens) else len(self.text)
        msg = f"{_short(self.text)} is not a play: {what} at character {at + 1}"
        raise InvalidPlayError(msg)

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def accept(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.next += 1
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail(f"expected {token!r}")

    def point(self) -> int:
        point = _point_or_none(self.peek(), self.rules, self.turn, self.numbering)
        if point is None:
            self.fail(_expected(self.numbering))
        self.next += 1
        return point

    def times(self) -> int:
        if not self.accept("("):
            return 1
        word = self.peek()
        if word not in ("1", "2", "3", "4"):
            self.fail("expected a number of checkers from 1 to 4")
        self.next += 1
        self.expect(")")
        return int(word)

    def chain(self) -> list[Hop]:
        """Read one checker's path and give its hops, repeated for as many checkers as it names."""
        hops: list[Hop] = []
        source = self.point()
        while self.peek() == "/" or not hops:
            self.expect("/")
            at = self.next
            target = self.point()
            if not target < source:
                self.next = at
                self.fail("a checker only moves towards its own home and off,")
            hops.append(Hop(source, target, self.accept("*")))
            source = target
        times = self.times()
        if not hops[-1].hit and self.accept("*"):
            hops[-1] = hops[-1]._replace(hit=True)
        # Only the first of several checkers that reach a point together can hit there.
        return hops + [hop._replace(hit=False) for hop in hops] * (times - 1)

    def play(self) -> tuple[Hop, ...]:
        hops: list[Hop] = []
        while self.next < len(self.tokens):
            at = self.tokens[self.next][1]
            hops += self.chain()
            if len(hops) > MAX_HOPS:
                self.fail(f"more than {MAX_HOPS} steps", at)
            if self.peek() in (",", ";"):
                self.next += 1
        return tuple(hops)


def parse_play(
    text: str, *, numbering: str = "own", rules: Rules | None = None, turn: str = "w"
) -> tuple[Hop, ...]:
    """Read a written play; whether it is legal is for a position to say.

    Parameters
    ----------
    text
        Hops such as ``8/5*``, ``13/7/3``, ``8/7(2)``, ``bar/20``, ``6/off``, in any order, joined
        or split, with spaces or commas between them, in any case of letters. ``b`` or ``25`` is
        the bar, ``o`` or ``0`` is off. Nothing, ``-``, ``pass`` or ``cannot move`` is a pass.
    numbering, rules, turn
        As in `point_name`.

    Returns
    -------
    tuple of Hop
        ``(source, target, hit)`` in own numbers, in the order written, a hop with ``(2)`` given
        twice. A hop may span several dice (``24/13``). Empty for a pass.

    Raises
    ------
    InvalidPlayError
        If the text is not notation.

    Examples
    --------
    >>> [tuple(hop) for hop in parse_play("13/7*/3")]
    [(13, 7, True), (7, 3, False)]
    >>> [tuple(hop) for hop in parse_play("Bar/20, 6/OFF")]
    [(25, 20, False), (6, 0, False)]
    >>> len(parse_play("8/7(2) 6/5(2)")), parse_play("pass")
    (4, ())
    >>> parse_play("5/8")
    Traceback (most recent call last):
        ...
    nardcore.errors.InvalidPlayError: '5/8' is not a play: a checker only moves towards its own \
home and off, at character 3
    """
    _check_numbering(numbering)
    _check_turn(turn)
    words = " ".join(_as_text(text).lower().split())
    if words in _PASS_WORDS or (words[:1] + words[-1:] == "()" and words[1:-1] in _PASS_WORDS):
        return ()
    return _Reader(text, numbering, rules, turn).play()


# ------------------------------------------------------------------------------------------ dice


def as_dice(dice: Sequence[int]) -> tuple[int, int]:
    """Check a pair of dice and put the larger first.

    Raises
    ------
    TypeError
        If it is no pair of whole numbers.
    ValueError
        If a die is not 1 to 6.

    Examples
    --------
    >>> as_dice((1, 3))
    (3, 1)
    """
    try:
        first, second = (operator.index(die) for die in dice)
        whole = not isinstance(dice, (bytes, bytearray)) and not any(type(d) is bool for d in dice)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        msg = f"expected a pair of dice such as (3, 1), not {reprlib.repr(dice)}"
        raise TypeError(msg)
    if not (1 <= first <= 6 and 1 <= second <= 6):
        msg = f"a die shows 1 to 6, so {first}-{second} is no roll"
        raise ValueError(msg)
    return max(first, second), min(first, second)


def format_dice(dice: Sequence[int]) -> str:
    """Write dice the usual way, the larger first.

    Examples
    --------
    >>> format_dice((3, 5))
    '5-3'
    """
    return "{}-{}".format(*as_dice(dice))


def parse_dice(text: str) -> tuple[int, int]:
    """Read dice such as ``5-3``, ``53``, ``5 3`` or ``5,3``; the larger comes first.

    Raises
    ------
    ValueError
        If the text is not two numbers from 1 to 6.

    Examples
    --------
    >>> parse_dice("3-5"), parse_dice("66")
    ((5, 3), (6, 6))
    """
    match = _DICE.fullmatch(_as_text(text))
    if match is None:
        msg = f"{_short(text)} is no roll; expected two dice such as 5-3"
        raise ValueError(msg)
    return as_dice((int(match[1]), int(match[2])))
