"""``nardcore rollout``."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from nardcore._terms import LANGUAGES
from nardcore.cli._common import (
    COUNT,
    DICE,
    Given,
    Written,
    echo_json,
    examples,
    json_option,
    read_positions,
    rules_option,
    threads_option,
)
from nardcore.cli._plays import compare
from nardcore.cli._report import Report, Scoring
from nardcore.cli._search_options import (
    Bar,
    open_tables,
    read_evaluator,
    read_policy,
    scoring_option,
    tables_option,
)
from nardcore.errors import RolloutCancelled
from nardcore.policies import MAX_PLIES, NAMES
from nardcore.rollouts import rollout

if TYPE_CHECKING:
    from nardcore._terms import Language
    from nardcore.rollouts import RolloutResult
    from nardcore.rules import Rules

__all__ = ["command"]

GAMES = 100_000
PLAYS_GAMES = 20_736


def _plays(text: str) -> int | tuple[str, ...]:
    """Read how many plays, or which."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        if not 1 <= int(text) <= 1000:
            msg = f"--plays compares 1 to 1000 plays, not {text}"
            raise ValueError(msg)
        return int(text)
    return tuple(part.strip() for part in text.split(","))


@click.command(
    "rollout",
    epilog=examples(
        "nardcore rollout",
        "nardcore rollout --rules long_nardy --games 100k --seed 7",
        "nardcore rollout --position 4HPwATDgc/ABMA --dice 31 --target-stderr 0.005",
        "nardcore rollout --rules triktrak --policy linear,random --lang ru",
        "nardcore rollout --games 1m --seed 7 --first 1m --output second.json",
        "nardcore rollout --position - --json < positions.txt",
        "nardcore rollout --dice 31 --plays 4 --games 20k",
        "nardcore rollout --dice 31 --plays '8/5 6/5, 24/23 13/10' --confidence 0.99",
        "nardcore rollout --policy net --reduce-luck --stratified --games 1296",
    ),
)
@click.option(
    "--position",
    metavar="TEXT",
    help="nardcore's text, a gnubg position ID or an XGID; - reads one a line from standard "
    "input. The start of the rules by default.",
)
@rules_option
@click.option(
    "--dice",
    type=DICE,
    metavar="DICE",
    help="The first roll, such as 31; by default the dice of the position's text, if any.",
)
@click.option("--opening", is_flag=True, help="Throw the first roll as an opening throw.")
@click.option(
    "--games",
    type=COUNT,
    metavar="N",
    help="Games to play, such as 36000, 100k or 1e6; 100k by default. "
    "With --target-stderr at most as many, without limit by default.",
)
@click.option(
    "--policy",
    type=Written("policy", read_policy),
    metavar="NAME",
    help=f"Who plays: {', '.join(NAMES)}, net:1 to net:3 which look ahead, or an ONNX model; two "
    "with a comma for the side on roll and the other. The net by default, linear where no net "
    "knows the rules.",
)
@click.option(
    "--target-stderr",
    type=float,
    metavar="X",
    help="Stop when the standard error of the equity is at most this.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    help="Stop after this time; games have no limit then by default.",
)
@scoring_option
@tables_option
@click.option(
    "--truncate",
    type=click.IntRange(min=1),
    metavar="N",
    help="End games after N turns with what the position is worth then.",
)
@click.option(
    "--evaluator",
    type=Written("evaluator", read_evaluator),
    metavar="NAME",
    help="What says that, and what luck is: net, a file of nets (*.npz) or an ONNX model; what "
    "plays by default.",
)
@click.option(
    "--plies",
    type=click.IntRange(0, MAX_PLIES),
    default=0,
    show_default=True,
    help="How many rolls it looks ahead where games are truncated.",
)
@click.option(
    "--reduce-luck",
    is_flag=True,
    help="Also give the numbers with the luck of the rolls taken out.",
)
@click.option("--stratified", is_flag=True, help="Spread the first two rolls evenly.")
@click.option(
    "--by-roll", is_flag=True, help="Also break the equity down by the first roll thrown."
)
@click.option(
    "--plays",
    type=Written("plays", _plays),
    metavar="PLAYS",
    help="Compare plays of the roll with the same dice: a number for the best by the policy, or "
    "plays with commas between them.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="X",
    help="With --plays: stop when one is best with this confidence, however often one looks.",
)
@click.option(
    "--drop",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="X",
    help="With --plays: no more games for a play when another is better with this confidence.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="The seed of the dice; drawn and shown by default.",
)
@click.option(
    "--first",
    type=COUNT,
    default=0,
    metavar="N",
    help="The first game's number, to go on where another rollout of the seed ended.",
)
@threads_option
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Save the result, which nardcore.RolloutResult.load reads.",
)
@click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="The language of the results' names.",
)
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(
    position: str | None,
    rules: Rules | None,
    dice: tuple[int, int] | None,
    opening: bool,
    games: int | None,
    policy: tuple[Any, Any] | None,
    target_stderr: float | None,
    seconds: float | None,
    scoring: Scoring,
    tables: tuple[str, ...],
    truncate: int | None,
    evaluator: Any,
    plies: int,
    reduce_luck: bool,
    stratified: bool,
    by_roll: bool,
    plays: int | tuple[str, ...] | None,
    confidence: float | None,
    drop: float | None,
    seed: int | None,
    first: int,
    threads: int | None,
    output: str | None,
    lang: Language,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play a position out many times and count how it ends.

    With nothing else it plays 100,000 games from the start of backgammon. Ctrl-C shows what was
    counted until then.
    """
    given = read_positions(position, rules)
    _check(given, dice, opening, output)
    for name, value in (("--confidence", confidence), ("--drop", drop)):
        if plays is None and value is not None:
            msg = f"{name} compares plays; see --plays"
            raise click.UsageError(msg)
    if confidence is not None and drop is not None and drop < confidence:
        msg = "--drop is at least --confidence"
        raise click.UsageError(msg)
    open_ended = target_stderr is not None or seconds is not None or confidence is not None
    if games is None and not open_ended:
        games = GAMES if plays is None else PLAYS_GAMES
    # A seed that JSON numbers and people can still carry around.
    seed = secrets.randbits(53) if seed is None else seed
    more: dict[str, Any] = {
        "games": games,
        "policy": policy,
        "seed": seed,
        "target_stderr": target_stderr,
        "seconds": seconds,
        "scoring": scoring,
        "tables": open_tables(tables),
        "truncate": truncate,
        "evaluator": evaluator,
        "plies": plies,
        "variance_reduction": reduce_luck,
        "stratified": stratified,
        "first": first,
        "threads": threads,
    }
    if plays is not None:
        compare(given, dice, plays, confidence, {**more, "drop": drop}, output, as_json, quiet)
        return
    for number, one in enumerate(given):
        roll = dice or one.dice
        bar: Any = nullcontext() if quiet else Bar(partial(_so_far, scoring))
        begun = perf_counter()
        try:
            with bar as progress:
                result = rollout(
                    one.position, dice=roll, opening=opening, progress=progress, **more
                )
            cancelled = False
        except RolloutCancelled as stopped:
            result = stopped.partial
            cancelled = True
        report = Report(result, scoring, lang, perf_counter() - begun, threads, cancelled, by_roll)
        failure = _save(result, output)
        if as_json:
            echo_json(report.data())
        else:
            if number:
                click.echo()
            report.write()
        if failure is not None:
            raise failure
        if cancelled:
            click.get_current_context().exit(130)


# ------------------------------------------------------------------------------------- the request


def _check(
    given: list[Given], dice: tuple[int, int] | None, opening: bool, output: str | None
) -> None:
    """Refuse before the work begins what would be refused after it."""
    for one in given:
        if one.position.outcome is not None:
            msg = f"the game is over in {one.position.text()}"
            raise click.UsageError(msg)
        if opening and (dice or one.dice):
            msg = "the first roll is either an opening throw or known"
            raise click.UsageError(msg)
    if output is None:
        return
    if len(given) > 1:
        msg = "one file takes one result, so --output needs one position"
        raise click.UsageError(msg)
    target = Path(output).resolve()
    if target.exists() and not target.is_file():
        msg = f"{output}: is no regular file"
        raise click.ClickException(msg)
    # Saving makes a new file beside the old one, so that is what must be possible.
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    except OSError as error:
        msg = f"{output}: {error.strerror}"
        raise click.ClickException(msg) from error
    os.close(handle)
    Path(name).unlink()


def _save(result: RolloutResult, output: str | None) -> Exception | None:
    """Save a result; what goes wrong is given back, for the result is still to be shown."""
    if output is None or not result.games:
        return None
    try:
        result.save(Path(output).resolve())
    except OSError as error:
        return click.ClickException(f"{output}: {error.strerror or error}")
    return None


def _so_far(scoring: Scoring, result: RolloutResult) -> str:
    equity, error = result.estimate(scoring)
    return f"equity {equity:+.4f} ± {error:.4f}"
