"""Benchmark sets: made the same after a stop, held out by games, scored as they were rolled out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nardcore as nc

BENCH = Path(__file__).resolve().parent.parent / "bench"
RULES = [nc.BACKGAMMON, nc.LONG_NARDY]
SMALL: dict[str, Any] = {"decisions": 8, "seed": 3, "trials": 4}


@pytest.fixture(scope="module")
def bench() -> Any:
    """The module that makes and scores sets."""
    sys.path.insert(0, str(BENCH))
    try:
        import benchmark_set
    finally:
        sys.path.remove(str(BENCH))
    return benchmark_set


@pytest.fixture(scope="module")
def made(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tiny set of short nardy."""
    file = tmp_path_factory.mktemp("sets") / "tiny.npz"
    bench.make(nc.BACKGAMMON, out=file, threads=2, **SMALL)
    return bench.load(file)


def test_every_decision_has_what_it_needs(made: Any) -> None:
    assert len(made) == 8
    assert np.bincount(made.phase, minlength=8).tolist() == [1] * 8
    assert made.equity.shape == (made.indptr[-1], 2)
    assert abs(sum(made.meta["shares"].values()) - 1) < 1e-4
    for i in range(len(made)):
        position = nc.Position.from_board(made.boards[i], made.rules)
        legal = {p.board.tobytes() for p in position.plays(tuple(made.dice[i].tolist()))}
        rows = made.after[made.indptr[i] : made.indptr[i + 1]]
        assert len(rows) >= 2
        assert len({row.tobytes() for row in rows}) == len(rows)
        assert all(row.tobytes() in legal for row in rows)


def test_equities_are_those_of_the_rollout_that_the_file_names(made: Any) -> None:
    i, meta = 2, made.meta
    position = nc.Position.from_board(made.boards[i], made.rules)
    dice = tuple(made.dice[i].tolist())
    rows = made.after[made.indptr[i] : made.indptr[i + 1]]
    legal = {p.board.tobytes(): p for p in position.plays(dice)}
    plays = [legal[row.tobytes()] for row in rows]
    more: dict[str, Any] = {"policy": meta["policy"], "seed": (meta["seed"], i), **meta["method"]}
    whole = nc.rollout_plays(position, dice, plays=plays, games=meta["trials"], **more)
    for k, result in enumerate(whole.results):
        equity = made.equity[made.indptr[i] + k].mean()
        assert equity == pytest.approx(-result.estimate()[0], abs=1e-6)
    errors = {one.play: one.loss_stderr for one in whole.ranked()}
    kept = made.loss_stderr[made.indptr[i] : made.indptr[i + 1]]
    assert kept.tolist() == pytest.approx([errors[play] for play in plays])


def test_a_stopped_make_goes_on_where_it_was(bench: Any, made: Any, tmp_path: Path) -> None:
    file, part = tmp_path / "again.npz", tmp_path / "again.npz.part"
    real, left = bench.roll_out, [3]

    def stopping(*request: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(*request)

    bench.roll_out = stopping
    try:
        with pytest.raises(KeyboardInterrupt):
            bench.make(nc.BACKGAMMON, out=file, threads=1, **SMALL)
    finally:
        bench.roll_out = real
    assert len(part.read_text().splitlines()) == 4
    part.write_text(part.read_text() + '{"i": 5, "af')  # cut off in the middle of a line
    assert not file.exists()
    bench.make(nc.BACKGAMMON, out=file, threads=1, **SMALL)
    assert not part.exists()
    again = bench.load(file)
    for name in bench.ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name), name)
    assert again.meta == made.meta


def test_another_request_does_not_go_on_with_what_is_there(bench: Any, tmp_path: Path) -> None:
    part = tmp_path / "a.npz.part"
    part.write_text("{}\n")
    with pytest.raises(ValueError, match="other rules, seed"):
        bench.make(nc.BACKGAMMON, out=tmp_path / "a.npz", **SMALL)
    assert part.read_text() == "{}\n"


def by_hand(bench: Any, made: Any) -> Any:
    """Give the set plain equities: candidate k of a decision is worth -k/10 in both halves."""
    ranks = np.concatenate([np.arange(n) for n in np.diff(made.indptr)])
    return replace(made, equity=np.repeat(-ranks[:, None] / 10, 2, axis=1).astype(np.float32))


def test_scores_are_the_losses_of_the_choices(bench: Any, made: Any) -> None:
    made = by_hand(bench, made)

    def first(boards: Any) -> Any:
        """Rate by the order of the candidates."""
        order = {row.tobytes(): -k for k, row in enumerate(made.after)}
        return np.array([order.get(row.tobytes(), -1e6) for row in boards], float)

    def last(boards: Any) -> Any:
        order = {row.tobytes(): k for k, row in enumerate(made.after)}
        return np.array([order.get(row.tobytes(), -1e6) for row in boards], float)

    best = bench.score(made, first, "first")
    assert best.losses.tolist() == [0.0] * len(made)
    assert best.best.all()
    assert best.outside == 0
    worst = bench.score(made, last, "last")
    assert worst.losses == pytest.approx((np.diff(made.indptr) - 1) / 10, abs=1e-6)
    table = worst.table(made)
    assert sum(table["all"][name][0] for name in made.meta["phases"]) == len(made)
    shares = made.meta["shares"]
    mean = sum(shares[name] * table["all"][name][1] for name in shares)
    assert table["all"]["all"][1] == pytest.approx(mean)


def test_noise_of_equal_plays_is_no_loss(bench: Any, made: Any) -> None:
    rng = np.random.default_rng(5)
    total = []
    for _ in range(300):
        noise = rng.normal(0, 0.1, made.equity.shape).astype(np.float32)
        total.append(bench.score(replace(made, equity=noise), "net", "net").losses.mean())
    assert abs(np.mean(total)) < 4 * np.std(total) / 300**0.5
    assert np.std(total) > 0.01


def test_plays_outside_the_candidates_are_rolled_out_or_not_counted(bench: Any, made: Any) -> None:
    keep = np.zeros(len(made.after), bool)
    keep[made.indptr[:-1]] = True
    keep[made.indptr[:-1] + 1] = True  # two candidates of each decision
    fewer = replace(
        made,
        indptr=np.arange(0, 2 * len(made) + 1, 2),
        **{
            name: getattr(made, name)[keep] for name in ("after", "equity", "stderr", "loss_stderr")
        },
    )
    full, cut = bench.score(made, "random", "random"), bench.score(fewer, "random", "random")
    assert full.outside == 0 < cut.outside
    found = bench.own_games.choices("random", made.rules, made.boards, made.dice)
    chosen = found[1][found[0][:-1] + found[2]]
    for i in range(len(made)):
        rows = made.after[made.indptr[i] : made.indptr[i + 1]]
        at = int(np.flatnonzero((rows == chosen[i]).all(axis=1))[0])
        if at >= 2:  # rolled out anew: the same trials, so the same equity
            pair = made.equity[made.indptr[i] :][[0, 1, at]].astype(float)
            a, b = pair.argmax(axis=0)
            loss = (pair[b, 0] - pair[2, 0] + pair[a, 1] - pair[2, 1]) / 2
            assert cut.losses[i] == pytest.approx(loss, abs=1e-6)
    old = replace(fewer, meta={**fewer.meta, "net": "another"})
    left = bench.score(old, "random", "random")
    assert np.isnan(left.losses).sum() == left.outside == cut.outside
    assert left.table(old)["all"]["all"][0] == len(made) - left.outside


def test_whole_games_are_held_out(bench: Any) -> None:
    for rules in RULES:
        found, phase, shares = bench.pick(rules, 60, 1)
        held = found.games // 4 % 4 == 0
        assert 5 < held.sum() < 30
        assert set(found.games[held]).isdisjoint(found.games[~held])
        assert np.bincount(phase).min() >= 60 // len(shares)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_phases_of_known_positions(bench: Any, rules: nc.Rules) -> None:
    names = bench.PHASES[rules.movement]

    def phase(*sides: dict[Any, int]) -> str:
        board = nc.Position(*sides, rules=rules).board[None, :]
        return names[int(bench.own_games.phases(board, rules)[0])]

    assert names[int(bench.own_games.phases(nc.batch.start(1, rules), rules)[0])] == "opening"
    assert phase({1: 2, 3: 2}, {2: 5}) == "bear-off"
    if rules.movement == "short":
        prime = dict.fromkeys(range(4, 9), 2) | {13: 5}
        rest = {6: 5, 8: 4, 13: 4}
        assert phase({10: 5, 6: 10}, {1: 15}) == "race"
        assert phase(prime, {**rest, 24: 2}) == "prime"  # it stands behind: on my 1-point
        assert phase(prime, {**rest, 15: 2}) == "contact"  # past it, on my 10-point
        assert phase({6: 15}, {1: 1, "bar": 1}) == "off in contact"
        closed = {6: 3, 5: 3, 4: 3, 8: 3, 13: 3}
        assert phase(closed, {"bar": 1, 6: 5, 8: 4, 13: 5}) == "bar"
        back = {24: 2, 22: 2, 13: 5, 8: 3, 6: 3}
        assert phase(back, {4: 3, 5: 3, 6: 3, 7: 3, 8: 3}) == "back game"
    else:
        assert phase({10: 5, 6: 10}, {1: 15}) == "race"
        assert phase({24: 4, 9: 5, 6: 6}, {24: 3, 20: 12}) == "contact"
        assert phase({5: 15}, {24: 3, 20: 12}) == "home in contact"
        wall = dict.fromkeys(range(1, 6), 1)  # the other's points 13 to 17
        assert phase({**wall, 24: 7, 9: 3}, {24: 7, 20: 8}) == "prime"
        assert phase({**wall, 24: 7, 9: 3}, {6: 7, 10: 8}) == "contact"


def test_variants_of_a_net_are_measured_side_by_side(bench: Any, made: Any, tmp_path: Path) -> None:
    sys.path.insert(0, str(BENCH))
    try:
        import bench_nets
    finally:
        sys.path.remove(str(BENCH))
    file = Path(nc.__file__).parent / "weights" / "short.npz"
    found = dict(bench_nets.variants(nc.nets.load(file)))
    assert [name for name in found if name.startswith("keep")][-1] == "keep 0, all plays"
    full = bench.score(made, nc.Evaluator.net(file, keep=0), "full")
    again = bench.score(made, found["keep 0, all plays"], "again")
    assert full.losses.tolist() == again.losses.tolist()
    start, race = nc.batch.start(1), nc.Position({6: 5, 5: 5}, {6: 4, 3: 3})
    plays = nc.batch.plays(start, [(3, 1)])
    of_race = race.plays((6, 1))
    scores = {
        name: (one(start[0], plays.boards), one(race.board, of_race.boards))
        for name, one in found.items()
    }
    plain, wide = scores["keep 0, all plays"], scores["contact in races too"]
    small = scores["prune alone"]
    assert (plain[0] == wide[0]).all()
    assert (plain[0] != small[0]).any()
    assert (plain[1] == small[1]).all()
    assert (plain[1] != wide[1]).any()
