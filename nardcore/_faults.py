"""What can be wrong with a board.

One pure list of faults, used by the native `Position`, by the array functions and by every
format, so that all of them refuse the same boards with the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardcore.errors import PositionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nardcore.rules import Rules

__all__ = ["BOARD_SIZE", "Board", "as_board", "board_faults", "check_board"]

Board: TypeAlias = NDArray[np.int8]
"""A position as 32 bytes: 24 points, bars, offs, turn, flags and two reserved bytes."""

BOARD_SIZE = 32
"""The bytes of a board."""

_SIDES = ("the mover", "the opponent")


def as_board(board: ArrayLike) -> Board:
    """Take anything array-like as a board of 32 bytes, refusing silent conversions.

    Parameters
    ----------
    board
        32 whole numbers. An `int8` array in C order is used as it is, without a copy.

    Returns
    -------
    ndarray of int8
        The board, not yet known to be possible; see `board_faults`.

    Raises
    ------
    TypeError
        If the numbers are not of an integer type.
    PositionError
        If there are not 32 of them in one row, or one does not fit a byte.

    Examples
    --------
    >>> as_board([0] * 32).dtype
    dtype('int8')
    """
    try:
        array = np.asarray(board)
    except ValueError as error:
        msg = f"a board is one row of {BOARD_SIZE} whole numbers, not nested rows"
        raise PositionError((msg,)) from error
    if array.dtype.kind not in "iu":
        msg = f"a board holds whole numbers, not {array.dtype}"
        raise TypeError(msg)
    if array.shape != (BOARD_SIZE,):
        msg = f"a board is one row of {BOARD_SIZE} numbers, not shape {array.shape}"
        raise PositionError((msg,))
    faults = tuple(
        f"entry {index} is {int(array[index])}, which does not fit a byte"
        for index in np.flatnonzero((array < -128) | (array > 127))
    )
    if faults:
        raise PositionError(faults)
    return np.ascontiguousarray(array, dtype=np.int8)


def board_faults(board: Sequence[int] | Board, rules: Rules) -> tuple[str, ...]:
    """List everything that makes a board impossible under the rules.

    Parameters
    ----------
    board
        The 32 numbers of a board, as given by `as_board`.
    rules
        The rules the board is to be played under.

    Returns
    -------
    tuple of str
        One sentence a fault, empty for a possible board. A board on which one side has borne off
        everything is possible: it is a finished game.

    Examples
    --------
    >>> from nardcore.rules import HYPERGAMMON
    >>> board = [0] * 32
    >>> board[23], board[0] = 3, -2
    >>> board_faults(board, HYPERGAMMON)
    ('the opponent has 2 checkers, not 3',)
    """
    numbers = [int(number) for number in board]
    if len(numbers) != BOARD_SIZE:
        return (f"a board is one row of {BOARD_SIZE} numbers, not {len(numbers)}",)
    points, bar, off = numbers[:24], numbers[24:26], numbers[26:28]
    turn, flags, reserved = numbers[28], numbers[29], numbers[30:]
    long = rules.movement == "long"
    faults: list[str] = []
    for side, name in enumerate(_SIDES):
        negative = False
        for place, count in (("on the bar", bar[side]), ("off", off[side])):
            if count < 0:
                negative = True
                faults.append(f"{name} has {count} checkers {place}")
        if long and bar[side] > 0:
            faults.append(f"{name} has {bar[side]} on the bar, and long nardy has no bar")
        sign = 1 - 2 * side
        total = sum(sign * count for count in points if sign * count > 0) + bar[side] + off[side]
        if total != rules.checkers and not negative:
            faults.append(f"{name} has {total} checkers, not {rules.checkers}")
    if off[0] >= rules.checkers and off[1] >= rules.checkers:
        faults.append("both sides have borne off every checker")
    if turn not in (0, 1):
        faults.append(f"the turn is {turn}; it is 0 for white or 1 for black")
    if long:
        if flags & ~0b11:
            faults.append(f"the flags are {flags}; only the two first-turn flags exist")
    elif flags:
        faults.append(f"the flags are {flags}; short nardy has no first-turn flags")
    if any(reserved):
        faults.append(f"the reserved bytes are {reserved[0]} and {reserved[1]}, not zero")
    return tuple(faults)


def check_board(board: ArrayLike, rules: Rules) -> Board:
    """Take anything array-like as a possible board.

    Raises
    ------
    TypeError
        If the numbers are not of an integer type.
    PositionError
        If the board is impossible, with every fault.

    Examples
    --------
    >>> from nardcore.rules import HYPERGAMMON
    >>> check_board([0] * 32, HYPERGAMMON)
    Traceback (most recent call last):
        ...
    nardcore.errors.PositionError: the mover has 0 checkers, not 3; the opponent has 0 checkers, \
not 3
    """
    checked = as_board(board)
    faults = board_faults(checked, rules)
    if faults:
        raise PositionError(faults)
    return checked
