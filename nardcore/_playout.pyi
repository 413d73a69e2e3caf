from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nardcore._rollout import Evaluator, Stop
from nardcore._search import Searcher
from nardcore.rules import Rules

PLIES: Final[int]
EARLY: Final[int]
TRUNCATED: Final[int]
ROLLS_AT: Final[int]
REDUCED: Final[int]
CELLS: Final[int]
RESULT_SIZE: Final[int]
PLAIN_SIZE: Final[int]

def play_chunk(
    board: NDArray[np.int8],
    rules: Rules,
    players: Sequence[tuple[Evaluator | None, Searcher | None, int, int, int]],
    key: NDArray[np.uint64],
    points: Sequence[int],
    dice: tuple[int, int],
    no_double: bool,
    tables: Sequence[object],
    method: tuple[int, int, Searcher | None, bool, float, bool],
    first: int,
    n: int,
    stop: Stop,
    keep: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None, NDArray[np.int64] | None] | None: ...
def add_trials(
    result: NDArray[np.int64],
    ended: NDArray[np.int64],
    chances: NDArray[np.float64],
    sides: NDArray[np.int64],
    truncated: NDArray[np.bool_],
    luck: NDArray[np.float64],
    plies: NDArray[np.int64],
    rolls: NDArray[np.int64],
    cells: NDArray[np.int64] | None,
    reduce: bool,
    raw: NDArray[np.int64] | None,
    reduced: NDArray[np.int64] | None,
) -> None: ...
def difference_moments(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]: ...
