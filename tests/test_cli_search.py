"""The commands that evaluate: evaluate, best, rollout with its methods and --plays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rough import PLAYER

import nardcore as nc

pytest.importorskip("rich")
testing = pytest.importorskip("click.testing")
RACE = "backgammon x2,1,3,o1,o2,x1,o2,16 0/0 11/10 w - -"


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("net") / "pips.npz"
    nc.nets.save(PLAYER, path)
    return str(path)


def run(*words: str, code: int = 0) -> str:
    from nardcore.cli._app import app

    found = testing.CliRunner().invoke(app, list(words))
    assert found.exit_code == code, found.output
    return str(found.output)


def data(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


def test_evaluate(net: str) -> None:
    evaluator = nc.Evaluator.net(net, full=True)
    for plies in (0, 1):
        expected = nc.evaluate(nc.Position.start(), evaluator=evaluator, plies=plies)
        found = data("evaluate", "--evaluator", net, "--plies", str(plies))
        assert found["probabilities"] == expected.probabilities.tolist()
        assert found["equity"] == expected.equity()
        text = run("evaluate", "--evaluator", net, "--plies", str(plies))
        assert f"equity {expected.equity():+.4f}" in text
        assert f"pips, {plies}-ply" in text
    assert "triktrak points" in run("evaluate", "--evaluator", net, "--scoring", "triktrak")
    assert "no evaluator" in run("evaluate", "--evaluator", "best", code=2)


def test_best(net: str) -> None:
    evaluator = nc.Evaluator.net(net, full=True)
    ranked = nc.rank_plays(nc.Position.start(), (3, 1), evaluator=evaluator, plies=1)
    found = data("best", "start", "31", "--evaluator", net, "--plies", "1")
    assert [one["play"] for one in found["plays"]] == [str(one.play) for one in ranked]
    assert [one["loss"] for one in found["plays"]] == [one.loss for one in ranked]
    text = run("best", "start", "31", "--evaluator", net, "--top", "3")
    assert "13 more plays" in text
    assert "no dice" in run("best", "start", "--evaluator", net, code=2)


def test_rollout_with_its_methods(net: str) -> None:
    more = ("--evaluator", net, "--games", "72", "--seed", "3", "--quiet")
    words = ("rollout", "--truncate", "4", "--reduce-luck", "--stratified", "--by-roll", *more)
    found = data(*words)
    assert found["truncated"] == 72
    assert found["reduced"]["equity"] is not None
    assert sum(share["games"] for share in found["by_roll"]) == 72
    text = run(*words)
    assert "less luck" in text
    assert "6-6" in text
    assert "net" in run("rollout", "--policy", "net:9", "--games", "10", code=2)


def test_rollout_of_plays(net: str, tmp_path: Path) -> None:
    words = ("rollout", "--dice", "31", "--games", "100", "--seed", "3", "--quiet")
    expected = nc.rollout_plays(nc.Position.start(), (3, 1), limit=2, games=100, seed=3)
    found = data(*words, "--plays", "2", "--output", str(tmp_path / "plays.json"))
    assert [one["play"] for one in found["plays"]] == [str(o.play) for o in expected.ranked()]
    assert found["plays"][0]["equity"] == expected.ranked()[0].equity
    assert nc.PlaysRollout.load(tmp_path / "plays.json") == expected
    text = run(*words, "--plays", "8/5 6/5, 13/9")
    assert "8/5 6/5" in text
    assert "worse for sure" in text
    assert "needs a roll" in run("rollout", "--plays", "2", "--games", "10", code=2)
    for name in ("--confidence", "--drop"):
        assert "--plays" in run("rollout", name, "0.9", "--games", "10", code=2)


def test_rollout_of_plays_drops_those_without_hope() -> None:
    words = ("rollout", "--dice", "31", "--games", "10k", "--seed", "1", "--quiet")
    words += ("--policy", "linear", "--drop")
    text = run(*words, "0.99", "--plays", "8/5 6/5, 6/3 6/5")
    assert "8,192" in text
    assert "10,000 games of each play not dropped" in text
    found = data(*words, "0.99", "--plays", "8/5 6/5, 6/3 6/5")
    assert [one["games"] for one in found["plays"]] == [10_000, 8192]
    assert "at least" in run(*words, "0.9", "--confidence", "0.95", "--plays", "2", code=2)
