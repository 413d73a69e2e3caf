"""Arrays in, arrays out: shapes, types, rows that are named, outputs that are given."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sampling import EVERY_RULES, reached

import nardcore as nc
from nardcore.rules import PRESETS

START = nc.batch.start(4)


def test_plays_of_many_rolls_come_in_compressed_rows() -> None:
    found = nc.batch.plays(START, [(3, 1), (6, 6), (1, 3), (5, 5)])
    assert found.indptr.dtype == np.int64
    assert found.boards.dtype == np.int8
    assert found.indptr.tolist() == [0, 16, 27, 43, 47]
    assert found.boards.shape == (47, 32)
    assert found.steps is None
    assert found.boards.flags.c_contiguous
    assert found.boards.flags.writeable
    assert (found.boards[:16] == found.boards[27:43]).all()


def test_one_roll_may_serve_all_rows() -> None:
    one, many = nc.batch.plays(START, (4, 2)), nc.batch.plays(START, [(4, 2)] * 4)
    assert (one.boards == many.boards).all()
    assert (one.indptr == many.indptr).all()


def test_no_rows_are_fine() -> None:
    none = np.zeros((0, 32), np.int8)
    found = nc.batch.plays(none, np.zeros((0, 2), np.int8), steps=True)
    assert found.indptr.tolist() == [0]
    assert found.boards.shape == (0, 32)
    assert found.steps is not None
    assert found.steps.shape == (0, 8)
    assert nc.batch.flip(none).shape == (0, 32)
    assert nc.batch.pips(none).shape == (0, 2)
    assert nc.batch.results(none).shape == (0,)
    assert nc.batch.expand(none).indptr.tolist() == [0]
    assert nc.batch.start(0).shape == (0, 32)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint8, ">i4"])
def test_any_integers_will_do_when_they_fit(dtype: str) -> None:
    boards = START.copy()
    if np.dtype(dtype).kind == "u":
        boards = np.abs(nc.Position({6: 15, "off": 0}, {"off": 14, 1: 1}).board[None])
        boards[0, 23] = 0
        boards[0, 27] = 15
    expected = nc.batch.pips(boards.astype(np.int8))
    assert (nc.batch.pips(boards.astype(dtype)) == expected).all()
    assert (nc.batch.pips(boards.tolist()) == expected).all()


def test_rows_of_the_named_dtype_will_do() -> None:
    named = START.view(nc.POSITION_DTYPE)[:, 0]
    assert (nc.batch.plays(named, (3, 1)).boards == nc.batch.plays(START, (3, 1)).boards).all()


def test_strided_and_backward_rows_will_do() -> None:
    boards = reached(nc.BACKGAMMON, 40, np.random.default_rng(1))
    assert (nc.batch.pips(boards[::-2]) == nc.batch.pips(boards)[::-2]).all()
    wide = np.zeros((40, 64), np.int8)
    wide[:, ::2] = boards
    assert (nc.batch.flip(wide[:, ::2]) == nc.batch.flip(boards)).all()
    assert (nc.batch.flip(np.asfortranarray(boards)) == nc.batch.flip(boards)).all()


def test_inputs_stay_as_they_are_and_results_are_new() -> None:
    boards = START.copy()
    boards.flags.writeable = False
    dice = np.full((4, 2), 3)
    dice.flags.writeable = False
    for found in (
        nc.batch.plays(boards, dice).boards,
        nc.batch.flip(boards),
        nc.batch.pips(boards),
        nc.batch.results(boards),
        nc.batch.expand(boards).boards,
    ):
        assert not np.may_share_memory(found, boards)
        found[:] = 0
    assert (boards == START).all()


def test_given_outputs_are_filled_and_returned() -> None:
    boards = reached(nc.BACKGAMMON, 30, np.random.default_rng(2))
    flipped = np.zeros_like(boards)
    assert nc.batch.flip(boards, out=flipped) is flipped
    assert (flipped == nc.batch.flip(boards)).all()
    itself = boards.copy()
    assert nc.batch.flip(itself, out=itself) is itself
    assert (itself == flipped).all()
    pips = np.zeros((30, 2), np.int32)
    assert nc.batch.pips(boards, out=pips) is pips
    assert (pips == nc.batch.pips(boards)).all()
    results = np.zeros(30, np.int8)
    assert nc.batch.results(boards, out=results) is results
    assert (results == -1).all()


def test_an_output_of_the_exact_size_is_enough_and_one_less_is_not() -> None:
    whole = nc.batch.plays(START, (2, 1), steps=True)
    exact = np.empty_like(whole.boards)
    found = nc.batch.plays(START, (2, 1), steps=True, out=exact)
    assert (exact == whole.boards).all()
    assert (found.steps == whole.steps).all()
    guarded = np.full_like(whole.boards, 55)
    with pytest.raises(ValueError, match="not enough from row 3"):
        nc.batch.plays(START, (2, 1), out=guarded[:-1])
    assert (guarded[-1] == 55).all()


@pytest.mark.parametrize("name", PRESETS)
def test_flipping_twice_gives_the_same_boards(name: str) -> None:
    rules = PRESETS[name]
    boards = reached(rules, 300, np.random.default_rng(3))
    there = nc.batch.flip(boards, rules)
    assert (nc.batch.flip(there, rules) == boards).all()
    assert (nc.batch.pips(there, rules) == nc.batch.pips(boards, rules)[:, ::-1]).all()


def test_a_bad_row_is_named() -> None:
    boards = START.copy()
    boards[2, 0] += 1
    for call in (
        lambda: nc.batch.plays(boards, (3, 1)),
        lambda: nc.batch.flip(boards),
        lambda: nc.batch.pips(boards),
        lambda: nc.batch.results(boards),
        lambda: nc.batch.expand(boards),
    ):
        with pytest.raises(nc.PositionError, match="row 2"):
            call()
    with pytest.raises(ValueError, match=r"row 1 holds \(7, 1\)"):
        nc.batch.plays(START, [(1, 1), (7, 1), (0, 1), (1, 1)])


def test_threads_may_share_the_generator() -> None:
    jobs = []
    for name in list(EVERY_RULES)[:8]:
        rules = EVERY_RULES[name]
        boards = reached(rules, 200, np.random.default_rng(4))
        jobs.append((boards, rules, nc.batch.expand(boards, rules).boards))
    wrong: list[str] = []

    def work(offset: int) -> None:
        for i in range(len(jobs)):
            boards, rules, expected = jobs[(i + offset) % len(jobs)]
            if not (nc.batch.expand(boards, rules).boards == expected).all():
                wrong.append(rules.name)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_largest_numbers_of_results_fit() -> None:
    # 15 single checkers over an empty board play a double in more ways than anything else
    best = 0
    rng = np.random.default_rng(6)
    for _ in range(200):
        spots = rng.choice(np.arange(6, 24), 15, replace=False)
        points = [0] * 24
        for spot in spots:
            points[int(spot)] = 1
        free = [i for i in range(24) if not points[i]]
        points[free[0]] = -1
        position = nc.Position.from_points(points)
        best = max(best, len(position.plays((1, 1))))
        found = nc.batch.plays(position.board[None], (1, 1))
        assert found.indptr[-1] == len(position.plays((1, 1))) <= 3060
    assert best > 1500
