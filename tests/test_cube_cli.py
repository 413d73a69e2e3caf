"""``nardcore cube`` says what `nardcore.cube_decision` finds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import nardcore as nc

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner

from nardcore.cli._app import app
from nardcore.formats import dumps, loads


def run(*args: str, text: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["cube", *args], input=text)
    return done.exit_code, done.output


def data(*args: str, text: str | None = None) -> list[dict]:
    code, output = run(*args, "--json", text=text)
    assert code == 0, output
    return [json.loads(line) for line in output.splitlines()]


def test_a_chance_to_win() -> None:
    (found,) = data("--win", "0.77", "--rules", "short_dave", "--stake", "2")
    d = nc.cube_decision(0.77, rules=nc.SHORT_DAVE, stake=2, cube="owned")
    assert found["advice"] == d.advice
    assert found["hold"] == d.hold
    assert found["cube"] == "owned"


def test_positions_by_lines() -> None:
    text = "start\n# a comment\n" + nc.Position.start(nc.SHORT_DAVE).text() + "\n"
    found = data("-", "--games", "50", text=text)
    assert [one["rules"] for one in found] == ["backgammon", "short_dave"]
    code, output = run("-", "--games", "50", text=text)
    assert code == 0
    assert output.count("advice") == 2


XGID = "XGID=-b----E-C---eE---c-e----B-:1:{owner}:{turn}:{dice}:3:5:{more}:{length}:10"


@pytest.mark.parametrize(
    ("owner", "turn", "cube", "match"),
    [
        (1, 1, "owned", (4, 2)),
        (-1, 1, "opponent", (4, 2)),
        (0, 1, "centred", (4, 2)),
        (1, -1, "opponent", (2, 4)),
    ],
)
def test_an_xgid_tells_cube_and_score(owner, turn, cube, match) -> None:
    text = XGID.format(owner=owner, turn=turn, dice="00", more=0, length=7)
    (found,) = data(text)
    state = loads(text)
    d = nc.cube_decision(state.position, stake=2, cube=cube, match=match)
    assert (found["stake"], found["cube"], tuple(found["match"])) == (2, cube, match)
    assert found["value"] == d.value
    (found,) = data(text, "--match", "3,3", "--stake", "1")  # options outrank it
    assert (found["stake"], found["match"]) == (1, [3, 3])
    assert data(dumps(state, "gnubg"))[0]["match"] == list(match)
    assert data("-", text=text + "\n") == data(text)


def test_an_xgid_tells_the_crawford_game_and_the_rules_of_money() -> None:
    (found,) = data("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:3:5:1:6:10")
    assert found["crawford"]
    assert not found["allowed"]
    (found,) = data("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:1:0:10")
    assert found["match"] is None
    assert found["rules"] == nc.BACKGAMMON.replace(jacoby=True).name


def test_an_offer_is_made_before_the_throw() -> None:
    code, output = run(XGID.format(owner=1, turn=1, dice="31", more=0, length=7))
    assert code
    assert "the dice are thrown" in output


def test_scores_and_files(tmp_path: Path) -> None:
    table = tmp_path / "two.nct"
    nc.bearoff.TwoSided.build(checkers=2, equities="money", path=table)
    p = nc.Position.from_points([0, 1, 0, 0, 0, 1] + [0] * 12 + [-1, 0, 0, 0, -1, 0])
    (found,) = data(p.text(), "--table", str(table))
    assert found["exact"]
    met = tmp_path / "met.xml"
    rows = "".join(
        "<row>" + "".join(f"<me>{(3 + j - i) / 6}</me>" for j in range(3)) + "</row>"
        for i in range(3)
    )
    met.write_text(
        f"<met><info><name>x</name></info><pre-crawford-table>{rows}</pre-crawford-table>"
        "<post-crawford-table><row><me>.5</me><me>.45</me><me>.3</me></row></post-crawford-table>"
        "</met>"
    )
    (found,) = data("--win", "0.6", "--match", "3,2", "--met", str(met))
    assert found["refused"] == 0.5
    code, output = run("--win", "0.6", "--match", "1,3", "--crawford")
    assert "no offer is allowed" in output
    assert code == 0


def test_a_position_is_played_out_with_the_stake() -> None:
    (found,) = data("start", "--games", "50", "--cubeful", "30", "--seed", "4")
    result = nc.rollout_cubeful(nc.Position.start(), games=30, seed=4)
    assert found["cubeful"]["worth_sum"] == result.worth_sum
    code, output = run("start", "--games", "50", "--cubeful", "30", "--match", "3,3")
    assert code == 0
    assert "30 games by net, decisions by net" in output
    assert re.search(r"played out +\d\d\.\d\d % of matches, 95 % from \d\d\.\d\d to \d", output)


def test_a_match_that_is_over_is_told_as_one() -> None:
    _, output = run("--win", "0.5", "--match", "0,3")
    assert "'0,3': a side that needs 0 points has won the match already" in output
    with pytest.raises(ValueError, match="won the match already: 0 away, 3 away"):
        nc.cube_decision(0.5, match=(0, 3))


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("start", "--win", "0.5"),
        ("--win", "1.5"),
        ("--win", "0.5", "--match", "3"),
        ("--win", "0.5", "--match", "3,x"),
        ("--win", "0.5", "--match", "0,3"),
        ("--win", "0.5", "--stake", "3"),
        ("--win", "0.5", "--rules", "triktrak"),
        ("--win", "0.5", "--crawford"),
        ("start", "--table", "no such file"),
        ("start", "--games", "0"),
        ("--win", "0.5", "--cubeful", "10"),
        ("start", "--cubeful", "0"),
    ],
)
def test_bad_requests_are_refused(args) -> None:
    code, _ = run(*args)
    assert code
