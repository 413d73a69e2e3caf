"""The built-in policies: how well they play, and what the evaluators answer and refuse."""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nardcore as nc
from nardcore import policies

BENCH = Path(__file__).resolve().parent.parent / "bench"
RULES = {"short": nc.BACKGAMMON, "long": nc.LONG_NARDY}


@pytest.fixture(scope="module")
def bench() -> Any:
    """The modules of bench/ that measure policies."""
    sys.path.insert(0, str(BENCH))
    try:
        import duel
        import yardsticks
    finally:
        sys.path.remove(str(BENCH))
    return duel, yardsticks


# ---------------------------------------------------------------------------------------- strength


@pytest.mark.parametrize(("movement", "least"), [("short", 0.98), ("long", 0.95)])
def test_linear_beats_random_play(bench: Any, movement: str, least: float) -> None:
    found = bench[0].duel("linear", "random", RULES[movement], 6000, seed=11)
    assert found.win > least


@pytest.mark.parametrize(
    ("movement", "yardstick"), [("short", "fewest_blots"), ("long", "spread_out")]
)
def test_linear_beats_the_yardsticks(bench: Any, movement: str, yardstick: str) -> None:
    policy = getattr(bench[1], yardstick)
    found = bench[0].duel("linear", policy, RULES[movement], 2000, seed=12)
    assert found.mean - found.half > 0.3


@pytest.mark.parametrize("name", sorted(nc.PRESETS))
def test_linear_plays_every_preset_better_than_random(bench: Any, name: str) -> None:
    found = bench[0].duel("linear", "random", nc.PRESETS[name], 400, seed=13)
    assert found.mean - found.half > 0


def test_a_duel_of_equals_is_even_and_repeats(bench: Any) -> None:
    found = [bench[0].duel("linear", "linear", games=640, seed=1, threads=n) for n in (1, 3)]
    assert found[0].mean == 0 == found[1].mean
    assert found[0].seats == found[1].seats


def test_yardsticks_rate_what_they_say(bench: Any) -> None:
    boards = nc.batch.start(2, nc.LONG_NARDY)
    boards[1, [23, 22]] = 14, 1
    assert bench[1].spread_out(boards).tolist() == [1.0, 18.0]
    boards = nc.batch.start(2)
    boards[1, [23, 22]] = 1, 1
    assert bench[1].fewest_blots(boards).tolist() == [0.0, -2.0]
    assert bench[1].fewest_pips(boards).tolist() == [0.0, 1.0]


# --------------------------------------------------------------------------------- linear evaluator


@pytest.fixture(scope="module", params=["short", "long"])
def movement(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def played(movement: str) -> list[tuple[nc.Position, Any]]:
    """Positions of two games, races among them, and the plays of their rolls."""
    result = nc.rollout(nc.Position.start(RULES[movement]), games=2, seed=4, policy="linear")
    turns = [turn for trial in range(2) for turn in result.replay(trial).turns]
    return [(turn.position, turn.position.plays(turn.dice)) for turn in turns]


def stored(movement: str) -> dict[str, Any]:
    with (files("nardcore") / f"weights/linear_{movement}.npz").open("rb") as file:
        return dict(np.load(file, allow_pickle=False))


def is_race(board: np.ndarray, movement: str) -> bool:
    own = [p for p in range(24) if board[p] > 0] + [24] * bool(board[24])
    theirs = [p for p in range(24) if board[p] < 0] + [-1] * bool(board[25])
    if movement == "long":
        return max(own, default=0) < 12 <= min(theirs, default=12)
    return max(own, default=-1) < min(theirs, default=24)


def test_a_score_is_the_sum_of_weights_of_the_phase(movement: str) -> None:
    weights = stored(movement)["weights"].astype(np.int64)
    evaluator = policies.linear_evaluator(movement)
    seen = set()
    for position, plays in played(movement):
        unfinished = plays.boards[plays.boards[:, 26] < 15]
        scores = evaluator(position.board, unfinished)
        assert scores.dtype == np.float32
        for board, score in zip(unfinished, scores, strict=True):
            race = is_race(board, movement)
            seen.add(race)
            assert score == sum(weights[int(race), k, board[k] + 16] for k in range(28))
    assert seen == {False, True}


def test_the_weights_say_where_they_come_from(movement: str) -> None:
    found = stored(movement)
    assert found["weights"].dtype == np.int16
    assert found["weights"].shape == (2, 28, 32)
    assert found["movement"] == movement
    assert found["classes"] == RULES[movement].classes_fingerprint
    assert found["scoring"] == RULES[movement].scoring
    for name in ("recipe", "seed", "date", "rounds", "measured"):
        assert found[name].ndim == 0
        assert str(found[name])
    largest = np.abs(found["weights"].astype(np.int64)).max(axis=2).sum(axis=1).max()
    assert largest < 1 << 24


def test_the_linear_evaluator_is_loaded_once(movement: str) -> None:
    assert policies.linear_evaluator(movement) is policies.linear_evaluator(movement)
    assert policies.linear_evaluator(movement).name == "linear"


SCORES = """
import hashlib
import nardcore as nc
from nardcore import policies
digest = hashlib.sha256()
for rules in (nc.BACKGAMMON, nc.LONG_NARDY):
    evaluator = policies.linear_evaluator(rules.movement)
    result = nc.rollout(nc.Position.start(rules), games=3, seed=9, policy=("random", "linear"))
    for trial in range(3):
        for turn in result.replay(trial).turns:
            plays = turn.position.plays(turn.dice)
            digest.update(evaluator(turn.position.board, plays.boards).tobytes())
print(nc.isa(), digest.hexdigest())
"""


def test_scores_do_not_depend_on_the_instruction_set() -> None:
    found = {}
    for isa in ("", "portable"):
        environment = {**os.environ, "NARDCORE_ISA": isa}
        run = subprocess.run(
            [sys.executable, "-P", "-c", SCORES],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        name, digest = run.stdout.split()
        found[isa or "best"] = digest
        assert isa in ("", name)
    assert len(found) == 2
    assert len(set(found.values())) == 1
    assert len(found["best"]) == hashlib.sha256().digest_size * 2


# ---------------------------------------------------------------------------------- what is refused


def test_linear_refuses_other_shapes() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 28, 32\), not \(2, 28, 31\)"):
        nc.Evaluator.linear("bad", np.zeros((2, 28, 31)), "short")
    with pytest.raises(TypeError, match=r"Evaluator\.linear or Evaluator\.from_capsule"):
        nc.Evaluator()


def test_evaluators_refuse_other_boards() -> None:
    evaluator = policies.linear_evaluator("short")
    board = nc.Position.start().board
    with pytest.raises(ValueError, match="32 numbers"):
        evaluator(board[:31], board[None])
    with pytest.raises(ValueError, match="32 numbers"):
        evaluator(board, board[None, :31])
    assert evaluator(board, board[None][:0]).shape == (0,)


def test_policies_are_checked() -> None:
    start = nc.Position.start()
    with pytest.raises(ValueError, match="no policy 'linnear'; known are linear, net, random"):
        nc.rollout(start, games=1, policy="linnear")
    with pytest.raises(TypeError, match="a name, an Evaluator or a function, not 3"):
        nc.rollout(start, games=1, policy=("linear", 3))


# ---------------------------------------------------------------------------------------- capsules

CALL = ctypes.PYFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_int8),
    ctypes.POINTER(ctypes.c_int8),
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_float),
)
CALL_WITHOUT_GIL = ctypes.CFUNCTYPE(*([CALL._restype_, *CALL._argtypes_]))


class Struct(ctypes.Structure):
    """The struct nc_evaluator of nardcore.h."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("state", ctypes.c_void_p),
        ("evaluate", CALL_WITHOUT_GIL),
    )


def capsule(struct: Struct, name: bytes) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return new(ctypes.addressof(struct), name, None)


NAME = b"nardcore.evaluator"


@CALL_WITHOUT_GIL
def rate_the_last_highest(state, parent, after, n, out):
    for i in range(n):
        out[i] = i
    return 0


@CALL_WITHOUT_GIL
def fail(state, parent, after, n, out):
    return -7


@CALL_WITHOUT_GIL
def rate_nothing(state, parent, after, n, out):
    for i in range(n):
        out[i] = math.nan
    return 0


def test_a_capsule_plays() -> None:
    struct = Struct(1, 1, None, rate_the_last_highest)
    evaluator = nc.Evaluator.from_capsule(capsule(struct, NAME), "last")
    start = nc.Position.start()
    plays = start.plays((3, 1))
    assert evaluator.name == "last"
    assert evaluator(start.board, plays.boards).tolist() == list(range(len(plays)))

    def last(boards: np.ndarray) -> np.ndarray:
        return np.arange(len(boards))

    native, python = (
        nc.rollout(start, games=5, seed=2, policy=p, threads=1) for p in (evaluator, last)
    )
    assert native.counts.tolist() == python.counts.tolist()
    assert native.policies == ("last", "last")


def test_a_failing_evaluator_is_reported() -> None:
    struct = Struct(1, 1, None, fail)
    evaluator = nc.Evaluator.from_capsule(capsule(struct, NAME), "broken")
    start = nc.Position.start()
    with pytest.raises(RuntimeError, match="the evaluator broken failed with -7"):
        evaluator(start.board, start.plays((3, 1)).boards)
    with pytest.raises(RuntimeError, match="evaluator failed"):
        nc.rollout(start, games=1, policy=evaluator)


def test_a_native_score_that_is_no_number_is_reported() -> None:
    struct = Struct(1, 1, None, rate_nothing)
    evaluator = nc.Evaluator.from_capsule(capsule(struct, NAME), "lost")
    with pytest.raises(RuntimeError, match="not finite"):
        nc.rollout(nc.Position.start(), games=1, policy=evaluator)


def test_other_capsules_are_refused() -> None:
    struct = Struct(1, 1, None, fail)
    other = b"other.name"
    for thing in (None, object(), capsule(struct, other)):
        with pytest.raises(TypeError, match=r"PyCapsule named 'nardcore\.evaluator'"):
            nc.Evaluator.from_capsule(thing)
    newer, empty = Struct(2, 1, None, fail), Struct(1, 1, None)
    with pytest.raises(ValueError, match="version 2, not 1"):
        nc.Evaluator.from_capsule(capsule(newer, NAME))
    with pytest.raises(ValueError, match="version"):
        nc.Evaluator.from_capsule(capsule(empty, NAME))
