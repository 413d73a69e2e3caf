"""Every exception nardcore raises on its own account.

They share the base `NardcoreError`, and each is also the built-in kind a caller would expect: a
value that is impossible or out of range is a `ValueError`. Arguments of the wrong type raise
`TypeError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AmbiguousPlayError",
    "FormatError",
    "IllegalPlayError",
    "InvalidPlayError",
    "NardcoreError",
    "NotDueError",
    "PositionError",
    "RolloutCancelled",
    "RulesError",
    "RulesTypeError",
    "TableError",
]


class NardcoreError(Exception):
    """The base of all nardcore's own exceptions.

    Examples
    --------
    >>> import nardcore as nc
    >>> try:
    ...     nc.Position.parse("nonsense")
    ... except nc.NardcoreError as error:
    ...     print(type(error).__name__)
    FormatError
    """


class _FaultsError(NardcoreError, ValueError):
    """A value with one or more faults, all of them listed."""

    faults: tuple[str, ...]

    def __init__(self, *faults: str | Iterable[str]) -> None:
        flat: list[str] = []
        for fault in faults:
            if isinstance(fault, str):
                flat.append(fault)
            else:
                flat.extend(fault)
        # The arguments are the faults themselves, so pickle rebuilds the exception from them.
        super().__init__(*flat)
        self.faults = tuple(flat)

    def __str__(self) -> str:
        return "; ".join(self.faults)


class PositionError(_FaultsError):
    """A position that cannot exist under its rules.

    Parameters
    ----------
    *faults : str or iterable of str
        What is wrong, one sentence a fault.

    Attributes
    ----------
    faults : tuple of str
        Every fault found, not only the first.

    Examples
    --------
    >>> error = PositionError("16 checkers of the mover", "the opponent has nothing left")
    >>> error.faults
    ('16 checkers of the mover', 'the opponent has nothing left')
    >>> str(error)
    '16 checkers of the mover; the opponent has nothing left'
    """


class RulesError(_FaultsError):
    """A set of rules that does not exist or contradicts itself.

    Parameters
    ----------
    *faults : str or iterable of str
        What is wrong, one sentence a fault, each beginning with the field it is about.

    Attributes
    ----------
    faults : tuple of str
        Every fault found, not only the first.

    Examples
    --------
    >>> RulesError("checkers: 16 is not between 1 and 15").faults
    ('checkers: 16 is not between 1 and 15',)
    """


class RulesTypeError(RulesError, TypeError):
    """A `RulesError` of which at least one fault is a value of the wrong type.

    Examples
    --------
    >>> import nardcore as nc
    >>> try:
    ...     nc.Rules(checkers="15")
    ... except TypeError as error:
    ...     print(type(error).__name__)
    RulesTypeError
    """


class InvalidPlayError(NardcoreError, ValueError):
    """A play whose text cannot be read as a play at all.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.Position.start().play("knight f3", dice=(3, 1))
    Traceback (most recent call last):
        ...
    nardcore.errors.InvalidPlayError: ...
    """


class IllegalPlayError(NardcoreError, ValueError):
    """A play that reads well but that the rules forbid in this position with these dice.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.Position.start().play("6/4", dice=(3, 1))
    Traceback (most recent call last):
        ...
    nardcore.errors.IllegalPlayError: 6/4 is illegal with 3-1: ...
    """


class AmbiguousPlayError(NardcoreError, ValueError):
    """A play whose text fits more than one legal result.

    Examples
    --------
    >>> import nardcore as nc
    >>> issubclass(nc.AmbiguousPlayError, ValueError)
    True
    """


class NotDueError(NardcoreError, ValueError):
    """Something done in a game when it is not its time, or by a side that may not do it.

    Parameters
    ----------
    message : str
        What is wrong.
    due : tuple of str, optional
        What may be done instead.

    Attributes
    ----------
    due : tuple of str
        What may be done instead.

    Examples
    --------
    >>> import nardcore as nc
    >>> game = nc.Game(nc.TRIKTRAK, first="w")
    >>> game.push("8/5 6/5")
    Traceback (most recent call last):
        ...
    nardcore.errors.NotDueError: white has not thrown yet; due is: roll, resign
    """

    due: tuple[str, ...]

    def __init__(self, message: str = "", due: Iterable[str] = ()) -> None:
        # both are arguments, so that pickle rebuilds the exception from them
        super().__init__(message, tuple(due))
        self.due = tuple(due)

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message}; due is: {', '.join(self.due)}" if self.due else message


class FormatError(NardcoreError, ValueError):
    """Text or bytes that are not what their format promises, or that it cannot express.

    Parameters
    ----------
    message : str
        What is wrong.
    line, column : int, optional
        Where, counted from 1.

    Attributes
    ----------
    line, column : int or None
        Where, counted from 1; None when the place is not known.

    Examples
    --------
    >>> str(FormatError("no such rules", line=3, column=7))
    'line 3, column 7: no such rules'
    """

    line: int | None
    column: int | None

    def __init__(
        self, message: str = "", *, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        places = [
            f"{name} {number}"
            for name, number in (("line", self.line), ("column", self.column))
            if number is not None
        ]
        message = super().__str__()
        return f"{', '.join(places)}: {message}" if places else message


class TableError(NardcoreError, ValueError, LookupError):
    """A table that is corrupt, made for other rules, or asked about a position outside it.

    Examples
    --------
    >>> issubclass(TableError, LookupError)
    True
    """


class RolloutCancelled(NardcoreError, KeyboardInterrupt):
    """A rollout stopped before its end, by Ctrl-C or by its caller.

    Parameters
    ----------
    message : str, optional
        What happened.
    partial : object, optional
        The result so far.

    Attributes
    ----------
    partial : object
        The result of the trials finished so far, cut to the contiguous prefix of chunks; None when
        nothing was finished.

    Examples
    --------
    >>> RolloutCancelled().partial is None
    True
    """

    partial: Any

    def __init__(self, message: str = "the rollout was cancelled", *, partial: Any = None) -> None:
        super().__init__(message)
        self.partial = partial
