"""The command line: ``nardcore rollout``, ``nardcore moves`` and others; see ``nardcore --help``.

It needs the packages click and rich, which the extra ``cli`` installs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_NEEDED = ("click", "rich")


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    args
        The words after the program's name; those of the process by default.

    Returns
    -------
    int
        0 done, 1 failed, 2 misused, 130 stopped by Ctrl-C.

    Examples
    --------
    >>> from nardcore.cli import main
    >>> main(["moves", "long_nardy x15,11,o15,11 0/0 0/0 w 31 xo"])
    3-1 1 play
      1  24/21/20
    0
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"nardcore: the command line needs {' and '.join(missing)}; "
            "install it with: pip install 'nardcore[cli]'\n"
        )
        return 2
    try:
        from nardcore.cli._app import app, run
    except KeyboardInterrupt:
        return 130
    return run(app, args)
