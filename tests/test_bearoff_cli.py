"""The commands of ``nardcore bearoff``."""

import json
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner

import nardcore as nc
from nardcore.cli._app import app, run

SIX = "kQcAgEoDAAAAAA"


def good(*args: object) -> str:
    done = CliRunner().invoke(app, ["bearoff", *map(str, args)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def money(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "money.nct"
    assert "6 x 6, money" in good("build", path, "--equities", "money")
    return path


def test_query_tells_what_a_table_knows(money: Path) -> None:
    found = json.loads(good("query", SIX, "--table", money, "--json"))
    assert found["win"] == pytest.approx(0.877719, abs=3e-5)
    assert found["cube"]["owned"]["no_double"] == pytest.approx(0.933977, abs=6e-5)
    assert found["cube"]["owned"]["best"] == 1
    assert "cube centred   +0.930" in good("query", SIX, "--table", money)


def test_query_needs_no_table() -> None:
    found = json.loads(good("query", SIX, "--json"))
    assert not found["exact"]
    assert found["win"] == pytest.approx(0.8777, abs=0.01)
    assert sum(found["sides"][0]["distribution"]) == pytest.approx(1)
    assert "effective pips 30.792" in good("query", SIX)


def test_info_describes_and_verifies(money: Path) -> None:
    text = good("info", money, "--verify")
    assert "two-sided" in text
    assert "6x6" in text
    assert json.loads(good("info", money, "--json"))["checkers"] == [6, 6]


def test_tables_go_to_gnubg_and_back(money: Path, tmp_path: Path) -> None:
    good("export", money, tmp_path / "t.bd")
    good("import", tmp_path / "t.bd", tmp_path / "t.nct")
    first, second = (nc.bearoff.TwoSided.open(p) for p in (money, tmp_path / "t.nct"))
    assert all((first.raw[name] == second.raw[name]).all() for name in first.raw)


def test_exchange_tells_what_it_did_in_json(money: Path, tmp_path: Path) -> None:
    bd, back = tmp_path / "t.bd", tmp_path / "t.nct"
    out = json.loads(good("export", money, bd, "--json"))
    assert out["target"] == str(bd)
    assert out["target_bytes"] == bd.stat().st_size
    assert out["checkers"] == [6, 6]
    found = json.loads(good("import", bd, back, "--json"))
    assert (found["file"], found["source"], found["equities"]) == (str(back), str(bd), "money")


def test_a_table_of_contact_is_built_and_asked_by_any_id(tmp_path: Path) -> None:
    path = tmp_path / "one.nct"
    rules = nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),))
    about = json.loads(good("build", path, "--contact", "--rules", rules.name, "--json"))
    assert about["kind"] == "contact"
    assert about["error"] <= about["tolerance"]
    start = nc.Position.start(rules)
    ids = ["start", start.text(), start.gnubg_id(), start.xgid()]
    found = [json.loads(good("query", text, "--table", path, "--json")) for text in ids]
    assert found[0]["win"] == pytest.approx(0.6048, abs=5e-3)
    assert all(one == found[0] for one in found)


def test_one_sided_tables_are_built_too(tmp_path: Path) -> None:
    path = tmp_path / "one.nct"
    about = json.loads(good("build", path, "--one-sided", "--points", 7, "--checkers", 3, "--json"))
    assert about["points"] == 7
    assert "rolls" in good("query", "backgammon o,16,x,6 0/0 14/14 w - -", "--table", path)


def test_scoring_is_named_or_five_points(tmp_path: Path) -> None:
    found = []
    for scoring in ("triktrak", ",".join(map(str, nc.SCORING["triktrak"]))):
        path = tmp_path / "s.nct"
        options = ["--equities", "scoring", "--checkers", "2x3", "--scoring", scoring]
        good("build", path, *options, "--rules", "hypergammon")
        text = "hypergammon o3,22,x1 0/0 2/0 w - -"
        found.append(json.loads(good("query", text, "--table", path, "--json"))["equity"])
    assert found[0] == found[1] == 2


def test_query_tells_of_the_side_that_is_covered() -> None:
    text = "backgammon o2,14,x1,7,x1 0/0 13/13 w - -"
    found = json.loads(good("query", text, "--json"))
    assert found["sides"][0] is None
    assert found["sides"][1]["mean_rolls"] == 1
    assert "win" not in found
    assert "beyond the table" in good("query", text)


def test_a_file_is_not_replaced_by_what_is_made_of_it(
    money: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, name in (("export", "t.nct"), ("import", "t.bd")):
        path = tmp_path / name
        good("export", money, path) if command == "import" else path.write_bytes(money.read_bytes())
        before = path.read_bytes()
        assert run(app, ["bearoff", command, str(path), f"{tmp_path}/./{name}"]) == 2
        assert "is the file that is read" in capsys.readouterr().err
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "args",
    [
        ["build", "x.nct", "--checkers", "0"],
        ["build", "x.nct", "--one-sided", "--dtype", "float32"],
        ["build", "x.nct", "--contact", "--checkers", "3"],
        ["build", "x.nct", "--contact", "--one-sided"],
        ["build", "x.nct", "--tolerance", "1e-3"],
        ["build", "x.nct", "--equities", "scoring", "--scoring", "1,2"],
        ["build", "x.nct", "--scoring", "triktrak"],
        ["build", "x.nct", "--equities", "scoring", "--checkers", "3"],
        ["build", "none/x.nct"],
        ["build", ""],
        ["query", "start"],
        ["query", ""],
        ["query", "  "],
        ["query", SIX, "--table", "nowhere.nct"],
        ["info", __file__],
        ["build", "x.nct", "--checkers", "99"],
        ["build", "x.nct", "--checkers", "eight"],
        ["build", "x.nct", "--points", "7"],
        ["build", "x.nct", "--one-sided", "--checkers", "3x3"],
        ["build", "x.nct", "--checkers", "9", "--max-memory", "1000"],
    ],
)
def test_what_cannot_be_is_one_line(
    args: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(app, ["bearoff", *args]) in (1, 2)
    error = capsys.readouterr().err
    assert error.startswith("nardcore bearoff")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
