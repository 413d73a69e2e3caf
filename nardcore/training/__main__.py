"""``python -m nardcore.training recipe.toml --out DIR``: run a recipe."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from nardcore.errors import NardcoreError
from nardcore.training._recipe import Recipe
from nardcore.training._run import Run


def main(arguments: list[str] | None = None) -> int:
    """Run a recipe; 130 when stopped by Ctrl-C, after which the same command goes on."""
    parser = argparse.ArgumentParser(prog="python -m nardcore.training", description=__doc__)
    parser.add_argument("recipe", type=Path, help="a TOML file")
    parser.add_argument("--out", type=Path, required=True, help="folder for labels and nets")
    parser.add_argument("--threads", type=int, help="all processors by default")
    parser.add_argument("--rounds", type=int, help="only so many rounds")
    options = parser.parse_args(arguments)

    def report(line: str) -> None:
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
        sys.stderr.flush()

    try:
        Run(Recipe.open(options.recipe), options.out, options.threads, report).run(options.rounds)
    except KeyboardInterrupt:
        report("stopped; the same command goes on from here")
        return 130
    except (NardcoreError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
