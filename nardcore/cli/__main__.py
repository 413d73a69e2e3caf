"""``python -m nardcore.cli``: the same as ``nardcore``."""

from __future__ import annotations

import sys

from nardcore.cli import main

if __name__ == "__main__":
    sys.exit(main())
