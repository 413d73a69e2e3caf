"""Training: gradients, determinism, games, labels, recipes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nardcore as nc
from nardcore import _labels, _train
from nardcore._rollout import Stop
from nardcore.dice import key
from nardcore.errors import FormatError
from nardcore.training import (
    Fit,
    FloatNet,
    Games,
    Labelled,
    Recipe,
    Run,
    fit,
    label,
    make_player,
    measure,
    plain_player,
    play,
    points_by_class,
    quantised,
    rows_of,
    score,
)
from nardcore.training.__main__ import main

SHORT, LONG = nc.BACKGAMMON, nc.LONG_NARDY


def linear(rules=SHORT):
    return nc.policies.linear_evaluator(rules.movement)


@pytest.fixture(scope="module")
def games():
    return play(SHORT, linear(), 6000, Games(keep=0.5), seed=[1])


@pytest.fixture(scope="module")
def net(games):
    return fit(
        FloatNet.fresh("plain", 64, seed=1),
        games,
        SHORT,
        Fit(epochs=6, batch=300, warm=5),
        masked=False,
    )


def samples_of(net, data, model, **more):
    rows, buckets = rows_of(net.features, data.boards)
    return _train.Samples(
        model, rows, buckets, data.targets(), points=points_by_class(SHORT.points), **more
    )


# ------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("features", ["plain", "contact_short"])
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_are_those_of_the_loss(games, features, masked):
    rng = np.random.default_rng(5)
    net = FloatNet.fresh(features, 64, seed=2)
    model = net.model()
    some = games.take(rng.permutation(len(games))[:48])
    weights = rng.uniform(0.5, 2, 48).astype(np.float32)
    masks = (rng.integers(0, 1024, 48) | 1).astype(np.uint16) if masked else None
    targets = rng.dirichlet(np.ones(10), 48).astype(np.float32)
    if masked:
        targets *= masks[:, None] >> np.arange(10) & 1
        targets /= targets.sum(1, keepdims=True)
    rows, buckets = rows_of(features, some.boards)
    value = points_by_class(SHORT.points)
    samples = _train.Samples(
        model, rows, buckets, targets, weights, masks, points=value, equity_share=0.3
    )
    trainer = _train.Trainer(model, 3)
    for shard, (first, last) in enumerate(((0, 10), (10, 31), (31, 48))):
        trainer.gradient(shard, samples, first, last)

    def loss():
        acc = net.b1.astype(float) + net.w1.astype(float)[rows].sum(1)
        h = np.clip(acc, 0, 1) ** 2
        x = np.einsum("nkh,nh->nk", net.w2.astype(float)[buckets], h) + net.b2[buckets]
        if masked:
            x = np.where(masks[:, None] >> np.arange(10) & 1, x, -np.inf)
        p = np.exp(x - x.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        cross = -(targets * np.log(np.where(p > 0, p, 1))).sum(1)
        return ((cross + 0.3 * ((p - targets) @ value) ** 2) * weights).sum()

    total = trainer.losses()
    assert total[0] == pytest.approx(weights.sum())
    assert total[1] + 0.3 * total[2] == pytest.approx(loss(), rel=1e-5)
    for array, found in zip((net.w1, net.b1, net.w2, net.b2), trainer.gradients(), strict=True):
        flat, slope = array.reshape(-1), found.reshape(-1)
        used = np.flatnonzero(slope)
        largest = used[np.argsort(-np.abs(slope[used]))][:200]
        for i in rng.choice(largest, 8):
            before = flat[i]
            flat[i] = before + 1e-4
            up, high = loss(), float(flat[i])
            flat[i] = before - 1e-4
            down, low = loss(), float(flat[i])
            flat[i] = before
            assert slope[i] == pytest.approx((up - down) / (high - low), rel=2e-2, abs=2e-4)


def test_one_step_of_adam_by_hand(games):
    net = FloatNet.fresh("plain", 32, seed=2)
    before = net.copy()
    model = net.model()
    trainer = _train.Trainer(model, 1)
    samples = samples_of(net, games.take(slice(0, 64)), model)
    trainer.gradient(0, samples, 0, 64)
    slopes = [g / 64 for g in trainer.gradients()]
    trainer.begin_step(0.01, 1 / 64)
    trainer.update(0, 1)
    trainer.finish()
    for now, then, g in zip(net.arrays.values(), before.arrays.values(), slopes, strict=True):
        g = g.copy()
        if g.shape == net.w1.shape:
            g[-1] = 0
        step = 0.01 * g / (np.abs(g) + 1e-8)  # the first step of Adam goes by the sign
        np.testing.assert_allclose(now, then - step, atol=2e-5)
    assert not any(g.any() for g in trainer.gradients())


def test_rows_that_no_sample_has_stay(games):
    before = FloatNet.fresh("plain", 32, seed=2)
    after = fit(before, games, SHORT, Fit(epochs=1, batch=500, warm=1), masked=False)
    rows, _ = rows_of("plain", games.boards)
    unused = np.setdiff1d(np.arange(len(before.w1)), rows)
    assert len(unused) > 100
    assert (after.w1[unused] == before.w1[unused]).all()
    assert (after.w1[np.unique(rows)] != before.w1[np.unique(rows)]).any(axis=1).all()


def test_padding_stays_zero():
    net = FloatNet.fresh("plain", 32, seed=2)
    model = net.model()
    rows = np.full((8, 28), len(net.w1) - 1, np.uint16)
    rows[:, 0] = np.arange(8)
    targets = np.eye(10, dtype=np.float32)[:8]
    samples = _train.Samples(model, rows, np.zeros(8, np.uint8), targets)
    trainer = _train.Trainer(model, 2)
    for _ in range(3):
        trainer.gradient(0, samples, 0, 4)
        trainer.gradient(1, samples, 4, 8)
        trainer.begin_step(0.01, 1 / 8)
        trainer.update(0, 1)
    trainer.finish()
    assert not net.w1[-1].any()


def test_clip_bounds_the_first_layer(games):
    plan = Fit(epochs=2, batch=300, warm=1, rate=0.05, clip=0.2)
    net = fit(FloatNet.fresh("plain", 32, seed=1), games, SHORT, plan)
    used = np.unique(rows_of("plain", games.boards)[0])
    assert np.abs(net.w1[used]).max() == pytest.approx(0.2)


# ---------------------------------------------------------------------------------- determinism


def test_a_fit_is_the_same_for_any_number_of_threads(games):
    plan = Fit(epochs=1, batch=512, shards=3)
    one, two = (
        fit(FloatNet.fresh("plain", 32, seed=1), games, SHORT, plan, threads=n) for n in (1, 3)
    )
    for a, b in zip(one.arrays.values(), two.arrays.values(), strict=True):
        np.testing.assert_array_equal(a, b)
    other = fit(FloatNet.fresh("plain", 32, seed=1), games, SHORT, replace(plan, shards=2))
    np.testing.assert_allclose(one.w2, other.w2, atol=1e-2)


def test_games_and_labels_are_the_same_for_any_number_of_threads(net):
    player = plain_player(net, SHORT)
    how = Games(keep=0.2, stray=0.05, random_games=0.3, random_plies=10, trace=0.5)
    one, two = (play(SHORT, player, 3000, how, seed=[7], judge=player, threads=n) for n in (1, 3))
    np.testing.assert_array_equal(one.boards, two.boards)
    np.testing.assert_array_equal(one.chances, two.chances)
    boards = one.boards[:600]
    one, two = (label(SHORT, player, boards, threads=n) for n in (1, 3))
    np.testing.assert_array_equal(one.chances, two.chances)


def test_the_portable_kernels_agree():
    code = (
        "import numpy as np, nardcore as nc\n"
        "from nardcore import _train\n"
        "from nardcore.training import *\n"
        "d = play(nc.BACKGAMMON, nc.policies.linear_evaluator('short'), 500, Games(), seed=[1])\n"
        "n = fit(FloatNet.fresh('plain', 32, seed=1), d, nc.BACKGAMMON, Fit(epochs=2, batch=100))\n"
        "print(_train.isa(), *[float(np.abs(a).sum()) for a in n.arrays.values()])\n"
    )
    found = []
    for level in ("portable", "avx2"):
        answer = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env={**os.environ, "NARDCORE_ISA": level},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(answer.stdout.split())
    assert found[0][0] == "portable"
    np.testing.assert_allclose(
        np.array(found[0][1:], float), np.array(found[1][1:], float), rtol=1e-5
    )


# ------------------------------------------------------------------------------- games and labels


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=["short", "long"])
def test_games_give_positions_of_the_rules(rules):
    how = Games(keep=0.3, random_games=0.5, random_plies=30)
    data = play(rules, linear(rules), 2000, how, seed=[3])
    assert len(data) == 2000
    for board in nc.batch.flip(data.boards, rules)[::50]:
        nc.Position.from_board(board, rules)
    assert (nc.batch.results(data.boards, rules) < 0).all()
    assert (data.targets().max(axis=1) == 1).all()


def test_outcomes_are_those_of_the_side_that_has_moved():
    # a roll without a double leaves the mover one checker; then the other side bears off its two
    start = nc.Position.from_points([3] + [0] * 22 + [-2], off=(12, 13))
    data = play(SHORT, linear(), 64, Games(), seed=[3], starts=start.board[None])
    assert (data.boards[:, 26] == 14).all()
    assert (data.targets()[:, 5] == 1).all()


def test_a_trace_mixes_what_follows(net):
    player = plain_player(net, SHORT)
    outcomes = play(SHORT, player, 400, Games(), seed=[9])
    all_rest = play(SHORT, player, 400, Games(trace=1.0), seed=[9], judge=player)
    np.testing.assert_array_equal(outcomes.boards, all_rest.boards)
    np.testing.assert_array_equal(outcomes.chances, all_rest.chances)
    none = play(SHORT, player, 400, Games(trace=0.0), seed=[9], judge=player)
    np.testing.assert_array_equal(none.boards, outcomes.boards)
    following = np.roll(net.evaluate(none.boards), 5, axis=1)
    same_game = none.targets()[:-1].max(axis=1) < 1  # not the last position of a game
    np.testing.assert_allclose(none.targets()[:-1][same_game], following[1:][same_game], atol=1e-4)


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("trace", [0.0, 0.7, 1.0])
def test_look_ahead_is_corrected_by_what_follows(net, rules, trace):
    player = plain_player(net, rules)
    words, stop = key((5, 1)), Stop()
    for game in range(3):
        boards, found = _labels.play_games(
            rules,
            player,
            nc.batch.start(1, rules),
            words,
            rules.points,
            game,
            1,
            stop,
            judge=player,
            trace=trace,
            ahead=True,
        )
        now = net.evaluate(boards)
        wanted = label(rules, player, boards).targets().astype(np.float64)
        for t in range(len(boards) - 2, -1, -1):
            wanted[t] += trace * np.roll(wanted[t + 1] - now[t + 1], 5)
        np.testing.assert_allclose(found, wanted, atol=2e-4 * (1 + 10 * trace))
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-3)


def test_corrected_look_ahead_is_outcomes_in_the_mean():
    weights = str(Path(nc.__file__).parent / "weights" / "short.npz")
    player, judge = nc.Evaluator.net(weights), nc.Evaluator.net(weights, full=True)
    value = points_by_class(SHORT.points)
    start = nc.Position.from_points([0, 0, 2, 0, 3] + [0] * 17 + [-2, -1], off=(10, 12))
    boards, how = start.board[None], Games(trace=1.0)
    plain = play(SHORT, player, 20_000, how, seed=[1], starts=boards)
    calm = play(SHORT, player, 20_000, how, seed=[1], starts=boards, judge=judge, ahead=True)
    np.testing.assert_array_equal(plain.boards, calm.boards)
    luck = (plain.targets() - calm.targets()) @ value
    games = np.add.reduceat(luck, np.flatnonzero(plain.boards[:, 26] <= 12))  # some of few plies
    assert abs(games.mean()) < 4 * games.std() / len(games) ** 0.5
    assert calm.targets() @ value == pytest.approx(judge_of(judge, calm) @ value, abs=0.25)


def judge_of(judge, data):
    return _labels.rate(judge, data.boards)


def test_corrected_look_ahead_keeps_strays_and_leaves_races(net):
    player = plain_player(net, SHORT)
    how = Games(stray=0.2, trace=0.5)
    outcomes = play(SHORT, player, 3000, how, seed=[2])
    traced = play(SHORT, player, 3000, how, seed=[2], judge=player, ahead=True, contact=True)
    assert outcomes.boards[:, 26].mean() > traced.boards[:, 26].mean() + 1
    assert not _labels.past_each_other(traced.boards, SHORT).any()
    first = play(SHORT, player, 300, Games(limit=2), seed=[2], judge=player, ahead=True)
    assert (first.boards.astype(int)[:, :24].clip(0).sum(axis=1) == 15).all()


def test_a_net_is_widened(net, games):
    more = net.widened(96, seed=3)
    boards = games.boards[:50]
    np.testing.assert_allclose(more.evaluate(boards), net.evaluate(boards), atol=1e-6)
    with pytest.raises(ValueError, match="does not become"):
        more.widened(32, seed=1)
    again = fit(more, games, SHORT, Fit(epochs=0.3, batch=100))
    assert (again.w2[:, :, net.hidden :] != 0).any()


def test_strays_leave_out_what_led_to_them(net):
    player = plain_player(net, SHORT)
    outcomes = play(SHORT, player, 3000, Games(stray=0.2), seed=[2])
    traced = play(SHORT, player, 3000, Games(stray=0.2), seed=[2], judge=player)
    # positions after a game's last stray are few, and near its end
    assert outcomes.boards[:, 26].mean() > traced.boards[:, 26].mean() + 1


def test_the_look_ahead_is_the_mean_over_rolls(net):
    player = plain_player(net, SHORT)
    data = play(SHORT, player, 12, Games(keep=0.02), seed=[4])
    labels = label(SHORT, player, data.boards)
    value = points_by_class(SHORT.points)
    for board, found in zip(data.boards, labels.targets(), strict=True):
        position = nc.Position.from_board(nc.batch.flip(board[None], SHORT)[0], SHORT)
        total = np.zeros(10)
        for first in range(1, 7):
            for second in range(1, first + 1):
                plays = position.plays((first, second))
                over = nc.batch.results(plays.boards, SHORT)
                rated = net.evaluate(np.ascontiguousarray(plays.boards)).astype(float)
                rated[over >= 0] = np.eye(10)[over[over >= 0]]
                best = rated[np.argmax(rated @ value + 1000 * (over >= 0))]
                total += (1 if first == second else 2) * np.roll(best, 5)
        np.testing.assert_allclose(found, total / 36, atol=2e-4)


def test_tables_stand_for_what_they_cover(net):
    table = nc.bearoff.TwoSided.build(checkers=3)
    player = plain_player(net, SHORT)
    start = nc.Position.from_points([2, 1] + [0] * 20 + [-1, -1], off=(12, 13))
    on_roll = start.board
    after = nc.batch.flip(on_roll[None], SHORT)
    exact = label(SHORT, player, after, tables=[table]).targets()[0]
    assert exact[5] == pytest.approx(table.win(start), abs=1e-3)


def test_a_judge_rates_and_the_player_chooses():
    shapes = {"prune": "plain", "contact": "contact_short", "race": "race_short"}
    nets = {part: FloatNet.fresh(name, 64, seed=1) for part, name in shapes.items()}
    fast, judge = make_player(nets, SHORT), make_player(nets, SHORT, full=True)
    boards = play(SHORT, fast, 30, Games(keep=0.1), seed=[1], judge=judge).boards
    pruned = label(SHORT, fast, boards, judge=judge)
    unpruned = label(SHORT, judge, boards)
    assert pruned.targets() == pytest.approx(unpruned.targets(), abs=0.1)
    assert quantised(nets, SHORT, keep=3).keep == 3
    with pytest.raises(ValueError, match="gives chances"):
        label(SHORT, linear(), boards)


# --------------------------------------------------------------------------------------- learning


def test_a_fit_learns(net, games):
    first = measure(FloatNet.fresh("plain", 64, seed=1), games, SHORT, masked=False)
    now = measure(net, games, SHORT, masked=False)
    assert now.entropy < first.entropy - 0.3
    assert now.rms < first.rms
    assert score(plain_player(net, SHORT), "random", SHORT, 400).mean > 1


def test_files_of_nets_and_labels(tmp_path, net, games):
    net.save(tmp_path / "net.npz")
    again = FloatNet.open(tmp_path / "net.npz")
    assert again.features == net.features
    assert again.about == net.about
    np.testing.assert_array_equal(again.evaluate(games.boards[:9]), net.evaluate(games.boards[:9]))
    games.save(tmp_path / "games.npz")
    np.testing.assert_array_equal(Labelled.open(tmp_path / "games.npz").chances, games.chances)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["games.npz", "net.npz"]
    (tmp_path / "bad.npz").write_bytes(b"no file")
    np.savez(tmp_path / "other.npz", w=np.zeros(3))
    for name in ("bad.npz", "other.npz", "games.npz"):
        with pytest.raises(FormatError):
            FloatNet.open(tmp_path / name)
    with pytest.raises(FormatError):
        Labelled.open(tmp_path / "net.npz")


# ---------------------------------------------------------------------------------------- recipes

SMALL = """
name = "small"
rules = "backgammon"
holdout = 200
duel = 32
races = 1
[nets.prune]
features = "plain"
hidden = 64
[nets.contact]
features = "contact_short"
hidden = 64
[nets.race]
features = "race_short"
hidden = 64
[[rounds]]
labels = "outcomes"
sources = [{positions = 2000, games = {keep = 0.2}}]
fit = {epochs = 2, batch = 500}
[[rounds]]
labels = "trace"
nets = ["prune", "contact", "race"]
sources = [{positions = 2000, games = {keep = 0.2, trace = 0.5, stray = 0.02}}]
fit = {epochs = 2, batch = 500}
[[rounds]]
labels = "look_ahead"
nets = ["prune", "contact", "race"]
window = 2
start_copies = 30
sources = [
  {positions = 200, games = {keep = 0.2}},
  {positions = 60, games = {limit = 4}, mined = 0.1},
  {positions = 300, phase = "race"},
]
fit = {epochs = 1, batch = 500}
[[rounds]]
labels = "look_ahead_trace"
nets = ["contact"]
hidden = {contact = 128}
sources = [{positions = 300, games = {trace = 0.8}, phase = "contact"}]
fit = {epochs = 1, batch = 100}
"""


def test_a_recipe_runs_and_goes_on(tmp_path, capsys):
    recipe = tmp_path / "small.toml"
    recipe.write_text(SMALL.replace("mined = 0.1", "mined = 0.0"))
    out = tmp_path / "out"
    assert main([str(recipe), "--out", str(out), "--rounds", "2"]) == 0
    assert "held out" in capsys.readouterr().err
    stamp = (out / "round-01.contact.npz").stat().st_mtime_ns
    assert main([str(recipe), "--out", str(out)]) == 0
    assert (out / "round-01.contact.npz").stat().st_mtime_ns == stamp
    run = Run(Recipe.open(recipe), out)
    assert set(run.run()) == {"prune", "contact", "race"}
    untouched = nc.batch.start(1)[0]
    for number, copies in ((1, 0), (2, 30)):
        labels = Labelled.open(out / f"round-{number:02}.labels.npz")
        here = (labels.boards[:, :28] == untouched[:28]).all(axis=1)
        assert here.sum() == copies
        assert len(np.unique(labels.chances[here], axis=0)) == min(copies, 1)
    assert nc.rollout(nc.Position.start(), games=4, policy=run.player(), seed=1).games == 4


def test_a_run_is_reproducible(tmp_path):
    recipe = Recipe.of(
        {
            "name": "twice",
            "holdout": 100,
            "duel": 32,
            "nets": {"prune": {"features": "plain", "hidden": 64}},
            "rounds": [{"labels": "outcomes", "sources": [{"positions": 1000}]}],
        }
    )
    one, two = (Run(recipe, tmp_path / name).run()["prune"] for name in "ab")
    np.testing.assert_array_equal(one.w1, two.w1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("duel = 32", "duels = 32", "unknown duels"),
        ("duel = 32", 'duel = "many"', "duel: expected int"),
        ('"trace"\nnets', '"tracks"\nnets', "labels are outcomes"),
        ("epochs = 1,", "epochs = true,", "epochs: expected float"),
        ("[nets.race]", "[nets.races]", "may have others"),
        ('nets = ["prune", "contact", "race"]', 'nets = ["all"]', "nets of this recipe"),
        ("[[rounds]]", "[[round]]", "has rounds"),
        ('name = "small"', "", "name"),
        ('phase = "race"', 'phase = "end"', "contact or race"),
        ("positions = 200,", "positions = 3.5,", "positions: expected int"),
        ("{contact = 128}", "{crashed = 128}", "expected numbers by nets"),
        ("{contact = 128}", "128", "expected numbers by nets"),
        ("{contact = 128}", '{contact = "many"}', "hidden: expected int"),
        ("{contact = 128}", "{contact = 100}", "a multiple of 64"),
        ("{contact = 128}", "{contact = 1024}", "a multiple of 64"),
        ("window = 2", "window = 0", "window: 1 or more"),
        ("batch = 100}", "batch = 0}", "batch: 1 or more"),
        ("batch = 100}", "rate = nan}", "rate: 0 or more"),
        ("holdout = ", "holdout = 1000", "are held out"),
        ("start_copies = 30", "start_copies = -1", "start_copies: 0 or more"),
        ('labels = "outcomes"', 'labels = "look_ahead"', "no net yet"),
        ('labels = "look_ahead"\n', 'labels = "trace"\n', "to mine in"),
        ("contact_short", "contact_long", "contact_short, not contact_long"),
        ("sources = [{positions = 2000, games = {keep = 0.2}}]", "sources = 3", "no recipe"),
        ("[nets.contact]", "[[nets.contact]]", "no recipe"),
        ("name =", "name", "small.toml"),
    ],
)
def test_a_recipe_that_is_wrong_says_where(tmp_path, old, new, message, capsys):
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace(old, new))
    assert main([str(path), "--out", str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().err


def test_the_recipes_that_ship_are_sound():
    folder = Path(nc.__file__).parent / "training" / "recipes"
    for path in folder.glob("*.toml"):
        assert Recipe.open(path).rounds


# ------------------------------------------------------------------------------------- bad input


def test_damaged_files_are_refused(tmp_path, net, games):
    path = tmp_path / "x.npz"
    for kind, opened in ((games, Labelled.open), (net, FloatNet.open)):
        kind.save(path)
        whole = path.read_bytes()
        for part in (b"", whole[:100], whole[: len(whole) // 2], b"\x93NUMPY" + whole[:50]):
            path.write_bytes(part)
            with pytest.raises(FormatError):
                opened(path)
    np.savez(path, boards=games.boards, chances=games.chances.astype(np.uint16))
    with pytest.raises(FormatError, match="uint16"):
        Labelled.open(path)


def test_other_games_and_impossible_boards_are_refused(net):
    short = nc.policies.linear_evaluator("short")
    with pytest.raises(ValueError, match="short nardy"):
        play(LONG, short, 10, Games(), seed=[1])
    with pytest.raises(ValueError, match="short nardy"):
        label(LONG, short, nc.batch.start(1, LONG))
    wild = np.random.default_rng(1).integers(-100, 100, (64, 32)).astype(np.int8)
    for rules in (SHORT, LONG):
        player = plain_player(net, rules)
        with pytest.raises(nc.PositionError):
            label(rules, player, wild)
        with pytest.raises(nc.PositionError):
            play(rules, player, 10, Games(), seed=[1], starts=wild)


def test_widths_hold_for_the_rounds_after(tmp_path):
    one = {"labels": "outcomes", "sources": [{"positions": 300}], "fit": {"batch": 100}}
    raw = {
        "name": "x",
        "holdout": 10,
        "duel": 32,
        "nets": {"prune": {"features": "plain", "hidden": 64}},
        "rounds": [one, {**one, "hidden": {"prune": 128}}, {**one, "fresh": True}],
    }
    run = Run(Recipe.of(raw), tmp_path)
    assert run.run()["prune"].hidden == 128
    with pytest.raises(ValueError, match="0 to 3"):
        run.run(4)
    with pytest.raises(FormatError, match="128 units already"):
        Recipe.of({**raw, "rounds": [*raw["rounds"], {**one, "hidden": {"prune": 64}}]})


def test_bad_input_is_refused(net, games):
    model = net.model()
    rows, buckets = rows_of("plain", games.boards[:4])
    targets = games.targets(slice(0, 4))
    with pytest.raises(ValueError, match="hidden a multiple of 32"):
        _train.Model(net.w1[:, :33].copy(), net.b1[:33].copy(), net.w2[..., :33].copy(), net.b2, 28)
    with pytest.raises(ValueError, match="rows"):
        _train.Samples(model, rows[:, :5].copy(), buckets, targets)
    with pytest.raises(ValueError, match="below"):
        _train.Samples(model, rows + np.uint16(900), buckets, targets)
    with pytest.raises(ValueError, match="below"):
        _train.Samples(model, rows, buckets + np.uint8(1), targets)
    with pytest.raises(ValueError, match="at least one"):
        _train.Samples(model, rows, buckets, targets, None, np.zeros(4, np.uint16))
    with pytest.raises(ValueError, match="shards"):
        _train.Trainer(model, 0)
    trainer = _train.Trainer(model, 1)
    with pytest.raises(ValueError, match="no such"):
        trainer.gradient(1, _train.Samples(model, rows, buckets, targets), 0, 4)
    with pytest.raises(ValueError, match="no targets"):
        trainer.gradient(0, _train.Samples(model, rows, buckets), 0, 4)
    with pytest.raises(ValueError, match="share"):
        play(SHORT, linear(), 10, Games(keep=1.5), seed=[1])
    with pytest.raises(ValueError, match="no positions"):
        play(SHORT, linear(), 10, Games(keep=0.0), seed=[1])
    with pytest.raises(ValueError, match="nothing to fit"):
        fit(net, games.take(slice(0, 0)), SHORT)
    with pytest.raises(ValueError, match="no set of features"):
        FloatNet.fresh("nonsense", 64, seed=1)
    with pytest.raises(ValueError, match="belong together"):
        Labelled(games.boards[:3], games.chances[:2])
    with pytest.raises(ValueError, match="plain rows"):
        _train.plain_evaluator("x", model, FloatNet.fresh("race_short", 64, seed=1).model(), SHORT)


def test_a_stop_ends_games_and_labels(net):
    stop = Stop()
    stop.set()
    player = plain_player(net, SHORT)
    words = key(1)
    start = nc.batch.start(1)
    assert _labels.play_games(SHORT, player, start, words, SHORT.points, 0, 9, stop) is None
    assert _labels.look_ahead(SHORT, player, player, (), start, SHORT.points, stop) is None


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=["short", "long"])
def test_phases_are_those_of_the_player(rules):
    boards = play(rules, linear(rules), 3000, Games(), seed=[6]).boards
    races = _labels.past_each_other(boards, rules)
    assert 0 < races.sum() < len(races)
    np.testing.assert_array_equal(races, nc.nets.race(boards, rules.movement))
