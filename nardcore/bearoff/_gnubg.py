"""gnubg's bear-off files (``.bd``), read and written.

A file has a header of 40 bytes, then numbers as little-endian uint16 in gnubg's numbering of
positions, which is `nardcore.bearoff.rank`'s.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff
from nardcore.bearoff._file import whole_file
from nardcore.bearoff._one import OneSided
from nardcore.bearoff._ranking import MOST_CHECKERS, check_kind, places, position_count
from nardcore.bearoff._two import TwoSided
from nardcore.errors import TableError
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nardcore.typing import Progress

__all__ = ["read_gnubg", "write_gnubg"]

_HEADER = 40
_ONE = re.compile(rb"gnubg-OS-(\d\d)-(\d\d)-([01])-([01])-([01])")
_TWO = re.compile(rb"gnubg-TS-(\d\d)-(\d\d)-([01])")
_VALUES = ("win", "owned", "centred", "opponent")
_SLOTS = 32  # a distribution's entries where it is not compressed


def read_gnubg(path: str | os.PathLike[str], *, rules: Rules = BACKGAMMON) -> OneSided | TwoSided:
    """Read a bear-off file of gnubg into memory.

    Parameters
    ----------
    path
        The file; of two-sided ones those of six points, of one-sided ones those that hold
        distributions.
    rules
        What the table is to be for; gnubg knows one way of bearing off, backgammon's.

    Returns
    -------
    OneSided or TwoSided
        The table, with the accuracy of the file.

    Raises
    ------
    TableError
        If it is no such file, cut short, or of a kind that is not supported.
    OSError
        If it cannot be read.
    """
    check_kind(rules)
    source = Path(path)
    with source.open("rb") as file:
        head = file.read(_HEADER)
        two, one = _TWO.match(head), _ONE.match(head)
        if two is None and one is None:
            msg = f"{path} is no bear-off file of gnubg"
            raise TableError(msg)
        raw = head + file.read()
    if two is not None:
        points, checkers, cubeful = (int(part) for part in two.groups())
        _check_rules(rules, points)
        return _read_two(source, raw, points, checkers, bool(cubeful), rules)
    assert one is not None
    points, checkers, first, packed, normal = (int(part) for part in one.groups())
    if normal:
        msg = f"{path} holds normal approximations, no distributions"
        raise TableError(msg)
    _check_rules(rules, points)
    return _read_one(source, raw, points, checkers, bool(first), bool(packed), rules)


def _check_rules(rules: Rules, points: int) -> None:
    """Refuse rules under which checkers are borne off in another way than gnubg knows."""
    plain = BACKGAMMON.replace(checkers=rules.checkers, start=((24, rules.checkers),))
    covered = min(max(points, 1), 24)
    if rules.bearoff_fingerprint(covered) != plain.bearoff_fingerprint(covered):
        msg = f"gnubg's tables are for the bear-off of backgammon, not for that of {rules.name}"
        raise TableError(msg)


def _numbers(path: Path, raw: bytes, count: int) -> NDArray[np.uint16]:
    """Take the numbers of a file that has as many bytes as its header says."""
    size = _HEADER + 2 * count
    if len(raw) != size:
        msg = f"{path} has {len(raw)} bytes instead of {size}: it is cut short or damaged"
        raise TableError(msg)
    return np.frombuffer(raw, "<u2", count, _HEADER)


def _check_checkers(path: Path, checkers: int, rules: Rules) -> None:
    most = min(MOST_CHECKERS, rules.checkers)
    if not 1 <= checkers <= most:
        msg = f"{path} is of {checkers} checkers, where {rules.name} has 1 to {most}"
        raise TableError(msg)


def _read_two(
    path: Path, raw: bytes, points: int, checkers: int, cubeful: bool, rules: Rules
) -> TwoSided:
    if points != 6:
        msg = f"{path} is of {points} points; two-sided tables cover six"
        raise TableError(msg)
    _check_checkers(path, checkers, rules)
    n = position_count(6, checkers)
    names = _VALUES if cubeful else _VALUES[:1]
    data = _numbers(path, raw, n * n * len(names)).reshape(n, n, len(names))
    order = places(checkers).ranks
    strips = -(-n // _bearoff.LANES)
    arrays = {}
    for i, name in enumerate(names):
        table = np.zeros((strips, n, _bearoff.LANES), np.uint16)
        for strip in range(strips):
            movers = order[strip * _bearoff.LANES : (strip + 1) * _bearoff.LANES]
            table[strip, :, : len(movers)] = data[movers, :, i][:, order].T
        # gnubg leaves the values of finished games open.
        table[:, 0, :] = 0
        table[0, :, 0] = 65535
        table[0, 0, 0] = 0
        table.flags.writeable = False
        arrays[name] = table
    return TwoSided._make(
        (checkers, checkers), "money" if cubeful else "win", rules, "uint16", None, arrays
    )


def _read_one(
    path: Path, raw: bytes, points: int, checkers: int, first: bool, packed: bool, rules: Rules
) -> OneSided:
    if not 1 <= points <= 18:
        msg = f"{path} is of {points} points; one-sided tables cover 1 to 18"
        raise TableError(msg)
    _check_checkers(path, checkers, rules)
    n = position_count(points, checkers)
    goals = ("off", "first") if first and checkers == rules.checkers else ("off",)
    each = 2 if first else 1
    arrays: dict[str, NDArray[Any]] = {}
    if packed:
        width = 8 if first else 6
        if len(raw) < _HEADER + n * width:
            msg = f"{path} is cut short, within its index"
            raise TableError(msg)
        index = np.frombuffer(raw, np.uint8, n * width, _HEADER).reshape(n, width)
        at = index[:, :4].astype(np.int64) @ np.array([1, 1 << 8, 1 << 16, 1 << 24])
        begin = _HEADER + n * width
        data = np.frombuffer(raw, "<u2", (len(raw) - begin) // 2, begin)
        sizes = [index[:, 4], index[:, 6]] if first else [index[:, 4]]
        offsets = [index[:, 5], index[:, 7]] if first else [index[:, 5]]
        starts = [at, at + index[:, 4]]
        if n and int((starts[each - 1] + sizes[each - 1]).max()) > len(data):
            msg = f"{path} is cut short, within its distributions"
            raise TableError(msg)
    else:
        data = _numbers(path, raw, n * _SLOTS * each)
        sizes = [np.full(n, _SLOTS, np.uint8)] * each
        offsets = [np.zeros(n, np.uint8)] * each
        starts = [np.arange(n) * _SLOTS * each + _SLOTS * i for i in range(each)]
    for i, goal in enumerate(goals):
        # ranks from here on have still to roll
        least = 1 if goal == "off" else position_count(points, checkers - 1)
        found = _distributions(goal, data, starts[i], sizes[i], offsets[i], least)
        if found is None:
            msg = f"{path} is damaged: not all of its distributions sum to 1"
            raise TableError(msg)
        arrays |= found
    return OneSided._make(points, checkers, rules, arrays)


def _distributions(
    goal: str,
    data: NDArray[np.uint16],
    start: NDArray[np.int64],
    size: NDArray[np.uint8],
    offset: NDArray[np.uint8],
    least: int,
) -> dict[str, NDArray[Any]] | None:
    """Take distributions apart and scale each to the sum 1; an empty one is certain at once.

    None where one does not sum to 1 within its rounding, or one from rank `least` on is empty.
    """
    n = len(start)
    width = _SLOTS * 2
    length = np.empty(n, np.uint8)
    first = np.empty(n, np.uint8)
    begin = np.zeros(n, np.int64)
    mean = np.empty(n)
    parts = []
    used = 0
    for at in range(0, n, 1 << 16):
        some = slice(at, min(at + (1 << 16), n))
        m = some.stop - some.start
        lanes = np.arange(width)
        inside = lanes < size[some, None]
        taken = np.minimum(start[some, None] + lanes, len(data) - 1)
        dense = np.where(inside, data[taken], 0).astype(np.float64)
        total = dense.sum(axis=1)
        empty = total == 0
        if (np.abs(total - 65535)[~empty] > width).any() or empty[max(least - at, 0) :].any():
            return None
        shift = np.where(empty, 0, offset[some])
        dense[empty, 0] = 1
        dense /= dense.sum(axis=1, keepdims=True)
        low = (dense > 0).argmax(axis=1)
        high = width - (dense[:, ::-1] > 0).argmax(axis=1)
        length[some], first[some] = high - low, low + shift
        keep = (lanes >= low[:, None]) & (lanes < high[:, None])
        parts.append(dense[keep])
        ends = used + np.cumsum(high - low)
        begin[some] = ends - (high - low)
        used = int(ends[-1]) if m else used
        mean[some] = (dense * (lanes + shift[:, None])).sum(axis=1)
    found: dict[str, NDArray[Any]] = {
        f"{goal} start": begin,
        f"{goal} first": first,
        f"{goal} length": length,
        f"{goal} rows": np.concatenate(parts),
        f"{goal} mean": mean,
    }
    for array in found.values():
        array.flags.writeable = False
    return found


# ------------------------------------------------------------------------------------------ writing


def write_gnubg(
    table: OneSided | TwoSided,
    path: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
) -> None:
    """Write a table as a bear-off file of gnubg; it appears whole or not at all.

    Parameters
    ----------
    table
        A two-sided table of chances or of money equities, of two equal sides; or a one-sided one
        (its goals ``"off"`` and, where it has it, ``"first"``), written compressed.
    path
        The file.
    progress
        Called as ``progress(done, total)``, in bytes; how many there will be is not known of a
        one-sided table.

    Raises
    ------
    TableError
        If the format cannot hold the table.
    OSError
        If it cannot be written.
    """
    if not isinstance(table, (OneSided, TwoSided)):
        msg = f"gnubg's files are for OneSided and TwoSided tables, not {type(table).__name__}"  # type: ignore[unreachable]
        raise TypeError(msg)
    _check_rules(table.rules, 6 if isinstance(table, TwoSided) else table.points)
    size = None
    if isinstance(table, TwoSided):
        blocks = _two_blocks(table)
        values = len(_VALUES) if table.equities == "money" else 1
        size = _HEADER + 2 * values * position_count(6, table.checkers[0]) ** 2
    else:
        blocks = _one_blocks(table)
    target = Path(path)
    with whole_file(target) as file:
        for block in blocks:
            file.write(block)
            if progress is not None:
                progress(file.tell(), size)


def _two_blocks(table: TwoSided) -> Iterable[bytes]:
    n, m = table.checkers
    if n != m or table.equities == "scoring":
        msg = "gnubg's two-sided files are for two equal sides, chances or money"
        raise TableError(msg)
    money = table.equities == "money"
    yield f"gnubg-TS-06-{n:02}-{int(money)}".encode().ljust(_HEADER - 1, b"x") + b"\n"
    place = places(n).place
    raw = [table.raw[name] for name in (_VALUES if money else _VALUES[:1])]
    for mover in range(len(place)):
        strip, lane = divmod(int(place[mover]), _bearoff.LANES)
        row = np.stack([array[strip, place, lane] for array in raw], axis=1)
        if mover == 0:
            row[0] = (
                65535 if table.dtype == "uint16" else 1
            )  # as gnubg does, though nobody is on roll
        if row.dtype != np.uint16:
            row = np.rint(row * 65535.0)
        yield row.astype("<u2").tobytes()


def _one_blocks(table: OneSided) -> Iterable[bytes]:
    first = "first mean" in table.raw
    goals = ("off", "first") if first else ("off",)
    n = len(table.raw["off mean"])
    header = f"gnubg-OS-{table.points:02}-{table.checkers:02}-{int(first)}-1-0"
    yield header.encode().ljust(_HEADER - 1, b"x") + b"\n"
    rounded = [_rounded(table, goal) for goal in goals]
    index = np.zeros((n, 8 if first else 6), np.uint8)
    total = np.sum([length for _, _, length in rounded], axis=0, dtype=np.int64)
    begin = np.cumsum(total) - total
    index[:, :4] = begin.astype("<u4")[:, None].view(np.uint8)
    for i, (_, low, length) in enumerate(rounded):
        index[:, 4 + 2 * i], index[:, 5 + 2 * i] = length, low
    yield index.tobytes()
    data = np.zeros(int(total.sum()), "<u2")
    at = begin
    for dense, _, length in rounded:
        data[np.repeat(at, length) + _ramp(length)] = dense
        at = at + length
    yield data.tobytes()


def _ramp(length: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count 0, 1, … within each of many stretches."""
    ends = np.cumsum(length, dtype=np.int64)
    ramp: NDArray[np.int64] = np.arange(int(ends[-1])) - np.repeat(ends - length, length)
    return ramp


def _rounded(
    table: OneSided, goal: str
) -> tuple[NDArray[np.uint16], NDArray[np.uint8], NDArray[np.uint8]]:
    """Round distributions to 65535ths that sum to 65535: all numbers in a row, firsts, lengths."""
    start, first, length, rows = (
        table.raw[f"{goal} {part}"] for part in ("start", "first", "length", "rows")
    )
    ramp = _ramp(length)
    row = np.repeat(np.arange(len(start)), length)
    exact = rows[np.repeat(start, length) + ramp] * 65535
    whole = np.floor(exact)
    missing = 65535 - np.bincount(row, whole, len(start)).astype(np.int64)
    # The largest remainders of each row are rounded up, as many as are missing.
    order = np.lexsort((whole - exact, row))
    place = np.empty(len(order), np.int64)
    place[order] = ramp
    whole += place < np.repeat(missing, length)
    # Only trailing zeros can be left out.
    last = np.zeros(len(start), np.int64)
    np.maximum.at(last, row, np.where(whole > 0, ramp + 1, 1))
    keep = ramp < np.repeat(last, length)
    return whole[keep].astype(np.uint16), first, last.astype(np.uint8)
