"""Rollouts with look-ahead, truncation, luck taken out and strata: alike however run, unbiased."""

from __future__ import annotations

import json
import math
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rough import NET, as_native, by_net, case_name, exact

import nardcore as nc
from nardcore import _dice, _playout
from nardcore._moments import Moments
from nardcore._trials import Method, Spec, play_chunk
from nardcore.rollouts import chunk_of

NATIVE, rough = NET, by_net
START = nc.Position.start()
NEAR = nc.Position({1: 2, 2: 1, 5: 1, 8: 1}, {1: 2, 3: 2, 4: 1, 7: 1})
RACE = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})  # both have borne off: single games
METHODS: dict[str, dict[str, Any]] = {
    "plain": {},
    "truncated": {"truncate": 3},
    "truncated deep": {"truncate": 2, "plies": 1},
    "reduced": {"variance_reduction": True},
    "stratified": {"stratified": True},
    "all": {"variance_reduction": True, "stratified": True, "truncate": 5, "dice": (3, 1)},
    "opening": {"variance_reduction": True, "stratified": True, "opening": True, "truncate": 4},
}


@pytest.fixture(scope="module")
def table() -> nc.bearoff.TwoSided:
    return nc.bearoff.TwoSided.build(checkers=5)


def numbers(result: nc.RolloutResult) -> tuple[Any, ...]:
    """All that was added up, without names."""
    cells = None if result.cells is None else result.cells.tolist()
    return (
        *(result.counts.tolist(), result.plies.tolist(), result.total_plies, result.ranges),
        *(result.table_sums, result.table_products, result.truncated_games),
        *(result.rolls, result.reduced, cells),
    )


@pytest.mark.parametrize("method", METHODS)
def test_functions_and_native_code_give_the_same_sums(method: str) -> None:
    more = METHODS[method]
    for start, games in ((NEAR, 300), (START, 3)):
        if start is START and "truncate" not in more:
            continue
        request = {"games": games, "seed": 3, **more}
        native = nc.rollout(start, policy=NATIVE, threads=2, **request)
        python = nc.rollout(start, policy=rough, **request)
        assert numbers(native) == numbers(python)
        mixed = nc.rollout(start, policy=(NATIVE, rough), **request)
        assert numbers(mixed) == numbers(native)


def test_look_ahead_policies_play_alike(table: nc.bearoff.TwoSided) -> None:
    for tables in ([], [table]):
        found = [
            nc.rollout(
                NEAR,
                games=12,
                seed=3,
                policy=nc.Search(evaluator, plies=1, early_turns=1, early_plies=2),
                tables=tables,
                variance_reduction=True,
            )
            for evaluator in (NATIVE, rough)
        ]
        assert numbers(found[0]) == numbers(found[1])
        assert found[0].policies == ("pips:1, first 1 turns :2",) * 2


@pytest.mark.parametrize("method", METHODS)
def test_parts_merge_to_the_whole_and_files_keep_it(method: str, tmp_path: Path) -> None:
    more = {"seed": 5, "policy": NATIVE, **METHODS[method]}
    whole = nc.rollout(NEAR, games=700, threads=1, **more)
    a = nc.rollout(NEAR, games=300, **more)
    b = nc.rollout(NEAR, games=150, first=300, **more)
    c = nc.rollout(NEAR, games=250, first=450, threads=2, **more)
    assert a.merge(b).merge(c) == c.merge(a.merge(b)) == b.merge(c).merge(a) == whole
    whole.save(tmp_path / "r.json")
    again = nc.RolloutResult.load(tmp_path / "r.json")
    assert again == whole
    assert again.stderr() == whole.stderr()
    assert again.merge(nc.rollout(NEAR, games=50, first=700, **more)).games == 750
    other = {"truncate": 9} if method == "plain" else {}
    different = nc.rollout(NEAR, games=50, first=700, seed=5, policy=NATIVE, **other)
    with pytest.raises(ValueError, match="differ in"):
        whole.merge(different)


def test_processes_give_the_same() -> None:
    request: dict[str, Any] = {
        "games": 200,
        "seed": 2,
        "policy": rough,
        "variance_reduction": True,
        "stratified": True,
    }
    expected = nc.rollout(NEAR, **request)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert nc.rollout(NEAR, executor=pool, **request) == expected
        found = nc.rollout_plays(NEAR, (2, 1), limit=3, executor=pool, **{**request, "games": 100})
    assert found == nc.rollout_plays(NEAR, (2, 1), limit=3, **{**request, "games": 100})


def test_a_file_of_version_1_is_still_read(tmp_path: Path) -> None:
    result = nc.rollout(START, games=200, seed=1)
    data = result.to_dict()
    for key in ("method", "truncated", "rolls", "reduced", "cells"):
        del data[key]
    data["version"] = 1
    path = tmp_path / "old.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    old = nc.RolloutResult.load(path)
    assert (old.counts == result.counts).all()
    assert old.equity() == result.equity()
    assert old.rolls is None
    more = nc.rollout(START, games=100, seed=1, first=200)
    assert old.merge(more).games == 300
    with pytest.raises(ValueError, match="older file"):
        old.by_roll()


@pytest.mark.parametrize(
    "change",
    [
        {"method": {"truncate": 0, "evaluator": "", "stratified": True}},
        {"method": {"truncate": None, "evaluator": 3, "stratified": True}},
        {"method": {"truncate": None, "evaluator": "", "stratified": False}},
        {"truncated": 5},
        {"truncated": -1},
        {"rolls": []},
        {"rolls": [[900, [0] * 10]] * 21},
        {"reduced": [[1, [0] * 10]]},
        {"cells": None},
        {"cells": [[0] * 21] * 441},
        {"cells": [[0] * 3] * 441},
        {"cells": "x"},
    ],
    ids=case_name,
)
def test_a_file_that_was_altered_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    data = nc.rollout(START, games=100, seed=1, stratified=True).to_dict()
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**data, **change}), encoding="utf-8")
    with pytest.raises(nc.FormatError):
        nc.RolloutResult.load(path)


# ------------------------------------------------------------------------------------------ strata


@pytest.mark.parametrize("no_double", [False, True])
def test_each_pair_of_first_rolls_comes_once_a_cycle(no_double: bool) -> None:
    n = 30 if no_double else 36
    key = nc.dice.key(7)
    for cycle in (0, 5):
        trials = np.arange(36 * n, dtype=np.uint64) + np.uint64(36 * n * cycle)
        rolls = _dice.strata(key, trials, no_double).astype(int)
        code = rolls.reshape(-1, 4) @ [216, 36, 6, 1]
        assert len(np.unique(code)) == 36 * n
        if no_double:
            assert (rolls[:, 0, 0] != rolls[:, 0, 1]).all()
        for block in range(0, 36 * n, n):
            first = rolls[block : block + n, 0] @ [6, 1]
            assert len(np.unique(first)) == n
    other = _dice.strata(nc.dice.key(8), trials, no_double)
    assert (other != rolls).any()


def test_strata_are_random_where_the_count_is_no_multiple() -> None:
    """The first trials of many seeds have any pair of rolls alike often."""
    rolls = np.stack(
        [
            _dice.strata(nc.dice.key(seed), np.arange(1, dtype=np.uint64), False)
            for seed in range(3600)
        ]
    )
    for at in (0, 1):
        code = rolls[:, 0, at].astype(int) @ [6, 1]
        counts = np.unique(code, return_counts=True)[1]
        assert len(counts) == 36
        assert ((counts - 100) ** 2 / 100).sum() < 75  # chi-square with 35 degrees, 1 in 10,000


def test_the_first_rolls_of_stratified_games_are_even() -> None:
    result = nc.rollout(START, games=1296, seed=1, stratified=True)
    shares = result.by_roll()
    assert [share.games for share in shares] == [36 if a == b else 72 for a, b in nc.dice.ROLLS]
    assert result.cells is not None
    weights = np.array(nc.dice.WEIGHTS)
    assert (result.cells[:, 0].reshape(21, 21) == np.outer(weights, weights)).all()
    assert sum(s.games * s.equity for s in shares) / 1296 == pytest.approx(result.equity())
    game = result.replay(7)
    expected = _dice.strata(nc.dice.key(1), np.array([7], np.uint64), False)[0]
    assert [tuple(sorted(turn.dice)) for turn in game.turns[:2]] == [
        tuple(sorted(roll)) for roll in expected.tolist()
    ]


# -------------------------------------------------------------------------------- what sums say


def test_errors_of_classes_and_shares_by_roll() -> None:
    result = nc.rollout(START, games=2000, seed=3)
    p, n = result.probabilities, result.games
    expected = np.sqrt(p * (1 - p) / (n - 1))
    assert np.abs(result.probability_stderr - expected).max() < 1e-12
    shares = result.by_roll()
    assert sum(share.games for share in shares) == n
    assert result.rolls is not None
    total = Moments()
    for part in result.rolls:
        total += part
    assert total.mean(np.array([1, 2, 2, 3, 3, -1, -2, -2, -3, -3.0])) == pytest.approx(
        result.equity()
    )
    reduced = nc.rollout(NEAR, games=400, seed=3, policy=NATIVE, variance_reduction=True)
    assert reduced.estimate() == (reduced.reduced_equity(), reduced.reduced_stderr())
    assert reduced.reduced_stderr() < 0.75 * reduced.stderr()
    assert reduced.reduced_probabilities.sum() == pytest.approx(1)
    assert np.isfinite(reduced.reduced_probability_stderr).all()
    low, high = reduced.reduced_ci()
    assert low < reduced.reduced_equity() < high
    assert "less luck" in repr(reduced)
    for share in reduced.by_roll("single"):
        assert share.reduced_equity is not None


def test_luck_of_a_trial_is_what_its_rolls_were_worth() -> None:
    """By hand, for one short game: chances less luck telescope to values and choices."""
    spec = Spec.make(RACE, NATIVE, 5, None, False, (), Method(None, NATIVE, 0, True))
    from nardcore._rollout import Stop

    played = play_chunk(spec, 0, 20, Stop(), keep=True)
    assert played is not None
    _, raw, reduced = played
    assert raw is not None
    assert reduced is not None
    result = nc.rollout(RACE, games=20, seed=5, policy=NATIVE)
    for trial in range(20):
        luck = np.zeros(10)
        for ply, turn in enumerate(result.replay(trial).turns):
            values = {
                roll: nc.rank_plays(turn.position, roll, evaluator=rough)[0].outcomes.probabilities
                for roll in nc.dice.ROLLS
            }
            mean = sum(
                w * values[roll] for roll, w in zip(nc.dice.ROLLS, nc.dice.WEIGHTS, strict=True)
            )
            own = values[turn.dice] - mean / 36
            luck += np.roll(own, 5) if ply % 2 else own
        assert np.abs((raw[trial] - reduced[trial]) / 2**32 - luck).max() < 1e-9


def test_chances_less_luck_are_bounded() -> None:
    """However wild the evaluator, no trial leaves the bound that the anytime guarantee needs."""
    from nardcore._rollout import Stop

    def wild(boards: NDArray[np.int8]) -> NDArray[np.float64]:
        sign = (boards[:, :24].astype(int) @ np.arange(24) + boards[:, 26]) % 2
        found = np.zeros((len(boards), 10))
        found[np.arange(len(boards)), np.where(sign, 4, 9)] = 1
        return found

    spec = Spec.make(START, "random", 5, None, False, (), Method(12, as_native(wild), 0, True))
    played = play_chunk(spec, 0, 10, Stop(), keep=True)
    assert played is not None
    reduced = played[2]
    assert reduced is not None
    points = np.array([1, 2, 2, 3, 3])
    equity = (reduced[:, :5] - reduced[:, 5:]) @ points / 2**32
    assert np.abs(equity).max() <= 3 + 2 * 3 + 1e-6


def test_a_truncation_is_the_mean_of_what_is_found_there() -> None:
    far = nc.Position({13: 4, 8: 6, 6: 5}, {13: 4, 8: 6, 6: 5})
    result = nc.rollout(far, games=50, seed=4, policy="linear", truncate=2, evaluator=rough)
    plain = nc.rollout(far, games=50, seed=4, policy="linear")
    assert result.truncated_games == result.table_games == result.games == 50
    assert result.evaluator == "by_net:0"
    values = []
    for trial in range(50):
        at = plain.replay(trial).turns[2].position
        values.append(nc.evaluate(at, evaluator=NATIVE).equity())
    assert result.equity() == pytest.approx(np.mean(values), abs=1e-8)
    assert result.stderr() == pytest.approx(np.std(values, ddof=1) / math.sqrt(50), abs=1e-8)


def test_stops_by_error_and_by_time() -> None:
    found = [
        nc.rollout(
            NEAR,
            seed=1,
            policy=NATIVE,
            variance_reduction=True,
            target_stderr=0.02,
            threads=threads,
        )
        for threads in (1, 3)
    ]
    assert found[0] == found[1]
    assert found[0].reduced_stderr() <= 0.02
    chunk = chunk_of(Spec.make(NEAR, NATIVE, 1, None, False, (), Method(None, NATIVE, 0, True)))
    assert found[0].games % chunk == 0
    timed = nc.rollout(START, seed=1, seconds=0.05)
    assert timed.games > 0
    assert timed == nc.rollout(START, seed=1, games=timed.games)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"truncate": 0}, ValueError),
        ({"truncate": 1.5}, TypeError),
        ({"truncate": True}, TypeError),
        ({"truncate": 3, "evaluator": "linear"}, ValueError),
        ({"truncate": 3, "evaluator": nc.policies.linear_evaluator("short")}, ValueError),
        ({"truncate": 3, "evaluator": nc.Search(rough)}, ValueError),
        ({"truncate": 3, "plies": 4}, ValueError),
        ({"variance_reduction": 1}, TypeError),
        ({"stratified": "yes"}, TypeError),
        ({"seconds": 0}, ValueError),
        ({"policy": "net:5"}, ValueError),
        ({"policy": "linear:1"}, ValueError),
        ({"policy": nc.Search(nc.policies.linear_evaluator("short"))}, ValueError),
    ],
    ids=case_name,
)
def test_a_request_without_sense_is_refused(more: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        nc.rollout(START, **{"games": 10, "policy": rough, **more})


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"evaluator": "linear"}, ValueError),
        ({"evaluator": nc.Search(rough)}, TypeError),
        ({"evaluator": rough, "plies": 4}, ValueError),
        ({"evaluator": rough, "early_turns": -1}, ValueError),
        ({"evaluator": rough, "filters": ((0, 0),)}, ValueError),
        ({"evaluator": 3}, TypeError),
    ],
    ids=case_name,
)
def test_a_search_without_sense_is_refused(more: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        nc.Search(**more)


def test_sums_that_outgrow_64_bits_stay_exact() -> None:
    from nardcore._moments import Total

    total = Total(2)
    for _ in range(5):
        total.add(np.array([2**62 + 3, -(2**62) - 1], np.int64))
    assert total.ints(0, 2) == [5 * (2**62 + 3), -5 * (2**62 + 1)]


# ------------------------------------------------------------------------------------- unbiasedness


def coverage(method: str, repetitions: int, table: nc.bearoff.TwoSided) -> float:
    """How often a 95 % interval holds the truth, play being perfect."""
    perfect = exact(table)
    small = nc.bearoff.TwoSided.build(checkers=2)
    truth = 2 * table.win(RACE) - 1
    how: dict[str, dict[str, Any]] = {
        "raw": {"games": 400},
        "reduced": {"games": 144, "variance_reduction": True, "evaluator": rough},
        "truncated at tables": {"games": 400, "tables": [small]},
        "truncated": {"games": 400, "truncate": 1, "evaluator": perfect},
        "stratified": {"games": 2592, "stratified": True},
        "stratified in part": {"games": 1000, "stratified": True},
        "all": {
            "games": 1296,
            "variance_reduction": True,
            "evaluator": rough,
            "tables": [small],
            "stratified": True,
        },
    }
    held = 0
    for seed in range(repetitions):
        result = nc.rollout(RACE, seed=[seed, 77], policy=perfect, threads=1, **how[method])
        equity, error = result.estimate()
        held += abs(equity - truth) <= 1.959964 * error
    return held / repetitions


KINDS = [
    *("raw", "reduced", "truncated at tables", "truncated"),
    *("stratified", "stratified in part", "all"),
]


@pytest.mark.parametrize("method", KINDS[:4])
def test_intervals_hold_the_truth(method: str, table: nc.bearoff.TwoSided) -> None:
    assert coverage(method, 40, table) >= 0.82  # 1 in 4,000 of chance


@pytest.mark.slow
@pytest.mark.parametrize("method", KINDS)
def test_intervals_hold_the_truth_as_often_as_they_say(
    method: str, table: nc.bearoff.TwoSided
) -> None:
    assert 0.935 <= coverage(method, 1000, table) <= 0.965


def test_strata_and_luck_make_errors_smaller(table: nc.bearoff.TwoSided) -> None:
    perfect = exact(table)
    plain, spread, less = (
        nc.rollout(RACE, games=1296, seed=1, policy=perfect, **more)
        for more in ({}, {"stratified": True}, {"variance_reduction": True})
    )
    assert spread.stderr() < 0.9 * plain.stderr()
    assert less.reduced_stderr() < 0.01 * plain.stderr()  # the luck is all there is
    assert less.reduced_equity() == pytest.approx(2 * table.win(RACE) - 1, abs=1e-4)
    assert _playout.PLAIN_SIZE < _playout.RESULT_SIZE
