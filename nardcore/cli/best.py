"""``nardcore best``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nardcore.cli._common import (
    DICE,
    console,
    echo_json,
    examples,
    json_option,
    numbering_option,
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
from nardcore.evaluation import rank_plays
from nardcore.notation import format_dice

if TYPE_CHECKING:
    from nardcore._board import Position
    from nardcore.evaluation import RankedPlay
    from nardcore.rules import Rules
    from nardcore.typing import Numbering

__all__ = ["command"]


@click.command(
    "best",
    epilog=examples(
        "nardcore best start 31",
        "nardcore best start 31 --plies 2 --top 5",
        "nardcore best start 66 --rules long_nardy --numbering roman",
        "nardcore best XGID=-b----E-C---eE---c-e----B-:0:0:1:31 --json",
        "cat positions.txt | nardcore best - 52",
    ),
)
@click.argument("position")
@click.argument("dice", type=DICE, required=False)
@rules_option
@plies_option
@evaluator_option
@scoring_option
@tables_option
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Show so many plays.",
)
@numbering_option
@threads_option
@json_option
def command(
    position: str,
    dice: tuple[int, int] | None,
    rules: Rules | None,
    plies: int,
    evaluator: Any,
    scoring: str | tuple[int, ...] | None,
    tables: tuple[str, ...],
    top: int,
    numbering: Numbering,
    threads: int | None,
    as_json: bool,
) -> None:
    """Rank the plays of a roll, the best first.

    POSITION and DICE are as for 'nardcore moves'. Equities are those of the side that plays. Plays
    that a filter took out before the last ply are shown with the plies they were rated by.
    """
    given = read_positions(position, rules)
    if dice is None and any(one.dice is None for one in given):
        msg = "the position names no dice, so DICE is needed, such as 31"
        raise click.UsageError(msg)
    opened = open_tables(tables)
    for number, one in enumerate(given):
        roll = dice or one.dice
        assert roll is not None  # checked above
        ranked = rank_plays(
            one.position,
            roll,
            plies=plies,
            evaluator=evaluator,
            tables=opened,
            scoring=scoring,
            threads=threads,
        )
        if as_json:
            echo_json(_as_data(one.position, roll, ranked, scoring, numbering))
        else:
            if number:
                click.echo()
            _write(one.position, roll, ranked, scoring, numbering, top)


def _write(
    position: Position,
    dice: tuple[int, int],
    ranked: list[RankedPlay],
    scoring: str | tuple[int, ...] | None,
    numbering: Numbering,
    top: int,
) -> None:
    from rich import box
    from rich.table import Table

    unit = points_name(scoring, position.rules)
    click.echo(f"{position.text(dice)}\n{side(position)} to play {format_dice(dice)}, {unit}\n")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("", "play"):
        table.add_column(heading)
    for heading in ("equity", "loss", "win", "win double+", "lose double+", "plies"):
        table.add_column(heading, justify="right")
    for number, one in enumerate(ranked[:top], 1):
        p = one.outcomes.probabilities
        table.add_row(
            str(number),
            one.play.notation(numbering=numbering),
            f"{one.equity:+z.4f}",
            f"{-one.loss:z.4f}" if one.loss else "",
            f"{p[:5].sum():.2%}",
            f"{p[1:5].sum():.2%}",
            f"{p[6:].sum():.2%}",
            "exact" if one.outcomes.exact else str(one.plies),
        )
    console().print(table)
    if len(ranked) > top:
        click.echo(f"\n{len(ranked) - top} more plays; --top shows them")


def _as_data(
    position: Position,
    dice: tuple[int, int],
    ranked: list[RankedPlay],
    scoring: str | tuple[int, ...] | None,
    numbering: Numbering,
) -> dict[str, Any]:
    return {
        "position": position.text(dice),
        "dice": list(dice),
        "scoring": position.rules.scoring if scoring is None else scoring,
        "evaluator": ranked[0].outcomes.evaluator,
        "plays": [
            {
                "play": one.play.notation(numbering=numbering),
                "equity": one.equity,
                "loss": one.loss,
                "plies": one.plies,
                "exact": one.outcomes.exact,
                "probabilities": one.outcomes.probabilities.tolist(),
                "result": one.play.result.text(),
            }
            for one in ranked
        ],
    }
