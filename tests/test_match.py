"""Matches: length, starters, Crawford, score, winner, records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import RULES, step

import nardcore as nc
from nardcore.errors import IllegalPlayError, NotDueError
from nardcore.formats import load
from nardcore.records import GameRecord, GameResult, MatchRecord, Move

DATA = Path(__file__).parent / "data" / "files"
NAMES = [rules.name for rules in RULES]


def lose(match: nc.Match, side: str, state: int = 0) -> None:
    """End the game under way by a resignation."""
    match.game.resign(state, side=side, accepted=True)


def double(match: nc.Match) -> None:
    """Play on to a moment where somebody may double, and accept."""
    game = match.game
    while "offer" not in game.due:
        if "roll" in game.due:
            game.roll()
        else:
            game.push(game.plays()[0])
    game.offer()
    game.accept()


# ------------------------------------------------------------------------------------- the starters


def test_the_next_starter_is_thrown_for() -> None:
    match = nc.Match(nc.TRIKTRAK, seed=3)
    lose(match, "w")
    game = match.next_game()
    assert game.throws == nc.Game(nc.TRIKTRAK, seed=3, number=1).throws


def test_the_winner_begins() -> None:
    match = nc.Match(nc.LONG_NARDY, seed=3)
    for loser in "wbbwbw":
        assert len(match.games) == 1 or not match.game.throws
        lose(match, loser)
        assert match.next_game().starter == ("b" if loser == "w" else "w")


def test_the_starters_alternate() -> None:
    match = nc.Match(nc.BACKGAMMON.replace(next_starter="alternate"), seed=3)
    starters = [match.game.starter]
    for loser in "wwwwb":
        lose(match, loser)
        starters.append(match.next_game().starter)
    assert starters in (list("wbwbwb"), list("bwbwbw"))


def test_later_games_without_a_throw_begin_with_both_dice() -> None:
    rolls = set()
    for seed in range(150):
        match = nc.Match(nc.FNR_LONG.replace(next_starter="winner"), seed=seed)
        assert match.rules.opening == "use_dice"
        assert match.game.roll()[0] != match.game.dice[1]
        match.game.pop()
        lose(match, "w")
        game = match.next_game()
        assert "offer" in game.due
        rolls.add(game.roll())
    assert any(a == b for a, b in rolls)


# ------------------------------------------------------------------------------------ points


def test_a_match_to_five_at_three_to_one() -> None:
    match = nc.Match(nc.BACKGAMMON, length=5, score=(3, 1), seed=1)
    double(match)
    lose(match, "b")
    assert (match.score, match.over, match.winner) == ((5, 1), True, "w")
    match = nc.Match(nc.BACKGAMMON, length=5, score=(3, 1), seed=1)
    lose(match, "b")
    assert (match.score, match.over, match.winner) == ((4, 1), False, None)


def test_points_past_the_length_do_not_count() -> None:
    match = nc.Match(nc.TRIKTRAK, length=3, seed=1)
    lose(match, "w", 4)
    assert (match.score, match.winner) == ((0, 3), "b")
    assert match.game.result().points == 8
    with pytest.raises(NotDueError, match="the match is over"):
        match.next_game()


def test_a_number_of_games() -> None:
    match = nc.Match(nc.TRIKTRAK, games=2, seed=1)
    lose(match, "w", 0)
    assert not match.over
    match.next_game()
    lose(match, "b", 1)
    assert (match.score, match.over, match.winner) == ((2, 1), True, "w")


def test_a_drawn_number_of_games() -> None:
    match = nc.Match(nc.TRIKTRAK, games=2, seed=1)
    lose(match, "w")
    match.next_game()
    lose(match, "b")
    assert (match.score, match.over, match.winner) == ((1, 1), True, None)


def test_a_session_has_no_end() -> None:
    match = nc.Match(nc.TRIKTRAK, seed=1)
    for _ in range(30):
        lose(match, "w", 4)
        match.next_game()
    assert (match.score, match.over, match.winner) == ((0, 240), False, None)
    with pytest.raises(ValueError, match="session without an end"):
        nc.play_out(match)


def test_no_next_game_while_one_is_under_way() -> None:
    match = nc.Match(seed=1)
    with pytest.raises(NotDueError, match=r"under way; due is: roll"):
        match.next_game()


# ----------------------------------------------------------------------------------------- Crawford


def may_double(match: nc.Match) -> bool:
    game = match.game.copy()
    game.roll()
    game.push(game.plays()[0])
    return "offer" in game.due


def test_crawford_comes_once() -> None:
    match = nc.Match(nc.BACKGAMMON, length=3, seed=1)
    assert may_double(match)
    lose(match, "w")
    match.next_game()
    assert may_double(match)
    lose(match, "w")
    crawford = match.next_game()
    assert (match.score, crawford.crawford, match.post_crawford) == ((0, 2), True, False)
    assert not may_double(match)
    lose(match, "b")
    after = match.next_game()
    assert (match.score, after.crawford, match.post_crawford) == ((1, 2), False, True)
    assert may_double(match)
    assert [game.record().crawford for game in match.games] == [False, False, True, False]


def test_crawford_is_an_option_and_not_for_dave_or_money() -> None:
    for rules in (nc.BACKGAMMON.replace(crawford=False), nc.SHORT_DAVE, nc.TRIKTRAK):
        match = nc.Match(rules, length=2, seed=1)
        lose(match, "w")
        assert not match.next_game().crawford
        assert may_double(match) is (rules.stake != "none")
    money = nc.Match(nc.BACKGAMMON, games=3, seed=1)
    lose(money, "w")
    assert not money.next_game().crawford


@pytest.mark.parametrize(
    ("score", "given", "crawford", "post"),
    [
        ((4, 2), None, True, False),
        ((4, 2), False, False, True),
        ((4, 4), None, False, True),
        ((3, 2), None, False, False),
    ],
)
def test_a_match_from_a_score(
    score: tuple[int, int], given: bool | None, crawford: bool, post: bool
) -> None:
    match = nc.Match(length=5, score=score, crawford=given, seed=1)
    assert (match.game.crawford, match.post_crawford) == (crawford, post)
    lose(match, "b" if score[0] < 4 else "w")
    if not match.over:
        assert match.next_game().crawford is (score == (3, 2))


def test_a_one_point_match() -> None:
    match = nc.Match(length=1, seed=1)
    assert not match.game.crawford
    lose(match, "w", 4)
    assert (match.score, match.winner) == ((0, 1), "b")


def test_no_jacoby_and_no_beavers_in_a_match() -> None:
    rules = nc.BACKGAMMON.replace(jacoby=True, beavers=3)
    match = nc.Match(rules, length=9, seed=1)
    double(match)
    match.game.pop()
    assert "beaver" not in match.game.due
    match = nc.Match(rules, length=9, seed=1)
    lose(match, "w", 4)
    assert match.score == (0, 3)
    money = nc.Match(rules, games=9, seed=1)
    lose(money, "w", 4)
    assert money.score == (0, 1)


# -------------------------------------------------------------------------------- whole matches


@pytest.mark.parametrize("rules", RULES, ids=NAMES)
@settings(max_examples=2)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_whole_matches(rules: nc.Rules, seed: int, data: st.DataObject) -> None:
    chance = random.Random(seed)
    if rules.auto_doubles or data.draw(st.booleans()):
        match = nc.Match(rules, games=2, seed=seed)
    else:
        match = nc.Match(rules, length=data.draw(st.integers(1, 4)), seed=seed)
    seen = []
    while not match.over:
        if match.game.over:
            match.next_game()
        seen.append((match.record(), match.score, match.game.due))
        step(match.game, chance)
    record = match.record()
    white = sum(g.result().points for g in match.games if g.result().winner == "w")
    black = sum(g.result().points for g in match.games if g.result().winner == "b")
    assert record.score == (white, black)
    most = match.length or 10**9
    assert match.score == (min(white, most), min(black, most))
    assert record.winner == match.winner
    assert record.games[-1].length == match.length
    assert sum(game.crawford for game in record.games) <= 1
    again = nc.Match.from_record(record, seed=seed)
    assert again.record() == record
    assert (again.score, again.winner, again.post_crawford) == (
        match.score,
        match.winner,
        match.post_crawford,
    )
    # back to the first position, game after game
    while seen:
        if match.pop() == "next_game":
            continue
        shot, score, due = seen.pop()
        # a pending resignation is not part of a record
        assert (match.record(), match.score, match.game.due) == (shot, score, due)
    with pytest.raises(NotDueError):
        match.pop()


def test_matches_are_made_again_from_their_seed() -> None:
    one, two = (nc.play_out(nc.Match(length=5, seed=8)).record() for _ in range(2))
    assert one == two
    assert len({tuple(e.dice for e in game.entries[:6]) for game in one.games}) == len(one.games)


def test_a_match_goes_on_from_its_record() -> None:
    match = nc.Match(nc.BACKGAMMON, length=3, seed=5, white="Ann", black="Bob", info={"event": "x"})
    match.game.roll()
    match.push(match.game.plays()[0])
    record = match.record()
    assert (record.white, record.black, record.info) == ("Ann", "Bob", (("event", "x"),))
    one = nc.play_out(nc.Match.from_record(record, seed=match.seed)).record()
    assert one == nc.play_out(match).record()


@pytest.mark.parametrize(
    "wrong",
    [
        {"length": -1},
        {"length": 1.5},
        {"length": True},
        {"games": -1},
        {"length": 3, "games": 3},
        {"length": 3, "score": (3, 0)},
        {"score": (1, 2, 3)},
        {"rules": "backgammon"},
        {"white": 7},
        {"info": {"event": 7}},
    ],
)
def test_impossible_matches(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        nc.Match(**wrong)


def test_records_that_are_no_matches() -> None:
    move = Move("w", (3, 1), ((8, 5), (6, 5)))
    won = GameRecord(
        nc.BACKGAMMON, first="w", result=GameResult("w", 0, points=1, reason="forfeit")
    )
    under_way = GameRecord(nc.BACKGAMMON, first="w", entries=(move,))
    with pytest.raises(NotDueError, match="game 1: it has no result"):
        nc.Match.from_record(MatchRecord(nc.BACKGAMMON, length=3, games=(under_way, won)))
    with pytest.raises(NotDueError, match="game 2: the match is over"):
        nc.Match.from_record(MatchRecord(nc.BACKGAMMON, length=1, games=(won, won)))
    wrong = GameRecord(nc.BACKGAMMON, first="w", entries=(move, move))
    with pytest.raises(NotDueError, match="game 2, entry 2: black is to act"):
        nc.Match.from_record(MatchRecord(nc.BACKGAMMON, length=3, games=(won, wrong)))
    wrong = GameRecord(nc.BACKGAMMON, first="w", entries=(Move("w", (6, 5), ((8, 5),)),))
    with pytest.raises(IllegalPlayError, match="game 1, entry 1: 8/5 is illegal"):
        nc.Match.from_record(MatchRecord(nc.BACKGAMMON, length=3, games=(wrong,)))


@pytest.mark.parametrize(
    ("name", "score", "winner"),
    [
        ("galaxy_match_7pt.txt", (7, 2), "w"),
        ("synthetic_gnubg_numeric_7pt.mat", (2, 7), "b"),
        ("synthetic_mi_two_games.sgf", (5, 1), None),
    ],
)
def test_matches_of_other_programs_are_played_again(
    name: str, score: tuple[int, int], winner: str | None
) -> None:
    record = load(DATA / name)
    match = nc.Match.from_record(record)
    assert (match.score, match.winner) == (score, winner)
    assert match.record() == record
    for game in match.games:
        while game.history:
            game.pop()
        assert game.position == nc.Position.start(record.rules)


def test_what_a_match_shows() -> None:
    assert repr(nc.Match(length=5)) == "<Match backgammon to 5, game 1, score 0-0>"
    assert "of 3 games" in repr(nc.Match(games=3))
    assert "for money" in repr(nc.Match())


def test_bounds_of_lengths_and_scores() -> None:
    assert nc.Match(length=32_767).length == nc.Match(games=32_767).games_to_play == 32_767
    for wrong in ({"length": 32_768}, {"length": 10**30}, {"games": 10**30}, {"length": -1}):
        with pytest.raises(ValueError, match=r"(length|games_to_play) is 0 (to 32,767|or more)"):
            nc.Match(**wrong)
    for game in (nc.Game, nc.Match):
        with pytest.raises(ValueError, match="a match to 5 is over at 2-5"):
            game(length=5, score=(2, 5))
        with pytest.raises(ValueError, match=r"nobody is a point away at 2-3 of 5"):
            game(length=5, score=(2, 3), crawford=True)
        assert game(length=5, score=(4, 3), crawford=True).score == (4, 3)
        assert game(nc.SHORT_DAVE, length=5, score=(2, 3), crawford=True).score == (2, 3)


def test_numbers_of_other_kinds_are_refused() -> None:
    for wrong in ({"length": 3.0}, {"games": True}, {"length": "3"}):
        with pytest.raises(TypeError, match="is a whole number, not"):
            nc.Match(**wrong)
    with pytest.raises(ValueError, match="score is a pair of ints, not 5"):
        nc.Game(score=5)
    with pytest.raises(TypeError, match="throws are pairs of dice"):
        nc.Game(throws=5)
    for dice in ("31", (1.0, 2), None, (1,), b"\1\2", (True, 1)):
        with pytest.raises(TypeError, match="expected a pair of dice"):
            nc.Game(first="w").set_dice(dice)


@pytest.mark.parametrize("kind", ["dave_geometric", "dave_arithmetic"])
@pytest.mark.parametrize("length", [0, 7])
def test_advice_at_stakes_beyond_all_bounds(kind: str, length: int) -> None:
    rules = nc.SHORT_DAVE.replace(stake=kind)
    last = nc.Position({1: 4}, {1: 4}).with_rules(rules)
    for stake in (2**40, 2**1200):
        game = nc.Game(position=last, stake=stake, length=length)
        nc.play_out(game, actions="advised")
        assert game.result().points >= stake
    for odd in ({"stake": 3}, {"stake": 1, "owner": "w"}, {"stake": 4}):
        assert nc.play_out(nc.Game(position=last, **odd), actions="advised").over
    game = nc.Game(position=last, stake=2**1200)
    game.resign()
    assert nc.play_out(game, actions="advised").result().reason == "resigned"


@pytest.mark.parametrize("odd", [{"stake": 3}, {"stake": 1, "owner": "w"}, {"stake": 999}])
def test_advice_at_stakes_that_no_double_leads_to(odd: dict[str, Any]) -> None:
    game = nc.Game(position=nc.Position({1: 4}, {1: 4}), **odd)
    assert nc.play_out(game, actions="advised").over
