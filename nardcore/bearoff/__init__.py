"""Bear-off tables: exact chances, equities and distributions of races, from files or built at once."""

from nardcore.bearoff._ranking import position_count, rank, unrank
from nardcore.bearoff._two import TwoSided

__all__ = ["TwoSided", "position_count", "rank", "unrank"]
