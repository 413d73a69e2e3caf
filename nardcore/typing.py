"""Names for the types that the interface takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nardcore._rollout import Evaluator
    from nardcore.policies import Search

__all__ = [
    "POSITION_DTYPE",
    "Boards",
    "Dice",
    "Numbering",
    "PolicyLike",
    "Progress",
    "Seed",
    "Side",
]

Seed: TypeAlias = int | Sequence[int] | None
"""What `numpy.random.SeedSequence` takes; None draws entropy from the system."""

Dice: TypeAlias = tuple[int, int]
"""One roll, in any order."""

Side: TypeAlias = Literal["w", "b"]
"""White or black."""

Boards: TypeAlias = NDArray[np.int8]
"""Positions as ``int8[n, 32]``; see `POSITION_DTYPE`."""

Numbering: TypeAlias = Literal["own", "traditional", "through", "roman"]
"""How points are named."""

Progress: TypeAlias = Callable[[int, int | None], Any]
"""Called with the trials done and those to do (None where that is open)."""

PolicyLike: TypeAlias = "str | Evaluator | Search | Callable[[NDArray[np.int8]], Any]"
"""A policy by name, a native evaluator, a look-ahead, or a function from boards to scores."""

POSITION_DTYPE = np.dtype(
    [
        ("points", np.int8, (24,)),
        ("bar", np.int8, (2,)),
        ("off", np.int8, (2,)),
        ("turn", np.int8),
        ("flags", np.int8),
        ("reserved", np.int8, (2,)),
    ]
)
"""The 32 bytes of a position by name: ``boards.view(POSITION_DTYPE)[:, 0]``."""
