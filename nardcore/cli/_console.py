"""Rich's console as the commands use it; imported when something is written."""

from __future__ import annotations

from rich.console import Console

__all__ = ["Terminal"]


class Terminal(Console):
    """A console that leaves a broken pipe to whoever runs the command."""

    def on_broken_pipe(self) -> None:
        """Raise instead of ending the program with 1, as rich does."""
        raise BrokenPipeError
