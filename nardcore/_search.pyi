from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from nardcore._rollout import Evaluator, Stop
from nardcore.rules import Rules

def clean_chances(
    results: NDArray[np.int8], chances: NDArray[np.float32], rules: Rules
) -> tuple[NDArray[np.float64], int]: ...
def possible_classes(results: NDArray[np.int8], rules: Rules) -> NDArray[np.bool_]: ...
def probe_tables(
    tables: Sequence[object], on_roll: NDArray[np.int8]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]: ...
def gather_rolls(values: NDArray[np.float64]) -> NDArray[np.float64]: ...

@disjoint_base
class Searcher:
    def __init__(
        self,
        evaluator: Evaluator,
        rules: Rules,
        points: Sequence[float] | NDArray[np.float64],
        tables: Sequence[object],
        filters: Sequence[tuple[int, float]],
        chooser: Evaluator | None = None,
    ) -> None: ...
    def values(
        self, on_roll: NDArray[np.int8], plies: int, stop: Stop
    ) -> NDArray[np.float64] | None: ...
    def rolls(
        self, on_roll: NDArray[np.int8], rolls: NDArray[np.int8], plies: int, stop: Stop
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None: ...
    def rate(self, parent: NDArray[np.int8], results: NDArray[np.int8]) -> NDArray[np.float64]: ...
