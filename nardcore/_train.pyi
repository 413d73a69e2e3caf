from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from nardcore._rollout import Evaluator
from nardcore.rules import Rules
from nardcore.typing import Boards

PLAIN_ROWS: Final[int]
PLAIN_ACTIVE: Final[int]

def isa() -> str: ...

@disjoint_base
class Model:
    @property
    def w1(self) -> NDArray[np.float32]: ...
    @property
    def b1(self) -> NDArray[np.float32]: ...
    @property
    def w2(self) -> NDArray[np.float32]: ...
    @property
    def b2(self) -> NDArray[np.float32]: ...
    def __init__(
        self,
        w1: NDArray[np.float32],
        b1: NDArray[np.float32],
        w2: NDArray[np.float32],
        b2: NDArray[np.float32],
        active: int,
    ) -> None: ...

@disjoint_base
class Samples:
    @property
    def n(self) -> int: ...
    def __init__(
        self,
        model: Model,
        rows: NDArray[np.uint16],
        buckets: NDArray[np.uint8],
        targets: NDArray[np.float32] | None = None,
        weights: NDArray[np.float32] | None = None,
        masks: NDArray[np.uint16] | None = None,
        points: Sequence[float] | NDArray[np.float64] | None = None,
        equity_share: float = 0.0,
    ) -> None: ...
    def evaluate(self, out: NDArray[np.float32], first: int, last: int) -> None: ...

@disjoint_base
class Trainer:
    @property
    def model(self) -> Model: ...
    @property
    def shards(self) -> int: ...
    @property
    def steps(self) -> int: ...
    def __init__(
        self,
        model: Model,
        shards: int = 2,
        *,
        clip: float = 1e9,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None: ...
    def gradient(self, shard: int, samples: Samples, first: int, last: int) -> None: ...
    def gradients(self) -> list[NDArray[np.float32]]: ...
    def losses(self) -> NDArray[np.float64]: ...
    def begin_step(self, rate: float, scale: float, decay: float = 0.0) -> None: ...
    def update(self, part: int, parts: int) -> None: ...
    def finish(self) -> None: ...

def plain_rows(boards: Boards) -> NDArray[np.uint16]: ...
def plain_evaluator(name: str, contact: Model, race: Model, rules: Rules) -> Evaluator: ...
