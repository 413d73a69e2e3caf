"""The behavioural signature: one number that changes when anything changes that is played.

It runs over the results of every roll from fixed positions of each kind of movement, in their
order, and over small rollouts from fixed seeds. It is the same on every machine, instruction set
and number of threads. ``nardcore bench --signature`` writes it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nardcore import batch
from nardcore._board import Position
from nardcore._trials import Spec, _Lockstep
from nardcore.rollouts import rollout
from nardcore.rules import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nardcore.rules import Rules
    from nardcore.typing import Boards

__all__ = ["GAMES", "POSITIONS", "Part", "parts", "positions", "text"]

POSITIONS = 1000
"""Positions of each kind of movement; each is expanded by all 21 rolls."""

GAMES = 1000
"""Games of each small rollout."""

_SEED = 20_000
_SAMPLED = 60  # games from which the positions are taken
_POLICIES = ("random", "linear")


class Part(NamedTuple):
    """One line of the signature."""

    kind: str
    """``plays``, or the policy of a rollout."""
    rules: str
    """The preset it was made with, the first of its kind."""
    number: int
    """Results found, or plies played."""
    digest: str
    """16 hex digits over all of them in order."""


def positions(rules: Rules, n: int = POSITIONS) -> Boards:
    """Take positions evenly from the first turn to the last of random games.

    Parameters
    ----------
    rules
        Their rules.
    n
        How many.

    Returns
    -------
    ndarray of int8, shape (n, 32)

    Examples
    --------
    >>> from nardcore.rules import BACKGAMMON
    >>> positions(BACKGAMMON, 10).shape
    (10, 32)
    """
    spec = Spec.make(Position.start(rules), "random", _SEED, None, False)
    games = _Lockstep(spec, np.arange(_SAMPLED, dtype=np.uint64))
    found = []
    while len(games.trials):
        found.append(games.boards)
        games.advance()
    boards = np.concatenate(found)
    return boards[np.linspace(0, len(boards) - 1, n).astype(np.int64)]


def _first_of(fingerprint: str) -> dict[str, Rules]:
    """Give the first preset of each kind."""
    found: dict[str, tuple[str, Rules]] = {}
    for name, rules in PRESETS.items():
        found.setdefault(getattr(rules, fingerprint), (name, rules))
    return dict(found.values())


def _plays(name: str, rules: Rules) -> Part:
    digest = hashlib.sha256()
    boards = positions(rules)
    number = 0
    for i in range(0, len(boards), 100):
        indptr, results, _ = batch.expand(boards[i : i + 100], rules)
        digest.update(indptr.astype("<i8").tobytes())
        digest.update(results.tobytes())
        number += len(results)
    return Part("plays", name, number, digest.hexdigest()[:16])


def _rollout(name: str, rules: Rules, policy: str) -> Part:
    result = rollout(Position.start(rules), games=GAMES, policy=policy, seed=_SEED)
    sums = np.concatenate([result.counts, [result.total_plies], result.plies])
    digest = hashlib.sha256(sums.astype("<i8").tobytes())
    return Part(policy, name, result.total_plies, digest.hexdigest()[:16])


def parts() -> Iterator[Part]:
    """Compute every part of the signature, plays first.

    Examples
    --------
    >>> next(parts())[:2]
    ('plays', 'backgammon')
    """
    for name, rules in _first_of("movement_fingerprint").items():
        yield _plays(name, rules)
    for policy in _POLICIES:
        for name, rules in _first_of("classes_fingerprint").items():
            yield _rollout(name, rules, policy)


def text() -> str:
    """Write the signature: a line for each part, and one for all of them.

    The last line has the sum of the numbers and a hash of the lines above it.

    Returns
    -------
    str
        What ``bench/signature.txt`` holds.
    """
    found = list(parts())
    lines = [f"{kind:<6} {rules:<14} {n:>9} {digest}" for kind, rules, n, digest in found]
    digest = hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()[:16]
    total = sum(part.number for part in found)
    return "\n".join([*lines, f"Signature: {total} {digest}"]) + "\n"
