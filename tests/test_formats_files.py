"""Sample files of other programs, the reported faults of their readers, and dialects."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

import nardcore as nc
from nardcore.errors import FormatError
from nardcore.formats import dump, dumps, load, loads, parse_position_id, sniff
from nardcore.formats.analysis import Analysis, decimal
from nardcore.formats.ids import match_id
from nardcore.formats.state import MatchState
from nardcore.notation import NUMBERINGS
from nardcore.records import CubeAction, GameRecord, MatchRecord, Move, Resignation

DATA = Path(__file__).parent / "data"
FILES = DATA / "files"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FILES / "expected.json").read_text("utf-8"))[
    "files"
]
CASES = {
    case["id"]: case for case in json.loads((DATA / "reported.json").read_text("utf-8"))["cases"]
}
MATCHES = [name for name, said in EXPECTED.items() if said["kind"] in ("mat", "sgf")]
TEXTS = [name for name, said in EXPECTED.items() if said["kind"] == "text"]
WORDS = {"offer": "double", "accept": "take", "refuse": "drop"}


def own(position: nc.Position, side: str) -> list[int]:
    """Count the checkers of a colour as expected.json does: off, 1 to 24, bar."""
    seen = position if position.turn == side else position.flip()
    return [seen.off[0], *(max(count, 0) for count in seen.points), seen.bar[0]]


def moves(game) -> list[Move]:
    return [entry for entry in game.entries if isinstance(entry, Move)]


def check_game(game, said: dict[str, Any], names: dict[str, str], with_values: bool) -> None:
    """Check every field that expected.json has of a game."""
    before = said["score_before"]
    if isinstance(before, dict):
        before = [before["white"], before["black"]]
    assert list(game.score) == before
    played = moves(game)
    assert len(played) == said["plays"]
    assert sum(bool(move.steps) for move in played) == said["moved"]
    assert sum(move.steps == () for move in played) == said["danced"]
    cube = []
    for entry in game.entries:
        if isinstance(entry, CubeAction):
            row = [names[entry.side], WORDS[entry.action]]
            if with_values and entry.action == "offer":
                row.append(entry.value)
            cube.append(row)
    assert cube == said["cube"]
    assert names[game.result.winner] == said["winner"]
    assert game.result.points == said["points"]
    final = game.final
    assert {names[side]: own(final, side) for side in "wb"} == said["final"]
    assert not any(entry.problem for entry in game.entries)
    assert not any(isinstance(entry, Resignation) for entry in game.entries)


@pytest.mark.parametrize("name", MATCHES)
def test_sample_matches(name: str) -> None:
    said = EXPECTED[name]
    match = load(FILES / name)
    assert isinstance(match, MatchRecord)
    assert len(match.games) == said["games_count"]
    if said["kind"] == "mat":
        assert sniff((FILES / name).read_text("utf-8")) == "mat"
        assert match.length == said["match_length"]
        assert [match.white, match.black] == said["players"]
        names = {"w": match.white, "b": match.black}
        assert sum(len(moves(game)) for game in match.games) == said["plays"]
        assert said["illegal"] == 0
        assert list(match.score) == said["final_score"]
        first = int(match.details().get("First game", 1))
        assert [first + at for at in range(len(match.games))] == [g["game"] for g in said["games"]]
    else:
        names = {"w": "white", "b": "black"}
        first = int(match.details()["First game"])
        for at, one in enumerate(said["games"]):
            assert match.length == one["length"]
            assert (match.white, match.black) == (one["white"], one["black"])
            assert first + at == one["game"]
    for game, one in zip(match.games, said["games"], strict=True):
        check_game(game, one, names, with_values=said["kind"] == "mat")


@pytest.mark.parametrize("name", MATCHES)
@pytest.mark.parametrize("form", ["sheet", "mat", "sgf", "json"])
def test_sample_matches_in_every_form(name: str, form: str) -> None:
    match = load(FILES / name)
    if form == "sgf":
        # gnubg writes each die apart, and so must we; only the end of each game can be compared
        back = loads(dumps(match, form, lossy=True))
        assert [game.final for game in back.games] == [game.final for game in match.games]
        assert [game.result for game in back.games] == [game.result for game in match.games]
        assert not any(entry.problem for game in back.games for entry in game.entries)
        assert back == loads(dumps(back, "sgf"))
    else:
        assert loads(dumps(match, form)) == match


def test_headings_of_the_galaxy_sample() -> None:
    match = load(FILES / "galaxy_match_7pt.txt")
    assert match.details()["Site"] == "Backgammon Studio"
    assert match.details()["Match ID"] == "3188437"
    assert (match.rules.crawford, match.rules.cube_cap) == (True, 1024)
    lines = [entry.line for entry in match.games[0].entries[:3]]
    assert lines == [20, 20, 21]


# ------------------------------------------------------------------------------- text exports


@pytest.mark.parametrize("name", TEXTS)
def test_sample_texts(name: str) -> None:
    said = dict(EXPECTED[name])
    found = load(FILES / name)
    assert isinstance(found, Analysis)
    state = found.state
    assert said.pop("kind") == "text"
    assert said.pop("decimal") in (FILES / name).read_text("utf-8")
    assert found.language == said.pop("language")
    assert dumps(state, "xgid", lossy=True) == f"XGID={said.pop('xgid')}"
    score = said.pop("score")
    assert state.score == (score["X"], score["O"])
    assert state.length == said.pop("match_length")
    if "dice" in said:
        assert state.dice == tuple(said.pop("dice"))
    if "pips" in said:
        pips = said.pop("pips")
        assert found.pips == {"w": pips["X"], "b": pips["O"]}
    if "players" in said:
        players = said.pop("players")
        assert (state.white, state.black) == (players["X"], players["O"])
    if "on_roll" in said:
        assert state.position.turn == {"X": "w", "O": "b"}[said.pop("on_roll")]
    if "position_id" in said:
        assert state.position.gnubg_id() == said.pop("position_id")
        assert match_id(state) == said.pop("match_id")
    if "candidates" in said:
        assert found.cube is None
        for one, given in zip(found.candidates, said.pop("candidates"), strict=True):
            assert one.rank == given["rank"]
            assert one.play == given["play"]
            assert (one.equity, one.loss) == (given["equity"], given["loss"])
            assert one.player == tuple(given["player"])
            assert one.opponent == tuple(given["opponent"])
        legal = state.position.plays(state.dice)
        assert all(one.play in legal for one in found.candidates) or "synthetic" in name
        said.clear() if not said else None
    cube = found.cube
    if cube is not None:
        assert not found.candidates
        assert cube.best == said.pop("best")
        assert state.cube == said.pop("cube", 1)
        owner = {"X": "w", None: None}[said.pop("cube_owner", None)]
        assert state.cube_owner == owner
        assert cube.player == tuple(said.pop("player", None) or said.pop("player_X"))
        assert cube.opponent == tuple(said.pop("opponent", None) or said.pop("player_O"))
        assert cube.cubeless_no_double == said.pop("cubeless_no_double", None)
        assert cube.cubeless_double == said.pop("cubeless_double", None)
        names = ("no_redouble", "redouble_take", "redouble_pass")
        if "no_double" in said:
            names = ("no_double", "double_take", "double_pass")
        given = tuple(said.pop(name) for name in names)
        assert (cube.no_double, cube.double_take, cube.double_pass) == given
    assert not said


def diagram(text: str) -> dict[str, dict[int, int]]:
    """Count the letters of a board drawn with 13 to 24 above."""
    lines = text.split("\n")
    top = next(i for i, line in enumerate(lines) if line[1:].startswith("+13-"))
    low = next(i for i, line in enumerate(lines) if line[1:].startswith("+12-"))
    found: dict[str, dict[int, int]] = {"X": {}, "O": {}}
    for rows, head in ((range(top + 1, top + 6), lines[top]), (range(low - 5, low), lines[low])):
        for row in rows:
            for at, letter in enumerate(lines[row][:44]):
                digits = head[at - 1 : at + 1].strip("-+")
                if letter in "XO" and digits:
                    point = int(digits)
                    found[letter][point] = found[letter].get(point, 0) + 1
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_diagrams_agree_with_the_ids(name: str) -> None:
    text = (FILES / name).read_text("utf-8")
    position = load(FILES / name).state.position
    assert position.turn == "w"
    points = dict(enumerate(position.points, 1))
    drawn = diagram(text)
    assert drawn["X"] == {point: count for point, count in points.items() if count > 0}
    assert drawn["O"] == {point: -count for point, count in points.items() if count < 0}


def test_decimal_commas_and_points() -> None:
    case = CASES["text-decimal-comma"]
    for text, value in case["expect"]["numbers"]:
        assert decimal(text) == value
    comma, point = (load(DATA / name) for name in case["expect"]["same_values"])
    assert comma == point
    for name in case["files"]:
        state = load(DATA / name).state
        assert state.position.gnubg_id() == case["position_id"]
        assert own(state.position, "w") == case["board"]["me"]
        assert own(state.position, "b") == case["board"]["op"]


@pytest.mark.parametrize("text", ["", "1.2.3", "1,2,3", "--1", "1e5", "0x1", "nan", "%", "1" * 99])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        decimal(text)


# layouts of eXtreme Gammon in languages that the samples do not have; words as the program has them
XG_CUBE = """XGID=---aBBCCCB----a-aa-babbbb-:1:1:1:00:1:2:0:9:10

X:Eins   O:Zwei
{score}
 +13-14-15-16-17-18------19-20-21-22-23-24-+
 +12-11-10--9--8--7-------6--5--4--3--2--1-+
{words[0]}
{words[1]}:   89{d}87% (G:7{d}61% B:0{d}29%)
{words[2]}: 10{d}13% (G:0{d}61% B:0{d}01%)

{words[3]}: {words[4]}=+0{d}881, {words[5]}=+1{d}928

{words[6]}
       {words[7]}:    +1{d}027
       {words[8]}: +1{d}869 (+0{d}842)
       {words[9]}: +1{d}000 (-0{d}027)

{words[10]}
"""
XG_LANGUAGES = {
    "de": (
        "Punktzahl ist  X:1 O:2 9 Pkt (e) match.",
        "Analysiert in XG Roller++|Spieler Gewinnchancen|Gewinnchancen des Gegners|Equities ohne "
        "Dopplerwürfel|Nicht Doppeln|Doppeln|Equities mit Dopplerwürfel:|Nicht Redoppeln|"
        "Redoppeln/Annehmen|Redoppeln/Ablehnen|Beste Dopplerwürfel Aktion Zu gut / Ablehnen",
    ),
    "en": (
        "Score is X:1 O:2 9 pt.(s) match.",
        "Analyzed in XG Roller++|Player Winning Chances|Opponent Winning Chances|Cubeless Equities|"
        "No Double|Double|Cubeful Equities:|No redouble|Redouble/Take|Redouble/Pass|"
        "Best Cube action: Too good to redouble / Pass",
    ),
    "ja": (
        "Score is X:1 O:2 9 pt.(s) match.",
        "Analyzed in XG Roller++|Player Winning Chances|Opponent Winning Chances|Cubeless Equities|"
        "No Double|Double|Cubeful Equities:|ノーリダブル|リダブル/テイク|リダブル/パス|"
        "ベストキューブアクション：リダブルにはツーグッド / パス",
    ),
    "ru": (
        "Показатель X: 1 O: 2 9 Pt (S) совпадают",
        "XG Roller++|Игрок|Соперник|Cubeless|No|Yes|Cubeful|No|Yes/Take|Yes/Pass|Best",
    ),
}


@pytest.mark.parametrize("language", XG_LANGUAGES)
@pytest.mark.parametrize("point", [".", ","])
def test_languages_of_extreme_gammon(language: str, point: str) -> None:
    score, words = XG_LANGUAGES[language]
    found = loads(XG_CUBE.format(score=score, words=words.split("|"), d=point))
    assert isinstance(found, Analysis)
    assert found.language == language
    assert (found.state.white, found.state.black) == ("Eins", "Zwei")
    cube = found.cube
    assert cube is not None
    assert cube.player == (0.8987, 0.0761, 0.0029)
    assert cube.opponent == (0.1013, 0.0061, 0.0001)
    assert (cube.cubeless_no_double, cube.cubeless_double) == (0.881, 1.928)
    assert (cube.no_double, cube.double_take, cube.double_pass) == (1.027, 1.869, 1.0)
    assert cube.best == "too good to redouble / pass"


BGBLITZ = """ +13-14-15-16-17-18------19-20-21-22-23-24-+   O: Vert  52
v|                  |BAR|                  |
 +12-11-10--9--8--7-------6--5--4--3--2--1-+   X: Rouge  111

 Position-ID: b9sBCIC5bYDQAA    Match-ID: QYnoAGAAGAAE
 XGID=-B-CBBB---a---A---ABcbbbd-:1:-1:1:21:3:6:0:7:10

 Vert - 6 Rouge - 3 in a 7 point match.
 Rouge to move 1-2

Évaluation  (EMG)
 ==========
"""


def test_plays_of_bgblitz_in_two_layouts() -> None:
    new = """  1.   0,124 mwp /  -0,492            19/18, 14/12
       0,254  0,000  0,000  -  0,746  0,338  0,004

  2.   0,111 mwp /  -0,545  (-0,053)  19/18, 3/1
       0,227  0,000  0,000  -  0,773  0,385  0,005
"""
    old = """  1) 19-18 14-12                0.124 / -0.492
       0.254  0.000  0.000  -  0.746  0.338  0.004
  2) 19-18 3-1                  0.111 / -0.545
       0.227  0.000  0.000  -  0.773  0.385  0.005
"""
    first, second = (loads(BGBLITZ + text) for text in (new, old))
    assert first == second
    assert isinstance(first, Analysis)
    assert first.language == "fr"
    assert [one.play for one in first.candidates] == ["19/18 14/12", "19/18 3/1"]
    assert [one.loss for one in first.candidates] == [0.0, -0.053]
    assert first.candidates[0].opponent == (0.746, 0.338, 0.004)
    assert (first.state.cube, first.state.cube_owner) == (2, "b")


def test_extreme_gammon_calls_the_side_on_roll_x() -> None:
    """Black is on roll, plays 11/8 11/5, and is the X of the text with 3 points."""
    found = loads(
        """XGID=---BBBBAAA---Ac-bbccbAA-A-:1:1:-1:63:4:3:0:5:8

X:Player 2   O:Player 1
Score is X:3 O:4 5 pt.(s) match.
    1. XG Roller+  11/8 11/5                    eq:+0.589
      Player:   79.46% (G:17.05% B:0.67%)
      Opponent: 20.54% (G:2.22% B:0.06%)
"""
    )
    assert isinstance(found, Analysis)
    state = found.state
    assert (state.white, state.black) == ("Player 1", "Player 2")
    assert (state.score, state.position.turn, state.max_cube) == ((4, 3), "b", 256)
    assert found.candidates[0].play in state.position.plays(state.dice)


def test_a_text_whose_ids_disagree_is_refused() -> None:
    with pytest.raises(FormatError, match="disagree about the score"):
        loads(BGBLITZ.replace(":3:6:0:7:10", ":3:5:0:7:10"))
    with pytest.raises(FormatError, match="disagree about the position") as caught:
        loads(BGBLITZ.replace("XGID=-B-CBBB---a", "XGID=-B-CBBB--a-"))
    assert caught.value.line == 5


def test_two_positions_in_a_text_are_refused() -> None:
    text = (FILES / "synthetic_xg_FR_cube_comma.txt").read_text("utf-8")
    with pytest.raises(FormatError, match="second position"):
        loads(text + (FILES / "synthetic_xg_FR_checker_comma.txt").read_text("utf-8"))


# --------------------------------------------------------------------------------- reported cases


def test_the_sides_of_a_position_id() -> None:
    for name in ("mover-on-bar", "opponent-on-bar"):
        case = CASES[name]
        state = loads(case["position_id"])
        assert isinstance(state, MatchState)
        assert state.position.bar == (case["expect"]["me_bar"], case["expect"]["op_bar"])
        assert own(state.position, "w") == case["board"]["me"]
        assert own(state.position, "b") == case["board"]["op"]


def test_xgid_colours() -> None:
    case = CASES["xgid-colours"]
    said = case["expect"]
    state = loads(case["xgid"])
    assert isinstance(state, MatchState)
    assert state.position.turn == "w"
    assert state.position.pips == (said["pips"]["X"], said["pips"]["O"])
    assert state.position.gnubg_id() == said["position_id"]
    assert state.position.board.tolist() == parse_position_id(case["position_id"]).board.tolist()
    assert (state.cube, state.cube_owner, state.length) == (said["cube"], None, 0)
    assert sorted(state.dice) == said["dice"]
    assert state.score == (said["score"]["X"], said["score"]["O"])
    assert (state.jacoby, state.beavers) == (said["jacoby"], said["beaver"])
    assert state.max_cube == 2 ** said["max_cube_exponent"]
    assert own(state.position, "w") == case["board"]["me"]
    assert own(state.position, "b") == case["board"]["op"]
    # the larger die is written first
    assert dumps(state, "xgid") == case["xgid"].replace(":16:", ":61:")


def test_three_ids_of_one_board() -> None:
    case = CASES["three-ids-one-board"]
    said, fields = case["expect"], case["expect"]["match_id_fields"]
    by_xgid = loads(case["xgid"])
    by_id = loads(f"{said['position_id']}:{said['match_id']}")
    text = load(DATA / case["file"])
    assert isinstance(by_id, MatchState)
    assert by_id == by_xgid
    assert text.state.position == by_id.position
    assert dumps(by_xgid, "gnubg") == f"{said['position_id']}:{said['match_id']}"
    assert dumps(by_id, "xgid") == case["xgid"]
    assert (by_id.cube, by_id.cube_owner) == (fields["cube"], None)
    assert by_id.turn == by_id.position.turn == "w"
    assert fields["on_roll"] == fields["turn"] == 1
    assert by_id.crawford is fields["crawford"]
    assert by_id.status == "playing"
    assert by_id.offer is None
    assert by_id.resignation == fields["resigned"]
    assert by_id.dice is said["dice"]
    assert by_id.length == fields["length"]
    assert [by_id.score[1], by_id.score[0]] == fields["scores"]
    assert not by_id.jacoby
    assert by_id.position.pips == (said["pips"]["X"], said["pips"]["O"])


@pytest.mark.parametrize("name", ["mat-numeric-dialect", "mat-galaxy-dialect"])
def test_reported_mat_dialects(name: str) -> None:
    case = CASES[name]
    assert case["expect"] == EXPECTED[Path(case["file"]).name]  # which is checked above
    assert load(DATA / case["file"]).score == tuple(case["expect"]["final_score"])


def test_sgf_match_property_with_several_values() -> None:
    case = CASES["sgf-mi-multivalue"]
    said = case["expect"]["text"]
    match = loads(case["text"])
    assert match.length == said["length"]
    assert match.details()["First game"] == str(said["game"])
    before = said["score_before"]
    assert match.games[0].score == (before["white"], before["black"])
    assert case["expect"]["file"] == EXPECTED[Path(case["file"]).name]


# ------------------------------------------------------------------------------------- dialects

HEAD = " 7 point match\n\n Game 1\n Ann : 0                            Bob : 0\n"


def mat(*lines: str) -> MatchRecord:
    match = loads(HEAD + "\n".join(lines))
    assert isinstance(match, MatchRecord)
    return match


def test_mat_words_and_numbers_mean_the_same() -> None:
    words = "  1) 31: 8/5 6/5                      66: 24/18(2) 13/7(2)"
    numbers = "  1) 31: 8/5 6/5 66: 24/18 24/18 13/7 13/7"
    assert mat(words).games[0].final == mat(numbers).games[0].final
    assert mat("1) 55: bar/20 6/off*").games[0].entries[0].steps == ((25, 20), (6, 0))
    assert mat("1) 55: 25/20 6/0*").games[0].entries[0].steps == ((25, 20), (6, 0))


def test_mat_resignation_is_no_dance() -> None:
    """A dice cell before the result whose roll has legal plays has not been played."""
    match = mat("  1) 31: 8/5 6/5                      64: ", "      Wins 2 points")
    move, resignation = match.games[0].entries[1:]
    assert (move.side, move.dice, move.steps, move.problem) == ("b", (6, 4), None, None)
    assert resignation == Resignation("b", 1)
    result = match.games[0].result
    assert (result.winner, result.points, result.reason) == ("w", 2, "resigned")
    assert loads(dumps(match, "mat")) == match


def test_mat_dance_before_a_resignation_is_a_dance() -> None:
    text = (FILES / "synthetic_gnubg_numeric_7pt.mat").read_text("utf-8")
    start, end = text.index(" Game 2"), text.index(" 19) 55: 22/17")
    match = loads(" 7 point match\n\n" + text[start:end] + "      Wins 2 points\n")
    dance, resignation = match.games[0].entries[-2:]
    assert (dance.dice, dance.steps, dance.problem) == ((5, 4), (), None)
    assert resignation == Resignation("b", 0)


@pytest.mark.parametrize("words", ["Cannot Move", "(no play)", "", "Can't move"])
def test_mat_dances(words: str) -> None:
    lines = (
        "  1) 55: 8/3(2) 6/1*(2)               44: " + words,
        "  2) 66: 13/7(2)                      ",
    )
    match = mat(*lines)
    move = match.games[0].entries[1]
    assert move.steps == ()
    assert move.line == 5


@pytest.mark.parametrize("text", ["???", "????"])
def test_mat_unknown_plays(text: str) -> None:
    match = mat(f"  1) 31: {text}                       64: 24/14")
    assert match.games[0].entries[0].steps is None


def test_mat_cube_words_and_results() -> None:
    match = mat(
        "  1) 31: 8/5 6/5                      64: 24/14",
        "  2)  Doubles => 2                     Takes",
        "  3) 61: 13/7 8/7                      Doubles => 4",
        "  4)  Drops                            Wins 2 points",
        "",
        " Game 2",
        " Ann : 0                            Bob : 2",
        "  1)                                  31: 8/5 6/5",
        "  2)  Doubles => 2                     Drops",
        "      Wins 1 point and the match",
    )
    first, second = match.games
    assert [e.action for e in first.entries if isinstance(e, CubeAction)] == [
        "offer",
        "accept",
        "offer",
        "refuse",
    ]
    assert (first.result.winner, first.result.points, first.result.reason) == ("b", 2, "refused")
    assert (second.result.winner, second.result.points) == ("w", 1)
    assert second.first == "b"
    assert match.score == (1, 2)


def test_mat_names_the_crawford_game() -> None:
    text = " 3 point match\n\n" + "".join(
        f" Game {n}\n Ann : {a}                Bob : {b}\n  1) 31: 8/5 6/5\n\n"
        for n, a, b in ((1, 0, 0), (2, 0, 2), (3, 1, 2), (4, 2, 2))
    )
    assert [game.crawford for game in loads(text).games] == [False, True, False, False]
    off = '; [Crawford "Off"]\n' + text
    assert not any(game.crawford for game in loads(off).games)


def test_money_and_variants_in_mat() -> None:
    head = '; [Variation "Nackgammon"]\n; [Jacoby "On"]\n 0 point match\n\n Game 1\n'
    match = loads(head + " Ann : 4                Bob : 9\n  1) 31: 8/5 6/5\n")
    assert match.length == 0
    assert match.rules.movement_fingerprint == nc.NACKGAMMON.movement_fingerprint
    assert match.rules.jacoby
    assert match.games[0].score == (4, 9)
    assert loads(dumps(match, "mat")) == match


def test_illegal_plays_are_kept_and_flagged() -> None:
    match = mat(
        "  1) 31: 8/4 6/5                      64: 24/14",
        "  2) 52: 5/8                          33: 24/21(2) 13/10(2)",
        "  3) 21: 13/11 6/5",
    )
    entries = match.games[0].entries
    assert entries[0].steps == ((8, 4), (6, 5))
    assert [bool(e.problem) for e in entries] == [True, False, True, True, False]
    assert entries[0].line == 5
    assert entries[2].line == 6
    assert "8/4 6/5 is illegal with 3-1" in entries[0].problem
    assert entries[2].steps == ((5, 8),)
    assert loads(dumps(match, "sgf", lossy=True)).games[0].entries[2].problem
    for form in ("mat", "sheet", "json"):
        back = loads(dumps(match, form))
        assert [e.steps for e in back.games[0].entries] == [e.steps for e in entries]
        assert [e.problem for e in back.games[0].entries] == [e.problem for e in entries]


def test_what_no_mat_reader_can_take() -> None:
    for line, column in (
        ("  1) 31: 8/5 6/5 knight f3", 18),
        ("  1) 31: 8/5 6/55", 14),
        ("  1) 77: 8/5", 6),
        ("  hello", 1),
        ("  1) 31: 8/5 6/5   64: 24/14   52: 13/8", 32),
    ):
        with pytest.raises(FormatError) as caught:
            mat(line)
        assert (caught.value.line, caught.value.column) == (5, column), line


def test_sgf_of_gnubg() -> None:
    """Names, a remark with brackets, a variation, a position that is set up, a resignation."""
    text = r"""(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.08]MI[length:5][game:0][ws:1][bs:0]
PW[gnubg]PB[An\]n]DT[2026-01-02]RU[Crawford]RE[B+2R]
;B[31qtst]C[a good one\: [see\] it]
(;W[64xnnh]
;B[66])
(;W[64xr]))"""
    match = loads(text)
    game = match.games[0]
    assert (match.white, match.black, match.length) == ("gnubg", "An]n", 5)
    assert match.info == (("DT", "2026-01-02"), ("First game", "0"))
    assert game.score == (1, 0)
    assert game.entries[0].comment == "a good one: [see] it"
    assert game.entries[1].steps == ((24, 14), (14, 8))
    assert game.entries[2].steps is None  # a roll that could be played, and then a resignation
    assert game.entries[3] == Resignation("w", 1)
    assert game.result.reason == "resigned"
    placed = "(;GM[6]RU[Jacoby];AE[a:y]AW[f][f][x]AB[s][y]PL[B]CV[2]CO[w];PL[B]DI[31];B[31yxsr])"
    game = loads(placed).games[0]
    assert game.start.turn == "b"
    assert own(game.start, "w")[1:] == [0] * 5 + [2] + [0] * 17 + [1, 0]
    assert own(game.start, "b")[25] == 1
    assert own(game.start, "b")[6] == 1
    assert (game.stake, game.owner) == (2, "w")
    assert game.rules.jacoby


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(;GM[1])", "not 6"),
        ("(;GM[6];B[99aa])", "no turn"),
        ("(;GM[6];B[31a])", "no turn"),
        ("(;GM[6]", "expected"),
        ("(;GM[6", r"\[ without \]"),
        ("(;GM[6])x", "expected"),
        ("(;GM[6]MI[length:x])", "number"),
        ("(" * 200, "expected ;|levels"),
        ("(;" * 200, "levels"),
        ("(;GM[6]NR[nonsense])", "nonsense"),
        ("(;GM[6];AE[a:y]AW[q][q]AB[q])", "impossible"),
    ],
)
def test_what_no_sgf_reader_can_take(text: str, what: str) -> None:
    with pytest.raises(FormatError, match=what):
        loads(text, "sgf")


# ---------------------------------------------------------------------------------------- sheets


def test_a_sheet_as_the_sources_write_it() -> None:
    """The roll and the play of S0's rule 7 under a number, traditional names, a dash of print."""
    text = "Numbering: traditional\n1. 5–3: 8/3 6/3   6–4: 1/11\n2. 6-1 12/6 7/6 пас"
    with pytest.raises(FormatError, match="expected dice"):
        loads(text, rules=nc.TRIKTRAK)
    match = loads(text.replace(" пас", ""), rules=nc.TRIKTRAK)
    first, second, third = match.games[0].entries
    assert first == Move("w", (5, 3), ((8, 3), (6, 3)))
    assert second == Move("b", (6, 4), ((24, 14),))
    assert third.problem is not None


def test_a_sheet_of_long_nardy_in_each_numbering() -> None:
    played = []
    position = nc.Position.start(nc.LONG_NARDY)
    for at, dice in enumerate(((3, 1), (6, 4), (5, 2), (6, 6))):
        play = position.plays(dice)[0]
        played.append(Move("wb"[at % 2], dice, play.steps))
        position = play.result
    from nardcore.records import GameRecord

    match = MatchRecord(nc.LONG_NARDY, games=(GameRecord(nc.LONG_NARDY, entries=played),))
    texts = {name: dumps(match, "sheet", numbering=name) for name in NUMBERINGS}
    assert len(set(texts.values())) == 4
    for text in texts.values():
        assert loads(text) == match


def test_remarks_empty_cells_and_actions_on_a_sheet() -> None:
    text = """
Rules: short_dave
White: Anna
Black: "  Boris"
Match: 5 points, 3 games
[Event "Club \\"Nardy\\""]

Game 1
First: black
{before the game}
 1. ...                     3-1: 8/5 6/5 {good}
 2. offers                  accepts
 3. 6-4: ???                offers 4 {cheeky}
 4. refuses
Black wins 2 points
"""
    match = loads(text)
    game = match.games[0]
    assert (match.white, match.black) == ("Anna", "  Boris")
    assert (match.length, match.games_to_play) == (5, 3)
    assert match.details() == {"Event": 'Club "Nardy"'}
    assert game.comment == "before the game"
    assert game.entries[0].comment == "good"
    assert [e.value for e in game.entries if isinstance(e, CubeAction)] == [2, 2, 4, 4]
    assert game.entries[3].steps is None
    assert game.entries[4].comment == "cheeky"
    assert (game.result.points, game.result.stake, game.result.reason) == (2, 2, "refused")
    assert loads(dumps(match, "sheet")) == match


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("1. 5-3 8/3 6/3\nwhat?", 2, 1),
        ("1. 5-3 8/3 6/3   nonsense", 1, 18),
        ("1. 5-3 8/3 6/3 6-4 24/14 5-2 13/8", 1, 26),
        ("Rules: chess", 1, 8),
        ("Numbering: greek\n1. 5-3 8/3", 1, 12),
        ("1. 5-3 8/30", 1, 8),
        ("1. 5-3 8/3 {open", 1, 12),
        ("Rules: triktrak\nGame 1\nScore: a-b", 3, 8),
        ("Rules: triktrak\nWhite wins 3", 2, 1),
        ("Rules: triktrak\n1. 5-3 8/3 6/3\nWhite wins 3 (what)", 3, 1),
    ],
)
def test_what_no_sheet_reader_can_take(text: str, line: int, column: int) -> None:
    with pytest.raises(FormatError) as caught:
        loads(text, "sheet")
    assert (caught.value.line, caught.value.column) == (line, column)


# ----------------------------------------------------------------------------- files and sniffing


def test_sniffing() -> None:
    start = nc.Position.start()
    for form in ("text", "gnubg", "xgid", "fibs", "json"):
        assert sniff(dumps(start, form)) == form
    assert sniff("-b----E-C---eE---c-e----B-:0:0:1:31") == "xgid"
    assert sniff("Position ID: 4HPwATDgc/ABMA\nMatch ID: cAkAAAAAAAAE") == "gnubg"
    assert loads("Position ID: 4HPwATDgc/ABMA\nMatch ID: cAkAAAAAAAAE") == MatchState(start)
    assert loads("\ufeff4HPwATDgc/ABMA cAkAAAAAAAAE\n") == MatchState(start)
    for text in ("", "   ", "hello", "1.", "\x00"):
        assert sniff(text) is None
        with pytest.raises(FormatError):
            loads(text)
    with pytest.raises(ValueError, match="unknown format"):
        loads("x", "pgn")
    with pytest.raises(TypeError):
        loads(b"x")  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    match = load(FILES / "galaxy_match_7pt.txt")
    for name in ("m.mat", "m.sheet", "m.json", "m.txt"):
        dump(match, tmp_path / name)
        assert load(tmp_path / name) == match
    (tmp_path / "u16.mat").write_bytes(dumps(match, "mat").encode("utf-16"))
    assert load(tmp_path / "u16.mat") == match
    (tmp_path / "dos.mat").write_bytes(dumps(match, "mat").replace("\n", "\r\n").encode())
    assert load(tmp_path / "dos.mat") == match
    (tmp_path / "latin.mat").write_bytes(
        dumps(match, "mat").replace("Alpha", "Ülle").encode("cp1252")
    )
    assert load(tmp_path / "latin.mat").white == "Ülle"
    with pytest.raises(FormatError, match="tells no format"):
        dump(match, tmp_path / "m.pgn")
    with pytest.raises(FormatError, match="holds a position"):
        dump(load(FILES / "synthetic_mi_two_games.sgf"), tmp_path / "m.xgid")
    with pytest.raises(FormatError):
        dump(nc.Position.start(nc.LONG_NARDY), tmp_path / "bad.xgid")
    assert not (tmp_path / "bad.xgid").exists()
    assert not list(tmp_path.glob("*.part"))
    (tmp_path / "zero.mat").write_bytes(b"7 point match\0")
    with pytest.raises(FormatError, match="no text file"):
        load(tmp_path / "zero.mat")


def test_rollout_results_are_read_by_the_same_door(tmp_path: Path) -> None:
    result = nc.rollout(nc.Position.start(), games=50, seed=1, threads=1)
    result.save(tmp_path / "r.json")
    assert load(tmp_path / "r.json") == result
    assert loads(dumps(result, "json")) == result
    with pytest.raises(FormatError, match="RolloutResult"):
        dumps(result, "mat")


def test_analyses_are_kept_by_json_only() -> None:
    for name in TEXTS:
        found = load(FILES / name)
        assert loads(dumps(found, "json")) == found
        with pytest.raises(FormatError, match="only JSON holds an analysis"):
            dumps(found, "xgid")
        with pytest.raises(FormatError, match="only read"):
            dumps(found, "xg")
        assert loads(dumps(found, "xgid", lossy=True)).position == found.state.position


def test_sizes() -> None:
    from nardcore.formats._text import MAX_BYTES, MAX_ENTRIES, MAX_GAMES, MAX_LINE

    with pytest.raises(FormatError, match="at most"):
        loads("1" * (MAX_BYTES + 1))
    with pytest.raises(FormatError, match="a line of"):
        loads("7 point match\n" + "x" * (MAX_LINE + 1))
    games = " 7 point match\n" + " Game 1\n" * (MAX_GAMES + 1)
    with pytest.raises(FormatError, match="games"):
        loads(games)
    with pytest.raises(FormatError, match="illegal plays"):
        loads(HEAD + "  1) 31: 8/4 6/4        31: 8/4 6/4\n" * 1500)
    many = HEAD + "  1) 31: ???  31: ???\n" * (MAX_ENTRIES // 2 + 1)
    with pytest.raises(FormatError, match="moves"):
        loads(many)
    deep = '{"format": ' + "[" * 100_000
    with pytest.raises(FormatError):
        loads(deep)
    with pytest.raises(FormatError):
        loads('{"format": "nardcore match", "version": 1, "length": ' + "9" * 5000 + "}")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (" 99999999999999999999 point match\n", "line 1, column 2: a match to '999999999"),
        ("32768 point match\n", "a match to '32768' points; 0 to 32,767"),
        ("x point match\n", "line 1, column 1: a match to 'x' points"),
        ("(;GM[6]MI[length:32768];W[31])", "length is a number of at most 32,767, not '32768'"),
        ("Rules: backgammon\nMatch: 32768 points\n", "line 2, column 8: expected a number"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:9:0:0:7:10", "a match to 7 is over at 9-0"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:0:1:7:10", "this is no Crawford game"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:0:0:99999:10", "length is 0 to 32767"),
        (
            '{"format": "nardcore match", "version": 1, "rules": "triktrak", "length": 40000}',
            "length",
        ),
        ('{"n": ' * 50_000, "too many levels"),
        ('{"n":\n 1' + "0" * 5000 + "}", "line 2, column 2: a number of 5,001 digits"),
    ],
)
def test_matches_that_cannot_be(text: str, what: str) -> None:
    with pytest.raises(FormatError) as caught:
        loads(text)
    assert what in str(caught.value)
    assert "Exceeds" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "7 point match\n\n Game 1\n Ann : 9   Bob : 0\n 1) 31: 8/5 6/5   64: 24/14\n",
        "(;GM[6]MI[length:7][game:1][ws:9][bs:0]\n\n\n;W[31hefe];B[64axxx])",
        "Match: 7 points\nGame 1\nScore: 9-0\n\n1. 3-1 8/5 6/5  6-4 24/14\n",
    ],
)
def test_scores_that_cannot_be_are_flagged(text: str) -> None:
    game = loads(text, rules=nc.BACKGAMMON).games[0]
    assert game.length == 7
    assert [p for e, p in game.problems if e is game.entries[0]] == ["a match to 7 is over at 9-0"]
    assert game.entries[0].line > 3


def test_crawford_games_that_are_none_are_flagged() -> None:
    text = "(;GM[6]MI[length:7][game:1][ws:2][bs:0]RU[Crawford:CrawfordGame];W[31hefe])"
    assert "so this is no Crawford game" in loads(text).games[0].problems[0][1]


XGID = "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
HOSTILE = {
    "games with remarks": ("sgf", f"(;GM[6]MI[length:0]C[{'a' * 4000}];W[31hefe])" * 1990),
    "points that are cleared": ("sgf", "(;GM[6];AE" + "[a:z]" * 299_000 + ")"),
    "variations": ("sgf", "(;GM[6]" + "(;C[x])" * 1_000_000 + ")"),
    "escapes": ("sgf", "(;GM[6]C[" + ("\\" * 2001 + "]") * 4000 + "])"),
    "remarks on a game": ("sheet", "Game 1\n" + ("{" + "a" * 250 + "}\n") * 29_900),
    "levels": ("json", '{"a":' * 1_600_000),
    "lists": ("json", '{"format": "nardcore match", "version": 1, "x": [' + "[]," * 2_600_000),
    "digits": ("xg", f"XGID={XGID}\n" + ("1" * 19_000 + "%\n") * 400),
    "blanks": ("mat", " 0 point match\n\n Game 1\n" + ("  1)" + " " * 19_000 + "\n") * 430),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_texts_that_are_made_to_be_slow(name: str) -> None:
    form, text = HOSTILE[name]
    begun = time.process_time()
    with contextlib.suppress(FormatError):
        loads(text, form)
    assert time.process_time() - begun < 2 * max(1, len(text) / 1e6)


def test_lines_are_counted_over_all_games() -> None:
    match = loads("(;GM[6]\n;W[31hefe])\n(;GM[6]\n\n;W[31hefe]\n;B[31qt])")
    assert [entry.line for game in match.games for entry in game.entries] == [2, 5, 6]
    assert [game.problems[0][0].line for game in match.games if game.problems] == [6]


def test_what_no_reader_takes_back_is_not_written() -> None:
    turns = (Move("w", (2, 1), None),) * 5001
    many = GameRecord(nc.BACKGAMMON, entries=turns)
    with pytest.raises(FormatError, match="game 1 is too much for one text: a game of more than"):
        dumps(many, "json")
    some = GameRecord(nc.BACKGAMMON, entries=turns[:4000])
    for form in ("json", "sheet", "sgf"):
        with pytest.raises(FormatError, match="game 8 is too much for one text: more than 30,000"):
            dumps(MatchRecord(nc.BACKGAMMON, games=(some,) * 8), form, lossy=True)
    with pytest.raises(FormatError, match="characters; at most"):
        dumps(MatchRecord(nc.BACKGAMMON, white="x" * 9_000_000), "json")


@pytest.mark.parametrize("form", ["sgf", "mat"])
def test_half_characters_are_kept_out_of_files(form: str, tmp_path: Path) -> None:
    match = MatchRecord(nc.BACKGAMMON, info=(("EV", "\ud800"),), games=(GameRecord(nc.BACKGAMMON),))
    if form == "sgf":
        assert loads(dumps(match, form)) == match
        with pytest.raises(FormatError, match=r"sgf cannot hold U\+D800"):
            dump(match, tmp_path / "a.sgf")
    else:
        dump(match, tmp_path / "a.mat")
        assert load(tmp_path / "a.mat") == match
    for ending in ("json", "sheet"):
        dump(match, tmp_path / f"a.{ending}")
        assert load(tmp_path / f"a.{ending}") == match
    assert sorted(path.suffix for path in tmp_path.iterdir()) == sorted(
        [".json", ".sheet"] + [".mat"] * (form == "mat")
    )
