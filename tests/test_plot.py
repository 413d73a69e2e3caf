"""Plots say what they are given."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import nardcore as nc
from nardcore import plot

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.subplots()[1]


def test_convergence_shows_the_equity_and_its_band(ax) -> None:
    history = plot.History()
    result = nc.rollout(nc.Position.start(), games=5000, policy="linear", seed=1, progress=history)
    assert plot.convergence(history, level=0.9, exact=0.1, ax=ax) is ax
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [2048, 4096, 5000]
    assert line.get_ydata()[-1] == result.equity()
    low, high = result.ci(0.9)
    corners = ax.collections[0].get_paths()[0].vertices
    last = corners[corners[:, 0] == 5000][:, 1]
    assert (last.min(), last.max()) == pytest.approx((low, high))
    assert ax.lines[1].get_ydata()[0] == 0.1
    ax.figure.canvas.draw()


def test_a_history_may_follow_another_scoring() -> None:
    history = plot.History(scoring="single")
    result = nc.rollout(nc.Position.start(), games=3000, seed=1, progress=history)
    assert history.equity[-1] == result.equity("single")


def test_outcomes_are_ten_bars(ax) -> None:
    result = nc.rollout(nc.Position.start(), games=2000, seed=1)
    plot.outcomes(result, ax=ax)
    widths = np.array([bar.get_width() for bar in ax.patches])
    assert widths == pytest.approx(100 * result.probabilities)
    ax.figure.canvas.draw()
    plain = plot.outcomes([0.1] * 10, level=None)
    assert len(plain.patches) == 10


def test_bearoff_shows_both_sides(ax) -> None:
    p = nc.Position.from_points([2, 2, 2] + [0] * 18 + [-1, -2, -3])
    table = nc.bearoff.default()
    plot.bearoff(table, p, ax=ax)
    heights = [bar.get_height() for bar in ax.patches]
    both = np.concatenate([table.distribution(p, side=side) for side in (0, 1)])
    assert heights == pytest.approx(100 * both)
    ax.figure.canvas.draw()
    with pytest.raises(nc.TableError):
        plot.bearoff(table, nc.Position.start())


class Entry:
    def __init__(self, steps=None) -> None:
        if steps is not None:
            self.steps = steps


class Record:
    """What a record of a game looks like to a plot."""

    def positions(self):
        p = nc.Position.start()
        yield Entry(()), p
        yield Entry(), p  # an offer
        yield Entry(()), p.play("8/5 6/5", dice=(3, 1))


def test_equities_are_those_of_white(ax) -> None:
    plot.equities(Record(), evaluate=lambda p: 0.25 if p.turn == "w" else 0.5, ax=ax)
    assert ax.lines[1].get_ydata() == pytest.approx([0.25, -0.5])
    ax.figure.canvas.draw()


@pytest.mark.parametrize("values", [[], [float("nan")], [1.0, float("inf")]])
def test_no_equities_are_refused(values) -> None:
    with pytest.raises(ValueError, match="equity"):
        plot.equities(values)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        plot.convergence(plot.History())
    history = plot.History([1], [0.0], [0.1])
    with pytest.raises(ValueError, match="confidence level"):
        plot.convergence(history, level=1.0)
    with pytest.raises(ValueError, match="ten chances"):
        plot.outcomes([0.5, 0.5])
    with pytest.raises(ValueError, match="evaluate"):
        plot.equities(Record())


def test_without_matplotlib_it_says_what_is_missing(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    with pytest.raises(ImportError, match=r"nardcore\[plot\]"):
        plot.outcomes([0.1] * 10)
