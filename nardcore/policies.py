"""What plays in a rollout: policies by name, native evaluators, functions.

A policy takes, among the results of a roll, a won game by its points and else the result it rates
best, the first of equals in the fixed order of results. ``"random"`` takes any with equal chance.
``"net"`` is the shipped net of the movement, ``"net:1"`` looks one roll ahead by it (`Search`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from nardcore._rollout import Evaluator

if TYPE_CHECKING:
    from nardcore.nets import PlayerFile
    from nardcore.rules import Movement, Rules
    from nardcore.typing import PolicyLike

__all__ = [
    "FILTERS",
    "MAX_PLIES",
    "NAMES",
    "Evaluator",
    "Search",
    "check_net",
    "default_policy",
    "linear_evaluator",
    "name_of",
    "native",
    "net_approximates",
    "net_evaluator",
    "net_policy",
    "plays_net",
    "resolve",
    "search_of",
]

NAMES = ("linear", "net", "random")
"""The policies that go by name."""

MAX_PLIES = 3
"""The deepest look-ahead."""

FILTERS: tuple[tuple[int, float], ...] = ((8, 0.16), (4, 0.08), (2, 0.04))
"""Which plays are rated a ply deeper: at most so many, and within so many points of the best.

The first entry is for plays rated 0 plies deep, the second for those rated 1 ply deep, and so on.
"""


@dataclass(frozen=True)
class Search:
    """A policy that looks ahead: it rates a play by what the next rolls make of it.

    Attributes
    ----------
    evaluator : PolicyLike
        What rates the positions at the end: ``"net"``, an `Evaluator` of chances, or a function
        that gives chances.
    plies : int
        How many rolls it looks ahead, 0 to 3.
    filters : tuple of (int, float)
        The plays that are rated deeper, as in `FILTERS`: of those rated ``i`` plies deep the best
        ``filters[i][0]`` within ``filters[i][1]`` points of the best.
    early_turns, early_plies : int
        In the first `early_turns` turns of a rollout it looks `early_plies` ahead.
    chooser : Evaluator or None
        Scores that choose among plays rated 0 plies deep, where that is quicker than the evaluator:
        a net that prunes.

    Examples
    --------
    >>> Search("net", plies=1, early_turns=2, early_plies=2).name
    'net:1, first 2 turns :2'
    """

    evaluator: PolicyLike
    plies: int = 1
    filters: tuple[tuple[int, float], ...] = FILTERS
    early_turns: int = 0
    early_plies: int = 0
    chooser: Evaluator | None = None

    def __post_init__(self) -> None:
        if isinstance(self.evaluator, Search):
            msg = "a Search looks ahead by an evaluator, not by another Search"
            raise TypeError(msg)
        if isinstance(self.evaluator, str) and self.evaluator != "net":
            msg = f"{self.evaluator!r} gives no chances, so it cannot look ahead; 'net' does"
            raise ValueError(msg)
        resolve(self.evaluator)
        for plies in (self.plies, self.early_plies):
            check_plies(plies)
        if isinstance(self.early_turns, bool) or index(self.early_turns) < 0:
            msg = f"early_turns is 0 or more, not {self.early_turns}"
            raise ValueError(msg)
        if self.chooser is not None and not isinstance(self.chooser, Evaluator):
            what = repr(self.chooser)  # type: ignore[unreachable]
            msg = f"the chooser is an Evaluator of scores, not {what}"
            raise TypeError(msg)
        object.__setattr__(self, "filters", check_filters(self.filters))

    @property
    def name(self) -> str:
        """What results call the policy."""
        text = f"{name_of(self.evaluator)}:{self.plies}"
        if self.early_turns:
            text += f", first {self.early_turns} turns :{self.early_plies}"
        if self.filters != FILTERS:
            text += ", filters " + " ".join(f"{keep}/{within:g}" for keep, within in self.filters)
        return text


def check_plies(plies: object) -> int:
    """Take a depth of look-ahead."""
    if isinstance(plies, bool) or not hasattr(plies, "__index__"):
        msg = f"plies is a whole number, not {plies!r}"
        raise TypeError(msg)
    if not 0 <= index(plies) <= MAX_PLIES:
        msg = f"plies is 0 to {MAX_PLIES}, not {plies}"
        raise ValueError(msg)
    return index(plies)


def check_filters(filters: object) -> tuple[tuple[int, float], ...]:
    """Take move filters."""
    try:
        found = tuple((index(keep), float(within)) for keep, within in filters)  # type: ignore[attr-defined]
    except TypeError as error:
        msg = f"filters are pairs (how many plays, within how many points), not {filters!r}"
        raise TypeError(msg) from error
    if len(found) > MAX_PLIES or not all(k >= 1 and within >= 0 for k, within in found):
        msg = f"there are at most {MAX_PLIES} filters; each keeps 1 play or more within 0 or more"
        raise ValueError(msg)
    return tuple((min(keep, 4096), within) for keep, within in found)


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


@cache
def _net_file(movement: str) -> PlayerFile:
    from pathlib import Path

    from nardcore import nets

    path = Path(__file__).parent / "weights" / f"{movement}.npz"
    if not path.is_file():
        msg = f"no net of {movement} nardy is installed (weights/{path.name})"
        raise ValueError(msg)
    return nets.load(path)


@cache
def net_evaluator(movement: Movement) -> Evaluator:
    """Give the shipped net of ``"short"`` or ``"long"`` nardy as an evaluator of chances.

    Raises
    ------
    ValueError
        If this build has no such net.

    Examples
    --------
    >>> net_evaluator("draughts")
    Traceback (most recent call last):
        ...
    ValueError: no net of draughts nardy is installed (weights/draughts.npz)
    """
    return Evaluator.net(_net_file(movement), full=True, name="net")


@cache
def net_policy(movement: Movement, points: tuple[int, ...]) -> Evaluator:
    """Give the shipped net as it plays: for some points, pruning the plays it looks at.

    Examples
    --------
    >>> net_policy("draughts", (1, 2, 2, 3, 3))
    Traceback (most recent call last):
        ...
    ValueError: no net of draughts nardy is installed (weights/draughts.npz)
    """
    return Evaluator.net(_net_file(movement), points=points, name="net")


def check_net(rules: Rules) -> None:
    """Refuse rules that the shipped net cannot play: other checkers, or other outcome classes.

    Examples
    --------
    >>> import nardcore as nc
    >>> check_net(nc.HYPERGAMMON)
    Traceback (most recent call last):
        ...
    ValueError: ...
    """
    misfit = net_evaluator(rules.movement).misfit(rules)
    if misfit:
        msg = f"the net cannot play this game: {misfit}"
        raise ValueError(msg)


def plays_net(rules: Rules) -> bool:
    """Tell whether a net is installed that plays by some rules.

    Examples
    --------
    >>> import nardcore as nc
    >>> plays_net(nc.HYPERGAMMON)
    False
    """
    try:
        check_net(rules)
    except ValueError:
        return False
    return True


def net_approximates(rules: Rules) -> bool:
    """Tell whether the shipped net learned by rules that move, or begin, otherwise than these.

    Examples
    --------
    >>> import nardcore as nc
    >>> net_approximates(nc.FNR_SHORT), net_approximates(nc.NACKGAMMON)
    (False, True)
    """
    learned = _net_file(rules.movement).rules
    return learned.movement_fingerprint != rules.movement_fingerprint


def default_policy(rules: Rules) -> str:
    """Name what plays where nothing is asked for: the net, or what plays everything.

    Examples
    --------
    >>> import nardcore as nc
    >>> default_policy(nc.LONG_NARDY), default_policy(nc.HYPERGAMMON)
    ('net', 'linear')
    """
    return "net" if plays_net(rules) else "linear"


def _split(name: str) -> tuple[str, int | None]:
    """Read ``"net:2"``."""
    base, colon, plies = name.partition(":")
    if not colon:
        return base, None
    if base != "net" or plies not in {str(i) for i in range(MAX_PLIES + 1)}:
        msg = f"a look-ahead is written net:0 to net:{MAX_PLIES}, not {name!r}"
        raise ValueError(msg)
    return base, int(plies)


def search_of(policy: PolicyLike) -> Search | None:
    """Give the look-ahead that a policy is, None for one that only rates its plays.

    Examples
    --------
    >>> search_of("net:2").plies, search_of("net"), search_of("linear")
    (2, None, None)
    """
    if isinstance(policy, Search):
        return policy
    if isinstance(policy, str):
        base, plies = _split(policy)
        return Search(base, plies) if plies else None
    return None


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
    ValueError: there is no policy 'best'; known are linear, net, random
    """
    if isinstance(policy, str):
        if _split(policy)[0] not in NAMES:
            msg = f"there is no policy {policy!r}; known are {', '.join(NAMES)}"
            raise ValueError(msg)
    elif not callable(policy) and not isinstance(policy, Search):
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
    if isinstance(policy, Search):
        return native(policy.evaluator, rules)
    if policy == "random":
        return True, None
    if policy == "linear":
        return True, linear_evaluator(rules.movement)
    if isinstance(policy, str):
        check_net(rules)
        return True, net_policy(rules.movement, rules.points)
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
    if isinstance(policy, (Evaluator, Search)):
        return policy.name
    return getattr(policy, "__qualname__", type(policy).__qualname__)
