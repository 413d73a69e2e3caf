"""From written plays and single steps to legal plays, and from illegal ones to reasons."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

import numpy as np

from nardcore._board import single_steps
from nardcore.errors import AmbiguousPlayError, IllegalPlayError, InvalidPlayError
from nardcore.notation import Hop, format_play, parse_play

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nardcore._board import Play, Plays
    from nardcore._faults import Board

__all__ = ["after", "find_play", "next_steps"]

_BAR, _OFF = 25, 0


def _own(boards: Board) -> NDArray[np.int16]:
    """Show the mover's checkers alone: columns 0 off, 1..24 the points, 25 the bar."""
    rows = boards.reshape(-1, 32)
    own = np.zeros((len(rows), 26), np.int16)
    own[:, 1:25] = np.maximum(rows[:, :24], 0)
    own[:, 25] = rows[:, 24]
    own[:, 0] = rows[:, 26]
    return own


def _hit_points(before: Board, after_: Board) -> frozenset[int]:
    """List the mover's points where a blot of the opponent has been hit."""
    return frozenset((np.flatnonzero((before[:24] == -1) & (after_[:24] >= 0)) + 1).tolist())


def find_play(plays: Plays, text: object, numbering: str) -> Play:
    """Find the play that a text means among the legal ones."""
    from nardcore._board import Play

    if isinstance(text, Play):
        for play in plays:
            if play == text:
                return play
        msg = f"{text} is not a legal play of this position and roll"
        raise IllegalPlayError(msg)
    if not isinstance(text, str):
        msg = f"a play is a text such as '8/5 6/5' or a Play, not {text!r}"
        raise TypeError(msg)
    position = plays.position
    hops = parse_play(text, numbering=numbering, rules=position.rules, turn=position.turn)
    board = position.board
    wanted = _own(board)[0]
    for hop in hops:
        wanted[hop.source] -= 1
        wanted[hop.target] += 1
    boards = plays.boards
    found = np.flatnonzero((_own(boards) == wanted).all(axis=1)).tolist() if len(plays) else []
    closed = -1 if position.rules.movement == "long" else -2
    through = any(hop.target != _OFF and board[hop.target - 1] <= closed for hop in hops)
    if not found or through:
        # a stop that is named must be open, even where another way leads to the same position
        raise IllegalPlayError(_refusal(plays, text.strip() or "pass", hops))
    if len(found) > 1:
        # the same checkers by other ways: what is hit tells them apart
        named = {hop.target for hop in hops}
        hit = {i: _hit_points(board, boards[i]) for i in found}
        found = [i for i in found if hit[i] <= named] or found
        marked = {hop.target for hop in hops if hop.hit}
        exact = [i for i in found if marked <= hit[i]]
        most = max((len(hit[i]) for i in exact), default=0)
        found = [i for i in exact if len(hit[i]) == most] or found
    if len(found) > 1:
        means = " or ".join(str(plays[i]) for i in found)
        msg = f"{text.strip()} may mean {means}"
        raise AmbiguousPlayError(msg)
    return plays[found[0]]


def _refusal(plays: Plays, text: str, hops: tuple[Hop, ...]) -> str:
    larger, smaller = plays.dice
    msg = f"{text} is illegal with {larger}-{smaller}: {_reason(plays, hops)}"
    near = _near(plays, hops)
    return f"{msg}; near: {', '.join(near)}" if near else msg


def _near(plays: Plays, hops: tuple[Hop, ...]) -> list[str]:
    """Name up to three legal plays that leave the most checkers where the text would."""
    if not len(plays):
        return []
    wanted = _own(plays.position.board)[0]
    for hop in hops:
        wanted[hop.source] -= 1
        wanted[hop.target] += 1
    far = np.abs(_own(plays.boards) - wanted).sum(axis=1)
    best = np.argsort(far, kind="stable")[:3]
    return [str(plays[int(i)]) for i in best if far[i] <= far[best[0]]]


def _reason(plays: Plays, hops: tuple[Hop, ...]) -> str:
    """Say what forbids a play that is none of the legal ones, as near to the rule as can be."""
    position = plays.position
    rules = position.rules
    larger, smaller = plays.dice
    if not len(plays):
        return "the game is over"
    legal = plays[0]
    if not hops:
        return f"a pass is not allowed while a die can be played, as in {legal}"
    if not legal.dice_used and len(plays) == 1:
        return "no die can be played, so the play is a pass"
    board = position.board
    own = _own(board)[0]
    dice = [larger] * 4 if larger == smaller else [larger, smaller]
    on_bar = int(own[_BAR])
    entering = sum(hop.source == _BAR for hop in hops)
    if on_bar and entering < min(on_bar, len(hops)):
        return "checkers on the bar enter first"
    closed = -1 if rules.movement == "long" else -2
    for hop in hops:
        name = format_play([(hop.source, hop.target, False)])
        pips = hop.source - hop.target
        sums = {larger, smaller, larger + smaller}
        if larger == smaller:
            sums = {larger * k for k in (1, 2, 3, 4)}
        if hop.target != _OFF and pips not in sums:
            return f"{name} takes {pips} pips, which the dice do not give"
        if hop.target == _OFF and pips > sum(dice):
            return f"{name} takes more pips than the dice give"
        if hop.target != _OFF and board[hop.target - 1] <= closed:
            return f"point {hop.target} is closed by the opponent"
        arriving = sum(other.target == hop.source for other in hops)
        if own[hop.source] + arriving < sum(other.source == hop.source for other in hops):
            return f"there is no checker to move from {hop.source}"
        if hop.target == _OFF and own[7:].sum() > sum(
            other.source > 6 >= other.target for other in hops
        ):
            return "no checker may be borne off while one stands outside the home"
    if rules.movement == "long":
        leaving = sum(hop.source == 24 for hop in hops)
        if leaving > 1 and rules.head_limit == "one":
            return "only one checker a turn may leave the head"
    used = max(play.dice_used for play in plays)
    pips = sum(hop.source - hop.target for hop in hops)
    steps = _step_count(hops, dice)
    if steps is not None and steps > len(dice):
        return f"it takes {steps} dice, the roll gives {len(dice)}"
    if steps is not None and steps < used:
        return f"{used} dice can be played, so {used} must be"
    if steps == 1 == used and pips == smaller:
        return "when only one die can be played, it is the larger"
    return _special_reason(plays, hops)


def _step_count(hops: tuple[Hop, ...], dice: list[int]) -> int | None:
    """Count the dice that a play takes, None where that is not plain from its pips."""
    total = 0
    for hop in hops:
        pips = hop.source - hop.target
        if dice[0] == dice[-1]:
            total += -(-pips // dice[0])
        elif pips in dice or (hop.target == _OFF and pips < max(dice)):
            total += 1
        else:
            total += 2
    return total


def _special_reason(plays: Plays, hops: tuple[Hop, ...]) -> str:
    rules = plays.position.rules
    board = plays.position.board
    hits = any(hop.target and board[hop.target - 1] == -1 for hop in hops)
    if rules.movement == "long" and rules.block != "off" and not any(h.target == 0 for h in hops):
        own = _own(board)[0]
        for hop in hops:
            own[hop.source] -= 1
            own[hop.target] += 1
        held = own[1:25] > 0
        route = np.concatenate([held[12:], held[:12]])
        if any(route[i : i + 6].all() for i in range(19)):
            return "the block of six points it builds is forbidden"
    if rules.hit_and_hide != "off" and hits:
        return "a checker that has hit may not move on to cover itself in the same turn"
    if any(hop.target == _OFF for hop in hops):
        if rules.exact_first:
            return "a die whose own point holds a checker may not bear off from a lower one"
        return "a larger die bears off only from the highest point held"
    if rules.last_home_larger:
        return "the last checker comes home by the larger die"
    return "a stop on the way is closed, or the dice do not give these steps"


# ------------------------------------------------------------------------------- single steps


def _target(origin: int, die: int) -> int:
    return max(origin - die, _OFF)


def _start(plays: Plays) -> Board:
    board = plays.position.board.copy()
    board[29] &= ~1
    return board


def _walk(plays: Plays, board: Board, dice: tuple[int, ...]) -> Iterator[tuple[int, int, Board]]:
    """Yield (origin, die, next board) of each single step."""
    for die in dict.fromkeys(dice):
        for origin, step in single_steps(plays.position, board, plays.dice, die):
            yield origin, die, step


class _Reach:
    """Which boards of a turn can still become one of its legal plays."""

    def __init__(self, plays: Plays) -> None:
        self.plays = plays
        self.legal = {row.tobytes() for row in plays.boards}
        self.known: dict[tuple[bytes, tuple[int, ...]], bool] = {}

    def __call__(self, board: Board, dice: tuple[int, ...]) -> bool:
        """Say whether a legal play ends here or can be reached with the dice that are left."""
        key = (board.tobytes(), dice)
        if key not in self.known:
            self.known[key] = key[0] in self.legal or any(
                self(step, _without(dice, die)) for _, die, step in _walk(self.plays, board, dice)
            )
        return self.known[key]


def _without(dice: tuple[int, ...], die: int) -> tuple[int, ...]:
    at = dice.index(die)
    return dice[:at] + dice[at + 1 :]


def _dice(plays: Plays) -> tuple[int, ...]:
    larger, smaller = plays.dice
    return (larger,) * 4 if larger == smaller else (larger, smaller)


def _made(plays: Plays, made: Sequence[tuple[int, int]]) -> list[tuple[Board, tuple[int, ...]]]:
    """Play the steps taken so far: the boards they may have led to, with the dice that are left."""
    states = [(_start(plays), _dice(plays))]
    for step in made:
        try:
            source, target = index(step[0]), index(step[1])
        except (TypeError, IndexError, KeyError):
            msg = f"a step is a pair (from, to) of ints, not {step!r}"
            raise InvalidPlayError(msg) from None
        states = [
            (after_step, _without(dice, die))
            for board, dice in states
            for origin, die, after_step in _walk(plays, board, dice)
            if origin == source and _target(origin, die) == target
        ]
    return states


def next_steps(plays: Plays, made: Sequence[tuple[int, int]]) -> tuple[tuple[int, int, int], ...]:
    """List (from, to, die) of every step that can still become a legal play."""
    reach = _Reach(plays)
    found: dict[tuple[int, int, int], None] = {}
    alive = False
    for board, dice in _made(plays, made):
        if not reach(board, dice):
            continue
        alive = True
        for origin, die, step in _walk(plays, board, dice):
            if reach(step, _without(dice, die)):
                found[origin, _target(origin, die), die] = None
    if not alive and len(plays):
        steps = " ".join(f"{step[0]}/{step[1]}" for step in made)
        msg = f"the steps {steps} belong to no legal play of {plays.dice[0]}-{plays.dice[1]}"
        raise IllegalPlayError(msg)
    return tuple(found)


def after(plays: Plays, made: Sequence[tuple[int, int]]) -> Board:
    """Show the board after some steps of a turn."""
    reach = _Reach(plays)
    for board, dice in _made(plays, made):
        if reach(board, dice):
            return board
    steps = " ".join(f"{step[0]}/{step[1]}" for step in made)
    msg = f"the steps {steps} belong to no legal play of {plays.dice[0]}-{plays.dice[1]}"
    raise IllegalPlayError(msg)
