"""What tables of all kinds share: their data, their file and the rules that they serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nardcore._board import Position
from nardcore.bearoff._file import check_rules, open_table, save_table
from nardcore.bearoff._ranking import check_kind
from nardcore.errors import TableError

if TYPE_CHECKING:
    import os
    from typing import Self

    from numpy.typing import NDArray

    from nardcore._board import Plays
    from nardcore.rules import Rules

__all__ = ["Table", "frozen", "plays_of"]

# What a header that was written by something else may lead to.
_DAMAGED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class Table:
    """A table of one kind."""

    KIND: ClassVar[str]
    _SHARED: ClassVar[str] = "bear-off"  # what rules that a table serves have in common

    rules: Rules
    path: Path | None
    """The file it was opened from."""

    _arrays: dict[str, NDArray[Any]]
    _fingerprint: str
    _known: set[Rules]

    def __init__(self) -> None:
        name = type(self).__name__
        msg = f"make a table by {name}.build or {name}.open"
        raise TypeError(msg)

    def _hold(self, rules: Rules, arrays: dict[str, NDArray[Any]], path: Path | None) -> None:
        self.rules, self.path, self._arrays = rules, path, arrays
        self._fingerprint = self._fingerprint_of(rules)
        self._known = {rules}

    # What each kind says of itself.

    def _fingerprint_of(self, rules: Rules) -> str:
        """Name what a table must have in common with rules to serve them."""
        raise NotImplementedError

    def _about(self) -> dict[str, Any]:
        """Give the header's facts."""
        raise NotImplementedError

    def _parts(self) -> tuple[Any, ...]:
        """Give what `_make` makes the same table of."""
        raise NotImplementedError

    def _extent(self) -> str:
        """Say what the table covers."""
        raise NotImplementedError

    @classmethod
    def _from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path
    ) -> Self:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file; it appears whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written, for example because the disk is full.
        """
        about = {**self._about(), "rules": self.rules.name, "fingerprint": self._fingerprint}
        save_table(path, self.KIND, about, self._arrays)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, rules: Rules | None = None, verify: bool = False
    ) -> Self:
        """Open a table that was saved: it is mapped into memory, and read where it is asked.

        Parameters
        ----------
        path
            The file.
        rules
            Refuse the table unless it serves these rules.
        verify
            Check the hash of the data too, which reads all of them.

        Raises
        ------
        TableError
            If the file is no such table, cut, damaged, of a newer format or of other rules.
        OSError
            If it cannot be read.
        """
        if rules is not None:
            check_kind(rules)
        opened = open_table(path, cls.KIND, verify=verify)
        try:
            table = cls._from_file(opened.header, opened.arrays, opened.path)
        except _DAMAGED as error:
            msg = f"the header of {opened.path} is damaged"
            raise TableError(msg) from error
        for one in (table.rules, rules):
            if one is not None:
                fingerprint = table._fingerprint_of(one)
                check_rules(opened.path, opened.header, one, fingerprint, cls._SHARED)
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes map the same file; a table without one is sent whole.
        if self.path is not None:
            return type(self).open, (self.path.absolute(),)
        return self._make, self._parts()  # type: ignore[attr-defined]

    @property
    def nbytes(self) -> int:
        """The size of the data."""
        return sum(array.nbytes for array in self._arrays.values())

    # ------------------------------------------------------------------------------------- rules

    def _admit(self, rules: Rules) -> None:
        """Refuse rules that the table does not serve."""
        if rules in self._known:
            return
        if self._fingerprint_of(rules) != self._fingerprint:
            msg = (
                f"this table is for {self.rules.name}, whose {self._SHARED} is not that of "
                f"{rules.name}"
            )
            raise TableError(msg)
        if len(self._known) > 100:
            self._known.clear()
        self._known.add(rules)

    def _outside(self, position: Position) -> TableError:
        return TableError(f"{position!r} is outside {self._extent()}")

    def _of(self, rules: Rules | None) -> Rules:
        """Give the rules that boards are of, the table's own by default."""
        if rules is None:
            return self.rules
        check_kind(rules)
        self._admit(rules)
        return rules


def plays_of(position: Position, dice: tuple[int, int]) -> Plays:
    """Give the plays of a roll, one or more.

    Raises
    ------
    ValueError
        If the game is over.
    """
    if not isinstance(position, Position):
        msg = f"a best play is of a Position, not {type(position).__name__}"  # type: ignore[unreachable]
        raise TypeError(msg)
    plays = position.plays(dice)
    if not len(plays):
        msg = "the game is over in this position"
        raise ValueError(msg)
    return plays


def frozen(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Make arrays read-only."""
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
