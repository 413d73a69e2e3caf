"""Games, matches, positions and analyses as text.

`load` and `loads` read every format and tell by themselves which one it is; `dump` and `dumps`
write what can be written. The library's own forms are exact for every ruleset; those of other
programs hold what they can express, and the rest is refused.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nardcore.formats.positions import (
    ParsedPosition,
    parse_position,
    parse_position_id,
    parse_position_text,
    parse_xgid,
    position_id,
    position_text,
    xgid,
)

if TYPE_CHECKING:
    from nardcore.formats.analysis import Analysis as Analysis
    from nardcore.formats.analysis import Candidate as Candidate
    from nardcore.formats.analysis import CubeAnalysis as CubeAnalysis
    from nardcore.formats.exports import parse_bgblitz_text as parse_bgblitz_text
    from nardcore.formats.exports import parse_xg_text as parse_xg_text
    from nardcore.formats.fibs import fibs_board as fibs_board
    from nardcore.formats.fibs import parse_fibs_board as parse_fibs_board
    from nardcore.formats.files import FORMATS as FORMATS
    from nardcore.formats.files import Format as Format
    from nardcore.formats.files import dump as dump
    from nardcore.formats.files import dumps as dumps
    from nardcore.formats.files import load as load
    from nardcore.formats.files import loads as loads
    from nardcore.formats.files import sniff as sniff
    from nardcore.formats.ids import match_id as match_id
    from nardcore.formats.ids import parse_gnubg_id as parse_gnubg_id
    from nardcore.formats.ids import parse_xgid_state as parse_xgid_state
    from nardcore.formats.ids import state_gnubg_id as state_gnubg_id
    from nardcore.formats.ids import state_xgid as state_xgid
    from nardcore.formats.mat import mat_text as mat_text
    from nardcore.formats.mat import parse_mat as parse_mat
    from nardcore.formats.sgf import parse_sgf as parse_sgf
    from nardcore.formats.sgf import sgf_text as sgf_text
    from nardcore.formats.sheet import parse_sheet as parse_sheet
    from nardcore.formats.sheet import sheet_text as sheet_text
    from nardcore.formats.state import MatchState as MatchState
    from nardcore.formats.values import json_text as json_text
    from nardcore.formats.values import parse_json as parse_json

__all__ = [
    "FORMATS",
    "Analysis",
    "Candidate",
    "CubeAnalysis",
    "Format",
    "MatchState",
    "ParsedPosition",
    "dump",
    "dumps",
    "fibs_board",
    "json_text",
    "load",
    "loads",
    "mat_text",
    "match_id",
    "parse_bgblitz_text",
    "parse_fibs_board",
    "parse_gnubg_id",
    "parse_json",
    "parse_mat",
    "parse_position",
    "parse_position_id",
    "parse_position_text",
    "parse_sgf",
    "parse_sheet",
    "parse_xg_text",
    "parse_xgid",
    "parse_xgid_state",
    "position_id",
    "position_text",
    "sgf_text",
    "sheet_text",
    "sniff",
    "state_gnubg_id",
    "state_xgid",
    "xgid",
]

# Positions as text need none of these, so they are imported when they are first asked for.
_WHERE = {
    "analysis": ("Analysis", "Candidate", "CubeAnalysis"),
    "exports": ("parse_bgblitz_text", "parse_xg_text"),
    "fibs": ("fibs_board", "parse_fibs_board"),
    "files": ("FORMATS", "Format", "dump", "dumps", "load", "loads", "sniff"),
    "ids": ("match_id", "parse_gnubg_id", "parse_xgid_state", "state_gnubg_id", "state_xgid"),
    "mat": ("mat_text", "parse_mat"),
    "sgf": ("parse_sgf", "sgf_text"),
    "sheet": ("parse_sheet", "sheet_text"),
    "state": ("MatchState",),
    "values": ("json_text", "parse_json"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"nardcore.formats.{_MODULE_OF[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
