"""Rollout results as JSON files."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nardcore import _rollout
from nardcore.errors import FormatError, NardcoreError
from nardcore.policies import NAMES

if TYPE_CHECKING:
    from nardcore.rollouts import RolloutResult

__all__ = ["from_dict", "load", "save", "to_dict"]

_FORMAT, _VERSION = "nardcore rollout", 1


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
        **({"tables": known} if result.tables else {}),
    }


def save(result: RolloutResult, path: str | os.PathLike[str]) -> None:
    """Write a result under a temporary name, then give it its own."""
    target = Path(path).resolve()  # a link stays one, and its target is written
    if target.exists() and not target.is_file():
        msg = f"{os.fspath(path)} is no regular file, so no result is written there"
        raise OSError(msg)
    text = json.dumps(to_dict(result), indent=1) + "\n"
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> RolloutResult:
    """Read a result and check that it adds up."""
    name = os.fspath(path)
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        msg = f"{name} is no complete JSON file: {error.msg}"
        raise FormatError(msg, line=error.lineno, column=error.colno) from error
    except (UnicodeDecodeError, RecursionError) as error:
        msg = f"{name} is no text file"
        raise FormatError(msg) from error
    return from_dict(data, name)


def from_dict(data: Any, name: str = "the text") -> RolloutResult:
    """Take a result from plain JSON values and check that it adds up; `name` is for messages."""
    try:
        return _result(data)
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


def _int(value: object) -> int:
    """Take a whole number; JSON's true and 1.0 are none."""
    if type(value) is not int:
        msg = f"expected a whole number, not {value!r}"
        raise FormatError(msg)
    return value


def _count(value: object) -> int:
    n = _int(value)
    if n < 0:
        msg = f"expected 0 or more, not {n}"
        raise FormatError(msg)
    return n


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"expected a text, not {value!r}"
        raise FormatError(msg)
    return value


def _result(data: Any) -> RolloutResult:
    from nardcore._board import Position
    from nardcore._trials import Spec
    from nardcore.formats.positions import parse_position
    from nardcore.rollouts import RolloutResult, _join

    if data["format"] != _FORMAT:
        msg = f"the format is {data['format']!r}, not {_FORMAT!r}"
        raise FormatError(msg)
    if _int(data["version"]) != _VERSION:
        newer = "newer than" if data["version"] > _VERSION else "not one that"
        msg = f"version {data['version']} of the format is {newer} this nardcore reads"
        raise FormatError(msg)
    found = parse_position(data["position"])
    position = Position.from_board(found.board, found.rules)
    dice = None if found.dice is None else (found.dice[0], found.dice[1])
    counts = np.array([_count(n) for n in data["counts"]], dtype=np.int64)
    plies = np.zeros(_rollout.PLIES, np.int64)
    for i, n in data["plies"].items():
        plies[_count(int(i))] = _count(n)
    ranges = _join(tuple((_count(first), _count(n)) for first, n in data["ranges"]))
    games = sum(n for _, n in ranges)
    if ranges and sum(ranges[-1]) > 2**62:
        msg = "trials are numbered below 2**62"
        raise FormatError(msg)
    if counts.shape != (10,):
        msg = f"there are ten counts, not {counts.size}"
        raise FormatError(msg)
    names, known, sums, products = _tables(data.get("tables"))
    if not counts.sum() + known == plies.sum() == games == _int(data["games"]):
        msg = f"the counts do not add up to the {games} games of the trials"
        raise FormatError(msg)
    total_plies = _count(data["total_plies"])
    least = int(plies @ np.arange(len(plies)))
    if total_plies < least or (total_plies > least and not plies[-1]):
        msg = f"the games of the histogram took {least} turns, not {total_plies}"
        raise FormatError(msg)
    first_policy, second_policy = data["policies"]
    policies = (_text(first_policy), _text(second_policy))
    seed = tuple(_count(int(_text(word))) for word in data["seed"])
    if not seed:
        msg = "the seed is empty"
        raise FormatError(msg)
    opening = data["opening"]
    if not isinstance(opening, bool):
        msg = f"opening is true or false, not {opening!r}"
        raise FormatError(msg)
    spec = None
    if set(policies) <= set(NAMES) and not names:
        spec = Spec.make(position, policies, seed[0] if len(seed) == 1 else seed, dice, opening)
    return RolloutResult(
        position,
        policies,
        seed,
        dice,
        opening,
        ranges,
        counts,
        plies,
        total_plies,
        names,
        known,
        sums,
        products,
        spec,
    )


def _tables(data: Any) -> tuple[tuple[str, ...], int, tuple[int, ...], tuple[int, ...]]:
    """Read what tables said of trials."""
    if data is None:
        return (), 0, (0,) * 10, (0,) * 100
    names = tuple(_text(name) for name in data["names"])
    games = _count(data["games"])
    sums = tuple(_count(n) for n in data["sums"])
    products = tuple(_count(n) for n in data["products"])
    if len(sums) != 10 or len(products) != 100 or sum(sums) != games << 32:
        msg = f"the chances of tables do not add up to {games} games"
        raise FormatError(msg)
    return names, games, sums, products
