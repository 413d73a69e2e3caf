"""Behaviour against bench/signature.txt: what is played changes only on purpose.

``nardcore bench --signature > bench/signature.txt`` writes the file anew.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nardcore as nc
from nardcore import _signature

FILE = Path(__file__).parents[1] / "bench" / "signature.txt"


@pytest.fixture(scope="module")
def now():
    return _signature.text()


def parts(text, kinds):
    return [line for line in text.splitlines() if line.split()[0] in kinds]


@pytest.mark.parametrize("kind", ["plays", "random", "linear"])
def test_part_is_that_of_the_file(now, kind):
    expected = parts(FILE.read_text("ascii"), {kind})
    assert expected
    assert parts(now, {kind}) == expected


def test_last_line_is_over_all_parts(now):
    assert now == FILE.read_text("ascii")
    *lines, last = now.splitlines()
    title, number, digest = last.split()
    assert title == "Signature:"
    assert int(number) == sum(int(line.split()[2]) for line in lines)
    assert len(digest) == 16


def test_every_kind_of_movement_is_in(now):
    named = {line.split()[1] for line in parts(now, {"plays"})}
    kinds = {nc.PRESETS[name].movement_fingerprint for name in named}
    assert kinds == {rules.movement_fingerprint for rules in nc.PRESETS.values()}


@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_every_instruction_set_gives_the_same(now, isa):
    if isa == nc.isa():
        pytest.skip("this is what the tests run on")
    code = "from nardcore import _signature, isa; print(isa()); print(_signature.text(), end='')"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "NARDCORE_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    used, _, text = done.stdout.partition("\n")
    if used != isa:
        pytest.skip(f"this machine has no {isa}")
    assert text == now


@pytest.mark.parametrize("rules", [nc.BACKGAMMON, nc.LONG_NARDY, nc.HYPERGAMMON])
def test_positions_reach_from_the_first_turn_to_the_last(rules):
    boards = _signature.positions(rules)
    assert boards.shape == (_signature.POSITIONS, 32)
    assert (boards[0] == nc.Position.start(rules).board).all()
    assert (boards[-1, 26:28] > 0).any()
    assert len(np.unique(boards, axis=0)) > 0.9 * len(boards) or rules == nc.HYPERGAMMON
    assert (nc.batch.results(boards, rules) == -1).all()
