"""Decisions about the stake: known refusal points, an independent solution, exact tables."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nardcore as nc
from nardcore._cube_model import CubeModel, Money, raises
from nardcore._cube_terms import Terms, as_chances
from nardcore._judge import by_pips

ARITHMETIC = nc.SHORT_DAVE.replace(stake="dave_arithmetic")
PLAIN = nc.BACKGAMMON.replace(scoring="single")
MONEY = nc.BACKGAMMON.replace(cube_cap=None)


def plain(p: float) -> list[float]:
    return [p, 0, 0, 0, 0, 1 - p, 0, 0, 0, 0]


def ten(p: float, mine: float, theirs: float) -> list[float]:
    """Class chances with shares of wins outside home."""
    return [p * (1 - mine), 0, p * mine, 0, 0, (1 - p) * (1 - theirs), 0, (1 - p) * theirs, 0, 0]


# ------------------------------------------------------------------------------- refusal points


@pytest.mark.parametrize("rules", [MONEY, PLAIN.replace(cube_cap=None), nc.SHORT_DAVE])
@pytest.mark.parametrize("stake", [1, 2, 16])
def test_a_doubled_stake_without_dearer_wins(rules: nc.Rules, stake: int) -> None:
    assert nc.refusal_point(rules, stake=stake, efficiency=0) == pytest.approx(0.25)
    assert nc.refusal_point(rules, stake=stake, efficiency=1) == pytest.approx(0.20)


def test_the_cap_makes_the_last_cubes_dead() -> None:
    # taking the last cube leaves nothing to raise
    assert nc.refusal_point(nc.BACKGAMMON, stake=32, efficiency=1) == pytest.approx(0.25)
    # before it, the taker may raise once more: (1 - 1/4) / 4
    assert nc.refusal_point(nc.BACKGAMMON, stake=16, efficiency=1) == pytest.approx(0.1875)


@pytest.mark.parametrize("stake", range(1, 8))
def test_arithmetic_dave(stake: int) -> None:
    dead = nc.refusal_point(ARITHMETIC, stake=stake, efficiency=0)
    assert dead == pytest.approx(1 / (2 * (stake + 1)))

    def live(s: int) -> float:
        return 0.0 if s > 60 else (1 - live(s + 1)) / (2 * (s + 1))

    assert nc.refusal_point(ARITHMETIC, stake=stake, efficiency=1) == pytest.approx(
        live(stake), abs=1e-9
    )
    assert live(1) == pytest.approx(2 / math.sqrt(math.e) - 1)


def test_dearer_wins_raise_the_refusal_point() -> None:
    # with L points a loss and W a win, dead: (L - 1/2) / (W + L); live: (L - 1/2) / (W + L + 1/2)
    chances = ten(0.5, 0.3, 0.1)
    won, lost = 1.3, 1.1  # of the side that offers
    dead = nc.refusal_point(MONEY, probabilities=chances, efficiency=0)
    assert dead == pytest.approx((won - 0.5) / (won + lost))
    live = nc.refusal_point(MONEY, probabilities=chances, efficiency=1)
    assert live == pytest.approx((won - 0.5) / (won + lost + 0.5))


def test_refusal_points_of_matches() -> None:
    met = nc.MatchEquity.compute(length=5)
    # both need two: whoever accepts plays for the match, whoever refuses needs two against one
    for efficiency in (0, 1):
        point = nc.refusal_point(match=(2, 2), met=met, efficiency=efficiency)
        assert point == pytest.approx(met(2, 1))
    # after the Crawford game at two away the leader refuses whenever it is behind
    assert nc.refusal_point(match=(2, 1), met=met) == pytest.approx(0.5)
    # at three away it loses a game by refusing, and hardly ever should
    other = met(1, 2, post_crawford=True)
    point = nc.refusal_point(match=(3, 1), met=met)
    assert point == pytest.approx((other - 0.5) / (1 - 0.5))


def test_a_dead_cube_that_costs_nothing_is_raised_at_once() -> None:
    """The trailer at four away that accepts 2 from a leader at two away plays for the match."""
    met = nc.MatchEquity.compute(length=5)
    point = nc.refusal_point(match=(2, 4), met=met, efficiency=0)
    assert point == pytest.approx(met(4, 1))  # its raise to 4 is worth the match, accepted or not


# --------------------------------------------------------------------------------- an independent
# solution: the chance to win walks on a grid, one step up or down; every state of the stake is a
# stopping game that is solved by policy iteration, without any thought of lines and corners.


def stopping_game(ends, lower, upper) -> np.ndarray:
    """Value of a walk on a grid; one side may stop for `lower`, the other for `upper`."""
    n = len(lower)
    up = np.zeros(n, bool)
    down = np.zeros(n, bool)
    for _ in range(1000):
        a = np.eye(n)
        b = np.where(up, lower, upper)
        walk = ~(up | down)
        walk[[0, -1]] = False
        b[0], b[-1] = ends
        for i in np.flatnonzero(walk):
            a[i, i - 1] = a[i, i + 1] = -0.5
            b[i] = 0
        value = np.linalg.solve(a, b)
        middle = np.empty(n)
        middle[1:-1] = (value[:-2] + value[2:]) / 2
        middle[[0, -1]] = ends
        new_up, new_down = lower > middle + 1e-12, upper < middle - 1e-12
        new_up[[0, -1]] = new_down[[0, -1]] = False
        if (new_up == up).all() and (new_down == down).all():
            return value
        up, down = new_up, new_down & ~new_up
    raise AssertionError


def walk_values(step, points_won, points_lost, n: int, last: int):
    """Give value(stake, owner) on the grid, for money."""
    grid = np.linspace(0, 1, n + 1)
    never = np.full(n + 1, np.inf)

    @cache
    def value(stake: int, owner: str) -> np.ndarray:
        ends = (-stake * points_lost, stake * points_won)
        higher = step(stake)
        if higher is None or stake >= last:
            return ends[0] + (ends[1] - ends[0]) * grid
        lower, upper = -never, never
        if owner != "opponent":
            lower = np.minimum(value(higher, "opponent"), stake)
        if owner != "owned":
            upper = np.maximum(value(higher, "owned"), -stake)
        return stopping_game(ends, lower, upper)

    return value


CASES = [
    pytest.param(lambda v: 2 * v, MONEY, 1.0, 1.0, 32, id="geometric"),
    pytest.param(lambda v: v + 1, ARITHMETIC, 1.0, 1.0, 8, id="arithmetic"),
    pytest.param(lambda v: 2 * v, MONEY, 1.3, 1.2, 32, id="dearer wins"),
    pytest.param(lambda v: 2 * v if v < 4 else None, MONEY, 1.1, 1.5, 64, id="a cap of 4"),
    pytest.param(lambda v: 2 * v, MONEY, 2.6, 1.0, 16, id="too good"),
]


@pytest.mark.parametrize(("step", "rules", "won", "lost", "last"), CASES)
def test_live_values_are_those_of_a_random_walk(step, rules, won, lost, last) -> None:
    n = 60
    value = walk_values(step, won, lost, n, last)
    points = (1, 2) if max(won, lost) <= 2 else (1, 3)
    most = points[1]
    shares = [
        [np.full(n + 1, (most - x) / (most - 1)), np.full(n + 1, (x - 1) / (most - 1))]
        for x in (won, lost)
    ]
    capped = (lambda v: step(v) if v < last else None) if last else step
    model = CubeModel(Money(), capped, points, *shares, 1.0)
    grid = np.linspace(0, 1, n + 1)
    first = 1
    for owner in ("centred", "owned", "opponent"):
        found = model.line(first, owner).at(grid)
        # a walk of steps of 1/n cannot stop between two points
        assert np.abs(found - value(first, owner)).max() < 6 * (won + lost) / n / 4


def test_the_walk_refuses_where_theory_says() -> None:
    n = 100
    grid = np.linspace(0, 1, n + 1)
    for step, point in ((lambda v: 2 * v, 0.2), (lambda v: v + 1, 2 / math.sqrt(math.e) - 1)):
        value = walk_values(step, 1.0, 1.0, n, 64 if point == 0.2 else 10)
        # the least chance of the offering side at which the other refuses
        refuses = grid[np.argmax(value(2, "opponent") >= 1)]
        assert 1 - refuses == pytest.approx(point, abs=1.5 / n)


# ------------------------------------------------------------------------------------- properties

chances = st.lists(st.floats(0.001, 1), min_size=10, max_size=10).map(
    lambda parts: [part / sum(parts) for part in parts]
)
owners = st.sampled_from(["centred", "owned", "opponent"])
terms = st.sampled_from(
    [
        (MONEY, 1, None),
        (MONEY, 4, None),
        (nc.BACKGAMMON.replace(cube_cap=4), 2, None),
        (nc.SHORT_DAVE, 2, None),
        (ARITHMETIC, 3, None),
        (nc.BACKGAMMON, 1, (3, 4)),
        (nc.BACKGAMMON, 2, (5, 2)),
        (nc.BACKGAMMON, 1, (1, 4)),
        (nc.FNR_LONG, 2, (5, 5)),
        (ARITHMETIC, 2, (6, 4)),
    ]
)


def made_terms(what, owner, efficiency) -> Terms:
    rules, stake, match = what
    if stake == 1:
        owner = "centred"
    elif rules.stake != "cube" and owner == "centred":
        owner = "owned"
    return Terms.make(rules, stake, owner, match, False, None, efficiency)


@given(terms, owners, chances, st.floats(0, 1))
def test_both_sides_see_the_same(what, owner, p10, efficiency) -> None:
    made = made_terms(what, owner, efficiency)
    mine = as_chances(np.array([p10]))
    theirs = mine[:, [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]]
    model, p = made.model(mine)
    other, q = made.model(theirs, mover=False)
    turned = {"centred": "centred", "owned": "opponent", "opponent": "owned"}[made.owner]
    value = model.line(made.stake, made.owner).at(p)[0]
    seen = other.line(made.stake, turned).at(q)[0]
    # points change their sign, match chances add up to one
    assert value + seen == pytest.approx(0 if made.match is None else 1, abs=1e-9)


@given(terms, chances, st.floats(0, 1))
def test_values_rise_and_owning_the_cube_is_worth_something(what, p10, efficiency) -> None:
    made = made_terms(what, "owned", efficiency)
    grid = np.linspace(0, 1, 101)
    mine = np.array(p10)
    won, lost = mine[:5] / mine[:5].sum(), mine[5:] / mine[5:].sum()
    rows = np.array([[*(x * won), *((1 - x) * lost)] for x in grid])
    model, p = made.model(as_chances(rows))
    assert p == pytest.approx(grid)
    stake = made.stake
    owned, centred, theirs = (
        model.live(stake, owner).at(p) for owner in ("owned", "centred", "opponent")
    )
    for line in (owned, centred, theirs):
        assert (np.diff(line) >= -1e-9).all()
        assert np.abs(np.diff(line)).max() < stake * 2  # no jumps: slopes are bounded
    assert (owned >= centred - 1e-9).all()
    assert (centred >= theirs - 1e-9).all()


@given(terms, owners, chances, st.floats(0, 1))
def test_advice_agrees_with_its_worths(what, owner, p10, efficiency) -> None:
    made = made_terms(what, owner, efficiency)
    rules, stake, match = what
    d = nc.cube_decision(
        p10, rules=rules, stake=stake, cube=made.owner, match=match, efficiency=efficiency
    )
    assert d.win == pytest.approx(sum(p10[:5]))
    assert d.accept == (d.accepted <= d.refused)
    assert d.allowed == (
        made.owner != "opponent" and (rules.cube_cap is None or stake < rules.cube_cap)
    )
    if d.offer:
        assert d.allowed
        # a raise that costs nothing is offered too
        gain = min(d.accepted, d.refused) - d.hold
        assert gain > -1e-9
        assert gain < 1e-9 or d.win >= d.offer_point - 1e-9
    assert d.value >= d.hold - 1e-12
    assert not (d.offer and d.too_good)
    if made.owner != "opponent" and d.allowed and 0 < d.refusal_point < 1:
        assert d.accept == (1 - d.win >= d.refusal_point - 1e-9) or math.isclose(
            1 - d.win, d.refusal_point, abs_tol=1e-6
        )


# --------------------------------------------------------------------------------------- decisions


def test_the_windows_of_dave() -> None:
    """Offer, accept and refuse by the chance to win, at an efficiency of 0.7."""
    found = [nc.cube_decision(p / 100, rules=nc.SHORT_DAVE).advice for p in (50, 69, 70, 78, 79)]
    assert found == ["no offer; accept"] * 2 + ["offer; accept"] * 2 + ["offer; refuse"]


def test_the_same_chance_is_another_decision_in_arithmetic_dave() -> None:
    # at a stake of 3, refusing costs 3 and accepting risks one more
    for p, advice in ((0.80, "offer; refuse"), (0.85, "offer; refuse")):
        owned = {"stake": 4, "cube": "owned"}
        assert nc.cube_decision(p, rules=nc.SHORT_DAVE, **owned).advice == advice
        assert nc.cube_decision(p, rules=ARITHMETIC, **owned).accept


def test_too_good() -> None:
    d = nc.cube_decision(ten(0.92, 0.8, 0), rules=MONEY)
    assert (d.advice, d.too_good) == ("too good to offer; refuse", True)
    assert d.hold > d.refused == 1
    # with the Jacoby rule there is nothing to play on for
    d = nc.cube_decision(ten(0.92, 0.8, 0), rules=MONEY.replace(jacoby=True))
    assert (d.advice, d.too_good) == ("offer; refuse", False)
    # but on a turned cube there is
    turned = {"stake": 2, "cube": "owned"}
    d = nc.cube_decision(ten(0.92, 0.8, 0), rules=MONEY.replace(jacoby=True), **turned)
    assert d.too_good


def test_beavers() -> None:
    rules = MONEY.replace(beavers=1)
    d = nc.cube_decision(plain(0.4), rules=rules)
    assert (d.advice, d.beaver) == ("no offer; raise again", True)
    without = nc.cube_decision(plain(0.4), rules=MONEY)
    assert d.accepted == pytest.approx(2 * without.accepted)
    # nobody raises again above the limit, in a match, or in dave
    assert not nc.cube_decision(plain(0.4), rules=rules.replace(cube_cap=2)).beaver
    assert not nc.cube_decision(plain(0.4), rules=rules, match=(5, 5)).beaver
    assert not nc.cube_decision(0.4, rules=nc.SHORT_DAVE).beaver


def test_nothing_is_offered_where_it_may_not_be() -> None:
    assert nc.cube_decision(0.9, match=(1, 3), crawford=True).advice == "no offer is allowed"
    assert not nc.cube_decision(0.9, stake=2, cube="opponent").allowed
    assert not nc.cube_decision(0.9, stake=64, cube="owned").allowed
    trailer = nc.cube_decision(0.4, match=(3, 1))
    assert trailer.offer  # after the Crawford game it has nothing to lose by it
    assert not nc.cube_decision(0.9, match=(1, 3)).offer  # and the leader nothing to win


def test_a_match_needs_no_more_than_it_needs() -> None:
    """A side that needs one point of the stake it holds does not raise it."""
    d = nc.cube_decision(0.9, match=(2, 5), stake=2, cube="owned")
    assert not d.offer
    assert nc.cube_decision(0.9, match=(3, 5), stake=2, cube="owned").allowed


def test_a_met_from_a_file_counts() -> None:
    met = nc.MatchEquity.compute(length=4, shares=(0.5, 0.5, 0, 0, 0))
    assert nc.cube_decision(0.6, match=(3, 4), met=met).hold != (
        nc.cube_decision(0.6, match=(3, 4)).hold
    )
    score = nc.MatchScore((3, 4), met)
    assert nc.cube_decision(0.6, match=score) == nc.cube_decision(0.6, match=(3, 4), met=met)


@pytest.mark.parametrize(
    ("inclusive", "cube", "hold", "accepted"),
    [
        ((0.588256, 0.194841, 0.006901, 0.086408, 0.001343), "centred", 0.396360, 0.301020),
        ((0.416802, 0.127522, 0.001424, 0.156210, 0.005915), "owned", -0.057863, -0.795725),
        ((0.548592, 0.137781, 0.010338, 0.137733, 0.000176), "centred", 0.153764, -0.092171),
    ],
)
def test_worths_are_those_of_gnubg(inclusive, cube, hold, accepted) -> None:
    """What gnubg 1.07 makes of its own chances, at the efficiency 0.68."""
    w, wg, wb, lg, lb = inclusive
    chances_ = [w - wg, 0, wg - wb, wb, 0, 1 - w - lg, 0, lg - lb, lb, 0]
    stake = 1 if cube == "centred" else 4
    d = nc.cube_decision(chances_, rules=MONEY, stake=stake, cube=cube, efficiency=0.68)
    assert d.hold / stake == pytest.approx(hold, abs=5e-6)
    assert d.accepted / stake == pytest.approx(accepted, abs=5e-6)


def test_a_raise_that_costs_nothing_comes_now() -> None:
    # needing three against one, holding a 2: a loss ends the match whatever the stake
    d = nc.cube_decision(plain(0.4), match=(3, 1), stake=2, cube="owned")
    assert (d.advice, d.hold) == ("offer; accept", pytest.approx(d.accepted))
    # and the leader takes it into account before it doubles
    d = nc.cube_decision(plain(0.6), match=(2, 4), efficiency=0)
    assert d.accepted == pytest.approx(0.6)


@pytest.fixture(scope="module")
def money() -> nc.bearoff.TwoSided:
    return nc.bearoff.TwoSided.build(checkers=4, equities="money", dtype="float64")


def bearoffs():
    for mine, theirs in product(
        [(0, 0, 1, 0, 0, 1), (1, 1, 0, 1, 0, 0), (0, 0, 0, 2, 1, 1)], repeat=2
    ):
        yield nc.Position.from_points([*mine, *[0] * 12, *(-n for n in reversed(theirs))])


@pytest.mark.parametrize("rules", [nc.BACKGAMMON, MONEY, nc.SHORT_DAVE, nc.FNR_SHORT])
def test_tables_give_exact_worths(money, rules: nc.Rules) -> None:
    for position in bearoffs():
        p = position.with_rules(rules)
        for cube in ("centred", "owned", "opponent"):
            stake = 1 if cube == "centred" else 4
            d = nc.cube_decision(p, tables=[money], stake=stake, cube=cube)
            assert d.exact
            assert d.win == money.win(p)
            assert d.value == pytest.approx(stake * money.equity(p, cube=cube, double=True))
            assert d.hold == stake * money.equity(p, cube=cube)
            assert d.accepted == 2 * stake * money.equity(p, cube="opponent")


def test_the_model_is_near_exact_worths(money) -> None:
    """A bear-off of few checkers jumps a lot; even so the model is not far off."""
    off = []
    for p in bearoffs():
        exact = nc.cube_decision(p, tables=[money])
        model = nc.cube_decision(plain(exact.win), rules=MONEY)
        off.append(abs(exact.value - model.value))
    assert np.mean(off) < 0.05
    assert max(off) < 0.2


def test_tables_that_do_not_apply_still_give_the_chance_to_win(money) -> None:
    p = next(bearoffs())
    d = nc.cube_decision(p, tables=[money], match=(3, 3))
    assert (d.exact, d.win) == (False, money.win(p))
    assert not nc.cube_decision(p, tables=[money], stake=32, cube="owned").exact
    arithmetic = nc.cube_decision(p.with_rules(ARITHMETIC), tables=[money])
    assert (arithmetic.exact, arithmetic.win) == (False, money.win(p))
    # a position outside the table is rolled out
    outside = nc.Position.from_points([2, 2, 2, 2, 0, 0] + [0] * 12 + [0, 0, -2, -2, -2, -2])
    assert not nc.cube_decision(outside, tables=[money]).exact


def test_what_may_be_judged() -> None:
    p = nc.Position.start()
    result = nc.rollout(p, games=4096, seed=0)
    by_rollout = nc.cube_decision(result)
    assert by_rollout.win == result.win
    assert by_rollout == nc.cube_decision(result.probabilities)
    assert nc.cube_decision(p) == nc.cube_decision(p, evaluator="net")
    small = nc.Position.start(nc.HYPERGAMMON)  # which no net knows
    assert nc.cube_decision(small, games=100) == nc.cube_decision(
        nc.rollout(small, games=100, seed=0)
    )
    assert nc.cube_decision(0.3).win == pytest.approx(0.3)

    def judge(boards: np.ndarray) -> np.ndarray:
        return np.tile(plain(0.25), (len(boards), 1))

    assert nc.cube_decision(p, evaluator=judge).win == 0.75  # it rates the side that has moved
    pips = nc.cube_decision(p, evaluator="pips")
    assert pips.win == pytest.approx(0.5 + 0.5 * math.erf(0.2 * 4 / math.sqrt(330)))


def test_pips_in_a_race_are_kleinmans_metric() -> None:
    p = nc.Position.from_points(
        [2, 2, 2, 2, 1, 2, 0, 2, 0, 0, 0, 2, *[0] * 6, *[-3] * 3, -2, -2, -2]
    )
    lead, total = p.pips[1] - p.pips[0] + 4, sum(p.pips) - 4
    metric = lead**2 / total
    row = by_pips(p.board[None, :], p.rules)[0]
    assert row[:5].sum() == pytest.approx(
        0.5 + 0.5 * math.erf(math.sqrt(metric) / 2) * (1 if lead > 0 else -1)
    )
    assert 0.5 + 0.5 * math.erf(math.sqrt(1.2) / 2) == pytest.approx(0.78, abs=0.005)


def test_pips_know_who_cannot_lose_a_mars() -> None:
    p = nc.Position.from_points([2, 2] + [0] * 20 + [-8, -7], off=(11, 0))
    row = by_pips(p.board[None, :], p.rules)[0]
    assert row.sum() == pytest.approx(1)
    assert row[1:5].sum() > 0
    assert not row[6:].any()


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"of": 1.5}, "0 to 1"),
        ({"of": [0.5, 0.5]}, "ten classes"),
        ({"of": [0.2] * 10}, "add up to 1"),
        ({"of": [math.nan] * 10}, "add up to 1"),
        ({"of": [1.5, *[0] * 8, -0.5]}, "not negative"),
        ({"of": 0.5, "stake": 3}, "power of two"),
        ({"of": 0.5, "stake": 0}, "stake is 1"),
        ({"of": 0.5, "stake": 128, "cube": "owned"}, "at most 64"),
        ({"of": 0.5, "cube": "mine"}, "'owned'"),
        ({"of": 0.5, "cube": "owned"}, "stake of 1"),
        ({"of": 0.5, "stake": 2, "rules": nc.SHORT_DAVE}, "last acceptor"),
        ({"of": 0.5, "efficiency": 2}, "efficiency"),
        ({"of": 0.5, "match": (0, 3)}, "away"),
        ({"of": 0.5, "match": (2, 3), "crawford": True}, "Crawford"),
        ({"of": 0.5, "match": (1, 3), "crawford": True, "stake": 2}, "Crawford"),
        ({"of": 0.5, "crawford": True}, "need match"),
        ({"of": 0.5, "rules": nc.TRIKTRAK}, "nothing is raised"),
    ],
)
def test_bad_requests_are_refused(request_, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nc.cube_decision(**request_)


def test_wrong_types_are_refused() -> None:
    p = nc.Position.start()
    with pytest.raises(TypeError, match="whole number"):
        nc.cube_decision(0.5, stake=2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="TwoSided"):
        nc.cube_decision(p, tables=[object()])
    with pytest.raises(ValueError, match="ten classes"):
        nc.cube_decision(p, evaluator=lambda boards: np.zeros(len(boards)))
    with pytest.raises(ValueError, match="over"):
        nc.cube_decision(nc.Position.from_points([0] * 23 + [-1], off=(15, 14)))


def test_series_of_stakes() -> None:
    assert [raises(nc.BACKGAMMON, 16)(v) for v in (16, 32, 64)] == [32, 64, None]
    assert raises(nc.SHORT_DAVE, 1)(64) == 128
    assert raises(ARITHMETIC, 5)(5) == 6
    assert raises(nc.TRIKTRAK, 1)(1) is None
