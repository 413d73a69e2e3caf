"""Positions as text.

The library's own form is exact for every ruleset; gnubg position IDs and XGIDs are read and
written where they can express the rules.
"""

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

__all__ = [
    "ParsedPosition",
    "parse_position",
    "parse_position_id",
    "parse_position_text",
    "parse_xgid",
    "position_id",
    "position_text",
    "xgid",
]
