"""Pictures of boards: characters for a terminal, SVG for everything else."""

from nardcore.render.svg import board_svg
from nardcore.render.text import board_text

__all__ = ["board_svg", "board_text"]
