"""The generators against the oracle and each other, and what is true of every legal play."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import oracle
import pytest
from hypothesis import given
from sampling import EVERY_RULES, check, compare, sample

import nardcore as nc
from nardcore import testing
from nardcore.notation import NUMBERINGS
from nardcore.rules import PRESETS, Rules

if TYPE_CHECKING:
    from nardcore import Play, Plays

DATA = Path(__file__).parent / "data"

every_rules = pytest.mark.parametrize("name", EVERY_RULES)
every_preset = pytest.mark.parametrize("name", PRESETS)


def seed_of(name: str) -> int:
    return zlib.crc32(name.encode())


# ---------------------------------------------------------------------------------------------
# Three readings of the rules


@every_rules
def test_both_kernels_find_what_the_oracle_finds(name: str) -> None:
    _, _, _, wrong = check(name, 240, seed_of(name))
    assert not wrong, f"{len(wrong)} differ; " + "\n".join(map(str, wrong[:3]))


DEEP = 5000


@pytest.mark.slow
def test_both_kernels_find_what_the_oracle_finds_in_many_positions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    jobs = [
        (name, DEEP // 5, seed_of(f"{name} {part}")) for name in EVERY_RULES for part in range(5)
    ]
    workers = min(len(os.sched_getaffinity(0)), 8)
    of_name = dict.fromkeys(EVERY_RULES, 0)
    plays = 0
    wrong = []
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for name, positions, total, differ in pool.map(check, *zip(*jobs, strict=True)):
            of_name[name] += positions
            plays += total
            wrong += differ
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{sum(of_name.values()):,} positions of {len(of_name)} rules, {plays:,} plays, "
            f"{len(wrong)} disagreements"
        )
    assert min(of_name.values()) >= DEEP
    assert sum(of_name.values()) >= 100_000
    assert not wrong, "\n".join(map(str, wrong[:10]))


@given(testing.positions(testing.rules()), testing.rolls())
def test_both_kernels_find_what_the_oracle_finds_in_any_position(
    position: nc.Position, roll: tuple[int, int]
) -> None:
    _, wrong = compare(position.rules, position.board[None, :], np.array([roll], np.int8))
    assert not wrong, "\n".join(map(str, wrong))


# ---------------------------------------------------------------------------------------------
# What is true of every legal play


@cache
def sampled(name: str, n: int = 60) -> tuple[Plays, ...]:
    """The plays of positions of each kind with random rolls."""
    rules = EVERY_RULES[name]
    boards, dice = sample(rules, n, seed_of(name) + 1)
    return tuple(
        nc.Position.from_board(board, rules).plays(tuple(roll))
        for board, roll in zip(boards, dice.tolist(), strict=True)
    )


def wins(play: Play) -> bool:
    return play.board[26] == play.of.position.rules.checkers


@every_preset
def test_no_two_plays_share_a_result(name: str) -> None:
    for plays in sampled(name):
        assert len({row.tobytes() for row in plays.boards}) == len(plays) >= 1


@every_preset
def test_every_play_that_does_not_win_uses_as_many_dice_as_can_be_played(name: str) -> None:
    for plays in sampled(name):
        used = oracle.plays_with_dice(plays.position.rules, plays.position.board, plays.dice)
        most = max(used.values())
        for play in plays:
            assert play.dice_used == most or (wins(play) and play.dice_used <= most)


@every_rules
def test_if_only_one_die_can_be_played_it_is_the_larger_that_can(name: str) -> None:
    for plays in sampled(name):
        position, (larger, smaller) = plays.position, plays.dice
        open_plays = [play for play in plays if not wins(play)]
        if larger == smaller or not open_plays or open_plays[0].dice_used != 1:
            continue
        turn = oracle.begin(position.rules, position.board, plays.dice)
        state = oracle.opening_state(position.board)
        by_larger = {
            oracle.closing_board(position.board, after)
            for after in oracle.steps(turn, state, larger)
            if oracle.is_permitted(turn, oracle.Ended(after, (larger,)))
        }
        for play in open_plays:
            if by_larger:
                assert tuple(play.board.tolist()) in by_larger
            else:
                ((origin, target),) = play.steps
                assert origin - target <= smaller


@every_rules
def test_checkers_are_conserved(name: str) -> None:
    for plays in sampled(name):
        rules = plays.position.rules
        boards = plays.boards.astype(int)
        mine = np.maximum(boards[:, :24], 0).sum(axis=1) + boards[:, 24] + boards[:, 26]
        theirs = np.maximum(-boards[:, :24], 0).sum(axis=1) + boards[:, 25] + boards[:, 27]
        assert (mine == rules.checkers).all()
        assert (theirs == rules.checkers).all()
        assert (boards[:, 28] == plays.position.board[28]).all()
        assert (boards[:, 29] == (plays.position.board[29] & 2)).all()
        assert not boards[:, 30:].any()


@given(testing.positions(testing.rules(), finished=True))
def test_flipping_twice_gives_the_same_position(position: nc.Position) -> None:
    assert position.flip().flip() == position
    assert bytes(position.flip().flip()) == bytes(position)
    right = oracle.flip(position.rules, position.board.tolist())
    assert tuple(position.flip().board.tolist()) == right
    assert position.flip().pips == position.pips[::-1]


@every_preset
def test_pips_fall_by_the_dice_used(name: str) -> None:
    for plays in sampled(name):
        dice = set(plays.dice)
        for play in plays:
            before = plays.position.pips[0]
            after = int(nc.batch.pips(play.board[None, :], plays.position.rules)[0, 0])
            assert before - after == sum(origin - target for origin, target in play.steps)
            for origin, target in play.steps:
                assert origin - target in dice or (target == 0 and origin < max(dice))


@every_preset
def test_without_a_hit_the_opponent_stays_as_it_is(name: str) -> None:
    for plays in sampled(name):
        before = plays.position.board
        for play in plays:
            after = play.board
            moved = np.minimum(before[:24], 0) != np.minimum(after[:24], 0)
            assert moved.sum() == len(play.hits) == after[25] - before[25]
            assert {int(i) + 1 for i in np.flatnonzero(moved)} == set(play.hits)
            assert (before[np.flatnonzero(moved)] == -1).all()
            assert after[27] == before[27]
            if plays.position.rules.movement == "long":
                assert not play.hits


@every_rules
def test_the_head_gives_one_checker_a_turn_and_two_only_in_a_first_turn(name: str) -> None:
    rules = EVERY_RULES[name]
    if rules.movement == "short" or rules.head_limit == "free":
        pytest.skip("no head rule")
    two = 0
    for plays in sampled(name):
        position = plays.position
        left = position.board[23] - plays.boards[:, 23]
        allowed = 2 if position.first_turns[0] and rules.head_exception != "none" else 1
        if rules.head_exception_for == "second" and position.first_turns[1]:
            allowed = 1
        assert left.max() <= allowed
        two += left.max() == 2
    if rules.head_exception in ("any_double", "listed") and rules.checkers == 15:
        first = nc.Position.start(rules)
        first = nc.Position.from_board([*first.board[:29].tolist(), 1, 0, 0], rules)
        assert (first.board[23] - first.plays((4, 4)).boards[:, 23] == 2).any()


@every_rules
def test_no_turn_that_starts_without_a_forbidden_block_ends_with_one(name: str) -> None:
    rules = EVERY_RULES[name]
    if rules.movement == "short" or rules.block == "off":
        pytest.skip("no block rule")
    for plays in sampled(name):
        turn = oracle.begin(rules, plays.position.board, plays.dice)
        if not turn.block_counts:
            continue
        for row in plays.boards.tolist():
            assert not oracle.has_forbidden_block(turn, oracle.opening_state(row))


@every_rules
def test_a_written_play_is_read_back_as_the_same_play(name: str) -> None:
    for plays in sampled(name, 30):
        for play in plays:
            for numbering in NUMBERINGS:
                text = play.notation(numbering=numbering)
                assert plays.find(text, numbering=numbering) == play, (plays.position, text)
        assert len(plays) == len({str(play) for play in plays})


def replayed(plays: Plays, steps: tuple[tuple[int, int], ...]) -> list[int]:
    """Make steps by hand on the mover's side of the board."""
    board = plays.position.board.tolist()
    for origin, target in steps:
        board[24 if origin == 25 else origin - 1] -= 1
        assert board[24 if origin == 25 else origin - 1] >= 0
        if target == 0:
            board[26] += 1
        elif board[target - 1] == -1:
            board[target - 1] = 1
            board[25] += 1
        else:
            assert board[target - 1] >= 0
            board[target - 1] += 1
    board[29] &= ~1
    return board


@every_rules
def test_the_steps_of_a_play_lead_to_its_result(name: str) -> None:
    for plays in sampled(name):
        for play in plays:
            assert replayed(plays, play.steps) == play.board.tolist()
            assert len(play.steps) == play.dice_used


@every_rules
def test_next_steps_lead_to_every_legal_play_and_nowhere_else(name: str) -> None:
    for plays in sampled(name, 30)[::2]:
        if len(plays) > 150:
            continue
        legal = {row.tobytes() for row in plays.boards}
        met: set[bytes] = set()
        # ways that reach one board with the same number of steps go on alike
        seen: set[tuple[bytes, tuple[int, ...]]] = set()
        ways: list[tuple[tuple[int, int, int], ...]] = [()]
        while ways:
            made = ways.pop()
            pairs = [step[:2] for step in made]
            board = plays.after(pairs).tobytes()
            key = board, tuple(sorted(step[2] for step in made))
            if key in seen:
                continue
            seen.add(key)
            following = plays.next_steps(pairs)
            if not following:
                assert board in legal
            if board in legal:
                met.add(board)
            ways += [(*made, step) for step in following]
        assert met == legal


@every_rules
def test_a_batch_gives_what_positions_give_one_by_one(name: str) -> None:
    rules = EVERY_RULES[name]
    boards, dice = sample(rules, 60, seed_of(name) + 1)
    found = nc.batch.plays(boards, dice, rules, steps=True)
    room = np.full((len(found.boards) + 5, 32), 77, np.int8)
    given = nc.batch.plays(boards, dice, rules, out=room)
    assert given.boards.base is room
    assert (given.boards == found.boards).all()
    assert (given.indptr == found.indptr).all()
    assert (room[len(found.boards) :] == 77).all()
    pips = nc.batch.pips(boards, rules)
    flipped = nc.batch.flip(boards, rules)
    assert found.steps is not None
    for i, plays in enumerate(sampled(name)):
        rows = slice(int(found.indptr[i]), int(found.indptr[i + 1]))
        assert (found.boards[rows] == plays.boards).all()
        assert plays.boards.shape == found.boards[rows].shape
        for play, steps in zip(plays, found.steps[rows].tolist(), strict=True):
            flat = [number for step in play.steps for number in step]
            assert steps == flat + [-1] * (8 - len(flat))
        assert tuple(pips[i].tolist()) == plays.position.pips
        assert (flipped[i] == plays.position.flip().board).all()


@every_preset
def test_expansion_gives_every_roll_in_order(name: str) -> None:
    rules = PRESETS[name]
    boards, _ = sample(rules, 9, seed_of(name))
    found = nc.batch.expand(boards, rules)
    assert len(found.indptr) == 21 * len(boards) + 1
    for i, board in enumerate(boards):
        position = nc.Position.from_board(board, rules)
        for j, roll in enumerate(nc.dice.ROLLS):
            rows = slice(int(found.indptr[21 * i + j]), int(found.indptr[21 * i + j + 1]))
            assert (found.boards[rows] == position.plays(roll).boards).all()


def test_the_order_of_the_dice_does_not_matter() -> None:
    for name in PRESETS:
        for plays in sampled(name)[:20]:
            larger, smaller = plays.dice
            other = plays.position.plays((smaller, larger))
            assert (other.boards == plays.boards).all()
            assert other.dice == plays.dice


# ---------------------------------------------------------------------------------------------
# The order of results

ORDER = """
import json, zlib
import numpy as np
import nardcore as nc

found = {"isa": nc.isa()}
for name, rules in nc.PRESETS.items():
    boards = nc.batch.start(1, rules)
    crc = 0
    for level in range(6):
        results = nc.batch.expand(boards, rules).boards
        crc = zlib.crc32(results.tobytes(), crc)
        open_ = results[nc.batch.results(results, rules) < 0]
        # a spread of positions to go on from, without any chance
        boards = nc.batch.flip(open_[:: max(1, len(open_) // 300)], rules)
    found[name] = crc
print(json.dumps(found))
"""


def order_of(isa: str) -> dict[str, int | str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", ORDER],
        env={**os.environ, "NARDCORE_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    if isa == "avx2" and "do not run here" in done.stderr:
        pytest.skip("this CPU has no AVX2")
    assert done.returncode == 0, done.stderr
    answer: dict[str, int | str] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_results_come_in_the_frozen_order_by_every_instruction_set(isa: str) -> None:
    """A difference here means that rollouts of this version and the last differ, too."""
    found = order_of(isa)
    assert found.pop("isa") == isa
    assert found == json.loads((DATA / "order.json").read_text("utf-8"))


# ---------------------------------------------------------------------------------------------
# Counts


def test_first_rolls_of_short_have_the_known_numbers_of_results() -> None:
    counts = json.loads((DATA / "reported.json").read_text("utf-8"))["opening_counts"]
    start = nc.Position.start(nc.BACKGAMMON)
    assert len(counts) == 21
    for roll, count in counts.items():
        assert len(start.plays(tuple(map(int, roll.split("-"))))) == count
    assert sum(counts.values()) == 447


def test_perft_of_short() -> None:
    start = nc.Position.start(nc.BACKGAMMON)
    assert [start.perft(depth) for depth in (1, 2)] == [447, 202_782]


@pytest.mark.parametrize(
    ("options", "one", "two"),
    [
        ("head_exception=none", 21, 441),
        ("head_exception=listed", 22, 484),
        ("head_exception=listed+head_exception_for=second", 21, 462),
        ("head_exception=blocked", 22, 489),
        ("head_exception=any_double", 28, 770),
        ("head_exception=any_double+head_exception_for=second", 21, 581),
        ("head_limit=free", 53, 2768),
    ],
)
def test_perft_of_long(options: str, one: int, two: int) -> None:
    start = nc.Position.start(Rules.parse(f"long_nardy+{options}"))
    assert [start.perft(depth) for depth in (1, 2)] == [one, two]


@every_preset
def test_perft_is_the_sum_of_its_division_and_weighs_rolls_by_their_throws(name: str) -> None:
    start = nc.Position.start(PRESETS[name])
    divided = start.divide(2)
    assert list(divided) == list(nc.dice.ROLLS)
    assert sum(sum(below.values()) for below in divided.values()) == start.perft(2)
    weighted = start.divide(1, weighted=True)
    assert sum(sum(below.values()) for below in weighted.values()) == start.perft(1, weighted=True)
    assert start.perft(1, weighted=True) == sum(len(start.plays(roll)) for roll in nc.dice.THROWS)


@pytest.mark.slow
def test_perft_of_long_to_depth_three_by_expansion() -> None:
    start = nc.Position.start(nc.LONG_NARDY)
    expansion = start.expand(depth=2)
    boards = nc.batch.flip(expansion.boards, nc.LONG_NARDY)
    assert start.perft(3) == len(nc.batch.expand(boards, nc.LONG_NARDY).boards)
