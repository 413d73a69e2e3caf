"""What policies lose by a decision in contact, as bgsage's 3-ply sees it.

    python bench/compare_sage.py net net:1 gnubg bgsage
    python bench/compare_sage.py old.npz --decisions 4000 --json

The decisions are those of the net's own games of backgammon from the opening, while the sides can
still meet. Of each, bgsage (pip install bgsage) rates the plays that its own 1-ply and 2-ply like
best, and what each policy takes, 3-ply deep: money, no cube, the net at the end of two rolls (it
counts its static evaluation as 1-ply). The loss is what the policy's play is worth less than the
best of those rated; thousandths of a point (mEq). It is bgsage's opinion and no truth: a policy
that knows better is charged for it.

What bgsage says is kept in --cache, so another policy costs only the plays that are new. Before
anything is counted its boards are checked: its static equities must agree with gnubg-nn's, where
that is installed, and with the net's, also on positions with the sides exchanged.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore._whole_file import write_whole

sys.path.insert(0, str(Path(__file__).resolve().parent))

import own_games
import peers
from duel import find

RULES = nc.BACKGAMMON
AIM = 4.0
"""mEq that a decision may cost at most."""

CACHE = Path(__file__).resolve().parent.parent / "build" / "bench" / "sage-3ply.npz"
FIRST, SECOND, WITHIN = 8, 4, 0.08
TOGETHER = 64  # positions rated before the cache is written again, times the threads

Rate = Callable[[NDArray[np.int8]], NDArray[np.float64]]


class Cache:
    """Equities by board after the play, kept in a file."""

    def __init__(self, path: Path, rate: Rate, together: int) -> None:
        self.path, self.rate, self.together = path, rate, together
        self.known: dict[bytes, float] = {}
        self.seconds, self.rated = 0.0, 0
        if path.exists():
            with np.load(path, allow_pickle=False) as file:
                rows, equity = file["boards"], file["equity"]
            self.known = {r.tobytes(): float(e) for r, e in zip(rows, equity, strict=True)}

    def __call__(self, boards: NDArray[np.int8]) -> NDArray[np.float64]:
        rows = np.ascontiguousarray(boards[:, :28])
        new = list(
            {r.tobytes(): i for i, r in enumerate(rows) if r.tobytes() not in self.known}.values()
        )
        for at in range(0, len(new), self.together):
            some = new[at : at + self.together]
            began = time.perf_counter()
            found = self.rate(boards[some])
            self.seconds += time.perf_counter() - began
            self.rated += len(some)
            self.known.update(
                (rows[i].tobytes(), float(e)) for i, e in zip(some, found, strict=True)
            )
            if at // self.together % 8 == 7:
                self.save()
            if sys.stderr.isatty():
                print(f"\r{at + len(some)}/{len(new)} plays", end="", file=sys.stderr, flush=True)
        if new:
            self.save()
            if sys.stderr.isatty():
                print(file=sys.stderr)
        return np.array([self.known[row.tobytes()] for row in rows])

    def save(self) -> None:
        """Write the file, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        rows = np.frombuffer(b"".join(self.known), np.int8).reshape(-1, 28)
        np.savez_compressed(content, boards=rows, equity=np.array(list(self.known.values())))
        write_whole(self.path, content.getvalue())


def decide(n: int, seed: int) -> tuple[own_games.Decisions, NDArray[np.int8]]:
    """Take decisions in contact from games without random play, and number their phases."""
    found = own_games.decisions(RULES, max(200, n // 4), seed)
    phase = own_games.phases(found.boards, RULES)
    names = own_games.PHASES["short"]
    contact = found.natural & (phase < names.index("race"))
    at = np.random.default_rng(seed).permutation(np.flatnonzero(contact))[:n]
    at.sort()
    return found[at], phase[at]


def check_boards(static: Rate) -> str:
    """Compare static equities with those of others, from both sides of the board."""
    found, _ = decide(300, 99)
    indptr, results, taken = own_games.choices("net", RULES, found.boards, found.dice)
    after = results[indptr[:-1] + taken]
    said = []
    # the sides exchanged are other positions, which a board read backwards would not survive
    for boards, how in ((after, ""), (nc.batch.flip(after), " with the sides exchanged")):
        others = {"the net": _net(boards)}
        if peers.load("gnubg_nn") is not None:
            others["gnubg-nn 0-ply"] = peers.gnubg_policy(0)(boards)
        mine = static(boards)
        for name, theirs in others.items():
            apart = float(np.abs(mine - theirs).mean())
            alike = float(np.corrcoef(mine, theirs)[0, 1])
            if apart > 0.1 or alike < 0.99:
                raise SystemExit(f"bgsage and {name} are {apart:.3f} apart{how}: boards misread")
            said.append(f"{apart:.4f} from {name}{how}")
    return f"bgsage 1-ply, points apart on {len(after)} positions: " + ", ".join(said)


def _net(after: NDArray[np.int8]) -> NDArray[np.float64]:
    """Rate boards after a play by the net alone."""
    points = np.array([1, 2, 2, 3, 3, -1, -2, -2, -3, -3.0])
    return -(np.asarray(nc.batch.evaluate(nc.batch.flip(after))) @ points)


def contenders(
    indptr: NDArray[np.int64], results: NDArray[np.int8], static: Rate, second: Rate
) -> list[NDArray[np.int64]]:
    """Give the plays of each decision that bgsage looks at 3-ply."""
    first = static(results)
    chosen = []
    for start, end in pairwise(indptr.tolist()):
        order = start + np.argsort(-first[start:end], kind="stable")[:FIRST]
        chosen.append(order[first[order] >= first[order[0]] - 2 * WITHIN])
    rated = np.full(len(results), np.nan)
    rows = np.concatenate(chosen)
    rated[rows] = second(results[rows])
    found = []
    for rows in chosen:
        order = rows[np.argsort(-rated[rows], kind="stable")]
        found.append(order[:SECOND][rated[order[:SECOND]] >= rated[order[0]] - WITHIN])
    return found


def sage(level: str, threads: int) -> Rate:
    """bgsage's equities of boards after the play, on some threads."""
    native = importlib.import_module("bgbot_cpp")
    weights = importlib.import_module("bgsage.weights").default_weights()
    parts = (weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list)
    if level == "1ply":
        return peers.sage_policy(level)
    strategy = native.create_multipy(
        *parts, n_plies=int(level[0]), parallel_evaluate=False, parallel_threads=0
    )

    def rate(boards: NDArray[np.int8]) -> NDArray[np.float64]:
        rows = np.column_stack([boards[:, 25], boards[:, :24], boards[:, 24]]).tolist()
        asked = [(row, native.CubeOwner.CENTERED) for row in rows]
        found = native.batch_evaluate_post_move(asked, strategy, threads, jacoby=False)
        return np.array([one["cubeless_equity"] for one in found])

    return rate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policies", nargs="*", help="net by default; names as in bench/duel.py")
    parser.add_argument("--decisions", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--threads", type=int, help="of bgsage; all processors by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if peers.load("bgsage") is None:
        raise SystemExit("bgsage is not installed (pip install bgsage); skipped")
    threads = options.threads or len(os.sched_getaffinity(0))
    static = sage("1ply", threads)
    print(check_boards(static), file=sys.stderr)
    found, phase = decide(options.decisions, options.seed)
    indptr, results, _ = own_games.choices("random", RULES, found.boards, found.dice)
    names = options.policies or ["net"]
    taken = {}
    for name in names:
        policy = find(name, RULES.movement)
        taken[name] = indptr[:-1] + own_games.choices(policy, RULES, found.boards, found.dice)[2]
    rated = contenders(indptr, results, static, sage("2ply", threads))
    # what a policy takes may be better than all that bgsage looked at
    among = [np.union1d(rows, [at[i] for at in taken.values()]) for i, rows in enumerate(rated)]
    rows = np.concatenate(among)
    cache = Cache(options.cache, sage("3ply", threads), TOGETHER * threads)
    equity = np.full(len(results), np.nan)
    equity[rows] = cache(results[rows])
    # the best is sought among bgsage's own plays and the policy's, whoever else is compared
    own = np.array([equity[rows].max() for rows in rated])
    answer: dict[str, Any] = {
        "decisions": len(found),
        "plays": len(rows),
        "rated_now": cache.rated,
        "seconds_a_play": cache.seconds / cache.rated if cache.rated else None,
        "seconds_a_decision": cache.seconds / cache.rated * len(rows) / len(found)
        if cache.rated
        else None,
        "policies": {},
    }
    for name in names:
        chosen = equity[taken[name]]
        lost = 1000 * (np.maximum(own, chosen) - chosen)
        by = {}
        for number, label in enumerate(own_games.PHASES["short"][:6]):
            some = lost[phase == number]
            if len(some) > 1:
                by[label] = [len(some), some.mean(), some.std(ddof=1) / len(some) ** 0.5]
        answer["policies"][name] = {
            "loss": float(lost.mean()),
            "stderr": float(lost.std(ddof=1) / len(lost) ** 0.5),
            "best": float((lost < 1e-6).mean()),
            "above_20": float((lost > 20).mean()),
            "above_80": float((lost > 80).mean()),
            "phases": {label: [int(n), float(m), float(e)] for label, (n, m, e) in by.items()},
        }
    if options.json:
        print(json.dumps(answer))
        return
    if cache.rated:
        print(
            f"bgsage 3-ply rated {cache.rated:,} of {len(rows):,} plays in {cache.seconds:.0f} s "
            f"on {threads} threads: {answer['seconds_a_decision']:.3f} s a decision"
        )
    for name, one in answer["policies"].items():
        print(
            f"{name}: {one['loss']:.2f} ± {one['stderr']:.2f} mEq a decision of {len(found):,} "
            f"(aim {AIM}: {'met' if one['loss'] <= AIM else 'missed'}); best play "
            f"{100 * one['best']:.1f} %, above 20 mEq {100 * one['above_20']:.1f} %, "
            f"above 80 {100 * one['above_80']:.1f} %"
        )
        for label, (n, mean, error) in one["phases"].items():
            print(f"  {label:16} {mean:8.2f} ± {error:5.2f}  ({n})")


if __name__ == "__main__":
    main()
