"""Boards from what people write: checkers by side, or 24 signed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from nardcore.errors import PositionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore._faults import Board
    from nardcore.rules import Rules

__all__ = ["board_from_points", "board_from_sides", "enemy_index", "first_turn_flags"]

_SIDES = ("the mover", "the opponent")


def enemy_index(place: int, rules: Rules) -> int:
    """Turn one side's index 0..23 of a point into the other side's index of the same point."""
    return (place + 12) % 24 if rules.movement == "long" else 23 - place


def _count(value: object, what: str) -> int:
    if isinstance(value, bool):
        msg = f"{what} is a whole number, not {value!r}"
        raise TypeError(msg)
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{what} is a whole number, not {value!r}"
        raise TypeError(msg) from None


def first_turn_flags(board: Sequence[int] | Board, rules: Rules) -> int:
    """Say whose first turn is to come: that of each side with every checker on its head."""
    if rules.movement != "long":
        return 0
    mover = board[23] == rules.checkers
    opponent = -board[enemy_index(23, rules)] == rules.checkers
    return int(mover) + 2 * int(opponent)


def _finish(
    numbers: list[int],
    turn: str,
    first_turns: tuple[bool, bool] | None,
    rules: Rules,
    faults: list[str],
) -> Board:
    if turn not in ("w", "b"):
        faults.append(f"the turn is {turn!r}; it is 'w' for white or 'b' for black")
    numbers[28] = int(turn == "b")
    if first_turns is None:
        numbers[29] = first_turn_flags(numbers, rules)
    else:
        mover, opponent = first_turns
        numbers[29] = int(bool(mover)) + 2 * int(bool(opponent))
    faults += [f"{n} checkers do not fit a point" for n in numbers if not -128 <= n <= 127]
    if faults:
        raise PositionError(tuple(faults))
    return np.array(numbers, dtype=np.int8)


def board_from_sides(
    mover: Mapping[int | str, int],
    opponent: Mapping[int | str, int],
    turn: str,
    first_turns: tuple[bool, bool] | None,
    rules: Rules,
) -> Board:
    """Build a board of the checkers of each side, each in its own numbers."""
    numbers = [0] * 32
    faults: list[str] = []
    for side, checkers in enumerate((mover, opponent)):
        name = _SIDES[side]
        if not isinstance(checkers, Mapping):
            kind = type(checkers).__name__  # type: ignore[unreachable]
            msg = f"the checkers of {name} are a mapping such as {{6: 5, 'bar': 1}}, not {kind}"
            raise TypeError(msg)
        placed = 0
        off: int | None = None
        for place, value in checkers.items():
            n = _count(value, f"the number of checkers on {place}")
            if n < 0:
                faults.append(f"{name} has {n} checkers on {place}")
                continue
            if place == "off":
                off = n
                continue
            placed += n
            if place == "bar":
                numbers[24 + side] = n
                continue
            point = _count(place, "a point")
            if not 1 <= point <= 24:
                faults.append(f"{name} has checkers on {point}; points are 1 to 24")
                continue
            at = point - 1 if side == 0 else enemy_index(point - 1, rules)
            if side == 1 and numbers[at] > 0 and n > 0:
                faults.append(f"both sides stand on the mover's point {at + 1}")
            elif n > 0:
                numbers[at] = n if side == 0 else -n
        if placed > rules.checkers and off is None:
            faults.append(f"{name} has {placed} checkers, not {rules.checkers}")
        numbers[26 + side] = max(0, rules.checkers - placed) if off is None else off
    return _finish(numbers, turn, first_turns, rules, faults)


def board_from_points(
    points: Sequence[int],
    bar: tuple[int, int],
    off: tuple[int, int] | None,
    turn: str,
    first_turns: tuple[bool, bool] | None,
    rules: Rules,
) -> Board:
    """Build a board of 24 signed numbers for the mover's points 1 to 24."""
    given = [_count(n, "the number of checkers on a point") for n in points]
    if len(given) != 24:
        raise PositionError((f"there are 24 points, not {len(given)}",))
    on_bar = [_count(n, "the number of checkers on the bar") for n in bar]
    if off is None:
        placed = (
            sum(n for n in given if n > 0) + on_bar[0],
            -sum(n for n in given if n < 0) + on_bar[1],
        )
        borne = [max(0, rules.checkers - n) for n in placed]
    else:
        borne = [_count(n, "the number of checkers off") for n in off]
    if len(on_bar) != 2 or len(borne) != 2:
        raise PositionError(("bar and off are pairs: the mover's, the opponent's",))
    return _finish([*given, *on_bar, *borne, 0, 0, 0, 0], turn, first_turns, rules, [])
