"""Pictures of numbers: how a rollout converges, how games end, how long a bear-off takes.

Needs matplotlib (``pip install "nardcore[plot]"``). Every function draws on the axes it is given,
or on new ones, and gives the axes back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from nardcore._terms import STATE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from nardcore._board import Position
    from nardcore.rollouts import RolloutResult

__all__ = ["History", "bearoff", "convergence", "equities", "outcomes"]

_WIN, _LOSS, _LINE = "#3b6ea5", "#b5533c", "#3b6ea5"


@dataclass
class History:
    """A rollout's equity as it grew: give it to `nardcore.rollout` as ``progress``.

    Attributes
    ----------
    games : list of int
        How many games were counted at each look.
    equity : list of float
        The equity then.
    stderr : list of float
        Its standard error.
    scoring : str, sequence of int or None
        Whose equity; the rules' own by default.

    Examples
    --------
    >>> import nardcore as nc
    >>> history = History()
    >>> r = nc.rollout(nc.Position.start(), games=1000, seed=1, progress=history)
    >>> history.games, history.equity[-1] == r.equity()
    ([432, 864, 1000], True)
    """

    games: list[int] = field(default_factory=list)
    equity: list[float] = field(default_factory=list)
    stderr: list[float] = field(default_factory=list)
    scoring: str | Sequence[int] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Take no counts; `counted` is what a rollout calls."""

    def counted(self, done: int, total: int | None, so_far: RolloutResult) -> None:
        """Note where the equity stands.

        Examples
        --------
        >>> import nardcore as nc
        >>> history = History(scoring="single")
        >>> history.counted(50, None, nc.rollout(nc.Position.start(), games=50, seed=1))
        >>> history.games
        [50]
        """
        del total
        self.games.append(done)
        self.equity.append(so_far.equity(self.scoring))
        self.stderr.append(so_far.stderr(self.scoring))


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        msg = "plots need matplotlib: pip install 'nardcore[plot]'"
        raise ImportError(msg) from error
    return plt.subplots()[1]


def convergence(
    history: History, *, level: float = 0.95, exact: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the equity of a rollout over the number of games, with its band.

    Parameters
    ----------
    history
        What the rollout left in it; see `History`.
    level
        Of the confidence intervals that make the band. Each of them holds for its number of games;
        that all do at once is less certain.
    exact
        A known value, drawn as a line.
    ax
        Axes to draw on.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import nardcore as nc
    >>> history = History()
    >>> r = nc.rollout(nc.Position.start(), games=1000, seed=1, progress=history)
    >>> convergence(history).get_xlabel()
    'games'
    """
    if not history.games:
        msg = "the history is empty; give it to nardcore.rollout as progress"
        raise ValueError(msg)
    if not 0 < level < 1:
        msg = f"a confidence level lies between 0 and 1, not {level}"
        raise ValueError(msg)
    ax = _axes(ax)
    games, equity = np.array(history.games), np.array(history.equity)
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.array(history.stderr)
    ax.fill_between(
        games,
        equity - half,
        equity + half,
        color=_LINE,
        alpha=0.25,
        linewidth=0,
        label=f"{100 * level:g} % interval",
    )
    ax.plot(games, equity, color=_LINE, label="equity")
    if exact is not None:
        ax.axhline(exact, color="black", linewidth=1, linestyle="--", label="exact")
    ax.set_xlabel("games")
    ax.set_ylabel("equity of the side on roll")
    ax.legend()
    return ax


def outcomes(
    result: RolloutResult | Sequence[float], *, level: float | None = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw how games end: the chances of the ten classes as bars.

    Parameters
    ----------
    result
        A rollout, or the ten chances.
    level
        Of the confidence intervals drawn on the bars of a rollout; None for none.
    ax
        Axes to draw on.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import nardcore as nc
    >>> ax = outcomes(nc.rollout(nc.Position.start(), games=2000, seed=1))
    >>> len(ax.patches)
    10
    """
    chances = np.asarray(getattr(result, "probabilities", result), np.float64)
    if chances.shape != (10,):
        msg = "outcomes are a rollout or ten chances"
        raise ValueError(msg)
    limits = getattr(result, "probability_ci", None)
    error = None
    if level is not None and limits is not None:
        low, high = limits(level).T
        error = np.stack([chances - low, high - chances])
    ax = _axes(ax)
    at = np.arange(5)
    for half, name, colour in ((0, "wins", _WIN), (1, "losses", _LOSS)):
        part = slice(5 * half, 5 * half + 5)
        ax.barh(
            at + (0.2 if half else -0.2),
            100 * chances[part],
            height=0.4,
            color=colour,
            label=f"{name} {100 * chances[part].sum():.1f} %",
            xerr=None if error is None else 100 * error[:, part],
            ecolor="black",
            capsize=2,
        )
    ax.set_yticks(at, [state["en"] for state in STATE_WORDS])
    ax.invert_yaxis()
    ax.set_xlabel("% of games")
    ax.set_ylabel("the loser has")
    ax.legend()
    return ax


def bearoff(table: Any, position: Position, *, ax: Axes | None = None) -> Axes:
    """Draw how many rolls each side still needs to bear off.

    Parameters
    ----------
    table
        A one-sided table, `nardcore.bearoff.OneSided`.
    position
        A position in which the sides are past each other.
    ax
        Axes to draw on.

    Returns
    -------
    Axes

    Raises
    ------
    TableError
        If the table does not hold the position.

    Examples
    --------
    >>> import nardcore as nc
    >>> p = nc.Position.from_points([2, 2, 2] + [0] * 18 + [-1, -2, -3])
    >>> bearoff(nc.bearoff.default(), p).get_xlabel()
    'rolls'
    """
    found = [table.distribution(position, side=side) for side in (0, 1)]
    ax = _axes(ax)
    names = ("on roll", "the other side")
    for side, (chances, name, colour) in enumerate(zip(found, names, (_WIN, _LOSS), strict=True)):
        rolls = np.arange(len(chances))
        mean = float(chances @ rolls)
        ax.bar(
            rolls + (0.2 if side else -0.2),
            100 * chances,
            width=0.4,
            color=colour,
            label=f"{name}: {mean:.2f} rolls",
        )
    first = min(int(np.flatnonzero(chances > 1e-4)[0]) for chances in found)
    last = max(int(np.flatnonzero(chances > 1e-4)[-1]) for chances in found)
    ax.set_xlim(first - 0.7, last + 0.7)
    ax.set_xticks(range(first, last + 1))
    ax.margins(y=0.25)  # room for the legend
    ax.set_xlabel("rolls")
    ax.set_ylabel("%")
    ax.legend()
    return ax


def equities(
    game: Any,
    *,
    evaluate: Callable[[Position], float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the equity went over a game.

    Parameters
    ----------
    game
        White's equities, one before each turn; or a record of a game, whose positions are then
        evaluated.
    evaluate
        From a position to the equity of its side on roll; needed for a record.
    ax
        Axes to draw on.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import nardcore as nc
    >>> ax = equities([0.0, 0.1, -0.2, 0.4, 1.0])
    >>> ax.get_ylabel()
    "white's equity"
    """
    positions = getattr(game, "positions", None)
    if callable(positions):
        if evaluate is None:
            msg = "a record holds no equities: give evaluate, from a position to its equity"
            raise ValueError(msg)
        values = [
            evaluate(position) * (1 if position.turn == "w" else -1)
            for entry, position in positions()
            if hasattr(entry, "steps")  # a move, not an offer or a resignation
        ]
    else:
        values = [float(value) for value in game]
    if not values or not all(math.isfinite(value) for value in values):
        msg = "there is no equity to draw" if not values else "an equity is not finite"
        raise ValueError(msg)
    ax = _axes(ax)
    turns = np.arange(1, len(values) + 1)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.plot(turns, values, color=_LINE, marker="o", markersize=3)
    heights = np.array(values)
    for sign, colour in ((1, _WIN), (-1, _LOSS)):
        ax.fill_between(
            turns,
            0,
            heights,
            where=heights * sign >= 0,
            color=colour,
            alpha=0.2,
            linewidth=0,
            interpolate=True,
        )
    ax.set_xlabel("turn")
    ax.set_ylabel("white's equity")
    return ax
