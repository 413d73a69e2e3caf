"""What the commands that evaluate share: options, tables, progress."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from nardcore.cli._common import Written, console
from nardcore.policies import MAX_PLIES, NAMES, resolve
from nardcore.rules import SCORING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.progress import Progress, TaskID

    from nardcore.rules import Rules

__all__ = [
    "Bar",
    "evaluator_option",
    "open_tables",
    "plies_option",
    "points_name",
    "read_evaluator",
    "read_policy",
    "read_scoring",
    "scoring_option",
    "tables_option",
]


def read_policy(text: str) -> tuple[Any, Any]:
    """Read one policy, or two with a comma between them."""
    names = text.split(",")
    if len(names) > 2:
        msg = "a policy is one name, or two with a comma between them"
        raise ValueError(msg)
    first, second = _policy(names[0]), _policy(names[-1])
    return first, second


def _policy(name: str) -> Any:
    if name.endswith(".onnx"):
        return read_evaluator(name)
    return resolve(name)


def read_evaluator(text: str) -> Any:
    """Read the name of an evaluator of chances."""
    if text.endswith(".onnx"):
        from nardcore.onnx_models import OnnxEvaluator

        return OnnxEvaluator(text)
    if text.endswith(".npz"):
        from nardcore._rollout import Evaluator

        return Evaluator.net(text, full=True)
    if text not in NAMES:
        msg = f"there is no evaluator {text!r}; known are net, a file *.npz and a file *.onnx"
        raise ValueError(msg)
    return text


def read_scoring(text: str) -> str | tuple[int, ...]:
    """Read the name of a scoring or its five numbers."""
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


plies_option = click.option(
    "--plies",
    type=click.IntRange(0, MAX_PLIES),
    default=0,
    show_default=True,
    help="How many rolls to look ahead.",
)
evaluator_option = click.option(
    "--evaluator",
    type=Written("evaluator", read_evaluator),
    default="net",
    show_default=True,
    metavar="NAME",
    help="What rates positions: net, a file of nets (*.npz), or an ONNX model (*.onnx).",
)
scoring_option = click.option(
    "--scoring",
    type=Written("scoring", read_scoring),
    metavar="NAME",
    help=f"Points by the loser's state: {', '.join(SCORING)} or such as 1/2/4/4/8; "
    "the rules' own by default.",
)
tables_option = click.option(
    "--table",
    "tables",
    type=click.Path(exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="A two-sided bear-off table to ask; may be given more than once.",
)


def open_tables(paths: Sequence[str]) -> list[Any]:
    """Open two-sided tables."""
    if not paths:
        return []
    from nardcore.bearoff import TwoSided

    return [TwoSided.open(path) for path in paths]


def points_name(scoring: str | tuple[int, ...] | None, rules: Rules) -> str:
    """Name a scoring as tables do."""
    name = rules.scoring if scoring is None else scoring
    return name if isinstance(name, str) else "/".join(map(str, name))


class Bar:
    """A progress bar; nothing where standard error is no terminal.

    Parameters
    ----------
    equity
        What to show of the result so far, if anything.
    """

    def __init__(self, equity: Callable[[Any], str] | None = None) -> None:
        self.equity = equity
        self.begun = perf_counter()
        self.bar: Progress | None = None
        self.task: TaskID | None = None

    def __enter__(self) -> Bar | None:
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

    def counted(self, done: int, total: int | None, so_far: Any) -> None:
        """Show how far it is."""
        assert self.bar is not None
        assert self.task is not None
        of = "" if total is None else f"/{total:,}"
        speed = done / max(perf_counter() - self.begun, 1e-9)
        self.bar.update(
            self.task,
            total=total,
            completed=done,
            games=f"{done:,}{of} games  {speed:,.0f}/s",
            equity="" if self.equity is None else self.equity(so_far),
        )
