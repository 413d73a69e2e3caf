"""Decisions from the library's own games: what the other programs here measure policies on.

`decisions` plays games in step and keeps every roll with which the side on roll has something to
decide. Half of the games begin as games do. In the others one side, or both, play at random for
some turns, so that back games, broken primes, blitzes and bear-offs against contact turn up; their
decisions count from the first turn after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore import _movegen, nets
from nardcore._rollout import Stop
from nardcore._trials import Spec, _Lockstep

__all__ = ["PHASES", "Decisions", "choices", "decisions", "phases"]

PHASES = {
    "short": (
        "opening",
        "contact",
        "prime",
        "bar",
        "back game",
        "off in contact",
        "race",
        "bear-off",
    ),
    "long": ("opening", "contact", "prime", "home in contact", "race", "bear-off"),
}
"""The phases of a movement, by number; `phases` tells them apart."""


@dataclass(frozen=True)
class Decisions:
    """Positions on roll with their rolls.

    Attributes
    ----------
    boards : ndarray of int8, shape (n, 32)
        The positions.
    dice : ndarray of int8, shape (n, 2)
        The rolls.
    games : ndarray of int32, shape (n,)
        From which games.
    natural : ndarray of bool, shape (n,)
        Whether nobody played at random in that game.
    """

    boards: NDArray[np.int8]
    dice: NDArray[np.int8]
    games: NDArray[np.int32]
    natural: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.boards)

    def __getitem__(self, which: Any) -> Decisions:
        return Decisions(
            self.boards[which], self.dice[which], self.games[which], self.natural[which]
        )


def choices(
    policy: Any,
    rules: nc.Rules,
    boards: NDArray[np.int8],
    dice: NDArray[np.int8],
    trials: NDArray[np.uint64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]]:
    """Say what a policy plays: plays of every roll as (indptr, boards), and which it takes.

    It is what it takes in the first turn of a rollout. Random choices are those of the trials.
    """
    spec = Spec.make(nc.Position.from_board(boards[0], rules), policy, 1, None, False)
    indptr, results, _ = _movegen.plays(boards, dice, rules)
    taken = []
    step = 2048
    for at in range(0, len(boards), step):
        stop = min(at + step, len(boards))
        numbers = np.arange(at, stop, dtype=np.uint64) if trials is None else trials[at:stop]
        games = _Lockstep(spec, numbers)
        games.boards, games.rolls = boards[at:stop], dice[at:stop]
        part = results[indptr[at] : indptr[stop]]
        found = games._choose(games.players[0], indptr[at : stop + 1] - indptr[at], part, Stop())
        assert found is not None  # nobody stops it
        taken.append(found)
    return indptr, results, np.concatenate(taken)


def decisions(
    rules: nc.Rules,
    games: int,
    seed: int,
    policy: Any = "net",
    starts: NDArray[np.int8] | None = None,
) -> Decisions:
    """Play games and keep what there was to decide: two plays or more, none of which wins at once.

    With `starts`, game i begins there, and nobody plays at random.
    """
    rng = np.random.default_rng([seed, games])
    boards = nc.batch.start(games, rules) if starts is None else starts.copy()
    number = np.arange(games, dtype=np.int32)
    # the last turns played at random by the side that begins, and by the other
    until = np.zeros((games, 2), np.int64)
    if starts is None:
        turns = rng.integers(2, 25, games)
        kind = number % 4
        until[kind == 2, rng.integers(0, 2, int((kind == 2).sum()))] = turns[kind == 2]
        until[kind == 3] = turns[kind == 3, None]
    natural = until.max(axis=1) == 0
    kept: list[tuple[NDArray[Any], ...]] = []
    ply = 0
    while len(boards):
        dice = rng.integers(1, 7, (len(boards), 2)).astype(np.int8)
        if ply == 0 and starts is None and rules.opening == "use_dice":
            dice[:, 1] = (dice[:, 0] + rng.integers(0, 5, len(boards))) % 6 + 1
        trials = number.astype(np.uint64) << np.uint64(20) | np.uint64(ply)
        indptr, results, taken = choices(policy, rules, boards, dice, trials)
        stray = ply // 2 < until[number, ply & 1]
        counts = np.diff(indptr)
        taken[stray] = rng.integers(0, counts)[stray]
        won = np.maximum.reduceat(results[:, 26], indptr[:-1]) == rules.checkers
        keep = (counts > 1) & ~won & (ply // 2 >= until[number].max(axis=1))
        kept.append((boards[keep], dice[keep], number[keep], natural[number[keep]]))
        after = results[indptr[:-1] + taken]
        on = after[:, 26] < rules.checkers
        boards, number = nc.batch.flip(after[on], rules=rules), number[on]
        ply += 1
    return Decisions(*(np.concatenate(part) for part in zip(*kept, strict=True)))


# -------------------------------------------------------------------------------------- phases


def _runs(held: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the longest run of held points, and the lowest point it begins at."""
    best = np.zeros(len(held), np.int64)
    where = np.zeros(len(held), np.int64)
    run = np.zeros(len(held), np.int64)
    for point in range(held.shape[1]):
        run = np.where(held[:, point], run + 1, 0)
        more = run > best
        best = np.where(more, run, best)
        where = np.where(more, point - run + 1, where)
    return best, where


def phases(boards: NDArray[np.int8], rules: nc.Rules) -> NDArray[np.int8]:
    """Number the phases of positions on roll, by `PHASES`; the last that fits counts.

    Short: *opening*, both sides have 140 pips or more; *contact*, the rest of what is not named;
    *prime*, five or six points in a row with an enemy checker behind them; *bar*, a checker on the
    bar against three closed home points or more; *back game*, two points of two checkers held in
    the other's home; *off in contact*, a checker is off and the sides can still meet; *race*, they
    cannot; *bear-off*, both are home in a race.

    Long: *opening*, the side on roll has nine checkers or more on its head; *prime*, five or six
    points in a row with an enemy checker behind them; *home in contact*, one side has all its
    checkers home, or some off; the others as in short.
    """
    short = rules.movement == "short"
    names = PHASES["short" if short else "long"]
    found = np.full(len(boards), names.index("contact"), np.int8)
    own, other = np.maximum(boards[:, :24], 0), np.maximum(-boards[:, :24], 0)
    # the other side by its own points
    other = other[:, ::-1] if short else np.roll(other, 12, axis=1)
    bars = boards[:, 24:26]
    sides = ((own, other, bars[:, 0], bars[:, 1]), (other, own, bars[:, 1], bars[:, 0]))
    pips = nc.batch.pips(boards, rules)
    race = nets.race(boards, rules.movement)
    off = boards[:, 26:28].max(axis=1) > 0
    home = [(side[0][:, 6:].sum(axis=1) == 0) & (side[2] == 0) for side in sides]
    prime = np.zeros(len(boards), bool)
    for mine, theirs, _, bar in sides:
        run, low = _runs(mine >= 2 if short else mine >= 1)
        # my point p is the other's point 25 - p in short, and 12 points on in long; the farthest
        # checker of the other, in my numbers, stands behind a run if it has yet to come past it
        if short:
            behind = np.where(theirs[:, ::-1] > 0, np.arange(24), 24).min(axis=1) < low
            prime |= (run >= 5) & (behind | (bar > 0))
        else:
            moved = (low + 12) % 24  # the lowest point of the run as the other counts
            reach = np.where(theirs > 0, np.arange(24), -1).max(axis=1)
            prime |= (run >= 5) & (reach > moved + run - 1)
    found[prime] = names.index("prime")
    if short:
        found[pips.min(axis=1) >= 140] = names.index("opening")
        for mine, _, _, bar in sides:
            closed = (mine[:, :6] >= 2).sum(axis=1)
            found[(bar > 0) & (closed >= 3)] = names.index("bar")
        for mine, *_ in sides:
            found[(mine[:, 18:] >= 2).sum(axis=1) >= 2] = names.index("back game")
            # the 24-point of the start is one of the two
        found[off] = names.index("off in contact")
    else:
        found[own[:, 23] >= 9] = names.index("opening")
        found[off | home[0] | home[1]] = names.index("home in contact")
    found[race] = names.index("race")
    found[race & home[0] & home[1]] = names.index("bear-off")
    return found
