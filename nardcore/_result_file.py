"""Rollout results as JSON files."""

from __future__ import annotations

import json
import os
import reprlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nardcore import _playout
from nardcore._moments import Moments
from nardcore._whole_file import write_whole
from nardcore.errors import FormatError, NardcoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nardcore._results import RolloutResult

__all__ = [
    "count_of",
    "from_dict",
    "int_of",
    "load",
    "made",
    "read",
    "result_from_dict",
    "save",
    "text_of",
    "to_dict",
    "write",
]

_FORMAT, _VERSION = "nardcore rollout", 2  # 1 had no method, no sums by roll


def to_dict(result: RolloutResult) -> dict[str, Any]:
    """Give a result as plain JSON values; seeds are texts, since JSON numbers are often doubles."""
    from nardcore import __version__

    bins = np.flatnonzero(result.plies)
    known = {
        "names": list(result.tables),
        "games": result.table_games,
        "sums": list(result.table_sums),
        "products": list(result.table_products),
    }
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "nardcore": __version__,
        "position": result.position.text(result.dice),
        "policies": list(result.policies),
        "seed": [str(word) for word in result.seed],
        "opening": result.opening,
        "ranges": [list(part) for part in result.ranges],
        "games": result.games,
        "counts": result.counts.tolist(),
        "total_plies": result.total_plies,
        "plies": {str(i): int(result.plies[i]) for i in bins.tolist()},
        **({"tables": known} if result.tables or result.table_games else {}),
        "method": {
            "truncate": result.truncate,
            "evaluator": result.evaluator,
            "stratified": result.stratified,
        },
        "truncated": result.truncated_games,
        "rolls": None if result.rolls is None else [_moments(m) for m in result.rolls],
        "reduced": [_moments(m) for m in result.reduced],
        "cells": None if result.cells is None else result.cells.tolist(),
    }


def _moments(m: Moments) -> list[Any]:
    """Write sums; the products are those of ended games, or the upper half of a square."""
    if m.products == Moments.of_counts([n >> 32 for n in m.sums]).products:
        return [m.n, list(m.sums)]
    return [m.n, list(m.sums), [m.products[10 * i + j] for i in range(10) for j in range(i, 10)]]


def _read_moments(data: Any, most: int) -> Moments:
    n, sums = count_of(data[0]), tuple(int_of(k) for k in data[1])
    if len(data) == 2:
        whole = tuple(k >> 32 for k in sums)
        found = Moments.of_counts(whole)
        if found.sums != sums or min(sums) < 0 or found.n != n:
            msg = f"the sums of {n} games are not whole games"
            raise FormatError(msg)
    else:
        half = [int_of(k) for k in data[2]]
        if len(sums) != 10 or len(half) != 55:
            msg = "sums by roll are ten sums and 55 products"
            raise FormatError(msg)
        products = [0] * 100
        at = iter(half)
        for i in range(10):
            for j in range(i, 10):
                products[10 * i + j] = products[10 * j + i] = next(at)
        found = Moments(n, sums, tuple(products))
    if len(sums) != 10 or n > most:
        msg = f"the sums of {n} games do not belong to {most} games"
        raise FormatError(msg)
    return found


def save(result: RolloutResult, path: str | os.PathLike[str]) -> None:
    """Write a result."""
    write(to_dict(result), path)


def write(data: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write JSON under a temporary name, then give it its own."""
    write_whole(path, (json.dumps(data, indent=1) + "\n").encode())


def load(path: str | os.PathLike[str]) -> RolloutResult:
    """Read a result and check that it adds up."""
    found: RolloutResult = read(path, result_from_dict)
    return found


def read(path: str | os.PathLike[str], make: Callable[[Any], Any]) -> Any:
    """Read JSON and make something of it; whatever is wrong is a FormatError."""
    name = os.fspath(path)
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        msg = f"{name} is no complete JSON file: {error.msg}"
        raise FormatError(msg, line=error.lineno, column=error.colno) from error
    except UnicodeDecodeError as error:
        msg = f"{name} is no text file"
        raise FormatError(msg) from error
    except (RecursionError, ValueError) as error:
        msg = f"{name} holds a number of too many digits, or too many levels"
        raise FormatError(msg) from error
    return made(data, name, make)


def from_dict(data: Any, name: str = "the text") -> RolloutResult:
    """Take a result from plain JSON values and check that it adds up; `name` is for messages."""
    found: RolloutResult = made(data, name, result_from_dict)
    return found


def made(data: Any, name: str, make: Callable[[Any], Any]) -> Any:
    """Make something of JSON values; whatever is wrong is a FormatError."""
    try:
        return make(data)
    except FormatError:
        raise
    except (
        NardcoreError,
        LookupError,
        TypeError,
        ValueError,
        OverflowError,
        AttributeError,
    ) as error:
        msg = f"{name} is no rollout result: {type(error).__name__} {error}"
        raise FormatError(msg) from error


def int_of(value: object) -> int:
    """Take a whole number; JSON's true and 1.0 are none."""
    if type(value) is not int:
        msg = f"expected a whole number, not {reprlib.repr(value)}"
        raise FormatError(msg)
    return value


def count_of(value: object) -> int:
    n = int_of(value)
    if n < 0:
        msg = f"expected 0 or more, not {n}"
        raise FormatError(msg)
    return n


def text_of(value: object) -> str:
    if not isinstance(value, str):
        msg = f"expected a text, not {reprlib.repr(value)}"
        raise FormatError(msg)
    return value


def result_from_dict(data: Any) -> RolloutResult:
    """Make a result of the JSON values of `to_dict`."""
    from nardcore._board import Position
    from nardcore._results import RolloutResult, _join
    from nardcore._trials import Method, Spec
    from nardcore.formats.positions import parse_position

    if data["format"] != _FORMAT:
        msg = f"the format is {reprlib.repr(data['format'])}, not {_FORMAT!r}"
        raise FormatError(msg)
    if not 1 <= int_of(data["version"]) <= _VERSION:
        newer = "newer than" if data["version"] > _VERSION else "not one that"
        msg = f"version {data['version']} of the format is {newer} this nardcore reads"
        raise FormatError(msg)
    found = parse_position(data["position"])
    position = Position.from_board(found.board, found.rules)
    dice = None if found.dice is None else (found.dice[0], found.dice[1])
    counts = np.array([count_of(n) for n in data["counts"]], dtype=np.int64)
    plies = np.zeros(_playout.PLIES, np.int64)
    for i, n in data["plies"].items():
        plies[count_of(int(i))] = count_of(n)
    ranges = _join(tuple((count_of(first), count_of(n)) for first, n in data["ranges"]))
    games = sum(n for _, n in ranges)
    if ranges and sum(ranges[-1]) > 2**62:
        msg = "trials are numbered below 2**62"
        raise FormatError(msg)
    if counts.shape != (10,):
        msg = f"there are ten counts, not {counts.size}"
        raise FormatError(msg)
    names, known, sums, products = _tables(data.get("tables"))
    if not counts.sum() + known == plies.sum() == games == int_of(data["games"]):
        msg = f"the counts do not add up to the {games} games of the trials"
        raise FormatError(msg)
    total_plies = count_of(data["total_plies"])
    least = int(plies @ np.arange(len(plies)))
    if total_plies < least or (total_plies > least and not plies[-1]):
        msg = f"the games of the histogram took {least} turns, not {total_plies}"
        raise FormatError(msg)
    first_policy, second_policy = data["policies"]
    policies = (text_of(first_policy), text_of(second_policy))
    seed = tuple(count_of(int(text_of(word))) for word in data["seed"])
    if not seed:
        msg = "the seed is empty"
        raise FormatError(msg)
    opening = data["opening"]
    if not isinstance(opening, bool):
        msg = f"opening is true or false, not {reprlib.repr(opening)}"
        raise FormatError(msg)
    method = _method(data, games, known)
    spec = None
    if not names:
        entropy = seed[0] if len(seed) == 1 else seed
        with suppress(ValueError, TypeError):  # of policies that do not go by name, or not here
            how = Method(stratified=method.get("stratified", False))
            spec = Spec.make(position, policies, entropy, dice, opening, (), how)
    return RolloutResult(
        position=position,
        policies=policies,
        seed=seed,
        dice=dice,
        opening=opening,
        ranges=ranges,
        counts=counts,
        plies=plies,
        total_plies=total_plies,
        tables=names,
        table_games=known,
        table_sums=sums,
        table_products=products,
        **method,
        _spec=spec,
    )


def _method(data: Any, games: int, early: int) -> dict[str, Any]:
    """Read what version 2 added."""
    if data["version"] < 2:
        return {}
    how = data["method"]
    truncate, stratified = how["truncate"], how["stratified"]
    if not isinstance(stratified, bool) or (truncate is not None and int_of(truncate) < 1):
        msg = f"the method {reprlib.repr(how)} is none"
        raise FormatError(msg)
    truncated = count_of(data["truncated"])
    if truncated > early or (truncated and truncate is None):
        msg = f"{truncated} games cannot have been truncated"
        raise FormatError(msg)
    rolls = data["rolls"]
    if rolls is not None:
        rolls = tuple(_read_moments(m, games) for m in rolls)
    reduced = tuple(_read_moments(m, games) for m in data["reduced"])
    if (rolls is not None and len(rolls) != 21) or len(reduced) not in (0, 22):
        msg = "there are 21 rolls"
        raise FormatError(msg)
    if sum(m.n for m in rolls or ()) > games or (reduced and reduced[0].n != games):
        msg = f"the sums by roll are not those of {games} games"
        raise FormatError(msg)
    cells = data["cells"]
    if (cells is not None) != stratified:
        msg = "stratified rollouts, and no others, have sums by two rolls"
        raise FormatError(msg)
    if cells is not None:
        cells = np.array([[int_of(n) for n in row] for row in cells], dtype=np.int64)
        if cells.shape != (441, 21) or (cells[:, 0] < 0).any() or cells[:, 0].sum() != games:
            msg = f"the sums by two rolls are not those of {games} games"
            raise FormatError(msg)
    return {
        "truncate": truncate,
        "evaluator": text_of(how["evaluator"]),
        "stratified": stratified,
        "truncated_games": truncated,
        "rolls": rolls,
        "reduced": reduced,
        "cells": cells,
    }


def _tables(data: Any) -> tuple[tuple[str, ...], int, tuple[int, ...], tuple[int, ...]]:
    """Read what tables said of trials."""
    if data is None:
        return (), 0, (0,) * 10, (0,) * 100
    names = tuple(text_of(name) for name in data["names"])
    games = count_of(data["games"])
    sums = tuple(count_of(n) for n in data["sums"])
    products = tuple(count_of(n) for n in data["products"])
    if len(sums) != 10 or len(products) != 100 or sum(sums) != games << 32:
        msg = f"the chances of tables do not add up to {games} games"
        raise FormatError(msg)
    return names, games, sums, products
