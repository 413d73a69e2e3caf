"""Hypothesis strategies, and checks of your own policies and evaluators.

The strategies need the package ``hypothesis``, the checks do not.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from nardcore._board import Position
from nardcore._construct import enemy_index
from nardcore._rollout import Evaluator
from nardcore._trials import Turn
from nardcore.policies import name_of
from nardcore.rules import BACKGAMMON, PRESETS, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy
    from numpy.typing import NDArray

    from nardcore.rules import Movement

__all__ = ["check_evaluator", "check_policy", "games", "positions", "rolls", "rules"]


def _need_hypothesis() -> None:
    """Say plainly what is missing where a strategy is asked for."""
    try:
        import hypothesis  # noqa: F401
    except ImportError as error:
        msg = "the strategies of nardcore.testing need hypothesis: pip install hypothesis"
        raise ImportError(msg) from error


def _demand(condition: object, msg: str) -> None:
    """`assert` that also holds under ``python -O``."""
    if not condition:
        raise AssertionError(msg)


# ------------------------------------------------------------------------------------ strategies


def rolls() -> SearchStrategy[tuple[int, int]]:
    """Give any roll, the dice in any order.

    Returns
    -------
    SearchStrategy of (int, int)

    Examples
    --------
    >>> from hypothesis import find
    >>> find(rolls(), lambda roll: roll[0] != roll[1])
    (1, 2)
    """
    _need_hypothesis()
    from hypothesis import strategies as st

    return st.tuples(st.integers(1, 6), st.integers(1, 6))


_SHORT_FIELDS = {
    "hit_and_hide": ("off", "board", "home"),
    "exact_first": (False, True),
    "last_home_larger": (False, True),
    "off_protects": (True, False),
}
_LONG_FIELDS = {
    "exact_first": (False, True),
    "last_home_larger": (False, True),
    "head_limit": ("one", "free"),
    "head_exception": ("listed", "none", "blocked", "any_double"),
    "head_exception_for": ("both", "second"),
    "block": ("ahead", "off", "home", "flat"),
    "block_timing": ("end_of_turn", "each_step"),
    "long_koks": ("none", "all_in_start", "any_in_start", "none_home"),
}


def rules() -> SearchStrategy[Rules]:
    """Give any preset, or any choice of the options of movement and results.

    Returns
    -------
    SearchStrategy of Rules

    Examples
    --------
    >>> from hypothesis import find
    >>> find(rules(), lambda r: r.movement == "long" and r.block == "flat").movement
    'long'
    """
    _need_hypothesis()
    from hypothesis import strategies as st

    def build(movement: Movement, checkers: int, fields: dict[str, Any]) -> Rules:
        start: dict[str, Any] = {}
        if checkers != 15:
            start = {"checkers": checkers, "start": ((24, checkers),)}
        return Rules(movement=movement, **fields, **start)

    def own(movement: Movement, fields: dict[str, tuple[Any, ...]]) -> SearchStrategy[Rules]:
        choices = {name: st.sampled_from(values) for name, values in fields.items()}
        return st.builds(
            build,
            st.just(movement),
            st.just(15) | st.integers(1, 15),
            st.fixed_dictionaries(choices),
        )

    return (
        st.sampled_from(list(PRESETS.values()))
        | own("short", _SHORT_FIELDS)
        | own("long", _LONG_FIELDS)
    )


def _board(draw: DrawFn, rules: Rules) -> NDArray[np.int8]:
    """Draw a possible board; checkers favour few points, so that stacks and bear-offs turn up."""
    from hypothesis import strategies as st

    short = rules.movement == "short"
    board = np.zeros(32, np.int8)
    mine = draw(st.sets(st.integers(1, 24), max_size=12))
    free = [p for p in range(1, 25) if enemy_index(p - 1, rules) + 1 not in mine]
    for side, points in enumerate((sorted(mine), free)):
        places = [*points, *([25] if short else []), 0]
        n = rules.checkers
        for place in draw(st.lists(st.sampled_from(places), min_size=n, max_size=n)):
            if place in (0, 25):
                board[(26 if place == 0 else 24) + side] += 1
            elif side == 0:
                board[place - 1] += 1
            else:
                board[enemy_index(place - 1, rules)] -= 1
    board[28] = draw(st.integers(0, 1))
    board[29] = 0 if short else draw(st.integers(0, 3))
    return board


def positions(
    rules: Rules | SearchStrategy[Rules] = BACKGAMMON, *, finished: bool = False
) -> SearchStrategy[Position]:
    """Give any possible position, reached in games or not.

    Parameters
    ----------
    rules : Rules or SearchStrategy of Rules
        Backgammon by default.
    finished : bool, optional
        Whether a side may have borne off everything.

    Returns
    -------
    SearchStrategy of Position

    Examples
    --------
    >>> from hypothesis import find
    >>> find(positions(), lambda p: p.bar[0] > 1).outcome is None
    True
    """
    _need_hypothesis()
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: DrawFn) -> Position:
        played: Rules = rules if isinstance(rules, Rules) else draw(rules)
        board = _board(draw, played)
        for side in (0, 1):
            other_is_off = board[27 - side] == played.checkers
            if board[26 + side] == played.checkers and (not finished or other_is_off):
                board[26 + side] -= 1
                sign = 1 - 2 * side
                at = next(i for i in range(24) if board[i] * sign >= 0)
                board[at] += sign
        return Position.from_board(board, played)

    return drawn()


def games(
    rules: Rules | SearchStrategy[Rules] = BACKGAMMON, max_plies: int = 60
) -> SearchStrategy[tuple[Turn, ...]]:
    """Give the first turns of a game from its start, with any rolls and any legal plays.

    Parameters
    ----------
    rules : Rules or SearchStrategy of Rules
        Backgammon by default.
    max_plies : int, optional
        The most turns; a game may end before.

    Returns
    -------
    SearchStrategy of tuple of Turn
        Each with its `position`, `dice` and `play`.

    Examples
    --------
    >>> from hypothesis import find
    >>> turns = find(games(max_plies=5), lambda turns: len(turns) == 2)
    >>> turns[0].play.result == turns[1].position
    True
    """
    _need_hypothesis()
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: DrawFn) -> tuple[Turn, ...]:
        played: Rules = rules if isinstance(rules, Rules) else draw(rules)
        position = Position.start(played)
        turns: list[Turn] = []
        for _ in range(draw(st.integers(0, max_plies))):
            plays = position.plays(draw(rolls()))
            if not len(plays):
                break
            play = plays[draw(st.integers(0, len(plays) - 1))]
            turns.append(Turn(position, plays.dice, play))
            position = play.result
        return tuple(turns)

    return drawn()


# ---------------------------------------------------------------------------------------- checks


def _rolls_of_play(
    rules: Rules, n: int, seed: int
) -> list[tuple[NDArray[np.int8], NDArray[np.int8]]]:
    """Collect n rolls of random games with a choice: the board before, the unfinished results."""
    rng = np.random.default_rng(seed)
    found: list[tuple[NDArray[np.int8], NDArray[np.int8]]] = []
    position = Position.start(rules)
    while len(found) < n:
        plays = position.plays(rng.integers(1, 7, 2).tolist())
        unfinished = plays.boards[plays.boards[:, 26] < rules.checkers]
        if len(unfinished) > 1:
            found.append((position.board, unfinished))
        position = plays[int(rng.integers(len(plays)))].result
        if position.outcome is not None:
            position = Position.start(rules)
    return found


def _check_answer(answer: Any, n: int, name: str) -> NDArray[np.float64]:
    scores: NDArray[Any] = np.asarray(answer)
    _demand(
        scores.shape in ((n,), (n, 10)),
        f"{name} gave the shape {scores.shape} for {n} positions; expected ({n},) or ({n}, 10)",
    )
    _demand(scores.dtype.kind in "fiu", f"{name} gave {scores.dtype}, not numbers")
    scores = scores.astype(np.float64)
    _demand(np.isfinite(scores).all(), f"{name} gave values that are not finite")
    if scores.ndim == 2:
        _demand((scores >= 0).all(), f"{name} gave a probability below zero")
        off = np.abs(scores.sum(axis=1) - 1).max()
        _demand(off < 1e-3, f"{name} gave probabilities that add up to 1 only within {off:.3g}")
    return scores


def _check_rater(
    rate: Callable[[NDArray[np.int8], NDArray[np.int8]], Any],
    name: str,
    rules: Rules,
    n: int,
    seed: int,
) -> None:
    asked = _rolls_of_play(rules, n, seed)
    answers = []
    for parent, after in asked:
        before, given = parent.copy(), after.copy()
        scores = _check_answer(rate(before, given), len(after), name)
        _demand((before == parent).all(), f"{name} changed the position that it was given")
        _demand((given == after).all(), f"{name} changed the results that it was given")
        again = _check_answer(rate(parent.copy(), after.copy()), len(after), name)
        _demand((scores == again).all(), f"{name} rates the same results in two ways")
        for rows in (slice(None, 1), slice(len(after) // 2, None), slice(None, None, -1)):
            part = np.ascontiguousarray(after[rows])
            alone = _check_answer(rate(parent.copy(), part), len(part), name)
            close = np.allclose(alone, scores[rows], rtol=1e-4, atol=1e-5)
            _demand(close, f"{name} rates a result by the others that come with it")
        answers.append(scores)
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda pair: np.asarray(rate(pair[0].copy(), pair[1].copy())), asked)
        for scores, other in zip(answers, together, strict=True):
            _demand((scores == other).all(), f"{name} answers otherwise when threads share it")


def check_policy(
    policy: Callable[[NDArray[np.int8]], Any],
    rules: Rules = BACKGAMMON,
    *,
    rolls: int = 200,
    seed: int = 0,
) -> None:
    """Check that a function can be a policy of rollouts.

    Its answers must have the right shape, be finite (probabilities also sum to one), be the same
    each time and from several threads, and not depend on what else is in the call. It may not
    change what it is given.

    Parameters
    ----------
    policy : callable
        ``f(boards: int8[n, 32]) -> float[n] or float[n, 10]``, see `nardcore.rollout`.
    rules : Rules, optional
    rolls : int, optional
        How many rolls of random games to ask about.
    seed : int, optional
        Of those games.

    Raises
    ------
    AssertionError
        That says what is wrong.

    Examples
    --------
    >>> check_policy(lambda boards: -boards[:, 25].astype(float))
    >>> check_policy(lambda boards: boards)
    Traceback (most recent call last):
        ...
    AssertionError: <lambda> gave the shape (14, 32) for 14 positions; expected (14,) or (14, 10)
    """
    _check_rater(lambda _, after: policy(after), name_of(policy), rules, rolls, seed)


def check_evaluator(
    evaluator: Evaluator, rules: Rules = BACKGAMMON, *, rolls: int = 200, seed: int = 0
) -> None:
    """Check that a native evaluator keeps to its contract, as `check_policy` does for functions.

    Parameters
    ----------
    evaluator : Evaluator
        As made by `Evaluator.from_capsule`.
    rules : Rules, optional
    rolls : int, optional
        How many rolls of random games to ask about.
    seed : int, optional
        Of those games.

    Raises
    ------
    AssertionError
        That says what is wrong.

    Examples
    --------
    >>> from nardcore.policies import linear_evaluator
    >>> check_evaluator(linear_evaluator("short"))
    """
    _check_rater(evaluator, evaluator.name, rules, rolls, seed)
