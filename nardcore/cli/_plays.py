"""``nardcore rollout --plays``: several plays side by side."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from nardcore.candidates import rollout_plays
from nardcore.cli._common import console, echo_json, side
from nardcore.cli._search_options import Bar, points_name
from nardcore.errors import RolloutCancelled
from nardcore.notation import format_dice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore.candidates import PlaysRollout
    from nardcore.cli._common import Given

__all__ = ["compare"]


def compare(
    given: Sequence[Given],
    dice: tuple[int, int] | None,
    plays: int | tuple[str, ...],
    confidence: float | None,
    more: dict[str, Any],
    output: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Roll out plays of each position and show them."""
    if dice is None and any(one.dice is None for one in given):
        msg = "--plays needs a roll, such as --dice 31"
        raise click.UsageError(msg)
    which: dict[str, Any] = {"limit": plays} if isinstance(plays, int) else {"plays": plays}
    for number, one in enumerate(given):
        roll = dice or one.dice
        assert roll is not None  # checked above
        begun = perf_counter()
        cancelled = False
        bar: Any = nullcontext() if quiet else Bar(_leader)
        try:
            with bar as progress:
                found = rollout_plays(
                    one.position, roll, confidence=confidence, progress=progress, **which, **more
                )
        except RolloutCancelled as stopped:
            found, cancelled = stopped.partial, True
        seconds = perf_counter() - begun
        if output is not None and found.games:
            found.save(Path(output).resolve())
        if as_json:
            echo_json(_as_data(found, more["scoring"], confidence, seconds, cancelled))
        else:
            if number:
                click.echo()
            _write(found, more["scoring"], confidence, seconds, cancelled)
        if cancelled:
            click.get_current_context().exit(130)


def _leader(found: PlaysRollout) -> str:
    best = found.ranked()[0]
    return f"{best.play} {best.equity:+.4f} ± {best.stderr:.4f}"


def _write(
    found: PlaysRollout,
    scoring: Any,
    confidence: float | None,
    seconds: float,
    cancelled: bool,
) -> None:
    from rich import box
    from rich.table import Table

    position = found.position
    unit = points_name(scoring, position.rules)
    click.echo(f"{position.text(found.dice)}\n{side(position)} to play {format_dice(found.dice)}")
    if not found.games:
        click.echo("Cancelled before the first games were finished.")
        return
    if cancelled:
        click.echo(f"Cancelled after {found.games:,} games of each play.")
    level = 0.95 if confidence is None else confidence
    ranked = found.ranked(scoring, confidence=level)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("")
    table.add_column("play")
    for heading in ("equity", "±", "loss", "±", "win"):
        table.add_column(heading, justify="right")
    table.add_column(f"worse for sure ({level:.0%})")
    if found.dropped:
        table.add_column("games", justify="right")
    for number, one in enumerate(ranked, 1):
        table.add_row(
            str(number),
            str(one.play),
            f"{one.equity:+.4f}",
            f"{one.stderr:.4f}",
            f"{one.loss:.4f}" if number > 1 else "",
            f"{one.loss_stderr:.4f}" if number > 1 else "",
            f"{1 - one.result.win:.2%}",
            "yes" if one.sure else "",
            *([f"{one.result.games:,}"] if found.dropped else []),
        )
    click.echo()
    console().print(table)
    fewer = " not dropped" if found.dropped else ""
    seed = " ".join(map(str, found.results[0].seed))
    click.echo(
        f"\n{unit} points a game for {side(position)}; {found.games:,} games of each play{fewer} "
        f"in {seconds:.1f} s, seed {seed}"
    )


def _as_data(
    found: PlaysRollout,
    scoring: Any,
    confidence: float | None,
    seconds: float,
    cancelled: bool,
) -> dict[str, Any]:
    level = 0.95 if confidence is None else confidence
    best = found.best(level, scoring) if found.games else None
    return {
        "position": found.position.text(found.dice),
        "dice": list(found.dice),
        "games": found.games,
        "seed": [str(word) for word in found.results[0].seed],
        "scoring": found.position.rules.scoring if scoring is None else scoring,
        "cancelled": cancelled,
        "confidence": level,
        "best": None if best is None else str(best),
        "plays": [
            {
                "play": str(one.play),
                "equity": one.equity,
                "stderr": one.stderr,
                "loss": one.loss,
                "loss_stderr": one.loss_stderr,
                "worse_for_sure": one.sure,
                "games": one.result.games,
                "win": 1 - one.result.win,
                "probabilities": [
                    *one.result.probabilities[5:].tolist(),
                    *one.result.probabilities[:5].tolist(),
                ],
            }
            for one in (found.ranked(scoring, confidence=level) if found.games else [])
        ],
        "seconds": round(seconds, 6),
    }
