"""What a policy loses in bear-offs and races, with tables off, against what tables know.

    python bench/bench_race.py
    python bench/bench_race.py net net:1 linear --decisions 20000 --json
    python bench/bench_race.py --checkers 15        # every bear-off: 6 GB of memory, a minute

Bear-offs, both sides home in short nardy, are measured against the exact two-sided table: "natural"
ones come up in the net's games from the opening, "random" ones in its games from checkers that are
spread over the home at random, every arrangement equally likely. By default the table is for ten
checkers a side; with five off on each side no mars is possible, so equities are 2 p - 1.

Races with checkers outside the homes are measured against the one-sided table of --points points,
which is an approximation: each side is taken to hurry by itself (docs/bearoff.md). Loss is then
what that table sees between its own choice and the policy's, and a policy that knows better is
charged for it.

Decisions have two plays or more, none of which wins at once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore.bearoff import OneSided, TwoSided, position_count, unrank

sys.path.insert(0, str(Path(__file__).resolve().parent))

import own_games
from duel import find

RULES = nc.BACKGAMMON
AIM = 0.0007
"""Points a decision that the net may lose in bear-offs."""

Worth = Callable[[NDArray[np.int8]], NDArray[np.float64]]


def random_starts(n: int, checkers: int, seed: int) -> NDArray[np.int8]:
    """Spread up to so many checkers a side over the homes; at least two each."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 32), np.int8)
    for side in (0, 1):
        # the arrangements of up to k checkers have the lowest ranks
        at = rng.integers(position_count(6, 1), position_count(6, checkers), n)
        counts = unrank(at, points=6)
        boards[:, 26 + side] = 15 - counts.sum(axis=1)
        if side == 0:
            boards[:, :6] = counts
        else:
            boards[:, 18:24] = -counts[:, ::-1]
    return boards


def covered(found: own_games.Decisions, worth: Worth) -> own_games.Decisions:
    """Leave the decisions that a table covers before and, in every play, after the roll."""
    at = np.flatnonzero(~np.isnan(worth(found.boards)))
    found = found[at]
    plays = nc.batch.plays(found.boards, found.dice, rules=RULES)
    unknown = np.isnan(worth(nc.batch.flip(plays.boards, rules=RULES)))
    rows = np.repeat(np.arange(len(found)), np.diff(plays.indptr))
    return found[np.setdiff1d(np.arange(len(found)), rows[unknown])]


def gather(
    worth: Worth, wanted: int, seed: int, starts: Callable[[int], NDArray[np.int8]] | None
) -> own_games.Decisions:
    """Play games until there are enough decisions."""
    parts: list[own_games.Decisions] = []
    while sum(map(len, parts)) < wanted:
        more = seed + 1000 * len(parts)
        found = own_games.decisions(
            RULES, 2000, more, starts=None if starts is None else starts(more)
        )
        parts.append(covered(found[found.natural], worth))
    names = ("boards", "dice", "games", "natural")
    whole = own_games.Decisions(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
    )
    rng = np.random.default_rng(seed)
    return whole[np.sort(rng.permutation(len(whole))[:wanted])]


def losses(found: own_games.Decisions, worth: Worth, policy: Any) -> NDArray[np.float64]:
    """Points that a policy loses by each decision, as a table sees it."""
    indptr, results, taken = own_games.choices(policy, RULES, found.boards, found.dice)
    value = -worth(nc.batch.flip(results, rules=RULES))
    return np.maximum.reduceat(value, indptr[:-1]) - value[indptr[:-1] + taken]


def lines(
    policies: list[str], decisions: int, checkers: int, points: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Measure each policy in each kind of race."""
    began = time.perf_counter()
    if checkers == 15:
        table = TwoSided.build(checkers=15, equities="scoring", scoring=RULES.points)
    else:
        table = TwoSided.build(checkers=checkers)
    one = OneSided.build(points=points)
    value = np.array(RULES.points, np.float64)

    def exact(boards: NDArray[np.int8]) -> NDArray[np.float64]:
        if checkers == 15:
            return np.asarray(table.equity_batch(boards), np.float64)
        return 2 * np.asarray(table.win_batch(boards), np.float64) - 1

    def starts(more: int) -> NDArray[np.int8]:
        return random_starts(2000, checkers, more)

    def nearly(boards: NDArray[np.int8]) -> NDArray[np.float64]:
        chances = np.asarray(one.outcomes_batch(boards, rules=RULES))
        return (chances[:, :5] - chances[:, 5:]) @ value

    print(f"{table} and {one} in {time.perf_counter() - began:.1f} s", file=sys.stderr)
    kinds: dict[str, tuple[Worth, own_games.Decisions]] = {}
    kinds["bear-off, natural"] = exact, gather(exact, decisions, seed, None)
    kinds["bear-off, random"] = exact, gather(exact, decisions, seed + 1, starts)
    races = gather(nearly, 5 * decisions, seed + 2, None)
    races = races[own_games.phases(races.boards, RULES) == own_games.PHASES["short"].index("race")]
    kinds["race, outside"] = nearly, races[:decisions]
    for name in policies:
        policy = find(name, RULES.movement)
        for kind, (worth, found) in kinds.items():
            lost = losses(found, worth, policy)
            yield {
                "policy": name,
                "kind": kind,
                "against": f"{checkers} x {checkers}, exact" if worth is exact else "one-sided",
                "decisions": len(lost),
                "loss": float(lost.mean()),
                "stderr": float(lost.std(ddof=1) / len(lost) ** 0.5),
                "best": float((lost < 1e-9).mean()),
                "worst": float(lost.max()),
            }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policies", nargs="*", help="net by default; names as in bench/duel.py")
    parser.add_argument("--decisions", type=int, default=10_000, help="of each kind")
    parser.add_argument("--checkers", type=int, default=10, help="of the exact table, 2 to 15")
    parser.add_argument("--points", type=int, default=10, help="of the one-sided table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args()
    if not 2 <= options.checkers <= 15:
        parser.error("--checkers is 2 to 15")
    asked = (options.decisions, options.checkers, options.points, options.seed)
    for one in lines(options.policies or ["net"], *asked):
        if options.json:
            print(json.dumps(one), flush=True)
            continue
        aim = ""
        if one["policy"] == "net" and "exact" in one["against"]:
            aim = f"; aim {AIM}: {'met' if one['loss'] <= AIM else 'missed'}"
        print(
            f"{one['policy']:8} {one['kind']:18} against {one['against']}: "
            f"{one['loss']:.6f} ± {one['stderr']:.6f} points a decision of {one['decisions']:,}, "
            f"best play {100 * one['best']:.1f} %, worst {one['worst']:.4f}{aim}",
            flush=True,
        )


if __name__ == "__main__":
    main()
