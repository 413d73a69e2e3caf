"""Records: values, walking through them, and the judgement of what was recorded."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import RULES, walk

import nardcore as nc
from nardcore.records import (
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Move,
    Resignation,
    Throw,
    check,
    enter_steps,
    play_of,
    state_of,
)

OPENING = Move("w", (3, 1), ((8, 5), (6, 5)))


def problems(*entries: Any, rules: nc.Rules = nc.BACKGAMMON, **more: Any) -> list[str | None]:
    record = GameRecord(rules, first="w", entries=entries, **more)
    return [entry.problem for entry in check(record).entries]


# ------------------------------------------------------------------------------------------- values


def test_lines_are_not_compared_and_dice_are_put_in_order() -> None:
    assert dataclasses.replace(OPENING, line=7) == Move("w", (1, 3), ((8, 5), (6, 5)))
    assert hash(OPENING) == hash(dataclasses.replace(OPENING, line=7))
    assert CubeAction("w", "offer", 2, line=3) == CubeAction("w", "offer", 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Move("white", (3, 1)),
        lambda: Move("w", (7, 1)),
        lambda: Move("w", (3, 1), ((26, 1),)),
        lambda: Move("w", (3, 1), ((8, -1),)),
        lambda: Move("w", (3, 1), ((8,),)),
        lambda: Move("w", (3, 1), ("8/5",)),
        lambda: CubeAction("w", "double", 2),
        lambda: CubeAction("w", "offer", 0),
        lambda: CubeAction("w", "offer", 2.0),
        lambda: Resignation("w", 5),
        lambda: Resignation("w", "gammon"),
        lambda: Throw(0, 3),
        lambda: GameResult("x", 0, 1),
        lambda: GameResult("w", 0, -1),
        lambda: GameResult("w", 0, 1, reason="won"),
        lambda: GameRecord("backgammon"),
        lambda: GameRecord(nc.BACKGAMMON, first="white"),
        lambda: GameRecord(nc.BACKGAMMON, score=(1, 2, 3)),
        lambda: GameRecord(nc.BACKGAMMON, score=(1, -2)),
        lambda: GameRecord(nc.BACKGAMMON, start=nc.Position.start(nc.LONG_NARDY)),
        lambda: MatchRecord(nc.BACKGAMMON, length=-1),
        lambda: MatchRecord(nc.BACKGAMMON, white=None),
        lambda: MatchRecord(nc.BACKGAMMON, info={"a": 1}),
    ],
)
def test_impossible_values(make: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        make()


def test_states_by_name() -> None:
    assert [state_of(name) for name in nc.rules.STATES] == list(range(5))
    assert Resignation("w", "bar") == Resignation("w", 4)
    with pytest.raises(TypeError):
        state_of(1.0)
    with pytest.raises(TypeError):
        state_of(True)


def test_how_a_move_is_written() -> None:
    assert [str(Move("w", (3, 1), steps)) for steps in (None, (), ((25, 22), (6, 0)))] == [
        "???",
        "pass",
        "bar/22 6/off",
    ]
    assert str(Move("w", (3, 1), ((5, 8),))) == "5/8"


# ---------------------------------------------------------------------------- from steps to plays


@pytest.mark.parametrize(
    ("steps", "play"),
    [
        (((24, 13),), "24/18/13"),
        (((13, 7), (13, 8)), "13/8 13/7"),
        (((18, 13), (24, 18)), "24/18/13"),
    ],
)
def test_joined_and_disordered_steps(steps: Any, play: str) -> None:
    plays = nc.Position.start().plays((6, 5))
    assert play_of(plays, steps) == plays.find(play)


def test_a_joined_step_may_hide_a_hit() -> None:
    position = nc.Position({13: 1, 1: 14}, {25 - 9: 1, 25 - 11: 2, 1: 12})
    after, problem = enter_steps(position, Move("w", (4, 2), ((13, 7),)))
    assert problem is None
    assert after.bar == (1, 0)


def test_illegal_steps_are_taken_where_checkers_allow() -> None:
    start = nc.Position.start()
    after, problem = enter_steps(start, Move("w", (3, 1), ((8, 4), (6, 5))))
    assert "8/4 6/5 is illegal with 3-1" in (problem or "")
    assert after.turn == "b"
    assert after.flip().points[3] == 1
    after, problem = enter_steps(start, Move("w", (3, 1), ((7, 4),)))
    assert problem
    assert after.flip() == start  # nothing could be moved, but the turn is over
    after, problem = enter_steps(start, Move("w", None, ((8, 4), (6, 5))))
    assert problem is None
    assert after.flip().points[3] == 1


@given(
    st.sampled_from(RULES),
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=5),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
)
def test_any_steps_in_any_position(rules: nc.Rules, seed: int, steps: Any, dice: Any) -> None:
    chance = random.Random(seed)
    game = nc.Game(rules, seed=seed)
    for number, _ in enumerate(walk(game, chance)):
        if number > seed % 100:
            break
    position = game.position
    for roll in (dice, None):
        after, problem = enter_steps(position, Move(position.turn, roll, tuple(steps)))
        assert after.turn != position.turn
        mine = sum(n for n in after.points if n > 0) + after.bar[0] + after.off[0]
        theirs = -sum(n for n in after.points if n < 0) + after.bar[1] + after.off[1]
        assert (mine, theirs) == (rules.checkers, rules.checkers)
        if roll and position.outcome is None and problem is None:
            assert after in {play.result for play in position.plays(roll)}


# ---------------------------------------------------------------------------------------- check


def test_an_illegal_play_stands_and_the_game_goes_on() -> None:
    found = problems(
        Move("w", (6, 5), ((24, 18), (13, 9))),
        Move("b", (3, 1), ((8, 5), (6, 5))),
        Move("w", (6, 1), ((24, 18), (9, 8))),
    )
    assert found[0] is not None
    assert found[0].startswith("24/18 13/9 is illegal with 6-5: 13/9 takes 4 pips")
    assert found[1:] == [None, None]


def test_unknown_dice_are_no_problem_but_impossible_steps_are() -> None:
    assert problems(Move("w", None, ((8, 4),))) == [None]
    assert problems(Move("w", None, ((7, 4),))) == ["there is no checker to move from 7"]
    assert problems(Move("w", None, ((13, 11), (8, 13)))) == ["8/13 leads backwards"]
    assert problems(Move("w", None, ((24, 19),))) == ["point 19 is closed by the opponent"]


def test_a_pass_where_a_die_can_be_played() -> None:
    (found,) = problems(Move("w", (3, 1), ()))
    assert "a pass is not allowed" in (found or "")


def test_turns() -> None:
    black = Move("b", (3, 1), ((8, 5), (6, 5)))
    assert problems(black) == ["it is white's turn"]
    assert problems(OPENING, OPENING)[1].startswith("it is black's turn")
    assert problems(OPENING, black) == [None, None]
    assert problems(Move("w", (3, 1)), Move("w", (6, 5), ((24, 13),)))[1] == (
        "white has thrown already"
    )


def test_the_opening_dice() -> None:
    throws = (Throw(4, 4), Throw(3, 1))
    record = GameRecord(nc.BACKGAMMON, throws=throws, entries=(OPENING,))
    assert check(record) == record
    assert record.starter == "w"
    other = Move("w", (6, 5), ((24, 13),))
    wrong = check(GameRecord(nc.BACKGAMMON, throws=throws, entries=(other,)))
    assert wrong.entries[0].problem == "the opening dice 3-1 are the first roll"
    afresh = GameRecord(nc.TRIKTRAK, throws=throws, entries=(other,))
    assert check(afresh) == afresh
    early = check(GameRecord(nc.BACKGAMMON, throws=throws, entries=(CubeAction("w", "offer", 2),)))
    assert "opening dice" in (early.entries[0].problem or "")


@pytest.mark.parametrize(
    ("actions", "wanted"),
    [
        (["w offer 2", "b accept 2"], [None, None]),
        (["w offer 4", "b accept 4"], ["to 2, not to 4", None]),
        (["w offer 2", "b accept 4"], [None, "to 2, not to 4"]),
        (["b offer 2"], ["white's turn"]),
        (["w offer 2", "w accept 2"], [None, "the answer is black's"]),
        (["b accept 2"], ["nothing has been offered"]),
        (["w refuse 2"], ["nothing has been offered"]),
        (["w offer 2", "w offer 4"], [None, "awaits its answer"]),
        (["w offer 2", "b refuse 2", "w offer 2"], [None, None, "the game is over"]),
        (["w offer 2", "b accept 2", "w offer 4"], [None, None, "only black"]),
        (["w offer 2", "b beaver 4", "w accept 4"], [None, "no beavers", None]),
    ],
)
def test_stake_actions(actions: list[str], wanted: list[str | None]) -> None:
    entries = []
    for action in actions:
        side, what, value = action.split()
        entries.append(CubeAction(side, what, int(value)))  # type: ignore[arg-type]
    for found, want in zip(problems(*entries), wanted, strict=True):
        assert (found is None) == (want is None)
        assert (want or "") in (found or "")


def test_stake_actions_and_moves() -> None:
    offer = CubeAction("w", "offer", 2)
    assert problems(offer, OPENING)[1] == "a double awaits its answer"
    assert problems(Move("w", (3, 1)), offer)[1] == "white has thrown already"
    assert problems(offer, rules=nc.TRIKTRAK) == ["the stake is never raised in triktrak"]
    assert "Crawford" in problems(offer, length=5, crawford=True)[0]
    assert problems(offer, rules=nc.SHORT_DAVE, length=5, crawford=True) == [None]
    assert problems(offer, CubeAction("b", "refuse", 2), OPENING)[2] == "the game is over"
    raised = CubeAction("w", "offer", 8)
    assert problems(raised, stake=4, owner="w") == [None]
    assert "only black" in problems(raised, stake=4, owner="b")[0]


def test_resignations() -> None:
    assert problems(Resignation("w", 0), OPENING) == [None, "the game is over"]
    assert problems(Resignation("b", 0, accepted=False), OPENING) == [None, None]
    assert (
        problems(CubeAction("w", "offer", 2), Resignation("b"))[1] == "a double awaits its answer"
    )


def test_nothing_after_the_last_checker() -> None:
    last = nc.Position({1: 1}, {1: 15})
    entries = (Move("w", (2, 1), ((1, 0),)), Move("b", (2, 1), ((1, 0),)))
    record = GameRecord(nc.BACKGAMMON, start=last, entries=entries)
    assert [entry.problem for entry in check(record).entries] == [None, "the game is over"]
    assert check(record).problems[0][1] == "the game is over"


def test_check_replaces_what_was_noted_before() -> None:
    noted = dataclasses.replace(OPENING, problem="nonsense", line=4, comment="!")
    (entry,) = check(GameRecord(nc.BACKGAMMON, entries=(noted,))).entries
    assert (entry.problem, entry.line, entry.comment) == (None, 4, "!")


# ------------------------------------------------------------------------------- walking through


def test_positions_are_those_of_the_game() -> None:
    game = nc.Game(nc.BACKGAMMON, seed=6)
    chance = random.Random(6)
    seen = []
    while not game.over:
        if "push" in game.due:
            seen.append(bytes(game.position))
        next(walk(game, chance))
    record = game.record()
    walked = [
        bytes(position)
        for entry, position in record.positions()
        if isinstance(entry, Move) and entry.steps is not None
    ]
    assert walked == seen[: len(walked)]
    assert bytes(record.final) == bytes(game.position)
    assert record.opening == nc.Position.start()


def test_the_starter_as_far_as_it_is_known() -> None:
    black = Move("b", (3, 1), ((8, 5), (6, 5)))
    assert GameRecord(nc.BACKGAMMON).starter == "w"
    assert GameRecord(nc.BACKGAMMON, entries=(black,)).starter == "b"
    assert GameRecord(nc.BACKGAMMON, throws=(Throw(2, 2), Throw(1, 4))).starter == "b"
    assert GameRecord(nc.BACKGAMMON, first="w", entries=(black,)).starter == "w"
    position = nc.Position({6: 2}, {6: 3}, turn="b")
    record = GameRecord(nc.BACKGAMMON, start=position)
    assert (record.starter, record.opening.turn, record.opening.pips) == ("b", "b", (12, 18))
    turned = GameRecord(nc.BACKGAMMON, start=position, first="w").opening
    assert (turned.turn, turned.pips) == ("w", (18, 12))


def test_a_match_gives_its_length_to_its_games() -> None:
    match = MatchRecord(nc.BACKGAMMON, length=7, games=(GameRecord(nc.BACKGAMMON),))
    assert match.games[0].length == 7
    assert dataclasses.replace(match, length=0).games[0].length == 0


def test_scores_and_winners() -> None:
    def game(winner: str, points: int, score: tuple[int, int]) -> GameRecord:
        return GameRecord(nc.TRIKTRAK, score=score, result=GameResult(winner, 0, points))

    games = (game("w", 2, (0, 0)), game("b", 1, (2, 0)), game("w", 4, (2, 1)))
    match = MatchRecord(nc.TRIKTRAK, length=5, games=games)
    assert (match.score, match.winner) == ((6, 1), "w")
    assert MatchRecord(nc.TRIKTRAK, length=9, games=games).winner is None
    assert MatchRecord(nc.TRIKTRAK, games=games).winner is None
    assert MatchRecord(nc.TRIKTRAK, games_to_play=3, games=games).winner == "w"
    assert MatchRecord(nc.TRIKTRAK, games_to_play=4, games=games).winner is None
    under_way = GameRecord(nc.TRIKTRAK, score=(6, 1))
    assert MatchRecord(nc.TRIKTRAK, games=(*games, under_way)).score == (6, 1)
    assert MatchRecord(nc.TRIKTRAK).score == (0, 0)
