"""Short and long nardy: every legal play, rollouts, and the numbers behind them.

`Position` and `Rules` say what is played, `rollout` plays it out, `batch` works on arrays.
"""

__version__ = "0.1.0"

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

try:
    import nardcore._capi as _capi  # noqa: F401
except ModuleNotFoundError as _error:
    if not (_error.name or "").startswith("nardcore._"):
        raise
    _msg = (
        "nardcore was imported from its source tree, where the native modules are not built. "
        "Install it with 'pip install .' and start Python in another folder or with 'python -P'."
    )
    raise ImportError(_msg) from _error

from nardcore import batch, dice
from nardcore._board import Play, Plays, Position
from nardcore._movegen import isa
from nardcore._trials import Replay, Turn
from nardcore.errors import (
    AmbiguousPlayError,
    FormatError,
    IllegalPlayError,
    InvalidPlayError,
    NardcoreError,
    PositionError,
    RolloutCancelled,
    RulesError,
    TableError,
)
from nardcore.policies import Evaluator
from nardcore.rollouts import RolloutResult, rollout, rollout_chunk
from nardcore.rules import (
    BACKGAMMON,
    FNR_LONG,
    FNR_SHORT,
    HYPERGAMMON,
    LONG_BEGINNER,
    LONG_CLASSIC,
    LONG_NARDY,
    NACKGAMMON,
    PRESETS,
    SCORING,
    SHORT_BEGINNER,
    SHORT_DAVE,
    SHORT_NARDY,
    TRIKTRAK,
    TRIKTRAK_UA,
    Rules,
)
from nardcore.typing import POSITION_DTYPE

__all__ = [
    "BACKGAMMON",
    "FNR_LONG",
    "FNR_SHORT",
    "HYPERGAMMON",
    "LONG_BEGINNER",
    "LONG_CLASSIC",
    "LONG_NARDY",
    "NACKGAMMON",
    "POSITION_DTYPE",
    "PRESETS",
    "SCORING",
    "SHORT_BEGINNER",
    "SHORT_DAVE",
    "SHORT_NARDY",
    "TRIKTRAK",
    "TRIKTRAK_UA",
    "AmbiguousPlayError",
    "Evaluator",
    "FormatError",
    "IllegalPlayError",
    "InvalidPlayError",
    "NardcoreError",
    "Play",
    "Plays",
    "Position",
    "PositionError",
    "Replay",
    "RolloutCancelled",
    "RolloutResult",
    "Rules",
    "RulesError",
    "TableError",
    "Turn",
    "__version__",
    "batch",
    "bearoff",
    "dice",
    "get_include",
    "isa",
    "nets",
    "rollout",
    "rollout_chunk",
]


if _TYPE_CHECKING:
    from nardcore import bearoff as bearoff
    from nardcore import nets as nets


def __getattr__(name: str) -> _Any:
    # Tables and nets are imported when they are first asked for: nobody else waits for them.
    if name in ("bearoff", "nets"):
        from importlib import import_module

        return import_module(f"nardcore.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def get_include() -> str:
    """Give the folder of ``nardcore.h``, for compilers of C extensions.

    Examples
    --------
    >>> import os
    >>> os.path.exists(os.path.join(get_include(), "nardcore.h"))
    True
    """
    from pathlib import Path

    return str(Path(__file__).parent / "include")
