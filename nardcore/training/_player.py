"""Players made of float nets: what plays the games of a round."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import nardcore as nc
from nardcore import _train
from nardcore._rollout import Evaluator
from nardcore.nets import PlayerFile, make, quantise
from nardcore.training._floats import FloatNet

if TYPE_CHECKING:
    from nardcore.rules import Rules
    from nardcore.typing import PolicyLike

__all__ = ["Score", "make_player", "plain_player", "quantised", "score"]


def plain_player(net: FloatNet, rules: Rules, name: str = "plain") -> Evaluator:
    """Make an evaluator of a float net over the plain rows.

    It follows the arrays of the net: it needs no quantising and is fast enough for first rounds.

    Examples
    --------
    >>> import nardcore as nc
    >>> player = plain_player(FloatNet.fresh("plain", 32, seed=1), nc.LONG_NARDY)
    >>> nc.rollout(nc.Position.start(nc.LONG_NARDY), games=2, policy=player, seed=1).games
    2
    """
    model = net.model()
    return _train.plain_evaluator(name, model, model, rules)


def make_player(
    nets: Mapping[str, FloatNet],
    rules: Rules,
    *,
    keep: int = 6,
    name: str = "net",
    full: bool = False,
) -> Evaluator:
    """Make an evaluator of the nets of a player, as integers where there is more than one.

    Parameters
    ----------
    nets
        ``"prune"`` alone plays in floats; with ``"contact"`` and ``"race"`` it leaves them the
        best plays.
    rules
        Whose positions it rates, and by whose points it prunes.
    keep
        How many plays it leaves; 0: all.
    name
        What results call it.
    full
        Whether it gives chances in any case, and prunes nothing.

    Examples
    --------
    >>> import nardcore as nc
    >>> make_player({"prune": FloatNet.fresh("plain", 64, seed=1)}, nc.BACKGAMMON).name
    'net'
    """
    if "contact" not in nets:
        return plain_player(nets["prune"], rules, name)
    return Evaluator.net(quantised(nets, rules, keep=keep, name=name), name=name, full=full)


def quantised(
    nets: Mapping[str, FloatNet], rules: Rules, *, keep: int = 6, name: str = "net", **about: Any
) -> PlayerFile:
    """Turn float nets into a player of integers, which `nardcore.nets` saves and plays.

    Parameters
    ----------
    nets
        ``"contact"``, ``"race"``, and ``"prune"`` where the player prunes.
    rules, keep, name
        As for `make_player`.
    **about
        What else its file says, plain values.

    Examples
    --------
    >>> import nardcore as nc
    >>> shapes = {"prune": "plain", "contact": "contact_short", "race": "race_short"}
    >>> nets = {part: FloatNet.fresh(name, 64, seed=1) for part, name in shapes.items()}
    >>> quantised(nets, nc.BACKGAMMON).keep
    6
    """
    plain = f"points_{rules.movement}"
    sets = {part: plain if net.features == "plain" else net.features for part, net in nets.items()}
    meta = {
        "sets": sets,
        "rules": rules.name,
        "classes": rules.classes_fingerprint,
        "scoring": list(rules.points),
        "keep": keep,
        "name": name,
        **about,
    }
    parts = {part: quantise(net.arrays, sets[part]) for part, net in nets.items()}
    return make(parts, meta)


@dataclass(frozen=True)
class Score:
    """What a policy scored: points a game, half of the 95 % interval, and its games.

    Examples
    --------
    >>> print(Score(0.5, 0.01, 1000))
    +0.5000 ± 0.0100 (1,000 games)
    """

    mean: float
    half: float
    games: int

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.half:.4f} ({self.games:,} games)"


def score(
    a: PolicyLike,
    b: PolicyLike,
    rules: Rules,
    games: int,
    *,
    seed: int = 1,
    threads: int | None = None,
) -> Score:
    """Let two policies play in both seats with the same dice; points a game of the first.

    Examples
    --------
    >>> import nardcore as nc
    >>> score("linear", "random", nc.BACKGAMMON, 64).mean > 1
    True
    """
    blocks = 16
    size = max(1, math.ceil(games / 2 / blocks))
    start, value = nc.Position.start(rules), np.array(rules.points, np.float64)
    means = np.empty(blocks)
    for block in range(blocks):
        counts = np.zeros(10)
        for seat, pair in enumerate(((a, b), (b, a))):
            result = nc.rollout(
                start,
                games=size,
                first=block * size,
                seed=seed,
                opening=True,
                threads=threads,
                policy=pair,
            )
            counts += np.roll(result.counts, 5 * seat)
        means[block] = (counts[:5] - counts[5:]) @ value / (2 * size)
    half = 2.131 * means.std(ddof=1) / math.sqrt(blocks)  # Student's t, 15 degrees of freedom
    return Score(float(means.mean()), float(half), 2 * size * blocks)
