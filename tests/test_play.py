"""``nardcore play`` and ``nardcore replay``: whole games from a pipe, undo, files, refusals."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from functools import cache

import pytest

import nardcore as nc
from nardcore.formats import load

pytest.importorskip("click")
pytest.importorskip("rich")

from test_cli import bad, good, run


def events(*args, stdin=""):
    done = run("play", *args, "--json", stdin=stdin)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def nets_or_linear():
    try:
        nc.policies.net_evaluator("short")
    except ValueError:
        return "linear"
    return "net"


def kinds(found):
    return [event["event"] for event in found]


# -------------------------------------------------------------------------------------------- play


@pytest.mark.parametrize("rules", sorted(nc.PRESETS))
def test_the_program_plays_every_ruleset_alone(rules):
    found = events("--rules", rules, "--side", "none", "--seed", 5)
    assert found[0]["event"] == "game"
    assert found[0]["rules"] == rules
    assert found[-1]["event"] == "result"
    assert found[-1]["over"]
    assert found[-1]["points"] >= 1


def test_a_match_alone_and_its_file(tmp_path):
    file = tmp_path / "match.json"
    found = events("--side", "none", "--length", 3, "--seed", 2, "--save", file)
    match = load(file)
    assert match.winner == found[-1]["match_winner"]
    assert [*match.score] >= found[-1]["score"]
    assert nc.Match.from_record(match).over
    assert dict(match.info) == {"seed": "2", "side": "none", "policy": nets_or_linear()}


@pytest.mark.parametrize(
    "rules",
    [
        "hypergammon+stake=dave_arithmetic",
        "hypergammon+jacoby=true+beavers=2+cube_cap=16+auto_doubles=2",
        "hypergammon+cube_cap=none+beavers=1",
    ],
)
def test_the_program_raises_and_answers_in_every_way(rules):
    said = []
    for seed in range(3):
        said += kinds(events("--rules", rules, "--side", "none", "--games", 3, "--seed", seed))
    assert said.count("offer") > 2
    assert {"accept", "refuse"} & set(said)


@pytest.mark.parametrize(
    ("rules", "length"), [("hypergammon", 26), ("hypergammon+stake=dave_arithmetic", 3)]
)
def test_the_program_plays_matches_of_any_length(rules, length):
    found = events("--rules", rules, "--side", "none", "--length", length, "--seed", 7)
    assert max(found[-1]["score"]) == length


def test_two_policies():
    found = events("--side", "none", "--policy", "linear,random", "--seed", 3)
    plays = [event for event in found if event["event"] == "played"]
    alone = events("--side", "none", "--seed", 3)
    assert plays != [event for event in alone if event["event"] == "played"]


def test_a_human_plays_on_a_pipe():
    lines = "8/5 6/5\nroll\nbest\nquit\n"
    text = good("play", "--position", "backgammon " + START + " w 31 -", "--seed", 1, stdin=lines)
    assert "to play 3-1" in text
    assert "white plays 3-1: 8/5 6/5" in text
    assert "black plays " in text
    assert "Traceback" not in text


START = "x2,4,o5,1,o3,3,x5,o5,3,x3,1,x5,4,o2 0/0 0/0"


def test_best_until_the_end():
    found = events("--rules", "triktrak", "--seed", 4, stdin="best\n" * 200)
    assert found[-1]["event"] == "result"
    states = [event for event in found if event["event"] == "state"]
    assert all(event["to_act"] == "w" for event in states)
    assert all(len(event["plays"]) >= 1 for event in states if "push" in event["due"])


def test_a_number_from_the_list():
    position = f"backgammon {START} w 31 -"
    text = good("play", "--position", position, "--quiet", stdin="list\n3\n")
    third = next(line for line in text.splitlines() if line.startswith("   3  "))
    assert f"white plays 3-1: {third[4:].strip()}" in text


def test_wrong_lines_are_told_and_asked_again():
    position = f"backgammon {START} w 31 -"
    lines = "8/4 6/5\nnonsense\n99\nroll\ndouble\naccept\n1/x\ndice 3\nresign king\n8/5 6/5\n"
    done = run("play", "--position", position, "--seed", 1, "--quiet", stdin=lines)
    assert done.exit_code == 0
    told = done.stderr.splitlines()
    assert len(told) == 9
    assert told[0].startswith("8/4 6/5 is illegal with 3-1")
    assert "neither a play nor a command" in told[1]
    assert told[2] == "there are plays 1 to 16, not 99"
    assert told[3] == told[4] == "white has thrown 3-1; due is: push, resign"
    assert "nothing has been offered" in told[5]
    assert "white plays 3-1: 8/5 6/5" in done.stdout


def test_hints_rate_plays_and_say_what_to_do():
    position = f"backgammon {START} w 31 -"
    text = good("play", "--position", position, "--quiet", stdin="hint\nhint 2\n")
    assert "8/5 6/5" in text
    assert "loss" in text
    (state, hint) = events("--position", position, stdin="hint 3\n")[1:3]
    assert state["event"] == "state"
    assert len(hint["plays"]) == 3
    first = hint["plays"][0]
    assert first["play"] == "8/5 6/5"
    offers = events(
        "--rules", "backgammon", "--position", f"backgammon {START} w - -", stdin="hint\n"
    )
    assert offers[2] == {"event": "hint", "action": "roll"}


def test_undo_takes_back_ones_own_decision():
    position = f"backgammon {START} w 31 -"
    found = events(
        "--position", position, "--seed", 1, stdin="8/5 6/5\nundo\n24/23 13/10\nundo\nundo\n"
    )
    states = [event for event in found if event["event"] == "state"]
    assert states[0] == states[2] == states[4] == states[5]
    replies = [event["play"] for event in found if event["event"] == "played"]
    assert replies[0] == "8/5 6/5"
    assert replies[2] == "24/23 13/10"
    errors = [event for event in found if event["event"] == "error"]
    assert len(errors) == 1
    assert "nothing has been done" in errors[0]["message"]


def test_undo_over_the_end_of_a_game():
    position = "triktrak o,22,x 0/0 14/14 w 21 -"
    rules = ("--rules", "triktrak", "--games", 2, "--seed", 1)
    found = events(*rules, "--position", position, stdin="1/off\nundo\nundo\n")
    assert kinds(found).count("undone") >= 1
    assert found[-2]["position"] == found[1]["position"]


def test_dave_from_both_seats():
    lines = "dave\naccept\nroll\nbest\n" * 30
    found = events(
        "--rules", "short_dave+opening=reroll", "--side", "both", "--seed", 1, stdin=lines
    )
    said = kinds(found)
    assert said.count("offer") == said.count("accept") > 3
    offers = [event for event in found if event["event"] == "offer"]
    assert [event["value"] for event in offers] == [2 ** (k + 1) for k in range(len(offers))]
    assert {event["side"] for event in offers} == {"w", "b"}


def test_refusing_and_beavers():
    rules = "backgammon+beavers=1"
    position = f"{rules} {START} w - -"
    found = events("--side", "both", "--position", position, stdin="double\nbeaver\nrefuse\n")
    assert found[-1]["winner"] == "b"
    assert (found[-1]["points"], found[-1]["reason"]) == (2, "refused")


def test_the_program_answers_offers_and_resignations():
    far_ahead = "backgammon o,22,x 0/0 14/14 w - -"
    found = events("--position", far_ahead, stdin="double\nroll\n")
    assert "refuse" in kinds(found)
    lost = "triktrak x15,22,o 0/0 0/14 w 21 -"
    found = events("--position", lost, "--rules", "triktrak", stdin="resign\nresign bar\n")
    said = kinds(found)
    assert said.count("resign") == 2
    assert said.index("refuse_resignation") < said.index("accept_resignation")
    assert found[-1]["points"] == 8


def test_resignations_by_name():
    rules = ("--rules", "triktrak", "--side", "both", "--seed", 1)
    text = good("play", *rules, "--lang", "ru", "--quiet", stdin="resign марс\naccept\n")
    assert "сдаются: марс" in text
    assert "очков: 2, марс" in text


def test_dice_by_hand():
    lines = "33\n5 2\n13/11 13/8\n6 4\n24/14\nx\n31\n"
    text = good_and_told("play", "--manual", "--side", "both", "--quiet", stdin=lines)
    assert "white begins (3-3, 5-2)" in text
    assert "black plays 6-4: 24/18/14" in text


def good_and_told(*args, stdin):
    done = run(*args, stdin=stdin)
    assert done.exit_code == 0
    return done.stdout


def test_save_load_and_go_on_with_the_same_dice(tmp_path):
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    start = ("--rules", "long_nardy", "--seed", 9, "--length", 1)
    whole = events(*start, stdin="best\n" * 400)
    events(*start, stdin=f"best\nbest\nbest\nsave {file}\n")
    rest = events("--load", file, "--save", other, stdin="best\n" * 400)
    assert rest[-1] == whole[-1]
    assert load(other).winner == whole[-1]["match_winner"]
    assert len(load(file).games) == 1  # what was loaded stays as it is


def test_a_saved_match_may_be_of_another_format(tmp_path):
    file = tmp_path / "match.mat"
    events("--side", "none", "--length", 1, "--seed", 2, "--save", file)
    assert "1 point match" in file.read_text().lower()
    plain = tmp_path / "match"
    events("--side", "none", "--seed", 2, "--save", plain)
    assert json.loads(plain.read_text())


@pytest.mark.parametrize("lang", ["en", "ru", "uk"])
def test_languages(lang):
    lines = "help\nlist\nsheet\nboard\nhint\nbest\nundo\n"
    text = good("play", "--rules", "fnr_long", "--lang", lang, "--seed", 2, stdin=lines)
    assert {"en": "your play", "ru": "белые", "uk": "білі"}[lang] in text or lang == "en"
    assert "{" not in text


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--policy", "best"), "no policy 'best'"),
        (("--policy", "linear,linear,linear"), "one name, or two"),
        (("--length", 3, "--games", 2), "exclude each other"),
        (("--length", 0), "--length"),
        (("--rules", "backgamon"), "did you mean 'backgammon'"),
        (("--load", "none.json"), "none.json"),
        (("--position", "nonsense"), "no position"),
        (("--rules", "backgammon+auto_doubles=1", "--length", 3), "automatic doubles"),
        (("--position", "backgammon x,23 0/0 14/15 w - -"), "over"),
    ],
)
def test_misuse(args, told):
    assert told in bad("play", *args)


def test_a_loaded_match_brings_its_own(tmp_path):
    file = tmp_path / "match.json"
    events("--side", "none", "--seed", 2, "--save", file)
    assert "--length cannot be given" in bad("play", "--load", file, "--length", 3)
    assert kinds(events("--load", file)) == ["game", "result"]
    file.write_text("4HPwATDgc/ABMA\n")
    assert "holds no match" in bad("play", "--load", file)


def test_a_net_plays_advises_and_looks_ahead(monkeypatch):
    from rough import NET, _player

    from nardcore import _adviser, _ratings, policies

    @cache
    def chooser(movement, points):
        return nc.Evaluator.net(_player(), points=points, name="net")

    for module in (policies, _ratings):
        monkeypatch.setattr(module, "net_evaluator", lambda movement: NET)
        monkeypatch.setattr(module, "net_policy", chooser)
    _adviser._has_net.cache_clear()
    try:
        found = events("--side", "none", "--seed", 2, "--length", 2)
        assert found[-1]["over"]
        assert "offer" in kinds(found)
        deep = events("--policy", "net:1", "--seed", 2, stdin="hint 2\nbest\n")
        hint = next(event for event in deep if event["event"] == "hint")
        assert [set(one) for one in hint["plays"]] == [{"play", "equity"}] * 2
        assert hint["plays"][0]["equity"] >= hint["plays"][1]["equity"]
        position = f"backgammon {START} w 31 -"
        assert "equity" in good("play", "--position", position, "--quiet", stdin="hint\n")
    finally:
        _adviser._has_net.cache_clear()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_a_terminal_is_asked():
    leader, follower = pty.openpty()
    program = "import sys; from nardcore.cli import main; sys.exit(main(sys.argv[1:]))"
    position = f"backgammon {START} w 31 -"
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", program, "play", "--position", position, "--seed", "1"],
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    os.write(leader, b"8/5 6/5\nquit\n")
    out, _ = child.communicate(timeout=60)
    os.close(leader)
    os.close(follower)
    assert child.returncode == 0
    assert "your play of 3-1>" in out
    assert "white plays 3-1: 8/5 6/5" in out


# ------------------------------------------------------------------------------------------ replay


@pytest.fixture
def match_file(tmp_path):
    record = nc.play_out(
        nc.Match(nc.BACKGAMMON, length=5, seed=3, white="Ann", black="Bob")
    ).record()
    file = tmp_path / "match.json"
    from nardcore.formats import dump

    dump(record, file)
    return file, record


def test_replay_shows_every_position(match_file):
    file, record = match_file
    text = good("replay", file, "--game", 1)
    assert text.startswith("X Ann, O Bob: backgammon\nmatch to 5\n")
    assert text.count("pips") == 2 * (len(record.games[0].entries) + 1)
    assert "\n(0)\n" in text
    assert f"({len(record.games[0].entries)})" in text
    assert " wins " in text.splitlines()[-1]
    every = good("replay", file)
    assert every.count("Game ") == len(record.games)


def test_replay_lists_moves(match_file):
    file, record = match_file
    text = good("replay", file, "--moves")
    assert "pips" not in text
    assert text.count(" wins ") == len(record.games)
    rows = [line for line in text.splitlines() if line.strip()[:2] == "1."]
    assert len(rows) == len(record.games)


def test_replay_of_one_position(match_file):
    file, record = match_file
    positions = [position for _, position in record.games[0].positions()]
    shown = json.loads(good("replay", file, "--at", 3, "--json"))
    assert shown["position"] == positions[3].text(record.games[0].entries[3].dice)
    assert positions[3].text(record.games[0].entries[3].dice) in good("replay", file, "--at", 3)
    last = len(positions)
    final = json.loads(good("replay", file, "--at", last, "--json"))
    assert final["position"] == record.games[0].final.text()
    assert f"positions 0 to {last}" in bad("replay", file, "--at", last + 1)


def test_replay_as_a_picture(match_file, tmp_path):
    file, record = match_file
    _, position = list(record.games[1].positions())[4]
    dice = record.games[1].entries[4].dice
    picture = good("replay", file, "--game", 2, "--svg", 4)
    assert picture.rstrip("\n") == position.svg(dice=dice)
    target = tmp_path / "four.svg"
    assert good("replay", file, "--game", 2, "--svg", 4, "--output", target) == ""
    assert target.read_text("utf-8") == picture


def test_replay_as_json(match_file):
    file, record = match_file
    data = json.loads(good("replay", file, "--json"))
    assert (data["white"], data["length"], data["winner"]) == ("Ann", 5, record.winner)
    assert len(data["games"]) == len(record.games)
    game = data["games"][0]
    assert len(game["positions"]) == len(game["entries"]) + 1
    assert nc.Position.parse(game["positions"][-1]) == record.games[0].final


def test_replay_flags_what_is_not_allowed(tmp_path):
    sheet = tmp_path / "match.mat"
    sheet.write_text(
        " 5 point match\n\n Game 1\n Ann : 0                     Bob : 0\n"
        "  1) 31: 8/5 6/5                 65: 24/18 13/9\n"
    )
    text = good("replay", sheet, "--moves")
    assert "! 24/18 13/9 is illegal with 6-5" in text
    data = json.loads(good("replay", sheet, "--json"))
    assert data["games"][0]["entries"][1]["problem"].startswith("24/18 13/9")
    assert data["games"][0]["entries"][1]["line"] == 5


def test_replay_misuse(match_file, tmp_path):
    file, record = match_file
    assert f"holds {len(record.games)} games, no number 99" in bad("replay", file, "--game", 99)
    assert "give one of them" in bad("replay", file, "--at", 1, "--svg", 1)
    assert "needs --svg" in bad("replay", file, "--output", "x.svg")
    assert "does not exist" in bad("replay", tmp_path / "none.mat")
    other = tmp_path / "position.txt"
    other.write_text("4HPwATDgc/ABMA\n")
    assert "holds no games" in bad("replay", other)
    other.write_bytes(b"\x00\xff\x00nonsense")
    bad("replay", other)


def test_a_file_that_cannot_be_written_is_told_before_the_first_turn(tmp_path) -> None:
    path = tmp_path / "none" / "a.json"
    done = run("play", "--side", "none", "--seed", "1", "--save", path)
    assert done.exit_code
    assert "No such file" in done.stderr
    assert "plays" not in done.stdout
