"""Names of points, written plays and dice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nardcore.errors import InvalidPlayError
from nardcore.notation import (
    NUMBERINGS,
    as_dice,
    format_dice,
    format_play,
    parse_dice,
    parse_play,
    parse_point,
    point_name,
)
from nardcore.rules import BACKGAMMON, LONG_NARDY

CASES = json.loads((Path(__file__).parent / "data" / "reported.json").read_text("utf-8"))["cases"]
SIDES = [(rules, turn) for rules in (BACKGAMMON, LONG_NARDY) for turn in "wb"]


def hops(*triples):
    return tuple((source, target, False) for source, target in triples)


# ---------------------------------------------------------------------------------------- points


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize(("rules", "turn"), SIDES)
def test_every_name_of_a_point_reads_back(rules, turn, numbering):
    names = [point_name(point, rules, turn, numbering) for point in range(26)]
    assert [parse_point(name, rules, turn, numbering) for name in names] == list(range(26))
    assert len(set(names)) == 26


def test_the_traditional_names_run_along_whites_route():
    names = [point_name(point, BACKGAMMON, "w", "traditional") for point in range(24, 0, -1)]
    assert names == [*(f"0{k}" for k in range(1, 13)), *(str(k) for k in range(12, 0, -1))]


def test_the_roman_names_of_long_nardy_are_those_of_its_source():
    """White goes I - XII - 12 - 1 from its head on I; black 12 - 1 - I - XII from its own on 12."""
    assert point_name(24, LONG_NARDY, "w", "roman") == "I"
    assert point_name(6, LONG_NARDY, "w", "roman") == "6"
    black = [point_name(point, LONG_NARDY, "b", "roman") for point in (24, 13, 12, 6, 1)]
    assert black == ["12", "1", "I", "VII", "XII"]


def test_black_of_short_nardy_counts_back_from_25():
    assert point_name(24, BACKGAMMON, "b", "through") == "1"
    assert point_name(1, BACKGAMMON, "b", "traditional") == "01"
    assert parse_point("01", BACKGAMMON, "b", "traditional") == 1


def test_dark_points_are_the_odd_through_numbers():
    dark = ["1", "3", "5", "7", "9", "11", "012", "010", "08", "06", "04", "02"]
    own = [parse_point(name, BACKGAMMON, "w", "traditional") for name in dark]
    through = [int(point_name(point, BACKGAMMON, "w", "through")) for point in own]
    assert through == list(range(1, 25, 2))


@pytest.mark.parametrize(
    ("text", "numbering"),
    [
        ("26", "own"), ("08", "own"), ("13", "traditional"), ("013", "traditional"),
        ("00", "traditional"), ("13", "roman"), ("XIII", "roman"), ("IIII", "roman"),
        ("XX", "own"), ("-1", "own"), ("٣", "own"), ("9" * 5000, "own"), ("", "own"),
    ],
)  # fmt: skip
def test_what_names_no_point_is_refused(text, numbering):
    with pytest.raises(InvalidPlayError, match="names no point"):
        parse_point(text, numbering=numbering)


def test_arguments_out_of_range_are_refused():
    for point in (-1, 26):
        with pytest.raises(ValueError, match="no point"):
            point_name(point)
    with pytest.raises(TypeError):
        point_name(3.0)
    with pytest.raises(ValueError, match="numbering"):
        point_name(3, numbering="greek")
    with pytest.raises(ValueError, match="side"):
        point_name(3, turn="x")
    with pytest.raises(TypeError, match="rules="):
        point_name(3, turn="b", numbering="through")
    assert point_name(3, turn="b") == "3"


# ----------------------------------------------------------------------------------------- plays


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (hops((6, 5), (8, 5)), "8/5 6/5"),
        (hops((25, 20)), "bar/20"),
        (hops((6, 0)), "6/off"),
        (hops((13, 7), (7, 3)), "13/7/3"),
        (hops((7, 3), (13, 7)), "13/7/3"),
        (hops((8, 7), (8, 7)), "8/7(2)"),
        (hops((13, 10), (13, 10), (10, 7), (10, 7)), "13/10/7(2)"),
        (hops((13, 10), (10, 7), (13, 10)), "13/10/7 13/10"),
        (((8, 5, True),), "8/5*"),
        (((8, 5, True), (8, 5, False)), "8/5*(2)"),
        (((6, 5, True), (8, 5, False)), "8/5* 6/5"),
        (((24, 21, True), (21, 16, True)), "24/21*/16*"),
        (hops((24, 13)), "24/13"),
        ((), "pass"),
    ],
)
def test_a_play_is_written_as_on_the_rules_page(steps, text):
    assert format_play(steps) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8/5 6/5", hops((8, 5), (6, 5))),
        ("6/5 8/5", hops((6, 5), (8, 5))),
        ("6/5,8/5", hops((6, 5), (8, 5))),
        ("  6 / 5 ; 8/5 ", hops((6, 5), (8, 5))),
        ("13/7/3", hops((13, 7), (7, 3))),
        ("13/7 7/3", hops((13, 7), (7, 3))),
        ("24/13", hops((24, 13))),
        ("BAR/20 6/Off", hops((25, 20), (6, 0))),
        ("25/20 6/0", hops((25, 20), (6, 0))),
        ("b/20 6/o", hops((25, 20), (6, 0))),
        ("8/7(2)", hops((8, 7), (8, 7))),
        ("8/7 ( 2 )", hops((8, 7), (8, 7))),
        ("13/10/7(2)", hops((13, 10), (10, 7)) * 2),
        ("8/5*", ((8, 5, True),)),
        ("8/5*(2)", ((8, 5, True), (8, 5, False))),
        ("8/5(2)*", ((8, 5, True), (8, 5, False))),
        ("8/5*/3*", ((8, 5, True), (5, 3, True))),
        ("8/5*6/5", ((8, 5, True), (6, 5, False))),
        ("1/off(3)", hops((1, 0)) * 3),
    ],
)
def test_a_play_is_read_in_every_usual_spelling(text, expected):
    assert parse_play(text) == expected


@pytest.mark.parametrize(
    "text", ["", "  ", "-", "pass", "PASS", "cannot move", "Cannot  Move", "(no play)"]
)
def test_a_pass_has_no_hops(text):
    assert parse_play(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "8", "8/", "/5", "8//5", "8/5/", "5/8", "5/5", "off/5", "8/bar", "26/20", "0/5", "8-5",
        "8*/5", "8/5(0)", "8/5(5)", "8/5(2", "8/5()", "8/5 x", "hello", "8/5(3) 6/5(2)", "1/-1",
        "8,/5", "8/5 pass", "\u0668/\u0665", "8/5\x00", "8/7/6/5/4/3", "8/5()(2)", "8/5**",
        "8/5*(2)*", "3-1: 8/5 6/5", "bar", "(((", "8" * 5000, "8/5 " * 5000,
    ],
)  # fmt: skip
def test_what_is_no_play_is_refused_with_the_place(text):
    with pytest.raises(InvalidPlayError, match=r"is not a play: .* at character \d+") as caught:
        parse_play(text)
    assert len(str(caught.value)) < 300


def test_the_message_points_at_the_fault():
    with pytest.raises(InvalidPlayError, match=r"'8/5 6/x' .* expected 1 to 24.* at character 7"):
        parse_play("8/5 6/x")


def test_a_play_that_is_no_text_is_a_type_error():
    with pytest.raises(TypeError):
        parse_play(b"8/5")


@pytest.mark.parametrize("step", [(5, 8, False), (5, 5, False), (26, 20, False), (3, -1, False)])
def test_a_step_that_leads_nowhere_is_not_written(step):
    with pytest.raises(InvalidPlayError):
        format_play([step])


@pytest.mark.parametrize(
    ("rules", "turn", "numbering", "text"),
    [
        (BACKGAMMON, "w", "traditional", "01/04* 6/off"),
        (BACKGAMMON, "w", "through", "24/21* 6/off"),
        (BACKGAMMON, "w", "roman", "I/IV* 6/off"),
        (BACKGAMMON, "b", "traditional", "1/4* 06/off"),
        (BACKGAMMON, "b", "through", "1/4* 19/off"),
        (BACKGAMMON, "b", "roman", "1/4* VI/off"),
        (LONG_NARDY, "b", "traditional", "12/9* 07/off"),
        (LONG_NARDY, "b", "through", "12/9* 18/off"),
        (LONG_NARDY, "b", "roman", "12/9* VII/off"),
    ],
)
def test_a_play_is_written_and_read_in_every_numbering(rules, turn, numbering, text):
    steps = ((24, 21, True), (6, 0, False))
    assert format_play(steps, numbering=numbering, rules=rules, turn=turn) == text
    assert parse_play(text, numbering=numbering, rules=rules, turn=turn) == steps
    assert parse_play(text.lower(), numbering=numbering, rules=rules, turn=turn) == steps


REPORTED = [play for case in CASES for play in case.get("plays", ())]


def test_reported_plays_are_read_and_written_as_given():
    assert len(REPORTED) > 50
    for play in REPORTED:
        read = parse_play(play["notation"])
        assert [[hop.source, hop.target] for hop in read] == play["steps"]
        if read:
            assert format_play(read) == play["notation"]


steps = st.integers(1, 25).flatmap(
    lambda source: st.tuples(st.just(source), st.integers(max(0, source - 6), min(24, source - 1)))
)


@given(
    st.lists(steps, max_size=4), st.sampled_from(SIDES), st.sampled_from(NUMBERINGS), st.randoms()
)
def test_written_plays_read_back_whatever_the_order_of_the_steps(plain, side, numbering, random):
    rules, turn = side
    style = {"numbering": numbering, "rules": rules, "turn": turn}
    played = [(*step, step[1] % 3 == 0) for step in plain]
    text = format_play(played, **style)
    read = parse_play(text, **style)
    assert Counter((hop.source, hop.target) for hop in read) == Counter(plain)
    marked = [hop.target for hop in read if hop.hit]
    assert sorted(marked) == sorted({target for _, target, hit in played if hit})
    assert format_play(read, **style) == text
    random.shuffle(played)
    assert format_play(played, **style) == text


@given(
    st.text() | st.text("0123456789/*(),; barofBOxXiIvV-"),
    st.sampled_from(SIDES),
    st.sampled_from(NUMBERINGS),
)
def test_no_text_crashes_the_reader(text, side, numbering):
    style = {"numbering": numbering, "rules": side[0], "turn": side[1]}
    try:
        read = parse_play(text, **style)
    except InvalidPlayError:
        return
    assert parse_play(format_play(read, **style), **style) is not None


# ------------------------------------------------------------------------------------------ dice


def test_dice_are_written_larger_first():
    assert format_dice((3, 5)) == format_dice([5, 3]) == "5-3"
    assert format_dice((4, 4)) == "4-4"


@pytest.mark.parametrize("text", ["53", "35", "5-3", "3-5", " 5 3 ", "5,3", "5 - 3", "3:5"])
def test_dice_are_read_in_any_order(text):
    assert parse_dice(text) == (5, 3)


@pytest.mark.parametrize("text", ["", "5", "07", "70", "5-7", "553", "a", "5--3", "5.0"])
def test_impossible_dice_are_refused(text):
    with pytest.raises(ValueError, match="roll"):
        parse_dice(text)


@pytest.mark.parametrize("dice", [(3.0, 1), ("3", "1"), "31", (3,), (3, 1, 1), (True, 1)])
def test_dice_of_a_wrong_kind_are_type_errors(dice):
    with pytest.raises(TypeError):
        as_dice(dice)


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (1, -1)])
def test_dice_out_of_range_are_value_errors(dice):
    with pytest.raises(ValueError, match="1 to 6"):
        as_dice(dice)
