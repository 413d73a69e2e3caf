from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardcore.rules import Rules

def isa() -> str: ...
def plays(
    boards: ArrayLike,
    dice: ArrayLike,
    rules: Rules,
    *,
    steps: bool = False,
    out: NDArray[np.int8] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int8] | None]: ...
def flip(
    boards: ArrayLike, rules: Rules, *, out: NDArray[np.int8] | None = None
) -> NDArray[np.int8]: ...
def pips(
    boards: ArrayLike, rules: Rules, *, out: NDArray[np.int32] | None = None
) -> NDArray[np.int32]: ...
def results(
    boards: ArrayLike, rules: Rules, *, out: NDArray[np.int8] | None = None
) -> NDArray[np.int8]: ...
def expand(boards: ArrayLike, rules: Rules) -> tuple[NDArray[np.int64], NDArray[np.int8]]: ...
def plays_by(
    kernel: Literal["general", "chosen"], boards: ArrayLike, dice: ArrayLike, rules: Rules
) -> tuple[NDArray[np.int64], NDArray[np.int8]]: ...
@overload
def perft(
    board: ArrayLike, rules: Rules, depth: int, weighted: bool, d1: None = None, d2: None = None
) -> int: ...
@overload
def perft(
    board: ArrayLike, rules: Rules, depth: int, weighted: bool, d1: int, d2: int
) -> list[int]: ...
