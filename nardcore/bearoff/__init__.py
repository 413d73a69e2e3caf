"""Bear-off tables: exact chances, equities and distributions of races, built at once or from files."""

from nardcore.bearoff._gnubg import read_gnubg, write_gnubg
from nardcore.bearoff._one import OneSided, default
from nardcore.bearoff._ranking import position_count, rank, unrank
from nardcore.bearoff._two import TwoSided

__all__ = [
    "OneSided",
    "TwoSided",
    "default",
    "position_count",
    "rank",
    "read_gnubg",
    "unrank",
    "write_gnubg",
]
