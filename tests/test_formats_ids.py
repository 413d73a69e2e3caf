"""Position IDs, match IDs and XGIDs beside another program and beside their own descriptions."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest

import nardcore as nc
from nardcore.errors import FormatError
from nardcore.formats import (
    dumps,
    loads,
    match_id,
    parse_gnubg_id,
    parse_xgid_state,
    state_gnubg_id,
    state_xgid,
)
from nardcore.formats.state import MatchState

N = 3000
DICE = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]


def random_states(n: int, seed: int = 1) -> list[MatchState]:
    """Make states with checkers anywhere, the bars included, and any cube, score and dice."""
    rng = random.Random(seed)
    found: list[MatchState] = []
    while len(found) < n:
        taken: set[int] = set()
        sides: list[dict[int | str, int]] = []
        for side in range(2):
            counts: dict[int | str, int] = {}
            on_bar = rng.choice([0, 0, 0, 1, 2, 4])
            if on_bar:
                counts["bar"] = on_bar
            off = rng.choice([0, 0, 0, 1, 7])
            for _ in range(15 - on_bar - off):
                point = rng.choice(list(counts) or [6]) if rng.random() < 0.5 else 0
                point = point if isinstance(point, int) and point else rng.randint(1, 24)
                if (25 - point if side else point) in taken:
                    continue
                counts[point] = counts.get(point, 0) + 1
            taken |= {25 - p if side else p for p in counts if isinstance(p, int)}
            counts["off"] = 15 - sum(counts.values())
            sides.append(counts)
        if not all(side["off"] < 15 for side in sides):
            continue
        turn = rng.choice("wb")
        length = rng.choice([0, 0, 1, 3, 7, 25, 64])
        offer = rng.choice([None, None, None, "double"])
        white, black = (rng.randrange(length or 80) for _ in range(2))
        crawford = bool(length) and rng.random() < 0.3
        if crawford:
            white = length - 1
        found.append(
            MatchState(
                nc.Position(*sides, turn=turn),
                dice=None
                if offer or rng.random() < 0.3
                else (rng.randint(1, 6), rng.randint(1, 6)),
                cube=2 ** rng.randint(0, 10),
                cube_owner=rng.choice([None, "w", "b"]),
                score=(white, black),
                length=length,
                crawford=crawford,
                jacoby=not length and rng.random() < 0.5,
                offer=offer,
            )
        )
    return found


STATES = random_states(N)


def counts(position: nc.Position) -> tuple[list[int], list[int]]:
    """Count the checkers of the mover and of the other side by own numbers 1 to 24, bar."""
    points = position.points
    mover = [*(max(count, 0) for count in points), position.bar[0]]
    return mover, [*(max(-count, 0) for count in reversed(points)), position.bar[1]]


def test_position_ids_agree_with_gnubg() -> None:
    gnubg = pytest.importorskip("gnubg_nn")
    for state in STATES:
        mover, opponent = counts(state.position)
        theirs = gnubg.position_id([opponent, mover])
        ours = state_gnubg_id(state).partition(":")[0]
        assert ours == theirs == state.position.gnubg_id()
        assert [list(side) for side in gnubg.board_from_position_id(ours)] == [opponent, mover]
        assert (
            parse_gnubg_id(theirs).position.board[:28].tolist()
            == state.position.board[:28].tolist()
        )


def board_of_xgid(text: str) -> tuple[list[int], list[int], bool]:
    """Read an XGID by its description: counts of X and O by own numbers, whether X is on roll."""
    places, _, _, turn = text.removeprefix("XGID=").split(":")[:4]
    x, o = [0] * 26, [0] * 26
    for at, letter in enumerate(places):
        if letter.isupper():
            x[at] = ord(letter) - ord("A") + 1
        elif letter.islower():
            o[25 - at] = ord(letter) - ord("a") + 1
    return x[1:], o[1:], turn == "1"


def test_xgids_agree_with_gnubg() -> None:
    gnubg = pytest.importorskip("gnubg_nn")
    for state in STATES:
        text = state_xgid(state)
        x, o, x_on_roll = board_of_xgid(text)
        theirs = gnubg.position_id([o, x] if x_on_roll else [x, o])
        assert theirs == state.position.gnubg_id()
        assert parse_xgid_state(text) == state


def bits(text: str) -> str:
    """Write the match key as gnubg's manual counts it: bit 1 is the first letter."""
    return "".join(f"{byte:08b}"[::-1] for byte in base64.b64decode(text))


def number(key: str, first: int, last: int) -> int:
    return int(key[first - 1 : last][::-1], 2)


def test_match_ids_agree_with_the_manual() -> None:
    for state in STATES:
        key = bits(match_id(state))
        player = {"b": 0, "w": 1}
        assert 2 ** number(key, 1, 4) == state.cube
        owner = 3 if state.cube_owner is None else player[state.cube_owner]
        assert number(key, 5, 6) == owner
        assert number(key, 7, 7) == player[state.position.turn]
        assert number(key, 8, 8) == state.crawford
        assert number(key, 9, 11) == 1
        assert number(key, 12, 12) == player[state.turn]
        assert number(key, 13, 13) == (state.offer == "double")
        assert (state.turn != state.position.turn) == (state.offer == "double")
        assert number(key, 14, 15) == 0
        dice = (number(key, 16, 18), number(key, 19, 21))
        assert dice == (state.dice or (0, 0))
        assert number(key, 22, 36) == state.length
        assert (number(key, 52, 66), number(key, 37, 51)) == state.score
        assert number(key, 67, 67) == (not state.jacoby)
        assert key[67:] == "00000"
        assert parse_gnubg_id(state_gnubg_id(state)) == state


def test_the_example_of_the_manual() -> None:
    """A match to 9, scores 2 and 4, player 1 has thrown 5-2, a cube on 2 that player 0 owns."""
    key = "1000" "00" "1" "0" "100" "1" "0" "00" "101" "010" "100100000000000"  # fmt: skip
    key += "010000000000000" + "001000000000000" + "000000"
    data = bytes(int(key[at : at + 8][::-1], 2) for at in range(0, 72, 8))
    text = base64.b64encode(data).decode()
    assert text == "QYkqASAAIAAA"
    state = loads(f"4HPwATDgc/ABMA:{text}")
    assert isinstance(state, MatchState)
    assert (state.cube, state.cube_owner, state.dice) == (2, "b", (5, 2))
    assert (state.position.turn, state.length, state.score) == ("w", 9, (4, 2))
    assert not state.crawford
    assert not state.jacoby
    # the 67th bit is younger than the example
    assert dumps(state, "gnubg") == "4HPwATDgc/ABMA:QYkqASAAIAAE"


# position ID, match ID and XGID of the same position, as BGBlitz gives them
TRIPLES = [
    ("dB7GGAJsZuJgAg", "cAkgAVAAAAAE", "---BBaB-BbA-bC-b--BdAca---:0:0:1:00:0:5:0:9:10"),
    ("b9sBCIC5bYDQAA", "QYnoAGAAGAAE", "-B-CBBB---a---A---ABcbbbd-:1:-1:1:21:3:6:0:7:10"),
    ("29aUAAjY7m4AAA", "UQkgASAACAAE", "---aBBCCCB----a-aa-babbbb-:1:1:1:00:1:2:0:9:10"),
    ("cxzwAA7gbjADEw", "UQngABAAAAAE", "---c--CCB---dB-B---c-BcAb-:1:1:1:00:0:1:0:7:10"),
]


@pytest.mark.parametrize(("position", "match", "xgid"), TRIPLES)
def test_three_ids_of_another_program(position: str, match: str, xgid: str) -> None:
    by_id, by_xgid = loads(f"{position}:{match}"), loads(f"XGID={xgid}")
    assert by_id == by_xgid
    assert dumps(by_id, "xgid") == f"XGID={xgid}"
    if by_id.dice is None:  # the dice may stand in either order
        assert dumps(by_xgid, "gnubg") == f"{position}:{match}"


def test_offers_and_resignations() -> None:
    start = nc.Position.start()
    doubled = loads("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:7:10")
    assert isinstance(doubled, MatchState)
    assert (doubled.offer, doubled.position.turn, doubled.turn) == ("double", "w", "b")
    assert loads(dumps(doubled, "gnubg")) == doubled
    assert loads(dumps(doubled, "fibs")) == doubled
    for letter, offer, turn in (("B", "beaver", "w"), ("R", "raccoon", "b")):
        state = loads(f"XGID=-b----E-C---eE---c-e----B-:0:0:1:{letter}:0:0:3:0:10")
        assert (state.offer, state.turn, state.jacoby, state.beavers) == (offer, turn, True, True)
        with pytest.raises(FormatError, match=offer):
            dumps(state, "gnubg")
    resigned = MatchState(start, resignation=2, resigner="b")
    assert resigned.turn == "w"
    assert loads(dumps(resigned, "gnubg")) == resigned
    with pytest.raises(FormatError, match="resign"):
        dumps(resigned, "xgid")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("4HPwATDgc/ABMA:cAkAAAAAAA", "12 characters"),
        ("4HPwATDgc/ABMA:cAkAAAAA!AAA", "base64"),
        ("4HPwATDgc/ABMA:cIkAAAAAAAAE", "dice"),
        ("4HPwATDgc/ABMA:cAnwAAAAAAAE", "dice"),
        ("4HPwATDgc/ABMA:YAkAAAAAAAAE", "owner"),
        ("4HPwATDgc/ABMA:cA8AAAAAAAAE", "state of the game"),
        ("4HPwATDgc/ABMA:" + "A" * 500, "position ID"),
    ],
)
def test_match_ids_that_are_none(text: str, what: str) -> None:
    with pytest.raises(FormatError, match=what):
        loads(text)


def test_numbers_that_do_not_fit() -> None:
    start = nc.Position.start()
    for more, what in (
        ({"score": (0, 40_000)}, "score_0"),
        ({"cube": 2**16}, "cube"),
    ):
        with pytest.raises(FormatError, match=what):
            match_id(MatchState(start, **more))


@pytest.mark.parametrize(
    "fields",
    [
        {"dice": (7, 1)},
        {"cube": 3},
        {"cube": 0},
        {"cube": True},
        {"cube_owner": "x"},
        {"score": (1,)},
        {"score": (-1, 0)},
        {"length": -1},
        {"crawford": True},
        {"crawford": 1, "length": 3},
        {"length": 3, "jacoby": True},
        {"offer": "double", "dice": (3, 1)},
        {"offer": "what"},
        {"resignation": 4, "resigner": "w"},
        {"resignation": 1},
        {"status": "asleep"},
        {"white": 3},
        {"max_cube": 5},
    ],
)
def test_states_that_cannot_be(fields: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        MatchState(nc.Position.start(), **fields)


def test_states_of_the_two_colours_differ() -> None:
    start = nc.Position.start()
    white, black = MatchState(start), MatchState(start.flip())
    assert start == start.flip()
    assert white != black
    assert len({white, black, MatchState(nc.Position.start())}) == 2
    with pytest.raises(FormatError, match="long nardy"):
        dumps(nc.Position.start(nc.LONG_NARDY), "fibs")


# --------------------------------------------------------------------------------- FIBS boards

# the example of the FIBS manual
FIBS = (
    "board:You:someplayer:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
    "1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
)


def test_the_example_of_fibs() -> None:
    state = loads(FIBS)
    assert isinstance(state, MatchState)
    assert (state.black, state.white) == ("You", "someplayer")
    assert (state.position.turn, state.dice, state.length, state.score) == ("b", (6, 2), 3, (1, 0))
    assert state.position == nc.Position.start()
    assert (state.cube, state.cube_owner, state.crawford) == (1, None, False)


def test_fibs_directions_and_colours_are_four_ways_to_say_it() -> None:
    parts = FIBS.split(":")
    board = [int(part) for part in parts[6:32]]
    seen = set()
    for colour in (1, -1):
        for direction in (-1, 1):
            turned = board if direction == -1 else board[::-1]
            here = [str(count * colour) for count in turned]
            rest = [*parts]
            rest[6:32] = here
            rest[32] = rest[41] = str(colour)
            rest[42] = str(direction)
            state = loads(":".join(rest))
            seen.add((dumps(state.position, "gnubg"), state.position.turn == "b"))
            assert state.position.pips == (167, 167)
    assert len({text.split(":")[0] for text, _ in seen}) == 1


@pytest.mark.parametrize(
    ("at", "value", "what"),
    [
        (6, "3", "bar"),
        (7, "-99", "too many"),
        (3, "x", "number"),
        (41, "0", "colour"),
        (32, "5", "turn"),
        (33, "7", "dice"),
        (37, "3", "cube"),
        (12, "15", "too many|impossible"),
    ],
)
def test_fibs_boards_that_are_none(at: int, value: str, what: str) -> None:
    parts = FIBS.split(":")
    parts[at] = value
    with pytest.raises(FormatError, match=what):
        loads(":".join(parts))
    with pytest.raises(FormatError, match="fields"):
        loads(":".join(parts[:20]))
