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

__all__ = ["load", "save", "to_dict"]

_FORMAT, _VERSION = "nardcore rollout", 1


def to_dict(result: RolloutResult) -> dict[str, Any]:
    """Give a result as plain JSON values; seeds are texts, since JSON numbers are often doubles."""
    from nardcore import __version__

    bins = np.flatnonzero(result.plies)
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
    }


def save(result: RolloutResult, path: str | os.PathLike[str]) -> None:
    """Write a result under a temporary name, then give it its own."""
    target = Path(path)
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
    try:
        return _result(data)
    except FormatError:
        raise
    except (NardcoreError, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        msg = f"{name} is no rollout result: {type(error).__name__} {error}"
        raise FormatError(msg) from error


def _result(data: Any) -> RolloutResult:
    from nardcore._board import Position
    from nardcore._trials import Spec
    from nardcore.formats.positions import parse_position
    from nardcore.rollouts import RolloutResult

    if data["format"] != _FORMAT:
        msg = f"the format is {data['format']!r}, not {_FORMAT!r}"
        raise FormatError(msg)
    if not isinstance(data["version"], int) or data["version"] > _VERSION:
        msg = f"version {data['version']} of the format is newer than this nardcore reads"
        raise FormatError(msg)
    found = parse_position(data["position"])
    position = Position.from_board(found.board, found.rules)
    dice = None if found.dice is None else (found.dice[0], found.dice[1])
    counts = np.array(data["counts"], dtype=np.int64)
    plies = np.zeros(_rollout.PLIES, np.int64)
    for i, n in data["plies"].items():
        plies[int(i)] = n
    ranges = tuple((int(first), int(n)) for first, n in data["ranges"])
    games = sum(n for _, n in ranges)
    if counts.shape != (10,) or (counts < 0).any() or (plies < 0).any():
        msg = "there are ten counts, none below zero"
        raise FormatError(msg)
    if not counts.sum() == plies.sum() == games == data["games"]:
        msg = f"the counts do not add up to the {games} games of the trials"
        raise FormatError(msg)
    policies = (str(data["policies"][0]), str(data["policies"][1]))
    seed = tuple(int(word) for word in data["seed"])
    opening = bool(data["opening"])
    spec = None
    if set(policies) <= set(NAMES):
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
        int(data["total_plies"]),
        spec,
    )
