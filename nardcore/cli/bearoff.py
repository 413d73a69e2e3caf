"""``nardcore bearoff``: tables built, asked, looked at and exchanged."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from nardcore.bearoff import Contact, OneSided, TwoSided, default, load, read_gnubg, write_gnubg
from nardcore.cli._common import (
    COUNT,
    Written,
    console,
    echo_json,
    examples,
    json_option,
    read_positions,
    rules_option,
    side,
    threads_option,
)
from nardcore.errors import TableError
from nardcore.rollouts import CLASSES
from nardcore.rules import BACKGAMMON, HYPERGAMMON

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from nardcore._board import Position
    from nardcore.bearoff._two import Cube
    from nardcore.rules import Rules

__all__ = ["command"]

FILE = click.Path(dir_okay=False)
KINDS = {TwoSided: "two-sided", OneSided: "one-sided", Contact: "contact"}
CUBES: tuple[Cube, ...] = ("owned", "centred", "opponent")


@click.group(
    "bearoff",
    epilog=examples(
        "nardcore bearoff build eight.nct --checkers 8",
        "nardcore bearoff query kQcAgEoDAAAAAA --table eight.nct --json",
        "nardcore bearoff info eight.nct --verify",
        "nardcore bearoff export eight.nct gnubg_ts.bd",
    ),
)
def command() -> None:
    """Build tables of bear-offs and ask them."""


def _checkers(text: str) -> int | tuple[int, int]:
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(p.isascii() and p.isdecimal() and len(p) < 4 for p in parts):
        msg = f"{text!r} is no number of checkers such as 8 or 8x6"
        raise ValueError(msg)
    numbers = [int(part) for part in parts]
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def _scoring(text: str) -> str | tuple[int, ...]:
    if "," not in text:
        return text
    parts = [part.strip() for part in text.split(",")]
    if not all(p.isascii() and p.isdecimal() and len(p) < 10 for p in parts):
        msg = f"{text!r} are no points such as 1,2,2,3,3"
        raise ValueError(msg)
    return tuple(map(int, parts))


# What only some kinds of tables have, by the names of parameters.
_OPTIONS = {
    "one_sided": ("checkers", "points"),
    "contact": ("max_memory", "tolerance"),
    "two_sided": ("checkers", "equities", "scoring", "dtype", "max_memory"),
}


def _check_options(kind: str) -> None:
    """Refuse options that were given and that this kind of table does not have."""
    given = click.get_current_context().get_parameter_source
    special = dict.fromkeys(name for names in _OPTIONS.values() for name in names)
    for name in special:
        if name not in _OPTIONS[kind] and given(name) is ParameterSource.COMMANDLINE:
            what = {"one_sided": "--one-sided", "contact": "--contact"}.get(kind, "two-sided")
            msg = f"a {what} table has no --{name.replace('_', '-')}"
            if name == "checkers":
                msg += ": its checkers are those of the --rules"
            raise click.UsageError(msg)


class _Progress:
    """A bar on the terminal, and nothing where there is none."""

    def __init__(self, quiet: bool, doing: str = "building") -> None:
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        shown = console(stderr=True)
        self.bar = Progress(
            TextColumn(doing),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=shown,
            transient=True,
            disable=quiet or not shown.is_terminal,
        )
        self.task = self.bar.add_task(doing)

    def __enter__(self) -> Callable[[int, int | None], None]:
        self.bar.start()
        return lambda done, total: self.bar.update(self.task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()


@command.command(
    "build",
    epilog=examples(
        "nardcore bearoff build eight.nct --checkers 8",
        "nardcore bearoff build money.nct --checkers 6 --equities money",
        "nardcore bearoff build all.nct --checkers 15",
        "nardcore bearoff build all.nct --checkers 15 --max-memory 2g",
        "nardcore bearoff build race.nct --one-sided --points 10",
    ),
)
@click.argument("file", type=FILE)
@click.option("--one-sided", is_flag=True, help="Distributions of the number of rolls of a side.")
@click.option("--contact", is_flag=True, help="A game of 1 to 3 checkers in full contact, solved.")
@click.option(
    "--checkers",
    type=Written("checkers", _checkers),
    metavar="N",
    help="Checkers of a side, or of both sides as 8x6; 6, and for one side all, by default.",
)
@click.option(
    "--points",
    type=click.IntRange(1, 18),
    default=6,
    show_default=True,
    help="Points that a one-sided table covers.",
)
@click.option(
    "--equities",
    type=click.Choice(["win", "money", "scoring"]),
    default="win",
    show_default=True,
    help="What a two-sided table holds: chances to win, also equities with the cube, or points "
    "by the loser's state.",
)
@click.option(
    "--scoring",
    type=Written("scoring", _scoring),
    metavar="NAME",
    help="For --equities scoring: a name, or five points as 1,2,2,3,3; those of the rules by "
    "default.",
)
@click.option(
    "--dtype",
    type=click.Choice(["uint16", "float32", "float64"]),
    default="uint16",
    show_default=True,
    help="How a two-sided table stores its values.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1e-6,
    show_default=True,
    help="How far a --contact table may be off.",
)
@rules_option
@click.option(
    "--max-memory",
    type=COUNT,
    metavar="BYTES",
    help="Build a larger two-sided table in its file, such as 2g; what was interrupted goes on. "
    "With --contact: for lists of plays, which are searched again where they do not fit.",
)
@threads_option
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def build(
    file: str,
    one_sided: bool,
    contact: bool,
    checkers: int | tuple[int, int] | None,
    points: int,
    equities: Any,
    scoring: str | tuple[int, ...] | None,
    dtype: str,
    tolerance: float,
    rules: Rules | None,
    max_memory: int | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compute a table and write it to FILE, which appears when it is whole."""
    begun = perf_counter()
    if one_sided and contact:
        msg = "--one-sided and --contact exclude each other"
        raise click.UsageError(msg)
    _check_options("one_sided" if one_sided else "contact" if contact else "two_sided")
    table: Contact | OneSided | TwoSided
    with _Progress(quiet or as_json) as progress:
        if contact:
            table = Contact.build(
                rules=rules or HYPERGAMMON,
                tolerance=tolerance,
                path=file,
                max_memory=max_memory,
                threads=threads,
                progress=progress,
            )
        elif one_sided:
            if isinstance(checkers, tuple):
                msg = "a --one-sided table has one number of --checkers"
                raise click.UsageError(msg)
            table = OneSided.build(
                points=points,
                checkers=checkers,
                rules=rules or BACKGAMMON,
                path=file,
                threads=threads,
                progress=progress,
            )
        else:
            made_for = rules or BACKGAMMON
            if checkers is None:
                most = made_for.checkers
                checkers = most if equities == "scoring" else min(6, most)
            table = TwoSided.build(
                checkers=checkers,
                equities=equities,
                scoring=scoring,
                rules=made_for,
                dtype=dtype,
                path=file,
                max_memory=max_memory,
                threads=threads,
                progress=progress,
            )
    seconds = perf_counter() - begun
    if as_json:
        echo_json({**_about(table), "seconds": round(seconds, 3)})
    else:
        click.echo(f"{file}: {table!r}, {table.nbytes:,} bytes, {seconds:.2f} s")


def _about(table: Contact | OneSided | TwoSided) -> dict[str, Any]:
    about: dict[str, Any] = {
        "file": None if table.path is None else str(table.path),
        "kind": KINDS[type(table)],
        "rules": table.rules.name,
        "bytes": table.nbytes,
    }
    if isinstance(table, TwoSided):
        about |= {
            "checkers": list(table.checkers),
            "points": 6,
            "equities": table.equities,
            "dtype": table.dtype,
            "scoring": table.scoring,
        }
    elif isinstance(table, OneSided):
        about |= {"checkers": table.checkers, "points": table.points}
    else:
        about |= {
            "checkers": table.rules.checkers,
            "tolerance": table.tolerance,
            "error": table.error,
            "sweeps": table.sweeps,
        }
    return about


@command.command(
    "query",
    epilog=examples(
        "nardcore bearoff query kQcAgEoDAAAAAA",
        "nardcore bearoff query kQcAgEoDAAAAAA --table money.nct",
        "nardcore bearoff query - --table eight.nct --json < positions.txt",
    ),
)
@click.argument("position")
@click.option(
    "--table",
    type=FILE,
    metavar="FILE",
    help="The table to ask; by default one of one-sided distributions on six points, "
    "computed at once.",
)
@rules_option
@json_option
def query(position: str, table: str | None, rules: Rules | None, as_json: bool) -> None:
    """Say what a table knows of POSITION.

    POSITION is nardcore's text, a gnubg position ID or an XGID; - reads one a line from standard
    input. Numbers are for the side on roll, before it rolls.
    """
    opened = None if table is None else load(table)
    if rules is None and isinstance(opened, Contact):
        rules = opened.rules  # an ID does not say how many checkers there are
    given = read_positions(position, rules)
    for one in given:
        asked = default(one.position.rules) if opened is None else opened
        if isinstance(asked, TwoSided):
            found = _two(asked, one.position)
        elif isinstance(asked, Contact):
            found = _contact(asked, one.position)
        else:
            found = _one(asked, one.position)
        if as_json:
            echo_json({"position": one.position.text(), **found})
        else:
            _show(one.position, found)


def _two(table: TwoSided, position: Position) -> dict[str, Any]:
    found: dict[str, Any] = {"exact": True}
    if table.equities != "scoring":
        found["win"] = table.win(position)
    found["equity"] = table.equity(position)
    if table.equities == "money":
        found["cube"] = {
            cube: {
                "no_double": table.equity(position, cube=cube),
                "best": table.equity(position, cube=cube, double=True),
            }
            for cube in CUBES
        }
    return found


def _contact(table: Contact, position: Position) -> dict[str, Any]:
    outcomes = table.outcomes(position).astype(float).tolist()
    return {
        "exact": True,
        "win": table.win(position),
        "equity": table.equity(position),
        "outcomes": dict(zip(CLASSES, outcomes, strict=True)),
    }


def _one(table: OneSided, position: Position) -> dict[str, Any]:
    """Say what is known: nothing of a side that stands beyond the table."""
    covered = (table.ranks(position.board[None], rules=position.rules)[0] >= 0).tolist()
    if not any(covered):
        table.mean_rolls(position)  # says why
    found: dict[str, Any] = {"exact": False}
    if all(covered):
        outcomes = table.outcomes(position)
        found["win"] = float(outcomes[:5].sum())
        found["outcomes"] = dict(zip(CLASSES, outcomes.tolist(), strict=True))
    found["sides"] = [
        {
            "mean_rolls": table.mean_rolls(position, side=k),
            "epc": table.epc(position, side=k),
            "distribution": table.distribution(position, side=k).tolist(),
        }
        if covered[k]
        else None
        for k in range(2)
    ]
    return found


def _show(position: Position, found: dict[str, Any]) -> None:
    click.echo(position.text())
    kind = "" if found["exact"] else "  (from two distributions, not exact)"
    if "win" in found:
        click.echo(f"  win {found['win']:.6f}{kind}")
    if "equity" in found:
        click.echo(f"  equity {found['equity']:+.6f}")
    for cube, values in found.get("cube", {}).items():
        click.echo(
            f"  cube {cube:8}  {values['no_double']:+.6f} without a double now, "
            f"{values['best']:+.6f} at best"
        )
    for name, chance in found.get("outcomes", {}).items():
        if chance > 0:
            click.echo(f"  {name:18} {chance:.6f}")
    for k, numbers in enumerate(found.get("sides", ())):
        if numbers is None:
            click.echo(f"  {side(position, k == 0)}: beyond the table")
            continue
        click.echo(
            f"  {side(position, k == 0)}: {numbers['mean_rolls']:.4f} rolls, "
            f"effective pips {numbers['epc']:.3f}"
        )
        for rolls, chance in enumerate(numbers["distribution"]):
            if chance >= 5e-7:
                click.echo(f"    {rolls:2} {chance:.6f}")


@command.command("info", epilog=examples("nardcore bearoff info eight.nct --verify"))
@click.argument("file", type=FILE)
@click.option("--verify", is_flag=True, help="Check the hash of the data, too.")
@json_option
def info(file: str, verify: bool, as_json: bool) -> None:
    """Say what a table is, and refuse a damaged one."""
    from nardcore.bearoff._file import read_header

    table = load(file, verify=verify)
    header = read_header(Path(file))
    about = {**_about(table), "library": header["library"], "sha256": header["sha256"]}
    if as_json:
        echo_json({**about, "verified": verify})
        return
    for name, value in about.items():
        if value is not None:
            text = "x".join(map(str, value)) if isinstance(value, list) else value
            click.echo(f"{name:9} {text:,}" if isinstance(value, int) else f"{name:9} {text}")
    if verify:
        click.echo("the data have their hash")


@command.command("export", epilog=examples("nardcore bearoff export money.nct gnubg_ts.bd"))
@click.argument("file", type=FILE)
@click.argument("target", type=FILE)
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def export(file: str, target: str, as_json: bool, quiet: bool) -> None:
    """Write a table as a bear-off file of gnubg."""
    table = load(file)
    _not_itself(file, target)
    if isinstance(table, Contact):
        msg = "gnubg's bear-off files hold no contact"
        raise TableError(msg)
    with _Progress(quiet or as_json, "writing") as progress:
        write_gnubg(table, target, progress=progress)
    size = Path(target).stat().st_size
    if as_json:
        echo_json({**_about(table), "target": target, "target_bytes": size})
    else:
        click.echo(f"{target}: {size:,} bytes")


def _not_itself(source: str, target: str) -> None:
    """Keep a file from being replaced by what is made of it."""
    if Path(target).exists() and Path(target).samefile(source):
        msg = f"{target} is the file that is read"
        raise click.UsageError(msg)


@command.command("import", epilog=examples("nardcore bearoff import gnubg_ts.bd money.nct"))
@click.argument("source", type=FILE)
@click.argument("file", type=FILE)
@rules_option
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def import_(source: str, file: str, rules: Rules | None, as_json: bool, quiet: bool) -> None:
    """Read a bear-off file of gnubg and write it as a table."""
    _not_itself(source, file)
    with _Progress(quiet or as_json, "reading") as progress:
        progress(0, None)
        table = read_gnubg(source, rules=rules or BACKGAMMON)
        table.save(file)
    if as_json:
        echo_json({**_about(table), "file": file, "source": source})
    else:
        click.echo(f"{file}: {table!r}")
