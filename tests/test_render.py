"""Pictures of boards."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from boards import RULES, dice, ruled_boards, start_board
from hypothesis import given
from hypothesis import strategies as st

from nardcore.errors import PositionError
from nardcore.formats import parse_position
from nardcore.notation import NUMBERINGS
from nardcore.render import board_svg, board_text
from nardcore.rules import BACKGAMMON, LONG_NARDY

numberings = st.sampled_from(NUMBERINGS)
views = st.sampled_from(["mover", "white", "black"])
SVG = "{http://www.w3.org/2000/svg}"


def test_the_start_of_backgammon_looks_as_it_should():
    text = board_text(start_board(BACKGAMMON), BACKGAMMON, dice=(1, 3))
    assert (
        text
        == """\
O black   pips 167   off 0
    13 14 15 16 17 18         19 20 21 22 23 24
  ┌───────────────────┬─────┬───────────────────┐
  │  X           O    │     │  O              X │
  │  X           O    │     │  O              X │
  │  X           O    │     │  O                │
  │  X                │     │  O                │
  │  X                │     │  O                │
  │                   │ BAR │                   │
  │  O                │     │  X                │
  │  O                │     │  X                │
  │  O           X    │     │  X                │
  │  O           X    │     │  X              O │
  │  O           X    │     │  X              O │
  └───────────────────┴─────┴───────────────────┘
    12 11 10  9  8  7          6  5  4  3  2  1
X white   pips 167   off 0   to play 3-1"""
    )


def test_ascii_only_when_asked():
    text = board_text(start_board(LONG_NARDY), LONG_NARDY, numbering="roman", unicode=False)
    assert text.isascii()
    assert re.search(r"XII +XI +X +IX +VIII +VII +VI +V +IV +III +II +I\n", text)
    assert "BAR" not in text


def test_a_tall_stack_shows_its_size():
    text = board_text(start_board(LONG_NARDY), LONG_NARDY)
    assert text.count("15") == 3  # twice as a size, once as the name of a point
    assert text.count("X") == text.count("O") == 4 + 1


def test_white_keeps_its_side_of_the_table_when_black_rolls():
    board = start_board(BACKGAMMON, 1)
    mover = board_text(board, BACKGAMMON).splitlines()
    white = board_text(board, BACKGAMMON, view="white").splitlines()
    assert mover[-1].startswith("O black")
    assert mover[-1].endswith("to roll")
    assert white[-1] == "X white   pips 167   off 0"
    assert white[0].endswith("to roll")
    # The own numbers are those of the side on roll, from wherever one looks.
    assert white[1].split() == [str(n) for n in range(12, 0, -1)]
    through = board_text(board, BACKGAMMON, view="white", numbering="through").splitlines()
    assert through[1].split() == [str(n) for n in range(13, 25)]


def test_long_nardy_turns_by_half_a_board():
    board = start_board(LONG_NARDY, 1)
    rows = board_text(board, LONG_NARDY, view="white").splitlines()
    assert rows[3].rstrip(" │").endswith("X")
    assert rows[-4].lstrip(" │").startswith("O")


def test_bar_off_and_the_end_are_shown():
    parsed = parse_position("backgammon x1,o2,3,o8,2,x9,6,o1,1,x1,6 2/1 2/3 b 52 -")
    text = board_text(parsed.board, parsed.rules, dice=parsed.dice)
    assert "off 2   to play 5-2" in text
    rows = text.splitlines()
    middle = rows[8].index("BAR") + 1
    assert [row[middle] for row in rows[3:6]] == ["O", "O", " "]
    assert [row[middle] for row in rows[11:14]] == [" ", " ", "X"]
    won = np.zeros(32, dtype=np.int8)
    won[26], won[27], won[0] = 15, 14, -1
    assert board_text(won, BACKGAMMON).splitlines()[-1].endswith("has won")


@given(ruled_boards, dice, numberings, views, st.booleans())
def test_every_board_is_drawn_within_eighty_columns(ruled, thrown, numbering, view, unicode):
    text = board_text(*ruled, numbering=numbering, dice=thrown, view=view, unicode=unicode)
    lines = text.splitlines()
    assert len(lines) == 17
    assert max(map(len, lines)) <= 80
    assert len({len(line) for line in lines[2:15]}) == 1
    assert not any(line.endswith(" ") for line in lines)


@given(ruled_boards, dice, numberings, views)
def test_every_board_is_a_small_valid_svg(ruled, thrown, numbering, view):
    board, rules = ruled
    text = board_svg(board, rules, numbering=numbering, dice=thrown, view=view)
    assert len(text.encode()) < 30_000
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root[0].tag == f"{SVG}title"
    assert rules.name in root[0].text
    assert root.get("role") == "img"
    assert root.get("aria-label") == root[0].text
    assert not any("id" in element.attrib for element in root.iter())


def discs(text):
    return [e for e in ET.fromstring(text).iter(f"{SVG}circle") if e.get("r") == "18.5"]


def test_the_svg_has_a_disc_a_checker_up_to_five_a_point():
    assert len(discs(board_svg(start_board(BACKGAMMON), BACKGAMMON))) == 30
    assert len(discs(board_svg(start_board(LONG_NARDY), LONG_NARDY))) == 10


def test_nothing_of_the_svg_lies_outside_it():
    parsed = parse_position("backgammon 1,o2,4,o1,4,x1,12 7/5 7/7 w 66 -")
    root = ET.fromstring(board_svg(parsed.board, parsed.rules, dice=parsed.dice))
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter():
        x = float(element.get("cx", element.get("x", 0)))
        y = float(element.get("cy", element.get("y", 0)))
        assert 0 <= x <= width
        assert 0 <= y <= height


def test_the_size_is_the_width_in_pixels():
    root = ET.fromstring(board_svg(start_board(BACKGAMMON), BACKGAMMON, size=300))
    assert root.get("width") == "300"
    with pytest.raises(ValueError, match="pixel"):
        board_svg(start_board(BACKGAMMON), BACKGAMMON, size=0)


@pytest.mark.parametrize("draw", [board_text, board_svg])
def test_impossible_boards_and_arguments_are_refused(draw):
    board = start_board(BACKGAMMON)
    for wrong in ({"numbering": "greek"}, {"view": "north"}, {"dice": (0, 1)}):
        with pytest.raises(ValueError, match=r"numbering|view|die"):
            draw(board, BACKGAMMON, **wrong)
    board[5] = 6
    with pytest.raises(PositionError, match="16 checkers"):
        draw(board, BACKGAMMON)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
def test_pips_are_those_of_the_start(rules):
    pips = sum(point * count for point, count in rules.start)
    text = board_text(start_board(rules), rules)
    assert re.findall(r"pips (\d+)", text) == [str(pips)] * 2


@pytest.mark.parametrize("view", ["mover", "white", "black"])
@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("rules", [BACKGAMMON, LONG_NARDY], ids=lambda rules: rules.name)
def test_the_dark_points_are_the_odd_through_numbers(rules, turn, view):
    text = board_svg(start_board(rules, turn), rules, view=view, numbering="through")
    root = ET.fromstring(text)
    light, dark = (path.get("d") for path in root.findall(f"{SVG}path")[-2:])
    edges = {True: "30", False: "456"}
    for element in root.iter(f"{SVG}text"):
        y = float(element.get("y"))
        on_frame = not 30 < y < 456
        if on_frame and element.get("font-weight") is None:  # pips and checkers off are bold
            left = float(element.get("x")) - 18.5
            place = f"M{left:g} {edges[y < 200]}h"
            assert (place in dark) is not (place in light)
            assert (place in dark) is (int(element.text) % 2 == 1)
