"""Evaluators of chances to test with: a function, the same as a native one, and an exact one."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore import _search

__all__ = ["NET", "PLAYER", "as_native", "by_net", "case_name", "exact", "rough"]


def rough(boards: NDArray[np.int8]) -> NDArray[np.float32]:
    """Chances by pips, blots and hits alone; every class has some."""
    points = boards[:, :24].astype(np.float64)
    own = np.maximum(points, 0) @ np.arange(1, 25) + 25.0 * boards[:, 24]
    theirs = np.maximum(-points, 0) @ np.arange(24, 0, -1) + 25.0 * boards[:, 25]
    lead = theirs - own + 4 - 2.0 * (boards[:, :24] == 1).sum(axis=1)
    win = 1 / (1 + np.exp(-lead / 30))
    mars = 0.1 + 0.3 * win**2
    lost = 0.1 + 0.3 * (1 - win) ** 2
    found = np.zeros((len(boards), 10))
    for first, chance, part in ((0, win, mars), (5, 1 - win, lost)):
        found[:, first] = chance * (1 - part)
        for k, share in enumerate((0.4, 0.3, 0.2, 0.1), 1):
            found[:, first + k] = chance * part * share
    return found.astype(np.float32)


_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_int8),
    ctypes.POINTER(ctypes.c_int8),
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_float),
)


class _Struct(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("state", ctypes.c_void_p),
        ("evaluate", _CALL),
    )


_kept: list[Any] = []


def as_native(function: Any, name: str = "rough") -> nc.Evaluator:
    """Make a native evaluator of a function, by a struct as C code would fill it."""

    @_CALL
    def call(_state: Any, _parent: Any, after: Any, n: int, out: Any) -> int:
        boards = np.ctypeslib.as_array(after, shape=(n, 32))
        np.ctypeslib.as_array(out, shape=(n, 10))[:] = function(boards)
        return 0

    struct = _Struct(1, 0, None, call)
    _kept.append((struct, call))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    capsule = new(ctypes.addressof(struct), b"nardcore.evaluator", None)
    _kept.append(capsule)
    return nc.Evaluator.from_capsule(capsule, name)


def exact(table: nc.bearoff.TwoSided, rules: nc.Rules = nc.BACKGAMMON) -> Any:
    """Make a function of a table: perfect play where both sides have a checker off."""
    probe = table.probe(rules)

    def perfect(boards: NDArray[np.int8]) -> NDArray[np.float32]:
        known, chances = _search.probe_tables([probe.capsule], nc.batch.flip(boards, rules))
        assert known.all()
        return np.concatenate([chances[:, 5:], chances[:, :5]], axis=1).astype(np.float32)

    return perfect


def _pip_net(name: str) -> dict[str, NDArray[np.float64]]:
    """A net with one unit at work, which knows the lead in pips."""
    rows, _, buckets = nc.nets.feature_sets()[name]
    w1, b1 = np.zeros((rows, 64)), np.zeros(64)
    values = np.arange(-15, 16)
    for byte in range(26):
        if byte < 24:
            pips = np.where(values > 0, -values * (byte + 1), -values * (24 - byte))
        else:
            pips = values * (25 if byte == 25 else -25)
        w1[byte * 32 + values + 16, 0] = pips / 60
    b1[0] = 0.55
    w2, b2 = np.zeros((buckets, 10, 64)), np.zeros((buckets, 10))
    w2[:, :5, 0], w2[:, 5:, 0] = 8, -8
    b2[:, :5] = np.array([0, -1, -2, -3, -4]) - 2.4
    b2[:, 5:] = np.array([0, -1, -2, -3, -4]) + 2.4
    return nc.nets.quantise({"W1": w1, "b1": b1, "W2": w2, "b2": b2}, name)


def _player() -> nc.nets.PlayerFile:
    sets = {"contact": "contact_short", "race": "race_short"}
    parts = {part: _pip_net(name) for part, name in sets.items()}
    return nc.nets.make(parts, {"sets": sets, "rules": "backgammon"})


PLAYER = _player()
NET = nc.Evaluator.net(PLAYER, full=True, name="pips")
"""A native evaluator of chances for short nardy: quick, fair in bear-offs, endless elsewhere."""


def by_net(boards: NDArray[np.int8]) -> NDArray[np.float32]:
    """The same as a function."""
    return NET(boards[0], boards)


def case_name(value: object) -> str:
    """Name a case of a test, the same in every process: without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
