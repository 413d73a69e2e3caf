"""Benchmark sets: decisions whose plays are all rolled out, and what policies lose on them.

    python bench/benchmark_set.py make --rules backgammon --out bench/sets/short.npz
    python bench/benchmark_set.py make --rules long_nardy --out bench/sets/long.npz
    python bench/benchmark_set.py score bench/sets/short.npz net net:1 linear random

`make` plays games of the net (bench/own_games.py), takes the same number of decisions from each
phase, and rolls out the candidates of each: the best plays by one roll of look-ahead and what net,
linear and a random player take. What is done is kept in FILE.part, one line a decision, so that the
same command goes on after a stop; the answer does not depend on threads or stops. A quarter of the
games is held out: nothing may be trained or tuned on their decisions.

`score` prints the mean loss of a decision in thousandths of a point, by phase and by part. The loss
is counted crosswise: the best play is found in one half of the trials and what the choice loses
against it is taken from the other half, so that noise does not look like loss. "all" weighs the
phases as they are met in games without random play. A policy is named as in bench/duel.py. A play
that is no candidate is rolled out now, if the net is still the one that made the set; otherwise the
decision is left out and counted as not covered.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore._whole_file import write_whole

sys.path.insert(0, str(Path(__file__).resolve().parent))

import own_games
from duel import find
from own_games import PHASES

__all__ = ["Score", "Set", "load", "make", "score"]

METHODS: dict[str, dict[str, Any]] = {
    "short": {"truncate": 11, "plies": 1, "stratified": True, "variance_reduction": True},
    "long": {"truncate": 11, "plies": 1, "stratified": True},
}
"""How plays are rolled out: see docs/benchmark-sets.md for why luck is not taken out in long."""

TRIALS = {"short": 216, "long": 1296}
"""Trials of each candidate, half of them in each half."""

BEST = 6
HELD_OUT = 4  # every fourth game of each kind
ALSO = ("net", "linear", "random")


def net_hash(movement: str) -> str:
    """Name the net that rolls out."""
    path = Path(nc.__file__).parent / "weights" / f"{movement}.npz"
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------------------------------- the file


@dataclass(frozen=True)
class Set:
    """A benchmark set.

    Attributes
    ----------
    boards, dice : ndarray of int8
        The decisions: positions on roll, ``[n, 32]``, and their rolls, ``[n, 2]``.
    games : ndarray of int32
        From which game each is.
    phase : ndarray of int8
        Its number in ``meta["phases"]``.
    held_out : ndarray of bool
        Whether it belongs to the part that no training may touch.
    indptr : ndarray of int64
        Candidates ``indptr[i]`` to ``indptr[i + 1] - 1`` are those of decision i.
    after : ndarray of int8, shape (candidates, 32)
        What a candidate leads to, seen by the side that has just moved.
    equity : ndarray of float32, shape (candidates, 2)
        Points a game for that side, from each half of the trials.
    stderr, loss_stderr : ndarray of float32
        The standard errors of all trials together: of the equity, and of the difference to the
        decision's best candidate.
    meta : dict
        Rules, seed, trials, method, and so on.
    """

    boards: NDArray[np.int8]
    dice: NDArray[np.int8]
    games: NDArray[np.int32]
    phase: NDArray[np.int8]
    held_out: NDArray[np.bool_]
    indptr: NDArray[np.int64]
    after: NDArray[np.int8]
    equity: NDArray[np.float32]
    stderr: NDArray[np.float32]
    loss_stderr: NDArray[np.float32]
    meta: dict[str, Any]

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def rules(self) -> nc.Rules:
        return nc.Rules.parse(self.meta["rules"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it, whole or not at all."""
        import io

        content = io.BytesIO()
        arrays = {name: getattr(self, name) for name in ARRAYS}
        meta = np.frombuffer(json.dumps(self.meta).encode(), np.uint8)
        np.savez_compressed(content, meta=meta, **arrays)
        write_whole(path, content.getvalue())


ARRAYS = tuple(name for name in Set.__dataclass_fields__ if name != "meta")


def load(path: str | os.PathLike[str]) -> Set:
    """Read a set."""
    with np.load(path, allow_pickle=False) as file:
        missing = {"meta", *ARRAYS} - set(file)
        if missing:
            raise ValueError(f"{path} is no benchmark set: it has no {', '.join(sorted(missing))}")
        meta = json.loads(file["meta"].tobytes())
        return Set(**{name: file[name] for name in ARRAYS}, meta=meta)


# -------------------------------------------------------------------------------------------- make


def pick(
    rules: nc.Rules, decisions: int, seed: int
) -> tuple[own_games.Decisions, NDArray[np.int8], dict[str, float]]:
    """Take decisions from games, as many from each phase, and say how often each phase is met."""
    found = own_games.decisions(rules, max(400, 2 * decisions), seed)
    phase = own_games.phases(found.boards, rules)
    names = PHASES[rules.movement]
    shares = np.bincount(phase[found.natural], minlength=len(names)) / found.natural.sum()
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(len(found))
    taken: list[int] = []
    for number in range(len(names)):
        quota = decisions * (number + 1) // len(names) - decisions * number // len(names)
        of_phase = order[phase[order] == number]
        # from as many games as there are before a second one from any
        first = np.sort(np.unique(found.games[of_phase], return_index=True)[1])
        rest = np.delete(of_phase, first)
        taken += np.concatenate([of_phase[first], rest])[:quota].tolist()
    at = np.sort(np.array(taken))
    return found[at], phase[at], dict(zip(names, shares.round(6).tolist(), strict=True))


def candidates(
    position: nc.Position, dice: tuple[int, int], also: Sequence[bytes]
) -> list[nc.Play]:
    """Give the best plays by one roll of look-ahead, and those that lead to some boards."""
    ranked = nc.rank_plays(position, dice, plies=1, evaluator="net", threads=1)
    chosen = [one.play for one in ranked[:BEST]]
    chosen += [one.play for one in ranked[BEST:] if one.play.board.tobytes() in set(also)]
    return chosen


def roll_out(
    position: nc.Position,
    dice: tuple[int, int],
    plays: Sequence[nc.Play],
    seed: tuple[int, int],
    trials: int,
    method: dict[str, Any],
) -> tuple[list[list[float]], list[float], list[float]]:
    """Roll plays out: equities in both halves of the trials, and the standard errors of all."""
    half = trials // 2
    roll = partial(nc.rollout_plays, position, dice, plays=plays, policy="net", seed=seed)
    parts = [roll(games=half, first=first, threads=1, **method) for first in (0, half)]
    whole = parts[0].merge(parts[1])
    equity = [[-part.results[i].estimate()[0] for part in parts] for i in range(len(plays))]
    errors = {one.play: (one.stderr, one.loss_stderr) for one in whole.ranked()}
    return equity, [errors[play][0] for play in plays], [errors[play][1] for play in plays]


def make(
    rules: nc.Rules,
    decisions: int,
    seed: int,
    out: Path,
    trials: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Set:
    """Make a set and write it; goes on with what FILE.part holds."""
    movement = rules.movement
    trials = trials or TRIALS[movement]
    if trials < 4 or trials % 2:
        raise ValueError(f"the trials are an even number from 4 on, not {trials}")
    chosen, phase, shares = pick(rules, decisions, seed)
    meta = {
        "format": "nardcore benchmark set",
        "version": 1,
        "rules": rules.name,
        "points": list(rules.points),
        "policy": "net",
        "net": net_hash(movement),
        "nardcore": nc.__version__,
        "seed": seed,
        "trials": trials,
        "method": METHODS[movement],
        "candidates": {"best by net:1": BEST, "also": ALSO},
        "phases": PHASES[movement],
        "shares": shares,
        "decisions": len(chosen),
    }
    meta = json.loads(json.dumps(meta))
    also = []
    for name in ALSO:
        indptr, results, taken = own_games.choices(name, rules, chosen.boards, chosen.dice)
        also.append(results[indptr[:-1] + taken])

    def one(i: int) -> dict[str, Any]:
        position = nc.Position.from_board(chosen.boards[i], rules)
        dice = (int(chosen.dice[i, 0]), int(chosen.dice[i, 1]))
        plays = candidates(position, dice, [rows[i].tobytes() for rows in also])
        equity, stderr, loss_stderr = roll_out(
            position, dice, plays, (seed, i), trials, METHODS[movement]
        )
        after = [play.board.tobytes().hex() for play in plays]
        errors = {"stderr": stderr, "loss_stderr": loss_stderr}
        return {"i": i, "after": after, "equity": equity, **errors}

    part = out.with_name(out.name + ".part")
    out.parent.mkdir(parents=True, exist_ok=True)
    done = _resume(part, meta)
    began, before = time.perf_counter(), len(done)
    todo = [i for i in range(len(chosen)) if i not in done]
    pool = ThreadPoolExecutor(threads or len(os.sched_getaffinity(0)))
    try:
        with part.open("a", encoding="utf-8") as lines:
            for row in pool.map(one, todo):
                lines.write(json.dumps(row) + "\n")
                lines.flush()
                done[row["i"]] = row
                if progress:
                    each = (time.perf_counter() - began) / (len(done) - before)
                    text = f"\r{len(done)}/{len(chosen)} decisions, {each:.2f} s each "
                    print(text, end="", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    if progress:
        print(file=sys.stderr)
    rows = [done[i] for i in range(len(chosen))]
    after = np.frombuffer(bytes.fromhex("".join("".join(r["after"]) for r in rows)), np.int8)
    made = Set(
        boards=chosen.boards,
        dice=chosen.dice,
        games=chosen.games,
        phase=phase,
        # kinds of games go by number modulo 4, so that a quarter of each kind is held out
        held_out=chosen.games // 4 % HELD_OUT == 0,
        indptr=np.cumsum([0] + [len(r["after"]) for r in rows]),
        after=after.reshape(-1, 32),
        equity=np.array([pair for r in rows for pair in r["equity"]], np.float32),
        stderr=np.array([x for r in rows for x in r["stderr"]], np.float32),
        loss_stderr=np.array([x for r in rows for x in r["loss_stderr"]], np.float32),
        meta=meta,
    )
    made.save(out)
    part.unlink()
    return made


def _resume(part: Path, meta: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Read what an earlier run has done, and cut off a line that it did not finish."""
    if not part.exists():
        part.write_text(json.dumps(meta) + "\n", encoding="utf-8")
        return {}
    text = part.read_text(encoding="utf-8")
    text = text[: text.rfind("\n") + 1]
    first, *rest = text.splitlines() or [""]
    if first != json.dumps(meta):
        raise ValueError(f"{part} was begun with other rules, seed, trials or another net")
    part.write_text(text, encoding="utf-8")
    return {row["i"]: row for row in map(json.loads, rest)}


# ------------------------------------------------------------------------------------------- score


@dataclass(frozen=True)
class Score:
    """What a policy loses on a set.

    Attributes
    ----------
    policy : str
        Its name.
    losses : ndarray of float64
        Points lost by each decision, crosswise; nan where it is not covered.
    best : ndarray of bool
        Whether its play is the candidate that is best by all trials.
    outside : int
        How many of its plays are no candidates.
    """

    policy: str
    losses: NDArray[np.float64]
    best: NDArray[np.bool_]
    outside: int

    def table(self, found: Set) -> dict[str, dict[str, list[float]]]:
        """By part and phase: how many decisions, mean loss and its error in thousandths."""
        names, shares = found.meta["phases"], found.meta["shares"]
        parts = {"all": found.held_out >= 0, "open": ~found.held_out, "held out": found.held_out}
        table = {}
        for part, here in parts.items():
            row: dict[str, list[float]] = {}
            here = here & ~np.isnan(self.losses)
            whole = np.zeros(3)
            for number, name in enumerate(names):
                some = 1000 * self.losses[here & (found.phase == number)]
                n = len(some)
                error = some.std(ddof=1) / n**0.5 if n > 1 else np.nan
                row[name] = [n, float(some.mean()) if n else np.nan, float(error)]
                if shares[name]:
                    whole += n, shares[name] * row[name][1], (shares[name] * error) ** 2
            row["all"] = [int(here.sum()), float(whole[1]), float(whole[2] ** 0.5)]
            table[part] = row
        return table


def score(found: Set, policy: Any, name: str, threads: int | None = None) -> Score:
    """Say what a policy loses on a set."""
    rules, meta = found.rules, found.meta
    same_net = meta["net"] == net_hash(rules.movement)
    indptr, results, taken = own_games.choices(policy, rules, found.boards, found.dice)
    chosen = results[indptr[:-1] + taken]
    equity = np.full((len(found), 2), np.nan)
    best = np.zeros(len(found), bool)
    missing = []
    for i in range(len(found)):
        part = slice(found.indptr[i], found.indptr[i + 1])
        hit = np.flatnonzero((found.after[part] == chosen[i]).all(axis=1))
        if len(hit):
            equity[i] = found.equity[part][hit[0]]
            best[i] = hit[0] == found.equity[part].sum(axis=1).argmax()
        else:
            missing.append(i)

    def late(i: int) -> list[float]:
        position = nc.Position.from_board(found.boards[i], rules)
        dice = (int(found.dice[i, 0]), int(found.dice[i, 1]))
        play = position.plays(dice)[int(taken[i])]
        return roll_out(position, dice, [play], (meta["seed"], i), meta["trials"], meta["method"])[
            0
        ][0]

    if same_net and missing:
        with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
            equity[missing] = list(pool.map(late, missing))
    losses, outside = np.zeros(len(found)), set(missing)
    for i in range(len(found)):
        rows = found.equity[found.indptr[i] : found.indptr[i + 1]].astype(np.float64)
        if i in outside and same_net:
            rows = np.vstack([rows, equity[i]])
        a, b = rows.argmax(axis=0)
        losses[i] = ((rows[b, 0] - equity[i, 0]) + (rows[a, 1] - equity[i, 1])) / 2
    return Score(name, losses, best, len(missing))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("make", help="play games, roll out and write a set")
    one.add_argument("--rules", default="backgammon", help="as Rules.parse reads them")
    one.add_argument("--decisions", type=int, default=1200)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--trials", type=int, help="of each candidate; 216 short, 1296 long")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--threads", type=int, help="all processors by default")
    one.add_argument("--json", action="store_true", help="print one JSON object")
    two = commands.add_parser("score", help="what policies lose on a set")
    two.add_argument("file", type=Path)
    two.add_argument("policies", nargs="+")
    two.add_argument("--threads", type=int, help="for plays that are no candidates")
    two.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.command == "make":
        rules = nc.Rules.parse(options.rules)
        show = sys.stderr.isatty()
        began = time.perf_counter()
        found = make(
            *(rules, options.decisions, options.seed, options.out),
            *(options.trials, options.threads, show),
        )
        seconds = time.perf_counter() - began
        error = float(np.sqrt((found.loss_stderr[found.loss_stderr > 0] ** 2).mean()))
        about = {
            "decisions": len(found),
            "held_out": int(found.held_out.sum()),
            "candidates": len(found.after),
            "loss_stderr": error,
            "bytes": options.out.stat().st_size,
            "seconds": seconds,
        }
        if options.json:
            print(json.dumps(about))
        else:
            print(
                f"{len(found)} decisions ({about['held_out']} held out), {len(found.after)} "
                f"candidates, standard error of a loss {error:.4f}, {about['bytes']:,} bytes, "
                f"{seconds:.0f} s"
            )
        return
    found = load(options.file)
    answer = {}
    for name in options.policies:
        one = score(found, find(name, found.rules.movement), name, options.threads)
        table = one.table(found)
        left = int(np.isnan(one.losses).sum())
        answer[name] = {
            "loss": table,
            "best": float(one.best.mean()),
            "outside": one.outside,
            "not_covered": left,
        }
        if options.json:
            continue
        print(
            f"{name}: takes the best candidate in {100 * one.best.mean():.1f} % of decisions; "
            f"{one.outside} plays are no candidates, {left} not covered"
        )
        print(f"  {'mEq a decision':16} " + "".join(f"{part:>22}" for part in table))
        for phase in ["all", *found.meta["phases"]]:
            cells = [table[part][phase] for part in table]
            print(f"  {phase:16} " + "".join(f"{m:8.2f} ± {e:5.2f} ({n:4})" for n, m, e in cells))
    if options.json:
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
