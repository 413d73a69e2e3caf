"""Positions to check the generators on, and what three generators make of them.

Random play reaches most of what happens in games; the set-up positions are those it hardly ever
reaches: few checkers, several on the bar, blocks that stand already, bearing off in contact, and
first-turn flags that no game has. Nothing here needs pytest, so that other processes can run it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import oracle

import nardcore as nc
from nardcore import _movegen
from nardcore.rules import PRESETS, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHORT_PLACES = (24, 13, 8, 6)


def _short_start(checkers: int) -> tuple[tuple[int, int], ...]:
    """Spread any number of checkers over the usual points."""
    most = {24: 2, 13: 5, 8: 3, 6: 5}
    placed = dict.fromkeys(_SHORT_PLACES, 0)
    while sum(placed.values()) < checkers:
        for point in _SHORT_PLACES:
            if placed[point] < most[point] and sum(placed.values()) < checkers:
                placed[point] += 1
    return tuple((point, n) for point, n in placed.items() if n)


def _options() -> dict[str, Rules]:
    short = [
        {"hit_and_hide": "board"},
        {"hit_and_hide": "home"},
        {"exact_first": True},
        {"last_home_larger": True},
        {"hit_and_hide": "board", "exact_first": True, "last_home_larger": True},
        {"hit_and_hide": "home", "last_home_larger": True},
        {"exact_first": True, "last_home_larger": True},
    ]
    long = [
        {"exact_first": True},
        {"last_home_larger": True},
        {"exact_first": True, "last_home_larger": True, "block_timing": "each_step"},
        {"head_limit": "free"},
        {"head_limit": "free", "block": "flat", "block_timing": "each_step"},
        *(
            {"head_exception": exception, "head_exception_for": who}
            for exception in ("none", "listed", "blocked", "any_double")
            for who in ("both", "second")
        ),
        *(
            {"block": block, "block_timing": timing}
            for block in ("off", "ahead", "home", "flat")
            for timing in ("end_of_turn", "each_step")
        ),
    ]
    found: dict[str, Rules] = {}
    for movement, choices in (("short", short), ("long", long)):
        for fields in choices:
            name = "+".join(f"{field}={value}" for field, value in fields.items())
            found[f"{movement}: {name}"] = Rules(movement=movement, **fields)
    for n in range(1, 16):
        found[f"short: checkers={n}"] = Rules(checkers=n, start=_short_start(n))
        found[f"long: checkers={n}"] = Rules(movement="long", checkers=n, start=((24, n),))
    return found


OPTIONS = _options()
"""Each option of the movement on its own, some together, and every number of checkers."""

EVERY_RULES: dict[str, Rules] = {**PRESETS, **OPTIONS}


def reached(rules: Rules, n: int, rng: np.random.Generator, *, keep: int = 7) -> NDArray[np.int8]:
    """Reach n unfinished positions by random play, keeping one turn in `keep` of each game."""
    games = max(8, min(64, n // 20))
    boards = nc.batch.start(games, rules)
    ages = np.zeros(games, np.int64)
    offset = rng.integers(0, keep, games)
    found: list[NDArray[np.int8]] = []
    count = 0
    while count < n:
        kept = boards[(ages + offset) % keep == 0]
        found.append(kept)
        count += len(kept)
        played = nc.batch.plays(boards, rng.integers(1, 7, (games, 2)), rules)
        sizes = np.diff(played.indptr)
        chosen = played.boards[played.indptr[:-1] + rng.integers(0, sizes)]
        over = nc.batch.results(chosen, rules) >= 0
        boards = nc.batch.flip(chosen, rules)
        boards[over] = nc.batch.start(1, rules)
        ages = np.where(over, 0, ages + 1)
    return np.concatenate(found)[:n]


def _place(board: NDArray[np.int8], side: int, place: int, count: int, rules: Rules) -> None:
    """Put checkers of a side on one of its own points, 25 the bar and 0 off."""
    if place == 0:
        board[26 + side] += count
    elif place == 25:
        board[24 + side] += count
    elif side == 0:
        board[place - 1] += count
    else:
        board[oracle.enemy_number(rules, place) - 1] -= count


def _free(board: NDArray[np.int8], side: int, places: range, rules: Rules) -> list[int]:
    """The own points of a side among `places` where the other does not stand."""
    free = []
    for place in places:
        at = (place if side == 0 else oracle.enemy_number(rules, place)) - 1
        if board[at] * (1 - 2 * side) >= 0:
            free.append(place)
    return free


def _fill(
    board: NDArray[np.int8],
    side: int,
    left: int,
    places: range,
    stacks: int,
    rules: Rules,
    rng: np.random.Generator,
) -> None:
    """Spread what is left over at most `stacks` points, the rest off."""
    free = _free(board, side, places, rules)
    if free and stacks:
        for place in rng.choice(free, min(stacks, len(free)), replace=False).tolist():
            count = min(left, int(rng.choice([1, 1, 1, 2, 2, 3, 5])))
            if count:
                _place(board, side, place, count, rules)
            left -= count
    _place(board, side, 0, left, rules)


def set_up(rules: Rules, n: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Make n possible positions that random play rarely reaches."""
    return np.array([_set_up_one(rules, rng) for _ in range(n)], np.int8)


def _set_up_one(rules: Rules, rng: np.random.Generator) -> NDArray[np.int8]:
    short = rules.movement == "short"
    while True:
        board = np.zeros(32, np.int8)
        left = [rules.checkers, rules.checkers]
        kinds = ["few", "home", "one_outside", "thick", *(["bar"] if short else ["head", "block"])]
        kind = str(rng.choice(kinds))
        mine, stacks = range(1, 25), int(rng.integers(1, 6))
        theirs, their_stacks = range(1, 25), int(rng.integers(1, 8))
        if kind == "home":
            mine, theirs = range(1, 7), range(1, 25) if rng.random() < 0.5 else range(19, 25)
        elif kind == "one_outside":
            mine, theirs = range(1, 7), range(13, 25)
            for _ in range(min(left[0], int(rng.integers(1, 3)))):
                _place(board, 0, int(rng.integers(7, 26 if short else 25)), 1, rules)
                left[0] -= 1
        elif kind == "thick":
            stacks = their_stacks = 12
        elif kind == "bar":
            for side in (0, 1):
                count = min(left[side], int(rng.integers(0, 4)))
                _place(board, side, 25, count, rules)
                left[side] -= count
            stacks = int(rng.integers(0, 6))
        elif kind == "head":
            count = min(left[0], int(rng.integers(1, 16)))
            _place(board, 0, 24, count, rules)
            left[0] -= count
        elif kind == "block":
            length, first = int(rng.integers(4, 8)), int(rng.integers(1, 25))
            gap = int(rng.integers(0, 9))
            for step in range(length):
                # six in a row on the enemy's route, often with a hole that this turn may fill
                if step != gap and left[0]:
                    point = oracle.enemy_number(rules, (first + step - 1) % 24 + 1)
                    _place(board, 0, point, 1, rules)
                    left[0] -= 1
            stacks = int(rng.integers(1, 6))
            if rng.random() < 0.5:
                theirs = range(int(rng.integers(1, 20)), 25)
        _fill(board, 0, left[0], mine, stacks, rules, rng)
        if kind != "bar" and short and left[1] and rng.random() < 0.2:
            _place(board, 1, 25, 1, rules)
            left[1] -= 1
        _fill(board, 1, left[1], theirs, their_stacks, rules, rng)
        if rng.random() < 0.6:
            # where few are left outside, most of the missing ones stand deep instead of off
            for side in (0, 1):
                free = _free(board, side, range(1, 7), rules)
                if free and board[26 + side]:
                    place = int(rng.choice(free))
                    _place(board, side, place, int(board[26 + side]), rules)
                    board[26 + side] = 0
        if board[26] == rules.checkers or board[27] == rules.checkers:
            continue
        board[28] = rng.integers(0, 2)
        board[29] = 0 if short else rng.integers(0, 4)
        return board


class Disagreement(NamedTuple):
    """One position and roll on which the generators differ."""

    rules: str
    board: tuple[int, ...]
    dice: tuple[int, int]
    which: str
    missing: list[tuple[int, ...]]
    extra: list[tuple[int, ...]]

    def __str__(self) -> str:
        return (
            f"{self.which} differs from the oracle: rules {self.rules}, dice {self.dice}\n"
            f"  board {self.board}\n  missing {self.missing[:3]}\n  extra {self.extra[:3]}"
        )


def compare(
    rules: Rules, boards: NDArray[np.int8], dice: NDArray[np.int8]
) -> tuple[int, list[Disagreement]]:
    """Hold both kernels against the oracle; the number of results, and what differs."""
    name = rules.name
    kernels = {
        which: _movegen.plays_by(which, boards, dice, rules) for which in ("general", "chosen")
    }
    wrong = []
    total = 0
    for i, (board, roll) in enumerate(zip(boards.tolist(), dice.tolist(), strict=True)):
        right = oracle.plays(rules, board, roll)
        total += len(right)
        for which, (indptr, results) in kernels.items():
            rows = [tuple(row) for row in results[indptr[i] : indptr[i + 1]].tolist()]
            found = set(rows)
            if found != right or len(found) != len(rows):
                missing, extra = sorted(right - found), sorted(found - right)
                twice = sorted(row for row in found if rows.count(row) > 1)
                wrong.append(
                    Disagreement(name, tuple(board), tuple(roll), which, missing, extra or twice)
                )
    return total, wrong


def sample(rules: Rules, n: int, seed: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Positions, two thirds reached by play and one third set up, each with a roll."""
    rng = np.random.default_rng(seed)
    of_games = n - n // 3
    boards = np.concatenate([reached(rules, of_games, rng), set_up(rules, n // 3, rng)])
    if rules.movement == "long":
        # any flags at all in some positions of games, too
        odd = rng.random(len(boards)) < 0.2
        boards[odd, 29] = rng.integers(0, 4, odd.sum())
    return boards, rng.integers(1, 7, (len(boards), 2)).astype(np.int8)


def check(name: str, n: int, seed: int) -> tuple[str, int, int, list[Disagreement]]:
    """Compare on n positions of the rules `name`: name, positions, results, what differs."""
    rules = EVERY_RULES[name]
    boards, dice = sample(rules, n, seed)
    total, wrong = compare(rules, boards, dice)
    return name, len(boards), total, wrong
