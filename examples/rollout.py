"""A rollout in two parts, merged and scored by several tables, with one game played again."""

import sys
import tempfile
from pathlib import Path

import nardcore as nc


def main(games: int = 20_000) -> None:
    """Roll out the start of backgammon as two machines would."""
    position = nc.Position.start(nc.BACKGAMMON)

    # Trials are numbered. Whoever has the seed can play any range of them.
    half = games // 2
    mine = nc.rollout(position, games=half, seed=2024)
    yours = nc.rollout(position, games=games - half, seed=2024, first=half)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "yours.json")
        yours.save(file)  # sent over, perhaps by mail
        both = mine.merge(nc.RolloutResult.load(file))

    assert both == nc.rollout(position, games=games, seed=2024)
    print(both)

    # What was counted are ten kinds of result, so any table of points may be laid over them.
    for scoring in nc.SCORING:
        print(f"{scoring:<12} {both.equity(scoring):+.4f} ± {both.stderr(scoring):.4f}")

    game = both.replay(0)
    for turn in game.turns[:4]:
        larger, smaller = turn.dice
        print(f"{turn.position.turn} {larger}-{smaller}: {turn.play}")
    print(f"… {len(game.turns)} turns, outcome class {game.outcome}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
