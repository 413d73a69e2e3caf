"""Cubeful rollouts: the stake is carried, the games are those of plain rollouts, tables are met."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import nardcore as nc
from nardcore import _cubeful
from nardcore.errors import FormatError
from nardcore.formats import dumps, load, loads

START = nc.Position.start()


@pytest.fixture(scope="module")
def money() -> nc.bearoff.TwoSided:
    return nc.bearoff.TwoSided.build(checkers=4, equities="money", dtype="float64")


@pytest.fixture(scope="module")
def racer(money):
    """Plays a bear-off by the chance to win."""

    def perfect(boards):
        return -money.win_batch(nc.batch.flip(boards))

    return perfect


def bearoff(mine, theirs, rules=nc.BACKGAMMON) -> nc.Position:
    points = [*mine, *[0] * 12, *(-n for n in reversed(theirs))]
    return nc.Position.from_points(points, rules=rules)


RACE = bearoff((0, 1, 0, 0, 1, 1), (0, 1, 1, 0, 0, 1))


def lost(boards):
    """Judge every position as nearly lost for the side that has just moved: the other offers."""
    return np.tile([0.03, *[0] * 4, 0.97, *[0] * 4], (len(boards), 1))


def even(boards):
    """Judge every position as even."""
    return np.tile([0.5, *[0] * 4, 0.5, *[0] * 4], (len(boards), 1))


# ---------------------------------------------------------------------------- against exact worths


@pytest.mark.parametrize("rules", [nc.BACKGAMMON, nc.SHORT_DAVE])
@pytest.mark.parametrize(("stake", "cube"), [(1, "centred"), (2, "owned"), (2, "opponent")])
def test_intervals_cover_the_exact_worth(money, racer, rules, stake, cube) -> None:
    p = RACE.with_rules(rules)
    exact = stake * money.equity(p, cube=cube, double=True)
    r = nc.rollout_cubeful(
        p, games=20_000, seed=3, policy=racer, judge=money, stake=stake, cube=cube
    )
    low, high = r.ci(0.999)
    assert low < exact < high
    assert r.stderr < 0.02 * stake
    assert r.win == pytest.approx(money.win(p), abs=0.012)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say(money, racer) -> None:
    exact = money.equity(RACE, cube="centred", double=True)
    covered = 0
    for seed in range(400):
        r = nc.rollout_cubeful(RACE, games=2000, seed=seed, policy=racer, judge=money)
        low, high = r.ci(0.95)
        covered += low <= exact <= high
    assert 0.92 < covered / 400 < 0.98


def test_tables_settle_games_exactly(money, racer) -> None:
    r = nc.rollout_cubeful(RACE, games=200, seed=1, policy=racer, tables=[money])
    assert r.cubeful == pytest.approx(money.equity(RACE, cube="centred", double=True))
    assert (r.stderr, r.table_games) == (pytest.approx(0, abs=1e-7), 200)
    # with the dice on the board the table has to wait for the next throw
    r = nc.rollout_cubeful(RACE, games=200, seed=1, policy=racer, tables=[money], dice=(2, 1))
    assert r.stderr < 1e-6
    play = max(RACE.plays((2, 1)), key=lambda play: -money.win(play.result))
    worth = -money.equity(play.result, cube="centred", double=True)
    assert r.cubeful == pytest.approx(worth, abs=1e-6)


def test_the_model_with_exact_chances_is_near_the_exact_worth(money, racer) -> None:
    def judge(boards):
        win = 1 - money.win_batch(nc.batch.flip(boards))  # of the side that has just moved
        zero = np.zeros((len(boards), 4))
        return np.concatenate([win[:, None], zero, 1 - win[:, None], zero], axis=1)

    exact = money.equity(RACE, cube="centred", double=True)
    r = nc.rollout_cubeful(RACE, games=20_000, seed=1, policy=racer, judge=judge)
    assert r.judge.endswith("judge")
    assert r.cubeful == pytest.approx(exact, abs=0.08)


# ------------------------------------------------------------------------------------ determinism


def test_threads_and_executors_change_nothing(monkeypatch) -> None:
    monkeypatch.setattr(_cubeful, "_CHUNK", 100)
    games = 250
    one = nc.rollout_cubeful(START, games=games, seed=5, threads=1)
    assert one == nc.rollout_cubeful(START, games=games, seed=5, threads=2)
    with ProcessPoolExecutor(1) as pool:
        assert nc.rollout_cubeful(START, games=games, seed=5, executor=pool) == one
    first = nc.rollout_cubeful(START, games=90, seed=5)
    rest = nc.rollout_cubeful(START, games=games - 90, seed=5, first=90)
    assert rest.merge(first) == first.merge(rest) == one
    assert sum(games for _, games in one.stakes) == one.games == games


def test_the_games_are_those_of_a_plain_rollout() -> None:
    plain = nc.rollout(START, games=300, seed=9, opening=True)
    cubeful = nc.rollout_cubeful(START, games=300, seed=9, opening=True)
    assert list(cubeful.counts) == plain.counts.tolist()
    assert cubeful.total_plies == plain.total_plies
    assert cubeful.equity() == pytest.approx(plain.equity())
    assert cubeful.equity("single") == pytest.approx(plain.equity("single"))
    assert (cubeful.probabilities == plain.probabilities).all()


def test_what_does_not_belong_together_does_not_merge() -> None:
    one = nc.rollout_cubeful(START, games=20, seed=1)
    with pytest.raises(ValueError, match="trial 0 is in both"):
        one.merge(one)
    for other in ({"efficiency": 0.5}, {"seed": 2}, {"match": (3, 3)}, {"judge": even}):
        request = {"seed": 1, "first": 20, "games": 20, **other}
        with pytest.raises(ValueError, match="differ in"):
            one.merge(nc.rollout_cubeful(START, **request))
    with pytest.raises(TypeError, match="merges with another"):
        one.merge(3)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- the stakes


def test_a_lost_game_is_refused_at_once() -> None:
    for p in (START, nc.Position.start(nc.SHORT_DAVE)):
        r = nc.rollout_cubeful(p, games=40, seed=1, judge=lost)
        # the side on roll is certain to win, offers, and the other refuses
        assert (r.cubeful, r.refusals, r.stakes) == (1.0, (40, 0), ((1, 40),))
    # with the dice on the board nobody may offer, and then the other side does
    r = nc.rollout_cubeful(START, games=40, seed=1, dice=(3, 1), judge=lost)
    assert (r.cubeful, r.refusals) == (-1.0, (0, 40))


def test_nothing_is_raised_in_an_even_game() -> None:
    r = nc.rollout_cubeful(START, games=300, seed=1, judge=even)
    assert (r.stakes, r.refusals) == (((1, 300),), (0, 0))
    assert r.cubeful == pytest.approx(r.equity())


def test_the_jacoby_rule_pays_single_wins_on_a_centred_cube() -> None:
    p = nc.Position.start(nc.BACKGAMMON.replace(jacoby=True))
    r = nc.rollout_cubeful(p, games=300, seed=1, judge=even)
    assert r.cubeful == pytest.approx(2 * r.win - 1)
    # on a turned cube dearer wins count
    r = nc.rollout_cubeful(p, games=300, seed=1, judge=even, stake=2, cube="opponent")
    assert r.cubeful == pytest.approx(2 * r.equity())


def test_the_crawford_game_is_played_for_its_results() -> None:
    r = nc.rollout_cubeful(START, games=200, seed=1, match=(3, 1), crawford=True)
    score = nc.MatchScore((3, 1), nc.MatchEquity.compute(length=3), crawford=True)
    values = [score.value(sign * k) for sign in (1, -1) for k in nc.BACKGAMMON.points]
    assert r.stakes == ((1, 200),)
    assert r.cubeful == pytest.approx(float(r.probabilities @ values))


def test_after_the_crawford_game_the_trailing_side_raises_at_once() -> None:
    r = nc.rollout_cubeful(START, games=200, seed=1, match=(3, 1))
    assert r.stakes == ((2, 200),)
    r = nc.rollout_cubeful(START, games=200, seed=1, match=(1, 3), judge=even)
    assert r.stakes == ((2, 200),)


@pytest.mark.parametrize("match", [None, (2, 4), (5, 5), (7, 3)])
@pytest.mark.parametrize(
    "rules", [nc.BACKGAMMON, nc.FNR_LONG, nc.SHORT_DAVE.replace(stake="dave_arithmetic")]
)
def test_every_kind_of_stake_is_played(rules, match) -> None:
    r = nc.rollout_cubeful(nc.Position.start(rules), games=80, seed=2, match=match)
    assert r.games == 80
    assert sum(r.refusals) <= 80
    if match:
        assert 0 < r.cubeful < 1
    doubling = rules.stake != "dave_arithmetic"
    assert all(not doubling or s & (s - 1) == 0 for s, _ in r.stakes)
    # somebody has raised
    assert r.stakes != ((1, 80),) or sum(r.refusals)


def test_beavers_are_played() -> None:
    """A judge that is wrong about who is ahead draws offers, and another that beavers them."""
    rules = nc.BACKGAMMON.replace(beavers=1, jacoby=True)
    p = nc.Position.start(rules)

    def marsy(boards):
        """A little behind, but all wins of the side on roll are dear: under Jacoby it doubles."""
        row = [0.58, 0, 0, 0, 0, 0, 0, 0.42, 0, 0]
        return np.tile(row, (len(boards), 1))

    d = nc.cube_decision(p, evaluator=marsy)
    assert d.accept
    r = nc.rollout_cubeful(p, games=40, seed=1, judge=marsy)
    assert r.games == 40


def test_it_stops_at_a_standard_error(monkeypatch) -> None:
    monkeypatch.setattr(_cubeful, "_CHUNK", 200)
    r = nc.rollout_cubeful(START, target_stderr=0.15, seed=1)
    assert r.stderr <= 0.15
    assert r.games % 200 == 0


def test_progress_and_cancelling() -> None:
    seen = []
    nc.rollout_cubeful(START, games=40, seed=1, progress=lambda *a: seen.append(a))
    assert seen == [(40, 40)]

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(nc.RolloutCancelled) as caught:
        nc.rollout_cubeful(START, games=40, seed=1, progress=stop)
    assert caught.value.partial.games == 40


def test_bad_requests_are_refused(money) -> None:
    with pytest.raises(nc.RulesError, match="nothing is raised"):
        nc.rollout_cubeful(nc.Position.start(nc.TRIKTRAK), games=10)
    with pytest.raises(ValueError, match="money play"):
        nc.rollout_cubeful(RACE, games=10, tables=[money], match=(3, 3))
    with pytest.raises(TypeError, match="money equities"):
        nc.rollout_cubeful(RACE, games=10, tables=[nc.bearoff.TwoSided.build(checkers=2)])
    with pytest.raises(nc.TableError, match="every position"):
        nc.rollout_cubeful(START, games=10, judge=money)
    with pytest.raises(ValueError, match="ten classes"):
        nc.rollout_cubeful(START, games=10, judge=lambda boards: np.zeros(len(boards)))
    with pytest.raises(ValueError, match="somebody"):
        nc.rollout_cubeful(START, games=10, judge="somebody")
    with pytest.raises(ValueError, match="games"):
        nc.rollout_cubeful(START, games=0)


@pytest.mark.parametrize(
    "more",
    [
        {"match": (3, 5), "dice": (3, 1)},
        {"stake": 2, "cube": "opponent", "first": 2**40},
        {"opening": True},
    ],
)
def test_results_are_kept_in_files(more, tmp_path) -> None:
    r = nc.rollout_cubeful(START, **{"games": 40, "seed": (1, 2**40), "policy": "linear", **more})
    path = tmp_path / "r.json"
    r.save(path)
    back = nc.CubefulResult.load(path)
    assert back == r
    assert repr(back) == repr(r)
    assert loads(dumps(r, "json")) == load(path) == r
    again = {"games": 9, "first": 2**50, "seed": (1, 2**40), "policy": "linear"}
    next_ = nc.rollout_cubeful(START, **{**more, **again})
    assert back.merge(next_) == r.merge(next_)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "nardcore rollout"),
        ("version", 2),
        ("position", 7),
        ("position", "backgammon"),
        ("stake", 0),
        ("stake", True),
        ("cube", "mine"),
        ("match", [0, 3]),
        ("match", [1]),
        ("crawford", 1),
        ("efficiency", "much"),
        ("efficiency", 2),
        ("policies", ["linear"]),
        ("seed", []),
        ("seed", [-1]),
        ("dice", [7, 1]),
        ("opening", None),
        ("games", 39),
        ("ranges", [[0, 39]]),
        ("ranges", [[0, 20], [10, 20]]),
        ("counts", [40]),
        ("refusals", [41, 0]),
        ("stakes", [[1, 39]]),
        ("stakes", [[1, 20], [1, 20]]),
        ("table_games", 41),
        ("square_sum", 0),
        ("total_plies", -1),
        ("worth_sum", 1.5),
    ],
)
def test_files_that_do_not_add_up_are_refused(field, value, tmp_path) -> None:
    r = nc.rollout_cubeful(START, games=40, seed=1, policy="linear")
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**r.to_dict(), field: value}))
    with pytest.raises(FormatError):
        nc.CubefulResult.load(path)
    data = r.to_dict()
    del data[field]
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError):
        nc.CubefulResult.load(path)
    path.write_text(json.dumps(r.to_dict())[:-9])
    with pytest.raises(FormatError, match="no complete JSON"):
        nc.CubefulResult.load(path)
    path.write_text('{"n": ' + "9" * 5000 + "}")
    with pytest.raises(FormatError, match="too many digits"):
        nc.CubefulResult.load(path)
