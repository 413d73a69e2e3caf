"""Bear-off tables against independent computations, exact numbers and other ways to build them."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nardcore as nc
from nardcore.bearoff import (
    OneSided,
    TwoSided,
    default,
    position_count,
    rank,
    read_gnubg,
    unrank,
    write_gnubg,
)

DATA = Path(__file__).parent / "data"
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
SMALL = nc.BACKGAMMON.replace(checkers=3, start=((6, 3),))
Side = tuple[int, ...]


# ------------------------------------------------------------------ the rules of bearing off, again


def one_step(side: Side, die: int, banned: frozenset[int]) -> Iterator[Side]:
    """Try every step of a die; `banned` dice may not bear off from a lower point (rule 20)."""
    top = max((p for p, n in enumerate(side, 1) if n), default=0)
    for p, n in enumerate(side, 1):
        if not n:
            continue
        to = p - die
        if to <= 0 and (top > 6 or (to < 0 and (p != top or die in banned))):
            continue
        left = list(side)
        left[p - 1] -= 1
        if to > 0:
            left[to - 1] += 1
        yield tuple(left)


@functools.cache
def results(side: Side, dice: tuple[int, int], exact_first: bool = False) -> frozenset[Side]:
    """Give the results of a roll by trying every order of every step (rules 10-13, 18-20)."""
    orders = {(dice[0],) * 4} if dice[0] == dice[1] else {dice, dice[::-1]}
    banned = frozenset(
        d for d in dice if exact_first and len(set(dice)) == 2 and d <= len(side) and side[d - 1]
    )
    if max((p for p, n in enumerate(side, 1) if n), default=0) > 6:
        banned = frozenset()
    found: set[tuple[int, int, Side]] = set()
    for order in orders:
        reached = {side}
        for used, die in enumerate(order, 1):
            reached = {after for one in reached for after in one_step(one, die, banned)}
            found |= {(used, die, after) for after in reached}
    done = {after for _, _, after in found if not any(after)}
    most = max((used for used, _, _ in found), default=0)
    if most == 1 and len(set(dice)) == 2:
        larger = max(die for _, die, _ in found)
        return frozenset(after for _, die, after in found if die == larger) | done
    return frozenset(after for used, _, after in found if used == most) | done


def sides(checkers: int, points: int = 6) -> list[Side]:
    every = unrank(np.arange(position_count(points, checkers)), points=points)
    return [tuple(row) for row in every.tolist()]


def board(mover: Side, opponent: Side, rules: nc.Rules = nc.BACKGAMMON) -> np.ndarray:
    """Put two sides on a board."""
    found = np.zeros(32, np.int8)
    long = rules.movement == "long"
    for p, n in enumerate(mover):
        found[p] += n
    for p, n in enumerate(opponent):
        found[(p + 12) % 24 if long else 23 - p] -= n
    found[26], found[27] = rules.checkers - sum(mover), rules.checkers - sum(opponent)
    return found


def position(mover: Side, opponent: Side, rules: nc.Rules = nc.BACKGAMMON) -> nc.Position:
    return nc.Position.from_board(board(mover, opponent, rules), rules)


def some_pairs(n: int, m: int, k: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    first, second = (sides(c) for c in (n, m))
    rows = [
        board(first[rng.integers(1, len(first))], second[rng.integers(1, len(second))])
        for _ in range(k)
    ]
    return np.array(rows)


# -------------------------------------------------------------------------------------------- ranks


@pytest.mark.parametrize(
    ("points", "checkers"), [(1, 15), (2, 4), (6, 15), (24, 2), (25, 3), (10, 6)]
)
def test_ranks_are_a_bijection(points: int, checkers: int) -> None:
    ranks = np.arange(position_count(points, checkers))
    counts = unrank(ranks, points=points)
    assert counts.sum(axis=1).max() == checkers
    assert len(np.unique(counts, axis=0)) == len(ranks)
    assert (rank(counts) == ranks).all()


@given(st.integers(0, 40_225_345_056 - 1))
def test_ranks_need_64_bits(number: int) -> None:
    counts = unrank(number, points=25)
    assert counts.sum() <= 15
    assert rank(counts) == number


def test_there_are_as_many_positions_as_the_binomials_say() -> None:
    assert position_count(25, 15) == math.comb(40, 25) == 40_225_345_056
    assert rank([0] * 24 + [15]) == 40_225_345_055


@pytest.mark.parametrize(
    "counts", [[-1, 1], [16], [8, 8], [[1, 2], [20, 0]], [], [127] * 3, [[[1]]]]
)
def test_impossible_counts_have_no_rank(counts: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        rank(counts)


@pytest.mark.parametrize("ranks", [-1, 54264, [0, 99999], [[-5]]])
def test_ranks_outside_are_refused(ranks: Any) -> None:
    with pytest.raises(ValueError, match="0 to 54263"):
        unrank(ranks, points=6)


# ---------------------------------------------------------------------------------------- one-sided


@pytest.mark.parametrize(
    ("side", "mean"),
    [
        ((0, 0, 0, 0, 0, 1), Fraction(5, 4)),
        ((0, 1, 0, 0, 1, 0), Fraction(239, 162)),
        ((0, 0, 0, 0, 1, 1), Fraction(11431, 5832)),
        ((0, 0, 0, 0, 0, 2), Fraction(49213, 23328)),
        ((15, 0, 0, 0, 0, 0), None),
    ],
)
def test_known_means(side: Side, mean: Fraction | None) -> None:
    found = default().mean_rolls(position(side, (1, 0, 0, 0, 0, 0)))
    expected = exact_means("off", 6, False)(side) if mean is None else mean
    assert found == pytest.approx(float(expected), rel=1e-14)


def exact_means(goal: str, total: int, exact_first: bool) -> Any:
    @functools.cache
    def mean(side: Side) -> Fraction:
        if goal == "home":
            done = not any(side[6:])
        else:
            done = sum(side) < (total if goal == "first" else 1)
        if done:
            return Fraction(0)
        sum_ = sum(
            (1 if a == b else 2) * min(mean(after) for after in results(side, (a, b), exact_first))
            for a, b in ROLLS
        )
        return 1 + sum_ / 36

    return mean


@pytest.mark.parametrize(("points", "checkers"), [(6, 3), (8, 2), (3, 4), (1, 5)])
@pytest.mark.parametrize("exact_first", [False, True])
def test_one_sided_tables_equal_exact_rationals(
    points: int, checkers: int, exact_first: bool
) -> None:
    rules = nc.Rules(checkers=checkers, start=((6, checkers),), exact_first=exact_first)
    table = OneSided.build(points=points, rules=rules)
    for goal in ("off", "first", "home") if points > 6 else ("off", "first"):
        mean = exact_means(goal, checkers, exact_first)
        expected = [float(mean(side)) for side in sides(checkers, points)]
        np.testing.assert_allclose(table.raw[f"{goal} mean"], expected, rtol=1e-13)


@pytest.mark.parametrize("goal", ["off", "first", "home"])
def test_distributions_sum_to_one_and_have_their_mean(goal: str) -> None:
    table = OneSided.build(points=7, rules=nc.BACKGAMMON.replace(checkers=7, start=((6, 7),)))
    start, first, length, rows, mean = (
        table.raw[f"{goal} {part}"] for part in ("start", "first", "length", "rows", "mean")
    )
    for i in range(len(start)):
        row = rows[start[i] : start[i] + length[i]]
        assert abs(row.sum() - 1) < 1e-12
        assert row.min() >= 0
        assert row @ np.arange(first[i], first[i] + length[i]) == pytest.approx(mean[i], rel=1e-13)


@pytest.mark.parametrize("points", [6, 8])
def test_the_fast_builder_equals_the_one_that_asks_the_rules(
    points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nardcore.bearoff import _one

    rules = nc.BACKGAMMON.replace(checkers=5, start=((6, 5),))
    fast = OneSided.build(points=points, rules=rules)
    monkeypatch.setattr(_one, "_plain", lambda *_: False)
    slow = OneSided.build(points=points, rules=rules)
    for name, array in fast.raw.items():
        np.testing.assert_array_equal(array, slow.raw[name])


@pytest.mark.parametrize("threads", [2, 5])
def test_one_sided_tables_do_not_depend_on_threads(threads: int) -> None:
    one, many = (OneSided.build(points=6, threads=n).raw for n in (1, threads))
    for name, array in one.items():
        np.testing.assert_array_equal(array, many[name])


def test_distributions_that_need_more_room_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from nardcore.bearoff import _one

    rules = nc.BACKGAMMON.replace(checkers=6, start=((6, 6),))
    expected = OneSided.build(points=8, rules=rules).raw
    monkeypatch.setattr(_one, "_ROOM", 0)  # a start with next to nothing
    monkeypatch.setattr(_one, "_LEAST", 0)
    monkeypatch.setattr(_one, "_PORTION", 100)
    for name, array in OneSided.build(points=8, rules=rules, threads=3).raw.items():
        np.testing.assert_array_equal(array, expected[name])


def test_last_home_larger_counts_beyond_the_home() -> None:
    rules = nc.SHORT_BEGINNER.replace(checkers=3, start=((6, 3),))
    table = OneSided.build(points=9, rules=rules)
    free = OneSided.build(points=9, rules=rules.replace(last_home_larger=False))
    assert (table.raw["off mean"] >= free.raw["off mean"] - 1e-12).all()
    assert (table.raw["off mean"] > free.raw["off mean"] + 1e-6).any()


def test_the_effective_pip_count_is_in_pips() -> None:
    p = position((0, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 0))
    assert default().epc(p) == pytest.approx(1.25 * 49 / 6)
    assert default().epc(p, side=1) == pytest.approx(49 / 6)


def test_two_distributions_give_the_chances_of_all_classes() -> None:
    """In a race of one checker a side, nobody has a choice that could matter to the other."""
    rules = nc.BACKGAMMON.replace(checkers=1, start=((6, 1),))
    table, exact = OneSided.build(points=9, rules=rules), TwoSided.build(checkers=1, rules=rules)
    for mover, opponent in itertools.product(sides(1)[1:], sides(1)[1:]):
        p = position(mover, opponent, rules)
        outcomes = table.outcomes(p)
        assert outcomes.sum() == pytest.approx(1, abs=1e-12)
        assert outcomes[:5].sum() == pytest.approx(exact.win(p), abs=1e-4)
        assert outcomes[1] == pytest.approx(exact.win(p), abs=1e-4)  # nothing off, all home


@pytest.mark.parametrize(("points", "protects"), [(6, True), (9, True), (9, False), (14, True)])
def test_outcomes_are_put_together_from_the_distributions(points: int, protects: bool) -> None:
    """The same sums, in NumPy: the opponent may have rolled k - 1 times at the mover's k-th."""
    rules = nc.BACKGAMMON.replace(checkers=3, start=((6, 3),), off_protects=protects)
    table = OneSided.build(points=points, rules=rules)
    rng = np.random.default_rng(points)

    def at_most(p: nc.Position, side: int, goal: Any) -> np.ndarray:
        row = table.distribution(p, side=side, goal=goal)
        return np.pad(np.cumsum(row), (0, 40 - len(row)), constant_values=1)

    every = sides(3, points)[1:]
    boards, rows = [], []
    while len(rows) < 150:
        mover, opponent = (every[k] for k in rng.integers(0, len(every), 2))
        if points > 12 and max(np.flatnonzero(mover)) + max(np.flatnonzero(opponent)) > 22:
            continue
        p = position(mover, opponent, rules)
        chances = []
        for side in range(2):
            off, first, home = (at_most(p, side, goal) for goal in ("off", "first", "home"))
            first = np.minimum(first, home)
            if p.off[side] and protects:
                first, home = np.ones(40), np.ones(40)
            chances.append((np.minimum(off, first), first, home))
        expected = np.zeros(10)
        for side, late in ((0, 1), (1, 0)):
            at_once = np.diff(chances[side][0], prepend=0)
            off, first, home = (
                np.concatenate([[one[0]] * late, one[: 40 - late]]) for one in chances[1 - side]
            )
            expected[5 * side : 5 * side + 3] = (
                at_once @ (first - off),
                at_once @ (home - first),
                at_once @ (1 - home),
            )
        boards.append(p.board)
        rows.append(expected)
        np.testing.assert_allclose(table.outcomes(p), expected, atol=1e-12)
        assert table.win(p) == pytest.approx(expected[:5].sum(), abs=1e-12)
    found = table.outcomes_batch(np.array(boards))
    np.testing.assert_allclose(found, rows, atol=1e-12)
    assert (found >= 0).all()


def test_losers_far_away_are_counted_outside() -> None:
    table = OneSided.build(
        points=10, checkers=2, rules=nc.HYPERGAMMON.replace(checkers=2, start=((24, 2),))
    )
    p = position((1, 0), (0,) * 9 + (2,), table.rules)
    outcomes = table.outcomes(p)
    assert outcomes[2] == 1.0
    later = table.outcomes(p.flip())
    assert later.sum() == pytest.approx(1)
    # 5-5 and 6-6 bring both home, none of them off; the opponent bears its one checker off next
    assert later[5 + 1] > 0
    assert later[5 + 2] > later[5 + 1]


# ---------------------------------------------------------------------------------------- two-sided


def reference(
    checkers: int, *, exact_first: bool = False, lost: Any = lambda side: 0.0
) -> np.ndarray:
    """Find the values of all pairs by iterating the recursion, in [0, 1], indexed by ranks."""
    every = sides(checkers)
    index = {side: i for i, side in enumerate(every)}
    n = len(every)
    value = np.zeros((n, n))
    ends = np.array([lost(side) for side in every])
    next_ranks = [
        [[index[after] for after in results(side, roll, exact_first)] for roll in ROLLS]
        for side in every
    ]
    weight = [1 if a == b else 2 for a, b in ROLLS]
    while True:
        value[:, 0] = ends
        value[0, :] = 1 - ends
        new = np.zeros_like(value)
        for u in range(1, n):
            for w, to in zip(weight, next_ranks[u], strict=True):
                new[u] += w * (1 - value[:, to].min(axis=1))
        new /= 36
        new[:, 0], new[0, :] = ends, 1 - ends
        if np.abs(new - value).max() < 1e-15:
            return value
        value = new


def table_of(table: TwoSided, name: str = "win") -> np.ndarray:
    """Bring a table into the order of ranks."""
    place = table.place(np.array(sides(table.checkers[0])))
    raw = table.raw[name]
    found = raw[place // 64, :, place % 64][:, place].astype(np.float64)
    return found / 65535 if raw.dtype == np.uint16 else found


@pytest.mark.parametrize("exact_first", [False, True])
def test_two_sided_tables_equal_the_recursion(exact_first: bool) -> None:
    rules = nc.BACKGAMMON.replace(exact_first=exact_first)
    expected = reference(3, exact_first=exact_first)[1:, 1:]
    for dtype, error in (("float64", 1e-14), ("float32", 1e-6), ("uint16", 3e-5)):
        found = table_of(TwoSided.build(checkers=3, rules=rules, dtype=dtype))[1:, 1:]
        assert np.abs(found - expected).max() < error


def test_scoring_counts_mars() -> None:
    points = nc.SCORING["triktrak"]

    def lost(side: Side) -> float:
        return (1 - (points[1] if sum(side) == 3 else points[0]) / 2) / 2

    rules = SMALL.replace(scoring="triktrak")
    table = TwoSided.build(checkers=3, equities="scoring", rules=rules, dtype="float64")
    expected = reference(3, lost=lost)[1:, 1:]
    assert np.abs(table_of(table, "equity")[1:, 1:] - expected).max() < 1e-14
    p = position((1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 3), rules)
    assert table.equity(p) == pytest.approx(2)
    with pytest.raises(nc.TableError):
        table.win(p)
    with pytest.raises(nc.TableError, match="all 15 checkers"):
        TwoSided.build(checkers=3, equities="scoring")


def test_scoring_needs_all_checkers_of_one_side_alone() -> None:
    rules = nc.BACKGAMMON.replace(checkers=5, start=((6, 5),), scoring="triktrak")
    whole = TwoSided.build(checkers=5, equities="scoring", rules=rules, dtype="float64")
    for pair in ((5, 2), (2, 5)):
        table = TwoSided.build(checkers=pair, equities="scoring", rules=rules, dtype="float64")
        for mine, theirs in (((1, 0, 2, 0, 0, 2), (0, 1, 0, 0, 0, 1)), ((1, 2), (2, 0, 1, 1, 1))):
            for mover, other in ((mine, theirs), (theirs, mine)):
                if min(sum(mover), sum(other)) > 2:
                    continue
                p = position(mover, other, rules)
                assert table.equity(p) == pytest.approx(whole.equity(p), abs=1e-14)
                assert table.equity_batch(p.board[None])[0] == pytest.approx(table.equity(p))
        lost = position((0, 0, 0, 0, 0, 5), (1,), rules)
        assert table.equity(lost.flip()) == 2
        with pytest.raises(nc.TableError, match="outside a table of"):
            table.equity(position((3,), (3,), rules))


@pytest.fixture(scope="module")
def six() -> TwoSided:
    return TwoSided.build(checkers=6, equities="money", dtype="float64")


def test_the_reported_equities_of_six_checkers_each(six: TwoSided) -> None:
    cases = json.loads((DATA / "reported.json").read_text("utf-8"))["cases"]
    case = next(case for case in cases if case["id"] == "six-on-six-equities")
    expect = case["expect"]
    p = nc.Position.parse(case["position_id"])
    near = functools.partial(pytest.approx, abs=1e-9)
    assert six.win(p) == near(expect["win"])
    assert six.equity(p) == near(expect["cubeless"])
    assert six.equity(p, cube="owned") == near(expect["no_double_owned"])
    assert six.equity(p, cube="centred") == near(expect["no_double_centred"])
    assert six.equity(p, cube="opponent") == near(expect["opponent_owns"])
    assert six.equity(p, cube="owned", double=True) == near(expect["with_option_owned"])
    assert six.equity(p, cube="centred", double=True) == near(expect["with_option_centred"])


@pytest.mark.parametrize("name", ["bearoff-5-2-roll-4-2", "bearoff-oversize-6-1"])
def test_best_plays_are_among_those_reported(name: str) -> None:
    cases = json.loads((DATA / "reported.json").read_text("utf-8"))["cases"]
    case = next(case for case in cases if case["id"] == name)
    p = nc.Position.parse(case["position_id"])
    dice = tuple(case["dice"])
    table = TwoSided.build(checkers=(2 if "5-2" in name else 3, 15))
    chances = {
        (int(play.board[26]), *play.board[:6].tolist()): 1 - table.win(play.result)
        for play in p.plays(dice)
    }
    assert set(chances) == {tuple(play["result"]["me"][:7]) for play in case["plays"]}
    best = table.best_play(p, dice)
    assert 1 - table.win(best.result) == max(chances.values())
    assert default().best_play(p, dice).result == best.result


@functools.cache
def cube_reference(exact_first: bool) -> dict[str, np.ndarray]:
    """Find equities of two checkers each with all states of the cube, indexed by ranks."""
    every = sides(2)
    n = len(every)
    after = [
        [[every.index(to) for to in results(side, roll, exact_first)] for roll in ROLLS]
        for side in every
    ]
    value = {name: np.zeros((n, n)) for name in ("win", "owned", "centred", "opponent")}
    for equities in value.values():
        equities[:, 0], equities[0, :] = -1, 1
    for _ in range(10):  # turns
        free = {
            name: np.maximum(value[name], np.minimum(2 * value["opponent"], 1))
            for name in ("owned", "centred")
        }
        theirs = {
            "win": value["win"],
            "owned": value["opponent"],
            "centred": free["centred"],
            "opponent": free["owned"],
        }
        for name, seen in theirs.items():
            seen[:, 0], seen[0, :] = -1, 1
            for u in range(1, n):
                total = sum(
                    (1 if a == b else 2) * (-seen[1:, to].min(axis=1))
                    for (a, b), to in zip(ROLLS, after[u], strict=True)
                )
                value[name][u, 1:] = total / 36
    return value


@pytest.mark.parametrize("exact_first", [False, True])
def test_money_tables_equal_the_recursion(exact_first: bool) -> None:
    rules = nc.BACKGAMMON.replace(exact_first=exact_first)
    table = TwoSided.build(checkers=2, equities="money", rules=rules, dtype="float64")
    for name, expected in cube_reference(exact_first).items():
        found = table_of(table, name)[1:, 1:]
        assert np.abs(2 * found - 1 - expected[1:, 1:]).max() < 1e-12, name


@pytest.mark.parametrize("checkers", [6, 8])
def test_sixteen_bits_are_within_3e_5(checkers: int) -> None:
    large = TwoSided.build(checkers=checkers, equities="money", dtype="float64")
    small = TwoSided.build(checkers=checkers, equities="money")
    for name, exact in large.raw.items():
        assert np.abs(small.raw[name] / 65535 - exact).max() < 3e-5, name


@pytest.mark.parametrize("equities", ["win", "money"])
def test_two_sided_tables_do_not_depend_on_threads(equities: Any) -> None:
    one, many = (TwoSided.build(checkers=5, equities=equities, threads=n).raw for n in (1, 3))
    for name, array in one.items():
        np.testing.assert_array_equal(array, many[name])


@pytest.mark.parametrize("dtype", ["uint16", "float32", "float64"])
def test_every_instruction_set_gives_the_same_bits(dtype: str, tmp_path: Path) -> None:
    table = TwoSided.build(checkers=5, equities="money", dtype=dtype)
    path = tmp_path / "portable.nct"
    code = (
        "import nardcore as nc, sys; assert nc.isa() == 'portable';"
        "t = nc.bearoff.TwoSided.build(checkers=5, equities='money', dtype=sys.argv[2]);"
        "t.save(sys.argv[1])"
    )
    subprocess.run(
        [sys.executable, "-P", "-c", code, str(path), dtype],
        check=True,
        env={**os.environ, "NARDCORE_ISA": "portable"},
    )
    other = TwoSided.open(path)
    for name, array in table.raw.items():
        assert array.tobytes() == other.raw[name].tobytes()


def test_every_instruction_set_gives_the_same_tables_of_other_kinds() -> None:
    code = (
        "import nardcore as nc, hashlib\n"
        "from nardcore.bearoff import Contact, OneSided\n"
        "rules = nc.BACKGAMMON.replace(checkers=5, start=((6, 5),))\n"
        "one = OneSided.build(points=7, rules=rules)\n"
        "two = OneSided.build(points=6, rules=rules.replace(exact_first=True))\n"
        "rules = nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),))\n"
        "raw = [*one.raw.values(), *two.raw.values(), Contact.build(rules=rules).raw]\n"
        "for array in raw: print(hashlib.sha256(array).hexdigest())\n"
        "import sys; print(nc.isa(), file=sys.stderr)"
    )
    done = [
        subprocess.run(
            [sys.executable, "-P", "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | env,
        )
        for env in ({}, {"NARDCORE_ISA": "portable"})
    ]
    assert done[1].stderr.strip() == "portable"
    assert done[0].stdout == done[1].stdout


def test_sides_of_different_sizes_agree_with_the_large_table() -> None:
    large = TwoSided.build(checkers=5)
    for pair in ((5, 3), (3, 5)):
        table = TwoSided.build(checkers=pair)
        for n, m in ((5, 3), (3, 5)):
            boards = some_pairs(n, m, 300)
            np.testing.assert_array_equal(table.win_batch(boards), large.win_batch(boards))
        assert np.isnan(table.win_batch(np.array([board((5,), (5,))]))).all()


def test_single_values_equal_batches(six: TwoSided) -> None:
    boards = some_pairs(6, 6, 200)
    batch = six.win_batch(boards)
    for row, value in zip(boards, batch, strict=True):
        assert six.win(nc.Position.from_board(row)) == value
    out = np.empty(len(boards))
    assert six.equity_batch(boards, cube="owned", out=out) is out
    assert out[0] == pytest.approx(six.equity(nc.Position.from_board(boards[0]), cube="owned"))


@pytest.mark.parametrize("cube", ["none", "owned", "centred", "opponent"])
def test_values_are_those_of_the_best_plays(six: TwoSided, cube: Any) -> None:
    mirror = {"owned": "opponent", "opponent": "owned"}.get(cube, cube)
    for row in some_pairs(6, 6, 20, seed=3):
        p = nc.Position.from_board(row)
        total = 0.0
        for a, b in ROLLS:
            after = six.best_play(p, (a, b), cube=cube).result
            best = (
                1.0 if after.outcome is not None else -six.equity(after, cube=mirror, double=True)
            )
            total += (1 if a == b else 2) * best
        assert total / 36 == pytest.approx(six.equity(p, cube=cube), abs=1e-12)


def test_long_nardy_shares_the_table() -> None:
    table = TwoSided.build(checkers=4)
    mover, opponent = (1, 0, 2, 0, 0, 1), (0, 1, 0, 1, 1, 0)
    p = position(mover, opponent)
    q = position(mover, opponent, nc.LONG_NARDY)
    assert table.win(p) == table.win(q)
    row = board(mover, opponent, nc.LONG_NARDY)[None]
    assert table.win_batch(row, rules=nc.LONG_NARDY)[0] == table.win(p)


def test_a_block_is_forbidden_at_home_too() -> None:
    """Under block=flat, six in a row at home count: the table is built by the rules."""
    rules = nc.LONG_NARDY.replace(block="flat", checkers=7, start=((24, 7),))
    flat = TwoSided.build(checkers=7, rules=rules, dtype="float64")
    free = TwoSided.build(checkers=7, rules=rules.replace(block="off"), dtype="float64")
    mine, theirs = flat.raw["win"], free.raw["win"]
    assert (mine != theirs).any()
    with pytest.raises(nc.TableError, match="not that of"):
        flat.win(position((1,), (1,), rules.replace(block="off")))


def test_what_a_table_does_not_hold() -> None:
    table = TwoSided.build(checkers=3)
    outside = [
        position((0,) * 6 + (1,), (1,)),
        position((4,), (1,)),
        nc.Position.start(),
        nc.Position({"bar": 1, "off": 14}, {1: 1, "off": 14}),
    ]
    for p in outside:
        with pytest.raises(nc.TableError):
            table.win(p)
        assert np.isnan(table.win_batch(p.board[None])).all()
    with pytest.raises(nc.TableError, match="triktrak"):
        table.win(position((1,), (1,), nc.TRIKTRAK))
    with pytest.raises(nc.TableError):
        table.equity(position((1,), (1,)), cube="owned")
    with pytest.raises(ValueError, match="cube is"):
        table.equity(position((1,), (1,)), cube="mine")  # type: ignore[arg-type]
    with pytest.raises(nc.TableError):
        default().mean_rolls(nc.Position.start())


@pytest.mark.parametrize("wrong", [None, 5, "kQcAgEoDAAAAAA", np.zeros(32, np.int8)])
def test_only_positions_are_asked(wrong: Any) -> None:
    two, one = TwoSided.build(checkers=2, equities="money"), default()
    contact = nc.bearoff.Contact.build(
        rules=nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),)), tolerance=0.1
    )
    for table in (two, one, contact):
        for name in ("win", "equity", "outcomes", "mean_rolls", "epc", "distribution"):
            if hasattr(table, name):
                with pytest.raises(TypeError):
                    getattr(table, name)(wrong)
    for side, goal in ((2, "off"), (-1, "off"), (0, "all")):
        with pytest.raises(ValueError, match=r"side is|goal is"):
            one.mean_rolls(position((1,), (1,)), side=side, goal=goal)  # type: ignore[arg-type]


def test_a_game_that_is_over_has_no_best_play() -> None:
    two, one = TwoSided.build(checkers=2, equities="money"), default()
    contact = nc.bearoff.Contact.build(
        rules=nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),)), tolerance=0.1
    )
    for table in (two, one, contact):
        rules = table.rules
        for p in (
            nc.Position({}, {1: 1}, rules=rules),
            nc.Position({1: 1}, {}, rules=rules),
        ):
            assert table.win(p) == (sum(p.board[:24] > 0) == 0)
            with pytest.raises(ValueError, match="the game is over"):
                table.best_play(p, (6, 1))
        with pytest.raises(TypeError, match="a Position"):
            table.best_play("start", (6, 1))  # type: ignore[arg-type]


def test_what_are_no_rules_is_refused() -> None:
    two, row = TwoSided.build(checkers=2), position((1,), (1,)).board[None]
    for ask in (
        lambda: two.win_batch(row, rules="backgammon"),  # type: ignore[arg-type]
        lambda: two.probe("backgammon"),  # type: ignore[arg-type]
        lambda: default().mean_rolls_batch(row, rules=15),  # type: ignore[arg-type]
        lambda: read_gnubg("nowhere.bd", rules="backgammon"),  # type: ignore[arg-type]
        lambda: nc.bearoff.TwoSided.open(__file__, rules="backgammon"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"rules are a nardcore\.Rules"):
            ask()


@pytest.mark.parametrize("counts", [[1, 2], [[0] * 7], [4, 0, 0, 0, 0, 0], [[9, 9, 0, 0, 0, 0]]])
def test_only_positions_of_a_table_have_places(counts: Any) -> None:
    with pytest.raises(ValueError, match=r"counts are rows of 6|at most|holds 0 to"):
        TwoSided.build(checkers=3).place(counts)


@pytest.mark.parametrize(
    "wrong",
    [
        {"checkers": 0},
        {"checkers": 16},
        {"checkers": (3, 3, 3)},
        {"checkers": True},
        {"checkers": 3.0},
        {"dtype": "int8"},
        {"equities": "lose"},
        {"scoring": "triktrak"},
        {"threads": 0},
        {"rules": "backgammon"},
        {"checkers": 8, "max_memory": 1000},
        {"max_memory": "1g"},
        {"max_memory": 1e9},
        {"max_memory": -1},
    ],
)
def test_impossible_builds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        TwoSided.build(**{"checkers": 2, **wrong})


def test_native_code_probes_what_is_fixed(six: TwoSided) -> None:
    probe = six.probe()
    covered = board((0, 1, 1, 0, 0, 0), (2, 0, 0, 1, 0, 0))
    found = probe(covered)
    assert found.sum() == pytest.approx(1)
    assert found[0] == np.float32(six.win(nc.Position.from_board(covered)))
    small = TwoSided.build(checkers=3, rules=SMALL)
    mars_possible = board((0, 0, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), SMALL)
    assert small.probe()(mars_possible) is None
    assert (
        TwoSided.build(checkers=3, rules=SMALL).probe(SMALL.replace(scoring="single"))(
            mars_possible
        )
        is not None
    )


def test_rollouts_end_at_a_table() -> None:
    table = TwoSided.build(checkers=4)
    p = position((0, 0, 0, 0, 1, 1), (0, 0, 0, 1, 0, 1))
    result = nc.rollout(p, games=10, seed=1, tables=[table])
    assert result.win == pytest.approx(table.win(p), abs=1e-7)
    assert result.table_games == 10
    boards = some_pairs(4, 4, 5)
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.win_batch(boards), table.win_batch(boards))


def test_rollouts_agree_with_the_tables() -> None:
    """Two checkers a side: the best play is the one that both tables know."""
    table = TwoSided.build(checkers=2)

    def policy(boards: np.ndarray) -> np.ndarray:
        # scores for the side that has moved: the opponent's losses
        return 1 - table.win_batch(nc.batch.flip(boards, rules=nc.BACKGAMMON))

    p = position((0, 0, 0, 0, 1, 1), (0, 0, 0, 1, 0, 1))
    result = nc.rollout(p, games=4000, policy=policy, seed=5)
    assert abs(result.win - table.win(p)) < 4 * math.sqrt(0.25 / 4000)


@pytest.mark.slow
def test_rollouts_of_perfect_play_land_within_their_own_interval() -> None:
    """Of 40 positions of up to six checkers a side, about one in 20 may fall outside 95 %."""
    table = TwoSided.build(checkers=6)

    def policy(boards: np.ndarray) -> np.ndarray:
        return 1 - np.nan_to_num(
            table.win_batch(nc.batch.flip(boards, rules=nc.BACKGAMMON)), nan=0.0
        )

    outside = 0
    for i, row in enumerate(some_pairs(6, 6, 40, seed=9)):
        p = nc.Position.from_board(row)
        result = nc.rollout(p, games=3600, policy=policy, seed=i)
        stderr = math.sqrt(max(result.win * (1 - result.win), 1e-4) / result.games)
        outside += abs(result.win - table.win(p)) > 1.96 * stderr
        assert abs(result.win - table.win(p)) < 4.5 * stderr
    assert outside <= 7


# ------------------------------------------------------------------------------ progress and cancel


def test_progress_ends_at_the_total() -> None:
    seen: list[tuple[int, int | None]] = []
    TwoSided.build(checkers=4, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == position_count(6, 4) ** 2
    assert seen == sorted(seen)
    seen.clear()
    OneSided.build(points=6, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]


def test_a_progress_that_raises_ends_the_build() -> None:
    def refuse(done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="enough"):
        TwoSided.build(checkers=6, progress=refuse)
    assert threading.active_count() == before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_ctrl_c_ends_a_build() -> None:
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            TwoSided.build(checkers=11)
        assert time.monotonic() - begun < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


# -------------------------------------------------------------------------------------------- gnubg


def test_two_sided_gnubg_files_round_trip(tmp_path: Path) -> None:
    for equities in ("win", "money"):
        table = TwoSided.build(checkers=3, equities=equities)  # type: ignore[arg-type]
        path = tmp_path / "t.bd"
        write_gnubg(table, path)
        raw = path.read_bytes()
        assert raw[:16] == b"gnubg-TS-06-03-" + (b"1" if equities == "money" else b"0")
        assert len(raw) == 40 + 84 * 84 * (8 if equities == "money" else 2)
        again = read_gnubg(path)
        assert isinstance(again, TwoSided)
        for name, array in table.raw.items():
            np.testing.assert_array_equal(array, again.raw[name])


def test_one_sided_gnubg_files_keep_what_sixteen_bits_hold(tmp_path: Path) -> None:
    table = OneSided.build(points=6, rules=nc.BACKGAMMON.replace(checkers=4, start=((6, 4),)))
    path = tmp_path / "t.bd"
    write_gnubg(table, path)
    again = read_gnubg(path, rules=table.rules)
    assert isinstance(again, OneSided)
    opponent = (1, 0, 0, 0, 0, 0)
    for side in sides(4)[1::7]:
        p = position(side, opponent, table.rules)
        for goal in ("off", "first"):
            a, b = (t.distribution(p, goal=goal) for t in (table, again))  # type: ignore[arg-type]
            width = max(len(a), len(b))
            a, b = (np.pad(row, (0, width - len(row))) for row in (a, b))
            assert np.abs(a - b).max() < 1.01 / 65535


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"gnubg-XX-06-06-1".ljust(40, b"x"),
        b"gnubg-TS-06-06-1".ljust(40, b"x"),
        b"gnubg-TS-05-03-1".ljust(10_000, b"x"),
        b"gnubg-OS-06-15-1-1-0".ljust(39, b"x") + b"\n",
        b"gnubg-OS-06-15-1-0-0".ljust(1000, b"x"),
        b"gnubg-OS-06-15-1-1-1".ljust(1000, b"x"),
        b"gnubg-OS-06-15-0-1-0".ljust(54264 * 6 + 40, b"\xff"),
        b"gnubg-OS-01-15-0-0-0".ljust(16 * 64 + 40, b"\x10"),
        b"gnubg-TS-06-01-0".ljust(7 * 7 * 2 + 41, b"x"),
    ],
)
def test_other_files_are_no_gnubg_tables(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.bd"
    path.write_bytes(raw)
    with pytest.raises(nc.TableError):
        read_gnubg(path)


def test_distributions_of_gnubg_that_do_not_sum_to_one_are_refused(tmp_path: Path) -> None:
    table = OneSided.build(points=6, rules=nc.BACKGAMMON.replace(checkers=4, start=((6, 4),)))
    path = tmp_path / "t.bd"
    write_gnubg(table, path)
    raw = bytearray(path.read_bytes())
    index = 40 + 8 * position_count(6, 4)
    for at, value in ((len(raw) - 9, 0x7F), (40 + 8 * 5 + 4, 0), (index - 2, 0)):
        altered = raw.copy()
        altered[at] = value  # part of a number, and what says how many numbers there are
        assert altered != raw
        path.write_bytes(altered)
        with pytest.raises(nc.TableError, match="damaged"):
            read_gnubg(path, rules=table.rules)


def test_gnubg_knows_one_way_of_bearing_off(tmp_path: Path) -> None:
    path = tmp_path / "t.bd"
    flat = nc.LONG_NARDY.replace(block="flat")
    late = nc.SHORT_BEGINNER.replace(exact_first=False)
    assert late.last_home_larger
    write_gnubg(TwoSided.build(checkers=2), path)
    for rules in (flat, nc.TRIKTRAK):
        with pytest.raises(nc.TableError, match="not for that of"):
            read_gnubg(path, rules=rules)
        with pytest.raises(nc.TableError, match="not for that of"):
            write_gnubg(TwoSided.build(checkers=2, rules=rules), path)
    assert isinstance(read_gnubg(path, rules=late), TwoSided)
    write_gnubg(OneSided.build(points=6, checkers=2, rules=late), path)
    with pytest.raises(nc.TableError, match="not for that of"):
        write_gnubg(OneSided.build(points=7, checkers=2, rules=late), path)


def test_gnubg_has_no_place_for_other_tables(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="OneSided and TwoSided"):
        write_gnubg(default().raw, tmp_path / "t.bd")  # type: ignore[arg-type]
    with pytest.raises(nc.TableError):
        write_gnubg(TwoSided.build(checkers=(3, 2)), tmp_path / "t.bd")
    with pytest.raises(nc.TableError):
        write_gnubg(TwoSided.build(checkers=3, rules=nc.TRIKTRAK), tmp_path / "t.bd")


MAKEBEAROFF = Path("/usr/games/makebearoff")


@pytest.mark.slow
@pytest.mark.skipif(not MAKEBEAROFF.exists(), reason="gnubg is not installed")
def test_gnubgs_own_tables(tmp_path: Path) -> None:
    two, one = tmp_path / "two.bd", tmp_path / "one.bd"
    subprocess.run([MAKEBEAROFF, "-t", "6x6", "-f", two], check=True, capture_output=True)
    subprocess.run([MAKEBEAROFF, "-o", "6", "-f", one], check=True, capture_output=True)
    theirs, ours = read_gnubg(two), TwoSided.build(checkers=6, equities="money")
    for name, array in ours.raw.items():
        assert np.abs(array.astype(int) - theirs.raw[name].astype(int)).max() <= 5
    distributions, mine = read_gnubg(one), default()
    for goal in ("off", "first"):
        difference = distributions.raw[f"{goal} mean"] - mine.raw[f"{goal} mean"]
        assert np.abs(difference).max() < 3e-4
    # and gnubg reads what is written
    written = tmp_path / "written.bd"
    write_gnubg(ours, written)
    seen = written.read_bytes(), two.read_bytes()
    assert seen[0][:17] == seen[1][:17]
    assert len(seen[0]) == len(seen[1])
    write_gnubg(mine, written)
    dumps = [
        subprocess.run(
            [MAKEBEAROFF.with_name("bearoffdump"), "-n", "54263", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.partition("Bearing off")[2]
        for path in (one, written)
    ]
    numbers = [[float(word) for word in re.findall(r"\d+\.\d+", dump)] for dump in dumps]
    assert len(numbers[0]) > 50
    np.testing.assert_allclose(numbers[0], numbers[1], atol=0.01)  # percent, rolls, pips


def dense(table: OneSided, goal: str) -> np.ndarray:
    """Give all distributions as rows of 64 chances."""
    start, first, length, rows = (
        table.raw[f"{goal} {part}"] for part in ("start", "first", "length", "rows")
    )
    found = np.zeros((len(start), 64))
    for k in range(int(length.max())):
        some = np.flatnonzero(length > k)
        found[some, first[some] + k] = rows[start[some] + k]
    return found


@pytest.mark.slow
@pytest.mark.skipif(not MAKEBEAROFF.exists(), reason="gnubg is not installed")
@pytest.mark.parametrize(
    ("goal", "apart", "within", "choices", "worse", "lost"),
    [("off", 441, 3.9, 147, 1.1e-4, 5.8e-6), ("first", 0, 1.8, 1, 1e-4, 1.3e-6)],
)
def test_gnubgs_distributions_differ_by_its_choice_of_plays_alone(
    goal: str,
    apart: int,
    within: float,
    choices: int,
    worse: float,
    lost: float,
    tmp_path: Path,
) -> None:
    """It plays to the least of its own rounded means, of several the highest rank.

    By that choice its rows follow from each other; and the rows that are exact under that choice
    are near all of its own. Few choices are not the best, and by little.
    """
    path = tmp_path / "one.bd"
    subprocess.run([MAKEBEAROFF, "-o", "6", "-f", path], check=True, capture_output=True)
    exact = default()
    read = read_gnubg(path)
    assert isinstance(read, OneSided)
    theirs = np.rint(dense(read, goal) * 65535).astype(np.int64)
    rounded = theirs @ np.arange(64)  # means, in steps
    every = unrank(np.arange(len(theirs)), points=6)
    pips = every @ np.arange(1, 7)
    open_ = every.sum(axis=1) == 15 if goal == "first" else pips > 0
    weights = np.array(nc.dice.WEIGHTS)
    mine = dense(exact, goal) * (1 - open_[:, None])
    means = exact.raw[f"{goal} mean"]
    follows, worst = 0, 0.0
    losses = []
    for level in range(1, 91):
        ranks = np.flatnonzero((pips == level) & open_)
        if not len(ranks):
            continue
        boards = np.zeros((len(ranks), 32), np.int8)
        boards[:, :6], boards[:, 23] = every[ranks], -1
        boards[:, 26], boards[:, 27] = 15 - every[ranks].sum(axis=1), 14
        found = nc.batch.expand(boards, rules=nc.BACKGAMMON)
        to = rank(np.asarray(found.boards)[:, :6])
        key = rounded[to] * len(theirs) - to  # the least mean, then the highest rank
        choice = (-np.minimum.reduceat(key, found.indptr[:-1])) % len(theirs)
        losses.append(means[choice] - np.minimum.reduceat(means[to], found.indptr[:-1]))
        choice = choice.reshape(len(ranks), 21)
        row = np.pad(weights @ theirs[choice][..., :-1], ((0, 0), (1, 0)))
        row = (row + 18) // 36
        row[np.arange(len(row)), row.argmax(axis=1)] += 65535 - row.sum(axis=1)
        follows += int((row == theirs[ranks]).all(axis=1).sum())
        mine[ranks, 1:] = weights @ mine[choice][..., :-1] / 36
        worst = max(worst, float(np.abs(mine[ranks] * 65535 - theirs[ranks]).max()))
    assert follows >= open_.sum() - 2
    assert worst < within
    difference = np.abs(dense(exact, goal) * 65535 - theirs)[open_].max(axis=1)
    assert (difference > 4).sum() <= apart
    loss = np.concatenate(losses)
    assert -1e-12 < loss.min() <= loss.max() < worse
    assert (loss > 1e-12).sum() <= choices
    assert (mine @ np.arange(64) - means).max() < lost
