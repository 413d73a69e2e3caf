"""Games of very few checkers in full contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nardcore as nc
from nardcore.bearoff import Contact, TwoSided, load, unrank

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


def test_rollouts_ask_the_table(table: Contact) -> None:
    start = nc.Position.start(ONE)
    result = nc.rollout(start, games=20, seed=1, tables=[table])
    assert result.table_games == 20
    assert result.win == pytest.approx(table.win(start), abs=1e-6)
    assert result.equity() == pytest.approx(table.equity(start), abs=1e-6)
    with pytest.raises(nc.TableError):
        nc.rollout(nc.Position.start(), games=20, tables=[table])
    probe = table.probe()
    np.testing.assert_array_equal(probe(start.board), table.outcomes(start))
    over = nc.Position.from_board(
        nc.Position({1: 1}, {1: 1}, rules=ONE).plays((2, 1)).boards[0], ONE
    )
    assert probe(over.board) is None


def test_two_distributions_are_near_in_races(table: Contact) -> None:
    """One checker a side has no choice but when to bring it home: the chances differ by little."""
    near = nc.bearoff.OneSided.build(points=18, rules=ONE)
    for mine, theirs in ((16, 7), (5, 12), (9, 9), (12, 12)):
        p = nc.Position({mine: 1}, {theirs: 1}, rules=ONE)
        np.testing.assert_allclose(near.outcomes(p), table.outcomes(p), atol=5e-3)


def test_tables_do_not_depend_on_threads_or_memory(table: Contact) -> None:
    for what in ({"threads": 1}, {"threads": 3}, {"max_memory": 0}, {"max_memory": 40_000}):
        again = Contact.build(rules=ONE, tolerance=1e-7, **what)
        assert again.raw.tobytes() == table.raw.tobytes()


def test_the_error_is_within_the_tolerance_and_true(table: Contact) -> None:
    assert 0 < table.error <= table.tolerance == 1e-7
    for tolerance in (1e-1, 1e-3, 1e-5):
        rough = Contact.build(rules=ONE, tolerance=tolerance)
        assert rough.error <= tolerance
        found, exact = (
            (one.raw[..., :5] - one.raw[..., 5:]).astype(np.float64) @ np.array(ONE.points)
            for one in (rough, table)
        )
        assert np.abs(found - exact).max() <= tolerance + 1e-6
    with pytest.raises(ValueError, match="tolerance"):
        Contact.build(rules=ONE, tolerance=0)


def test_colours_do_not_matter(table: Contact) -> None:
    p = nc.Position({9: 1}, {5: 1}, rules=ONE)
    board = p.board.copy()
    board[28] ^= 1
    q = nc.Position.from_board(board, ONE)
    assert table.outcomes(q).tolist() == table.outcomes(p).tolist()


def test_a_build_can_be_cancelled_and_tells_how_far_it_is() -> None:
    seen: list[int] = []

    def progress(done: int, total: int | None) -> None:
        assert total is None
        seen.append(done)
        if done > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Contact.build(rules=ONE, progress=progress)
    assert seen == sorted(seen)


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
    table = Contact.build(rules=rules, tolerance=1e-4)
    start = nc.Position.start(rules)
    assert table.equity(start) == pytest.approx(0.152244, abs=1e-4)
    exact = TwoSided.build(checkers=2, rules=rules, dtype="float64", equities="scoring")
    for mine, theirs in (({6: 2}, {6: 2}), ({5: 1}, {4: 1, 2: 1}), ({3: 1, 1: 1}, {1: 1})):
        p = nc.Position(mine, theirs, rules=rules)
        assert table.equity(p) == pytest.approx(exact.equity(p), abs=1e-4)


@pytest.mark.slow
def test_hypergammon(tmp_path: Path) -> None:
    """Three checkers a side take 6 GB of memory and many minutes."""
    path = tmp_path / "hyper.nct"
    table = Contact.build(path=path)
    assert 0 < table.error <= table.tolerance == 1e-6
    assert load(path, rules=nc.HYPERGAMMON, verify=True).nbytes == table.nbytes
    start = nc.Position.start(nc.HYPERGAMMON)

    def policy(boards: np.ndarray) -> np.ndarray:
        after = nc.batch.flip(boards, rules=nc.HYPERGAMMON)
        found = table.outcomes_batch(after, rules=nc.HYPERGAMMON).astype(np.float64)
        return -(found[:, :5] - found[:, 5:]) @ np.array(nc.HYPERGAMMON.points)

    result = nc.rollout(start, games=20_000, policy=policy, seed=1)
    assert abs(result.win - table.win(start)) < 4 * 0.5 / 20_000**0.5
    # every value follows from those of what the rolls lead to
    rng = np.random.default_rng(3)
    for _ in range(100):
        free = rng.permutation(np.arange(1, 26))
        mine = np.bincount(rng.choice(free[:12], 3), minlength=26)
        theirs = np.bincount(rng.choice(free[12:24], 3), minlength=26)
        mover = {int(p) if p < 25 else "bar": int(mine[p]) for p in np.flatnonzero(mine)}
        other = {int(25 - p) or "bar": int(theirs[p]) for p in np.flatnonzero(theirs)}
        p = nc.Position(mover, other, rules=nc.HYPERGAMMON)
        total = 0.0
        for roll, weight in zip(nc.dice.ROLLS, nc.dice.WEIGHTS, strict=True):
            total += weight * max(-table.equity(play.result) for play in p.plays(roll))
        assert table.equity(p) == pytest.approx(total / 36, abs=3e-6)
    # and bear-offs are those of the two-sided table
    exact = TwoSided.build(checkers=3, rules=nc.HYPERGAMMON, dtype="float64", equities="scoring")
    for mine in range(1, 84, 5):
        for theirs in range(1, 84, 7):
            counts = [unrank(k, points=6).tolist() for k in (mine, theirs)]
            sides = [{p: n for p, n in enumerate(one, 1) if n} for one in counts]
            p = nc.Position(*sides, rules=nc.HYPERGAMMON)
            assert table.equity(p) == pytest.approx(exact.equity(p), abs=3e-6)
