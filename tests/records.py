"""Hypothesis strategies of games and matches as records, for each format what it can hold."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

import nardcore as nc
from nardcore._board import Position
from nardcore.formats.state import OFFERS, MatchState
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
)
from nardcore.testing import positions, rolls

SIDES = st.sampled_from("wb")
# what people write, and what breaks files
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=12)
ANY_TEXT = st.text(max_size=20)
NOTHING = st.just("")
CHECKED = tuple(nc.Rules.preset(name) for name in nc.PRESETS)


def other(side: str) -> str:
    return "b" if side == "w" else "w"


@st.composite
def played(
    draw,
    rules: nc.Rules,
    *,
    plain: bool,
    legal: bool = False,
    remarks: Any = NOTHING,
    cube: bool = True,
    length: int = 0,
    score: tuple[int, int] = (0, 0),
    crawford: bool = False,
):
    """Play a game, with wrong plays and offers in it.

    `plain` leaves out what only the own formats hold.
    """
    side = draw(SIDES)
    position = Position.start(rules)
    start = None
    if not plain and draw(st.booleans()):
        start = draw(positions(rules))
        position = start
        side = start.turn
    elif position.turn != side:
        board = position.board.copy()
        board[28] = 1
        position = Position.from_board(board, rules)
    entries: list[Any] = []
    stake, owner = 1, None
    over = None
    for _ in range(draw(st.integers(0, 10))):
        if position.outcome is not None:
            break
        kind = draw(st.integers(0, 11))
        offers = cube and entries and owner in (None, side) and not crawford and kind == 0
        if offers and rules.stake != "none":
            value = stake + 1 if rules.stake == "dave_arithmetic" else 2 * stake
            entries.append(CubeAction(side, "offer", value, comment=draw(remarks)))
            if draw(st.booleans()):
                entries.append(CubeAction(other(side), "accept", value, comment=draw(remarks)))
                stake, owner = value, other(side)
            else:
                entries.append(CubeAction(other(side), "refuse", value, comment=draw(remarks)))
                over = (side, 0, stake, "refused")
                break
        dice = draw(rolls())
        plays = position.plays(dice)
        steps: Any = plays[draw(st.integers(0, len(plays) - 1))].steps
        if not legal and kind == 1:
            number = st.integers(0, 25)
            # a pass that is none, before a resignation, is to other formats a roll not played
            steps = tuple(draw(st.lists(st.tuples(number, number), min_size=plain, max_size=4)))
        if not plain and kind == 2:
            steps = None
        if not plain and kind == 3:
            dice = None
        move = Move(side, dice, steps, comment=draw(remarks))
        entries.append(move)
        if steps is None:
            continue
        position = enter_steps(position, move)[0]
        side = other(side)
    result = None
    if position.outcome is not None:
        winner = position.turn if position.outcome < 5 else other(position.turn)
        over = (winner, position.outcome % 5, stake * rules.points[position.outcome % 5], "played")
    elif over is None and entries and draw(st.booleans()):
        state = draw(st.integers(0, 4))
        state = rules.points.index(rules.points[state]) if plain else state
        loser = side
        entries.append(Resignation(loser, state, comment=draw(remarks)))
        over = (other(loser), state, stake * rules.points[state], "resigned")
    if over is not None:
        winner, state, points, reason = over
        result = GameResult(winner, state, points, stake, reason)
    game = GameRecord(
        rules,
        start=start,
        first=entries[0].side if entries else None,
        score=score,
        crawford=crawford,
        entries=tuple(entries),
        result=result,
        length=length,
    )
    if not plain:
        throws = draw(st.lists(st.builds(Throw, st.integers(1, 6), st.integers(1, 6)), max_size=3))
        if rules.auto_doubles == 0:
            game = dataclasses.replace(game, throws=tuple(throws))
        game = dataclasses.replace(
            game,
            stake=draw(st.sampled_from([1, 2, 3, 8])),
            owner=draw(st.sampled_from([None, "w", "b"])),
            comment=draw(remarks),
            first=draw(st.sampled_from([None, "w", "b"])),
        )
    return check(game)


@st.composite
def matches(draw, rules: Any, *, plain: bool = False, texts: Any = ANY_TEXT, remarks: Any = None):
    """Draw matches; `plain` ones are those that the formats of other programs hold."""
    used = rules if isinstance(rules, nc.Rules) else draw(rules)
    length = draw(st.sampled_from([0, 1, 3, 7]))
    said = remarks
    if said is None:
        said = NOTHING if plain else texts
    games = []
    crawford_past = False
    for _ in range(draw(st.integers(0, 2))):
        score = draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))
        crawford = draw(st.booleans()) if not plain else False
        if plain and length > 1 and used.crawford and used.stake == "cube" and not crawford_past:
            crawford = crawford_past = length - 1 in score
        crawford = crawford and length > 0
        games.append(
            draw(
                played(
                    used,
                    plain=plain,
                    remarks=said,
                    length=length,
                    score=score,
                    crawford=crawford,
                )
            )
        )
    return MatchRecord(
        used,
        white=draw(texts.filter(bool)) if plain else draw(texts),
        black=draw(texts.filter(bool)) if plain else draw(texts),
        length=length,
        games_to_play=0 if plain else draw(st.sampled_from([0, 3])),
        games=tuple(games),
        info=tuple(draw(st.lists(st.tuples(texts, texts), max_size=2))) if not plain else (),
    )


@st.composite
def states(draw, *, full: bool = True, names: Any = NOTHING):
    """Draw states of a match around any position of short nardy."""
    rules = draw(st.sampled_from([nc.BACKGAMMON, nc.NACKGAMMON, nc.HYPERGAMMON]))
    position = draw(positions(rules))
    if draw(st.booleans()):
        board = position.board.copy()
        board[28] ^= 1
        position = Position.from_board(board, rules)
    length = draw(st.sampled_from([0, 1, 5, 25, 32767]))
    offer = draw(st.sampled_from([None, None, *OFFERS]))
    if not full and offer in ("beaver", "raccoon"):
        offer = None
    resignation = draw(st.integers(0, 3)) if full else 0
    status = "playing"
    if full:
        status = draw(st.sampled_from(["playing", "none", "over", "resigned", "dropped"]))
    points = st.integers(0, 999)
    if length and status == "playing":
        points = st.integers(0, min(length - 1, 999)) | st.just(length - 1)
    score = draw(st.tuples(points, points))
    return MatchState(
        position,
        dice=None if offer else draw(st.none() | rolls()),
        cube=2 ** draw(st.integers(0, 15)),
        cube_owner=draw(st.sampled_from([None, "w", "b"])),
        score=score,
        length=length,
        crawford=draw(st.booleans()) if length and length - 1 in score else False,
        jacoby=draw(st.booleans()) if not length else False,
        beavers=draw(st.booleans()) if not length and full else False,
        max_cube=draw(st.sampled_from([None, 1, 64, 4096])) if full else None,
        offer=offer,
        resignation=resignation,
        resigner=draw(SIDES) if resignation else None,
        status=status,
        white=draw(names),
        black=draw(names),
    )
