"""Every door refuses what is impossible, with the error that its caller would expect."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nardcore as nc
from nardcore import _movegen, testing
from nardcore.formats.positions import (
    parse_position,
    parse_position_id,
    parse_position_text,
    parse_xgid,
)

START = nc.Position.start()
BOARDS = nc.batch.start(3)

# ---------------------------------------------------------------------------------------------
# Dice

OUT_OF_RANGE = [(0, 1), (1, 0), (7, 1), (1, 7), (-1, 1), (10**30, 1), (1, -(10**30)), (256, 1)]
WRONG_TYPE = [
    (2.5, 1),
    (1, 2.0),
    ("x", 1),
    ("3", "1"),
    (None, 1),
    (True, 1),
    (1, False),
    "31",
    b"31",
    None,
    3,
    31.0,
    (math.nan, 1),
    ((1,), 2),
]
WRONG_SIZE = [(), (1,), (1, 2, 3), [3], [1, 1, 1, 1]]

DICE_DOORS = {
    "plays": START.plays,
    "play": lambda dice: START.play("8/5 6/5", dice=dice),
    "text": lambda dice: START.text(dice) if dice is not None else START.plays(dice),
    "xgid": lambda dice: START.xgid(dice) if dice is not None else START.plays(dice),
    "orders": nc.dice.orders,
    "rollout": lambda dice: (
        nc.rollout(START, games=1, dice=dice) if dice is not None else START.plays(dice)
    ),
}


@pytest.mark.parametrize("door", DICE_DOORS)
@pytest.mark.parametrize("dice", OUT_OF_RANGE, ids=str)
def test_dice_are_one_to_six(door: str, dice: Any) -> None:
    with pytest.raises(ValueError, match=r"di(c)?e"):
        DICE_DOORS[door](dice)


@pytest.mark.parametrize("door", DICE_DOORS)
@pytest.mark.parametrize("dice", WRONG_TYPE, ids=str)
def test_dice_are_whole_numbers(door: str, dice: Any) -> None:
    with pytest.raises(TypeError):
        DICE_DOORS[door](dice)


@pytest.mark.parametrize("door", DICE_DOORS)
@pytest.mark.parametrize("dice", WRONG_SIZE, ids=str)
def test_dice_are_two(door: str, dice: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        DICE_DOORS[door](dice)


@pytest.mark.parametrize("dice", [(np.int8(3), np.int64(1)), [3, 1], np.array([3, 1])], ids=str)
def test_integers_of_any_kind_are_dice(dice: Any) -> None:
    assert len(START.plays(dice)) == 16


BATCH_ROLLS = {
    "plays": lambda dice: nc.batch.plays(BOARDS, dice),
    "plays_by": lambda dice: _movegen.plays_by("general", BOARDS, dice, nc.BACKGAMMON),
}


@pytest.mark.parametrize("door", BATCH_ROLLS)
@pytest.mark.parametrize(
    ("dice", "error"),
    [
        ((0, 1), ValueError),
        ((7, 7), ValueError),
        ([(1, 1), (1, -1), (2, 2)], ValueError),
        ([(1, 1), (257, 1), (2, 2)], ValueError),
        ((1.0, 2.0), TypeError),
        ((2.5, 1), TypeError),
        ((math.nan, 1), TypeError),
        ("ab", TypeError),
        (("1", "2"), TypeError),
        (None, TypeError),
        ((None, 1), TypeError),
        ((True, True), TypeError),
        ((10**30, 1), TypeError),  # an array of objects
        (3, ValueError),
        ((1,), ValueError),
        ((1, 2, 3), ValueError),
        ([(1, 2)], ValueError),
        ([(1, 2)] * 4, ValueError),
        ([[[1, 2]] * 3], ValueError),
        ([(1, 2), (3,), (1, 1)], ValueError),
    ],
    ids=str,
)
def test_dice_of_a_batch_are_checked(door: str, dice: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        BATCH_ROLLS[door](dice)


# ---------------------------------------------------------------------------------------------
# Boards


def board_with(**changes: int) -> list[int]:
    board = START.board.tolist()
    for key, value in changes.items():
        board[int(key[1:])] = value
    return board


IMPOSSIBLE = {
    "16 checkers of the mover": board_with(b0=-1, b5=7),
    "14 checkers of the mover": board_with(b5=4),
    "16 checkers of the opponent": board_with(b1=-1),
    "off does not add up": board_with(b26=1),
    "off of the opponent does not add up": board_with(b27=3),
    "negative bar": board_with(b24=-1, b5=6),
    "negative bar of the opponent": board_with(b25=-1, b1=-1),
    "negative off": board_with(b26=-1, b5=6),
    "no such turn": board_with(b28=2),
    "negative turn": board_with(b28=-1),
    "flags in short": board_with(b29=1),
    "reserved": board_with(b30=1),
    "reserved too": board_with(b31=-1),
    "nobody there": [0] * 32,
    "both are off": [0] * 26 + [15, 15] + [0] * 4,
}

BOARD_DOORS = {
    "from_board": nc.Position.from_board,
    "plays": lambda board: nc.batch.plays(np.asarray(board)[None], (3, 1)),
    "plays_by": lambda board: _movegen.plays_by(
        "general", np.asarray(board)[None], (3, 1), nc.BACKGAMMON
    ),
    "flip": lambda board: nc.batch.flip(np.asarray(board)[None]),
    "pips": lambda board: nc.batch.pips(np.asarray(board)[None]),
    "results": lambda board: nc.batch.results(np.asarray(board)[None]),
    "expand": lambda board: nc.batch.expand(np.asarray(board)[None]),
}


@pytest.mark.parametrize("door", BOARD_DOORS)
@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_boards_are_refused(door: str, name: str) -> None:
    with pytest.raises(nc.PositionError) as caught:
        BOARD_DOORS[door](IMPOSSIBLE[name])
    assert caught.value.faults


@pytest.mark.parametrize("door", BOARD_DOORS)
@pytest.mark.parametrize(
    ("board", "error"),
    [
        (START.board[:31], ValueError),
        ([*START.board.tolist(), 0], ValueError),
        ([], (ValueError, TypeError)),
        (START.board.reshape(2, 16), ValueError),
        (START.board.astype(float), TypeError),
        (np.full(32, math.nan), TypeError),
        (START.board.astype(bool), TypeError),
        (START.board.astype(complex), TypeError),
        (START.board.astype(object), TypeError),
        (["a"] * 32, TypeError),
        ([300] + [0] * 31, ValueError),
        ([-129] + [0] * 31, ValueError),
        (np.full(32, 2**63, np.uint64), ValueError),
        (None, (TypeError, ValueError)),
        ("x", (TypeError, ValueError)),
        (5, (TypeError, ValueError)),
    ],
    ids=str,
)
def test_arrays_that_are_no_boards_are_refused(door: str, board: Any, error: Any) -> None:
    with pytest.raises(error):
        BOARD_DOORS[door](board)


def test_a_huge_sum_of_small_numbers_is_no_board() -> None:
    # 127 checkers on each point would wrap around in eight bits
    for value in (127, -127, -128):
        for door in BOARD_DOORS.values():
            with pytest.raises(nc.PositionError):
                door([value] * 24 + [0] * 8)


def test_long_has_no_bar_and_two_flags() -> None:
    board = nc.Position.start(nc.LONG_NARDY).board.tolist()
    for place, value in ((24, 1), (25, 1), (29, 4), (29, -1)):
        changed = list(board)
        changed[place] = value
        if place == 24:
            changed[23] -= 1
        with pytest.raises(nc.PositionError):
            nc.Position.from_board(changed, nc.LONG_NARDY)
        with pytest.raises(nc.PositionError):
            nc.batch.plays(np.array([changed]), (1, 1), nc.LONG_NARDY)


@given(
    st.lists(st.integers(-128, 127), min_size=32, max_size=32)
    | st.lists(st.sampled_from([-1, 0, 0, 0, 1, 2, 15]), min_size=32, max_size=32),
    testing.rules(),
)
def test_any_32_numbers_are_a_position_or_refused_alike(
    numbers: list[int], rules: nc.Rules
) -> None:
    array = np.array([numbers], np.int8)
    try:
        flipped = nc.batch.flip(array, rules)
    except nc.PositionError as refused:
        faults = refused.faults
        with pytest.raises(nc.PositionError) as caught:
            nc.Position.from_board(numbers, rules)
        assert [f"row 0: {fault}" for fault in caught.value.faults] == list(faults)
    else:
        position = nc.Position.from_board(numbers, rules)
        assert (flipped[0] == position.flip().board).all()


@pytest.mark.parametrize(
    ("mover", "opponent", "error"),
    [
        ({6: 16}, {6: 1}, nc.PositionError),
        ({6: 15, "off": 1}, {6: 15}, nc.PositionError),
        ({6: -1}, {6: 1}, nc.PositionError),
        ({0: 1}, {6: 1}, nc.PositionError),
        ({25: 1}, {6: 1}, nc.PositionError),
        ({6: 1}, {19: 1}, nc.PositionError),  # both on the mover's 6
        ({6: 1, "bar": 16}, {6: 1}, nc.PositionError),
        ({6: 10**30}, {6: 1}, nc.PositionError),
        ({10**30: 1}, {6: 1}, nc.PositionError),
        ({6: 1.0}, {6: 1}, TypeError),
        ({6.5: 1}, {6: 1}, TypeError),
        ({"six": 1}, {6: 1}, TypeError),
        ({6: "1"}, {6: 1}, TypeError),
        ({6: None}, {6: 1}, TypeError),
        ({6: True}, {6: 1}, TypeError),
        ({True: 1}, {6: 1}, TypeError),
        ({None: 1}, {6: 1}, TypeError),
        ([6, 6], {6: 1}, TypeError),
        (None, {6: 1}, TypeError),
        ("6:1", {6: 1}, TypeError),
    ],
    ids=str,
)
def test_sides_that_cannot_be_are_refused(mover: Any, opponent: Any, error: Any) -> None:
    with pytest.raises(error):
        nc.Position(mover, opponent)


@pytest.mark.parametrize(
    ("points", "more", "error"),
    [
        ([0] * 23, {}, nc.PositionError),
        ([0] * 25, {}, nc.PositionError),
        ([16] + [0] * 22 + [-1], {}, nc.PositionError),
        ([1.0] + [0] * 23, {}, TypeError),
        ([None] * 24, {}, TypeError),
        ("0" * 24, {}, TypeError),
        (None, {}, TypeError),
        ([1] + [0] * 22 + [-1], {"off": (15, 14)}, nc.PositionError),
        ([1] + [0] * 22 + [-1], {"off": (14,)}, nc.PositionError),
        ([1] + [0] * 22 + [-1], {"bar": (1, 2, 3)}, nc.PositionError),
        ([1] + [0] * 22 + [-1], {"bar": 1}, TypeError),
        ([1] + [0] * 22 + [-1], {"off": 1}, TypeError),
        ([1] + [0] * 22 + [-1], {"bar": (-1, 0)}, nc.PositionError),
        ([1] + [0] * 22 + [-1], {"turn": "x"}, nc.PositionError),
        ([1] + [0] * 22 + [-1], {"rules": "backgammon"}, TypeError),
        ([10**30] + [0] * 23, {}, nc.PositionError),
    ],
    ids=str,
)
def test_points_that_cannot_be_are_refused(points: Any, more: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        nc.Position.from_points(points, **more)


def test_rules_are_rules() -> None:
    for bad in ("backgammon", None, 5, {}, [], object()):
        for door in (
            lambda rules: nc.Position.start(rules),
            lambda rules: nc.Position.from_board(START.board, rules),
            lambda rules: nc.batch.plays(BOARDS, (3, 1), rules),
            lambda rules: nc.batch.flip(BOARDS, rules),
            lambda rules: nc.batch.pips(BOARDS, rules),
            lambda rules: nc.batch.results(BOARDS, rules),
            lambda rules: nc.batch.expand(BOARDS, rules),
            lambda rules: nc.batch.start(1, rules),
        ):
            with pytest.raises(TypeError):
                door(bad)
    with pytest.raises(nc.RulesError):
        nc.Rules.preset("chess")
    with pytest.raises(nc.RulesError):
        nc.Rules.parse("backgammon+castling=yes")
    with pytest.raises(TypeError):
        nc.Rules(castling=True)
    with pytest.raises(nc.RulesError) as caught:
        nc.Rules(movement="diagonal", checkers=16)
    assert len(caught.value.faults) >= 2


@given(st.text(max_size=60))
@example("long_nardy+")
@example("+")
@example("backgammon+checkers=²")
@example("backgammon+checkers=" + "9" * 5000)
def test_any_text_is_rules_or_a_rules_error(text: str) -> None:
    try:
        rules = nc.Rules.parse(text)
    except nc.RulesError:
        return
    assert nc.Rules.parse(rules.name) == rules


# ---------------------------------------------------------------------------------------------
# Arrays to write to


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.zeros((2, 32), np.int8), ValueError),
        (np.zeros((3, 31), np.int8), ValueError),
        (np.zeros(96, np.int8), ValueError),
        (np.zeros((3, 32), np.int16), TypeError),
        (np.zeros((3, 32), np.uint8), TypeError),
        (np.zeros((3, 64), np.int8)[:, ::2], TypeError),
        (np.zeros((3, 32), np.int8, order="F"), TypeError),
        ([[0] * 32] * 3, TypeError),
        (bytearray(96), TypeError),
        (5, TypeError),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_output_must_fit(out: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="out"):
        nc.batch.flip(BOARDS, out=out)
    if getattr(out, "shape", ()) != (2, 32):  # for plays that is only too small
        with pytest.raises((TypeError, ValueError)):
            nc.batch.plays(BOARDS, (3, 1), out=out)
    else:
        with pytest.raises(ValueError, match="holds 2 results"):
            nc.batch.plays(BOARDS, (3, 1), out=out)


def test_an_output_that_is_read_only_is_refused() -> None:
    for shape, dtype, call in (
        ((3, 32), np.int8, nc.batch.flip),
        ((3, 2), np.int32, nc.batch.pips),
        ((3,), np.int8, nc.batch.results),
        ((99, 32), np.int8, lambda boards, out: nc.batch.plays(boards, (3, 1), out=out)),
    ):
        out = np.zeros(shape, dtype)
        out.flags.writeable = False
        with pytest.raises(TypeError, match="writeable"):
            call(BOARDS, out=out)
        with pytest.raises((TypeError, ValueError)):
            call(BOARDS, out=np.zeros((1, 1, 1), dtype))


def test_an_output_may_not_overlap_what_is_read() -> None:
    room = np.zeros((200, 32), np.int8)
    room[:3] = BOARDS
    with pytest.raises(ValueError, match="overlap"):
        nc.batch.plays(room[:3], (3, 1), out=room)
    shifted = np.zeros((4, 32), np.int8)
    shifted[:3] = BOARDS
    before = nc.batch.flip(BOARDS)
    try:
        found = nc.batch.flip(shifted[:3], out=shifted[1:])
    except ValueError:
        return
    assert (found == before).all()


# ---------------------------------------------------------------------------------------------
# Texts

READERS = {
    "any": parse_position,
    "text": parse_position_text,
    "id": parse_position_id,
    "xgid": parse_xgid,
    "Position.parse": nc.Position.parse,
}

ids = st.text("ABCDEFabcdef+/=0123456789", max_size=20)
xgids = st.builds("XGID={}:{}".format, st.text("-abcABCpP", max_size=30), st.text(":0123456789"))
lines = st.lists(
    st.sampled_from(
        ["backgammon", "long_nardy", "x2", "24", "x15,23", "0/0", "w", "b", "31", "-", "x"]
    )
    | st.text(max_size=5)
).map(" ".join)


@pytest.mark.parametrize("reader", READERS)
@given(
    text=st.text(max_size=80) | ids | xgids | lines | st.binary().map(lambda b: b.decode("latin1"))
)
@example(text="")
@example(text="\0")
@example(text="4HPwATDgc/ABM")
@example(text="4HPwATDgc/ABMAA")
@example(text="//////////////")
@example(text="XGID=")
@example(text="XGID=-b----E-C---eE---c-e----B-:0:0:1:71:0:0:0:0:10")
@example(text="XGID=-b----E-C---eE---c-e----B-:0:0:1:" + "1" * 5000 + ":0:0:0:0:10")
@example(text="backgammon " + "x9" * 5000)
@example(text="backgammon x" + "9" * 5000 + " 0/0 0/0 w - -")
@example(text="backgammon x٣,24 0/0 0/0 w - -")
@example(text="\ud800")
def test_any_text_is_a_position_or_a_format_error(reader: str, text: str) -> None:
    allowed = (nc.FormatError,)
    if reader == "Position.parse":
        allowed += (nc.PositionError,)
    with contextlib.suppress(*allowed):
        assert READERS[reader](text) is not None


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("bad", [None, 5, b"4HPwATDgc/ABMA", ["x"], 2.5])
def test_what_is_no_text_is_a_type_error(reader: str, bad: Any) -> None:
    with pytest.raises(TypeError):
        READERS[reader](bad)


REFUSALS = (nc.InvalidPlayError, nc.IllegalPlayError, nc.AmbiguousPlayError)

plays_texts = st.text(max_size=30) | st.lists(
    st.sampled_from(["8/5", "6/5", "bar", "off", "/", "*", "(2)", "24", "25/20", "0/1", "(9)", " "])
).map("".join)


@given(plays_texts, testing.rolls(), st.sampled_from(["own", "traditional", "through", "roman"]))
@example("8/5(" + "9" * 5000 + ")", (3, 1), "own")
@example("8/5²", (3, 1), "own")
@example("8/5/" * 50, (3, 1), "own")
def test_any_text_is_a_play_or_an_error_of_plays(
    text: str, roll: tuple[int, int], numbering: str
) -> None:
    with contextlib.suppress(*REFUSALS):
        assert START.play(text, dice=roll, numbering=numbering).turn == "b"


@given(testing.positions(testing.rules()), testing.rolls(), plays_texts)
def test_the_reason_of_a_refusal_can_always_be_told(
    position: nc.Position, roll: tuple[int, int], text: str
) -> None:
    plays = position.plays(roll)
    if text in plays:
        assert plays.find(text) in plays
    else:
        with pytest.raises(REFUSALS, match=r"."):
            plays.find(text)


@pytest.mark.parametrize("bad", [None, 5, b"8/5 6/5", ["8/5"], (8, 5)])
def test_a_play_is_text_or_a_play(bad: Any) -> None:
    with pytest.raises(TypeError):
        START.play(bad, dice=(3, 1))
    assert bad not in START.plays((3, 1))


# ---------------------------------------------------------------------------------------------
# The rest


@pytest.mark.parametrize("depth", [0, -1, True, 1.5, "1", None, 31, 10**30])
def test_the_depth_of_perft_is_one_or_more(depth: Any) -> None:
    for call in (START.perft, START.divide):
        with pytest.raises((TypeError, ValueError)):
            call(depth)


def test_streams_need_numbers_in_range() -> None:
    for args in ((1, -1, 5), (1, 0, -5), (1, 2**64, 5), (-1, 0, 5)):
        with pytest.raises((ValueError, OverflowError)):
            nc.dice.rolls(*args)
    for args in ((1, 1.5, 5), (1, 0, "5"), (1.5, 0, 5), (1, None, 5)):
        with pytest.raises(TypeError):
            nc.dice.rolls(*args)
    with pytest.raises(ValueError, match="game"):
        nc.dice.opening(nc.BACKGAMMON, 1, -1)


def test_natives_that_come_from_elsewhere_cannot_be_made() -> None:
    from nardcore._rollout import Evaluator

    for kind in (nc.Plays, nc.Play, Evaluator):
        with pytest.raises(TypeError):
            kind()
    for capsule in (None, 5, "x", _movegen):
        with pytest.raises(TypeError, match="Capsule"):
            Evaluator.from_capsule(capsule)


def test_an_evaluator_refuses_what_is_no_board() -> None:
    from nardcore.policies import linear_evaluator

    evaluator = linear_evaluator("short")
    for parent, after in (
        (START.board[:31], BOARDS),
        (START.board, BOARDS[:, :31]),
        (START.board, START.board),
        (BOARDS, BOARDS),
    ):
        with pytest.raises((ValueError, TypeError)):
            evaluator(parent, after)
    # numbers of checkers that no board has must not reach past the weights
    wild = np.full((1, 32), 127, np.int8)
    for boards in (wild, -wild):
        with pytest.raises((ValueError, nc.PositionError)):
            evaluator(START.board, boards)
        with pytest.raises((ValueError, nc.PositionError)):
            evaluator(boards[0], BOARDS)


def test_what_was_never_made_is_harmless() -> None:
    from nardcore._rollout import Evaluator

    empty = nc.Position.__new__(nc.Position)
    play = nc.Play.__new__(nc.Play)
    plays = nc.Plays.__new__(nc.Plays)
    evaluator = Evaluator.__new__(Evaluator)
    assert len(plays) == 0
    assert plays.boards.shape == (0, 32)
    for use in (
        lambda: empty.plays((3, 1)),
        lambda: empty.flip(),
        lambda: empty.pips,
        lambda: empty.outcome,
        lambda: empty.rules,
        lambda: hash(empty),
        lambda: empty.__eq__(START),
        lambda: START.__eq__(empty),
        lambda: nc.rollout(empty, games=1),
        lambda: play.board,
        lambda: play.result,
        lambda: play.steps,
        lambda: play.hits,
        lambda: play.dice,
        lambda: str(play),
        lambda: hash(play),
        lambda: play.__eq__(play),
        lambda: play in START.plays((3, 1)),
        lambda: plays.find("8/5"),
        lambda: plays.next_steps(),
        lambda: evaluator(START.board, BOARDS),
        lambda: nc.rollout(START, games=1, policy=evaluator),
    ):
        with pytest.raises((TypeError, AttributeError, ValueError)):
            use()
