"""The checks that users run on their policies find what is wrong with one."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nardcore as nc
from nardcore import testing
from nardcore.policies import linear_evaluator

TICKS = count()


def changing(boards: Any) -> Any:
    boards[:, 0] = 0
    return boards[:, 26] * 1.0


def shares(boards: Any) -> Any:
    found = np.zeros((len(boards), 10))
    found[:, 0] = 0.5
    return found


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lambda boards: boards, "shape"),
        (lambda boards: np.zeros((len(boards), 5)), "shape"),
        (lambda boards: ["x"] * len(boards), "not numbers"),
        (lambda boards: np.full(len(boards), np.nan), "finite"),
        (lambda boards: shares(boards) - 0.1, "below zero"),
        (shares, "add up"),
        (lambda boards: np.full(len(boards), float(next(TICKS))), "two ways"),
        (lambda boards: boards[:, 26] - boards[:, 26].mean() + boards[:, 5].sum(), "others"),
        (changing, "changed the results"),
    ],
)
def test_a_policy_with_a_fault_is_found(policy: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        testing.check_policy(policy, rolls=20)


@pytest.mark.parametrize("name", ["backgammon", "long_nardy", "hypergammon"])
def test_sound_policies_pass(name: str) -> None:
    rules = nc.PRESETS[name]
    evaluator = linear_evaluator(rules.movement)
    testing.check_evaluator(evaluator, rules, rolls=40)
    testing.check_policy(lambda boards: evaluator(boards[0], boards), rules, rolls=40)
    testing.check_policy(lambda boards: shares(boards) * 2, rules, rolls=40)


@given(st.data())
def test_strategies_keep_to_the_rules_that_are_asked_for(data: st.DataObject) -> None:
    rules = data.draw(testing.rules())
    position = data.draw(testing.positions(rules))
    assert position.rules == rules
    assert position.outcome is None
    turns = data.draw(testing.games(rules, max_plies=3))
    assert len(turns) <= 3
    assert all(turn.position.rules == rules for turn in turns)
    first, second = data.draw(testing.rolls())
    assert 1 <= min(first, second) <= max(first, second) <= 6
