"""The collected cases, and own ones for what they lack, through the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest

import nardcore as nc
from nardcore.formats.positions import parse_position
from nardcore.rules import SCORING, Rules

DATA = Path(__file__).parent / "data"

RULE_CASES: list[dict[str, Any]] = json.loads((DATA / "rules.json").read_text("utf-8"))[1:]
REPORTED: dict[str, Any] = json.loads((DATA / "reported.json").read_text("utf-8"))
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in REPORTED["cases"]}


def side(text: str) -> dict[int | str, int]:
    """Read `bar:1 24:2 off:3`."""
    pairs = (entry.split(":") for entry in text.split())
    return {where if where in ("bar", "off") else int(where): int(n) for where, n in pairs}


def position_of(rules: Rules, mover: str, opponent: str, **more: Any) -> nc.Position:
    return nc.Position(side(mover), side(opponent), rules=rules, **more)


def mine(board: Any) -> str:
    """Write the mover's checkers the way `side` reads them, farthest first."""
    places = [("bar", board[24])]
    places += [(str(point), board[point - 1]) for point in range(24, 0, -1)]
    places += [("off", board[26])]
    return " ".join(f"{where}:{count}" for where, count in places if count > 0)


def results(rules: Rules, mover: str, opponent: str, dice: tuple[int, int]) -> set[str]:
    return {mine(board) for board in position_of(rules, mover, opponent).plays(dice).boards}


# ---------------------------------------------------------------------------------------------
# cases of the rules


def rules_of_case(movement: str, options: dict[str, Any]) -> Rules:
    """Turn a variant's options into rules; what the file omits has the file's own defaults.

    `head_allowed` is a limit already resolved: see `test_oracle.py`.
    """
    fields = {**options}
    allowed = fields.pop("head_allowed", 1)
    if movement == "long":
        fields = {"block_timing": "each_step", **fields}
        fields["head_exception"] = {1: "none", 2: "any_double"}[allowed]
    return Rules(movement=movement, **fields)


RULE_VARIANTS = [
    pytest.param(case, variant, id=f"{case['id']}-{name}")
    for case in RULE_CASES
    for name, variant in case["variants"].items()
]


@pytest.mark.parametrize(("case", "variant"), RULE_VARIANTS)
def test_every_variant_of_the_rule_cases(case: dict[str, Any], variant: dict[str, Any]) -> None:
    rules = rules_of_case(case["game"], variant["options"])
    position = position_of(rules, case["mover"], case["opponent"])
    plays = position.plays(tuple(case["dice"]))
    assert len(plays) == variant["n"]
    found = {
        (tuple(board[:24].clip(0).tolist()), int(board[24]), int(board[26]), int(board[25]))
        for board in plays.boards
    }
    expected = set()
    for result in variant["results"]:
        points = [0] * 24
        for point, n in result["mover"].items():
            points[int(point) - 1] = n
        bars = result["mover_bar"], result["mover_off"], result["opp_bar"]
        expected.add((tuple(points), *bars))
        if result.get("play"):
            # the file writes single steps and no hits, so it can name more than one play
            assert result["play"] in plays or " " in result["play"]
    assert found == expected
    assert max(play.dice_used for play in plays) == variant["dice_used"]


# ---------------------------------------------------------------------------------------------
# reported cases


def reported_position(case: dict[str, Any], sides: dict[str, list[int]] | None = None) -> Any:
    """Board of 26 counts a side: off, points 1..24, bar."""
    sides = sides or case["board"]
    rules = Rules(**case.get("rules", {}))
    places: list[int | str] = ["off", *range(1, 25), "bar"]
    mover, opponent = (
        {place: n for place, n in zip(places, sides[who], strict=True) if n or place == "off"}
        for who in ("me", "op")
    )
    return nc.Position(mover, opponent, rules=rules)


def cases_with(*keys: str) -> list[Any]:
    found = [case for case in CASES.values() if all(key in case for key in keys)]
    assert found
    return [pytest.param(case, id=case["id"]) for case in found]


@pytest.mark.parametrize("case", cases_with("dice", "count"))
def test_every_reported_play_set(case: dict[str, Any]) -> None:
    position = reported_position(case)
    plays = position.plays(tuple(case["dice"]))
    assert len(plays) == case["count"]
    assert max(play.dice_used for play in plays) == case["dice_used"]
    if "plays" not in case:
        return
    expected = set()
    for wanted in case["plays"]:
        board = reported_position(case, wanted["result"]).board
        expected.add(board.tobytes())
        if wanted["steps"]:
            assert plays.find(wanted["notation"]).board.tobytes() == board.tobytes()
    assert {board.tobytes() for board in plays.boards} == expected


@pytest.mark.parametrize("case", cases_with("dice", "count", "expect"))
def test_reported_spellings_and_refusals(case: dict[str, Any]) -> None:
    position, dice = reported_position(case), tuple(case["dice"])
    plays = position.plays(dice)
    expect = case["expect"]
    for spellings in expect.get("same_result", []):
        boards = {plays.find(text).board.tobytes() for text in spellings}
        assert len(boards) == 1
        if "result" in expect and spellings is expect["same_result"][0]:
            assert boards == {reported_position(case, expect["result"]).board.tobytes()}
    for text in expect.get("illegal", []):
        assert text not in plays
        with pytest.raises(nc.IllegalPlayError):
            position.play(text, dice=dice)
    if "hitting_plays" in expect:
        hits = [play.hits for play in plays if play.hits]
        assert hits == [(expect["hit_on"],)] * expect["hitting_plays"]
    if "points" in expect:
        (play,) = plays
        outcome = play.result.outcome
        assert outcome is not None
        assert outcome >= 5  # seen by the loser, who would be on roll
        assert nc.SCORING[expect["result_name"]][outcome - 5] == expect["points"]


@pytest.mark.parametrize("case", cases_with("board", "position_id"))
def test_every_reported_position_id(case: dict[str, Any]) -> None:
    position = reported_position(case)
    assert position.gnubg_id() == case["position_id"]
    assert nc.Position.parse(case["position_id"]) == position
    expect = case.get("expect", {})
    if "me_bar" in expect:
        assert position.bar == (expect["me_bar"], expect["op_bar"])


@pytest.mark.parametrize("case", cases_with("board", "xgid"))
def test_every_reported_xgid(case: dict[str, Any]) -> None:
    found = parse_position(case["xgid"])
    position = nc.Position.from_board(found.board, found.rules)
    assert position == reported_position(case)
    expect = case["expect"]
    if "pips" in expect:
        assert expect["on_roll"] == "X"
        assert position.pips == (expect["pips"]["X"], expect["pips"]["O"])
    if expect.get("dice"):
        assert found.dice is not None
        assert sorted(found.dice) == sorted(expect["dice"])


def test_there_are_no_plays_before_a_whole_roll_is_given() -> None:
    position = nc.Position.start()
    for dice in ((), (3,), None, "", (0, 0), (3, None)):
        with pytest.raises((ValueError, TypeError)):
            position.plays(dice)


# ---------------------------------------------------------------------------------------------
# Options without a case in the files

LARGER = Rules(last_home_larger=True)


def test_the_last_checker_comes_home_with_the_larger_die() -> None:
    assert results(LARGER, "7:1 6:1 1:1 off:12", "1:15", (6, 2)) == {"4:1 1:2 off:12"}


def test_the_last_checker_comes_home_with_the_smaller_die_where_the_larger_cannot() -> None:
    # 7/1 is closed
    assert results(LARGER, "7:1 6:2 off:12", "24:2 1:13", (6, 2)) == {"6:1 5:1 off:13"}


def test_what_the_larger_die_reaches_as_well_stays_legal() -> None:
    at = "7:1 6:2 5:1 off:11", "1:15", (4, 1)
    assert results(Rules(), *at) - results(LARGER, *at) == {"6:3 1:1 off:11"}  # 7/6 5/1
    assert "6:2 5:1 2:1 off:11" in results(LARGER, *at)  # 7/6/2, but 7/3/2 as well
    assert "7:1 5:2 2:1 off:11" in results(LARGER, *at)  # 6/2 6/5 leaves one outside


def test_the_last_checker_from_the_bar_cannot_be_home_in_one_turn_of_two_dice() -> None:
    at = "bar:1 6:2 off:12", "1:15", (6, 5)
    assert results(LARGER, *at) == results(Rules(), *at)


def test_doubles_bring_the_last_checker_home_as_they_like() -> None:
    at = "7:1 6:1 1:1 off:12", "1:15", (2, 2)
    assert results(LARGER, *at) == results(Rules(), *at)


def test_the_larger_die_rule_holds_in_long_too() -> None:
    rules = Rules(movement="long", last_home_larger=True)
    assert results(rules, "7:1 6:1 1:1 off:12", "12:15", (6, 2)) == {"4:1 1:2 off:12"}


BLOCK_TO_BE = "24:9 20:1 19:1 18:2 17:1 16:1"
CLOSED = "24:8 20:1 19:1 18:2 17:1 16:1 15:1"  # after 24/18/15, six in a row, 20 to 15


@pytest.mark.parametrize(
    ("enemy", "legal_in"),
    [
        ("24:15", {"off"}),
        ("24:14 2:1", {"off", "ahead", "home"}),
        ("24:14 9:1", {"off"}),  # behind the block
        ("24:14 off:1", {"off", "ahead", "home"}),
    ],
)
@pytest.mark.parametrize("timing", ["end_of_turn", "each_step"])
def test_a_block_needs_an_enemy_past_it_or_at_home(
    enemy: str, legal_in: set[str], timing: str
) -> None:
    for block in ("off", "ahead", "home", "flat"):
        rules = Rules.parse(f"long_nardy+block={block}+block_timing={timing}")
        assert (CLOSED in results(rules, BLOCK_TO_BE, enemy, (6, 3))) == (block in legal_in), block


@pytest.mark.parametrize(("block", "legal"), [("ahead", True), ("home", False)])
def test_an_enemy_past_the_block_need_not_be_home_unless_the_rules_say_so(
    block: str, legal: bool
) -> None:
    # 13/7 12/7 closes 12..7, the enemy's 24..19; its checkers stand on its own 18
    found = results(
        Rules.parse(f"long_nardy+block={block}"), "13:1 12:2 11:1 10:1 9:1 8:1 1:8", "18:15", (6, 5)
    )
    assert ("12:1 11:1 10:1 9:1 8:1 7:2 1:8" in found) == legal


@pytest.mark.parametrize(("point", "legal"), [(6, True), (7, False)])
def test_home_for_the_block_ends_at_the_enemys_six(point: int, legal: bool) -> None:
    # 12/7 closes 12 to 7, the enemy's 24 to 19, whose one checker past it stands on 6 or on 7
    home = Rules.parse("long_nardy+block=home")
    at = "12:2 11:1 10:1 9:1 8:1 2:9", f"{point}:1 18:14", (5, 1)
    assert (
        any(found.startswith("12:1 11:1 10:1 9:1 8:1 7:1") for found in results(home, *at)) == legal
    )


@pytest.mark.parametrize("timing", ["end_of_turn", "each_step"])
def test_a_turn_that_starts_with_a_forbidden_block_is_free_of_the_rule(timing: str) -> None:
    free = Rules.parse("long_nardy+block=off")
    rules = Rules.parse(f"long_nardy+block_timing={timing}")
    assert results(rules, CLOSED, "24:15", (2, 1)) == results(free, CLOSED, "24:15", (2, 1))


def test_a_free_head_gives_as_many_as_the_dice_take() -> None:
    rules = Rules.parse("long_nardy+head_limit=free+block=off")
    assert "24:11 23:4" in results(rules, "24:15", "24:15", (1, 1))
    assert "24:13 22:1 21:1" in results(rules, "24:15", "24:15", (3, 2))
    one = Rules.parse("long_nardy+block=off")
    assert results(one, "24:15", "24:15", (3, 2)) == {"24:14 19:1"}
    # not only in the first turn
    later = results(rules, "24:14 1:1", "24:14 1:1", (2, 2))
    assert "24:10 22:4 1:1" in later


@pytest.mark.parametrize(
    ("dice", "expected"),
    [
        ((3, 3), {"24:13 18:2", "24:13 21:1 15:1"}),
        ((4, 4), {"24:13 16:2"}),
        ((6, 6), {"24:13 18:2"}),
    ],
)
def test_first_turn_of_long(dice: tuple[int, int], expected: set[str]) -> None:
    assert results(nc.LONG_NARDY, "24:15", "24:15", dice) == expected


def test_blocked_exception_asks_for_the_way_of_one_checker() -> None:
    rules = Rules.parse("long_nardy+head_exception=blocked")
    # 24/19/14/9 ends on the enemy's 21, the mover's 9
    position = position_of(rules, "24:15", "24:14 21:1", first_turns=(True, False))
    assert {mine(board) for board in position.plays((5, 5)).boards} == {"24:13 14:2"}
    assert results(rules, "24:15", "24:15", (5, 5)) == {"24:14 4:1"}


def test_a_play_that_wins_stands_beside_a_longer_one() -> None:
    plays = position_of(Rules(), "2:1 off:14", "24:1 1:14").plays((3, 1))
    assert {str(play) for play in plays} == {"2/off", "2/1*/off"}
    hide = position_of(Rules(hit_and_hide="board"), "2:1 off:14", "24:1 1:14").plays((3, 1))
    assert len(hide) == 2


def test_when_both_dice_can_win_a_play_of_one_die_is_not_legal() -> None:
    # 2/1 leaves a 2 that exact_first does not let overshoot, so all but 2/off 1/off is too short
    at = "2:1 1:1 off:13", "12:15", (2, 1)
    for rules in (
        Rules(exact_first=True),
        Rules(exact_first=True, last_home_larger=True),
        Rules(exact_first=True, hit_and_hide="board"),
    ):
        assert results(rules, *at) == {"off:15"}
        both = np.array([position_of(rules, *at[:2]).board]), np.array([at[2]])
        from nardcore import _movegen

        for kernel in ("general", "chosen"):
            _, boards = _movegen.plays_by(kernel, *both, rules)
            assert [mine(board) for board in boards] == ["off:15"]


def test_both_dice_are_shown_where_both_must_be_played() -> None:
    # 3/off by the 4 alone leaves the same position, but leaves the 1 unplayed
    (joined,) = (
        play
        for play in position_of(Rules(), "3:1 1:1 off:13", "1:15").plays((4, 1))
        if mine(play.board) == "1:1 off:14"
    )
    assert joined.dice_used == 2
    assert joined.steps == ((3, 2), (2, 0))
    assert str(joined) == "3/2/off"


def test_the_hitter_may_be_covered_but_may_not_go_on_to_hide() -> None:
    rules = Rules(hit_and_hide="home")
    plays = position_of(rules, "8:2 6:2 4:2 off:9", "20:1 1:14").plays((3, 1))
    found = {(mine(board), int(board[25])) for board in plays.boards}
    assert ("8:1 6:2 4:3 off:9", 1) not in found  # 8/5*/4
    assert ("8:1 6:2 4:3 off:9", 0) in found  # 8/7/4
    assert ("8:1 6:1 5:2 4:2 off:9", 1) in found  # 8/5* 6/5
    assert ("7:1 6:2 5:1 4:2 off:9", 1) in found  # 8/5* 8/7
    assert "8/5*/4" in position_of(Rules(), "8:2 6:2 4:2 off:9", "20:1 1:14").plays((3, 1))


def test_a_double_of_a_hitter_that_another_joins_is_banned() -> None:
    rules = Rules(hit_and_hide="board")
    plays = position_of(rules, "10:2 off:13", "19:1 17:1 1:13").plays((2, 2))
    assert len(plays) == 3
    assert "6:2 off:13" in {mine(board) for board in plays.boards}


def test_a_pass_clears_the_flag_of_the_first_turn_and_nothing_else() -> None:
    position = position_of(nc.LONG_NARDY, "24:15", "11:1 10:1 9:13", first_turns=(True, True))
    (play,) = position.plays((2, 1))
    assert (str(play), play.dice_used, play.steps) == ("pass", 0, ())
    assert play.board.tolist() == [*position.board.tolist()[:29], 2, 0, 0]
    assert play.result.first_turns == (True, False)


def test_a_finished_game_has_no_plays() -> None:
    for sides in (("off:15", "6:15"), ("6:15", "off:15")):
        position = position_of(Rules(), *sides)
        assert len(position.plays((2, 1))) == 0
        assert position.outcome is not None
        with pytest.raises(nc.IllegalPlayError, match="over"):
            position.play("6/5", dice=(2, 1))


def test_three_checkers_play_and_count_from_nothing_off() -> None:
    position = nc.Position.start(nc.HYPERGAMMON)
    assert mine(position.board) == mine(position.flip().board) == "24:1 23:1 22:1"
    (play,) = position_of(nc.HYPERGAMMON, "1:2 off:1", "23:1 6:2").plays((2, 1))
    assert mine(play.board) == "off:3"
    assert play.result.outcome == 5 + 3


# ---------------------------------------------------------------------------------------------
# Results and points (section 10 of the rules)

TABLE = [
    ("6:14 off:1", "ANY_OFF", {"triktrak": 1, "beginner": 1, "backgammon": 1, "oin_mars": 1}),
    ("6:15", "ALL_HOME", {"triktrak": 2, "beginner": 3, "backgammon": 2, "oin_mars": 2}),
    ("6:14 7:1", "OUTSIDE", {"triktrak": 4, "beginner": 2, "backgammon": 2, "oin_mars": 2}),
    ("6:14 20:1", "WINNER_HOME", {"triktrak": 4, "beginner": 2, "backgammon": 3, "oin_mars": 2}),
    ("6:14 bar:1", "BAR", {"triktrak": 8, "beginner": 4, "backgammon": 3, "oin_mars": 2}),
    ("6:13 7:1 bar:1", "BAR", {"triktrak": 8, "beginner": 4, "backgammon": 3, "oin_mars": 2}),
    ("6:13 bar:1 off:1", "ANY_OFF", {"triktrak": 1, "beginner": 1, "backgammon": 1, "oin_mars": 1}),
]


@pytest.mark.parametrize(("loser", "state", "points"), TABLE)
def test_points_of_short(loser: str, state: str, points: dict[str, int]) -> None:
    won, lost = position_of(Rules(), "off:15", loser), position_of(Rules(), loser, "off:15")
    assert won.outcome == oracle.CLASSES.index(state)
    assert lost.outcome == won.outcome + 5
    assert won.flip().outcome == lost.outcome
    assert nc.batch.results([won.board, lost.board]).tolist() == [won.outcome, lost.outcome]
    for scoring, n in points.items():
        assert SCORING[scoring][won.outcome] == n
        assert Rules(scoring=scoring).points[won.outcome] == n
    assert SCORING["single"][won.outcome] == 1


@pytest.mark.parametrize(
    ("loser", "points"), [("6:13 bar:1 off:1", 8), ("6:13 7:1 off:1", 4), ("6:14 off:1", 1)]
)
def test_a_checker_off_protects_only_where_the_rules_say_so(loser: str, points: int) -> None:
    letter = Rules(off_protects=False, scoring="triktrak")
    outcome = position_of(letter, "off:15", loser).outcome
    assert outcome is not None
    assert letter.points[outcome] == points
    assert position_of(Rules(), "off:15", loser).outcome == 0


@pytest.mark.parametrize(
    ("loser", "koks", "state"),
    [
        ("24:15", "none", "WINNER_HOME"),
        ("24:15", "all_in_start", "BAR"),
        ("6:14 20:1", "all_in_start", "WINNER_HOME"),
        ("6:14 20:1", "any_in_start", "BAR"),
        ("6:14 18:1", "any_in_start", "OUTSIDE"),
        ("7:14 18:1", "none_home", "BAR"),
        ("6:1 7:14", "none_home", "OUTSIDE"),
        ("6:15", "none_home", "ALL_HOME"),
        ("24:14 off:1", "any_in_start", "ANY_OFF"),
    ],
)
def test_states_of_long(loser: str, koks: str, state: str) -> None:
    rules = Rules(movement="long", long_koks=koks)
    for turn in ("w", "b"):
        won = position_of(rules, "off:15", loser, turn=turn)
        assert won.outcome == oracle.CLASSES.index(state)
        assert won.flip().outcome == 5 + won.outcome


def test_points_of_long() -> None:
    for loser, beginner, plain in (("24:15", 4, 2), ("6:14 20:1", 2, 2)):
        for rules, points in ((nc.LONG_BEGINNER, beginner), (nc.LONG_NARDY, plain)):
            outcome = position_of(rules, "off:15", loser).outcome
            assert outcome is not None
            assert rules.points[outcome] == points


def test_a_game_that_goes_on_has_no_outcome() -> None:
    for rules in nc.PRESETS.values():
        assert nc.Position.start(rules).outcome is None
    assert nc.batch.results(nc.batch.start(3)).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("name", nc.PRESETS)
def test_outcomes_are_those_of_the_oracle_at_the_end_of_every_game(name: str) -> None:
    rules = nc.PRESETS[name]
    rng = np.random.default_rng(5)
    boards = nc.batch.start(40, rules)
    seen = 0
    while len(boards):
        played = nc.batch.plays(boards, rng.integers(1, 7, (len(boards), 2)), rules)
        chosen = played.boards[played.indptr[:-1] + rng.integers(0, np.diff(played.indptr))]
        outcomes = nc.batch.results(chosen, rules)
        for board, outcome in zip(
            chosen[outcomes >= 0].tolist(), outcomes[outcomes >= 0].tolist(), strict=True
        ):
            assert outcome == oracle.classify(rules, board) < 5
            flipped = nc.Position.from_board(board, rules).flip()
            assert flipped.outcome == oracle.classify(rules, flipped.board.tolist()) == outcome + 5
            seen += 1
        boards = nc.batch.flip(chosen[outcomes < 0], rules)
    assert seen == 40


# ---------------------------------------------------------------------------------------------
# The opening


@pytest.mark.parametrize("rules", [nc.BACKGAMMON, nc.TRIKTRAK], ids=lambda rules: rules.opening)
def test_the_higher_die_starts_and_equal_dice_are_thrown_again(rules: Rules) -> None:
    again = starters = 0
    for game in range(300):
        found = nc.dice.opening(rules, seed=3, game=game)
        *equal, (white, black) = found.throws
        assert all(first == second for first, second in equal)
        assert white != black
        assert found.starter == ("w" if white > black else "b")
        if rules.opening == "use_dice":
            assert found.dice == (max(white, black), min(white, black))
        else:
            assert found.dice is None
        assert found == nc.dice.opening(rules, seed=3, game=game)
        again += bool(equal)
        starters += found.starter == "w"
    assert 25 < again < 75
    assert 110 < starters < 190


def test_a_rollout_of_an_opening_throws_no_double_only_where_the_dice_are_the_first_roll() -> None:
    for rules, doubles in ((nc.BACKGAMMON, False), (nc.TRIKTRAK, True)):
        near = nc.Position({1: 1}, {1: 1}, rules=rules)  # one turn and it is over
        first = nc.rollout(near, games=1, seed=1, opening=True)
        rolls = [first.replay(i).turns[0].dice for i in range(150)]
        assert any(a == b for a, b in rolls) == doubles
