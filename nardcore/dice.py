"""Rolls, their weights, orders and sequences, and the dice streams of trials."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _dice, _movegen
from nardcore.notation import as_dice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nardcore._board import Position
    from nardcore.rules import Rules
    from nardcore.typing import Seed

__all__ = [
    "ROLLS",
    "THROWS",
    "WEIGHTS",
    "Expansion",
    "Opening",
    "key",
    "opening",
    "orders",
    "rolls",
    "seed_words",
]

ROLLS: tuple[tuple[int, int], ...] = tuple((a, b) for a in range(1, 7) for b in range(1, a + 1))
"""The 21 rolls, larger die first: 1-1, 2-1, 2-2, 3-1, … 6-6."""

WEIGHTS: tuple[int, ...] = tuple(1 if a == b else 2 for a, b in ROLLS)
"""How many of the 36 throws give each of `ROLLS`."""

THROWS: tuple[tuple[int, int], ...] = tuple((a, b) for a in range(1, 7) for b in range(1, 7))
"""The 36 throws of two dice, each as likely as another."""


def orders(dice: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """List the orders in which the dice of a roll may be played.

    Parameters
    ----------
    dice
        A pair of dice, 1 to 6 each.

    Returns
    -------
    tuple of tuple of int
        Two orders of two different dice, larger first; one of a double, its die four times
        (triktrak rules 7 and 13).

    Examples
    --------
    >>> orders((1, 3))
    ((3, 1), (1, 3))
    >>> orders((5, 5))
    ((5, 5, 5, 5),)
    """
    larger, smaller = as_dice(dice)
    if larger == smaller:
        return ((larger,) * 4,)
    return (larger, smaller), (smaller, larger)


# ------------------------------------------------------------------------------------- expansion


@dataclass(frozen=True, eq=False)
class Expansion:
    """Every result of every sequence of rolls from one position.

    Attributes
    ----------
    rolls : ndarray of int8, shape (21**depth, depth, 2)
        The sequences, in lexicographic order of `ROLLS`, the first roll slowest.
    weights : ndarray of int64, shape (21**depth,)
        How many of the ``36**depth`` throws give each sequence.
    indptr : ndarray of int64, shape (21**depth + 1,)
        The results of sequence ``i`` are ``boards[indptr[i]:indptr[i + 1]]``.
    boards : ndarray of int8, shape (n, 32)
        Results in the view of the side that has just moved. Those of one play are distinct; with a
        greater depth, two ways that meet in one position are both listed. A game that ends before
        the last roll has no results.

    Examples
    --------
    >>> import nardcore as nc
    >>> found = nc.Position.start().expand()
    >>> found.rolls[1].tolist(), int(found.weights[1])
    ([[2, 1]], 2)
    """

    rolls: NDArray[np.int8]
    weights: NDArray[np.int64]
    indptr: NDArray[np.int64]
    boards: NDArray[np.int8]

    def __len__(self) -> int:
        """Count the sequences of rolls."""
        return len(self.weights)

    def of(self, *sequence: tuple[int, int]) -> NDArray[np.int8]:
        """Give the results of one sequence of rolls.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().expand().of((3, 1)).shape
        (16, 32)
        """
        at = 0
        for roll in sequence:
            at = 21 * at + ROLLS.index(as_dice(roll))
        if 21 ** len(sequence) != len(self.weights):
            msg = f"this expansion has sequences of {self.rolls.shape[1]} rolls"
            raise ValueError(msg)
        return self.boards[self.indptr[at] : self.indptr[at + 1]]


_LIMIT = 40_000_000  # results: 1.3 GB


def expand_position(position: Position, depth: int) -> Expansion:
    """Play out every sequence of `depth` rolls; the work of `Position.expand`."""
    if isinstance(depth, bool) or not hasattr(depth, "__index__"):
        msg = f"depth is an int, not {depth!r}"
        raise TypeError(msg)
    depth = index(depth)
    if depth < 1:
        msg = f"depth is 1 or more, not {depth}"
        raise ValueError(msg)
    if depth > 5:
        msg = (
            f"there are {21 ** min(depth, 99):.3g} sequences of {depth} rolls; take a smaller depth"
        )
        raise ValueError(msg)
    rules = position.rules
    boards: NDArray[np.int8] = position.board[None, :]
    indptr = np.array([0, 1], np.int64)
    for level in range(depth):
        if level:
            boards = _movegen.flip(boards, rules)
        boards, indptr = _next_level(boards, indptr, rules)
    single = np.array(ROLLS, np.int8)
    grid = np.indices((21,) * depth).reshape(depth, -1).T
    weights = np.array(WEIGHTS, np.int64)[grid].prod(axis=1)
    return Expansion(single[grid], weights, indptr, boards)


def _next_level(
    boards: NDArray[np.int8], indptr: NDArray[np.int64], rules: Rules
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Expand each board by all rolls and sort the results by block, roll and board."""
    parts, counts, total = [], [], 0
    for at in range(0, max(len(boards), 1), 4096):
        ends, results = _movegen.expand(boards[at : at + 4096], rules)
        counts.append(np.diff(ends).reshape(-1, 21))
        parts.append(results)
        total += len(results)
        if total > _LIMIT:
            msg = f"the expansion has more than {_LIMIT:,} results; take a smaller depth"
            raise ValueError(msg)
    count = np.concatenate(counts)  # [board, roll]
    flat = np.concatenate(parts)
    first = np.concatenate([[0], np.cumsum(count.ravel())])[:-1].reshape(count.shape)
    blocks = len(indptr) - 1
    of_block = np.repeat(np.arange(blocks), np.diff(indptr))
    # one run of results for each (block, roll, board), in this order
    order = np.lexsort(
        (
            np.repeat(np.arange(len(count)), 21),
            np.tile(np.arange(21), len(count)),
            np.repeat(of_block, 21),
        )
    )
    lengths = count.ravel()[order]
    starts = first.ravel()[order]
    ends = np.cumsum(lengths)
    take = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    sizes = np.zeros((blocks, 21), np.int64)
    np.add.at(sizes, of_block, count)
    return flat[take], np.concatenate([[0], np.cumsum(sizes.ravel())])


# --------------------------------------------------------------------------------------- streams


def key(seed: Seed) -> NDArray[np.uint64]:
    """Turn a seed into the key of its dice: ``SeedSequence(seed).generate_state(2, uint64)``.

    Examples
    --------
    >>> [int(word) for word in key(0)]
    [15793235383387715774, 12390638538380655177]
    """
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64, copy=False)


def seed_words(seed: Seed) -> tuple[int, ...]:
    """Give the numbers that make up a seed; of None, those that the system draws.

    Examples
    --------
    >>> seed_words(7), seed_words([1, 2]), len(seed_words(None))
    ((7,), (1, 2), 1)
    """
    entropy: Any = np.random.SeedSequence(seed).entropy
    words = tuple(int(word) for word in np.atleast_1d(np.asarray(entropy, dtype=object)))
    if not words:
        msg = "a seed is a whole number or some of them, not an empty sequence"
        raise ValueError(msg)
    return words


def rolls(seed: Seed, trial: int, plies: int, *, opening: bool = False) -> NDArray[np.int8]:
    """Give the first rolls of one trial, as every rollout with this seed throws them.

    Parameters
    ----------
    seed
        As for `nardcore.rollout`.
    trial
        The number of the trial, from 0.
    plies
        How many rolls.
    opening
        Whether the first roll is an opening throw, which is no double.

    Returns
    -------
    ndarray of int8, shape (plies, 2)

    Examples
    --------
    >>> rolls(7, 0, 3).shape
    (3, 2)
    """
    trial, plies = index(trial), index(plies)
    if not 0 <= trial < 2**64 or not 0 <= plies < 2**31:
        msg = "trial and plies are 0 or more, trial is below 2**64 and plies below 2**31"
        raise ValueError(msg)
    return _dice.rolls(key(seed), trial, plies, bool(opening))


@dataclass(frozen=True)
class Opening:
    """How a game begins.

    Attributes
    ----------
    starter : {"w", "b"}
        The colour that moves first: the higher die.
    throws : tuple of (int, int)
        White's and black's die of each throw; all but the last are equal.
    dice : (int, int) or None
        The first roll, larger die first, where the rules say that the opening dice are it; None
        where the starter throws both dice afresh.

    Examples
    --------
    >>> import nardcore as nc
    >>> first = nc.dice.opening(nc.BACKGAMMON, seed=1)
    >>> white, black = first.throws[-1]
    >>> first.starter == ("w" if white > black else "b")
    True
    """

    starter: str
    throws: tuple[tuple[int, int], ...]
    dice: tuple[int, int] | None


def opening(rules: Rules, seed: Seed, game: int = 0) -> Opening:
    """Throw for the first move: one die a side, again while they are equal.

    Parameters
    ----------
    rules
        Its field `opening` says whether the two dice are the first roll.
    seed, game
        The same seed and number of the game give the same throws.

    Returns
    -------
    Opening

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.dice.opening(nc.TRIKTRAK, seed=1).dice is None
    True
    >>> first = nc.dice.opening(nc.BACKGAMMON, seed=1)
    >>> first.dice == tuple(sorted(first.throws[-1], reverse=True))
    True
    """
    game = index(game)
    if not 0 <= game < 2**64:
        msg = "the number of the game is 0 or more, below 2**64"
        raise ValueError(msg)
    throws: list[tuple[int, int]] = []
    plies = 16
    while not throws or throws[-1][0] == throws[-1][1]:
        throws = []
        for white, black in _dice.opening_throws(key(seed), game, plies).tolist():
            throws.append((white, black))
            if white != black:
                break
        plies *= 2
    white, black = throws[-1]
    dice = (max(white, black), min(white, black)) if rules.opening == "use_dice" else None
    return Opening("w" if white > black else "b", tuple(throws), dice)
