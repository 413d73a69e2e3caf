"""``nardcore evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nardcore.cli._common import (
    console,
    echo_json,
    examples,
    json_option,
    read_positions,
    rules_option,
    side,
    threads_option,
)
from nardcore.cli._search_options import (
    evaluator_option,
    open_tables,
    plies_option,
    points_name,
    scoring_option,
    tables_option,
)
from nardcore.evaluation import evaluate
from nardcore.rules import STATES

if TYPE_CHECKING:
    from nardcore._board import Position
    from nardcore.evaluation import Outcomes
    from nardcore.rules import Rules

__all__ = ["command"]


@click.command(
    "evaluate",
    epilog=examples(
        "nardcore evaluate",
        "nardcore evaluate 4HPwATDgc/ABMA --plies 2",
        "nardcore evaluate start --rules long_nardy --plies 1",
        "cat positions.txt | nardcore evaluate - --json",
    ),
)
@click.argument("position", default="start")
@rules_option
@plies_option
@evaluator_option
@scoring_option
@tables_option
@threads_option
@json_option
def command(
    position: str,
    rules: Rules | None,
    plies: int,
    evaluator: Any,
    scoring: str | tuple[int, ...] | None,
    tables: tuple[str, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what a position is worth for the side on roll, before its roll.

    POSITION is as for 'nardcore moves', by default the start; dice in its text are not used, see
    'nardcore best' for those.
    """
    opened = open_tables(tables)
    for number, one in enumerate(read_positions(position, rules)):
        found = evaluate(
            one.position,
            plies=plies,
            evaluator=evaluator,
            tables=opened,
            scoring=scoring,
            threads=threads,
        )
        if as_json:
            echo_json(_as_data(one.position, found, scoring))
        else:
            if number:
                click.echo()
            _write(one.position, found, scoring)


def _write(position: Position, found: Outcomes, scoring: str | tuple[int, ...] | None) -> None:
    from rich import box
    from rich.table import Table

    click.echo(f"{position.text()}\n{side(position)} on roll, before the roll: {found.how}\n")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("loser")
    for mover in (True, False):
        table.add_column(f"{side(position, mover)} wins", justify="right")
    p = found.probabilities
    for i, state in enumerate(STATES):
        name = state.replace("_", " ").lower()
        table.add_row(name, f"{p[i]:.3%}", f"{p[5 + i]:.3%}", end_section=i == 4)
    table.add_row("all", f"{p[:5].sum():.3%}", f"{p[5:].sum():.3%}")
    console().print(table)
    unit = points_name(scoring, position.rules)
    click.echo(f"\nequity {found.equity(scoring):+.4f} ({unit} points a game for {side(position)})")


def _as_data(
    position: Position, found: Outcomes, scoring: str | tuple[int, ...] | None
) -> dict[str, Any]:
    return {
        "position": position.text(),
        "evaluator": found.evaluator,
        "plies": found.plies,
        "exact": found.exact,
        "approximate": found.approximate,
        "probabilities": found.probabilities.tolist(),
        "inclusive": found.inclusive,
        "win": found.win,
        "equity": found.equity(scoring),
        "scoring": position.rules.scoring if scoring is None else scoring,
    }
