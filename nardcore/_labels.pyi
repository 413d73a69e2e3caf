from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nardcore._rollout import Evaluator, Stop
from nardcore.rules import Rules
from nardcore.typing import Boards

def past_each_other(boards: Boards, rules: Rules) -> NDArray[np.bool_]: ...
def play_games(
    rules: Rules,
    evaluator: Evaluator | None,
    starts: Boards,
    key: NDArray[np.uint64],
    points: Sequence[int],
    first: int,
    n: int,
    stop: Stop,
    *,
    keep: float = 1.0,
    stray: float = 0.0,
    random_games: float = 0.0,
    random_plies: int = 0,
    limit: int = 0,
    judge: Evaluator | None = None,
    trace: float = 1.0,
    ahead: bool = False,
    contact: bool = False,
) -> tuple[Boards, NDArray[np.float32]] | None: ...
def look_ahead(
    rules: Rules,
    evaluator: Evaluator,
    judge: Evaluator,
    tables: Sequence[object],
    boards: Boards,
    points: Sequence[int],
    stop: Stop,
) -> NDArray[np.float32] | None: ...
def rate(evaluator: Evaluator, boards: Boards) -> NDArray[np.float32]: ...
