"""A board as an SVG picture.

One self-contained string without styles, scripts or ids, so any number of them can stand in one
page. The board brings its own ground, so it reads the same on a light and on a dark page.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from nardcore.notation import format_dice
from nardcore.render._scene import scene

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from nardcore.render._scene import Scene
    from nardcore.rules import Rules

__all__ = ["board_svg"]

# Lengths in the units of the picture.
_STEP = 40  # the width of a point
_RADIUS = 18.5
_PILE = 37  # from one checker of a stack to the next
_EDGE = 30  # the frame above and below, which carries the names
_SIDE = 10  # the frame between the trays and the world
_TRAY = 42
_WALL = 8  # between a tray and the field
_BAR = 44
_FIELD = 426
_POINT = 176  # the height of a point
_WIDTH = 2 * (_SIDE + _TRAY + _WALL) + 12 * _STEP + _BAR
_HEIGHT = 2 * _EDGE + _FIELD
_LEFT = _SIDE + _TRAY + _WALL
_RIGHT = _LEFT + 6 * _STEP + _BAR
_TOP, _BOTTOM = _EDGE, _EDGE + _FIELD
_MIDDLE = _HEIGHT / 2
_HINGE = _LEFT + 6 * _STEP + _BAR / 2  # the middle of the bar
_ROWS = 5

_FRAME = "#4a3326"
_LINE = "#2e1f17"
_FIELD_COLOUR = "#e9d9b6"
_TRAY_COLOUR = "#37261c"
_POINTS = ("#b5763f", "#8a5230")  # the lighter and the darker
_NAMES = "#f3e6cc"
_ACCENT = "#ffb84d"
_CHECKERS = (("#fbf5e6", "#8d7a5b", "#d9cbae"), ("#2b2a2e", "#0e0d10", "#55525b"))
_INK = ("#2b2a2e", "#fbf5e6")  # what reads on white and on black


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _tag(name: str, content: str | None = None, /, **attributes: object) -> str:
    written = "".join(
        f' {key.replace("_", "-")}="{_number(value) if isinstance(value, float) else value}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}/>" if content is None else f"<{name}{written}>{content}</{name}>"


def _group(parts: Iterable[str], /, **attributes: object) -> str:
    content = "".join(parts)
    return _tag("g", content, **attributes) if content else ""


def _column(place: int) -> float:
    """Give the middle of a place across the picture."""
    index = 12 - place if place <= 12 else place - 13
    return (_LEFT if index < 6 else _RIGHT) + _STEP * (index % 6 + 0.5)


def _triangles(seen: Scene, dark: bool) -> str:
    """Draw the twelve points of one shade as one path."""
    # White's odd points are the dark ones; black's own count is one off from that in short.
    shifted = seen.bottom != 0 and seen.rules.movement == "short"
    paths = []
    for place in range(1, 25):
        if (place % 2 == 1) is (dark is not shifted):
            tip = _BOTTOM - _POINT if place <= 12 else _TOP + _POINT
            base = _BOTTOM if place <= 12 else _TOP
            left = _number(_column(place) - _STEP / 2 + 1.5)
            paths.append(f"M{left} {base}h{_STEP - 3}L{_number(_column(place))} {tip}z")
    return _tag("path", d="".join(paths), fill=_POINTS[dark])


def _checkers(seen: Scene, colour: int) -> str:
    """Draw all checkers of one colour that are still in play."""
    stacks = [
        (_column(place), float(_TOP if place > 12 else _BOTTOM), 1 if place > 12 else -1, count)
        for place, (owner, count) in seen.stacks.items()
        if owner == colour
    ]
    if seen.bar[colour]:
        # A checker waits in the half where it enters, next to the middle.
        inwards = -1 if colour == seen.bottom else 1
        stacks.append((_HINGE, _MIDDLE, inwards, seen.bar[colour]))
    discs: list[str] = []
    rings: list[str] = []
    sizes: list[str] = []
    for x, edge, inwards, count in stacks:
        for row in range(min(count, _ROWS)):
            y = edge + inwards * (_RADIUS + 1 + row * _PILE)
            discs.append(_tag("circle", cx=x, cy=y, r=_RADIUS))
            if count > _ROWS and row == _ROWS - 1:
                sizes.append(_tag("text", str(count), x=x, y=y + 6))
            else:
                rings.append(_tag("circle", cx=x, cy=y, r=12))
    fill, stroke, ring = _CHECKERS[colour]
    return (
        _group(discs, fill=fill, stroke=stroke, stroke_width=1.5)
        + _group(rings, fill="none", stroke=ring, stroke_width=1.5)
        + _group(sizes, fill=_INK[colour], font_size=17, font_weight=700)
    )


def _trays(seen: Scene) -> str:
    """Draw the checkers that are off, each side's at its own home."""
    parts = []
    for colour in (0, 1):
        count = seen.off[colour]
        if not count:
            continue
        at_bottom = colour == seen.bottom
        # In long nardy the other side's home is opposite on the diagonal.
        right = at_bottom or seen.rules.movement == "short"
        x = _WIDTH - _SIDE - _TRAY + 4 if right else _SIDE + 4
        bars = []
        for row in range(count):
            y = _BOTTOM - 13 - 12 * row if at_bottom else _TOP + 2 + 12 * row
            bars.append(_tag("rect", x=x, y=y, width=_TRAY - 8, height=11, rx=2))
        stroke = _CHECKERS[colour][1] if colour == 0 else "#8c8992"
        parts.append(_group(bars, fill=_CHECKERS[colour][0], stroke=stroke))
        y = _BOTTOM + 21 if at_bottom else _TOP - 9
        size = _tag("text", str(count), x=x + _TRAY / 2 - 4, y=y, fill=_NAMES, font_weight=700)
        parts.append(size)
    return "".join(parts)


def _names(seen: Scene) -> str:
    names = [
        _tag("text", escape(label), x=_column(place), y=_BOTTOM + 20 if place <= 12 else _TOP - 10)
        for place, label in seen.labels.items()
    ]
    return _group(names, fill=_NAMES)


def _counts(seen: Scene) -> str:
    """Draw the pips of each side on the bar's ends, the side on roll in a bright ring."""
    parts = []
    for colour in (0, 1):
        middle = _BOTTOM + _EDGE / 2 if colour == seen.bottom else _EDGE / 2
        marked = colour in (seen.on_roll, seen.winner)
        parts.append(
            _tag(
                "rect",
                x=_HINGE - 21,
                y=middle - 11,
                width=42,
                height=22,
                rx=11,
                fill=_CHECKERS[colour][0],
                stroke=_ACCENT if marked else _CHECKERS[colour][1],
                stroke_width=3 if marked else 1,
            )
        )
        parts.append(
            _tag(
                "text",
                str(seen.pips[colour]),
                x=_HINGE,
                y=middle + 5,
                fill=_INK[colour],
                font_weight=700,
            )
        )
    return "".join(parts)


_SPOTS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


def _dice(seen: Scene) -> str:
    if seen.dice is None or seen.on_roll is None:
        return ""
    centre = (_RIGHT if seen.on_roll == seen.bottom else _LEFT) + 3 * _STEP
    fill, stroke, _ = _CHECKERS[seen.on_roll]
    parts = []
    for die, x in zip(seen.dice, (centre - 23.0, centre + 23.0), strict=True):
        parts.append(
            _tag(
                "rect",
                x=x - 17,
                y=_MIDDLE - 17,
                width=34,
                height=34,
                rx=6,
                fill=fill,
                stroke=stroke,
                stroke_width=1.5,
            )
        )
        spots = (
            _tag("circle", cx=x + 9 * across, cy=_MIDDLE + 9 * down, r=3.4)
            for across, down in _SPOTS[die]
        )
        parts.append(_group(spots, fill=_INK[seen.on_roll]))
    return _tag("g", _tag("title", format_dice(seen.dice)) + "".join(parts))


def _ground(seen: Scene) -> str:
    wells = [
        _tag("rect", x=x, y=_TOP, width=width, height=_FIELD, fill=colour, rx=3)
        for x, width, colour in (
            (_SIDE, _TRAY, _TRAY_COLOUR),
            (_WIDTH - _SIDE - _TRAY, _TRAY, _TRAY_COLOUR),
            (_LEFT, 6 * _STEP, _FIELD_COLOUR),
            (_RIGHT, 6 * _STEP, _FIELD_COLOUR),
        )
    ]
    outer = _tag("rect", width=_WIDTH, height=_HEIGHT, rx=12, fill=_FRAME)
    return (
        outer
        + _group(wells, stroke=_LINE)
        + _tag("path", d=f"M{_number(_HINGE)} {_TOP}v{_FIELD}", stroke=_LINE, stroke_width=1.5)
        + _triangles(seen, False)
        + _triangles(seen, True)
    )


def board_svg(
    board: ArrayLike,
    rules: Rules,
    *,
    numbering: str = "own",
    dice: Sequence[int] | None = None,
    view: str = "mover",
    size: int = 520,
) -> str:
    """Draw a board as an SVG picture.

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
    size
        The width in pixels; the height follows.

    Returns
    -------
    str
        An ``<svg>`` element of less than 30 kB with a title for readers who cannot see it. The
        numbers on the bar's ends are pips; the ring is round those of the side on roll.

    Raises
    ------
    PositionError
        If the board is impossible.
    ValueError
        If the size is not at least 1.

    Examples
    --------
    >>> from nardcore.rules import LONG_NARDY
    >>> board = [0] * 32
    >>> board[23], board[11], board[29] = 15, -15, 3
    >>> svg = board_svg(board, LONG_NARDY, dice=(3, 1))
    >>> svg[svg.index("<title>") + 7 : svg.index("</title>")]
    'long_nardy: white to play 3-1; white 360 pips; black 360 pips'
    """
    width = operator.index(size)
    if width < 1:
        msg = f"a picture is at least 1 pixel wide, not {width}"
        raise ValueError(msg)
    seen = scene(board, rules, numbering=numbering, dice=dice, view=view)
    title = escape(seen.title, {'"': "&quot;"})
    parts = (
        _tag("title", title),
        _ground(seen),
        _group(
            [_names(seen), _counts(seen), _checkers(seen, 0), _checkers(seen, 1), _trays(seen)],
            font_family="system-ui,sans-serif",
            font_size=14,
            text_anchor="middle",
        ),
        _dice(seen),
    )
    return _tag(
        "svg",
        "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=width,
        height=float(width * _HEIGHT / _WIDTH),
        role="img",
        aria_label=title,
    )
