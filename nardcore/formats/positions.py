"""Single positions as text: the library's own form, gnubg position IDs and XGIDs.

Every function here maps between a text and a plain board (`int8[32]`, seen by the side on roll,
see `nardcore._faults`) with its rules. Whatever is wrong with a text is a `FormatError` that says
where and what was expected; a text that reads well but describes an impossible board is one too.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from nardcore._faults import BOARD_SIZE, board_faults, check_board
from nardcore.errors import FormatError, RulesError
from nardcore.notation import as_dice
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nardcore._faults import Board

__all__ = [
    "ParsedPosition",
    "parse_position",
    "parse_position_id",
    "parse_position_text",
    "parse_xgid",
    "position_id",
    "position_text",
    "xgid",
]

_FIELDS = ("rules", "points", "bar", "off", "turn", "dice", "first")
_FIRST = ("-", "x", "o", "xo")  # indexed by the two flag bits
_STACK = re.compile(r"([xo])([0-9]{0,3})")
_RUN = re.compile(r"[1-9][0-9]?")
_PAIR = re.compile(r"([0-9]{1,3})/([0-9]{1,3})")
_DICE = re.compile(r"[1-6]{2}")
_ID_LENGTH = 14
_XGID_LENGTH = 26
_XGID_PREFIX = "XGID="
# The fields after the position: name, pattern, what is expected.
_XGID_FIELDS = (
    ("cube", r"[0-9]{1,4}", "the exponent of its value"),
    ("cube owner", r"-1|0|1", "-1, 0 or 1"),
    ("turn", r"-1|1", "1 (X) or -1 (O)"),
    ("dice", r"00|[1-6]{2}|[DBR]", "00, two dice such as 31, D, B or R"),
    ("score of X", r"[0-9]{1,6}", "a number"),
    ("score of O", r"[0-9]{1,6}", "a number"),
    ("Crawford or Jacoby", r"[0-9]{1,2}", "a number"),
    ("match length", r"[0-9]{1,6}", "a number"),
    ("cube limit", r"[0-9]{1,4}", "a number"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ParsedPosition:
    """What a text says: a board, the rules it is read under, and the dice if they are thrown.

    Examples
    --------
    >>> found = parse_position("4HPwATDgc/ABMA")
    >>> found.rules.name, found.dice, int(found.board[5])
    ('backgammon', None, 5)
    """

    board: Board
    """Read-only `int8[32]`, seen by the side on roll."""
    rules: Rules
    """The rules named by the text, or those it was read under."""
    dice: tuple[int, int] | None
    """The dice to play, the larger first; None before the roll."""


class _Source:
    """A text being read, which knows how to say where something in it is wrong."""

    def __init__(self, text: object) -> None:
        if not isinstance(text, str):
            msg = f"expected text, not {type(text).__name__}"
            raise TypeError(msg)
        self.text = text

    def tokens(self, separator: str, start: int = 0, end: int | None = None) -> list[_Token]:
        """Split by a pattern, remembering where each piece stands."""
        end = len(self.text) if end is None else end
        pieces = []
        at = start
        for match in re.compile(separator).finditer(self.text, start, end):
            pieces.append(_Token(self, self.text[at : match.start()], at))
            at = match.end()
        pieces.append(_Token(self, self.text[at:end], at))
        return pieces

    def fail(self, what: str, at: int, cause: Exception | None = None) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        raise FormatError(what, line=line, column=column) from cause


class _Token(str):
    """A piece of a source."""

    __slots__ = ("at", "source")
    source: _Source
    at: int

    def __new__(cls, source: _Source, text: str, at: int) -> _Token:
        self = super().__new__(cls, text)
        self.source, self.at = source, at
        return self

    def tokens(self, separator: str) -> list[_Token]:
        return self.source.tokens(separator, self.at, self.at + len(self))

    def stripped(self) -> _Token:
        return _Token(self.source, self.strip(), self.at + len(self) - len(self.lstrip()))

    def shown(self) -> str:
        return repr(str(self) if len(self) <= 40 else self[:39] + "…")

    def fail(self, what: str, cause: Exception | None = None) -> NoReturn:
        self.source.fail(what, self.at, cause)


def _whole(text: object) -> _Token:
    """Take a whole text without the blanks around it."""
    source = _Source(text)
    return _Token(source, source.text, 0).stripped()


def _finish(whole: _Token, numbers: Sequence[int], rules: Rules, dice: str) -> ParsedPosition:
    """Check a board and freeze it."""
    faults = board_faults(numbers, rules)
    if faults:
        whole.fail("an impossible position: " + "; ".join(faults))
    board = np.array(numbers, dtype=np.int8)
    board.flags.writeable = False
    return ParsedPosition(board, rules, as_dice((int(dice[0]), int(dice[1]))) if dice else None)


# -------------------------------------------------------------------------------------- own form


def position_text(board: ArrayLike, rules: Rules, dice: Sequence[int] | None = None) -> str:
    """Write a position in the library's own form, exact for every ruleset.

    Parameters
    ----------
    board
        A possible board under `rules`, seen by the side on roll.
    rules
        Its rules.
    dice
        The dice to play, or None before the roll.

    Returns
    -------
    str
        Seven fields with one space between them: the rules by name; the points 24 to 1 of the
        side on roll, ``x`` its checkers, ``o`` the opponent's, a number alone a run of empty
        points; the bar and the checkers off, ``x/o``; the side on roll, ``w`` or ``b``; the dice
        or ``-``; the sides whose first turn is still to come, ``xo``, ``x``, ``o`` or ``-``.

    Raises
    ------
    PositionError
        If the board is impossible.

    Examples
    --------
    >>> from nardcore.rules import LONG_NARDY
    >>> board = [0] * 32
    >>> board[23], board[11], board[29] = 15, -15, 3
    >>> position_text(board, LONG_NARDY, (1, 3))
    'long_nardy x15,11,o15,11 0/0 0/0 w 31 xo'
    """
    numbers = check_board(board, rules).tolist()
    items: list[str] = []
    empty = 0
    for count in [*reversed(numbers[:24]), None]:
        if count == 0:
            empty += 1
            continue
        if empty:
            items.append(str(empty))
            empty = 0
        if count is not None:
            items.append(f"x{count}" if count > 0 else f"o{-count}")
    thrown = "-" if dice is None else "{}{}".format(*as_dice(dice))
    fields = (
        rules.name,
        ",".join(items),
        f"{numbers[24]}/{numbers[25]}",
        f"{numbers[26]}/{numbers[27]}",
        "wb"[numbers[28]],
        thrown,
        _FIRST[numbers[29]],
    )
    return " ".join(fields)


def _read_points(field: _Token) -> list[int]:
    """Read the points field; the list starts with the mover's 1-point."""
    points: list[int] = []
    for item in field.tokens(","):
        stack, run = _STACK.fullmatch(item), _RUN.fullmatch(item)
        if stack:
            count = int(stack[2] or 1)
            if not 1 <= count <= 127:
                item.fail(f"a point holds 1 checker or more, up to 127, not {count}")
            points.append(count if stack[1] == "x" else -count)
        elif run:
            points += [0] * int(run[0])
        else:
            item.fail(
                f"expected x or o with a number of checkers, or a number of empty points, "
                f"not {item.shown()}"
            )
        if len(points) > 24:
            item.fail("more than 24 points")
    if len(points) != 24:
        field.fail(f"expected 24 points, not {len(points)}")
    return points[::-1]


def _read_pair(field: _Token, name: str) -> list[int]:
    match = _PAIR.fullmatch(field)
    if match is None:
        field.fail(f"expected the {name} of the mover and the opponent, 0/0, not {field.shown()}")
    pair = [int(match[1]), int(match[2])]
    if max(pair) > 127:
        field.fail(f"expected at most 127 checkers, not {max(pair)}")
    return pair


def parse_position_text(text: str) -> ParsedPosition:
    """Read the library's own form; the inverse of `position_text`.

    Parameters
    ----------
    text
        The seven fields, with any blanks between them. ``x`` alone is one checker, neighbouring
        runs of empty points may be split, and the dice may come in either order.

    Returns
    -------
    ParsedPosition
        The board, the rules named by the text, and the dice.

    Raises
    ------
    FormatError
        If the text is malformed or describes an impossible position.

    Examples
    --------
    >>> start = parse_position_text("long_nardy x15,11,o15,11 0/0 0/0 w 31 xo")
    >>> start.rules.name, start.dice, int(start.board[23])
    ('long_nardy', (3, 1), 15)
    """
    whole = _whole(text)
    fields = whole.tokens(r"\s+")
    if len(fields) != len(_FIELDS):
        where = fields[len(_FIELDS)].at if len(fields) > len(_FIELDS) else len(text.rstrip())
        whole.source.fail(
            f"expected the {len(_FIELDS)} fields '{' '.join(_FIELDS)}', not {len(fields)}", where
        )
    name, points, bar, off, turn, dice, first = fields
    try:
        rules = Rules.parse(str(name))
    except RulesError as error:
        name.fail(f"unknown rules {name.shown()}: {error}", error)
    numbers = _read_points(points) + _read_pair(bar, "bars") + _read_pair(off, "checkers off")
    if turn not in ("w", "b"):
        turn.fail(f"expected the side on roll, w or b, not {turn.shown()}")
    if dice != "-" and not _DICE.fullmatch(dice):
        dice.fail(f"expected two dice such as 31, or -, not {dice.shown()}")
    if first not in _FIRST:
        first.fail(f"expected whose first turn is to come, xo, x, o or -, not {first.shown()}")
    numbers += ["wb".index(turn), _FIRST.index(first), 0, 0]
    return _finish(whole, numbers, rules, "" if dice == "-" else dice)


# ---------------------------------------------------------------------- what the two IDs share


def _refusal(rules: Rules, form: str) -> str | None:
    """Say why no position of these rules can be written in a foreign form, if so."""
    # Any number of checkers that rules allow fits both forms.
    if rules.movement == "short":
        return None
    return f"{form} cannot express {rules.name}, which is long nardy; use the text form"


def _expressible(board: ArrayLike, rules: Rules, form: str) -> list[int]:
    refusal = _refusal(rules, form)
    if refusal:
        raise FormatError(refusal)
    return [int(number) for number in check_board(board, rules)]


def _from_counts(
    whole: _Token, counts: tuple[list[int], list[int]], rules: Rules, turn: int, dice: str
) -> ParsedPosition:
    """Join the counts of the mover and the opponent, each by own numbers 1 to 25 (the bar)."""
    mover, opponent = counts
    numbers = [0] * BOARD_SIZE
    for point in range(1, 25):
        mine, theirs = mover[point], opponent[25 - point]
        if mine and theirs:
            whole.fail(f"both sides have checkers on point {point} of the side on roll")
        numbers[point - 1] = mine - theirs
    for side, own in enumerate(counts):
        if sum(own) > rules.checkers:
            name = ("the mover", "the opponent")[side]
            whole.fail(f"{name} has {sum(own)} checkers; {rules.name} has {rules.checkers}")
        numbers[24 + side] = own[25]
        numbers[26 + side] = rules.checkers - sum(own)
    numbers[28] = turn
    return _finish(whole, numbers, rules, dice)


# ------------------------------------------------------------------------------------ position ID


def position_id(board: ArrayLike, rules: Rules) -> str:
    """Write a short position as a gnubg position ID.

    An ID is seen by the side on roll; it knows neither colours nor dice, and the checkers off
    follow from the number of checkers in the rules.

    Parameters
    ----------
    board
        A possible board under `rules`.
    rules
        Rules of short nardy.

    Returns
    -------
    str
        14 characters.

    Raises
    ------
    FormatError
        If an ID cannot express these rules.
    PositionError
        If the board is impossible.

    Examples
    --------
    >>> from nardcore.rules import BACKGAMMON
    >>> position_id(parse_position_id("4HPwATDgc/ABMA").board, BACKGAMMON)
    '4HPwATDgc/ABMA'
    """
    numbers = _expressible(board, rules, "a position ID")
    points = numbers[:24]
    mover = [*(max(count, 0) for count in points), numbers[24]]
    opponent = [*(max(-count, 0) for count in reversed(points)), numbers[25]]
    bits = position = 0
    for count in opponent + mover:
        bits |= ((1 << count) - 1) << position
        position += count + 1
    return base64.b64encode(bits.to_bytes(10, "little")).decode("ascii").rstrip("=")


def parse_position_id(text: str, rules: Rules = BACKGAMMON, turn: str = "w") -> ParsedPosition:
    """Read a gnubg position ID; the inverse of `position_id`.

    Parameters
    ----------
    text
        The 14 characters.
    rules
        Rules of short nardy; checkers missing from the board are off.
    turn
        The colour to give to the side on roll, which an ID does not know: ``"w"`` or ``"b"``.

    Returns
    -------
    ParsedPosition
        The board, the given rules and no dice.

    Raises
    ------
    FormatError
        If the text is no position ID or these rules cannot be expressed by one.

    Examples
    --------
    >>> parse_position_id("4HPwATDgc/ABMA").board[:8].tolist()
    [-2, 0, 0, 0, 0, 5, 0, 3]
    """
    if turn not in ("w", "b"):
        msg = f"unknown side {turn!r}; expected 'w' or 'b'"
        raise ValueError(msg)
    whole = _whole(text)
    refusal = _refusal(rules, "a position ID")
    if refusal:
        whole.fail(refusal)
    if len(whole) != _ID_LENGTH:
        whole.fail(f"expected the {_ID_LENGTH} characters of a position ID, not {len(whole)}")
    try:
        data = base64.b64decode(whole + "==", validate=True)
    except (binascii.Error, ValueError) as error:
        whole.fail(f"{whole.shown()} is no position ID: not in the base64 alphabet", error)
    # Each own number is a run of ones closed by a zero: 25 of them a side, the opponent first.
    counts = [0]
    bits = int.from_bytes(data, "little")
    for position in range(8 * len(data)):
        if len(counts) > 50:
            break
        if bits >> position & 1:
            counts[-1] += 1
        else:
            counts.append(0)
    if len(counts) <= 50:
        whole.fail(f"{whole.shown()} is no position ID: more than 15 checkers a side")
    rest = bits >> (sum(counts[:50]) + 50)
    if rest or base64.b64encode(data).decode("ascii") != whole + "==":
        whole.fail(f"{whole.shown()} is no position ID: bits are left over at its end")
    return _from_counts(
        whole, ([0, *counts[25:50]], [0, *counts[:25]]), rules, "wb".index(turn), ""
    )


# ------------------------------------------------------------------------------------------- XGID


def xgid(board: ArrayLike, rules: Rules, dice: Sequence[int] | None = None) -> str:
    """Write a short position as an XGID, white being its X and black its O.

    Parameters
    ----------
    board
        A possible board under `rules`.
    rules
        Rules of short nardy.
    dice
        The dice to play, or None before the roll.

    Returns
    -------
    str
        With a centred cube on 1 and an unlimited game at 0-0.

    Raises
    ------
    FormatError
        If an XGID cannot express these rules.
    PositionError
        If the board is impossible.

    Examples
    --------
    >>> from nardcore.rules import BACKGAMMON
    >>> xgid(parse_position_id("4HPwATDgc/ABMA").board, BACKGAMMON, (3, 1))
    'XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10'
    """
    numbers = _expressible(board, rules, "an XGID")
    thrown = "00" if dice is None else "{}{}".format(*as_dice(dice))
    white, black = [*numbers[:24]], numbers[24:26]
    if numbers[28]:
        white, black = [-count for count in reversed(white)], black[::-1]
    places = [-black[1], *white, black[0]]
    letters = "".join(
        "-" if count == 0 else chr(64 + count) if count > 0 else chr(96 - count) for count in places
    )
    return f"{_XGID_PREFIX}{letters}:0:0:{-1 if numbers[28] else 1}:{thrown}:0:0:0:0:10"


def parse_xgid(text: str, rules: Rules = BACKGAMMON) -> ParsedPosition:
    """Read the position of an XGID, its X as white and its O as black.

    Parameters
    ----------
    text
        ``XGID=position:cube:owner:turn:dice:…`` with or without the prefix. Fields left out at
        the end count as a game just begun with X on roll; cube, score and match are checked but
        not kept.
    rules
        Rules of short nardy; checkers missing from the board are off.

    Returns
    -------
    ParsedPosition
        The board seen by the side on roll, the given rules and the dice.

    Raises
    ------
    FormatError
        If the text is no XGID or these rules cannot be expressed by one.

    Examples
    --------
    >>> parsed = parse_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:-1:31:0:0:0:0:10")
    >>> int(parsed.board[28]), parsed.dice, parsed.board[:8].tolist()
    (1, (3, 1), [-2, 0, 0, 0, 0, 5, 0, 3])
    """
    whole = _whole(text)
    refusal = _refusal(rules, "an XGID")
    if refusal:
        whole.fail(refusal)
    body = whole
    if whole[: len(_XGID_PREFIX)].upper() == _XGID_PREFIX:
        body = _Token(whole.source, whole[len(_XGID_PREFIX) :], whole.at + len(_XGID_PREFIX))
    fields = body.tokens(":")
    if len(fields) > 1 + len(_XGID_FIELDS):
        fields[1 + len(_XGID_FIELDS)].fail(
            f"expected {1 + len(_XGID_FIELDS)} fields, not {len(fields)}"
        )
    # Fields may be left out at the end.
    for field, (name, pattern, expected) in zip(fields[1:], _XGID_FIELDS, strict=False):
        if not re.fullmatch(pattern, field):
            field.fail(f"expected {expected} as the {name}, not {field.shown()}")
    places = fields[0]
    if len(places) != _XGID_LENGTH:
        places.fail(f"expected {_XGID_LENGTH} characters of a position, not {len(places)}")
    x, o = [0] * 26, [0] * 26
    for index, letter in enumerate(places):
        here = _Token(places.source, letter, places.at + index)
        if "A" <= letter <= "P" and index > 0:
            x[index] = ord(letter) - 64
        elif "a" <= letter <= "p" and index < 25:
            o[25 - index] = ord(letter) - 96
        elif letter != "-":
            allowed = "a to p" if index == 0 else "A to P" if index == 25 else "A to P, a to p"
            here.fail(f"expected {allowed} or -, not {here.shown()}")
    turn = 1 if len(fields) > 3 and fields[3] == "-1" else 0
    dice = str(fields[4]) if len(fields) > 4 and _DICE.fullmatch(fields[4]) else ""
    return _from_counts(body, (o, x) if turn else (x, o), rules, turn, dice)


# ------------------------------------------------------------------------------------------- any


def parse_position(text: str, rules: Rules | None = None) -> ParsedPosition:
    """Read a position in any of the three forms.

    Parameters
    ----------
    text
        The library's own form, an XGID or a gnubg position ID.
    rules
        What to read an XGID or a position ID under, backgammon unless given. The own form names
        its rules itself, and they stand.

    Returns
    -------
    ParsedPosition
        The board seen by the side on roll, its rules, and the dice if the text has them.

    Raises
    ------
    FormatError
        If the text is none of the three, or describes an impossible position.

    Examples
    --------
    >>> parse_position("4HPwATDgc/ABMA").rules.name
    'backgammon'
    >>> parse_position("long_nardy x15,11,o15,11 0/0 0/0 w 31 xo").dice
    (3, 1)
    >>> parse_position("hello")
    Traceback (most recent call last):
        ...
    nardcore.errors.FormatError: line 1, column 1: 'hello' is no position: expected 'rules points \
bar off turn dice first', an XGID, or the 14 characters of a position ID
    """
    whole = _whole(text)
    under = BACKGAMMON if rules is None else rules
    marked = whole[: len(_XGID_PREFIX)].upper() == _XGID_PREFIX
    if not marked and len(whole.split()) > 1:
        return parse_position_text(text)
    before, colon, _ = whole.partition(":")
    if not marked and len(before) == _ID_LENGTH:
        if colon:
            whole.fail("a match ID is not read here: give the 14 characters before the colon")
        return parse_position_id(text, under)
    if not marked and not colon and len(whole) != _XGID_LENGTH:
        whole.fail(
            f"{whole.shown()} is no position: expected '{' '.join(_FIELDS)}', an XGID, "
            f"or the {_ID_LENGTH} characters of a position ID"
        )
    return parse_xgid(text, under)
