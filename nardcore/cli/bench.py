"""``nardcore bench``."""

from __future__ import annotations

from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nardcore.cli._common import (
    RULES,
    console,
    echo_json,
    examples,
    json_option,
    threads_option,
)
from nardcore.rules import BACKGAMMON, LONG_NARDY, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["command"]


class _Rate(NamedTuple):
    """What was measured: so many a second."""

    work: str
    rules: str
    rate: float
    unit: str
    threads: int


@click.command(
    "bench",
    epilog=examples(
        "nardcore bench",
        "nardcore bench --threads 1 --seconds 2 --json",
        "nardcore bench --rules triktrak",
        "nardcore bench --signature",
    ),
)
@click.option("--signature", is_flag=True, help="Print the behavioural signature instead.")
@click.option(
    "--rules",
    type=RULES,
    multiple=True,
    metavar="RULES",
    help="What to measure; backgammon and long_nardy by default. May be given again.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.01, 3600),
    default=0.5,
    show_default=True,
    metavar="X",
    help="How long each measurement takes.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the games."
)
@threads_option
@json_option
def command(
    signature: bool,
    rules: tuple[Rules, ...],
    seconds: float,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure this machine, or print the behavioural signature.

    Measures whole games a second by both policies, and positions a second of which nardcore.batch
    finds all plays (on one thread). The signature is a number that changes when anything changes
    that is played; it is the same on every machine.
    """
    if signature:
        _sign(as_json)
        return
    chosen = rules or (BACKGAMMON, LONG_NARDY)
    out = console(stderr=True)
    watch: Any = out.status("measuring") if out.is_terminal else nullcontext()
    with watch:
        rates = [rate for one in chosen for rate in _measure(one, seconds, seed, threads)]
    if as_json:
        from nardcore import __version__, isa

        data = [rate._asdict() for rate in rates]
        echo_json({"version": __version__, "isa": isa(), "rates": data})
    else:
        _write(rates)


def _sign(as_json: bool) -> None:
    from nardcore import _signature

    text = _signature.text()
    if not as_json:
        click.echo(text, nl=False)
        return
    *parts, last = text.splitlines()
    _, number, digest = last.split()
    keys = ("kind", "rules", "number", "digest")
    data = [dict(zip(keys, line.split(), strict=True)) for line in parts]
    rows = [{**part, "number": int(part["number"])} for part in data]
    echo_json({"signature": int(number), "digest": digest, "parts": rows})


def _measure(rules: Rules, seconds: float, seed: int, threads: int | None) -> list[_Rate]:
    import numpy as np

    from nardcore import batch, dice
    from nardcore._board import Position
    from nardcore._signature import positions
    from nardcore._work import workers as workers_of
    from nardcore.policies import NAMES, plays_net
    from nardcore.rollouts import CHUNK, rollout

    workers = workers_of(threads, None)
    start = Position.start(rules)
    found = []
    for policy in sorted(NAMES, reverse=True):
        if policy == "net" and not plays_net(rules):
            continue

        def play(n: int, policy: str = policy) -> None:
            rollout(start, games=n, policy=policy, seed=seed, threads=workers)

        rate = _rate(play, CHUNK * workers, seconds)
        found.append(_Rate(f"{policy} games", rules.name, rate, "games/s", workers))
    boards = np.tile(positions(rules, 500), (8, 1))
    throws = np.array(dice.THROWS, np.int8)[np.arange(len(boards)) % 36]

    def generate(n: int) -> None:
        for _ in range(n // len(boards)):
            batch.plays(boards, throws, rules)

    rate = _rate(generate, len(boards), seconds)
    found.append(_Rate("batch.plays", rules.name, rate, "positions/s", 1))
    return found


def _rate(work: Callable[[int], None], unit: int, seconds: float) -> float:
    """Do a little to warm up and to see how much fits the time; then measure that."""
    begun = perf_counter()
    work(unit)
    took = max(perf_counter() - begun, 1e-6)
    n = unit * max(1, round(seconds / took))
    begun = perf_counter()
    work(n)
    return n / (perf_counter() - begun)


def _write(rates: list[_Rate]) -> None:
    from rich import box
    from rich.table import Table

    from nardcore.cli.version import sentence

    out = console()
    out.print(sentence())
    out.print()
    table = Table("work", "rules", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("a second", "threads"):
        table.add_column(heading, justify="right")
    for rate in rates:
        what = f"{rate.rate:,.0f} {rate.unit.partition('/')[0]}"
        table.add_row(rate.work, rate.rules, what, str(rate.threads))
    out.print(table)
