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
    NotDueError,
    PositionError,
    RolloutCancelled,
    RulesError,
    TableError,
)
from nardcore.policies import Evaluator, Search
from nardcore.rollouts import RolloutResult, RollShare, rollout, rollout_chunk
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
    "CubeDecision",
    "CubefulResult",
    "Evaluator",
    "FormatError",
    "Game",
    "IllegalPlayError",
    "InvalidPlayError",
    "Match",
    "MatchEquity",
    "MatchScore",
    "NardcoreError",
    "NotDueError",
    "Outcomes",
    "Play",
    "Plays",
    "PlaysRollout",
    "Position",
    "PositionError",
    "RankedPlay",
    "Replay",
    "RollShare",
    "RolledPlay",
    "RolloutCancelled",
    "RolloutResult",
    "Rules",
    "RulesError",
    "Search",
    "TableError",
    "Turn",
    "__version__",
    "batch",
    "bearoff",
    "best_play",
    "cube_decision",
    "dice",
    "evaluate",
    "get_include",
    "isa",
    "nets",
    "play_out",
    "rank_plays",
    "refusal_point",
    "rollout",
    "rollout_chunk",
    "rollout_cubeful",
    "rollout_plays",
]


if _TYPE_CHECKING:
    from nardcore import bearoff as bearoff
    from nardcore import nets as nets
    from nardcore.candidates import PlaysRollout as PlaysRollout
    from nardcore.candidates import RolledPlay as RolledPlay
    from nardcore.candidates import rollout_plays as rollout_plays
    from nardcore.cube import CubeDecision as CubeDecision
    from nardcore.cube import CubefulResult as CubefulResult
    from nardcore.cube import cube_decision as cube_decision
    from nardcore.cube import refusal_point as refusal_point
    from nardcore.cube import rollout_cubeful as rollout_cubeful
    from nardcore.evaluation import Outcomes as Outcomes
    from nardcore.evaluation import RankedPlay as RankedPlay
    from nardcore.evaluation import best_play as best_play
    from nardcore.evaluation import evaluate as evaluate
    from nardcore.evaluation import rank_plays as rank_plays
    from nardcore.game import Game as Game
    from nardcore.match import Match as Match
    from nardcore.match import play_out as play_out
    from nardcore.match_equity import MatchEquity as MatchEquity
    from nardcore.match_equity import MatchScore as MatchScore

# What few need is imported when it is first asked for, so that nobody else waits for it.
_LATER = {
    "CubeDecision": "cube",
    "CubefulResult": "cube",
    "Game": "game",
    "Match": "match",
    "MatchEquity": "match_equity",
    "MatchScore": "match_equity",
    "Outcomes": "evaluation",
    "PlaysRollout": "candidates",
    "RankedPlay": "evaluation",
    "RolledPlay": "candidates",
    "best_play": "evaluation",
    "cube_decision": "cube",
    "evaluate": "evaluation",
    "play_out": "match",
    "rank_plays": "evaluation",
    "refusal_point": "cube",
    "rollout_cubeful": "cube",
    "rollout_plays": "candidates",
}


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in ("bearoff", "nets"):
        return import_module(f"nardcore.{name}")
    if name in _LATER:
        return getattr(import_module(f"nardcore.{_LATER[name]}"), name)
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
