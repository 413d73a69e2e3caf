"""Games: openings, what is due, exact undo, dice, results, records."""

from __future__ import annotations

import dataclasses
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import ACTIONS, RULES, snapshot, step, walk

import nardcore as nc
from nardcore.errors import IllegalPlayError, InvalidPlayError, NotDueError
from nardcore.records import CubeAction, GameRecord, GameResult, Move, Resignation, Throw, check

NAMES = [rules.name for rules in RULES]


def checkers(position: nc.Position) -> tuple[int, int]:
    points, bar, off = position.points, position.bar, position.off
    mine = sum(n for n in points if n > 0) + bar[0] + off[0]
    theirs = -sum(n for n in points if n < 0) + bar[1] + off[1]
    return mine, theirs


# ---------------------------------------------------------------------------------------- openings


@pytest.mark.parametrize("rules", RULES, ids=NAMES)
@pytest.mark.parametrize("seed", range(20))
def test_the_higher_die_begins(rules: nc.Rules, seed: int) -> None:
    game = nc.Game(rules, seed=seed)
    *equal, last = game.throws
    assert all(throw.white == throw.black for throw in equal)
    assert game.starter == game.turn == ("w" if last.white > last.black else "b")
    assert game.starter == nc.dice.opening(rules, seed).starter
    assert game.dice is None
    dice = game.roll()
    if rules.opening == "use_dice":
        assert dice == tuple(sorted((last.white, last.black), reverse=True))
    else:
        assert dice == tuple(sorted(nc.dice.rolls(seed, 0, 1)[0].tolist(), reverse=True))


def test_reroll_may_begin_with_a_double_and_use_dice_never_does() -> None:
    first = {name: set() for name in ("use_dice", "reroll")}
    for opening, rolls in first.items():
        for seed in range(400):
            rolls.add(nc.Game(nc.BACKGAMMON.replace(opening=opening), seed=seed).roll())
    assert first["use_dice"] == {(a, b) for a, b in nc.dice.ROLLS if a != b}
    assert first["reroll"] == set(nc.dice.ROLLS)


def test_equal_throws_are_thrown_again_and_kept() -> None:
    game = nc.Game(nc.BACKGAMMON, throws=[(3, 3), (6, 6), (2, 5)])
    assert game.throws == (Throw(3, 3), Throw(6, 6), Throw(2, 5))
    assert (game.starter, game.roll()) == ("b", (5, 2))


def test_automatic_doubles_come_from_the_throws() -> None:
    rules = nc.BACKGAMMON.replace(auto_doubles=1)
    assert nc.Game(rules, throws=[(3, 3), (6, 6), (2, 5)]).stake.value == 2
    assert nc.Game(rules, throws=[(2, 5)]).stake.value == 1
    assert nc.Game(nc.BACKGAMMON, throws=[(3, 3), (2, 5)]).stake.value == 1


@pytest.mark.parametrize("throws", [[], [(3, 3)], [(3, 1), (2, 1)], [(0, 1)], [(7, 1)]])
def test_impossible_throws(throws: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match=r"throw|die"):
        nc.Game(throws=throws)


def test_a_game_begun_without_a_throw_begins_with_both_dice() -> None:
    rolls = {nc.Game(nc.BACKGAMMON, first="w", seed=seed).roll() for seed in range(200)}
    assert any(a == b for a, b in rolls)
    assert "offer" in nc.Game(nc.BACKGAMMON, first="b").due


def test_no_offer_when_the_opening_dice_are_the_roll() -> None:
    game = nc.Game(nc.SHORT_DAVE, seed=1)
    with pytest.raises(NotDueError, match="opening dice are the first roll"):
        game.offer()
    game.roll()
    game.push(game.plays()[0])
    assert "offer" in game.due
    # with a reroll the starter may offer at once
    assert "offer" in nc.Game(nc.SHORT_DAVE.replace(opening="reroll"), seed=1).due


# ------------------------------------------------------------------------------------- what is due


def test_before_the_throw_there_is_nothing_to_play() -> None:
    game = nc.Game(nc.TRIKTRAK, seed=1)
    assert len(game.plays()) == 0
    with pytest.raises(NotDueError, match=r"has not thrown yet; due is: roll, resign"):
        game.push("8/5 6/5")
    game.roll()
    assert len(game.plays()) > 0
    with pytest.raises(NotDueError, match="has thrown"):
        game.roll()


def test_no_offer_after_the_throw() -> None:
    game = nc.Game(nc.SHORT_DAVE, first="w")
    game.set_dice((3, 1))
    with pytest.raises(NotDueError, match=r"white has thrown 3-1; due is: push, resign"):
        game.offer()


def test_the_error_survives_pickling() -> None:
    with pytest.raises(NotDueError) as caught:
        nc.Game(nc.TRIKTRAK, first="w").push("8/5")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.due) == (str(caught.value), ("roll", "resign"))


def attempt(game: nc.Game, action: str) -> None:
    if action == "push":
        game.push("pass")
    else:
        getattr(game, action)()


@pytest.mark.parametrize("rules", RULES, ids=NAMES)
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32))
def test_nothing_out_of_turn_is_accepted(rules: nc.Rules, seed: int) -> None:
    chance = random.Random(seed)
    game = nc.Game(rules, seed=seed)
    while True:
        due = game.due
        before = snapshot(game)
        for action in ACTIONS:
            if action not in due:
                with pytest.raises(NotDueError) as caught:
                    attempt(game, action)
                assert caught.value.due == due
        if "roll" not in due:
            with pytest.raises(NotDueError):
                game.set_dice((6, 5))
        if "push" not in due:
            assert len(game.plays()) == 0
        assert snapshot(game) == before
        if game.over:
            break
        step(game, chance)


@pytest.mark.parametrize("rules", RULES, ids=NAMES)
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32))
def test_whole_games(rules: nc.Rules, seed: int) -> None:
    """Checkers are kept, turns alternate, undo is exact to the first position, and so is redo."""
    chance = random.Random(seed)
    game = nc.Game(rules, seed=seed)
    shots, actions = [snapshot(game)], []
    for action in walk(game, chance):
        actions.append(action)
        shots.append(snapshot(game))
        position = game.position
        assert checkers(position) == (rules.checkers, rules.checkers)
        assert game.to_act in ("w", "b")
        if not game.over:
            assert position.outcome is None
    assert game.history == tuple(actions)
    moves = [entry for entry in game.entries if isinstance(entry, Move) and entry.steps is not None]
    assert [m.side for m in moves] == [
        "wb"[(game.starter == "b") ^ (k % 2)] for k in range(game.ply)
    ]
    check_result(game)
    record = game.record()
    for action, shot in zip(reversed(actions), reversed(shots[:-1]), strict=True):
        assert game.pop() == action
        assert snapshot(game) == shot
    with pytest.raises(NotDueError, match="nothing has been done"):
        game.pop()
    # the same calls give the same game, dice and all
    for entry in record.entries:
        if isinstance(entry, Move):
            assert game.roll() == entry.dice
            if entry.steps is not None:
                game.push(entry.steps)
        elif isinstance(entry, CubeAction):
            getattr(game, entry.action)()
        else:
            game.resign(entry.state, side=entry.side, accepted=entry.accepted)
    assert game.record() == record


def check_result(game: nc.Game) -> None:
    """Points and stake of a finished game, from its entries alone."""
    rules, result = game.rules, game.result()
    assert result is not None
    entries = game.entries
    raises = [e for e in entries if isinstance(e, CubeAction) and e.action in ("accept", "beaver")]
    k = len(raises) + min(rules.auto_doubles, sum(t.white == t.black for t in game.throws))
    stake = 1 + k if rules.stake == "dave_arithmetic" else 2**k
    assert result.stake == stake
    last = entries[-1]
    if isinstance(last, CubeAction):
        assert (result.reason, result.winner == last.side) == ("refused", False)
        assert result.points == stake
        return
    if isinstance(last, Resignation):
        assert (result.reason, result.winner == last.side) == ("resigned", False)
        assert result.state == last.state
    else:
        assert (result.reason, result.winner) == ("played", last.side)
        assert game.position.outcome == 5 + result.state
        assert game.position.off[1] == rules.checkers
    worth = rules.points[result.state]
    if rules.stake.startswith("dave") or (rules.jacoby and not raises):
        worth = 1
    assert result.points == stake * worth


def test_undo_covers_hits_flags_ownership_and_dice() -> None:
    game = nc.Game(nc.SHORT_DAVE, first="w", seed=9)
    game.offer()
    game.accept()
    game.set_dice((4, 2))
    game.push("24/18")
    second = game.roll()
    before = snapshot(game)
    game.pop()
    assert game.roll() == second
    assert snapshot(game) == before
    for _ in range(5):
        game.pop()
    assert snapshot(game) == snapshot(nc.Game(nc.SHORT_DAVE, first="w", seed=9))

    hit = nc.Game(position=nc.Position({6: 15}, {22: 1, 1: 14}), seed=1)
    hit.set_dice((3, 1))
    hit.push("6/3*/2")
    assert hit.position.bar == (1, 0)
    hit.pop()
    assert hit.position.bar == (0, 0)

    flags = nc.Game(nc.LONG_NARDY, first="w")
    assert flags.position.first_turns == (True, True)
    flags.set_dice((3, 3))
    flags.push(flags.plays()[0])
    assert flags.position.first_turns == (True, False)
    flags.pop()
    assert flags.position.first_turns == (True, True)
    assert len(flags.plays()) == 2  # two may leave the head again


def test_a_pass_is_played_as_such() -> None:
    closed = nc.Position({"bar": 1, 1: 14}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2, 8: 3})
    game = nc.Game(position=closed, seed=1)
    game.roll()
    assert str(game.plays()[0]) == "pass"
    game.pass_turn()
    assert (game.turn, game.entries[-1].steps) == ("b", ())
    open_ = nc.Game(first="w")
    open_.set_dice((3, 1))
    with pytest.raises(IllegalPlayError, match="a pass is not allowed"):
        open_.pass_turn()


def test_pushing_text_steps_and_plays() -> None:
    results = set()
    for play in ("8/5 6/5", "6/5 8/5", [(8, 5), (6, 5)], ((6, 5), (8, 5))):
        game = nc.Game(first="w")
        game.set_dice((1, 3))
        game.push(play)
        results.add(game.position)
    assert len(results) == 1
    game = nc.Game(first="w")
    game.set_dice((3, 1))
    game.push("012/10/9", numbering="traditional")
    assert game.entries[-1].steps == ((13, 10), (10, 9))
    game.pop()
    other = nc.Position.start().plays((6, 5))[0]
    with pytest.raises(IllegalPlayError):
        game.push(other)
    with pytest.raises(IllegalPlayError, match="8/4"):
        game.push("8/4 6/5")
    with pytest.raises(InvalidPlayError):
        game.push("knight f3")
    for wrong in (7, 3.5, None):
        with pytest.raises(TypeError):
            game.push(wrong)
    with pytest.raises((TypeError, ValueError)):
        game.push([(8, 5, 1)])
    assert game.history == ("roll",)


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (1,), (1, 2, 3), "31", (1.0, 2), None, 31])
def test_impossible_dice(dice: Any) -> None:
    game = nc.Game(first="w")
    with pytest.raises((TypeError, ValueError)):
        game.set_dice(dice)
    assert game.dice is None


def test_the_opening_roll_cannot_be_another() -> None:
    game = nc.Game(throws=[(5, 2)])
    with pytest.raises(NotDueError, match="opening dice 5-2 are the first roll"):
        game.set_dice((5, 3))
    assert game.set_dice((2, 5)) == (5, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": "backgammon"},
        {"first": "white"},
        {"first": "w", "throws": [(3, 1)]},
        {"position": "start"},
        {"position": nc.Position({"off": 15}, {1: 15})},
        {"rules": nc.BACKGAMMON, "position": nc.Position.start(nc.LONG_NARDY)},
        {"number": -1},
        {"number": 1.5},
        {"seed": []},
        {"seed": "x"},
        {"stake": 0},
        {"owner": "white"},
        {"score": (1,)},
        {"score": (-1, 0)},
        {"length": -1},
    ],
)
def test_impossible_games(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        nc.Game(**wrong)


# ------------------------------------------------------------------------------ stakes and results


def won_by(loser: dict[Any, int], rules: nc.Rules, stake: int = 1, **more: Any) -> GameResult:
    """Bear off white's last checker against a loser."""
    position = nc.Position({1: 1}, loser, rules=rules)
    game = nc.Game(rules, position=position, stake=stake, **more)
    game.set_dice((2, 1))
    game.push("1/off")
    result = game.result()
    assert result is not None
    return result


TABLE = [  # rules page, section 10
    ({1: 14, "off": 1}, {"triktrak": 1, "beginner": 1, "backgammon": 1, "oin_mars": 1}),
    ({1: 15}, {"triktrak": 2, "beginner": 3, "backgammon": 2, "oin_mars": 2}),
    ({1: 14, 7: 1}, {"triktrak": 4, "beginner": 2, "backgammon": 2, "oin_mars": 2}),
    ({1: 14, 20: 1}, {"triktrak": 4, "beginner": 2, "backgammon": 3, "oin_mars": 2}),
    ({1: 14, "bar": 1}, {"triktrak": 8, "beginner": 4, "backgammon": 3, "oin_mars": 2}),
    ({1: 13, 7: 1, "bar": 1}, {"triktrak": 8, "beginner": 4, "backgammon": 3, "oin_mars": 2}),
    (
        {1: 13, "bar": 1, "off": 1},
        {"triktrak": 1, "beginner": 1, "backgammon": 1, "oin_mars": 1},
    ),
]


@pytest.mark.parametrize("scoring", ["triktrak", "beginner", "backgammon", "oin_mars"])
@pytest.mark.parametrize(("loser", "points"), TABLE)
def test_the_scoring_table(loser: dict[Any, int], points: dict[str, int], scoring: str) -> None:
    result = won_by(loser, nc.Rules(scoring=scoring))
    assert (result.winner, result.points, result.reason) == ("w", points[scoring], "played")
    doubled = won_by(loser, nc.Rules(scoring=scoring, stake="cube"), 4, owner="b")
    assert doubled.points == 4 * points[scoring]


def test_the_other_reading_of_triktrak() -> None:
    letter = nc.TRIKTRAK.replace(off_protects=False)
    assert won_by({1: 13, "bar": 1, "off": 1}, letter).points == 8


def test_long_results() -> None:
    assert won_by({24: 15}, nc.LONG_BEGINNER).points == 4
    assert won_by({24: 15}, nc.LONG_NARDY).points == 2
    assert won_by({1: 14, 20: 1}, nc.LONG_BEGINNER).points == 2
    assert won_by({1: 14, 20: 1}, nc.LONG_NARDY).points == 2


def test_dave_stake_four_and_no_checker_off_is_four() -> None:
    assert won_by({1: 15}, nc.SHORT_DAVE, 4, owner="b").points == 4


def test_an_offer_at_stake_two_refused_wins_two() -> None:
    for rules in (nc.SHORT_DAVE, nc.SHORT_DAVE.replace(stake="dave_arithmetic"), nc.BACKGAMMON):
        game = nc.Game(rules, first="w")
        game.offer()
        game.accept()
        game.roll()
        game.push(game.plays()[0])
        game.offer()
        assert game.refuse() == GameResult("b", 0, points=2, stake=2, reason="refused")
        assert game.due == ()


def test_cube_on_four_and_gammon_is_eight() -> None:
    assert won_by({1: 15}, nc.BACKGAMMON, 4, owner="b").points == 8


def test_beavers_in_a_game() -> None:
    game = nc.Game(nc.BACKGAMMON.replace(beavers=1), first="w")
    game.offer()
    assert (game.to_act, game.due) == ("b", ("accept", "refuse", "beaver"))
    game.beaver()
    assert (game.to_act, game.due) == ("w", ("accept", "refuse"))
    with pytest.raises(NotDueError, match="1 times, not more"):
        game.beaver()
    game.refuse()
    assert game.result() == GameResult("b", 0, points=2, stake=2, reason="refused")
    game.pop()
    game.accept()
    assert (game.stake.value, game.stake.owner, game.turn) == (4, "b", "w")
    with pytest.raises(NotDueError, match="only black"):
        game.offer()


@pytest.mark.parametrize("state", range(5))
def test_resignations_by_class(state: int) -> None:
    for rules in RULES:
        game = nc.Game(rules, first="w")
        game.resign(state, side="b")
        assert game.to_act == "w"
        result = game.accept_resignation()
        worth = 1 if rules.stake.startswith("dave") or rules.jacoby else rules.points[state]
        assert result == GameResult("w", state, points=worth, reason="resigned")


def test_a_refused_resignation_goes_on() -> None:
    game = nc.Game(nc.TRIKTRAK, seed=3)
    game.roll()
    dice = game.dice
    game.resign("any_off")
    game.refuse_resignation()
    assert (game.dice, game.due) == (dice, ("push", "resign"))
    game.push(game.plays()[0])
    kinds = [type(entry) for entry in game.entries]
    assert kinds == [Resignation, Move]
    assert nc.Game.from_record(game.record()).record() == game.record()


def test_a_resignation_after_the_throw_keeps_the_dice() -> None:
    game = nc.Game(nc.TRIKTRAK, seed=3)
    dice = game.roll()
    game.resign("bar", accepted=True)
    assert game.entries == (Move(game.turn, dice), Resignation(game.turn, 4))
    assert check(game.record()) == game.record()
    with pytest.raises(ValueError, match="state"):
        nc.Game().resign("koks")


# ----------------------------------------------------------------------------------- dice and seeds


def test_games_of_one_seed_differ_and_can_be_made_again() -> None:
    def rolled(**more: Any) -> list[Any]:
        return [e.dice for e in nc.play_out(nc.Game(**more), "random").entries]

    assert rolled(seed=5) == rolled(seed=5)
    assert rolled(seed=5, number=1) != rolled(seed=5)
    assert rolled(seed=2**64 + 1, first="w") != rolled(seed=1, first="w")
    drawn = nc.Game()
    assert rolled(seed=drawn.seed) == [e.dice for e in nc.play_out(drawn, "random").entries]


@pytest.mark.parametrize(
    "policy", ["linear", "random", lambda boards: -boards[:, 25].astype(float)]
)
@pytest.mark.parametrize("rules", [nc.BACKGAMMON, nc.LONG_NARDY], ids=["short", "long"])
def test_a_game_is_a_trial_of_a_rollout(rules: nc.Rules, policy: Any) -> None:
    start = nc.Position.start(rules)
    rollout = nc.rollout(start, games=3, seed=11, policy=policy)
    for trial in range(3):
        game = nc.play_out(nc.Game(rules, position=start, seed=11, number=trial), policy)
        turns = rollout.replay(trial).turns
        assert [(e.dice, e.steps) for e in game.entries] == [(t.dice, t.play.steps) for t in turns]


def test_long_games_draw_on() -> None:
    game = nc.play_out(nc.Game(nc.LONG_NARDY, seed=1, first="w"), "random")
    assert game.ply > 64
    expected = np.sort(nc.dice.rolls(1, 0, game.ply))[:, ::-1].tolist()
    assert [list(e.dice) for e in game.entries] == expected


# --------------------------------------------------------------------------------------- play_out


def test_play_out_of_pairs_and_actions() -> None:
    strong = nc.play_out(nc.BACKGAMMON, ("linear", "random"), seed=1)
    assert strong.over
    asked = []

    def bold(game: nc.Game) -> str | None:
        asked.append(game.due)
        if "beaver" in game.due:
            return "beaver"
        return "offer" if "offer" in game.due else None

    game = nc.play_out(nc.BACKGAMMON.replace(beavers=1, cube_cap=None), actions=bold, seed=2)
    assert game.stake.value > 4
    assert all("push" not in due for due in asked)

    def shy(game: nc.Game) -> str | None:
        return "refuse" if "refuse" in game.due else bold(game)

    assert nc.play_out(nc.SHORT_DAVE, actions=shy, seed=2).result().reason == "refused"
    with pytest.raises(NotDueError, match="'pass' is not due"):
        nc.play_out(nc.BACKGAMMON, actions=lambda game: "pass")


@pytest.mark.parametrize("rules", [nc.HYPERGAMMON, nc.SHORT_DAVE], ids=lambda rules: rules.name)
def test_advised_games(rules: nc.Rules) -> None:
    said = []
    for seed in range(6):
        game = nc.play_out(rules, seed=seed, actions="advised")
        assert check(game.record()) == game.record()
        said += [entry.action for entry in game.entries if isinstance(entry, CubeAction)]
        # nobody doubles from behind, so the side that was refused was ahead
        if game.result().reason == "refused":
            before = nc.rollout(game.position, games=2000, seed=1)
            assert before.win > 0.6
    assert said.count("offer") >= 3
    with pytest.raises(ValueError, match="actions are a function"):
        nc.play_out(rules, actions="best")


@pytest.mark.parametrize(
    "wrong",
    [
        ("start",),
        (nc.Position.start(),),
        (nc.BACKGAMMON, "best"),
        (nc.BACKGAMMON, 7),
        (nc.BACKGAMMON, ("linear",)),
        (nc.BACKGAMMON, nc.policies.linear_evaluator("long")),
    ],
)
def test_what_cannot_be_played_out(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        nc.play_out(*wrong)
    with pytest.raises(ValueError, match="own seed"):
        nc.play_out(nc.Game(), seed=1)


# ---------------------------------------------------------------------------------------- records


@pytest.mark.parametrize("rules", RULES, ids=NAMES)
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32), stop=st.integers(0, 150))
def test_records_go_both_ways_at_any_moment(rules: nc.Rules, seed: int, stop: int) -> None:
    chance = random.Random(seed)
    game = nc.Game(rules, seed=seed)
    for number, _ in enumerate(walk(game, chance)):
        if number >= stop and game.resignation is None:
            break
    record = game.record()
    assert pickle.loads(pickle.dumps(record)) == record
    assert check(record) == record
    again = nc.Game.from_record(record, seed=game.seed)
    assert again.record() == record
    assert snapshot(again)[:-1] == snapshot(game)[:-1]
    assert again.throws == game.throws
    assert bytes(record.final) == bytes(game.position)
    if not game.over and "roll" in game.due:
        assert again.roll() == game.roll()


def test_a_record_keeps_comments_and_the_score() -> None:
    entries = (Move("w", (3, 1), ((8, 5), (6, 5)), comment="point"),)
    record = GameRecord(nc.BACKGAMMON, first="w", score=(3, 1), length=5, entries=entries)
    game = nc.Game.from_record(record)
    assert game.record() == record
    assert game.score == (3, 1)


def test_a_record_from_a_position() -> None:
    position = nc.Position({6: 3, 1: 2}, {6: 2}, turn="b")
    game = nc.Game(position=position, stake=2, owner="b", seed=4)
    assert (game.turn, game.due) == ("b", ("roll", "offer", "resign"))
    nc.play_out(game)
    record = game.record()
    assert record.start == position
    assert nc.Game.from_record(record).record() == record


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([Move("b", (3, 1), ((8, 5), (6, 5)))], "white is to act, not black"),
        ([Move("w", (3, 1), ((8, 5), (6, 4)))], "8/5 6/4 is illegal"),
        ([Move("w", None, ((8, 5), (6, 5)))], "dice are not known"),
        ([CubeAction("w", "accept", 2)], "nothing has been offered"),
        ([CubeAction("w", "offer", 4)], "to 2, not to 4"),
        ([CubeAction("w", "offer", 2), Move("w", (3, 1), ())], "awaits the answer"),
        ([CubeAction("w", "offer", 2), CubeAction("w", "accept", 2)], "black is to act"),
        ([Move("w", (3, 1)), CubeAction("w", "offer", 2)], "has thrown 3-1"),
        ([Resignation("w", 0), Move("w", (3, 1), ())], "the game is over"),
    ],
)
def test_records_that_are_no_games(entries: list[Any], why: str) -> None:
    record = GameRecord(nc.BACKGAMMON, first="w", entries=tuple(entries))
    with pytest.raises((NotDueError, IllegalPlayError), match=why) as caught:
        nc.Game.from_record(record)
    assert str(caught.value).startswith(f"entry {len(entries)}: ")
    *sound, wrong = check(record).entries
    assert [entry.problem for entry in sound] == [None] * len(sound)
    if wrong.side is not None and not (isinstance(wrong, Move) and wrong.dice is None):
        assert wrong.problem is not None


def test_a_result_that_nobody_played() -> None:
    lost = GameResult("w", 0, points=1, reason="forfeit")
    record = GameRecord(nc.BACKGAMMON, first="w", result=lost)
    game = nc.Game.from_record(record)
    assert (game.result(), game.due, game.record()) == (lost, (), record)
    played = nc.play_out(nc.BACKGAMMON, seed=1).record()
    other = dataclasses.replace(played, result=lost)
    with pytest.raises(NotDueError, match="the game ended as"):
        nc.Game.from_record(other)


def test_copies_are_independent() -> None:
    game = nc.Game(seed=1)
    game.roll()
    twin = game.copy()
    twin.push(twin.plays()[0])
    assert (game.history, twin.history) == (("roll",), ("roll", "push"))
    assert repr(game) != repr(twin)


def test_a_position_brings_its_rules() -> None:
    assert nc.Game(position=nc.Position.start(nc.LONG_NARDY)).rules == nc.LONG_NARDY
    game = nc.Game(nc.SHORT_DAVE, position=nc.Position.start(nc.BACKGAMMON))
    assert game.position.rules == nc.SHORT_DAVE


def test_what_a_game_shows() -> None:
    game = nc.Game(throws=[(5, 2)])
    game.roll()
    assert str(game).splitlines()[-1].endswith("to play 5-2")
    assert game._repr_svg_().startswith("<svg")
    assert repr(game) == "<Game backgammon, turn 1, stake 1, white: push, resign>"
    nc.play_out(game)
    result = game.result()
    who = {"w": "white", "b": "black"}[result.winner]
    assert repr(game).endswith(f", {who} won {result.points}>")
