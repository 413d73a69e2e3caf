"""Bear-off tables: chances, equities and distributions of races, built at once or from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nardcore.bearoff._contact import Contact
from nardcore.bearoff._file import read_header
from nardcore.bearoff._gnubg import read_gnubg, write_gnubg
from nardcore.bearoff._one import OneSided, default
from nardcore.bearoff._ranking import position_count, rank, unrank
from nardcore.bearoff._two import TwoSided

if TYPE_CHECKING:
    import os

    from nardcore.rules import Rules

__all__ = [
    "Contact",
    "OneSided",
    "TwoSided",
    "default",
    "load",
    "position_count",
    "rank",
    "read_gnubg",
    "unrank",
    "write_gnubg",
]


def load(
    path: str | os.PathLike[str], *, rules: Rules | None = None, verify: bool = False
) -> Contact | OneSided | TwoSided:
    """Open a saved table of any kind; see `TwoSided.open`.

    Examples
    --------
    >>> import nardcore as nc, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.nct")
    ...     nc.bearoff.TwoSided.build(checkers=2).save(path)
    ...     nc.bearoff.load(path)
    <TwoSided 2 x 2, win, uint16, rules backgammon>
    """
    kind = read_header(Path(path)).get("kind")
    if kind == "contact":
        return Contact.open(path, rules=rules, verify=verify)
    if kind == "one-sided":
        return OneSided.open(path, rules=rules, verify=verify)
    return TwoSided.open(path, rules=rules, verify=verify)
