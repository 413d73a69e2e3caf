"""What nets cost: nanoseconds a play by feature set and size; and variants, cost beside strength.

    python bench/bench_nets.py
    python bench/bench_nets.py --hidden 64 256 --repeat 50
    python bench/bench_nets.py --variants                    # of the nets in the package
    python bench/bench_nets.py --variants short --file new.npz --games 20000 --json

The plays are those of games by the linear policy, rated roll by roll; in the first table weights
are random. A few hundred rolls are timed, some together, and the best of several times counts, so
that what else the machine does matters less.

With --variants the variants of one player stand side by side: pruning to 4, 6, 8 and 12 plays, none
(keep 0), the net that prunes alone, and the net for contact in races too. Shown are nanoseconds a
play and microseconds a roll in contact; the mean loss by the benchmark set (bench/sets, its open
part, or --set); and with --games a duel each against --against.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore import nets
from nardcore.policies import linear_evaluator

sys.path.insert(0, str(Path(__file__).resolve().parent))

import benchmark_set
import duel

Turns = list[tuple[NDArray[np.int8], NDArray[np.int8]]]
RULES = {"short": nc.BACKGAMMON, "long": nc.LONG_NARDY}
TOGETHER = 30  # rolls timed together


def net(name: str, hidden: int) -> dict[str, NDArray[Any]]:
    """Make a net at random."""
    rng = np.random.default_rng(1)
    rows, active, buckets = nets.feature_sets()[name]
    first = rng.normal(0, 1 / np.sqrt(active), (rows, hidden))
    first[-1] = 0
    last = rng.normal(0, 3 / hidden, (buckets, 10, hidden))
    floats = {"W1": first, "b1": np.full(hidden, 0.3), "W2": last, "b2": np.zeros((buckets, 10))}
    return nets.quantise(floats, name)


def turns(movement: str, games: int = 20) -> Turns:
    """Positions before a roll and their unfinished results."""
    rules, rng = RULES[movement], np.random.default_rng(1)
    boards, found, linear = nc.batch.start(games, rules), [], linear_evaluator(movement)
    while len(boards):
        plays = nc.batch.plays(boards, rng.integers(1, 7, (len(boards), 2)), rules=rules)
        best = linear.choose(boards, plays.indptr, plays.boards, rules.points, rules)
        for i, board in enumerate(boards):
            results = plays.boards[plays.indptr[i] : plays.indptr[i + 1]]
            results = results[results[:, 26] < rules.checkers]
            if len(results) > 1:
                found.append((board, results))
        after = plays.boards[plays.indptr[:-1] + best]
        boards = nc.batch.flip(after[after[:, 26] < rules.checkers], rules=rules)
    return found


def best_time(call: Callable[[], object], repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        began = time.perf_counter_ns()
        call()
        best = min(best, time.perf_counter_ns() - began)
    return best


class Batch:
    """Rolls timed together."""

    def __init__(self, some: Turns, rules: nc.Rules) -> None:
        self.parents = np.array([parent for parent, _ in some])
        self.boards = np.concatenate([results for _, results in some])
        self.indptr = np.cumsum([0] + [len(results) for _, results in some])
        self.rules = rules

    def features(self, name: str, repeat: int) -> float:
        return best_time(partial(nets.features, self.boards, name), repeat)

    def choices(self, evaluator: nc.Evaluator, repeat: int) -> float:
        more = (self.parents, self.indptr, self.boards, self.rules.points, self.rules)
        return best_time(partial(evaluator.choose, *more), repeat)


def batches_of(movement: str, part: str) -> list[Batch]:
    """Rolls whose plays are in contact, or in races."""
    some: Turns = []
    for parent, results in turns(movement):
        chosen = results[nets.race(results, movement) == (part == "race")]
        if len(chosen) > 1:
            some.append((parent, chosen))
    some = some[:: len(some) // 300 + 1]
    return [Batch(some[i : i + TOGETHER], RULES[movement]) for i in range(0, len(some), TOGETHER)]


def lines(movement: str, hidden: list[int], repeat: int) -> Iterator[str]:
    """Time a movement's sets, in contact and in races, beside plain points in the same place."""
    rules = RULES[movement]
    for part in ("contact", "race"):
        batches = batches_of(movement, part)
        plays = sum(len(batch.boards) for batch in batches)
        for name in (f"{part}_{movement}", f"points_{movement}"):
            total = sum(batch.features(name, repeat) for batch in batches)
            line = f"{name:14} {part:8} features {total / plays:4.0f}"
            for size in hidden:
                one, meta = net(name, size), {"contact": name, "race": name}
                player = nets.make(
                    {"contact": one, "race": one}, {"sets": meta, "rules": rules.name}
                )
                evaluator = nc.Evaluator.net(player)
                total = sum(batch.choices(evaluator, repeat) for batch in batches)
                line += f"  H{size} {total / plays:4.0f}"
            yield line


# ---------------------------------------------------------------------------------------- variants


def variants(player: nets.PlayerFile) -> Iterator[tuple[str, nc.Evaluator]]:
    """Name the variants of a player and make them."""
    parts, sets, meta = player.parts, player.sets, dict(player.meta)

    def other(changed: dict[str, str]) -> nets.PlayerFile:
        """Use parts for others."""
        used = {"contact": "contact", "race": "race", **changed}
        more = {**meta, "sets": {part: sets[of] for part, of in used.items()}, "keep": 0}
        return nets.make({part: parts[of] for part, of in used.items()}, more)

    if "prune" in parts:
        for keep in (4, 6, 8, 12):
            name = f"keep {keep}" + (", as it plays" if keep == player.keep else "")
            yield name, nc.Evaluator.net(player, keep=keep, name=name)
    yield "keep 0, all plays", nc.Evaluator.net(player, keep=0, name="keep 0")
    if "prune" in parts:
        small = nc.Evaluator.net(other({"contact": "prune"}), name="prune alone")
        yield "prune alone", small
    everywhere = nc.Evaluator.net(other({"race": "contact"}), name="contact everywhere")
    yield "contact in races too", everywhere


def compare(
    movement: str,
    file: Path,
    games: int,
    against: str,
    set_file: Path | None,
    repeat: int,
    threads: int | None,
) -> Iterator[dict[str, Any]]:
    """Measure what each variant costs, and how strong it is."""
    rules = RULES[movement]
    contact, race = (batches_of(movement, part) for part in ("contact", "race"))
    found = None if set_file is None else benchmark_set.load(set_file)
    if found is not None and found.rules.movement != movement:
        raise SystemExit(f"{set_file} is a set of {found.rules.name}")
    for name, evaluator in variants(nets.load(file)):
        line: dict[str, Any] = {"movement": movement, "variant": name}
        for part, batches in (("contact", contact), ("race", race)):
            total = sum(batch.choices(evaluator, repeat) for batch in batches)
            line[f"{part} ns a play"] = total / sum(len(batch.boards) for batch in batches)
            rolls = sum(len(batch.parents) for batch in batches)
            line[f"{part} us a roll"] = total / rolls / 1000
        if found is not None:
            scored = benchmark_set.score(found, evaluator, name, threads)
            table = scored.table(found)["open"]
            line["loss"], line["loss stderr"] = table["all"][1:]
            line["loss in races"] = table["race"][1]
        if games:
            opponent = duel.find(against, movement)
            played = duel.duel(evaluator, opponent, rules, games, threads=threads)
            line["duel"], line["duel half"], line["against"] = played.mean, played.half, against
        yield line


def variant_line(line: dict[str, Any]) -> str:
    text = (
        f"{line['variant']:24} contact {line['contact ns a play']:5.0f} ns a play "
        f"{line['contact us a roll']:6.2f} us a roll, race {line['race ns a play']:4.0f} ns"
    )
    if "loss" in line:
        text += (
            f"; loss {line['loss']:6.2f} ± {line['loss stderr']:.2f} mEq "
            f"(races {line['loss in races']:.2f})"
        )
    if "duel" in line:
        text += f"; against {line['against']} {line['duel']:+.4f} ± {line['duel half']:.4f}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hidden", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument(
        "--variants", nargs="?", const="both", choices=["short", "long", "both"], help="see above"
    )
    parser.add_argument("--file", type=Path, help="a player; that of the package by default")
    parser.add_argument("--set", type=Path, help="a benchmark set; bench/sets/ by default")
    parser.add_argument("--games", type=int, default=0, help="of a duel of each variant")
    parser.add_argument("--against", default="linear", help="a policy as in bench/duel.py")
    parser.add_argument("--threads", type=int, help="of duels; all processors by default")
    parser.add_argument("--json", action="store_true", help="variants as JSON, one a line")
    options = parser.parse_args()
    if options.variants:
        movements = list(RULES) if options.variants == "both" else [options.variants]
        if len(movements) > 1 and (options.file or options.set):
            parser.error("--file and --set are of one movement: --variants short or long")
        for movement in movements:
            file = options.file or Path(nc.__file__).parent / "weights" / f"{movement}.npz"
            own = Path(__file__).resolve().parent / "sets" / f"{movement}.npz"
            set_file = options.set or (own if own.is_file() else None)
            more = (options.games, options.against, set_file, options.repeat, options.threads)
            if not options.json:
                print(f"{movement} nardy, {file.name}, {nc.isa()}")
            for line in compare(movement, file, *more):
                print(json.dumps(line) if options.json else variant_line(line), flush=True)
        return
    print(f"{nc.isa()}; ns a play")
    for movement in RULES:
        for line in lines(movement, options.hidden, options.repeat):
            print(line, flush=True)


if __name__ == "__main__":
    main()
