"""Positions from games of our own, their outcomes, and labels by look-ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _labels, _movegen, batch
from nardcore._rollout import Evaluator, Stop
from nardcore._work import in_order
from nardcore.dice import key
from nardcore.training._data import Labelled
from nardcore.typing import Boards

if TYPE_CHECKING:
    from nardcore.rules import Rules

__all__ = ["Games", "label", "play", "unlike", "unlike_itself"]

Progress = Callable[[int, int], None]

_GAMES = 250  # of a piece of work
_GAMES_AHEAD = 25  # where all their positions are looked ahead from
_LABELS = 512


@dataclass(frozen=True)
class Games:
    """Which games are played for their positions.

    Attributes
    ----------
    keep : float
        The share of after-positions kept.
    stray : float
        The share of plays made at random.
    random_games : float
        The share of games that begin with plays at random, by one side or both: they lead to
        back games, crashed boards and crowded bars.
    random_plies : int
        The longest such beginning.
    limit : int
        How many plies of a game are looked at; 0: all.
    trace : float
        For targets by the games themselves: the share of the rest of the game in a target, the λ of
        TD(λ); 1: plain outcomes. What is left is what the player says after the next ply. With
        look-ahead, the share of each later correction in that of the ply before.

    Examples
    --------
    >>> Games(keep=0.5).stray
    0.0
    """

    keep: float = 1.0
    stray: float = 0.0
    random_games: float = 0.0
    random_plies: int = 0
    limit: int = 0
    trace: float = 1.0


def play(
    rules: Rules,
    evaluator: Evaluator | None,
    positions: int,
    how: Games,
    *,
    seed: Sequence[int],
    starts: Boards | None = None,
    judge: Evaluator | None = None,
    ahead: bool = False,
    contact: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Labelled:
    """Play games until they gave a number of after-positions.

    Parameters
    ----------
    rules
        The rules.
    evaluator
        What plays both sides; None plays at random.
    positions
        How many are wanted. That many are given, of whole pieces of work in their order.
    how
        The games.
    seed
        Of dice and of everything else at random.
    starts
        Positions on roll to begin at, by turns; the start of the rules by default.
    judge
        It gives chances, for targets with a trace. None: targets are outcomes, of positions after
        the last play at random.
    ahead
        Targets are look-ahead over the 21 rolls, by the evaluator's plays and the judge's chances,
        and the trace brings in what look-ahead changed later in the game: what a roll and the play
        after it changed in the mean is in neither, so such targets have little luck in them.
    contact
        With `ahead`: only positions in which the sides can still meet.
    threads
        How many; the result is the same for any.
    progress
        Called as ``progress(done, positions)``.

    Returns
    -------
    Labelled
        Unfinished after-positions and their targets by the games.

    Examples
    --------
    >>> import nardcore as nc
    >>> linear = nc.policies.linear_evaluator("short")
    >>> data = play(nc.BACKGAMMON, linear, 100, Games(keep=0.1), seed=[1])
    >>> len(data), data.targets()[0].max() == 1
    (100, np.True_)
    """
    for one in (evaluator, judge):
        _check_fits(one, rules)
    if starts is None:
        starts = batch.start(1, rules)
    else:
        starts = np.ascontiguousarray(starts)
        _movegen.pips(starts, rules)  # refuses impossible ones
    games = _GAMES_AHEAD if ahead else _GAMES
    if not how.keep or positions < 1:
        msg = "these games give no positions"
        raise ValueError(msg)
    stop = Stop()
    words = key(tuple(seed))

    def piece(first: int) -> Labelled | None:
        found = _labels.play_games(
            rules,
            evaluator,
            starts,
            words,
            rules.points,
            first,
            games,
            stop,
            keep=how.keep,
            stray=how.stray,
            random_games=how.random_games,
            random_plies=how.random_plies,
            limit=how.limit,
            judge=judge,
            trace=how.trace,
            ahead=ahead,
            contact=contact,
        )
        return None if found is None else Labelled.of(*found)

    found: list[Labelled] = []
    have = idle = 0
    pieces = ((first,) for first in _from(0, games))
    for _, part in in_order(piece, pieces, stop, threads):
        if part is None:
            break
        found.append(part)
        have += len(part)
        idle = 0 if len(part) else idle + 1
        if progress is not None:
            progress(min(have, positions), positions)
        if have >= positions:
            break
        if idle > 25_000 // games:
            msg = "these games give no positions"
            raise ValueError(msg)
    return Labelled.join(found).take(slice(0, positions))


def _check_fits(evaluator: Evaluator | None, rules: Rules) -> None:
    if evaluator is not None and (misfit := evaluator.misfit(rules)):
        msg = f"{evaluator.name} cannot play {rules.name}: {misfit}"
        raise ValueError(msg)


def _from(first: int, step: int) -> Iterator[int]:
    """Count without end."""
    while True:
        yield first
        first += step


def label(
    rules: Rules,
    evaluator: Evaluator,
    boards: Boards,
    *,
    judge: Evaluator | None = None,
    tables: Sequence[Any] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Labelled:
    """Label after-positions by look-ahead: over the 21 rolls, each answered by the best play.

    Parameters
    ----------
    rules
        The rules; an evaluator of chances chooses by their points.
    evaluator
        It answers the rolls.
    boards
        Unfinished after-positions.
    judge
        It rates what comes of the answers, in chances; `evaluator` itself by default.
    tables
        Exact tables, such as `nardcore.bearoff.TwoSided`: their values stand for whatever they
        cover.
    threads, progress
        As for `play`.

    Returns
    -------
    Labelled

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.training import FloatNet, plain_player
    >>> net = FloatNet.fresh("plain", 32, seed=1)
    >>> after = nc.Position.start().plays((3, 1)).boards
    >>> label(nc.BACKGAMMON, plain_player(net, nc.BACKGAMMON), after).chances.shape
    (16, 10)
    """
    for one in (evaluator, judge):
        _check_fits(one, rules)
    boards = np.ascontiguousarray(boards)
    _movegen.pips(_movegen.flip(boards, rules), rules)  # refuses impossible ones
    stop = Stop()
    probes = [table.probe(rules) for table in tables]
    capsules = tuple(probe.capsule for probe in probes)

    def piece(first: int) -> NDArray[np.float32] | None:
        part = boards[first : first + _LABELS]
        return _labels.look_ahead(
            rules, evaluator, judge or evaluator, capsules, part, rules.points, stop
        )

    out = np.empty((len(boards), 10), np.int16)
    pieces = ((first,) for first in range(0, len(boards), _LABELS))
    for (first,), part in in_order(piece, pieces, stop, threads):
        if part is None:
            break
        out[first : first + len(part)] = Labelled.of(
            boards[first : first + len(part)], part
        ).chances
        if progress is not None:
            progress(first + len(part), len(boards))
    return Labelled(boards, out)


def unlike(
    found: NDArray[np.floating], labels: Labelled, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give how far chances are from labels, in points of equity."""
    gap = (np.asarray(found, np.float64) - labels.targets()) @ points
    return np.abs(gap)


def unlike_itself(
    evaluator: Evaluator, labels: Labelled, points: NDArray[np.float64], share: float, rules: Rules
) -> Boards:
    """Find the positions where an evaluator and its look-ahead disagree most.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.training import FloatNet, plain_player, points_by_class
    >>> player = plain_player(FloatNet.fresh("plain", 32, seed=1), nc.BACKGAMMON)
    >>> data = Labelled.of_outcomes(nc.batch.start(4), np.array([0, 2, 5, 7]))
    >>> value = points_by_class(nc.BACKGAMMON.points)
    >>> unlike_itself(player, data, value, 0.5, nc.BACKGAMMON).shape
    (2, 32)

    Returns
    -------
    ndarray of int8
        The positions on roll after that share of the labelled ones, the worst first: where games
        that look for more of their kind begin.
    """
    gap = unlike(_labels.rate(evaluator, labels.boards), labels, points)
    worst = np.argsort(-gap, kind="stable")[: max(1, int(share * len(gap)))]
    return _movegen.flip(labels.boards[worst], rules)
