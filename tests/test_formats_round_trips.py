"""What is written is read back as it was, for every format that is written."""

from __future__ import annotations

import dataclasses
import re
import sys

import pytest
from boards import ruled_boards
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from records import ANY_TEXT, CHECKED, NAMES, matches, played, states

import nardcore as nc
from nardcore.errors import FormatError
from nardcore.formats import dumps, loads, sniff
from nardcore.formats._games import canonical
from nardcore.formats.state import MatchState
from nardcore.notation import NUMBERINGS
from nardcore.records import (
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Move,
    Resignation,
    check,
    enter_steps,
)

ALL = st.sampled_from(CHECKED)
FOREIGN = st.sampled_from(
    [
        nc.BACKGAMMON,
        nc.NACKGAMMON,
        nc.HYPERGAMMON,
        nc.BACKGAMMON.replace(jacoby=True, crawford=False),
        nc.BACKGAMMON.replace(opening="reroll", cube_cap=None),
    ]
)
slow = settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
PLAIN_NAMES = NAMES.filter(lambda name: name.strip() == name and name)


@slow
@given(matches(ALL))
def test_json_holds_every_match(match: MatchRecord) -> None:
    text = dumps(match, "json")
    assert sniff(text) == "json"
    assert loads(text) == match
    for game in match.games:
        assert loads(dumps(game, "json")) == game


@slow
@given(matches(ALL, texts=NAMES, remarks=ANY_TEXT), st.sampled_from(NUMBERINGS))
def test_sheets_hold_every_match(match: MatchRecord, numbering: str) -> None:
    text = dumps(match, "sheet", numbering=numbering)
    assert sniff(text) == "sheet"
    assert loads(text) == match


@slow
@given(matches(ALL, texts=ANY_TEXT))
def test_sheets_hold_any_text(match: MatchRecord) -> None:
    assert loads(dumps(match, "sheet"), "sheet") == match


@slow
@given(matches(FOREIGN, plain=True, texts=PLAIN_NAMES), st.sampled_from(["words", "numbers"]))
def test_mat(match: MatchRecord, dialect: str) -> None:
    text = dumps(match, "mat", dialect=dialect)
    assert sniff(text) == "mat"
    back = loads(text)
    assert back == canonical(match)
    assert loads(dumps(back, "mat", dialect=dialect)) == back


@slow
@given(
    matches(FOREIGN | st.just(nc.TRIKTRAK), plain=True, texts=PLAIN_NAMES, remarks=ANY_TEXT),
    st.lists(st.tuples(st.sampled_from(["EV", "DT", "Site", "odd key]"]), ANY_TEXT), max_size=1),
)
def test_sgf(match: MatchRecord, info: list[tuple[str, str]]) -> None:
    # a remark on a resignation has no place there
    games = tuple(
        dataclasses.replace(g, entries=tuple(map(silent, g.entries))) for g in match.games
    )
    assume(games)
    match = dataclasses.replace(match, games=games, info=tuple(info))
    text = dumps(match, "sgf")
    assert sniff(text) == "sgf"
    back = loads(text)
    assert back == canonical(match)
    assert loads(dumps(back, "sgf")) == back


def silent(entry):
    return (
        entry if isinstance(entry, (Move, CubeAction)) else dataclasses.replace(entry, comment="")
    )


@slow
@given(states(names=ANY_TEXT))
def test_json_holds_every_state(state: MatchState) -> None:
    assert loads(dumps(state, "json")) == state


@slow
@given(states(full=False))
def test_gnubg_ids(state: MatchState) -> None:
    text = dumps(state, "gnubg")
    assert sniff(text) == "gnubg"
    assert loads(text, rules=state.position.rules) == state
    assert loads(text, rules=state.position.rules).position.turn == state.position.turn


@slow
@given(states())
def test_gnubg_ids_hold_what_they_say(state: MatchState) -> None:
    fits = state.offer not in ("beaver", "raccoon") and not state.beavers and state.max_cube is None
    if fits:
        assert loads(dumps(state, "gnubg"), rules=state.position.rules) == state
    else:
        with pytest.raises(FormatError, match=r"cannot hold|knows no"):
            dumps(state, "gnubg")


@slow
@given(states())
def test_xgids(state: MatchState) -> None:
    fits = state.status == "playing" and not state.resignation
    if fits:
        text = dumps(state, "xgid")
        assert sniff(text) == "xgid"
        assert loads(text, rules=state.position.rules) == state
        assert loads(text.removeprefix("XGID="), rules=state.position.rules) == state
    else:
        with pytest.raises(FormatError, match="cannot hold"):
            dumps(state, "xgid")


@slow
@given(states(full=False, names=NAMES.map(lambda name: "".join(name.replace(":", "").split()))))
def test_fibs_boards(state: MatchState) -> None:
    away = [state.length - points for points in state.score]
    crawford = state.length > 1 and away.count(1) == 1 and state.cube == 1
    doubler_may = state.offer is None or state.cube_owner in (None, state.position.turn)
    fits = (
        doubler_may
        and state.length != 9999
        and not state.jacoby
        and state.crawford == (crawford and state.crawford)
        and not (state.crawford and (state.cube_owner or state.offer))
    )
    assume(fits and state.white != "X" and state.black != "O")
    text = dumps(state, "fibs")
    assert sniff(text) == "fibs"
    assert loads(text, rules=state.position.rules) == state


@given(ruled_boards, st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_own_text(ruled, dice) -> None:
    board, rules = ruled
    state = MatchState(nc.Position.from_board(board, rules), dice)
    text = dumps(state, "text")
    assert sniff(text) == "text"
    assert loads(text) == state
    assert loads(text).position.rules == rules


@slow
@given(st.sampled_from(CHECKED).flatmap(lambda rules: played(rules, plain=False)))
def test_a_game_alone(game: GameRecord) -> None:
    game = dataclasses.replace(game, length=0, crawford=False)
    game = check(game)
    assert loads(dumps(game, "sheet")).games == (game,)


def formats_of(rules: nc.Rules) -> list[str]:
    short = ["sgf"] if rules.movement == "short" else []
    known = rules.name.split("+")[0] in ("backgammon", "nackgammon", "hypergammon")
    return ["json", "sheet", *short, *(["mat"] if known else [])]


RULES = st.sampled_from(CHECKED)
STARTERS = st.sampled_from(["roll", "winner", "alternate"])
OPENINGS = st.sampled_from(["use_dice", "reroll"])


@slow
@given(RULES, STARTERS, OPENINGS, st.integers(0, 2**32), st.integers(1, 5), st.booleans())
def test_matches_that_were_played(rules, starter, opening, seed, length, offers) -> None:
    rules = rules.replace(next_starter=starter, opening=opening)
    offer = (lambda game: "offer" if "offer" in game.due else None) if offers else None
    match = nc.play_out(nc.Match(rules, length=length, seed=seed), "random", actions=offer).record()
    for form in formats_of(rules):
        assert loads(dumps(match, form)) == match


@pytest.mark.parametrize("rules", CHECKED, ids=lambda rules: rules.name)
def test_throws_for_the_first_move_come_back(rules: nc.Rules) -> None:
    game = nc.Game(rules, throws=[(2, 2), (6, 6), (1, 4)], seed=1)
    one = MatchRecord(rules, games=(game.record(),))
    game.roll()
    game.push(game.plays()[0])
    two = MatchRecord(rules, games=(game.record(), nc.Game(rules, first="b").record()))
    for form in formats_of(rules):
        assert loads(dumps(one, form)) == one
        if form != "mat":  # which has no place for who begins a game without turns
            assert loads(dumps(two, form)) == two


@slow
@given(RULES.filter(lambda rules: rules.movement == "short"), st.integers(0, 2**32))
def test_sgf_holds_plays_of_several_dice_in_one(rules, seed) -> None:
    game = nc.play_out(nc.Game(rules, seed=seed), "random").record()
    joined = []
    for entry, position in game.positions():
        one = dataclasses.replace(entry, steps=joined_steps(entry.steps))
        # a hit on the way is told by the stop alone
        same = enter_steps(position, one) == enter_steps(position, entry)
        joined.append(one if same else entry)
    match = MatchRecord(rules, games=(check(dataclasses.replace(game, entries=tuple(joined))),))
    assert not match.games[0].problems
    text = dumps(match, "sgf")
    assert loads(text) == match
    # other programs, which know no such hops, are given the single steps of the same play
    for turn in re.findall(r";[WB]\[([1-6]{2})([a-z]*)\]", text):
        assert all(farthest(turn[1][i : i + 2]) <= max(map(int, turn[0])) for i in range(0, 8, 2))


def joined_steps(steps):
    """Join the steps of a play that one checker makes in a row."""
    made = []
    for step in steps:
        if made and made[-1][1] == step[0]:
            made[-1] = made[-1][0], step[1]
        else:
            made.append(step)
    return tuple(made)


def farthest(letters: str) -> int:
    """Count the pips of a step of which both ends are points."""
    return abs(ord(letters[0]) - ord(letters[1])) if letters and not set(letters) & set("yz") else 0


def test_what_is_lost_is_told_with_its_place() -> None:
    moves = (
        Move("w", (6, 4), ((24, 14),)),
        Move("b", None, ((8, 5), (6, 5))),
    )
    match = loads("1. 6-4 24/14  offers {why?}\n2. 6-4 24/14 {oh}", rules=nc.BACKGAMMON)
    with pytest.raises(FormatError, match=r"mat cannot hold .*comment.* \(game 1, line 1\); pass"):
        dumps(match, "mat")
    match = MatchRecord(nc.BACKGAMMON, games=(GameRecord(nc.BACKGAMMON, entries=moves),))
    with pytest.raises(FormatError, match="without its dice"):
        dumps(match, "mat")
    told = dataclasses.replace(moves[0], comment="well")
    match = MatchRecord(nc.BACKGAMMON, games=(GameRecord(nc.BACKGAMMON, entries=(told,)),))
    with pytest.raises(FormatError, match=r"\(game 1, entry 1\); pass lossy=True"):
        dumps(match, "mat")


def test_stakes_without_a_limit() -> None:
    def always(game: nc.Game) -> str | None:
        return "offer" if "offer" in game.due else None

    match = nc.play_out(
        nc.Match(nc.SHORT_DAVE, length=7, seed=1), "linear", actions=always
    ).record()
    assert match.games[-1].result.stake == 2**68
    for form in ("json", "sheet", "sgf"):
        assert loads(dumps(match, form)) == match


# ------------------------------------------------------------------------ what is refused is told


def start(rules: nc.Rules, **more) -> MatchRecord:
    game = GameRecord(rules, first="w", entries=(Move("w", (3, 1), ((8, 5), (6, 5))),), **more)
    return MatchRecord(rules, games=(game,))


@pytest.mark.parametrize(
    ("match", "form", "what"),
    [
        (start(nc.LONG_NARDY), "mat", "long_nardy"),
        (start(nc.TRIKTRAK), "mat", "triktrak"),
        (start(nc.LONG_NARDY), "sgf", "long_nardy"),
        (start(nc.BACKGAMMON, comment="hm"), "mat", "comment"),
        (start(nc.BACKGAMMON, stake=2), "mat", "stake"),
        (dataclasses.replace(start(nc.BACKGAMMON), games_to_play=3), "mat", "games_to_play"),
        (dataclasses.replace(start(nc.BACKGAMMON), white=""), "mat", "white"),
    ],
)
def test_what_a_format_cannot_hold_is_named(match: MatchRecord, form: str, what: str) -> None:
    with pytest.raises(FormatError, match=what):
        dumps(match, form)
    if match.rules.movement == "short" and match.rules.scoring == "backgammon":
        assert loads(dumps(match, form, lossy=True)).games[0].entries


def test_a_play_without_dice_is_refused_by_mat_and_sgf() -> None:
    game = GameRecord(nc.BACKGAMMON, entries=(Move("w", None, ((8, 5),)),))
    for form in ("mat", "sgf"):
        with pytest.raises(FormatError, match="dice"):
            dumps(game, form)
    assert loads(dumps(game, "sheet")).games[0] == check(game)


@given(st.text(max_size=200))
@example("\ud800")
@example("1. 5-3 8/3 {\\ud800}")
def test_no_text_raises_anything_else(text: str) -> None:
    for form in (None, *nc.formats.FORMATS):
        try:
            loads(text, form)
        except FormatError:
            continue


def test_the_locale_does_not_matter() -> None:
    assert "locale" not in {name for name in sys.modules if name.startswith("nardcore")}


@pytest.mark.parametrize("form", ["mat", "sgf"])
def test_a_pass_that_is_none_before_a_resignation_is_refused(form: str) -> None:
    entries = Move("w", (3, 1), ()), Resignation("b", 0)
    won = GameResult("w", 0, 1, 1, "resigned")
    game = GameRecord(nc.BACKGAMMON, first="w", entries=entries, result=won)
    with pytest.raises(FormatError, match=r"cannot hold .*steps .*\(game 1, entry 1\)"):
        dumps(MatchRecord(nc.BACKGAMMON, games=(game,)), form)
