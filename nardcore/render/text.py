"""A board for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nardcore.render._scene import COLOURS, scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nardcore.render._scene import Scene
    from nardcore.rules import Rules

__all__ = ["board_text"]

_ROWS = 5  # as many checkers as fit one above the other
_SIGNS = "XO"  # white and black, as in an XGID


class _Frame(NamedTuple):
    """The characters of the frame."""

    across: str
    down: str
    top: tuple[str, str, str]
    bottom: tuple[str, str, str]


_UNICODE = _Frame("─", "│", ("┌", "┬", "┐"), ("└", "┴", "┘"))
_ASCII = _Frame("-", "|", ("+", "+", "+"), ("+", "+", "+"))


def _cells(colour: int, count: int) -> list[str]:
    """Write a stack from the edge inwards; the last cell counts what does not fit."""
    if count <= _ROWS:
        return [_SIGNS[colour]] * count + [""] * (_ROWS - count)
    return [_SIGNS[colour]] * (_ROWS - 1) + [str(count)]


def _player(seen: Scene, colour: int) -> str:
    line = (
        f"{_SIGNS[colour]} {COLOURS[colour]}   pips {seen.pips[colour]:<3}   off {seen.off[colour]}"
    )
    if colour in (seen.on_roll, seen.winner):
        line += f"   {seen.to_play.partition(' ')[2]}"
    return line


def board_text(
    board: ArrayLike,
    rules: Rules,
    *,
    numbering: str = "own",
    dice: Sequence[int] | None = None,
    view: str = "mover",
    unicode: bool = True,
) -> str:
    """Draw a board with characters, white as X and black as O.

    Parameters
    ----------
    board
        A possible board under `rules`, seen by the side on roll.
    rules
        Its rules.
    numbering
        How the points are named along the edges: ``"own"`` (the numbers of the side on roll),
        ``"traditional"``, ``"through"`` or ``"roman"``.
    dice
        The dice to play, or None before the roll.
    view
        Who has the home at the bottom right: ``"mover"``, the side on roll, ``"white"`` or
        ``"black"``.
    unicode
        Whether the frame is drawn with box characters; False keeps to ASCII.

    Returns
    -------
    str
        Lines without a newline at the end. A stack of more than five shows its size instead of
        its fifth checker. A checker on the bar stands in the half where it will enter.

    Raises
    ------
    PositionError
        If the board is impossible.

    Examples
    --------
    >>> from nardcore.rules import LONG_NARDY
    >>> board = [0] * 32
    >>> board[23], board[11], board[29] = 15, -15, 3
    >>> import nardcore.render
    >>> text = nardcore.render.board_text(board, LONG_NARDY, dice=(3, 1), unicode=False)
    >>> text.splitlines()[0], text.splitlines()[-1]
    ('O black   pips 360   off 0', 'X white   pips 360   off 0   to play 3-1')
    """
    seen = scene(board, rules, numbering=numbering, dice=dice, view=view)
    frame = _UNICODE if unicode else _ASCII
    width = max(3, 1 + max(len(label) for label in seen.labels.values()))
    margin = "  "

    def halves(cells: Sequence[str], bar: str, edge: str) -> str:
        left, right = (
            "".join(f"{cell:^{width}}" for cell in half) for half in (cells[:6], cells[6:])
        )
        return f"{edge} {left}{edge}{bar:^5}{edge} {right}{edge}"

    def rule(corners: tuple[str, str, str]) -> str:
        half = frame.across * (6 * width + 1)
        left, inner, right = corners
        return f"{left}{half}{inner}{frame.across * 5}{inner}{half}{right}"

    places = {"top": range(13, 25), "bottom": range(12, 0, -1)}
    labels = {
        side: halves([seen.labels[place] for place in row], "", " ").rstrip()
        for side, row in places.items()
    }
    columns = {
        side: [_cells(*seen.stacks.get(place, (0, 0))) for place in row]
        for side, row in places.items()
    }
    # The side at the bottom enters at the top, so that is where its checkers wait.
    top, bottom = 1 - seen.bottom, seen.bottom
    bars = {"top": _cells(bottom, seen.bar[bottom]), "bottom": _cells(top, seen.bar[top])}
    lines = [_player(seen, top), labels["top"], rule(frame.top)]
    rows = range(_ROWS)
    lines += [
        halves([c[row] for c in columns["top"]], bars["top"][row], frame.down) for row in rows
    ]
    lines.append(halves([""] * 12, "BAR" if rules.movement == "short" else "", frame.down))
    lines += [
        halves([c[row] for c in columns["bottom"]], bars["bottom"][row], frame.down)
        for row in reversed(rows)
    ]
    lines += [rule(frame.bottom), labels["bottom"], _player(seen, bottom)]
    return "\n".join(
        line if index in (0, len(lines) - 1) else margin + line for index, line in enumerate(lines)
    )
