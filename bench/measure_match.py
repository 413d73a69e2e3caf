"""Measure what `nardcore.match_equity` begins with: gammon rates and the spread of early games.

    python bench/measure_match.py [--games 400000] [--policy linear] [--rules backgammon]

Prints the shares of the loser's five states in self-play, and the quantiles of
the winning chance of a side that is about to make its first throw that it may double before: after
the opponent's opening play, or after the two plays that follow one's own opening. The second costs
about 330 rollouts, which `--spread-games` makes shorter or longer.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

import nardcore as nc
from nardcore._trials import Spec
from nardcore.policies import native

ROLLS = list(itertools.combinations_with_replacement(range(6, 0, -1), 2))


def chosen(position: nc.Position, dice: tuple[int, int], policy: str) -> nc.Position:
    """Play a roll as the policy would."""
    plays = position.plays(dice)
    evaluator = native(policy, position.rules)[1]
    assert evaluator is not None
    ends = np.array([0, len(plays)])
    board = position.board[None, :]
    at = evaluator.choose(board, ends, plays.boards, position.rules.points, position.rules)[0]
    return plays[int(at)].result


def rates(rules: nc.Rules, policy: str, games: int, seed: int) -> tuple[list[float], float]:
    """Give the shares of the loser's five states, and the chance of the side that begins."""
    result = nc.rollout(
        nc.Position.start(rules), games=games, policy=policy, seed=seed, opening=True
    )
    return (result.probabilities[:5] + result.probabilities[5:]).tolist(), result.win


def spread(rules: nc.Rules, policy: str, games: int, seed: int) -> list[tuple[float, float]]:
    """Give (chance, weight) of the side on roll that has its first choice to double."""
    start = nc.Position.start(rules)
    opening = [r for r in ROLLS if rules.opening == "reroll" or r[0] != r[1]]
    found: list[tuple[float, float]] = []
    weight = {r: 1.0 if r[0] == r[1] else 2.0 for r in ROLLS}
    total = sum(weight[r] for r in opening)
    for first in opening:
        one = chosen(start, first, policy)
        share = weight[first] / total / 2
        found.append((nc.rollout(one, games=games * 10, policy=policy, seed=seed).win, share))
        for second in ROLLS:
            two = chosen(one, second, policy)
            win = nc.rollout(two, games=games, policy=policy, seed=seed).win
            found.append((win, share * weight[second] / 36))
    return found


def quantiles(found: list[tuple[float, float]], parts: int) -> list[float]:
    """Give the mean chance of each of some parts of equal weight."""
    found = sorted(found)
    chances = np.array([p for p, _ in found])
    ends = np.concatenate([[0.0], np.cumsum([w for _, w in found])])
    area = np.concatenate([[0.0], np.cumsum(chances * np.diff(ends))])
    at = np.interp(np.linspace(0, ends[-1], parts + 1), ends, area)
    return [float(x) for x in np.diff(at) / ends[-1] * parts]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=400_000)
    parser.add_argument("--spread-games", type=int, default=4_000)
    parser.add_argument("--policy", default="linear")
    parser.add_argument("--rules", type=nc.Rules.parse, default=nc.BACKGAMMON)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", type=int, default=10)
    options = parser.parse_args()
    request = options.rules, options.policy
    Spec.make(nc.Position.start(options.rules), options.policy, 0, None, False)
    shares, win = rates(*request, options.games, options.seed)
    print(f"{options.rules.name}, policy {options.policy}, {options.games:,} games")
    print("shares of the loser's states:", ", ".join(f"{share:.4f}" for share in shares))
    print(f"the side that begins wins {win:.4f}")
    if options.spread_games:
        found = spread(*request, options.spread_games, options.seed)
        print("first doubles:", ", ".join(f"{p:.4f}" for p in quantiles(found, options.parts)))


if __name__ == "__main__":
    main()
