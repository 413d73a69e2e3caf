"""Positions as values: making, equality, hashing, pickling, buffers; and lists of plays."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import nardcore as nc
from nardcore import testing

any_position = testing.positions(testing.rules(), finished=True)


def test_the_start_is_that_of_the_rules() -> None:
    for name, rules in nc.PRESETS.items():
        start = nc.Position.start(rules)
        assert start.rules == rules
        assert start == start.flip(), name
        assert start.turn == "w"
        assert start.bar == start.off == (0, 0)
        for point, count in rules.start:
            assert start.points[point - 1] == count
        assert start.first_turns == ((rules.movement == "long"),) * 2


@given(any_position)
def test_every_way_to_make_a_position_gives_the_same(position: nc.Position) -> None:
    rules = position.rules
    assert nc.Position.from_board(position.board, rules) == position
    assert nc.Position.from_board(position.board.astype(np.int64), rules) == position
    assert nc.Position.from_board(position.board.tolist(), rules) == position
    more = {"turn": position.turn, "first_turns": position.first_turns, "rules": rules}
    again = nc.Position.from_points(position.points, bar=position.bar, off=position.off, **more)
    assert bytes(again) == bytes(position)
    sides: list[dict[int | str, int]] = []
    for view, bar, off in (
        (position, position.bar[0], position.off[0]),
        (position.flip(), position.bar[1], position.off[1]),
    ):
        side: dict[int | str, int] = {i + 1: n for i, n in enumerate(view.points) if n > 0}
        sides.append({**side, "bar": bar, "off": off})
    assert bytes(nc.Position(*sides, **more)) == bytes(position)


@given(any_position)
def test_a_position_survives_text_pickle_and_copy(position: nc.Position) -> None:
    for other in (
        nc.Position.parse(position.text()),
        pickle.loads(pickle.dumps(position)),
        copy.copy(position),
        copy.deepcopy(position),
    ):
        assert other == position
        assert hash(other) == hash(position)
        assert bytes(other) == bytes(position)
        assert other.rules == position.rules
    assert eval(repr(position), {"Position": nc.Position}) == position


def test_equality_looks_at_movement_and_bytes_but_not_at_the_colour_on_roll() -> None:
    white, black = (nc.Position({6: 2}, {6: 2}, turn=turn) for turn in ("w", "b"))
    assert white == black
    assert hash(white) == hash(black)
    assert len({white, black}) == 1
    # scoring and stakes do not make another position, but the movement does
    assert nc.Position.start(nc.BACKGAMMON) == nc.Position.start(nc.TRIKTRAK_UA)
    assert nc.Position.start(nc.BACKGAMMON) != nc.Position.start(nc.SHORT_NARDY)
    assert nc.Position.start(nc.BACKGAMMON) != nc.Position.start(nc.LONG_NARDY)
    assert white != nc.Position({6: 2}, {5: 2})
    assert white != "position"
    first, later = (
        nc.Position({24: 15}, {24: 15}, rules=nc.LONG_NARDY, first_turns=turns)
        for turns in ((True, True), (True, False))
    )
    assert first != later


def test_a_position_cannot_be_changed() -> None:
    position = nc.Position.start()
    for name in ("board", "points", "bar", "off", "turn", "rules", "other"):
        with pytest.raises(AttributeError):
            setattr(position, name, 1)
    with pytest.raises(ValueError, match="read-only"):
        position.board[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        position.plays((3, 1)).boards[0, 0] = 1
    assert memoryview(position).readonly
    array = np.array(position)
    array[0] = 99
    assert position == nc.Position.start()


def test_arrays_and_buffers_show_the_32_bytes() -> None:
    position = nc.Position({24: 1, "bar": 1}, {2: 2}, turn="b")
    assert bytes(memoryview(position)) == bytes(position) == position.board.tobytes()
    assert np.asarray(position).dtype == np.int8
    named = position.board.view(nc.POSITION_DTYPE)[0]
    assert tuple(named["points"].tolist()) == position.points
    assert tuple(named["bar"].tolist()) == position.bar == (1, 0)
    assert tuple(named["off"].tolist()) == position.off == (13, 13)
    assert int(named["turn"]) == 1
    many = np.stack([position, position.flip()])
    assert (nc.batch.flip(many)[::-1] == many).all()


def test_missing_checkers_are_off_unless_given() -> None:
    assert nc.Position({6: 2}, {1: 15}).off == (13, 0)
    assert nc.Position({6: 2, "off": 13}, {1: 15}).off == (13, 0)
    with pytest.raises(nc.PositionError, match="the mover has 3 checkers, not 15"):
        nc.Position({6: 2, "off": 1}, {1: 15})


def test_every_fault_is_told_at_once() -> None:
    board = nc.Position.start().board.copy()
    board[0] = 5
    board[24] = -1
    board[28] = 7
    board[31] = 1
    with pytest.raises(nc.PositionError) as caught:
        nc.Position.from_board(board)
    assert len(caught.value.faults) >= 4


def test_first_turns_are_to_come_where_all_stand_on_the_head_unless_given() -> None:
    def flags(*args: dict[int, int], **more: object) -> tuple[bool, bool]:
        return nc.Position(*args, rules=nc.LONG_NARDY, **more).first_turns

    assert flags({24: 15}, {24: 15}) == (True, True)
    assert flags({24: 14, 20: 1}, {24: 15}) == (False, True)
    assert flags({24: 14}, {24: 15}) == (False, True)  # one is off
    assert flags({24: 15}, {24: 15}, first_turns=(False, True)) == (False, True)
    assert nc.Position({24: 15}, {24: 15}).first_turns == (False, False)


def test_rules_change_only_where_the_position_is_possible() -> None:
    start = nc.Position.start()
    other = start.with_rules(nc.SHORT_NARDY)
    assert other.rules == nc.SHORT_NARDY
    assert other.points == start.points
    with pytest.raises(nc.PositionError):
        start.with_rules(nc.HYPERGAMMON)
    with pytest.raises(nc.PositionError):
        nc.Position({"bar": 1}, {1: 1}).with_rules(nc.LONG_NARDY)


@given(any_position)
def test_pips_count_25_for_the_bar_and_nothing_for_off(position: nc.Position) -> None:
    mine = sum((i + 1) * n for i, n in enumerate(position.points) if n > 0)
    theirs = sum((i + 1) * n for i, n in enumerate(position.flip().points) if n > 0)
    assert position.pips == (mine + 25 * position.bar[0], theirs + 25 * position.bar[1])


@given(testing.games(testing.rules(), max_plies=25))
def test_the_turns_of_a_game_lead_from_one_position_to_the_next(turns: tuple[nc.Turn, ...]) -> None:
    for turn, after in pairwise(turns):
        assert turn.play.result == after.position
        assert turn.play.result.turn != turn.position.turn
        assert turn.play in turn.position.plays(turn.dice)
        assert turn.position.play(str(turn.play), dice=turn.dice) == after.position


# ---------------------------------------------------------------------------------------------
# Plays


def test_plays_are_a_sequence() -> None:
    plays = nc.Position.start().plays((3, 1))
    assert len(plays) == len(list(plays)) == 16
    assert plays[-1] == plays[15]
    assert list(plays[2:6:2]) == [plays[2], plays[4]]
    assert len(plays[20:]) == 0
    assert [str(play) for play in plays[::-1]] == [str(play) for play in plays][::-1]
    assert plays.dice == nc.Position.start().plays((1, 3)).dice == (3, 1)
    assert plays[3] in plays
    assert "8/5 6/5" in plays
    assert "8/5 6/4" not in plays
    assert 7 not in plays
    assert nc.Position.start().plays((4, 1))[0] not in plays[:0]
    for index in (16, -17):
        with pytest.raises(IndexError):
            plays[index]
    with pytest.raises(TypeError):
        plays["8/5"]


def test_plays_outlive_what_made_them() -> None:
    play = nc.Position.start().plays((6, 5))[0]
    assert play.result.flip().pips == (167 - 11, 167)
    assert play.of.position == nc.Position.start()


def test_plays_of_one_result_are_equal_and_hash_alike() -> None:
    first, second = (nc.Position.start().plays((3, 1)) for _ in range(2))
    assert list(first) == list(second)
    assert len({*first, *second}) == 16
    assert first[0] != second[1]
    assert first[0] != str(first[0])


def test_a_part_of_the_plays_refuses_what_it_does_not_hold() -> None:
    plays = nc.Position.start().plays((3, 1))
    rest = plays[:3]
    with pytest.raises(nc.IllegalPlayError):
        rest.find(plays[10])


def test_next_steps_refuse_steps_that_lead_nowhere() -> None:
    plays = nc.Position.start().plays((3, 1))
    assert (8, 5, 3) in plays.next_steps()
    assert plays.next_steps([(8, 5), (6, 5)]) == ()
    for made in ([(8, 4)], [(24, 20)], [(8, 5), (8, 5)], [(7, 6)]):
        with pytest.raises(nc.IllegalPlayError):
            plays.next_steps(made)
        with pytest.raises(nc.IllegalPlayError):
            plays.after(made)
    for bad in ([3], ["8/5"], [(8,)], [("a", "b")]):
        with pytest.raises((nc.InvalidPlayError, TypeError)):
            plays.next_steps(bad)


def test_a_step_that_loses_a_die_is_not_offered() -> None:
    # 3/2 with the 1 would leave the 6 unplayable, for 13/7 is closed
    plays = nc.Position({13: 1, 3: 1}, {18: 2}).plays((6, 1))
    assert [str(play) for play in plays] == ["13/12/6"]
    assert plays.next_steps() == ((13, 12, 1),)
    assert plays.next_steps([(13, 12)]) == ((12, 6, 6),)
    assert plays.next_steps([(13, 12), (12, 6)]) == ()


def test_numberings_name_the_same_play() -> None:
    for turn in ("w", "b"):
        board = nc.Position.start(nc.LONG_NARDY).board.copy()
        board[28] = turn == "b"
        position = nc.Position.from_board(board, nc.LONG_NARDY)
        for play in position.plays((6, 1)):
            for numbering in ("own", "traditional", "through", "roman"):
                text = play.notation(numbering=numbering)
                assert position.play(text, dice=(6, 1), numbering=numbering) == play.result
    with pytest.raises(ValueError, match="numbering"):
        play.notation(numbering="arabic")
