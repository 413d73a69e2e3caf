"""Rollouts: the same answer however they are run, and what they do when something goes wrong."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.resources import files
from itertools import pairwise
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import nardcore as nc
from nardcore.policies import linear_evaluator
from nardcore.rollouts import CHUNK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

START = nc.Position.start()
NEAR = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})  # a few turns and it is over
GAMES = 3 * CHUNK + 100


def numbers(result: nc.RolloutResult) -> tuple[Any, ...]:
    """All that was counted, without the names of the policies."""
    return result.ranges, result.counts.tolist(), result.plies.tolist(), result.total_plies


# ---------------------------------------------------------------------------------------------
# The same answer


@pytest.mark.parametrize("name", ["backgammon", "short_nardy", "fnr_long", "hypergammon"])
@pytest.mark.parametrize("policy", ["linear", "random"])
def test_any_number_of_threads_gives_the_same(name: str, policy: str) -> None:
    start = nc.Position.start(nc.PRESETS[name])
    one, two, five = (
        nc.rollout(start, games=GAMES // 2, seed=5, policy=policy, threads=threads)
        for threads in (1, 2, 5)
    )
    assert one == two == five
    assert one.games == one.counts.sum() == one.plies.sum() == GAMES // 2
    assert (one.plies @ np.arange(len(one.plies))) == one.total_plies


def test_processes_give_what_threads_give() -> None:
    expected = nc.rollout(NEAR, games=GAMES, seed=[1, 2], dice=(6, 1), policy=("linear", "random"))
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = nc.rollout(
            NEAR, games=GAMES, seed=[1, 2], dice=(6, 1), policy=("linear", "random"), executor=pool
        )
    assert found == expected
    with ThreadPoolExecutor(3) as pool:
        again = nc.rollout(
            NEAR, games=GAMES, seed=[1, 2], dice=(6, 1), policy=("linear", "random"), executor=pool
        )
        assert again == expected
        assert pool.submit(int, "3").result() == 3  # the pool is its owner's


def test_a_chunk_is_the_same_wherever_it_runs() -> None:
    from nardcore._trials import Spec

    spec = Spec.make(NEAR, "random", 3, None, False).to_bytes()
    assert nc.rollout_chunk(spec, 500, 40) == nc.rollout_chunk(spec, 500, 40)
    sums = np.frombuffer(nc.rollout_chunk(spec, 500, 40), "<i8")
    result = nc.rollout(NEAR, policy="random", seed=3, first=500, games=40)
    assert sums[:10].tolist() == result.counts.tolist()


def linear_by_hand(movement: str) -> Callable[[NDArray[np.int8]], NDArray[np.int64]]:
    """The built-in evaluator, written again from its weights."""
    path = files("nardcore").joinpath(f"weights/linear_{movement}.npz")
    with path.open("rb") as file:
        weights = np.load(file)["weights"].astype(np.int64)

    def score(boards: NDArray[np.int8]) -> NDArray[np.int64]:
        points = boards[:, :24]
        index = np.arange(24)
        if movement == "long":
            race = ~(points[:, 12:] > 0).any(axis=1) & ~(points[:, :12] < 0).any(axis=1)
        else:
            mine = np.where(points > 0, index, -1).max(axis=1)
            mine = np.where(boards[:, 24] > 0, 24, mine)
            theirs = np.where(points < 0, index, 99).min(axis=1)
            race = (mine < theirs) & (boards[:, 25] == 0)
        return weights[race.astype(int)[:, None], np.arange(28), boards[:, :28] + 16].sum(axis=1)

    return score


@pytest.mark.parametrize("name", ["backgammon", "short_dave", "long_nardy", "fnr_long"])
def test_a_function_that_scores_alike_plays_alike(name: str) -> None:
    rules = nc.PRESETS[name]
    start = nc.Position.start(rules)
    more: dict[str, Any] = {"games": 300, "seed": 9, "first": 50}
    native = nc.rollout(start, policy="linear", **more)
    evaluator = linear_evaluator(rules.movement)
    for policy in (
        evaluator,
        linear_by_hand(rules.movement),
        lambda boards: evaluator(boards[0], boards),
        (evaluator, linear_by_hand(rules.movement)),
    ):
        assert numbers(nc.rollout(start, policy=policy, **more)) == numbers(native)
    both = nc.rollout(start, policy=("random", "linear"), **more)
    mixed = nc.rollout(start, policy=("random", linear_by_hand(rules.movement)), **more)
    assert numbers(both) == numbers(mixed)
    assert numbers(both) != numbers(native)


def test_probabilities_are_rated_by_the_points_of_the_rules() -> None:
    def prefers_gammons(boards: NDArray[np.int8]) -> NDArray[np.float64]:
        found = np.zeros((len(boards), 10))
        share = boards[:, 26] / 15
        found[:, 0], found[:, 1] = share, (1 - share) * 0.3
        found[:, 5] = 1 - found.sum(axis=1)
        return found

    def by_hand(boards: NDArray[np.int8]) -> NDArray[np.float64]:
        p = prefers_gammons(boards)
        return p[:, 0] + 2 * p[:, 1] - p[:, 5]

    more: dict[str, Any] = {"games": 200, "seed": 4}
    assert numbers(nc.rollout(NEAR, policy=prefers_gammons, **more)) == numbers(
        nc.rollout(NEAR, policy=by_hand, **more)
    )


def test_parts_merge_in_any_order_to_the_whole() -> None:
    whole = nc.rollout(NEAR, games=5000, seed=8)
    cuts = [0, 1, 700, 2048, 2049, 5000]
    parts = [
        nc.rollout(NEAR, games=last - first, first=first, seed=8) for first, last in pairwise(cuts)
    ]
    rng = np.random.default_rng(1)
    for _ in range(5):
        order = rng.permutation(len(parts))
        merged = parts[order[0]]
        for i in order[1:]:
            merged = merged.merge(parts[i])
        assert merged == whole
        assert merged.ranges == ((0, 5000),)
    gap = parts[0].merge(parts[4])
    assert gap.ranges == ((0, 1), (2049, 2951))
    assert gap.games == 2952


def test_what_does_not_belong_together_does_not_merge() -> None:
    base = nc.rollout(NEAR, games=50, seed=8)
    with pytest.raises(ValueError, match="both"):
        base.merge(base)
    with pytest.raises(ValueError, match="both"):
        base.merge(nc.rollout(NEAR, games=2, first=49, seed=8))
    for other, field in (
        (nc.rollout(NEAR, games=5, first=50, seed=9), "seed"),
        (nc.rollout(NEAR.flip(), games=5, first=50, seed=8), "position"),
        (nc.rollout(NEAR, games=5, first=50, seed=8, policy="random"), "policies"),
        (nc.rollout(NEAR, games=5, first=50, seed=8, dice=(2, 1)), "dice"),
        (nc.rollout(NEAR, games=5, first=50, seed=8, opening=True), "opening"),
    ):
        with pytest.raises(ValueError, match=field):
            base.merge(other)
    with pytest.raises(TypeError):
        base.merge(5)


def test_a_target_of_the_error_stops_at_the_same_game_for_any_threads() -> None:
    found = [
        nc.rollout(NEAR, target_stderr=0.009, seed=2, policy="linear", threads=threads)
        for threads in (1, 2, 5)
    ]
    assert found[0] == found[1] == found[2]
    assert found[0].stderr() <= 0.009
    assert found[0].games % CHUNK == 0
    shorter = nc.rollout(NEAR, games=found[0].games - CHUNK, seed=2, policy="linear")
    assert shorter.stderr() > 0.009
    capped = nc.rollout(NEAR, games=CHUNK + 5, target_stderr=1e-9, seed=2, policy="linear")
    assert capped.games == CHUNK + 5


def test_the_first_roll_may_be_given() -> None:
    result = nc.rollout(NEAR, games=100, seed=1, dice=(1, 2))
    assert result.dice == (2, 1) or result.dice == (1, 2)
    assert all(result.replay(i).turns[0].dice == (2, 1) for i in range(5))
    # what the weighted rolls give together is the whole
    mean = sum(
        weight * nc.rollout(NEAR, games=2000, seed=3, dice=roll).win
        for roll, weight in zip(nc.dice.ROLLS, nc.dice.WEIGHTS, strict=True)
    )
    assert abs(mean / 36 - nc.rollout(NEAR, games=40_000, seed=4).win) < 0.02


def test_a_drawn_seed_is_kept() -> None:
    result = nc.rollout(NEAR, games=30)
    assert nc.rollout(NEAR, games=30, seed=result.seed[0]) == result


@pytest.mark.parametrize("policy", ["linear", "random", ("random", "linear")])
@pytest.mark.parametrize("name", ["backgammon", "fnr_long"])
def test_a_replayed_game_ends_as_it_was_counted(name: str, policy: Any) -> None:
    start = nc.Position.start(nc.PRESETS[name])
    result = nc.rollout(start, games=12, seed=21, first=5, policy=policy)
    counts, plies = np.zeros(10, int), 0
    for trial in range(5, 17):
        game = result.replay(trial)
        counts[game.outcome] += 1
        plies += len(game.turns)
        position = start
        for turn in game.turns:
            assert turn.position == position
            assert turn.play in position.plays(turn.dice)
            position = turn.play.result
        outcome = position.outcome
        assert outcome is not None
        assert game.outcome == (outcome if len(game.turns) % 2 == 0 else (outcome + 5) % 10)
        rolls = nc.dice.rolls(21, trial, len(game.turns))
        assert [tuple(sorted(roll, reverse=True)) for roll in rolls.tolist()] == [
            turn.dice for turn in game.turns
        ]
    assert counts.tolist() == result.counts.tolist()
    assert plies == result.total_plies


# ---------------------------------------------------------------------------------------------
# What is derived from the counts


def test_a_rollout_is_scored_again_by_any_table() -> None:
    result = nc.rollout(START, games=2000, seed=6)
    games = [cls for cls, n in enumerate(result.counts.tolist()) for _ in range(n)]
    for scoring in (None, *nc.SCORING, (1, 2, 3, 4, 5)):
        table: Any = nc.SCORING["backgammon"] if scoring is None else scoring
        table = nc.SCORING[table] if isinstance(table, str) else table
        points = np.array([table[c] if c < 5 else -table[c - 5] for c in games], float)
        assert math.isclose(result.equity(scoring), points.mean(), abs_tol=1e-12)
        assert math.isclose(result.variance(scoring), points.var(ddof=1), rel_tol=1e-12)
        assert math.isclose(result.stderr(scoring), points.std(ddof=1) / math.sqrt(len(points)))
        low, high = result.ci(0.9, scoring)
        assert math.isclose(high - low, 2 * 1.6448536269514722 * result.stderr(scoring))
    # a policy may take a win by what it scores, but chance does not
    plain, scored = (
        nc.rollout(nc.Position.start(rules), games=300, seed=6, policy="random")
        for rules in (nc.BACKGAMMON, nc.TRIKTRAK_UA)
    )
    assert plain.equity("triktrak") == scored.equity()
    p = result.probabilities
    assert math.isclose(p.sum(), 1)
    inclusive = result.inclusive
    assert math.isclose(inclusive["win"] + inclusive["lose"], 1)
    assert math.isclose(inclusive["win_gammon"], p[1:5].sum())
    for bad in ("chess", (1, 2), (1, 2, 3, 4, math.nan), None):
        if bad is not None:
            with pytest.raises(ValueError, match="scoring"):
                result.equity(bad)
    for level in (0, 1, -1, 2):
        with pytest.raises(ValueError, match="level"):
            result.ci(level)


def test_the_sides_see_the_same_games_from_opposite_ends() -> None:
    won = nc.Position({1: 1}, {1: 1})
    result = nc.rollout(won, games=50, seed=1)
    assert result.win == 1
    assert result.counts.tolist() == [50] + 9 * [0]
    assert result.mean_plies == 1
    lost = nc.Position({6: 3, 5: 3}, {1: 1})
    assert nc.rollout(lost, games=50, seed=1).win == 0


def test_a_single_game_has_no_error() -> None:
    one = nc.rollout(NEAR, games=1, seed=1)
    assert math.isnan(one.stderr())
    assert math.isnan(one.variance())
    assert repr(one)


# ---------------------------------------------------------------------------------------------
# Requests that make no sense


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"games": 0}, ValueError),
        ({"games": -5}, ValueError),
        ({"games": True}, TypeError),
        ({"games": 2.5}, TypeError),
        ({"games": "10"}, TypeError),
        ({"games": 2**63}, ValueError),
        ({"first": -1}, ValueError),
        ({"first": 1.5}, TypeError),
        ({"first": 2**62}, ValueError),
        ({"threads": 0}, ValueError),
        ({"threads": -1}, ValueError),
        ({"threads": 1.5}, TypeError),
        ({"seed": -1}, ValueError),
        ({"seed": "x"}, (TypeError, ValueError)),
        ({"seed": 1.5}, TypeError),
        ({"dice": (0, 1)}, ValueError),
        ({"dice": (7, 1)}, ValueError),
        ({"dice": (1.0, 2)}, TypeError),
        ({"dice": (1, 2), "opening": True}, ValueError),
        ({"policy": "best"}, ValueError),
        ({"policy": 5}, TypeError),
        ({"policy": (None, "net")}, TypeError),
        ({"policy": ("linear",)}, ValueError),
        ({"policy": ("linear",) * 3}, ValueError),
        ({"target_stderr": 0}, ValueError),
        ({"target_stderr": -0.1}, ValueError),
        ({"target_stderr": math.nan}, ValueError),
        ({"scoring": "chess", "target_stderr": 0.1}, ValueError),
        ({"executor": 5}, TypeError),
    ],
)
def test_a_request_without_sense_is_refused(more: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        nc.rollout(NEAR, **{"games": 10, "seed": 1, **more})


def test_a_rollout_begins_at_a_position_that_goes_on() -> None:
    with pytest.raises(ValueError, match="over"):
        nc.rollout(nc.Position({"off": 15}, {1: 1}), games=1)
    with pytest.raises(TypeError, match="Position"):
        nc.rollout("4HPwATDgc/ABMA", games=1)
    with pytest.raises(ValueError, match="exclude"), ThreadPoolExecutor(1) as pool:
        nc.rollout(NEAR, games=1, threads=2, executor=pool)
    with ThreadPoolExecutor(1) as pool, pytest.raises(TypeError, match="threads"):
        nc.rollout(NEAR, games=1, policy=linear_evaluator("short"), executor=pool)
    with pytest.raises(ValueError, match="trial"):
        nc.rollout(NEAR, games=1).replay(-1)


def no_thread_is_left() -> bool:
    return not [thread for thread in threading.enumerate() if thread.name.startswith("nardcore")]


@pytest.mark.parametrize(
    ("policy", "error", "words"),
    [
        (lambda boards: 1 / 0, ZeroDivisionError, "division"),
        (lambda boards: boards, ValueError, "shape"),
        (lambda boards: boards[:-1, 0], ValueError, "shape"),
        (lambda boards: np.zeros((len(boards), 9)), ValueError, "shape"),
        (lambda boards: np.full(len(boards), np.nan), ValueError, "finite"),
        (lambda boards: np.full((len(boards), 10), np.inf), ValueError, "finite"),
        (lambda boards: ["a"] * len(boards), TypeError, "not numbers"),
        (lambda boards: np.zeros(len(boards), complex), TypeError, "not numbers"),
        (lambda boards: np.zeros(len(boards), bool), TypeError, "not numbers"),
        (lambda boards: None, ValueError, "shape"),
    ],
)
def test_a_policy_that_fails_is_told(policy: Any, error: Any, words: str) -> None:
    for both in (policy, ("linear", policy)):
        with pytest.raises(error, match=words):
            nc.rollout(START, games=5000, seed=1, policy=both)
        assert no_thread_is_left()


def test_progress_is_told_after_each_chunk_and_may_raise() -> None:
    seen: list[tuple[int, int | None]] = []
    nc.rollout(
        NEAR, games=GAMES, seed=1, policy="linear", progress=lambda *state: seen.append(state)
    )
    assert seen == [(CHUNK, GAMES), (2 * CHUNK, GAMES), (3 * CHUNK, GAMES), (GAMES, GAMES)]
    seen.clear()
    nc.rollout(
        NEAR, target_stderr=0.5, seed=1, policy="linear", progress=lambda *state: seen.append(state)
    )
    assert seen == [(CHUNK, None)]

    def raising(done: int, total: int | None) -> None:
        msg = "enough"
        raise LookupError(msg)

    with pytest.raises(LookupError, match="enough"):
        nc.rollout(START, games=10**9, seed=1, policy="linear", progress=raising)
    assert no_thread_is_left()

    def cancelling(done: int, total: int | None) -> None:
        if done >= 2 * CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(nc.RolloutCancelled) as caught:
        nc.rollout(NEAR, games=10**9, seed=1, policy="linear", progress=cancelling)
    assert caught.value.partial == nc.rollout(NEAR, games=2 * CHUNK, seed=1, policy="linear")
    assert isinstance(caught.value, KeyboardInterrupt)
    assert no_thread_is_left()


INTERRUPTED = """
import json, signal, sys, threading, time
import nardcore as nc

hit = []
def note(*_):
    hit.append(time.perf_counter())
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, note)
start = nc.Position.start()
policy = sys.argv[1]
if policy == "function":
    policy = lambda boards: -boards[:, 25].astype(float)
def tell(done, total):
    if done <= 2048:
        print("running", flush=True)
try:
    nc.rollout(start, games=10**12, seed=3, policy=policy, threads=2, progress=tell)
except nc.RolloutCancelled as stopped:
    late = time.perf_counter() - hit[0]
    partial = stopped.partial
    same = not partial.games or partial == nc.rollout(
        start, games=partial.games, seed=3, policy=policy, threads=2)
    print(json.dumps({
        "late": late, "games": partial.games, "ranges": partial.ranges, "same": same,
        "threads": [t.name for t in threading.enumerate()],
    }))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("policy", ["linear", "random", "function"])
def test_ctrl_c_gives_at_once_what_was_done(policy: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-c", INTERRUPTED, policy], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        answer = json.loads(process.communicate(timeout=120)[0])
    # a tenth of a second on a machine that is idle, which one that runs tests is not
    assert answer["late"] < 1.0
    assert answer["same"]
    assert answer["ranges"] == ([[0, answer["games"]]] if answer["games"] else [])
    assert answer["threads"] == ["MainThread"]
    assert answer["games"] > 0


MEMORY = """
import resource, sys
import nardcore as nc

near = nc.Position({1: 1}, {1: 1})
nc.rollout(near, games=20_000, seed=1, policy="random", threads=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nc.rollout(near, games=int(sys.argv[1]), seed=1, policy="random", threads=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="units of Linux")
def test_memory_does_not_grow_with_the_number_of_games() -> None:
    grown = [
        int(subprocess.check_output([sys.executable, "-P", "-c", MEMORY, games], text=True))
        for games in ("1000000", "5000000")
    ]
    assert max(grown) < 4096  # KiB


# ---------------------------------------------------------------------------------------------
# Files


def saved(tmp_path: Path, **more: Any) -> tuple[nc.RolloutResult, Path]:
    result = nc.rollout(NEAR, games=400, seed=2**70 + 3, **more)
    path = tmp_path / "result.json"
    result.save(path)
    return result, path


@pytest.mark.parametrize(
    "more",
    [{}, {"dice": (6, 2)}, {"opening": True}, {"policy": ("random", "linear"), "first": 77}],
    ids=str,
)
def test_a_saved_result_is_read_back_the_same(tmp_path: Path, more: dict[str, Any]) -> None:
    result, path = saved(tmp_path, **more)
    again = nc.RolloutResult.load(path)
    assert again == result
    assert again.replay(5).outcome == result.replay(5).outcome
    later = nc.rollout(NEAR, games=9, seed=2**70 + 3, **{**more, "first": 4000})
    assert again.merge(later) == result.merge(later)
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]
    again.save(path)
    assert nc.RolloutResult.load(path) == result


def test_a_result_of_functions_is_read_but_not_replayed(tmp_path: Path) -> None:
    result, path = saved(tmp_path, policy=lambda boards: boards[:, 26])
    again = nc.RolloutResult.load(path)
    assert again == result
    with pytest.raises(ValueError, match="policies"):
        again.replay(0)


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    whole = path.read_bytes()
    for length in [0, 1, len(whole) // 2, len(whole) - 3, *range(5, len(whole) - 3, 97)]:
        path.write_bytes(whole[:length])
        with pytest.raises(nc.FormatError):
            nc.RolloutResult.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 3},
        {"version": "1"},
        {"version": 0},
        {"version": True},
        {"games": 401},
        {"counts": [400]},
        {"counts": [401] + [-1] + [0] * 8},
        {"counts": [0.5] * 10},
        {"counts": "x"},
        {"counts": None},
        {"counts": [2**70] + [0] * 9},
        {"plies": {"-1": 400}},
        {"plies": {"5000": 400}},
        {"plies": {"x": 400}},
        {"plies": [1, 2]},
        {"total_plies": 1},
        {"total_plies": "x"},
        {"ranges": [[0, 300], [200, 100]]},
        {"ranges": [[0, 500], [600, -100]]},
        {"ranges": [[-1, 400]]},
        {"ranges": [400]},
        {"position": "nonsense"},
        {"position": 5},
        {"position": None},
        {"policies": ["linear"]},
        {"policies": 5},
        {"seed": ["x"]},
        {"seed": [-1]},
        {"seed": []},
        {"seed": None},
    ],
    ids=str,
)
def test_a_file_that_was_altered_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    _, path = saved(tmp_path)
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**data, **change}), encoding="utf-8")
    with pytest.raises(nc.FormatError):
        nc.RolloutResult.load(path)


@pytest.mark.parametrize("raw", [b"[]", b"5", b"null", b'"x"', b"{}", b"\xff\xfe", b"[" * 100_000])
def test_a_file_of_something_else_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(raw)
    with pytest.raises(nc.FormatError):
        nc.RolloutResult.load(path)


def test_every_key_of_a_file_is_needed(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    data = json.loads(path.read_text("utf-8"))
    for key in data:
        if key == "nardcore":
            continue  # who wrote it, for the reader's eye
        path.write_text(json.dumps({k: v for k, v in data.items() if k != key}), encoding="utf-8")
        with pytest.raises(nc.FormatError):
            nc.RolloutResult.load(path)


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    result = nc.rollout(NEAR, games=5, seed=1)
    with pytest.raises(OSError, match="missing"):
        result.save(tmp_path / "missing" / "result.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        result.save(tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(FileNotFoundError):
        nc.RolloutResult.load(tmp_path / "missing")
