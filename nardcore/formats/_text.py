"""What all readers share: limits, lines that know their place, small pieces of notation."""

from __future__ import annotations

import json
import re
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, cast

from nardcore._entries import MAX_LENGTH
from nardcore.errors import FormatError, NardcoreError
from nardcore.notation import as_dice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nardcore.typing import Dice

__all__ = [
    "MAX_BYTES",
    "MAX_COUNT",
    "MAX_ENTRIES",
    "MAX_GAMES",
    "MAX_LINE",
    "MAX_LINES",
    "MAX_PROBLEMS",
    "MAX_REMARKS",
    "MAX_STAKE",
    "MAX_TURNS",
    "Line",
    "check_size",
    "decode",
    "differing",
    "fail",
    "lines_of",
    "match_length",
    "quoted",
    "read_quoted",
    "read_tag",
    "reader",
    "roll_of",
    "short",
    "whole_number",
    "written_tag",
]

MAX_BYTES = 8 << 20
"""No text longer than this is read; a match to 25 points takes about 0.1 MB."""

MAX_LINE = 20_000
"""The longest line of a format that has lines."""

MAX_LINES = 200_000
"""The most lines."""

MAX_GAMES = 2_000
"""The most games of one text."""

MAX_ENTRIES = 30_000
"""The most moves, offers and answers of one text."""

MAX_TURNS = 5_000
"""The most moves, offers and answers of one game."""

MAX_REMARKS = 30_000
"""The most headings, remarks and throws for the first move of one text."""

MAX_PROBLEMS = 1_000
"""A text with more illegal plays than this is no record of this game."""

MAX_COUNT = 1_000_000_000
"""The largest number that is believed, where it is no stake."""

_DIGITS = 600
MAX_STAKE = 10**_DIGITS - 1
"""The largest stake or score that is read: dave knows no limit, but the turns of a game are few."""


_BREAK = re.compile(r"\r\n|\n|\r")
_Reader = TypeVar("_Reader", bound="Callable[..., Any]")


def reader(read: _Reader) -> _Reader:
    """Make a reader refuse texts that are too long, and raise nothing but `FormatError`."""

    @wraps(read)
    def checked(text: str, *args: Any, **options: Any) -> Any:
        check_size(text)
        try:
            return read(text, *args, **options)
        except FormatError:
            raise
        except (NardcoreError, ValueError, OverflowError, RecursionError) as error:
            msg = f"the text describes what cannot be: {error}"
            raise FormatError(msg) from error

    return cast("_Reader", checked)


class Line(NamedTuple):
    """A line of a text and its number, counted from 1."""

    number: int
    text: str

    def fail(self, what: str, at: int = 0) -> NoReturn:
        """Say what is wrong, and where; `at` counts characters from 0."""
        raise FormatError(what, line=self.number, column=at + 1)


def short(text: str, limit: int = 40) -> str:
    """Quote a piece of input, cut so that no input makes a long message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def fail(what: str, text: str = "", at: int = 0) -> NoReturn:
    """Say what is wrong at a place of a whole text."""
    line = text.count("\n", 0, at) + 1
    raise FormatError(what, line=line, column=at - text.rfind("\n", 0, at))


def check_size(text: str) -> str:
    """Refuse what is no text, or too much of it."""
    if not isinstance(text, str):
        msg = f"expected text, not {type(text).__name__}"  # type: ignore[unreachable]
        raise TypeError(msg)
    if len(text) > MAX_BYTES:
        msg = f"{len(text):,} characters; at most {MAX_BYTES:,} are read"
        raise FormatError(msg)
    return text


def decode(data: bytes) -> str:
    """Turn the bytes of a file into text: UTF-8, UTF-16 with its mark, else Windows' Latin."""
    if len(data) > MAX_BYTES:
        msg = f"more than {MAX_BYTES:,} bytes, which is the most that is read"
        raise FormatError(msg)
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16")
        if b"\0" in data:
            msg = "this is no text file: it holds zero bytes"
            raise FormatError(msg)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def lines_of(text: str) -> Iterator[Line]:
    """Split a text, with tabs as blanks and nothing trailing."""
    at = 0
    for number in range(1, MAX_LINES + 1):
        found = _BREAK.search(text, at)
        line = text[at : found.start() if found else None]
        if len(line) > MAX_LINE:
            msg = f"a line of {len(line):,} characters; at most {MAX_LINE:,} are read"
            raise FormatError(msg, line=number, column=1)
        yield Line(number, line.expandtabs().rstrip().removeprefix("\ufeff"))
        if found is None:
            return
        at = found.end()
    msg = f"more than {MAX_LINES:,} lines"
    raise FormatError(msg)


def whole_number(text: str) -> int | None:
    """Read a number that may be a score or a stake; None where it is too large."""
    if not 1 <= len(text) <= _DIGITS or not (text.isascii() and text.isdigit()):
        return None
    return int(text)


def match_length(text: str) -> int | None:
    """Read the length of a match; None where none is as long."""
    number = whole_number(text)
    return number if number is not None and number <= MAX_LENGTH else None


def roll_of(text: str) -> Dice:
    """Read two digits as a roll."""
    return as_dice((int(text[0]), int(text[-1])))


# ------------------------------------------------------------------------------- quoted values

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_ ]{0,60}")


def quoted(value: str) -> str:
    """Quote a value as JSON does; whatever is not safe in a line of text is escaped."""
    ascii_only = not value.isprintable() or any(0xD800 <= ord(c) < 0xE000 for c in value)
    return json.dumps(value, ensure_ascii=ascii_only)


def read_quoted(text: str, at: int) -> tuple[str, int] | None:
    """Read a JSON string that starts here: its value and the place after it."""
    if at >= len(text) or text[at] != '"':
        return None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError:
        return None
    assert isinstance(value, str)
    return value, end


_DECODER = json.JSONDecoder()


def written_tag(key: str, value: str) -> str:
    """Write ``[Key "value"]``, the key quoted too where it is no plain word."""
    plain = _PLAIN_KEY.fullmatch(key) and key == key.strip() and "  " not in key
    return f"[{key if plain else quoted(key)} {quoted(value)}]"


def read_tag(text: str) -> tuple[str, str] | None:
    """Read ``[Key "value"]``; values of other programs need not be escaped."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    found = read_quoted(text, 1)
    if found:
        key, at = found
    else:
        at = text.find('"')
        if at < 0:
            return None
        key = text[1:at].strip()
    rest = text[at:-1].strip()
    value = read_quoted(rest, 0)
    if value and value[1] == len(rest):
        return key, value[0]
    if len(rest) >= 2 and rest[0] == rest[-1] == '"':
        return key, rest[1:-1]
    return None


def differing(first: Any, second: Any, place: str = "") -> str:
    """Name the first place at which two values differ; an empty text if there is none."""
    import dataclasses

    if first == second:
        return ""
    if type(first) is type(second):
        if dataclasses.is_dataclass(first) and not isinstance(first, type):
            for field in dataclasses.fields(first):
                if not field.compare:
                    continue
                name = f"{place}.{field.name}" if place else field.name
                found = differing(getattr(first, field.name), getattr(second, field.name), name)
                if found:
                    return found
        if isinstance(first, tuple):
            if len(first) != len(second):
                return f"the {len(first)} {place} ({len(second)} come back)"
            for at, (one, other) in enumerate(zip(first, second, strict=True)):
                found = differing(one, other, f"{place}[{at}]")
                if found:
                    return found
    return f"{place} {short(str(first))}" if place else type(first).__name__
