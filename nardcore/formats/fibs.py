"""The board line of FIBS, the First Internet Backgammon Server: ``board:You:someone:...``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nardcore._board import Position
from nardcore._faults import board_faults
from nardcore.errors import FormatError
from nardcore.formats._text import fail, reader, short
from nardcore.formats.state import MatchState
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from nardcore.typing import Dice, Side

__all__ = ["fibs_board", "parse_fibs_board"]

_UNLIMITED = 9999
_NUMBERS = 50  # after the names
_NUMBER = re.compile(r"-?[0-9]{1,9}")
# where the numbers stand
_LENGTH, _SCORE, _BOARD, _TURN, _DICE, _CUBE = 0, 1, 3, 29, 30, 34
_MAY, _DOUBLED, _COLOUR, _DIRECTION, _HOME, _BAR = 35, 37, 38, 39, 40, 41
_OFF, _ON_BAR, _CAN_MOVE, _FORCED, _CRAWFORD, _REDOUBLES = 42, 44, 46, 47, 48, 49


def fibs_board(state: MatchState) -> str:
    """Write a state as a FIBS board line, seen by the side that has to do something.

    Parameters
    ----------
    state : MatchState
        White is X and moves from 24 to 1, black is O and moves from 1 to 24.

    Returns
    -------
    str
        One line.

    Raises
    ------
    FormatError
        If these rules or names cannot be written in it.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import MatchState, dumps
    >>> line = dumps(MatchState(nc.Position.start(), length=3, white="me", black="you"), "fibs")
    >>> line[:40]
    'board:me:you:3:0:0:0:2:0:0:0:0:-5:0:-3:0'
    """
    position = state.position
    if position.rules.movement != "short":
        msg = f"a FIBS board cannot express {position.rules.name}, which is long nardy"
        raise FormatError(msg)
    names = {"w": state.white or "X", "b": state.black or "O"}
    for name in names.values():
        if not name.isprintable() or ":" in name or name != name.strip():
            msg = f"a FIBS board cannot hold the name {short(name)}"
            raise FormatError(msg)
    me = state.turn
    other: Side = "b" if me == "w" else "w"
    seen = position if position.turn == "w" else position.flip()
    numbers = [0] * _NUMBERS
    numbers[_LENGTH] = state.length or _UNLIMITED
    numbers[_SCORE : _SCORE + 2] = state.score if me == "w" else state.score[::-1]
    # X's checkers are negative, and the number of a point is white's own
    points = [-count for count in seen.points]
    numbers[_BOARD + 1 : _BOARD + 25] = points
    numbers[_BOARD], numbers[_BOARD + 25] = seen.bar[1], -seen.bar[0]
    numbers[_TURN] = -1 if position.turn == "w" else 1
    if state.status == "over":
        numbers[_TURN] = 0
    if state.dice is not None:
        at = _DICE if position.turn == me else _DICE + 2
        numbers[at : at + 2] = state.dice
    numbers[_CUBE] = state.cube
    for at, side in ((_MAY, me), (_MAY + 1, other)):
        numbers[at] = int(not state.crawford and state.cube_owner in (None, side))
    numbers[_DOUBLED] = int(state.offer == "double")
    numbers[_COLOUR] = numbers[_DIRECTION] = -1 if me == "w" else 1
    numbers[_HOME], numbers[_BAR] = (0, 25) if me == "w" else (25, 0)
    counts = (seen.off, seen.bar) if me == "w" else (seen.off[::-1], seen.bar[::-1])
    numbers[_OFF : _OFF + 2], numbers[_ON_BAR : _ON_BAR + 2] = counts
    if state.dice is not None and position.turn == me and position.outcome is None:
        numbers[_CAN_MOVE] = max(play.dice_used for play in position.plays(state.dice))
    numbers[_REDOUBLES] = int(state.beavers)
    return ":".join(["board", names[me], names[other], *map(str, numbers)])


@reader
def parse_fibs_board(text: str, rules: Rules = BACKGAMMON) -> MatchState:
    """Read a FIBS board line.

    Parameters
    ----------
    text
        ``board:You:someone:`` and 50 numbers.
    rules
        Rules of short nardy; checkers missing from the board are off.

    Returns
    -------
    MatchState
        X is white. The line does not name the Crawford game: it is taken to be one where one side
        is a point away, the cube is on 1 and neither side may double.

    Raises
    ------
    FormatError
        If the text is no such line.

    Examples
    --------
    >>> from nardcore.formats import parse_fibs_board
    >>> state = parse_fibs_board(
    ...     "board:You:someone:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
    ...     "1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
    ... )
    >>> state.black, state.position.turn, state.dice, state.score
    ('You', 'b', (6, 2), (1, 0))
    """
    if rules.movement != "short":
        fail(f"a FIBS board cannot express {rules.name}, which is long nardy", text)
    if len(text) > 2000:
        fail(f"{short(text)} is no FIBS board", text)
    line = text.strip()
    parts = line.split(":")
    if parts[0].lower() != "board" or len(parts) < 3 + _NUMBERS:
        fail(f"expected 'board', two names and {_NUMBERS} numbers, not {len(parts)} fields", text)
    at = len(text) - len(text.lstrip()) + len(":".join(parts[:3])) + 1
    numbers = []
    for part in parts[3 : 3 + _NUMBERS]:
        if not _NUMBER.fullmatch(part.strip()):
            fail(f"expected a number, not {short(part)}", text, at)
        numbers.append(int(part))
        at += len(part) + 1
    return _state(text, parts[1].strip(), parts[2].strip(), numbers, rules)


def _one_of(text: str, numbers: list[int], at: int, allowed: tuple[int, ...], what: str) -> int:
    if numbers[at] not in allowed:
        fail(f"the {what} is one of {allowed}, not {numbers[at]}", text)
    return numbers[at]


def _dice(text: str, numbers: list[int]) -> Dice | None:
    for at in (_DICE, _DICE + 2):
        first, second = numbers[at : at + 2]
        if (first, second) != (0, 0):
            if not (1 <= first <= 6 and 1 <= second <= 6):
                fail(f"{first} and {second} are no dice", text)
            return max(first, second), min(first, second)
    return None


def _state(text: str, me: str, other: str, numbers: list[int], rules: Rules) -> MatchState:
    colour = _one_of(text, numbers, _COLOUR, (-1, 1), "colour")
    direction = _one_of(text, numbers, _DIRECTION, (-1, 1), "direction")
    turn = _one_of(text, numbers, _TURN, (-1, 0, 1), "turn")
    doubled = _one_of(text, numbers, _DOUBLED, (0, 1), "double")
    mine: Side = "w" if colour == -1 else "b"
    theirs: Side = "b" if mine == "w" else "w"
    # seen by the player: own numbers, own checkers positive
    row = [count * colour for count in numbers[_BOARD : _BOARD + 26]]
    if direction == 1:
        row.reverse()
    if row[25] < 0 or row[0] > 0 or max(map(abs, row)) > rules.checkers:
        fail("a bar with checkers of the wrong side, or too many checkers on a point", text)
    counts = [sum(n for n in row if n > 0), -sum(n for n in row if n < 0)]
    bars = [row[25], -row[0]]
    for side, name in ((0, "player"), (1, "opponent")):
        if numbers[_ON_BAR + side] and numbers[_ON_BAR + side] != bars[side]:
            if bars[side]:
                fail(f"the board and the bar of the {name} disagree", text)
            bars[side] = numbers[_ON_BAR + side]
            counts[side] += bars[side]
    board = [*row[1:25], *bars, *(rules.checkers - count for count in counts)]
    board += [0 if mine == "w" else 1, 0, 0, 0]
    if max(map(abs, board)) > 127 or min(board[26:28]) < 0:
        fail(f"too many checkers: {counts[0]} and {counts[1]}", text)
    faults = board_faults(board, rules)
    if faults:
        fail("an impossible position: " + "; ".join(faults), text)
    position = Position.from_board(board, rules)
    on_roll: Side = mine if turn == 0 else "w" if turn == -1 else "b"
    if doubled:
        on_roll = theirs
    if on_roll != mine:
        position = position.flip()
    length = numbers[_LENGTH]
    length = 0 if length == _UNLIMITED else length
    score = (numbers[_SCORE], numbers[_SCORE + 1])
    cube = numbers[_CUBE]
    if length < 0 or min(score) < 0 or cube < 1 or cube & (cube - 1):
        fail("a match length, a score or a cube that does not exist", text)
    may = numbers[_MAY] > 0, numbers[_MAY + 1] > 0
    owner: Side | None = None
    if may[0] != may[1] and not doubled:
        owner = mine if may[0] else theirs
    elif doubled and not may[0] and may[1]:
        owner = theirs
    away = [length - points for points in score]
    names = (me, other) if mine == "w" else (other, me)
    return MatchState(
        position,
        dice=None if doubled else _dice(text, numbers),
        cube=cube,
        cube_owner=owner,
        score=score if mine == "w" else (score[1], score[0]),
        length=length,
        crawford=length > 1 and away.count(1) == 1 and cube == 1 and may == (False, False),
        beavers=not length and numbers[_REDOUBLES] > 0,
        offer="double" if doubled else None,
        status="over" if turn == 0 else "playing",
        white="" if names[0] == "X" else names[0],
        black="" if names[1] == "O" else names[1],
    )
