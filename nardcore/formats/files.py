"""Reading and writing every format by one name: `load`, `loads`, `dump`, `dumps`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nardcore._board import Position
from nardcore._whole_file import write_whole
from nardcore.errors import FormatError
from nardcore.formats._text import (
    MAX_BYTES,
    check_size,
    decode,
    differing,
    reader,
    short,
)
from nardcore.formats.analysis import Analysis
from nardcore.formats.state import MatchState
from nardcore.records import GameRecord, MatchRecord
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from nardcore._cubeful import CubefulResult
    from nardcore.rollouts import RolloutResult

__all__ = ["FORMATS", "Format", "dump", "dumps", "load", "loads", "sniff"]

Value: TypeAlias = (
    "MatchRecord | GameRecord | MatchState | Position | Analysis | RolloutResult | CubefulResult"
)


@dataclass(frozen=True, slots=True)
class Format:
    """One of the formats that `loads` and `dumps` know.

    Attributes
    ----------
    name : str
        What `format=` takes.
    title : str
        What it is.
    holds : {"match", "state", "analysis", "any"}
        What is read from it and written to it.
    extensions : tuple of str
        Endings of file names.
    written : bool
        Whether it can be written, too.

    Examples
    --------
    >>> from nardcore.formats import FORMATS
    >>> FORMATS["mat"].extensions, FORMATS["xg"].written
    (('.mat',), False)
    """

    name: str
    title: str
    holds: str
    extensions: tuple[str, ...]
    written: bool = True


FORMATS: Final[dict[str, Format]] = {
    each.name: each
    for each in (
        Format("json", "nardcore's JSON", "any", (".json",)),
        Format("sheet", "score sheet", "match", (".sheet", ".txt")),
        Format("mat", ".mat of gnubg, eXtreme Gammon, Galaxy and others", "match", (".mat",)),
        Format("sgf", "SGF of backgammon (GM[6])", "match", (".sgf",)),
        Format("text", "nardcore's text of a position", "state", (".nard",)),
        Format("gnubg", "gnubg position ID and match ID", "state", (".gnubg",)),
        Format("xgid", "XGID", "state", (".xgid",)),
        Format("fibs", "FIBS board line", "state", (".fibs",)),
        Format("xg", "text export of eXtreme Gammon", "analysis", (), written=False),
        Format("bgblitz", "text export of BGBlitz", "analysis", (), written=False),
    )
}
"""Every format by name."""

# --------------------------------------------------------------------------------------- sniffing

_ID = re.compile(r"(?:position[- ]?id\s*:?\s*)?[A-Za-z0-9+/]{14}(?![A-Za-z0-9+/])", re.IGNORECASE)
_TEXT = re.compile(r"\S+\s+[xo0-9,]+\s+[0-9]+/[0-9]+\s+[0-9]+/[0-9]+\s+[wb]\s+\S+\s+\S+")


def sniff(text: str) -> str | None:
    """Tell the format of a text by its beginning.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str or None
        A name of `FORMATS`; None if it looks like none of them.

    Examples
    --------
    >>> from nardcore.formats import sniff
    >>> sniff("(;FF[4]GM[6])"), sniff("4HPwATDgc/ABMA"), sniff("7 point match")
    ('sgf', 'gnubg', 'mat')
    >>> sniff("What a nice day")
    """
    from nardcore.formats import exports, mat, sgf, sheet

    body = check_size(text).removeprefix("\ufeff").lstrip()
    if not body:
        return None
    if body[0] == "{":
        return "json"
    if sgf.looks_like_sgf(body):
        return "sgf"
    if body[:6].lower() == "board:":
        return "fibs"
    if exports.is_bgblitz_text(body):
        return "bgblitz"
    if exports.is_xg_text(body):
        return "xg"
    if "\n" not in body.strip():
        line = body.strip()
        if line[:5].upper() == "XGID=" or re.match(r"[-A-Pa-p]{26}:", line):
            return "xgid"
        if _ID.match(line):
            return "gnubg"
        if _TEXT.fullmatch(line):
            return "text"
    elif re.match(r"(?i)position[- ]?id", body):
        return "gnubg"
    if mat.looks_like_mat(text):
        return "mat"
    if sheet.looks_like_sheet(text):
        return "sheet"
    return None


# ---------------------------------------------------------------------------------------- reading


def _read_text(text: str, _: Rules) -> MatchState:
    from nardcore.formats.positions import parse_position_text

    found = parse_position_text(text)
    return MatchState(Position.from_board(found.board, found.rules), found.dice)


def _readers() -> dict[str, Callable[[str, Rules | None], Value]]:
    from nardcore.formats import exports, fibs, ids, mat, sgf, sheet, values

    def state(
        read: Callable[[str, Rules], Value],
    ) -> Callable[[str, Rules | None], Value]:
        return lambda text, rules: reader(read)(text, rules or BACKGAMMON)

    return {
        "json": lambda text, _: values.parse_json(text),
        "sheet": sheet.parse_sheet,
        "mat": mat.parse_mat,
        "sgf": sgf.parse_sgf,
        "text": state(_read_text),
        "gnubg": state(ids.parse_gnubg_id),
        "xgid": state(ids.parse_xgid_state),
        "fibs": state(fibs.parse_fibs_board),
        "xg": state(exports.parse_xg_text),
        "bgblitz": state(exports.parse_bgblitz_text),
    }


def loads(text: str, format: str | None = None, *, rules: Rules | None = None) -> Value:
    """Read a text in any of the formats.

    Parameters
    ----------
    text : str
        The whole text of a file.
    format : str, optional
        A name of `FORMATS`; by default the text's beginning tells.
    rules : Rules, optional
        What to read it under, where the text does not name its rules itself; backgammon by default.

    Returns
    -------
    MatchRecord, MatchState, Analysis, or what the JSON holds
        Matches come from ``sheet``, ``mat`` and ``sgf``, their illegal plays kept and flagged;
        states from ``text``, ``gnubg``, ``xgid``, ``fibs``; analyses from ``xg`` and ``bgblitz``.

    Raises
    ------
    FormatError
        If the text cannot be read; it says where and why. Nothing else is raised for any text.

    Examples
    --------
    >>> from nardcore.formats import loads
    >>> loads("4HPwATDgc", "gnubg")
    Traceback (most recent call last):
        ...
    nardcore.errors.FormatError: line 1, column 1: expected the 14 characters of a position ID...
    >>> loads("4HPwATDgc/ABMA:cIkFAAAAAAAE").dice
    (3, 1)
    """
    check_size(text)
    name = format if format is not None else sniff(text)
    if name is None:
        msg = f"the text is in none of the formats {', '.join(FORMATS)}: it begins with " + short(
            text.strip().split("\n", 1)[0]
        )
        raise FormatError(msg, line=1, column=1)
    _known(name)
    return _readers()[name](text.removeprefix("\ufeff"), rules)


def load(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    rules: Rules | None = None,
) -> Value:
    """Read a file in any of the formats.

    Parameters
    ----------
    path : path
        UTF-8, UTF-16 with its mark, or Windows' Latin letters. At most 8 MB are read.
    format : str, optional
        A name of `FORMATS`; by default what the text looks like, else the ending of the name.
    rules : Rules, optional
        As for `loads`.

    Returns
    -------
    object
        As from `loads`.

    Raises
    ------
    FormatError
        If the file cannot be read as what it is said to be.
    OSError
        If there is no such file.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import dump, load
    >>> dump(nc.Position.start(), "start.xgid")
    >>> load("start.xgid").position == nc.Position.start()
    True
    """
    with Path(path).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    text = decode(data)
    if format is None:
        format = sniff(text) or _by_ending(path)
    return loads(text, format, rules=rules)


def _known(name: str) -> Format:
    found = FORMATS.get(name)
    if found is None:
        msg = f"unknown format {name!r}; expected one of {', '.join(FORMATS)}"
        raise ValueError(msg)
    return found


def _by_ending(path: str | os.PathLike[str]) -> str | None:
    ending = Path(path).suffix.lower()
    return next((name for name, each in FORMATS.items() if ending in each.extensions), None)


# ---------------------------------------------------------------------------------------- writing


def _as_match(value: Value) -> MatchRecord | None:
    if isinstance(value, GameRecord):
        return MatchRecord(value.rules, games=(value,))
    return value if isinstance(value, MatchRecord) else None


def _as_state(value: Value, lossy: bool) -> MatchState | None:
    if isinstance(value, Position):
        return MatchState(value)
    if isinstance(value, Analysis):
        if not lossy:
            msg = "only JSON holds an analysis; write its state, or pass lossy=True"
            raise FormatError(msg)
        return value.state
    return value if isinstance(value, MatchState) else None


def dumps(
    value: Value,
    format: str,
    *,
    lossy: bool = False,
    numbering: str = "own",
    dialect: str = "words",
) -> str:
    """Write a value as text.

    What is written is read again: where it would not come back as it is, nothing is written and the
    error names what the format cannot hold.

    Parameters
    ----------
    value : MatchRecord, GameRecord, MatchState, Position, Analysis, RolloutResult or CubefulResult
        JSON takes all of them; ``sheet``, ``mat`` and ``sgf`` take matches and games, ``text``,
        ``gnubg``, ``xgid`` and ``fibs`` states and positions.
    format : str
        A name of `FORMATS`.
    lossy : bool
        Leave out what the format cannot hold instead of refusing. Plays and results stay.
    numbering : {"own", "traditional", "through", "roman"}
        How a score sheet names points.
    dialect : {"words", "numbers"}
        How a ``.mat`` names the bar and the tray.

    Returns
    -------
    str

    Raises
    ------
    FormatError
        If the format cannot hold the value, or the text would be longer than what is read.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import MatchState, dumps
    >>> dumps(nc.Position.start(), "gnubg")
    '4HPwATDgc/ABMA:cAkAAAAAAAAE'
    >>> dumps(MatchState(nc.Position.start(), white="Ann"), "xgid")
    Traceback (most recent call last):
        ...
    nardcore.errors.FormatError: xgid cannot hold white 'Ann'; pass lossy=True to leave it out
    """
    kind = _known(format)
    if not kind.written:
        msg = f"{kind.title} is only read"
        raise FormatError(msg)
    match = _as_match(value)
    if match is not None:
        from nardcore.formats._games import check_limits

        check_limits(match)
    if format == "json":
        from nardcore.formats.values import json_text

        return check_size(json_text(value))
    wanted: Any
    if kind.holds == "match":
        if match is None:
            msg = f"{format} holds matches and games, not a {type(value).__name__}"
            raise FormatError(msg)
        text = _match_text(match, format, numbering, dialect)
        rules, wanted = match.rules, match
    else:
        state = _as_state(value, lossy)
        if state is None:
            msg = f"{format} holds a position, not a {type(value).__name__}"
            raise FormatError(msg)
        text = _state_text(state, format)
        rules, wanted = state.position.rules, state
    check_size(text)
    if not lossy:
        _check_back(text, format, rules, wanted)
    return text


def _match_text(match: MatchRecord, name: str, numbering: str, dialect: str) -> str:
    from nardcore.formats import mat, sgf, sheet

    if name == "sheet":
        return sheet.sheet_text(match, numbering=numbering)  # type: ignore[arg-type]
    if name == "mat":
        return mat.mat_text(match, dialect=dialect)  # type: ignore[arg-type]
    return sgf.sgf_text(match)


def _state_text(state: MatchState, name: str) -> str:
    from nardcore.formats import fibs, ids
    from nardcore.formats.positions import position_text

    if name == "text":
        return position_text(state.position.board, state.position.rules, state.dice)
    if name == "gnubg":
        return ids.state_gnubg_id(state)
    return ids.state_xgid(state) if name == "xgid" else fibs.fibs_board(state)


def _check_back(text: str, name: str, rules: Rules, wanted: Any) -> None:
    """Read what has been written, and compare."""
    from nardcore.formats._games import canonical

    hint = "pass lossy=True to leave it out"
    try:
        back: Any = loads(text, name, rules=rules if isinstance(wanted, MatchState) else None)
    except FormatError as error:
        msg = f"{name} cannot hold this: {error}"
        raise FormatError(msg) from error
    if isinstance(wanted, MatchRecord):
        # a sheet says itself who began, where that is known
        if name == "sheet":
            from dataclasses import replace

            from nardcore.records import check

            wanted = replace(wanted, games=tuple(check(game) for game in wanted.games))
        else:
            wanted = canonical(wanted)
    if back != wanted:
        lost = differing(wanted, back)
        msg = f"{name} cannot hold {lost}{_where(wanted, lost)}; {hint}"
        raise FormatError(msg)


def _where(wanted: Any, lost: str) -> str:
    """Say in which game and at which entry something is that does not come back."""
    found = re.search(r"games\[([0-9]+)\](?:\.entries\[([0-9]+)\])?", lost)
    if found is None or not isinstance(wanted, MatchRecord):
        return ""
    game = wanted.games[int(found[1])]
    if found[2] is None:
        return f" (game {int(found[1]) + 1})"
    entry = game.entries[int(found[2])]
    place = f"entry {int(found[2]) + 1}" if entry.line is None else f"line {entry.line}"
    return f" (game {int(found[1]) + 1}, {place})"


def encoded(text: str, name: str) -> bytes:
    """Turn a text into the bytes of a file."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        msg = f"{name} cannot hold U+{code:04X}, half a character, in a file; JSON and sheets can"
        raise FormatError(msg) from error


def dump(
    value: Value,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    lossy: bool = False,
    numbering: str = "own",
    dialect: str = "words",
) -> None:
    """Write a value to a file, whole or not at all.

    Parameters
    ----------
    value, lossy, numbering, dialect
        As for `dumps`.
    path : path
        UTF-8. The text is written under another name first, then renamed.
    format : str, optional
        A name of `FORMATS`; by default the ending of the file's name tells.

    Raises
    ------
    FormatError
        If the format cannot hold the value, or the ending tells no format.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import dump, load
    >>> dump(nc.Position.start(nc.LONG_NARDY), "long.json")
    >>> load("long.json").rules.name
    'long_nardy'
    """
    name = format if format is not None else _by_ending(path)
    if name is None:
        endings = " ".join(end for each in FORMATS.values() for end in each.extensions)
        msg = f"{os.fspath(path)} tells no format; known endings are {endings}"
        raise FormatError(msg)
    text = dumps(value, name, lossy=lossy, numbering=numbering, dialect=dialect)
    write_whole(path, encoded(text if text.endswith("\n") else text + "\n", name))
