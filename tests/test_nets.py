"""Feature sets, quantised nets, players and their files."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import nardcore as nc
from nardcore import _net, nets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SETS = nets.feature_sets()
RULES = {"short": nc.BACKGAMMON, "long": nc.LONG_NARDY}


def weights(name: str, hidden: int, seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """A float net at random, about as lively as a trained one."""
    rng = np.random.default_rng(seed)
    rows, active, buckets = SETS[name]
    first = rng.normal(0, 1.0 / np.sqrt(active), (rows, hidden))
    first[-1] = 0
    return {
        "W1": first,
        "b1": rng.normal(0.3, 0.2, hidden),
        "W2": rng.normal(0, 3.0 / hidden, (buckets, 10, hidden)),
        "b2": rng.normal(0, 0.3, (buckets, 10)),
    }


def player(
    movement: str, hidden: tuple[int, int, int] = (128, 64, 64), keep: int = 0, **meta: Any
) -> tuple[dict[str, dict[str, NDArray[np.float64]]], nets.PlayerFile]:
    sets = {
        "contact": f"contact_{movement}",
        "race": f"race_{movement}",
        "prune": f"points_{movement}",
    }
    floats = {p: weights(s, h, 7) for (p, s), h in zip(sets.items(), hidden, strict=True)}
    rules = "backgammon" if movement == "short" else "long_nardy"
    said = {"sets": sets, "rules": rules, "keep": keep, **meta}
    made = {part: nets.quantise(net, sets[part]) for part, net in floats.items()}
    return floats, nets.make(made, said)


def turns(
    movement: str, games: int = 6, seed: int = 1
) -> list[tuple[NDArray[np.int8], NDArray[np.int8]]]:
    """Positions of games at random and the unfinished results of a roll for each."""
    rules, rng = RULES[movement], np.random.default_rng(seed)
    boards, found = nc.batch.start(games, rules), []
    while len(boards):
        dice = rng.integers(1, 7, (len(boards), 2))
        plays = nc.batch.plays(boards, dice, rules=rules)
        chosen = []
        for i, board in enumerate(boards):
            results = plays.boards[plays.indptr[i] : plays.indptr[i + 1]]
            results = results[results[:, 26] < rules.checkers]
            if len(results):
                found.append((board, results))
                chosen.append(results[rng.integers(len(results))])
        boards = nc.batch.flip(np.array(chosen, np.int8).reshape(-1, 32), rules=rules)
    return found


TURNS = {movement: turns(movement) for movement in RULES}


def afters(movement: str, part: str | None = None) -> NDArray[np.int8]:
    boards = np.concatenate([results[:3] for _, results in TURNS[movement]])
    if part is None:
        return boards
    return boards[nets.race(boards, movement) == (part == "race")]


# ---------------------------------------------------------------------------------------- features


@pytest.mark.parametrize("name", SETS)
def test_each_group_has_one_row_and_the_last_row_is_free(name: str) -> None:
    rows, active, buckets = SETS[name]
    groups = _net.feature_groups(name)
    found, bucket = nets.features(afters(_net.feature_movement(name)), name)
    assert found.shape[1] == active == len(groups) - 1
    assert groups[-1] == rows - 1
    assert (found >= groups[:-1]).all()
    assert (found < groups[1:]).all()
    assert bucket.max() < buckets


@pytest.mark.parametrize("name", SETS)
def test_odd_boards_stay_within_their_groups(name: str) -> None:
    rng = np.random.default_rng(5)
    boards = rng.integers(-15, 16, (3000, 32)).astype(np.int8)
    boards[0], boards[1], boards[2] = 15, -15, 0
    groups = _net.feature_groups(name)
    found, bucket = nets.features(boards, name)
    assert (found >= groups[:-1]).all()
    assert (found < groups[1:]).all()
    assert bucket.max() < SETS[name][2]


def test_plain_rows_are_the_bytes() -> None:
    boards = afters("short")
    for name in ("points_short", "contact_short", "race_short"):
        rows, _ = nets.features(boards, name)
        assert (rows[:, :28] == np.arange(28) * 32 + boards[:, :28] + 16).all()


def group(name: str, boards: NDArray[np.int8], index: int) -> NDArray[np.int64]:
    rows, _ = nets.features(boards, name)
    return rows[:, 28 + index].astype(np.int64) - _net.feature_groups(name)[28 + index]


def shots(board: list[int]) -> tuple[int, set[int]]:
    """Rolls that hit and the blots they hit, by trying all steps of the mover of this view."""
    total, blots = 0, set()
    start = (tuple(max(n, 0) for n in board[:24]), board[24])
    for a, c in itertools.product(range(1, 7), repeat=2):
        if a < c:
            continue
        hit = set()
        for order in {(a, c), (c, a)} if a != c else {(a,) * 4}:
            states = {start}
            for die in order:
                after = set()
                for own, bar in states:
                    sources = [24] if bar else [i for i in range(24) if own[i]]
                    for source in sources:
                        to = source - die
                        if to < 0 or board[to] <= -2:
                            continue
                        if board[to] == -1:
                            hit.add(to)
                        moved = list(own)
                        moved[to] += 1
                        if source < 24:
                            moved[source] -= 1
                        after.add((tuple(moved), bar - (source == 24)))
                states = after
        total += (1 if a == c else 2) if hit else 0
        blots |= hit
    return total, blots


def test_shots_are_counted_as_by_trying_every_roll() -> None:
    boards = np.concatenate([results[:1] for _, results in turns("short", 2, 9)])
    boards = boards[~nets.race(boards, "short")]
    boards = np.concatenate([boards[::4], boards[boards[:, 25] > 0][:40]])
    for side, views in ((0, boards), (1, nc.batch.flip(boards))):
        counted = group("contact_short", boards, 4 + side) % 37
        exposed = group("contact_short", boards, 6 + side)
        for i, board in enumerate(views.tolist()):
            rolls, blots = shots(board)
            assert counted[i] == rolls
            assert exposed[i] == ((max(blots) + 1) * 3 + min(len(blots), 3) - 1 if blots else 0)


def test_pips_and_leads() -> None:
    boards = afters("short", "race")
    points = np.arange(1, 25)
    mine = (np.maximum(boards[:, :24], 0) * points).sum(1)
    theirs = (np.maximum(-boards[:, :24], 0) * (25 - points)).sum(1)
    assert (group("race_short", boards, 2) == np.minimum(mine, 191)).all()
    assert (group("race_short", boards, 3) == np.minimum(theirs, 191)).all()
    assert (group("race_short", boards, 0) == np.clip(theirs - mine, -60, 60) + 60).all()


@pytest.mark.parametrize("movement", RULES)
def test_the_sides_are_seen_alike(movement: str) -> None:
    """Groups come in pairs: from the other side, what was mine is theirs."""
    flipped = nc.batch.flip(afters(movement, "contact"), rules=RULES[movement])
    name = f"contact_{movement}"
    for index in range(4, SETS[name][1] - 28, 2):
        here = group(name, afters(movement, "contact"), index)
        assert (here == group(name, flipped, index + 1)).all()


@pytest.mark.parametrize("movement", RULES)
def test_race_is_what_the_points_say(movement: str) -> None:
    boards = afters(movement)
    for board, is_race in zip(boards.tolist(), nets.race(boards, movement), strict=True):
        mine = [i for i in range(24) if board[i] > 0]
        theirs = [i for i in range(24) if board[i] < 0]
        if movement == "short":
            want = not board[24] and not board[25] and max(mine) < min(theirs)
        else:
            want = max(mine) < 12 and min(theirs) >= 12
        assert is_race == want


# ----------------------------------------------------------------------------- possible outcomes


@pytest.mark.parametrize(
    "name",
    [
        "backgammon",
        "backgammon+off_protects=false",
        "long_nardy",
        "long_beginner",
        "long_nardy+long_koks=any_in_start",
        "long_nardy+long_koks=none_home",
    ],
)
def test_no_outcome_comes_that_was_impossible(name: str) -> None:
    rules, rng = nc.Rules.parse(name), np.random.default_rng(3)
    ends = 0
    for seed in range(25):
        board, seen, side = nc.batch.start(1, rules), [], 0
        while True:
            plays = nc.batch.plays(board, rng.integers(1, 7, (1, 2)), rules=rules)
            after = plays.boards[rng.integers(len(plays.boards))][None]
            seen.append((side, nets.possible(after, rules)[0]))
            if after[0, 26] == rules.checkers:
                break
            board, side = nc.batch.flip(after, rules=rules), 1 - side
        last = seen.pop()[1]
        assert last.sum() == 1
        end = int(last.argmax())
        for who, mask in seen:
            assert mask[end if who == side else (end + 5) % 10], (seed, end)
        ends += len(seen)
    assert ends > 500


def test_impossible_outcomes_are_seen() -> None:
    board = np.zeros((1, 32), np.int8)
    board[0, 5], board[0, 26] = 10, 5  # mine: ten on 6, five off
    board[0, 18] = -15  # theirs: all on their 6-point
    mask = nets.possible(board, nc.BACKGAMMON)[0].astype(int)
    assert mask.tolist() == [1, 1, 0, 0, 0, 1, 0, 0, 0, 0]


# -------------------------------------------------------------------------------------------- nets


@pytest.mark.parametrize("movement", RULES)
def test_answers_depend_on_the_result_alone(movement: str) -> None:
    _, made = player(movement)
    full, score = nc.Evaluator.net(made, full=True), nc.Evaluator.net(made)
    for parent, results in TURNS[movement][::7]:
        together = full(parent, results)
        one_by_one = [full(board, board[None])[0] for board in results]
        assert (together == one_by_one).all()
        assert (full(parent, results[::-1])[::-1] == together).all()
        assert (score(parent, results) == [score(b, b[None])[0] for b in results]).all()


@pytest.mark.parametrize("movement", RULES)
@pytest.mark.parametrize("hidden", [(64, 64, 64), (192, 128, 64), (512, 320, 256)])
def test_integers_say_what_the_floats_mean(movement: str, hidden: tuple[int, int, int]) -> None:
    floats, made = player(movement, hidden)
    rules = RULES[movement]
    full, score = nc.Evaluator.net(made, full=True), nc.Evaluator.net(made)
    for part in ("contact", "race"):
        boards = afters(movement, part)[::5]
        mask = nets.possible(boards, rules)
        want = nets.forward(floats[part], boards, made.sets[part], mask)
        found = full(boards[0], boards)
        assert np.abs(found - want).max() < 0.01
        assert (found[~mask] == 0).all()
        assert np.abs(found.sum(1) - 1).max() < 1e-6
        points = np.array(rules.points)
        equity = (found[:, :5] - found[:, 5:]) @ points
        assert np.abs(score(boards[0], boards) - equity).max() < 1e-5


def test_points_are_the_scoring() -> None:
    _, made = player("short")
    board, results = TURNS["short"][5]
    wins = nc.Evaluator.net(made, points=(1, 1, 1, 1, 1))(board, results)
    p = nc.Evaluator.net(made, full=True)(board, results)
    assert np.abs(wins - (p[:, :5].sum(1) - p[:, 5:].sum(1))).max() < 1e-6


@pytest.mark.parametrize("movement", RULES)
@pytest.mark.parametrize("keep", [1, 6, 64])
def test_pruning_keeps_the_best_of_the_small_net(movement: str, keep: int) -> None:
    floats, made = player(movement, keep=keep)
    small = nets.make(
        {part: made.parts["prune"] if part == "prune" else made.parts[part] for part in made.parts},
        made.meta,
    )
    pruned, all_of_them = nc.Evaluator.net(small), nc.Evaluator.net(small, keep=0)
    looked_at = 0
    for parent, results in TURNS[movement]:
        found, want = pruned(parent, results), all_of_them(parent, results)
        if len(results) <= keep or nets.race(parent[None], movement)[0]:
            assert (found == want).all()
            continue
        looked_at += 1
        kept = found > -500
        assert kept.sum() == keep
        assert (found[kept] == want[kept]).all()
        mask = nets.possible(results, RULES[movement])
        p = nets.forward(floats["prune"], results, made.sets["prune"], mask)
        rough = (p[:, :5] - p[:, 5:]) @ np.array(made.scoring)
        assert np.abs(found[~kept] + 1000 - rough[~kept]).max(initial=0) < 0.05
        assert rough[kept].min() > rough[~kept].max() - 0.05
    assert looked_at


def test_full_answers_are_never_pruned() -> None:
    _, made = player("short", keep=2)
    board, results = next(t for t in TURNS["short"] if len(t[1]) > 10)
    full = nc.Evaluator.net(made, full=True)
    assert (full(board, results) == nc.Evaluator.net(made, full=True, keep=0)(board, results)).all()


@pytest.mark.parametrize("movement", RULES)
def test_a_net_plays_rollouts_alike_on_any_number_of_threads(movement: str) -> None:
    _, made = player(movement, keep=4)
    policy = nc.Evaluator.net(made, name="still")
    position = nc.Position.start(RULES[movement])
    one = nc.rollout(position, games=60, seed=5, policy=policy, threads=1)
    assert one == nc.rollout(position, games=60, seed=5, policy=policy, threads=3)
    assert policy.name == "still"
    assert policy.movement == movement


PORTABLE = """
import sys, numpy as np, nardcore as nc
data = np.load(sys.argv[1])
for movement in ("short", "long"):
    boards = data[movement]
    for name in nc.nets.feature_sets():
        if name.endswith(movement):
            rows, buckets = nc.nets.features(boards, name)
            assert (rows == data[f"rows/{name}"]).all(), name
            assert (buckets == data[f"buckets/{name}"]).all(), name
    path = f"{sys.argv[2]}/{movement}.npz"
    full, score = nc.Evaluator.net(path, full=True), nc.Evaluator.net(path, keep=5)
    assert full(boards[0], boards).tobytes() == data[f"full/{movement}"].tobytes()
    assert score(boards[0], boards[:40]).tobytes() == data[f"score/{movement}"].tobytes()
print(nc.isa())
"""


def test_both_instruction_sets_give_the_same_bits(tmp_path: Path) -> None:
    data: dict[str, Any] = {}
    odd = np.random.default_rng(2).integers(-15, 16, (200, 32)).astype(np.int8)
    for movement, hidden in (("short", (256, 192, 64)), ("long", (320, 64, 128))):
        boards = np.concatenate([afters(movement)[::2], odd])
        data[movement] = boards
        for name in SETS:
            if name.endswith(movement):
                data[f"rows/{name}"], data[f"buckets/{name}"] = nets.features(boards, name)
        _, made = player(movement, hidden, keep=5)
        nets.save(made, tmp_path / f"{movement}.npz")
        data[f"full/{movement}"] = nc.Evaluator.net(made, full=True)(boards[0], boards)
        data[f"score/{movement}"] = nc.Evaluator.net(made)(boards[0], boards[:40])
    np.savez(tmp_path / "data.npz", **data)
    done = subprocess.run(
        [sys.executable, "-P", "-c", PORTABLE, str(tmp_path / "data.npz"), str(tmp_path)],
        env={**os.environ, "NARDCORE_ISA": "portable"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "portable", done.stderr


def test_the_largest_weights_neither_overflow_nor_saturate() -> None:
    """Sums at the edge of int16, activations of 127 and weights of +-127 in the last layer."""
    name = "points_short"
    rows, active, _ = SETS[name]
    net: dict[str, NDArray[Any]] = {
        "W1": np.full((rows, 64), 32767 // active, np.int16),
        "b1": np.zeros(64, np.int16),
        "W2": np.full((1, 10, 64), 127, np.int8),
        "scale": np.full((1, 10), 1e-5, np.float32),
        "b2": np.zeros((1, 10), np.float32),
    }
    net["W1"][-1] = 0
    net["W2"][0, 1::2] = -127
    made = {"contact": net, "race": net}
    sets = {"contact": name, "race": name}
    full = nc.Evaluator.net(nets.make(made, {"sets": sets, "rules": "backgammon"}), full=True)
    board, results = TURNS["short"][0]
    p = full(board, results)
    sums = 127 * 127 * 64
    assert np.allclose(np.log(p[:, 0] / p[:, 1]), 2e-5 * sums, rtol=1e-4)


# --------------------------------------------------------------------------------------- quantising


def test_quantise_cuts_what_could_overflow() -> None:
    net = weights("points_short", 64)
    net["W1"][:-1] = 100.0
    found = nets.quantise(net, "points_short")
    assert found["W1"].max() <= 32767 // 28
    with pytest.raises(ValueError, match="W2 holds numbers that are not finite"):
        nets.quantise({**net, "W2": np.full((1, 10, 64), np.nan)}, "points_short")
    with pytest.raises(ValueError, match="no feature set 'nothing'"):
        nets.quantise(net, "nothing")


# -------------------------------------------------------------------------------------------- files


def test_files_keep_everything(tmp_path: Path) -> None:
    _, made = player("long", keep=9, recipe="at random", scoring=[1, 2, 2, 2, 2])
    nets.save(made, tmp_path / "p.npz")
    read = nets.load(tmp_path / "p.npz")
    assert (read.sets, read.rules, read.scoring, read.keep, read.meta) == (
        made.sets,
        made.rules,
        made.scoring,
        9,
        made.meta,
    )
    for part, arrays in made.parts.items():
        for key, a in arrays.items():
            assert (read.parts[part][key] == a).all()
    policy = nc.Evaluator.net(tmp_path / "p.npz")
    assert policy.name == "p"
    board, results = TURNS["long"][3]
    assert (policy(board, results) == nc.Evaluator.net(made)(board, results)).all()


def test_meta_may_be_a_text_array(tmp_path: Path) -> None:
    _, made = player("short")
    arrays = {f"{p}/{k}": a for p, of in made.parts.items() for k, a in of.items()}
    np.savez(tmp_path / "p.npz", meta=np.array(json.dumps(made.meta)), **arrays)
    assert nets.load(tmp_path / "p.npz").sets == made.sets


def spoil(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[key] = value(arrays[key]) if callable(value) else value

    return change


def meta(**changes: Any) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        said = {**json.loads(arrays["meta"].tobytes()), **changes}
        arrays["meta"] = np.frombuffer(json.dumps(said).encode(), np.uint8)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (spoil("contact/W1", lambda a: a.astype(np.int32)), "W1 must be int16"),
        (spoil("contact/W1", lambda a: a[:-1]), "must have the shape"),
        (spoil("contact/W1", lambda a: a + np.int16(1)), "the last row of W1 must be zero"),
        (spoil("contact/W1", lambda a: np.full_like(a, 30000)), "the last row|overflow"),
        (spoil("contact/b1", lambda a: np.full_like(a, -32768)), "overflow"),
        (spoil("contact/b1", lambda a: a[:63]), "b1 must hold 64, 128"),
        (spoil("contact/b1", np.zeros((0,), np.int16)), "b1 must hold 64, 128"),
        (spoil("contact/W2", lambda a: a[:1]), "must have the shape"),
        (spoil("race/scale", lambda a: np.full_like(a, np.nan)), "not finite"),
        (spoil("race/b2", lambda a: np.full_like(a, 1e30)), "not finite or above"),
        (spoil("race/b2", lambda a: a.astype(np.float64)), "b2 must be float32"),
        (spoil("contact/W2", np.array([None])), "pickle"),
        (spoil("other/W1", np.zeros(3)), "it has the nets"),
        (spoil("meta", np.frombuffer(b"{", np.uint8)), "no player"),
        (spoil("meta", np.frombuffer(b"\xff\xfe", np.uint8)), "no player"),
        (spoil("meta", np.frombuffer(b"[1]", np.uint8)), "no JSON object"),
        (meta(rules="chess"), "no ruleset"),
        (meta(rules=3), "no ruleset"),
        (meta(rules="hypergammon"), "15 checkers"),
        (meta(rules="long_nardy"), "not for long"),
        (meta(classes="0"), "fingerprint"),
        (meta(sets={"contact": "contact_short"}), "names the feature sets"),
        (meta(sets={"contact": "x", "race": "race_short", "prune": "points_short"}), "unknown"),
        (
            meta(sets={"contact": "contact_short", "race": "race_short", "prune": "race_short"}),
            "plain points",
        ),
        (meta(scoring=[1, 2]), "five points"),
        (meta(scoring=[1, 2, 3, 4, 1e9]), "five points"),
        (meta(scoring="golf"), "unknown 'golf'"),
        (meta(keep=1000), "keep"),
        (meta(keep=True), "keep"),
    ],
)
def test_hostile_files_are_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    _, made = player("short", (64, 64, 64))
    nets.save(made, tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as file:
        arrays = dict(file)
    change(arrays)
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(nc.FormatError, match=message):
        nets.load(tmp_path / "p.npz")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    nets.save(player("short")[1], path)
    good = path.read_bytes()
    for bad in (b"", b"PK", good[: len(good) // 2], b"x" * 100, good[:-30]):
        path.write_bytes(bad)
        with pytest.raises(nc.FormatError, match="no player"):
            nets.load(path)
    rng = np.random.default_rng(1)
    for _ in range(12):
        torn = bytearray(good)
        torn[rng.integers(len(torn))] ^= 0xFF
        path.write_bytes(bytes(torn))
        with contextlib.suppress(nc.FormatError):
            nets.load(path)


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nets.save(player("short")[1], tmp_path / "p.npz")
    monkeypatch.setattr(nets, "_MOST_BYTES", 1000)
    with pytest.raises(nc.FormatError, match="too large"):
        nets.load(tmp_path / "p.npz")


def test_options_are_checked() -> None:
    _, made = player("short")
    with pytest.raises(ValueError, match="keep is 0"):
        nc.Evaluator.net(made, keep=65)
    with pytest.raises(ValueError, match="five"):
        nc.Evaluator.net(made, points=(1, 2))
    with pytest.raises(ValueError, match="-100 to 100"):
        nc.Evaluator.net(made, points=(1, 2, 2, 3, 1000))
    with pytest.raises(ValueError, match="no number above 15"):
        nets.features(np.full((1, 32), 16), "race_short")
    with pytest.raises(TypeError, match="integers"):
        nets.features(np.zeros((1, 32)), "race_short")


def test_a_net_of_the_other_game_is_refused() -> None:
    _, made = player("short")
    with pytest.raises(ValueError, match="short"):
        nc.rollout(nc.Position.start(nc.LONG_NARDY), games=1, policy=nc.Evaluator.net(made))
    other = nc.BACKGAMMON.replace(off_protects=False)
    with pytest.raises(ValueError, match="off_protects=True"):
        nc.rollout(nc.Position.start(other), games=1, policy=nc.Evaluator.net(made))
    with pytest.raises(ValueError, match="checkers=15"):
        nc.rollout(nc.Position.start(nc.HYPERGAMMON), games=1, policy=nc.Evaluator.net(made))
    start = nc.Position.start(nc.NACKGAMMON)
    assert nc.rollout(start, games=1, seed=1, policy=nc.Evaluator.net(made)).counts.sum() == 1
