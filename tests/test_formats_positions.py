"""Positions as text: the own form, position IDs, XGIDs, and the faults of a board."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from boards import RULES, case_board, dice, ruled_boards, start_board
from hypothesis import assume, given
from hypothesis import strategies as st

from nardcore._faults import as_board, board_faults, check_board
from nardcore.errors import FormatError, PositionError
from nardcore.formats import (
    parse_position,
    parse_position_id,
    parse_position_text,
    parse_xgid,
    position_id,
    position_text,
    xgid,
)
from nardcore.rules import BACKGAMMON, HYPERGAMMON, LONG_NARDY, NACKGAMMON, Rules

CASES = json.loads((Path(__file__).parent / "data" / "reported.json").read_text("utf-8"))["cases"]
START_ID = "4HPwATDgc/ABMA"


def same(parsed, board, rules, thrown=None):
    assert parsed.board.dtype == np.int8
    assert not parsed.board.flags.writeable
    assert parsed.board.tolist() == board.tolist()
    assert parsed.rules == rules
    assert parsed.dice == thrown
    return True


# ---------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
def test_the_start_has_no_fault(rules):
    assert board_faults(start_board(rules), rules) == ()


@given(ruled_boards)
def test_a_possible_board_has_no_fault(ruled):
    assert board_faults(*ruled) == ()


def broken(rules=BACKGAMMON, **changes):
    board = start_board(rules).astype(int)
    for place, value in changes.items():
        board[int(place[1:])] = value
    return board


@pytest.mark.parametrize(
    ("board", "rules", "words"),
    [
        (broken(_5=6), BACKGAMMON, ["the mover has 16 checkers, not 15"]),
        (broken(_0=-1), BACKGAMMON, ["the opponent has 14 checkers, not 15"]),
        (broken(_24=-1), BACKGAMMON, ["the mover has -1 checkers on the bar"]),
        (broken(_27=-2), BACKGAMMON, ["the opponent has -2 checkers off"]),
        (broken(_28=2), BACKGAMMON, ["the turn is 2"]),
        (broken(_29=1), BACKGAMMON, ["no first-turn flags"]),
        (broken(_30=1), BACKGAMMON, ["reserved bytes are 1 and 0"]),
        (broken(LONG_NARDY, _29=4), LONG_NARDY, ["only the two first-turn flags"]),
        (broken(LONG_NARDY, _29=-1), LONG_NARDY, ["only the two first-turn flags"]),
        (broken(LONG_NARDY, _23=14, _24=1), LONG_NARDY, ["long nardy has no bar"]),
        (broken(_24=1, _28=-1, _31=9), BACKGAMMON, ["16 checkers", "turn is -1", "reserved"]),
    ],
)
def test_every_fault_is_named(board, rules, words):
    faults = board_faults(board, rules)
    assert len(faults) == len(words)
    for fault, word in zip(faults, words, strict=True):
        assert word in fault
    with pytest.raises(PositionError) as caught:
        check_board(board, rules)
    assert caught.value.faults == faults


def test_a_finished_game_is_possible_but_not_two_winners():
    board = np.zeros(32, dtype=np.int8)
    board[26], board[27], board[0] = 15, 14, -1
    assert board_faults(board, BACKGAMMON) == ()
    board[27], board[0] = 15, 0
    assert board_faults(board, BACKGAMMON) == ("both sides have borne off every checker",)


@pytest.mark.parametrize(
    "board",
    [[0.0] * 32, ["0"] * 32, "0" * 32, [None] * 32, [True] * 32, np.zeros(32, dtype=np.float32)],
)
def test_a_board_of_no_whole_numbers_is_a_type_error(board):
    with pytest.raises(TypeError, match="whole numbers"):
        as_board(board)


@pytest.mark.parametrize(
    "board",
    [[0] * 31, [[0] * 32], [[0], [0, 1]], [300] + [0] * 31, [-129] + [0] * 31, 0],
)
def test_a_board_of_another_shape_or_range_is_refused(board):
    with pytest.raises(PositionError):
        as_board(board)


def test_a_board_of_any_integer_type_and_layout_is_taken():
    board = start_board(BACKGAMMON)
    assert as_board(board) is board
    for kind in (np.int16, np.int64):
        assert as_board(board.astype(kind)).tolist() == board.tolist()
    strided = np.repeat(board, 2)[::2]
    assert as_board(strided).flags.c_contiguous
    assert as_board(np.zeros(32, dtype=np.uint64)).dtype == np.int8


# -------------------------------------------------------------------------------------- own form


def test_the_start_of_long_nardy_is_written_as_documented():
    text = "long_nardy x15,11,o15,11 0/0 0/0 w 31 xo"
    board = start_board(LONG_NARDY)
    assert position_text(board, LONG_NARDY, (3, 1)) == text
    assert same(parse_position_text(text), board, LONG_NARDY, (3, 1))


def test_a_single_checker_is_written_with_its_count_and_read_without():
    text = "hypergammon x1,x1,x1,18,o1,o1,o1 0/0 0/0 b - -"
    assert position_text(start_board(HYPERGAMMON, 1), HYPERGAMMON) == text
    short = "hypergammon  x,x,x,9,9,o,o,o\t0/0 0/0 b - -\n"
    assert same(parse_position_text(short), start_board(HYPERGAMMON, 1), HYPERGAMMON)


@given(ruled_boards, dice)
def test_the_own_form_reads_back_exactly(ruled, thrown):
    board, rules = ruled
    text = position_text(board, rules, thrown)
    assert same(parse_position_text(text), board, rules, thrown)
    assert same(parse_position(f"\n {text} "), board, rules, thrown)
    parsed = parse_position(text)
    assert position_text(parsed.board, parsed.rules, parsed.dice) == text
    assert len(text.split(" ")) == 7


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("long_nardi x15,11,o15,11 0/0 0/0 w 31 xo", 1, "unknown rules"),
        ("long_nardy+block=x x15,11,o15,11 0/0 0/0 w 31 xo", 1, "block"),
        ("long_nardy x15,11,o15,10 0/0 0/0 w 31 xo", 12, "24 points, not 23"),
        ("long_nardy x15,11,o15,12 0/0 0/0 w 31 xo", 23, "more than 24"),
        ("long_nardy x15,11,z15,11 0/0 0/0 w 31 xo", 19, "'z15'"),
        ("long_nardy x15,,11,o15,11 0/0 0/0 w 31 xo", 16, "expected x or o"),
        ("long_nardy x0,11,o15,11 0/0 0/0 w 31 xo", 12, "1 checker or more"),
        ("long_nardy x999,11,o15,11 0/0 0/0 w 31 xo", 12, "up to 127"),
        ("long_nardy x15,11,o15,11 0-0 0/0 w 31 xo", 26, "bars"),
        ("long_nardy x15,11,o15,11 0/0 0/200 w 31 xo", 30, "127"),
        ("long_nardy x15,11,o15,11 0/0 0/0 W 31 xo", 34, "w or b"),
        ("long_nardy x15,11,o15,11 0/0 0/0 w 37 xo", 36, "two dice"),
        ("long_nardy x15,11,o15,11 0/0 0/0 w 31 ox", 39, "first turn"),
        ("long_nardy x15,11,o15,11 0/0 0/0 w 31", 38, "7 fields"),
        ("long_nardy x15,11,o15,11 0/0 0/0 w 31 xo x", 42, "7 fields"),
        ("long_nardy x14,11,o15,11 0/0 0/0 w 31 xo", 1, "14 checkers, not 15"),
        ("long_nardy x14,11,o15,11 1/0 0/0 w 31 xo", 1, "no bar"),
        ("backgammon 24 0/0 15/15 w - -", 1, "both sides"),
        ("backgammon x15,22,o15 0/0 0/0 w - x", 1, "no first-turn flags"),
    ],
)
def test_a_malformed_own_form_says_where_and_what(text, column, words):
    with pytest.raises(FormatError, match=words) as caught:
        parse_position(text)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_the_line_of_a_fault_is_counted():
    with pytest.raises(FormatError) as caught:
        parse_position("\nlong_nardy x15,11,o15,11\n 0/0 0/0 w 99 xo")
    assert (caught.value.line, caught.value.column) == (3, 12)


def test_an_impossible_board_is_not_written():
    for write in (position_text, position_id, xgid):
        with pytest.raises(PositionError, match="16 checkers"):
            write(broken(_5=6), BACKGAMMON)


@pytest.mark.parametrize("write", [position_text, xgid])
def test_impossible_dice_are_not_written(write):
    board = start_board(BACKGAMMON)
    with pytest.raises(ValueError, match="1 to 6"):
        write(board, BACKGAMMON, (7, 1))
    with pytest.raises(TypeError):
        write(board, BACKGAMMON, (3.0, 1))


# ------------------------------------------------------------------------------------ position ID


def test_the_start_has_its_well_known_id():
    assert position_id(start_board(BACKGAMMON), BACKGAMMON) == START_ID
    assert same(parse_position_id(START_ID), start_board(BACKGAMMON), BACKGAMMON)
    assert same(parse_position_id(START_ID, turn="b"), start_board(BACKGAMMON, 1), BACKGAMMON)


IDS = [case for case in CASES if "position_id" in case and "board" in case]


@pytest.mark.parametrize("case", IDS, ids=lambda case: case["id"])
def test_reported_position_ids_read_and_write(case):
    board = case_board(case["board"])
    assert position_id(board, BACKGAMMON) == case["position_id"]
    assert same(parse_position_id(case["position_id"]), board, BACKGAMMON)
    assert same(parse_position(case["position_id"]), board, BACKGAMMON)


@given(ruled_boards)
def test_position_ids_read_back(ruled):
    board, rules = ruled
    assume(rules.movement == "short")
    text = position_id(board, rules)
    assert len(text) == 14
    assert same(parse_position_id(text, rules, turn="wb"[board[28]]), board, rules)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4HPwATDgc/ABM", "14 characters"),
        ("4HPwATDgc/ABMAA", "14 characters"),
        ("4HPwATDgc/AB*A", "base64"),
        ("4HPwATDgc/ABé4", "base64"),
        ("4HPwATDgc/ABMB", "left over"),
        ("4HPwATDgc/ABMI", "left over"),
        ("//////////////", "more than 15 checkers"),
        ("AAAAAAAAAAAAAA", "both sides have borne off"),
        ("4HPwATDgc/AB==", "no position ID"),
    ],
)
def test_a_malformed_position_id_is_refused(text, words):
    with pytest.raises(FormatError, match=words):
        parse_position_id(text)


def test_both_sides_on_one_point_is_a_format_error():
    # One checker of each side on the mover's 24, which is the opponent's 1.
    bits = 1 | 1 << (26 + 23)
    text = base64.b64encode(bits.to_bytes(10, "little")).decode().rstrip("=")
    with pytest.raises(FormatError, match="both sides have checkers on point 24"):
        parse_position_id(text)


def test_more_checkers_than_the_rules_have_is_a_format_error():
    with pytest.raises(FormatError, match="15 checkers; hypergammon has 3"):
        parse_position_id(START_ID, HYPERGAMMON)


def test_a_pasted_match_id_is_explained():
    with pytest.raises(FormatError, match="match ID"):
        parse_position("4HPwATDgc/ABMA:cAkgAVAAAAAE")


# ------------------------------------------------------------------------------------------- XGID

XGIDS = [case for case in CASES if "xgid" in case]


@pytest.mark.parametrize("case", XGIDS, ids=lambda case: case["id"])
def test_reported_xgids_agree_with_their_boards_and_ids(case):
    parsed = parse_xgid(case["xgid"])
    letters = case["xgid"].removeprefix("XGID=").split(":")[0]
    thrown = tuple(case["dice"]) if "dice" in case else None
    if case["id"] == "text-decimal-comma":
        thrown = (2, 1)
    board = case_board(case["board"])
    assert same(parsed, board, BACKGAMMON, thrown)
    assert same(parse_position(case["xgid"]), board, BACKGAMMON, thrown)
    assert same(parse_position(letters), board, BACKGAMMON)
    assert position_id(parsed.board, parsed.rules) == case["position_id"]
    assert xgid(parsed.board, parsed.rules).split(":")[0] == f"XGID={letters}"


def test_black_on_roll_is_the_lower_case_side():
    text = xgid(start_board(BACKGAMMON, 1), BACKGAMMON, (6, 5))
    assert text == "XGID=-b----E-C---eE---c-e----B-:0:0:-1:65:0:0:0:0:10"
    # White has entered nothing yet: X on the bar, O to play.
    parsed = parse_xgid("XGID=-b----E-C---eE---c-e----AA:0:0:-1:00:0:0:0:0:10")
    assert parsed.board[24:29].tolist() == [0, 1, 0, 0, 1]
    assert parsed.board[0] == -1
    assert xgid(parsed.board, parsed.rules).split(":")[0].endswith("AA")


@given(ruled_boards, dice)
def test_xgids_read_back(ruled, thrown):
    board, rules = ruled
    assume(rules.movement == "short")
    text = xgid(board, rules, thrown)
    assert same(parse_xgid(text, rules), board, rules, thrown)
    assert same(parse_position(text.lower()[:5] + text[5:], rules), board, rules, thrown)


@pytest.mark.parametrize("state", ["00", "D", "B", "R"])
def test_states_of_the_cube_are_no_dice(state):
    assert parse_xgid(f"-b----E-C---eE---c-e----B-:1:-1:1:{state}:1:2:0:5:10").dice is None


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("XGID=", 6, "26 characters"),
        ("XGID=-b----E-C---eE---c-e----B", 6, "26 characters"),
        ("XGID=Ab----E-C---eE---c-e----B-", 6, "a to p"),
        ("XGID=-b----E-C---eE---c-e----Ba", 31, "A to P"),
        ("XGID=-b--?-E-C---eE---c-e----B-", 10, "'\\?'"),
        ("XGID=-b----E-C---eE---c-e----B-:x", 33, "cube"),
        ("XGID=-b----E-C---eE---c-e----B-:0:2", 35, "cube owner"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:0", 37, "turn"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:07", 39, "dice"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10:1", 53, "10 fields"),
        ("XGID=-b----F-C---eE---c-e----B-", 6, "the mover has 16 checkers; backgammon has 15"),
        ("-b----P-C---eE---c-e----B-", 1, "checkers"),
    ],
)
def test_a_malformed_xgid_says_where_and_what(text, column, words):
    with pytest.raises(FormatError, match=words) as caught:
        parse_position(text)
    assert (caught.value.line, caught.value.column) == (1, column)


# -------------------------------------------------------------------------------- rules and fuzz


def test_checkers_off_follow_from_the_rules():
    parsed = parse_xgid("XGID=" + "-A" + "-" * 22 + "a-", HYPERGAMMON)
    assert parsed.board[26:28].tolist() == [2, 2]
    assert parse_xgid("XGID=" + "-A" + "-" * 22 + "a-").board[26:28].tolist() == [14, 14]
    assert parse_position(START_ID, NACKGAMMON).rules == NACKGAMMON


@pytest.mark.parametrize("write", [position_id, xgid])
def test_long_nardy_has_no_foreign_form(write):
    with pytest.raises(FormatError, match="long nardy"):
        write(start_board(LONG_NARDY), LONG_NARDY)
    for read in (parse_position_id, parse_xgid, parse_position):
        with pytest.raises(FormatError, match="long nardy"):
            read(START_ID, LONG_NARDY)


def test_the_own_form_names_its_rules_whatever_is_given():
    text = position_text(start_board(LONG_NARDY), LONG_NARDY)
    assert parse_position(text, BACKGAMMON).rules == LONG_NARDY


@pytest.mark.parametrize(
    "read", [parse_position, parse_position_id, parse_position_text, parse_xgid]
)
def test_what_is_no_text_is_a_type_error(read):
    for value in (None, 3, b"4HPwATDgc/ABMA"):
        with pytest.raises(TypeError, match="expected text"):
            read(value)


def test_a_format_error_survives_pickling():
    with pytest.raises(FormatError) as caught:
        parse_position("nothing")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.line, copy.column) == (str(caught.value), 1, 1)


NEARLY = [
    "long_nardy x15,11,o15,11 0/0 0/0 w 31 xo",
    "backgammon x2,4,o5,1,o3,3,x5,o5,3,x3,1,x5,4,o2 0/0 0/0 b 65 -",
    START_ID,
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
]


@st.composite
def spoiled(draw):
    """A well-formed text with a piece cut out or put in."""
    text = draw(st.sampled_from(NEARLY))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 3)))
    return (
        text[:start] + draw(st.text(max_size=3) | st.text("xo019/, -:A", max_size=3)) + text[end:]
    )


@given(st.text() | spoiled(), st.sampled_from([None, *RULES]))
def test_no_text_raises_anything_but_a_format_error(text, rules):
    for read in (parse_position, parse_position_id, parse_position_text, parse_xgid):
        failure = None
        try:
            if read is parse_position_text:
                parsed = read(text)
            else:
                parsed = read(text, BACKGAMMON if rules is None else rules)
        except FormatError as error:
            failure = error
        if failure is None:
            assert board_faults(parsed.board, parsed.rules) == ()
        else:
            assert failure.line >= 1
            assert failure.column >= 1
            assert len(str(failure)) < 2000


def test_rules_with_their_own_start_are_written_and_read():
    rules = Rules.parse("short_nardy+start=24:2,23:2,13:4,8:3,6:4")
    board = start_board(rules)
    assert same(parse_position(position_text(board, rules)), board, rules)
