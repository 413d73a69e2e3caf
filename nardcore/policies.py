"""What plays in a rollout: policies by name, native evaluators, functions.

A policy takes, among the results of a roll, a won game by its points and else the result it rates
best, the first of equals in the fixed order of results. ``"random"`` takes any with equal chance.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from nardcore._rollout import Evaluator

if TYPE_CHECKING:
    from nardcore.rules import Movement, Rules
    from nardcore.typing import PolicyLike

__all__ = ["NAMES", "Evaluator", "linear_evaluator", "name_of", "native", "resolve"]

NAMES = ("linear", "random")
"""The policies that go by name."""


@cache
def linear_evaluator(movement: Movement) -> Evaluator:
    """Give the built-in linear evaluator of ``"short"`` or ``"long"`` nardy.

    It adds one weight for each point's checkers, with other weights once the sides have passed each
    other. Its score orders the plays of one roll; it is no equity.

    Examples
    --------
    >>> import nardcore as nc
    >>> plays = nc.Position.start().plays((3, 1))
    >>> scores = linear_evaluator("short")(plays.position.board, plays.boards)
    >>> scores.shape, plays[int(scores.argmax())] in plays
    ((16,), True)
    """
    from pathlib import Path

    path = Path(__file__).parent / "weights" / f"linear_{movement}.npz"
    with np.load(path, allow_pickle=False) as file:
        weights = file["weights"]
    return Evaluator.linear("linear", weights, movement)


def resolve(policy: PolicyLike) -> PolicyLike:
    """Check a policy.

    Raises
    ------
    ValueError
        If no policy has the name.
    TypeError
        If it is neither a name, nor an `Evaluator`, nor callable.

    Examples
    --------
    >>> resolve("linear")
    'linear'
    >>> resolve("best")
    Traceback (most recent call last):
        ...
    ValueError: there is no policy 'best'; known are linear, random
    """
    if isinstance(policy, str):
        if policy not in NAMES:
            msg = f"there is no policy {policy!r}; known are {', '.join(NAMES)}"
            raise ValueError(msg)
    elif not callable(policy):
        what = repr(policy)  # type: ignore[unreachable]
        msg = f"a policy is a name, an Evaluator or a function, not {what}"
        raise TypeError(msg)
    return policy


def native(policy: PolicyLike, rules: Rules) -> tuple[bool, Evaluator | None]:
    """Say whether a policy runs in native code, and by which evaluator (None plays at random).

    Examples
    --------
    >>> import nardcore as nc
    >>> native("random", nc.BACKGAMMON)
    (True, None)
    >>> native(lambda boards: boards[:, 26], nc.BACKGAMMON)
    (False, None)
    """
    if policy == "random":
        return True, None
    if policy == "linear":
        return True, linear_evaluator(rules.movement)
    if isinstance(policy, Evaluator):
        return True, policy
    return False, None


def name_of(policy: PolicyLike) -> str:
    """Name a policy as results do.

    Examples
    --------
    >>> name_of("linear"), name_of(len)
    ('linear', 'len')
    """
    if isinstance(policy, str):
        return policy
    if isinstance(policy, Evaluator):
        return policy.name
    return getattr(policy, "__qualname__", type(policy).__qualname__)
