"""``nardcore rollout``."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import nullcontext
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
    console,
    echo_json,
    examples,
    json_option,
    read_positions,
    rules_option,
    threads_option,
)
from nardcore.cli._report import Report, Scoring
from nardcore.errors import RolloutCancelled
from nardcore.policies import NAMES
from nardcore.rollouts import rollout
from nardcore.rules import SCORING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from nardcore._terms import Language
    from nardcore.rollouts import RolloutResult
    from nardcore.rules import Rules

__all__ = ["command"]

GAMES = 1_000_000


def _policy(text: str) -> tuple[str, str]:
    names = text.split(",")
    for name in names:
        if name not in NAMES:
            msg = f"there is no policy {name!r}; known are {', '.join(NAMES)}"
            raise ValueError(msg)
    if len(names) > 2:
        msg = "a policy is one name, or two with a comma between them"
        raise ValueError(msg)
    return names[0], names[-1]


def _scoring(text: str) -> str | tuple[int, ...]:
    if text in SCORING:
        return text
    numbers = text.split("/")
    if len(numbers) != 5 or not all(n.isascii() and n.isdecimal() and len(n) < 10 for n in numbers):
        msg = (
            f"there is no scoring {text!r}; known are {', '.join(SCORING)} and five numbers "
            "such as 1/2/4/4/8"
        )
        raise ValueError(msg)
    return tuple(int(n) for n in numbers)


@click.command(
    "rollout",
    epilog=examples(
        "nardcore rollout",
        "nardcore rollout --rules long_nardy --games 100k --seed 7",
        "nardcore rollout --position 4HPwATDgc/ABMA --dice 31 --target-stderr 0.005",
        "nardcore rollout --rules triktrak --policy linear,random --lang ru",
        "nardcore rollout --games 1m --seed 7 --first 1m --output second.json",
        "nardcore rollout --position - --json < positions.txt",
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
    help="Games to play, such as 36000, 100k or 1e6; 1m by default. "
    "With --target-stderr at most as many, without limit by default.",
)
@click.option(
    "--policy",
    type=Written("policy", _policy),
    default="linear",
    show_default=True,
    metavar="NAME",
    help=f"Who plays: {' or '.join(NAMES)}; two with a comma for the side on roll and the other.",
)
@click.option(
    "--target-stderr",
    type=float,
    metavar="X",
    help="Stop when the standard error of the equity is at most this.",
)
@click.option(
    "--scoring",
    type=Written("scoring", _scoring),
    metavar="NAME",
    help=f"Points by the loser's state: {', '.join(SCORING)} or such as 1/2/4/4/8; "
    "the rules' own by default.",
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
    policy: tuple[str, str],
    target_stderr: float | None,
    scoring: Scoring,
    seed: int | None,
    first: int,
    threads: int | None,
    output: str | None,
    lang: Language,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play a position out many times and count how it ends.

    With nothing else it plays a million games from the start of backgammon. Ctrl-C shows what was
    counted until then.
    """
    given = read_positions(position, rules)
    _check(given, dice, opening, output)
    if games is None and target_stderr is None:
        games = GAMES
    # A seed that JSON numbers and people can still carry around.
    seed = secrets.randbits(53) if seed is None else seed
    for number, one in enumerate(given):
        roll = dice or one.dice
        bar: Any = nullcontext() if quiet else _Bar(scoring)
        begun = perf_counter()
        try:
            with bar as progress:
                result = rollout(
                    one.position,
                    games=games,
                    policy=policy,
                    seed=seed,
                    dice=roll,
                    opening=opening,
                    target_stderr=target_stderr,
                    scoring=scoring,
                    first=first,
                    threads=threads,
                    progress=progress,
                )
            cancelled = False
        except RolloutCancelled as stopped:
            result = stopped.partial
            cancelled = True
        report = Report(result, scoring, lang, perf_counter() - begun, threads, cancelled)
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


# ---------------------------------------------------------------------------------------- progress


class _Bar:
    """A progress bar with the equity so far; nothing where standard error is no terminal."""

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self.begun = perf_counter()
        self.bar: Progress | None = None
        self.task: TaskID | None = None

    def __enter__(self) -> _Bar | None:
        out = console(stderr=True)
        if not out.is_terminal:
            return None
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[games]}"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[equity]}"),
            console=out,
            transient=True,
        )
        self.bar.start()
        self.task = self.bar.add_task("", total=None, games="", equity="")
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, done: int, total: int | None) -> None:
        """Take no counts; `counted` is what a rollout calls."""

    def counted(self, done: int, total: int | None, so_far: RolloutResult) -> None:
        """Show how far it is."""
        assert self.bar is not None
        assert self.task is not None
        of = "" if total is None else f"/{total:,}"
        speed = done / max(perf_counter() - self.begun, 1e-9)
        equity, error = so_far.equity(self.scoring), so_far.stderr(self.scoring)
        self.bar.update(
            self.task,
            total=total,
            completed=done,
            games=f"{done:,}{of} games  {speed:,.0f}/s",
            equity=f"equity {equity:+.4f} ± {error:.4f}",
        )
