"""Games of very few checkers in full contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nardcore as nc
from nardcore.bearoff import Contact, TwoSided, load

ONE = nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),))


@pytest.fixture(scope="module")
def table() -> Contact:
    return Contact.build(rules=ONE, tolerance=1e-7)


def test_outcomes_are_those_of_the_best_plays(table: Contact) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        mine, theirs = rng.choice(np.arange(1, 25), 2, replace=False)
        p = nc.Position({int(mine): 1}, {25 - int(theirs): 1}, rules=ONE)
        total = np.zeros(10)
        for roll, weight in zip(nc.dice.ROLLS, nc.dice.WEIGHTS, strict=True):
            plays = p.plays(roll)
            equities = [-table.equity(play.result) for play in plays]
            best = table.best_play(p, roll)
            assert -table.equity(best.result) == pytest.approx(max(equities), abs=1e-12)
            total += weight * np.roll(table.outcomes(best.result), 5)
        np.testing.assert_allclose(total / 36, table.outcomes(p), atol=1e-6)
        assert table.outcomes(p).sum() == pytest.approx(1, abs=1e-6)


def test_bear_offs_equal_the_two_sided_table(table: Contact) -> None:
    exact = TwoSided.build(checkers=1, rules=ONE, dtype="float64")
    for mine in range(1, 7):
        for theirs in range(1, 7):
            p = nc.Position({mine: 1}, {theirs: 1}, rules=ONE)
            assert table.win(p) == pytest.approx(exact.win(p), abs=1e-6)
            assert table.outcomes(p)[1] == pytest.approx(exact.win(p), abs=1e-6)  # a mars


def test_rollouts_of_the_best_plays_agree(table: Contact) -> None:
    start = nc.Position.start(ONE)

    def policy(boards: np.ndarray) -> np.ndarray:
        flipped = table.outcomes_batch(nc.batch.flip(boards, rules=ONE)).astype(np.float64)
        return -(flipped[:, :5] - flipped[:, 5:]) @ np.array(ONE.points)

    result = nc.rollout(start, games=3000, policy=policy, seed=1)
    assert abs(result.win - table.win(start)) < 4 * 0.5 / 3000**0.5


def test_tables_do_not_depend_on_threads(table: Contact) -> None:
    np.testing.assert_array_equal(
        Contact.build(rules=ONE, tolerance=1e-7, threads=1).raw, table.raw
    )


def test_tables_are_saved_and_opened(table: Contact, tmp_path: Path) -> None:
    path = tmp_path / "one.nct"
    table.save(path)
    opened = load(path, rules=ONE.replace(start=((12, 1),)), verify=True)
    assert isinstance(opened, Contact)
    np.testing.assert_array_equal(opened.raw, table.raw)
    with pytest.raises(nc.TableError):
        load(path, rules=ONE.replace(scoring="single"))


@pytest.mark.parametrize(
    "rules", [nc.BACKGAMMON, nc.LONG_NARDY.replace(checkers=2, start=((24, 2),))]
)
def test_other_games_are_not_solved(rules: nc.Rules) -> None:
    with pytest.raises(nc.TableError):
        Contact.build(rules=rules)


@pytest.mark.slow
def test_two_checkers_a_side() -> None:
    rules = nc.HYPERGAMMON.replace(checkers=2, start=((24, 1), (23, 1)))
    table = Contact.build(rules=rules, tolerance=1e-2)
    start = nc.Position.start(rules)
    assert 0.5 < table.win(start) < 0.7
