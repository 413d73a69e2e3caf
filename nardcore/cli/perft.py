"""``nardcore perft``."""

from __future__ import annotations

from functools import partial
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nardcore.cli._common import echo_json, examples, json_option, read_positions, rules_option
from nardcore.notation import format_dice

if TYPE_CHECKING:
    from collections.abc import Callable

    from nardcore._board import Position
    from nardcore.rules import Rules

__all__ = ["command"]

T = TypeVar("T")


@click.command(
    "perft",
    epilog=examples(
        "nardcore perft",
        "nardcore perft --rules long_nardy --depth 3",
        "nardcore perft 4HPwATDgc/ABMA --depth 1 --divide",
        "nardcore perft start --weighted --json",
    ),
)
@click.argument("position", default="start")
@rules_option
@click.option(
    "--depth",
    type=click.IntRange(1, 30),
    default=2,
    show_default=True,
    help="Rolls in a line; the work grows some 400 times with each.",
)
@click.option(
    "--weighted", is_flag=True, help="Count a roll of two different dice twice, as it is thrown."
)
@click.option("--divide", is_flag=True, help="Split the count by the first roll and play.")
@json_option
def command(
    position: str, rules: Rules | None, depth: int, weighted: bool, divide: bool, as_json: bool
) -> None:
    """Count the tree of rolls and plays.

    The sum over the 21 rolls of distinct resulting positions, then for each of those again; a game
    that is over counts at the last roll only. POSITION is as for 'nardcore moves', by default the
    start.
    """
    for one in read_positions(position, rules):
        begun = perf_counter()
        if divide:
            counts = _divide(one.position, depth, weighted)
            total = sum(n for plays in counts.values() for n in plays.values())
        else:
            total = _patiently(partial(one.position.perft, depth, weighted=weighted))
            counts = {}
        seconds = perf_counter() - begun
        if as_json:
            data: dict[str, Any] = {
                "position": one.position.text(),
                "depth": depth,
                "weighted": weighted,
                "nodes": total,
                "seconds": round(seconds, 6),
            }
            if divide:
                data["divide"] = counts
            echo_json(data)
            continue
        for roll, plays in counts.items():
            click.echo(f"{roll} {sum(plays.values()):,}")
            for play, n in plays.items():
                click.echo(f"  {play}: {n:,}")
        click.echo(f"perft {depth} {total:,}  ({seconds:.3f} s)")


def _divide(position: Position, depth: int, weighted: bool) -> dict[str, dict[str, int]]:
    found = _patiently(partial(position.divide, depth, weighted=weighted))
    return {format_dice(roll): plays for roll, plays in found.items()}


def _patiently(work: Callable[[], T]) -> T:
    """Work in a thread, so that Ctrl-C is heard while native code counts."""
    found: list[T] = []
    faults: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as error:
            faults.append(error)

    # A daemon does not keep the process from ending.
    thread = Thread(target=do, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if faults:
        raise faults[0]
    return found[0]
