"""Evaluation and search: against an independent search, in any number of threads, and by tables."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rough import NET, as_native, by_net, case_name, exact, rough

import nardcore as nc
from nardcore import _search
from nardcore.policies import FILTERS
from nardcore.testing import positions, rules

NATIVE = as_native(rough)
START = nc.Position.start()
NEAR = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})
FEW = nc.Position({24: 1, 6: 2, 1: 1}, {20: 1, 22: 2, 5: 1})
OPEN = ((4096, np.inf),) * 3
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]


@pytest.fixture(scope="module")
def table() -> nc.bearoff.TwoSided:
    return nc.bearoff.TwoSided.build(checkers=5)


# --------------------------------------------------------------- the same search, written plainly


class Plain:
    """The search of the documentation in plain Python, one position at a time."""

    def __init__(self, rules: nc.Rules, filters: Any = FILTERS, table: Any = None) -> None:
        self.rules, self.filters, self.table = rules, filters, table

    def equity(self, value: NDArray[np.float64]) -> float:
        points = self.rules.points
        return float(sum(points[k] * (value[k] - value[5 + k]) for k in range(5)))

    def after(self, result: nc.Position) -> NDArray[np.float64]:
        """0 plies deep, for the side that has just moved; `result` has the other on roll."""
        known = None if self.table is None else self.table.probe(self.rules)(result.board)
        if known is not None:
            return np.roll(known.astype(np.float64), 5)
        board = result.flip().board[None]
        value = rough(board)[0].astype(np.float64)
        value /= sum(value.tolist())
        possible = _search.possible_classes(board, self.rules)[0]
        for at in (9, 8, 7, 6, 4, 3, 2, 1):
            if not possible[at]:
                value[at - 1] += value[at]
                value[at] = 0
        return value

    def position(self, p: nc.Position, plies: int) -> NDArray[np.float64]:
        if p.outcome is not None:
            return np.eye(10)[p.outcome]
        known = None if self.table is None else self.table.probe(self.rules)(p.board)
        if known is not None:
            return known.astype(np.float64)
        if plies == 0:
            return np.roll(self.after(p), 5)
        total = np.zeros(10)
        for roll in ROLLS:
            total += self.roll(p, roll, plies) * (1 if roll[0] == roll[1] else 2)
        return total / 36

    def roll(self, p: nc.Position, roll: tuple[int, int], plies: int) -> NDArray[np.float64]:
        results = [play.result for play in p.plays(roll)]
        won = [r for r in results if r.outcome is not None]
        if won:
            best = max(won, key=lambda r: self.rules.points[r.flip().outcome or 0])
            return np.eye(10)[best.flip().outcome or 0]
        rated = [(self.equity(v := self.after(r)), -i, v, r) for i, r in enumerate(results)]
        for level in range(1, plies):
            rated.sort(key=lambda one: one[:2], reverse=True)
            keep, within = self.filters[level - 1]
            rated = [one for one in rated[:keep] if one[0] >= rated[0][0] - within]
            deeper = [np.roll(self.position(one[3], level), 5) for one in rated]
            rated = [
                (self.equity(v), one[1], v, one[3]) for v, one in zip(deeper, rated, strict=True)
            ]
        return max(rated, key=lambda one: one[:2])[2]


@pytest.mark.parametrize("evaluator", [rough, NATIVE], ids=["function", "native"])
@pytest.mark.parametrize(
    "p",
    [
        START,
        FEW,
        nc.Position({3: 2, 1: 1}, {2: 2}),
        nc.Position.start(nc.LONG_NARDY),
        nc.Position.start(nc.LONG_BEGINNER),
        nc.Position.start(nc.TRIKTRAK),
        nc.Position.start(nc.HYPERGAMMON),
    ],
    ids=lambda p: p.text()[:40],
)
def test_one_roll_ahead_is_the_mean_of_the_best_replies(p: nc.Position, evaluator: Any) -> None:
    plain = Plain(p.rules)
    for plies in (0, 1):
        found = nc.evaluate(p, evaluator=evaluator, plies=plies).probabilities
        assert np.abs(found - plain.position(p, plies)).max() < 1e-12


@pytest.mark.parametrize("filters", [FILTERS, ((2, 0.05), (1, 0.0)), OPEN], ids=str)
def test_two_and_three_rolls_ahead(filters: Any, table: nc.bearoff.TwoSided) -> None:
    p = nc.Position({6: 1, 4: 1}, {2: 2, 7: 1})
    for plies, tables in ((2, []), (2, [table])):
        plain = Plain(p.rules, filters, tables[0] if tables else None)
        expected = plain.position(p, plies)
        for evaluator in (rough, NATIVE):
            found = nc.evaluate(p, evaluator=evaluator, plies=plies, filters=filters, tables=tables)
            assert np.abs(found.probabilities - expected).max() < 1e-12
    one, other = (
        nc.evaluate(p, evaluator=evaluator, plies=3, filters=((2, 0.05), (1, 0.0)), threads=threads)
        for evaluator, threads in ((by_net, 1), (NET, 2))
    )
    assert one == other


@settings(max_examples=15)
@given(data=st.data())
def test_functions_and_native_code_agree_to_the_last_bit(data: st.DataObject) -> None:
    by = data.draw(rules())
    p = data.draw(positions(by))
    if p.outcome is not None:
        return
    roll = data.draw(st.sampled_from(ROLLS))
    for plies in (0, 1):
        a, b = (nc.evaluate(p, evaluator=e, plies=plies) for e in (rough, NATIVE))
        assert a == b
        first, second = (nc.rank_plays(p, roll, evaluator=e, plies=plies) for e in (rough, NATIVE))
        assert [(str(x.play), x.equity, x.loss, x.plies) for x in first] == [
            (str(x.play), x.equity, x.loss, x.plies) for x in second
        ]


@settings(max_examples=50)
@given(data=st.data())
def test_impossible_classes_are_exact_zeros(data: st.DataObject) -> None:
    by = data.draw(rules())
    p = data.draw(positions(by))
    found = nc.evaluate(p, evaluator=rough)
    chances = found.probabilities
    assert abs(chances.sum() - 1) < 1e-12
    if p.outcome is not None:
        assert chances[p.outcome] == 1
        return
    if by.off_protects:
        if p.off[1]:
            assert not chances[1:5].any()
        if p.off[0]:
            assert not chances[6:].any()
    win = rough(p.flip().board[None])[0]
    assert abs(found.win - win[5:].sum() / win.sum()) < 1e-6  # what is impossible stays a win


def test_classes_that_occur_are_possible() -> None:
    for name in ("triktrak", "fnr_short", "long_beginner", "long_classic", "hypergammon"):
        p = nc.Position.start(nc.PRESETS[name])
        games = [nc.rollout(p, games=40, seed=2, policy="random").replay(i) for i in range(12)]
        for game in games:
            for ply, turn in enumerate(game.turns):
                mine = game.outcome if ply % 2 == 0 else (game.outcome + 5) % 10
                seen = _search.possible_classes(turn.position.board[None], p.rules)[0]
                assert seen[mine]


def test_a_race_knows_what_cannot_happen() -> None:
    race = nc.Position({6: 8, 5: 7}, {6: 7, 7: 8})
    chances = nc.evaluate(race, evaluator=rough).probabilities
    assert not chances[[3, 4, 7, 8, 9]].any()  # nobody is in the other's home or can be hit
    assert chances[[0, 1, 2, 5, 6]].all()


# ------------------------------------------------------------------------------------------ tables


def test_a_table_is_the_answer_where_it_knows_it(table: nc.bearoff.TwoSided) -> None:
    for plies in (0, 1, 2, 3):
        found = nc.evaluate(NEAR, evaluator=rough, plies=plies, tables=[table])
        assert found.exact
        assert abs(found.win - table.win(NEAR)) < 1e-6
    # and so is every play of a position that it knows the results of
    bigger = nc.Position({1: 2, 2: 2, 5: 2}, {1: 2, 3: 2, 4: 1})
    ranked = nc.rank_plays(bigger, (2, 1), evaluator=rough, tables=[table], plies=2)
    best = nc.best_play(bigger, (6, 5), evaluator=NATIVE, tables=[table])
    exact_win = max(1 - table.win(play.result) for play in bigger.plays((6, 5)))
    assert abs(1 - table.win(best.result) - exact_win) < 1e-9
    assert [one.equity for one in ranked] == sorted((o.equity for o in ranked), reverse=True)


def test_look_ahead_by_a_table_is_exact(table: nc.bearoff.TwoSided) -> None:
    by_table = as_native(exact(table))
    for plies in (1, 2):
        found = nc.evaluate(NEAR, evaluator=by_table, plies=plies, filters=OPEN)
        assert abs(found.win - table.win(NEAR)) < 3e-5  # as far as 16 bits go
    p = NEAR.with_rules(nc.SHORT_DAVE)
    with pytest.raises(ValueError, match="plain wins"):
        nc.evaluate(p, evaluator=rough, tables=[table], scoring="backgammon")


# -------------------------------------------------------------------------------- batches, threads


def test_a_batch_is_its_positions_whatever_the_threads() -> None:
    walk = [turn.position for turn in nc.rollout(START, games=1, seed=4).replay(3).turns][:12]
    walk.append(nc.Position({"off": 15}, {3: 15}))
    boards = np.stack([p.board for p in walk])
    for plies in (0, 1):
        alone = [nc.evaluate(p, evaluator=by_net, plies=plies) for p in walk]
        for threads in (1, 3):
            several = nc.evaluate(walk, evaluator=NET, plies=plies, threads=threads)
            assert several == alone
            array = nc.batch.evaluate(boards, evaluator=NET, plies=plies, threads=threads)
            expected = np.stack([one.probabilities for one in alone]).astype(np.float32)
            assert (array == expected).all()
    equities = nc.batch.equity(array, "triktrak")
    assert np.abs(equities - [one.equity("triktrak") for one in alone]).max() < 1e-6
    seen: list[tuple[int, int | None]] = []
    many = np.repeat(boards[:12], 20, axis=0)
    nc.batch.evaluate(many, evaluator=NET, plies=1, progress=lambda *at: seen.append(at))
    assert seen[-1] == (240, 240)


def test_the_scoring_decides_what_is_best() -> None:
    p = nc.Position({6: 2, 5: 1}, {18: 3, 24: 3})
    single = nc.rank_plays(p, (6, 5), evaluator=rough, scoring="single")
    own = nc.rank_plays(p, (6, 5), evaluator=rough, scoring=(1, 2, 4, 4, 8))
    assert single[0].equity == pytest.approx(2 * single[0].outcomes.win - 1)
    assert own[0].equity == own[0].outcomes.equity("triktrak")


def test_ranked_plays_are_all_plays_with_their_losses() -> None:
    for plies in (0, 1, 2):
        ranked = nc.rank_plays(FEW, (5, 2), evaluator=NET, plies=plies)
        assert {str(one.play) for one in ranked} == {str(play) for play in FEW.plays((5, 2))}
        assert ranked[0].loss == 0
        assert all(one.loss >= 0 for one in ranked)
        assert str(nc.best_play(FEW, (5, 2), evaluator=NET, plies=plies)) == str(ranked[0].play)
        for one in ranked:
            after = nc.evaluate(one.play.result, evaluator=NET, plies=one.plies)
            assert np.abs(np.roll(after.probabilities, 5) - one.outcomes.probabilities).max() == 0
        deepest = [one.equity for one in ranked if one.plies == plies]
        assert deepest == sorted(deepest, reverse=True)
    won = nc.rank_plays(nc.Position({1: 1, 3: 1}, {1: 3}), (3, 1), evaluator=rough)
    assert won[0].outcomes.exact
    assert won[0].play.result.outcome is not None


def test_ctrl_c_ends_a_search() -> None:
    def later() -> None:
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)

    boards = nc.batch.start(500)
    threading.Thread(target=later).start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        nc.batch.evaluate(boards, evaluator=NET, plies=2)
    assert time.perf_counter() - began < 10


# ------------------------------------------------------------------------------------ bad requests


def shapeless(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    return np.zeros((len(boards), 9))


def unequal(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    return np.full((len(boards), 10), 0.2)


def negative(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    found = np.full((len(boards), 10), 0.1)
    found[:, 0] = -0.1
    found[:, 1] = 0.3
    return found


def nan(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    return np.full((len(boards), 10), np.nan)


@pytest.mark.parametrize(
    ("function", "words"),
    [(shapeless, "shape"), (unequal, "add up"), (negative, "add up"), (nan, "add up")],
)
def test_chances_that_are_none_are_refused(function: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        nc.evaluate(START, evaluator=function)
    if function is not shapeless:
        with pytest.raises(RuntimeError, match=words):
            nc.evaluate(START, evaluator=as_native(function))


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"plies": 4}, ValueError),
        ({"plies": -1}, ValueError),
        ({"plies": True}, TypeError),
        ({"plies": 1.0}, TypeError),
        ({"evaluator": "linear"}, ValueError),
        ({"evaluator": "random"}, ValueError),
        ({"evaluator": "net:1"}, ValueError),
        ({"evaluator": nc.Search(rough)}, ValueError),
        ({"evaluator": 5}, TypeError),
        ({"evaluator": nc.policies.linear_evaluator("short")}, ValueError),
        ({"evaluator": nc.policies.linear_evaluator("long")}, ValueError),
        ({"filters": ((0, 1.0),)}, ValueError),
        ({"filters": ((1, -1.0),)}, ValueError),
        ({"filters": 3}, TypeError),
        ({"filters": ((1, 1),) * 4}, ValueError),
        ({"scoring": "chess"}, ValueError),
        ({"scoring": (1, 2)}, ValueError),
        ({"tables": [3]}, TypeError),
        ({"threads": 0}, ValueError),
    ],
    ids=case_name,
)
def test_a_request_without_sense_is_refused(more: dict[str, Any], error: Any) -> None:
    request = {"evaluator": rough, **more}
    with pytest.raises(error):
        nc.evaluate(START, **request)
    with pytest.raises(error):
        nc.rank_plays(START, (3, 1), **request)


def test_what_is_no_position_is_refused() -> None:
    for wrong in ("start", 3):
        with pytest.raises(TypeError):
            nc.evaluate(wrong, evaluator=rough)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="different rules"):
        nc.evaluate([START, nc.Position.start(nc.TRIKTRAK)], evaluator=rough)
    with pytest.raises(ValueError, match="over"):
        nc.rank_plays(nc.Position({"off": 15}, {3: 15}), (3, 1), evaluator=rough)
    with pytest.raises(nc.PositionError):
        nc.batch.evaluate(np.ones((1, 32), np.int8), evaluator=rough)
    assert nc.evaluate([], evaluator=rough) == []
    for chances in ([0.1] * 10, [[0.1] * 9]):
        with pytest.raises(ValueError, match="shape"):
            nc.batch.equity(chances)


def test_outcomes_show_themselves() -> None:
    found = nc.evaluate(START, evaluator=NATIVE, plies=1)
    assert "rough, 1-ply" in repr(found)
    assert found.table().count("\n") == 7
    assert found.inclusive["win"] == pytest.approx(found.win)
    assert found.inclusive["win_gammon"] == pytest.approx(found.probabilities[1:5].sum())
    for scoring, sign in itertools.product(("single", "triktrak"), (1, -1)):
        assert np.isfinite(sign * found.equity(scoring))


def test_no_loss_is_printed_as_zero() -> None:
    best, *rest = nc.rank_plays(nc.Position.start(), (3, 1), evaluator=NET)
    assert "(0.0000)" in repr(best)
    assert all("-0.0000" not in repr(one) for one in (best, *rest))
    assert f"(-{rest[-1].loss:.4f})" in repr(rest[-1])
