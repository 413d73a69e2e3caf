"""``nardcore convert``: what it writes, what it warns of, what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nardcore as nc
from nardcore.formats import dumps, load, loads

click = pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner  # noqa: E402

from nardcore.cli._app import app  # noqa: E402

FILES = Path(__file__).parent / "data" / "files"
GALAXY = FILES / "galaxy_match_7pt.txt"
WRONG = """ 5 point match

 Game 1
 Ann : 0                            Bob : 0
  1) 31: 8/4 6/5                      64: 24/14
  2) 52: 13/8 13/11                   66: 5/8
"""


def run(*args, stdin=None):
    return CliRunner().invoke(app, ["convert", *map(str, args)], input=stdin)


def test_from_every_format_to_every_format(tmp_path: Path) -> None:
    match = load(GALAXY)
    source = GALAXY
    for ending in ("json", "sheet", "mat"):
        target = tmp_path / f"match.{ending}"
        done = run(source, target)
        assert (done.exit_code, done.output) == (0, "")
        assert load(target) == match
        source = target
    done = run(source, "-", "--to", "sgf", "--lossy")
    assert done.exit_code == 0
    assert loads(done.stdout).score == match.score
    done = run(source, "-", "--to", "sheet", "--numbering", "roman")
    assert "Numbering: roman" in done.stdout
    assert loads(done.stdout) == match
    done = run(source, "-", "--to", "mat", "--dialect", "numbers")
    assert "bar" not in done.stdout
    assert loads(done.stdout) == match


def test_positions_by_standard_input() -> None:
    done = run(
        "-", "-", "--to", "gnubg", stdin="XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10"
    )
    assert done.stdout == "4HPwATDgc/ABMA:cInlAAAAAAAE\n" or done.exit_code == 0
    assert loads(done.stdout) == loads("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10")
    done = run("-", "-", "--to", "xgid", "--rules", "nackgammon", stdin="4HPwATDgc/ABMA")
    assert done.stdout.startswith("XGID=-b----E-C")


def test_illegal_plays_are_named_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "wrong.mat").write_text(WRONG)
    done = run(tmp_path / "wrong.mat", tmp_path / "wrong.json")
    assert done.exit_code == 0
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(
        "nardcore convert: game 1, line 5: white: 8/4 6/5 is illegal with 3-1"
    )
    assert lines[1].startswith("nardcore convert: game 1, line 6: black: '5/8' is")
    told = json.loads(run(tmp_path / "wrong.mat", tmp_path / "again.json", "--json").stdout)
    assert (told["read"], told["games"], told["entries"]) == ("MatchRecord", 1, 4)
    assert [(one["line"], one["side"]) for one in told["problems"]] == [(5, "white"), (6, "black")]
    back = load(tmp_path / "wrong.json")
    assert [bool(entry.problem) for entry in back.games[0].entries] == [True, False, False, True]


def test_what_cannot_be_held_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out.mat"
    target.write_text("before")
    match = nc.play_out(nc.Match(nc.LONG_NARDY, length=1, seed=1)).record()
    source = tmp_path / "long.json"
    source.write_text(dumps(match, "json"))
    done = run(source, target)
    assert done.exit_code == 1
    assert "long_nardy" in done.stderr
    assert target.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"out.mat", "long.json"}
    (tmp_path / "text.txt").write_bytes((FILES / "bgblitz_text_cube_DE.txt").read_bytes())
    done = run(tmp_path / "text.txt", "-", "--to", "xgid")
    assert done.exit_code == 1
    assert "only JSON holds an analysis" in done.stderr
    done = run(tmp_path / "text.txt", "-", "--to", "xgid", "--lossy")
    assert done.stdout == "XGID=---BBaB-BbA-bC-b--BdAca---:0:0:1:00:0:5:0:9:10\n"


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("nothing.mat", "-", "--to", "mat"), "nothing.mat"),
        ((GALAXY, "-"), "--to"),
        ((GALAXY, "out.pgn"), "tells no format"),
        ((GALAXY, "-", "--to", "pgn"), "none of"),
        ((GALAXY, "-", "--from", "sgf", "--to", "json"), "expected ("),
        ((GALAXY, "-", "--to", "xg"), "only read"),
        ((GALAXY, "-", "--to", "mat", "--json"), "OUT"),
        ((GALAXY, "-", "--to", "fibs"), "holds a position"),
    ],
)
def test_refusals_are_one_line(tmp_path: Path, monkeypatch, args, what: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*args)
    assert done.exit_code in (1, 2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert what in done.stderr
    assert not list(tmp_path.iterdir())
