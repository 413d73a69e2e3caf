from collections.abc import Sequence
from os import PathLike
from typing import Literal, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import CapsuleType, disjoint_base

from nardcore._net import Player
from nardcore.nets import PlayerFile
from nardcore.rules import Rules
from nardcore.typing import Boards

@disjoint_base
class Stop:
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

@disjoint_base
class Evaluator:
    def __init__(self, made_elsewhere: Never, /) -> None: ...
    @staticmethod
    def linear(name: str, weights: ArrayLike, movement: Literal["short", "long"]) -> Evaluator: ...
    @staticmethod
    def net(
        player: str | PathLike[str] | PlayerFile,
        *,
        points: Sequence[int] | None = None,
        keep: int | None = None,
        full: bool = False,
        name: str | None = None,
    ) -> Evaluator: ...
    @staticmethod
    def from_capsule(capsule: CapsuleType, name: str = "native") -> Evaluator: ...
    @property
    def name(self) -> str: ...
    @property
    def movement(self) -> str | None: ...
    @property
    def rules(self) -> Rules | None: ...
    def misfit(self, rules: Rules) -> str | None: ...
    @property
    def owner(self) -> CapsuleType | Player | None: ...
    def __call__(self, parent: ArrayLike, after: ArrayLike) -> NDArray[np.float32]: ...
    def choose(
        self,
        parents: Boards,
        indptr: NDArray[np.int64],
        boards: Boards,
        points: Sequence[int],
        rules: Rules,
    ) -> NDArray[np.int64]: ...
