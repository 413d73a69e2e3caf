"""Other programs as yardsticks: the same question asked of each, answers as our boards.

Each is optional (gnubg-nn, bgsage and open-spiel on PyPI) and installed for benchmarks only.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["GnubgNN", "OpenSpiel", "Sage", "gnubg_policy", "load", "sage_policy"]


def load(name: str) -> Any | None:
    """Import a peer, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _own(board: np.ndarray) -> tuple[list[int], list[int]]:
    """Give both sides' checkers by own point 1..24 and bar (25 numbers), the mover's first."""
    mine = [max(int(n), 0) for n in board[:24]] + [int(board[24])]
    theirs = [*[max(-int(n), 0) for n in board[:24]][::-1], int(board[25])]
    return mine, theirs


def _key(mine: list[int] | tuple[int, ...], theirs: list[int] | tuple[int, ...]) -> bytes:
    return bytes(mine) + bytes(theirs)


def key(board: np.ndarray) -> bytes:
    """Name a board of ours as the peers' boards are named: for comparing sets of results."""
    return _key(*_own(board))


class GnubgNN:
    """gnubg-nn: ``moves`` gives keys of positions."""

    name = "gnubg-nn moves()"

    def __init__(self, module: Any) -> None:
        self.module = module

    def board(self, board: np.ndarray) -> Any:
        mine, theirs = _own(board)
        return [theirs, mine]

    def plays(self, board: Any, first: int, second: int) -> Any:
        return self.module.moves(board, first, second)

    def keys(self, board: Any, found: Any) -> set[bytes]:
        if not found:
            return {_key(board[1], board[0])}
        pairs = [self.module.board_from_position_key(k) for k in found]
        return {_key(mine, theirs) for theirs, mine in pairs}


class Sage:
    """bgsage: ``possible_moves`` gives boards of 26 numbers."""

    name = "bgsage possible_moves()"

    def __init__(self, module: Any) -> None:
        self.module = module

    def board(self, board: np.ndarray) -> list[int]:
        return [int(board[25]), *(int(n) for n in board[:24]), int(board[24])]

    def plays(self, board: list[int], first: int, second: int) -> Any:
        return self.module.possible_moves(board, first, second)

    def keys(self, board: list[int], found: Any) -> set[bytes]:
        rows = []
        for row in found or [board]:
            points = row[1:25]
            mine = [max(n, 0) for n in points] + [max(row[25], 0)]
            theirs = [*[max(-n, 0) for n in points][::-1], abs(row[0])]
            rows.append(_key(mine, theirs))
        return set(rows)


class OpenSpiel:
    """OpenSpiel's backgammon, played at random by its Python interface."""

    name = "open-spiel Python loop"

    def __init__(self, module: Any) -> None:
        self.module = module
        self.game = module.load_game("backgammon")

    def play(self, rng: random.Random) -> int:
        """Play one random game; return the throws made (two turns of a double are one throw)."""
        state = self.game.new_initial_state()
        throws = 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                actions, weights = zip(*outcomes, strict=True)
                state.apply_action(rng.choices(actions, weights)[0])
                throws += 1
            else:
                state.apply_action(rng.choice(state.legal_actions()))
        return throws

    def _board(self, state: Any, player: int) -> np.ndarray:
        sides = []
        for side in (player, 1 - player):
            points = [state.board(side, i) for i in range(24)]
            sides.append((points if side == 1 else points[::-1], state.board(side, 100)))
        (mine, bar), (theirs, their_bar) = sides
        board = np.zeros(32, np.int8)
        board[:24] = np.array(mine) - np.array(theirs[::-1])
        board[24:26] = bar, their_bar
        board[26:28] = 15 - sum(mine) - bar, 15 - sum(theirs) - their_bar
        return board

    def turns(self, rng: random.Random) -> Iterator[tuple[np.ndarray, tuple[int, int], set[bytes]]]:
        """Yield (board, roll, results) of every roll of two different dice of one random game."""
        state = self.game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                action = rng.choices(actions, weights)[0]
                text = state.action_to_string(state.current_player(), action)
                state.apply_action(action)
                dice = [int(c) for c in text if c.isdigit()][-2:]
                if dice[0] != dice[1]:
                    player = state.current_player()
                    results = {
                        key(self._board(state.child(a), player)) for a in state.legal_actions()
                    }
                    yield self._board(state, player), (dice[0], dice[1]), results
            else:
                state.apply_action(rng.choice(state.legal_actions()))


# ------------------------------------------------------------------------------ peers as policies


def gnubg_policy(plies: int = 0) -> Any:
    """gnubg-nn's evaluation as a policy: what the opponent, who is on roll, then stands to lose."""
    module = importlib.import_module("gnubg_nn")

    def gnubg(boards: np.ndarray) -> np.ndarray:
        found = np.empty(len(boards))
        for i, board in enumerate(boards):
            mine, theirs = _own(board)
            # the second side is on roll, and the chances are its own: win, gammons, lost gammons
            win, gammon, backgammon, lost, lost_twice = module.probabilities([mine, theirs], plies)
            found[i] = -(2 * win - 1 + gammon + backgammon - lost - lost_twice)
        return found

    gnubg.__qualname__ = gnubg.__name__ = f"gnubg-nn {plies}-ply"
    return gnubg


def sage_policy(level: str = "1ply") -> Any:
    """bgsage's evaluation of positions after a play as a policy, cubeless."""
    native = importlib.import_module("bgbot_cpp")
    weights = importlib.import_module("bgsage.weights").default_weights()
    parts = (weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list)
    if level == "1ply":
        strategy = native.create_strategy(*parts)
    else:
        strategy = native.create_multipy(
            *parts, n_plies=int(level[0]), parallel_evaluate=False, parallel_threads=0
        )

    def sage(boards: np.ndarray) -> np.ndarray:
        rows = np.column_stack([boards[:, 25], boards[:, :24], boards[:, 24]]).tolist()
        positions = [(row, native.CubeOwner.CENTERED) for row in rows]
        found = native.batch_evaluate_post_move(positions, strategy, 1, jacoby=False)
        return np.array([one["cubeless_equity"] for one in found])

    sage.__qualname__ = sage.__name__ = f"bgsage {level}"
    return sage
