"""A rollout's result as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import numpy as np

from nardcore._terms import STATE_WORDS, Words, result_names, term
from nardcore._work import workers as workers_of
from nardcore.cli._common import console, side
from nardcore.notation import format_dice
from nardcore.rules import SCORING, STATES

if TYPE_CHECKING:
    from rich.table import Table

    from nardcore._terms import Language
    from nardcore.rollouts import RolloutResult

__all__ = ["Report", "Scoring"]

Scoring: TypeAlias = "str | tuple[int, ...] | None"


_ANY_WIN = Words("any win", "любая победа", "будь-яка перемога")
_OR_MORE = Words("{} or more", "{} и выше", "{} і вище")


class _Kind(NamedTuple):
    """A kind of win and what it includes: every win worth at least as much."""

    name: str
    points: int
    win: float
    loss: float


class Report:
    """A result to be shown.

    Parameters
    ----------
    result
        The result.
    scoring
        Points by the loser's state; the rules' own for None.
    lang
        The language of the names.
    seconds
        How long it took.
    threads
        How many threads were asked for.
    cancelled
        Whether it was stopped before its end.
    by_roll
        Whether to break the equity down by the first roll.
    """

    def __init__(
        self,
        result: RolloutResult,
        scoring: Scoring,
        lang: Language,
        seconds: float,
        threads: int | None,
        cancelled: bool,
        by_roll: bool = False,
    ) -> None:
        self.result = result
        self.by_roll = by_roll
        self.scoring = result.position.rules.scoring if scoring is None else scoring
        self.lang: Language = lang
        self.seconds = seconds
        self.threads = workers_of(threads, None)
        self.cancelled = cancelled
        points = SCORING[self.scoring] if isinstance(self.scoring, str) else self.scoring
        first, second, third, fourth, fifth = points
        self.points = first, second, third, fourth, fifth
        self.names = result_names(
            self.scoring if isinstance(self.scoring, str) else self.points, lang
        )

    @property
    def speed(self) -> float:
        """Games a second."""
        return self.result.games / max(self.seconds, 1e-9)

    @property
    def kinds(self) -> list[_Kind]:
        """Every kind of win by rising points, each with the dearer ones."""
        p = self.result.probabilities
        found = []
        for points in sorted(set(self.points)):
            dear = np.array(self.points) >= points
            # Tables of one's own name the states, of which several may have the same points.
            named = isinstance(self.scoring, str)
            name = self.names[self.points.index(points)] if named else f"{points}"
            found.append(_Kind(name, points, float(p[:5][dear].sum()), float(p[5:][dear].sum())))
        return found

    # ---- JSON

    def data(self) -> dict[str, Any]:
        """Give everything as JSON values: what a saved result holds, and what follows from it."""
        result = self.result
        nothing = not result.games
        low, high = result.ci(0.95, self.scoring)
        return {
            **result.to_dict(),
            "cancelled": self.cancelled,
            "scoring": self.scoring,
            "points": self.points,
            "probabilities": None if nothing else result.probabilities.tolist(),
            "probabilities_ci95": result.probability_ci(0.95).tolist(),
            "results": [
                {"name": name, "loser": state, "points": points, "win": win, "loss": loss}
                for name, state, points, win, loss in zip(
                    self.names,
                    STATES,
                    self.points,
                    result.probabilities[:5].tolist(),
                    result.probabilities[5:].tolist(),
                    strict=True,
                )
            ],
            "inclusive": [
                {"name": k.name, "points_at_least": k.points, "win": k.win, "loss": k.loss}
                for k in self.kinds
            ],
            "win": None if nothing else result.win,
            "equity": None if nothing else result.equity(self.scoring),
            "stderr": result.stderr(self.scoring),
            "ci95": [low, high],
            **self._more(),
            "mean_plies": result.mean_plies,
            "threads": self.threads,
            "seconds": round(self.seconds, 6),
            "games_per_second": round(self.speed, 1),
        }

    def _more(self) -> dict[str, Any]:
        """Give what follows where luck was taken out, and by roll."""
        result = self.result
        found: dict[str, Any] = {"probabilities_stderr": result.probability_stderr.tolist()}
        if result.reduced:
            found["reduced"] = {
                "probabilities": result.reduced_probabilities.tolist(),
                "probabilities_stderr": result.reduced_probability_stderr.tolist(),
                "equity": result.reduced_equity(self.scoring),
                "stderr": result.reduced_stderr(self.scoring),
                "ci95": list(result.reduced_ci(0.95, self.scoring)),
            }
        if self.by_roll:
            found["by_roll"] = [
                {
                    "dice": list(share.dice),
                    "games": share.games,
                    "equity": share.equity,
                    "stderr": share.stderr,
                    "reduced_equity": share.reduced_equity,
                    "reduced_stderr": share.reduced_stderr,
                }
                for share in result.by_roll(self.scoring)
            ]
        return found

    # ---- for people

    def write(self) -> None:
        """Print it on standard output."""
        result = self.result
        position = result.position
        click.echo(self._what())
        if not result.games:
            click.echo("Cancelled before the first games were finished.")
            return
        if self.cancelled:
            rest = f"--first {sum(result.ranges[-1])} with this seed goes on from here"
            click.echo(f"Cancelled after {result.games:,} games; {rest}.")
        click.echo()
        console().print(self._table())
        click.echo()
        equity, error = result.equity(self.scoring), result.stderr(self.scoring)
        low, high = result.ci(0.95, self.scoring)
        unit = self.scoring if isinstance(self.scoring, str) else "/".join(map(str, self.points))
        lines = {
            "equity": f"{equity:+.4f} ± {error:.4f}   95 % from {low:+.4f} to {high:+.4f}   "
            f"({unit} points a game for {side(position)})",
            **self._less_luck(),
            "mean plies": f"{result.mean_plies:.1f}",
            "games": f"{result.games:,} in {self.seconds:.1f} s: {self.speed:,.0f} games/s "
            f"on {self.threads} thread{'s' if self.threads > 1 else ''}",
            "seed": self._seed(),
        }
        for title, text in lines.items():
            click.echo(f"{title:<10} {text}")

        if self.by_roll:
            click.echo()
            console().print(self._rolls())

    def _less_luck(self) -> dict[str, str]:
        if not self.result.reduced:
            return {}
        equity, error = (
            self.result.reduced_equity(self.scoring),
            self.result.reduced_stderr(self.scoring),
        )
        low, high = self.result.reduced_ci(0.95, self.scoring)
        text = f"{equity:+.4f} ± {error:.4f}   95 % from {low:+.4f} to {high:+.4f}"
        return {"less luck": text}

    def _rolls(self) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column("roll")
        for heading in ("games", "equity", "±", "less luck", "±"):
            table.add_column(heading, justify="right")
        for share in self.result.by_roll(self.scoring):
            less = ["", ""]
            if share.reduced_equity is not None and share.reduced_stderr is not None:
                less = [f"{share.reduced_equity:+.4f}", f"{share.reduced_stderr:.4f}"]
            table.add_row(
                format_dice(share.dice),
                f"{share.games:,}",
                f"{share.equity:+.4f}",
                f"{share.stderr:.4f}",
                *less,
            )
        return table

    def _what(self) -> str:
        result = self.result
        mover, other = result.policies
        who = mover if mover == other else f"{mover} against {other}"
        if result.dice is not None:
            roll = f"first roll {format_dice(result.dice)}"
        elif result.opening:
            roll = "first roll an opening throw"
        else:
            roll = "before the roll"
        text = result.position.text(result.dice)
        return f"{text}\n{side(result.position)} on roll, {roll}, policy {who}"

    def _seed(self) -> str:
        first, n = self.result.ranges[0]
        words = " ".join(map(str, self.result.seed))
        return words if first == 0 else f"{words}, games {first:,} to {first + n - 1:,}"

    def _table(self) -> Table:
        from rich import box
        from rich.table import Table

        position, p, lang = self.result.position, self.result.probabilities, self.lang
        sides = (term(side(position, mover), lang) for mover in (True, False))
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column(term("result", lang))
        table.add_column(term("loser", lang))
        for heading in (term("points", lang), *sides):
            table.add_column(heading, justify="right")
        for i, state in enumerate(STATE_WORDS):
            name = self.names[i] if isinstance(self.scoring, str) else ""
            chances = _percent(p[i]), _percent(p[5 + i])
            table.add_row(name, state[lang], str(self.points[i]), *chances, end_section=i == 4)
        for place, kind in enumerate(self.kinds):
            title = _OR_MORE[lang].format(kind.name) if place else _ANY_WIN[lang]
            table.add_row(title, "", f"≥ {kind.points}", _percent(kind.win), _percent(kind.loss))
        return table


def _percent(chance: float) -> str:
    return f"{100 * chance:.3f} %"
