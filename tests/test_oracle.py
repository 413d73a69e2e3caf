"""The oracle against the collected cases and the counts that the rules page gives.

These tests need neither the package nor numpy: they say whether `oracle.py` reads the rules
right, before anything is compared with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oracle
import pytest
from oracle import Board, make_rules

DATA = Path(__file__).parent / "data"

RULE_CASES: list[dict[str, Any]] = json.loads((DATA / "rules.json").read_text("utf-8"))[1:]
REPORTED: dict[str, Any] = json.loads((DATA / "reported.json").read_text("utf-8"))

Side = dict[int | str, int]


def side(text: str) -> Side:
    """Read `bar:1 24:2 off:3`."""
    pairs = (entry.split(":") for entry in text.split())
    return {where if where in ("bar", "off") else int(where): int(n) for where, n in pairs}


def make_board(rules: Any, mover: Side, enemy: Side, flags: int | None = None) -> Board:
    """Put both sides, each in its own numbering, on a board; flags default as in rule 22."""
    board = [0] * 32
    for where, count in mover.items():
        if isinstance(where, int):
            board[where - 1] += count
    for where, count in enemy.items():
        if isinstance(where, int):
            board[oracle.enemy_number(rules, where) - 1] -= count
    board[oracle.MY_BAR], board[oracle.ENEMY_BAR] = mover.get("bar", 0), enemy.get("bar", 0)
    board[oracle.MY_OFF], board[oracle.ENEMY_OFF] = mover.get("off", 0), enemy.get("off", 0)
    if flags is None:
        flags = 0
        if rules.movement == "long":
            flags = (mover.get(24) == rules.checkers) | (enemy.get(24) == rules.checkers) << 1
    board[oracle.FLAGS] = flags
    return tuple(board)


def board_of(rules: Any, mover: str, enemy: str, flags: int | None = None) -> Board:
    return make_board(rules, side(mover), side(enemy), flags)


def mine(board: Board) -> str:
    """Write the mover's checkers the way `side` reads them, farthest first."""
    places = [("bar", board[oracle.MY_BAR])]
    places += [(str(point), board[point - 1]) for point in range(24, 0, -1)]
    places += [("off", board[oracle.MY_OFF])]
    return " ".join(f"{where}:{count}" for where, count in places if count > 0)


# ---------------------------------------------------------------------------------------------
# cases/rules.json


def rules_of_case(movement: str, options: dict[str, Any]) -> Any:
    """Turn a variant's options into rules; what the file omits has the file's own defaults.

    `head_allowed` is a limit already resolved. All cases with two are doubles in a first turn,
    so the exception for any double gives it, and no exception gives one.
    """
    fields = {"movement": movement, "block_timing": "each_step", **options}
    allowed = fields.pop("head_allowed", 1)
    fields["head_exception"] = {1: "none", 2: "any_double"}[allowed]
    return make_rules(**fields)


RULE_VARIANTS = [
    pytest.param(case, variant, id=f"{case['id']}-{name}")
    for case in RULE_CASES
    for name, variant in case["variants"].items()
]


@pytest.mark.parametrize(("case", "variant"), RULE_VARIANTS)
def test_every_variant_of_the_rule_cases(case: dict[str, Any], variant: dict[str, Any]) -> None:
    rules = rules_of_case(case["game"], variant["options"])
    board = board_of(rules, case["mover"], case["opponent"])
    used = oracle.plays_with_dice(rules, board, case["dice"])

    def seen(result: Board) -> tuple[tuple[tuple[int, int], ...], int, int, int]:
        points = tuple((p, result[p - 1]) for p in range(1, 25) if result[p - 1] > 0)
        bar, off = result[oracle.MY_BAR], result[oracle.MY_OFF]
        return points, bar, off, result[oracle.ENEMY_BAR]

    expected = {
        (
            tuple(sorted((int(p), n) for p, n in result["mover"].items())),
            result["mover_bar"],
            result["mover_off"],
            result["opp_bar"],
        )
        for result in variant["results"]
    }
    assert {seen(result) for result in used} == expected
    assert len(used) == variant["n"]
    assert max(used.values()) == variant["dice_used"]
    assert all(
        dice == variant["dice_used"] or oracle.mover_is_off(result) for result, dice in used.items()
    )


# ---------------------------------------------------------------------------------------------
# cases/reported.json


def reported_board(rules: Any, sides: dict[str, list[int]]) -> Board:
    def named(counts: list[int]) -> Side:
        where: list[int | str] = ["off", *range(1, 25), "bar"]
        return dict(zip(where, counts, strict=True))

    return make_board(rules, named(sides["me"]), named(sides["op"]))


PLAY_CASES = [case for case in REPORTED["cases"] if "dice" in case and "count" in case]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in PLAY_CASES])
def test_every_reported_play_set(case: dict[str, Any]) -> None:
    rules = make_rules(**case.get("rules", {}))
    board = reported_board(rules, case["board"])
    used = oracle.plays_with_dice(rules, board, case["dice"])
    assert len(used) == case["count"]
    assert max(used.values()) == case["dice_used"]
    if "plays" in case:
        expected = {reported_board(rules, play["result"]) for play in case["plays"]}
        assert set(used) == expected
    if "result" in case.get("expect", {}):
        assert reported_board(rules, case["expect"]["result"]) in used


def test_reported_backgammon_after_three_aces() -> None:
    rules = make_rules()
    (case,) = (case for case in PLAY_CASES if case["id"] == "three-aces-1-1")
    (result,) = oracle.plays(rules, reported_board(rules, case["board"]), case["dice"])
    won = oracle.classify(rules, result)
    assert oracle.points("backgammon", won) == case["expect"]["points"]


def test_reported_opening_counts() -> None:
    rules = make_rules()
    counts = {
        f"{high}-{low}": len(oracle.plays(rules, oracle.start(rules), (high, low)))
        for high, low in oracle.ROLLS
    }
    assert counts == REPORTED["opening_counts"]


# ---------------------------------------------------------------------------------------------
# Counts of section 10


def test_perft_of_short_to_depth_one() -> None:
    rules = make_rules()
    assert oracle.perft(rules, oracle.start(rules), 1) == 447


def test_perft_of_short_to_depth_two() -> None:
    rules = make_rules()
    assert oracle.perft(rules, oracle.start(rules), 2) == 202_782


@pytest.mark.parametrize(
    ("fields", "one", "two"),
    [
        ({"head_exception": "none"}, 21, 441),
        ({"head_exception": "listed"}, 22, 484),
        ({"head_exception": "listed", "head_exception_for": "second"}, 21, 462),
        ({"head_exception": "blocked"}, 22, 489),
        ({"head_exception": "any_double"}, 28, 770),
        ({"head_exception": "any_double", "head_exception_for": "second"}, 21, 581),
        ({"head_limit": "free"}, 53, 2768),
    ],
)
def test_perft_of_long(fields: dict[str, Any], one: int, two: int) -> None:
    rules = make_rules(movement="long", **fields)
    board = oracle.start(rules)
    assert (oracle.perft(rules, board, 1), oracle.perft(rules, board, 2)) == (one, two)


@pytest.mark.parametrize(
    ("dice", "results"),
    [
        ((3, 3), {"24:13 18:2", "24:13 21:1 15:1"}),
        ((4, 4), {"24:13 16:2"}),
        ((6, 6), {"24:13 18:2"}),
    ],
)
def test_first_turn_of_long(dice: tuple[int, int], results: set[str]) -> None:
    rules = make_rules(movement="long")
    assert {mine(board) for board in oracle.plays(rules, oracle.start(rules), dice)} == results


# ---------------------------------------------------------------------------------------------
# Results and points


@pytest.mark.parametrize(
    ("loser", "expected"),
    [
        ("6:14 off:1", {"triktrak": 1, "beginner": 1, "backgammon": 1, "oin_mars": 1}),
        ("6:15", {"triktrak": 2, "beginner": 3, "backgammon": 2, "oin_mars": 2}),
        ("6:14 7:1", {"triktrak": 4, "beginner": 2, "backgammon": 2, "oin_mars": 2}),
        ("6:14 20:1", {"triktrak": 4, "beginner": 2, "backgammon": 3, "oin_mars": 2}),
        ("6:14 bar:1", {"triktrak": 8, "beginner": 4, "backgammon": 3, "oin_mars": 2}),
        ("6:13 7:1 bar:1", {"triktrak": 8, "beginner": 4, "backgammon": 3, "oin_mars": 2}),
        ("6:13 bar:1 off:1", {"triktrak": 1, "beginner": 1, "backgammon": 1, "oin_mars": 1}),
    ],
)
def test_points_of_short(loser: str, expected: dict[str, int]) -> None:
    rules = make_rules()
    won = oracle.classify(rules, board_of(rules, "off:15", loser))
    lost = oracle.classify(rules, board_of(rules, loser, "off:15"))
    assert lost == won + 5
    for scoring, points in expected.items():
        assert oracle.points(scoring, won) == points
        assert oracle.points(scoring, lost) == -points
        assert oracle.points("single", won) == 1


def test_a_checker_off_protects_only_where_the_rules_say_so() -> None:
    rules = make_rules(off_protects=False)
    for loser, points in [("6:13 bar:1 off:1", 8), ("6:13 7:1 off:1", 4), ("6:14 off:1", 1)]:
        result = oracle.classify(rules, board_of(rules, "off:15", loser))
        assert oracle.points("triktrak", result) == points


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
    rules = make_rules(movement="long", long_koks=koks)
    result = oracle.classify(rules, board_of(rules, "off:15", loser))
    assert oracle.CLASSES[result] == state


def test_points_of_long() -> None:
    beginner = make_rules(movement="long", long_koks="all_in_start", scoring="beginner")
    plain = make_rules(movement="long", scoring="oin_mars")
    for loser, of_beginner, of_plain in [("24:15", 4, 2), ("6:14 20:1", 2, 2)]:
        for rules, points in [(beginner, of_beginner), (plain, of_plain)]:
            result = oracle.classify(rules, board_of(rules, "off:15", loser))
            assert oracle.points(rules.scoring, result) == points


def test_a_game_that_goes_on_has_no_class() -> None:
    rules = make_rules()
    with pytest.raises(ValueError, match="not over"):
        oracle.classify(rules, oracle.start(rules))


# ---------------------------------------------------------------------------------------------
# Options and corners without a case in the files


def test_the_hitter_may_be_covered_but_may_not_go_on_to_hide() -> None:
    rules = make_rules(hit_and_hide="home")
    board = board_of(rules, "8:2 6:2 4:2 off:9", "20:1 1:14")
    results = {(mine(b), b[oracle.ENEMY_BAR]) for b in oracle.plays(rules, board, (3, 1))}
    assert ("8:1 6:2 4:3 off:9", 1) not in results  # 8/5*/4
    assert ("8:1 6:2 4:3 off:9", 0) in results  # 8/7/4
    assert ("8:1 6:1 5:2 4:2 off:9", 1) in results  # 8/5* 6/5
    assert ("7:1 6:2 5:1 4:2 off:9", 1) in results  # 8/5* 8/7


@pytest.mark.parametrize("movement", ["short", "long"])
def test_flip_undoes_itself(movement: str) -> None:
    rules = make_rules(movement=movement)
    for board in oracle.plays(rules, oracle.start(rules), (6, 5)):
        assert oracle.flip(rules, oracle.flip(rules, board)) == board


def test_a_finished_game_has_no_plays() -> None:
    rules = make_rules()
    assert oracle.plays(rules, board_of(rules, "off:15", "6:15"), (2, 1)) == set()
    assert oracle.plays(rules, board_of(rules, "6:15", "off:15"), (2, 1)) == set()


def test_a_pass_clears_the_flag_of_the_first_turn_and_nothing_else() -> None:
    rules = make_rules(movement="long")
    board = board_of(rules, "24:15", "11:1 10:1 9:13", flags=3)  # on the mover's 23, 22, 21
    assert oracle.plays(rules, board, (2, 1)) == {(*board[:29], 2, 0, 0)}


def test_a_play_that_wins_stands_beside_a_longer_one() -> None:
    rules = make_rules()
    board = board_of(rules, "2:1 off:14", "24:1 1:14")
    used = oracle.plays_with_dice(rules, board, (3, 1))
    assert sorted(used.values()) == [1, 2]


def test_last_checker_home_with_the_larger_die() -> None:
    rules = make_rules(last_home_larger=True)
    board = board_of(rules, "7:1 6:1 1:1 off:12", "1:15")
    assert {mine(b) for b in oracle.plays(rules, board, (6, 2))} == {"4:1 1:2 off:12"}


def test_last_checker_home_with_the_smaller_die_where_the_larger_cannot() -> None:
    rules = make_rules(last_home_larger=True)
    board = board_of(rules, "7:1 6:2 off:12", "24:2 1:13")  # 7/1 is closed
    assert {mine(b) for b in oracle.plays(rules, board, (6, 2))} == {"6:1 5:1 off:13"}


def test_last_checker_home_bans_only_what_the_smaller_die_alone_reaches() -> None:
    rules = make_rules(last_home_larger=True)
    board = board_of(rules, "7:1 6:2 5:1 off:11", "1:15")
    plain = {mine(b) for b in oracle.plays(make_rules(), board, (4, 1))}
    strict = {mine(b) for b in oracle.plays(rules, board, (4, 1))}
    assert plain - strict == {"6:3 1:1 off:11"}  # 7/6 5/1
    assert "6:2 5:1 2:1 off:11" in strict  # 7/6/2, but 7/3/2 as well
    assert "7:1 5:2 2:1 off:11" in strict  # 6/2 6/5 leaves a checker outside


def test_last_checker_home_ignores_doubles() -> None:
    board = board_of(make_rules(), "7:1 6:1 1:1 off:12", "1:15")
    plain = oracle.plays(make_rules(), board, (2, 2))
    assert oracle.plays(make_rules(last_home_larger=True), board, (2, 2)) == plain


BLOCK_TO_BE = "24:9 20:1 19:1 18:2 17:1 16:1"
CLOSED = "24:8 20:1 19:1 18:2 17:1 16:1 15:1"


@pytest.mark.parametrize(
    ("enemy", "legal_in"),
    [
        ("24:15", {"off"}),
        ("24:14 2:1", {"off", "ahead", "home"}),  # past the block and in its home
        ("24:14 9:1", {"off"}),  # behind the block
        ("24:14 off:1", {"off", "ahead", "home"}),
    ],
)
def test_who_must_stand_where_for_a_block(enemy: str, legal_in: set[str]) -> None:
    for block in ("off", "ahead", "home", "flat"):
        rules = make_rules(movement="long", block=block)
        board = board_of(rules, BLOCK_TO_BE, enemy)
        results = oracle.plays(rules, board, (6, 3))
        # 24/18/15 makes six in a row, 20 to 15.
        closes = any(mine(b) == CLOSED for b in results)
        assert closes == (block in legal_in), block


@pytest.mark.parametrize(("block", "legal"), [("ahead", True), ("home", False)])
def test_an_enemy_past_the_block_need_not_be_home(block: str, legal: bool) -> None:
    # 13/7 12/7 closes 12..7, the enemy's 24..19; its checkers stand on its own 18.
    rules = make_rules(movement="long", block=block)
    board = board_of(rules, "13:1 12:2 11:1 10:1 9:1 8:1 1:8", "18:15")
    results = {mine(b) for b in oracle.plays(rules, board, (6, 5))}
    assert ("12:1 11:1 10:1 9:1 8:1 7:2 1:8" in results) == legal


def test_a_turn_that_starts_with_a_forbidden_block_is_free_of_the_rule() -> None:
    for timing in ("end_of_turn", "each_step"):
        rules = make_rules(movement="long", block_timing=timing)
        free = make_rules(movement="long", block="off")
        board = board_of(rules, CLOSED, "24:15")
        assert oracle.plays(rules, board, (2, 1)) == oracle.plays(free, board, (2, 1))


def test_blocked_exception_asks_for_the_way_of_one_checker() -> None:
    rules = make_rules(movement="long", head_exception="blocked")
    # 24/19/14/9 ends on the enemy's 21 (the mover's 9).
    board = board_of(rules, "24:15", "24:14 21:1", flags=1)
    assert {mine(b) for b in oracle.plays(rules, board, (5, 5))} == {"24:13 14:2"}
    board = board_of(rules, "24:15", "24:15", flags=3)
    assert {mine(b) for b in oracle.plays(rules, board, (5, 5))} == {"24:14 4:1"}


def test_three_checkers_and_their_last_turn() -> None:
    rules = make_rules(checkers=3, start=((24, 1), (23, 1), (22, 1)))
    board = oracle.start(rules)
    assert mine(board) == mine(oracle.flip(rules, board)) == "24:1 23:1 22:1"
    (won,) = oracle.plays(rules, board_of(rules, "1:2 off:1", "23:1 6:2"), (2, 1))
    assert mine(won) == "off:3"
    assert oracle.plays(rules, won, (2, 1)) == oracle.plays(rules, oracle.flip(rules, won), (2, 1))
    assert oracle.points("backgammon", oracle.classify(rules, won)) == 3
