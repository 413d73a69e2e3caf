"""What both pictures of a board show, before any drawing.

A picture has 24 places, counted as the side at the bottom counts: 1 to 12 along the bottom from
right to left, 13 to 24 along the top from left to right. Colours are absolute here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from nardcore._faults import check_board
from nardcore.notation import as_dice, format_dice, point_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from nardcore.rules import Rules

View: TypeAlias = Literal["mover", "white", "black"]
"""Who sits at the bottom, with the home at the bottom right."""

WHITE, BLACK = 0, 1
COLOURS = ("white", "black")


@dataclass(frozen=True, slots=True)
class Scene:
    """A board in absolute colours, as seen from one side of the table."""

    stacks: Mapping[int, tuple[int, int]]
    """Place to (colour, count), for every place with checkers."""
    labels: Mapping[int, str]
    """Place to the name of its point."""
    bar: tuple[int, int]
    off: tuple[int, int]
    pips: tuple[int, int]
    """White's and black's."""
    bottom: int
    """The colour at the bottom."""
    on_roll: int | None
    """The colour on roll, or None when the game is over."""
    winner: int | None
    dice: tuple[int, int] | None
    rules: Rules

    @property
    def to_play(self) -> str:
        """Say in a few words what happens next."""
        if self.winner is not None:
            return f"{COLOURS[self.winner]} has won"
        assert self.on_roll is not None
        what = "to roll" if self.dice is None else f"to play {format_dice(self.dice)}"
        return f"{COLOURS[self.on_roll]} {what}"

    @property
    def title(self) -> str:
        """Say everything that matters in one line, for a reader who cannot see the picture."""
        sides = (
            f"{COLOURS[side]} {self.pips[side]} pips"
            + (f", {self.bar[side]} on the bar" if self.bar[side] else "")
            + (f", {self.off[side]} off" if self.off[side] else "")
            for side in (WHITE, BLACK)
        )
        return f"{self.rules.name}: {self.to_play}; {'; '.join(sides)}"


def enemy_point(point: int, rules: Rules) -> int:
    """Turn one side's own number into the other's; its own inverse."""
    if rules.movement == "short":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


def scene(
    board: ArrayLike,
    rules: Rules,
    *,
    numbering: str,
    dice: Sequence[int] | None,
    view: str,
) -> Scene:
    """Lay out a possible board."""
    if view not in ("mover", *COLOURS):
        msg = f"unknown view {view!r}; expected 'mover', 'white' or 'black'"
        raise ValueError(msg)
    numbers = check_board(board, rules).tolist()
    mover = numbers[28]
    bottom = mover if view == "mover" else COLOURS.index(view)
    turned = bottom != mover
    stacks: dict[int, tuple[int, int]] = {}
    labels: dict[int, str] = {}
    pips = [25 * numbers[24], 25 * numbers[25]]
    for point in range(1, 25):
        count = numbers[point - 1]
        place = enemy_point(point, rules) if turned else point
        labels[place] = point_name(point, rules, "wb"[mover], numbering)
        if count > 0:
            stacks[place] = (mover, count)
            pips[0] += point * count
        elif count < 0:
            stacks[place] = (1 - mover, -count)
            pips[1] -= enemy_point(point, rules) * count
    won = [numbers[26 + side] == rules.checkers for side in (0, 1)]
    winner = (mover if won[0] else 1 - mover) if any(won) else None

    def coloured(pair: Sequence[int]) -> tuple[int, int]:
        return pair[mover], pair[1 - mover]

    return Scene(
        stacks=stacks,
        labels=labels,
        bar=coloured(numbers[24:26]),
        off=coloured(numbers[26:28]),
        pips=coloured(pips),
        bottom=bottom,
        on_roll=None if winner is not None else mover,
        winner=winner,
        dice=None if dice is None else as_dice(dice),
        rules=rules,
    )
