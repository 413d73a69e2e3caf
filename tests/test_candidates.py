"""Plays rolled out side by side: common dice, differences, and when one is best for sure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rough import NET

import nardcore as nc
from nardcore import _playout
from nardcore._bounds import anytime_bound
from nardcore._moments import Moments
from nardcore._rollout import Stop
from nardcore._trials import Method, Spec, play_chunk
from nardcore.candidates import PlaysRollout

NATIVE = NET
START = nc.Position.start()
PLAYS = ["8/5 6/5", "24/23 13/10", "13/9"]
RACE = nc.Position({1: 2, 2: 1, 5: 1}, {1: 2, 3: 2, 4: 1})
POINTS = np.array([1, 2, 2, 3, 3, -1, -2, -2, -3, -3.0])


def test_it_is_the_rollout_of_each_play_with_the_same_dice() -> None:
    found = nc.rollout_plays(START, (3, 1), plays=PLAYS, games=700, seed=9)
    for text, result in zip(PLAYS, found.results, strict=True):
        assert result == nc.rollout(START.play(text, dice=(3, 1)), games=700, seed=9)
    ranked = found.ranked()
    assert [one.equity for one in ranked] == sorted((o.equity for o in ranked), reverse=True)
    assert ranked[0].equity == -min(result.equity() for result in found.results)
    assert found.games == 700


def test_errors_of_differences_are_those_of_the_pairs_of_trials() -> None:
    found = nc.rollout_plays(START, (3, 1), plays=PLAYS, games=300, seed=9)
    each: list[NDArray[np.float64]] = []
    for text in PLAYS:
        spec = Spec.make(START.play(text, dice=(3, 1)), "net", 9, None, False)
        played = play_chunk(spec, 0, 300, Stop(), keep=True)
        assert played is not None
        assert played[1] is not None
        each.append(-(played[1] @ POINTS) / 2**32)
    for i in range(3):
        for j in range(3):
            mean, error = found.difference(i, j)
            d = each[i] - each[j]
            assert mean == pytest.approx(d.mean(), abs=1e-12)
            assert error == pytest.approx(d.std(ddof=1) / math.sqrt(300), abs=1e-9)


@pytest.mark.parametrize("more", [{}, {"variance_reduction": True, "stratified": True}], ids=str)
def test_threads_parts_and_files(more: dict[str, Any], tmp_path: Path) -> None:
    request: dict[str, Any] = {"plays": PLAYS[:2], "seed": 4, "truncate": 3, "policy": NATIVE}
    request |= more
    whole = nc.rollout_plays(START, (3, 1), games=300, threads=1, **request)
    assert whole == nc.rollout_plays(START, (3, 1), games=300, threads=3, **request)
    a = nc.rollout_plays(START, (3, 1), games=200, **request)
    b = nc.rollout_plays(START, (3, 1), games=100, first=200, **request)
    assert a.merge(b) == b.merge(a) == whole
    whole.save(tmp_path / "plays.json")
    again = PlaysRollout.load(tmp_path / "plays.json")
    assert again == whole
    assert [repr(one) for one in again.ranked()] == [repr(one) for one in whole.ranked()]
    with pytest.raises(ValueError, match="different plays"):
        whole.merge(nc.rollout_plays(START, (3, 1), games=10, first=900, limit=1))
    data = whole.to_dict()
    for key in data:
        (tmp_path / "bad.json").write_text(
            nc_json({k: v for k, v in data.items() if k != key}), encoding="utf-8"
        )
        with pytest.raises(nc.FormatError):
            PlaysRollout.load(tmp_path / "bad.json")


def nc_json(data: Any) -> str:
    import json

    return json.dumps(data)


def test_the_best_plays_of_the_policy_are_taken_where_none_are_named() -> None:
    found = nc.rollout_plays(START, (3, 1), limit=2, games=20, seed=1, policy=NATIVE, truncate=2)
    ranked = nc.rank_plays(START, (3, 1), evaluator=NATIVE)
    assert [str(p) for p in found.plays] == [str(one.play) for one in ranked[:2]]
    named = nc.rollout_plays(START, (3, 1), limit=2, games=20, seed=1)
    assert "8/5 6/5" in [str(p) for p in named.plays]


def test_it_stops_when_one_is_best_for_sure() -> None:
    p = nc.Position({6: 1, 5: 1, 1: 1}, {1: 4})
    plays = [str(play) for play in p.plays((5, 1))]
    found = [
        nc.rollout_plays(p, (5, 1), plays=plays, seed=3, confidence=0.99, threads=threads)
        for threads in (1, 3)
    ]
    assert found[0] == found[1]
    best = found[0].best(0.99)
    assert best is not None
    ranked = found[0].ranked(confidence=0.99)
    assert str(best) == str(ranked[0].play)
    assert all(one.sure for one in ranked[1:])
    by_error = nc.rollout_plays(p, (5, 1), plays=plays, seed=3, target_stderr=0.01)
    assert max(one.loss_stderr for one in by_error.ranked()) <= 0.01
    timed = nc.rollout_plays(p, (5, 1), plays=plays, seed=3, seconds=0.01)
    assert timed.games > 0


THREE = ["24/23 13/9", "13/9/8", "6/5 6/2"]
DROPPING: dict[str, Any] = {"plays": THREE, "policy": "linear", "seed": 1, "drop": 0.99}


def test_plays_without_hope_get_no_more_games(tmp_path: Path) -> None:
    found = nc.rollout_plays(START, (4, 1), games=20_000, threads=1, **DROPPING)
    assert found == nc.rollout_plays(START, (4, 1), games=20_000, threads=3, **DROPPING)
    games = [result.games for result in found.results]
    assert games == [20_000, 20_000, 8192]  # looked at after four chunks
    assert [str(play) for play in found.dropped] == THREE[2:]
    assert "1 of them dropped" in repr(found)
    # nothing else differs from rollouts without it, over the games there were
    whole = nc.rollout_plays(START, (4, 1), plays=THREE, games=20_000, policy="linear", seed=1)
    short = nc.rollout_plays(START, (4, 1), plays=THREE, games=8192, policy="linear", seed=1)
    assert found.results[:2] == whole.results[:2]
    assert found.results[2] == short.results[2]
    assert found.difference(0, 1) == whole.difference(0, 1)
    assert found.difference(0, 2) == short.difference(0, 2)
    assert short.better(0, 2, 0.99) or short.better(1, 2, 0.99)
    assert whole.dropped == ()
    last = found.ranked()[-1]
    assert (str(last.play), last.sure) == (THREE[2], True)
    # other parts of the trials are counted together, and files keep them
    later = nc.rollout_plays(START, (4, 1), first=20_000, games=9000, **DROPPING)
    both = found.merge(later)
    assert [result.games for result in both.results] == [29_000, 29_000, 16_384]
    assert both.pairs[0, 2].n == 16_384
    for one in (found, both):
        one.save(tmp_path / "plays.json")
        assert PlaysRollout.load(tmp_path / "plays.json") == one
    data = found.to_dict()
    data["pairs"][1][2] += 1  # a pair cannot have more trials than both its plays
    (tmp_path / "bad.json").write_text(nc_json(data), encoding="utf-8")
    with pytest.raises(nc.FormatError, match="are not those"):
        PlaysRollout.load(tmp_path / "bad.json")


def test_dropping_with_other_methods_and_ends() -> None:
    p = nc.Position({6: 1, 5: 1, 1: 1}, {1: 4})
    plays = [str(play) for play in p.plays((5, 1))]
    more: dict[str, Any] = {"plays": plays, "seed": 3, "policy": NATIVE}
    more |= {"variance_reduction": True, "stratified": True}
    found = [
        nc.rollout_plays(p, (5, 1), games=3000, drop=0.95, threads=threads, **more)
        for threads in (1, 3)
    ]
    assert found[0] == found[1]
    assert found[0].dropped
    assert found[0].games == 3000
    for (i, j), moments in found[0].reduced_pairs.items():
        fewer = min(found[0].results[i].games, found[0].results[j].games)
        assert moments.n == found[0].pairs[i, j].n == fewer
    # a wanted error is that of the plays that are left
    by_error = nc.rollout_plays(p, (5, 1), drop=0.95, target_stderr=0.002, **more)
    assert by_error.games >= by_error.results[0].games > 0
    sure = nc.rollout_plays(p, (5, 1), drop=0.999, confidence=0.95, **more)
    assert str(sure.best(0.95)) == str(sure.ranked()[0].play)


def test_the_best_is_what_no_other_play_is_surely_better_than() -> None:
    plays = tuple(START.plays((3, 1)))[:3]
    result = nc.rollout(plays[0].result, games=1, seed=1)

    def lead(games: int) -> Moments:
        """Moments of pairs in which the first play won a single game more each time."""
        sums = [0] * 10
        products = [0] * 100
        sums[0], sums[5] = -games << 32, games << 32  # as the opponent, who is on roll, sees it
        for i, j, sign in ((0, 0, 1), (5, 5, 1), (0, 5, -1), (5, 0, -1)):
            products[10 * i + j] = sign * games << 32
        return Moments(games, tuple(sums), tuple(products))

    def found(first_third: int) -> PlaysRollout:
        pairs = {(0, 1): lead(4000), (1, 2): lead(4000), (0, 2): lead(first_third)}
        return PlaysRollout(START, (3, 1), plays, (result,) * 3, pairs, {})

    assert found(4000).best(0.95) == plays[0]
    # the third was dropped for the second, before the first could be told from it
    few = found(10)
    assert not few.better(0, 2, 0.95)
    assert few.best(0.95) == plays[0]
    assert one_pair(lead(10)).best(0.95) is None


def one_pair(first: Moments, second: Any = None) -> PlaysRollout:
    """A rollout of two plays with some moments of their differences."""
    plays = tuple(START.plays((3, 1)))[:2]
    result = nc.rollout(plays[0].result, games=1, seed=1)
    return PlaysRollout(
        START, (3, 1), plays, (result, result), {(0, 1): first}, {} if second is None else second
    )


def wrong_decisions(pairs: int, trials: int, chunk: int, confidence: float, reduce: bool) -> int:
    """Compare a play with itself, with other dice, and look after every chunk."""
    method = Method(None, NET, 0, True) if reduce else Method()
    names = NET if reduce else "random"
    wrong = 0
    both = []
    for seed in (1, 2):
        spec = Spec.make(RACE, names, seed, None, False, (), method)
        played = play_chunk(spec, 0, pairs * trials, Stop(), keep=True)
        assert played is not None
        both.append(played[2] if reduce else played[1])
    a, b = both
    assert a is not None
    assert b is not None
    for pair in range(pairs):
        total = Moments()
        for at in range(pair * trials, (pair + 1) * trials, chunk):
            part = slice(at, at + chunk)
            total += Moments.of(_playout.difference_moments(a[part], b[part]).tolist())
            found = one_pair(total, {(0, 1): total} if reduce else None)
            if found.best(confidence) is not None:
                wrong += 1
                break
    return wrong


def test_equal_plays_are_seldom_told_apart() -> None:
    assert wrong_decisions(40, 600, 60, 0.9, reduce=False) <= 10


@pytest.mark.slow
@pytest.mark.parametrize("reduce", [False, True])
def test_equal_plays_are_told_apart_at_most_as_often_as_stated(reduce: bool) -> None:
    trials = 1000 if reduce else 5000
    assert wrong_decisions(1000, trials, 50, 0.95, reduce) <= 50


def test_the_bound_holds_for_random_walks_and_grows_as_it_should() -> None:
    rng = np.random.default_rng(1)
    crossed = 0
    for _ in range(300):
        steps = rng.choice([-1.0, 0.0, 1.0], size=2000, p=[0.1, 0.8, 0.1])
        sums, squares = np.cumsum(steps), np.cumsum(steps**2)
        looks = range(9, 2000, 10)
        crossed += any(sums[i] >= anytime_bound(squares[i], 1.0, 0.1) for i in looks)
    assert crossed <= 30
    assert anytime_bound(1e6, 2.0, 0.05) < anytime_bound(1e6, 2.0, 0.01)
    assert anytime_bound(1e6, 2.0, 0.05) < anytime_bound(4e6, 2.0, 0.05) / 1.9
    assert anytime_bound(0.0, 2.0, 0.05) == anytime_bound(3.9, 2.0, 0.05)
    # never narrower than the law of the iterated logarithm, nor five times wider
    for n in (1e4, 1e8):
        lil = math.sqrt(2 * n * math.log(math.log(n)))
        assert lil < anytime_bound(n, 1.0, 0.025) < 5 * lil


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"plays": []}, ValueError),
        ({"plays": ["8/5 6/5", "6/5 8/5"]}, ValueError),
        ({"plays": ["8/2"]}, nc.IllegalPlayError),
        ({"confidence": 1.0}, ValueError),
        ({"confidence": 0.0}, ValueError),
        ({"drop": 1.0}, ValueError),
        ({"drop": 0.9, "confidence": 0.95}, ValueError),
        ({"games": 0}, ValueError),
        ({"policy": "random"}, ValueError),
        ({"target_stderr": -1}, ValueError),
    ],
    ids=str,
)
def test_a_request_without_sense_is_refused(more: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        nc.rollout_plays(START, (3, 1), **{"games": 10, **more})


def test_other_requests_without_sense() -> None:
    with pytest.raises(TypeError):
        nc.rollout_plays("start", (3, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ends the game"):
        nc.rollout_plays(nc.Position({1: 1, 3: 1}, {1: 3}), (3, 1), games=10)
    found = nc.rollout_plays(START, (3, 1), plays=PLAYS[:2], games=10, seed=1)
    for confidence in (0.0, 1.0):
        with pytest.raises(ValueError, match="confidence"):
            found.best(confidence)
    with pytest.raises(TypeError):
        found.merge(found.results[0])  # type: ignore[arg-type]
