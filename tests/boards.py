"""Random possible boards, made without the native core, and the board of a case file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from nardcore.rules import PRESETS, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULES = (
    *PRESETS.values(),
    Rules.parse("long_nardy+block=flat"),
    Rules.parse("backgammon+checkers=7+start=24:2,13:3,6:2+scoring=1/2/2/3/5"),
    Rules.parse("long_nardy+checkers=1+start=24:1"),
)


def enemy_point(point: int, rules: Rules) -> int:
    """The opponent's number of the mover's point."""
    if rules.movement == "short":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


@st.composite
def boards(draw: st.DrawFn, rules: Rules) -> NDArray[np.int8]:
    """Boards without a fault; checkers favour few points, so that tall stacks turn up."""
    short = rules.movement == "short"
    board = np.zeros(32, dtype=np.int8)
    mine = draw(st.sets(st.integers(1, 24), min_size=1))
    for side in (0, 1):
        if side == 0:
            places = [*mine, *([25] if short else []), 0]
        else:
            free = [p for p in range(1, 25) if enemy_point(p, rules) not in mine]
            places = [*free, *([25] if short else []), 0]
        count = rules.checkers
        for place in draw(st.lists(st.sampled_from(places), min_size=count, max_size=count)):
            if place == 0:
                board[26 + side] += 1
            elif place == 25:
                board[24 + side] += 1
            elif side == 0:
                board[place - 1] += 1
            else:
                board[enemy_point(place, rules) - 1] -= 1
    if board[26] == board[27] == rules.checkers:
        board[26] -= 1
        board[min(mine) - 1] += 1
    board[28] = draw(st.integers(0, 1))
    board[29] = 0 if short else draw(st.integers(0, 3))
    return board


ruled_boards = st.sampled_from(RULES).flatmap(
    lambda rules: st.tuples(boards(rules), st.just(rules))
)
"""Pairs of a board and its rules, over every preset and some more."""

dice = st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6)).map(
    lambda pair: (max(pair), min(pair))
)


def case_board(case: dict[str, Any], turn: int = 0) -> NDArray[np.int8]:
    """The board of a case file: both sides by own numbers, 0 off and 25 the bar."""
    me, op = case["me"], case["op"]
    board = np.zeros(32, dtype=np.int8)
    for point in range(1, 25):
        board[point - 1] = me[point] - op[25 - point]
    board[24:29] = me[25], op[25], me[0], op[0], turn
    return board


def start_board(rules: Rules, turn: int = 0) -> NDArray[np.int8]:
    """The board at the start of a game."""
    board = np.zeros(32, dtype=np.int8)
    for point, count in rules.start:
        board[point - 1] += count
        board[enemy_point(point, rules) - 1] -= count
    board[28] = turn
    board[29] = 3 if rules.movement == "long" else 0
    return board
