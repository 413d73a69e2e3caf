"""Rates of the library's own work, checked before timing: ``pytest bench --benchmark-only``.

For ratios beside other programs run ``python bench/compare.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import positions

import nardcore as nc
from nardcore import _movegen

FAMILIES = {"short": nc.BACKGAMMON, "long": nc.LONG_NARDY}


@pytest.fixture(scope="module", params=FAMILIES)
def sample(request: pytest.FixtureRequest) -> tuple[nc.Rules, np.ndarray, np.ndarray]:
    rules = FAMILIES[request.param]
    return rules, *positions(rules, 20_000)


def rate(benchmark: Any, n: int) -> None:
    if benchmark.stats is not None:  # None with --benchmark-disable
        benchmark.extra_info["per second"] = round(n / benchmark.stats.stats.min)


@pytest.mark.benchmark(group="movegen")
def test_all_plays_of_a_batch(benchmark: Any, sample: Any) -> None:
    rules, boards, rolls = sample
    few = slice(0, 2_000)
    chosen = _movegen.plays_by("chosen", boards[few], rolls[few], rules)
    general = _movegen.plays_by("general", boards[few], rolls[few], rules)
    assert (chosen[0] == general[0]).all()
    found = nc.batch.plays(boards, rolls, rules)
    out = np.empty_like(found.boards, shape=(len(found.boards) + 4_000, 32))
    benchmark(nc.batch.plays, boards, rolls, rules, out=out)
    assert (out[: len(found.boards)] == found.boards).all()
    rate(benchmark, len(boards))


@pytest.mark.benchmark(group="movegen")
@pytest.mark.parametrize("family", FAMILIES)
def test_one_call_of_plays(benchmark: Any, family: str) -> None:
    position = nc.Position.start(FAMILIES[family])
    assert len(benchmark(position.plays, (3, 1))) == {"short": 16, "long": 1}[family]
    rate(benchmark, 1)


@pytest.mark.benchmark(group="movegen")
def test_iterating_over_plays(benchmark: Any) -> None:
    plays = nc.Position.start().plays((1, 1))
    assert len(benchmark(list, plays)) == 42
    rate(benchmark, 42)


@pytest.mark.benchmark(group="movegen")
@pytest.mark.parametrize(("family", "nodes"), [("short", 202_782), ("long", 484)])
def test_perft_of_two(benchmark: Any, family: str, nodes: int) -> None:
    assert benchmark(nc.Position.start(FAMILIES[family]).perft, 2) == nodes
    rate(benchmark, nodes)


@pytest.mark.benchmark(group="rollout")
@pytest.mark.parametrize("policy", ["random", "linear"])
@pytest.mark.parametrize("family", FAMILIES)
def test_games(benchmark: Any, family: str, policy: str) -> None:
    start = nc.Position.start(FAMILIES[family])
    one = nc.rollout(start, games=20_000, policy=policy, seed=1, threads=1)
    two = benchmark(nc.rollout, start, games=20_000, policy=policy, seed=1, threads=2)
    assert one == two
    rate(benchmark, 20_000)


@pytest.mark.benchmark(group="game")
@pytest.mark.parametrize("policy", ["random", "linear"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_whole_game(benchmark: Any, family: str, policy: str) -> None:
    """One game through `Game`, turn by turn, with its record; the aim is 5 ms at most."""
    rules = FAMILIES[family]
    seeds = iter(range(10**9))
    assert nc.play_out(rules, policy, seed=1).over
    game = benchmark(lambda: nc.play_out(rules, policy, seed=next(seeds) % 50))
    assert nc.Game.from_record(game.record()).over
    rate(benchmark, 1)
