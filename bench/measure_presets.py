"""What the net's plays lose by the rules of each preset, beside those that it learned by.

    python bench/measure_presets.py
    python bench/measure_presets.py --decisions 1000 --plies 1 --rules nackgammon,triktrak

The net plays games by each preset; the plays of some of its decisions are ranked by looking some
rolls ahead, by the same net under the same rules. The loss of a decision is how much less the play
that the net takes without looking ahead is worth, by that ranking. Where a preset moves, or begins,
otherwise than the rules of the net's training, what it loses more than under those is the price of
the approximation. The yardstick is the net itself, so the losses are no distance from perfect play.
"""

from __future__ import annotations

import argparse
import json
import math

import numpy as np

import nardcore as nc
from nardcore.policies import net_approximates, net_policy, plays_net
from nardcore.training import Games, play

KEEP = 0.05  # of the positions of a game: so that decisions come from many games


def losses(rules: nc.Rules, decisions: int, plies: int, seed: int) -> list[float]:
    """Give what the net's plays lose, decision by decision."""
    player = net_policy(rules.movement, rules.points)
    found: list[float] = []
    rng = np.random.default_rng(seed)
    boards = play(rules, player, 3 * decisions, Games(keep=KEEP), seed=[seed]).boards
    for board in nc.batch.flip(boards, rules=rules):
        position = nc.Position.from_board(board, rules)
        dice = tuple(int(die) for die in rng.integers(1, 7, 2))
        if position.outcome is not None or len(position.plays(dice)) < 2:
            continue
        taken = nc.best_play(position, dice)
        ranked = nc.rank_plays(position, dice, plies=plies)
        if ranked[0].outcomes.exact and ranked[0].equity == rules.points[0]:
            continue  # the game is won at once
        found.append(next(one.loss for one in ranked if one.play == taken))
        if len(found) == decisions:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rules", help="names with commas; all that a net plays by default")
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--plies", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = options.rules.split(",") if options.rules else list(nc.rules.PRESETS)
    rows = []
    for name in names:
        rules = nc.Rules.preset(name)
        if not plays_net(rules):
            continue
        some = np.array(losses(rules, options.decisions, options.plies, options.seed))
        row = {
            "rules": name,
            "approximate": net_approximates(rules),
            "decisions": len(some),
            "loss": float(some.mean()),
            "stderr": float(some.std(ddof=1) / math.sqrt(len(some))),
        }
        rows.append(row)
        if not options.json:
            mark = "approximate" if row["approximate"] else ""
            print(
                f"{name:16}{1000 * row['loss']:6.2f} ± {2 * 1000 * row['stderr']:.2f} "
                f"thousandths of a point a decision  {mark}",
                flush=True,
            )
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
