"""Rollouts of the opening against gnubg and bgsage: speed, and the cost of a standard error.

    python bench/bench_rollouts.py --games 2592     # games a second, against gnubg 0-ply
    python bench/bench_rollouts.py --cost           # and the time to a standard error of 0.005

gnubg (the program of the Debian package) plays with its 0-ply net, cubeless and to the end; bgsage
(PyPI) with its static evaluation. Each is skipped where it is not installed. Before any ratio the
equities are compared: they must agree within four standard errors and 0.03 points, since the
players differ.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pty
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import nardcore as nc

GNUBG = shutil.which("gnubg") or next(
    (str(p) for p in [Path("/usr/games/gnubg")] if p.exists()), None
)
WANTED = 0.005

_COMMANDS = """\
set automatic game off
set automatic roll off
set player 0 human
set player 1 human
set threads {threads}
new game
set board 4HPwATDgc/ABMA
set rollout cubeful off
set rollout varredn {reduced}
set rollout truncation enable off
set rollout bearofftruncation exact off
set rollout bearofftruncation onesided off
set rollout initial off
set rollout quasirandom on
set rollout rotate on
set rollout jsd stop off
set rollout limit enable off
set rollout chequerplay plies 0
set rollout cubedecision plies 0
set rollout trials {games}
set rollout seed {seed}
rollout
quit
y
"""


@dataclass(frozen=True)
class Timed:
    """One rollout: what it said, and how long it took."""

    name: str
    games: int
    equity: float
    stderr: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.games / self.seconds

    @property
    def cost(self) -> float:
        """Seconds to the wanted standard error, which falls with the square root of the games."""
        return self.seconds * (self.stderr / WANTED) ** 2

    def line(self) -> str:
        return (
            f"{self.name}: {self.games:,} games in {self.seconds:.2f} s = {self.rate:,.0f}/s "
            f"({60 * self.rate / 1e6:.3f} M a minute), "
            f"equity {self.equity:+.4f} ± {self.stderr:.4f}"
        )


def gnubg(games: int, threads: int, reduced: bool, seed: int = 7) -> Timed | None:
    """Roll the opening out with gnubg, on a terminal: elsewhere it shows no standard errors."""
    if GNUBG is None:
        return None
    commands = _COMMANDS.format(
        games=games, threads=threads, reduced="on" if reduced else "off", seed=seed
    )

    def run(text: str) -> tuple[str, float]:
        ours, theirs = pty.openpty()
        began = time.perf_counter()
        program = subprocess.Popen(
            [GNUBG, "-t", "-q"], stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.DEVNULL
        )
        os.close(theirs)
        assert program.stdin is not None
        program.stdin.write(text.encode())
        program.stdin.close()
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how a closed terminal ends on Linux
                break
            if not part:
                break
            said += part
        program.wait()
        os.close(ours)
        return said.decode(errors="replace"), time.perf_counter() - began

    _, idle = run(commands.replace("\nrollout\n", "\n"))
    said, seconds = run(commands)
    value = re.findall(r"CL\s+([+-]\d+\.\d+)", said)
    error = re.findall(r"CL\s+(\d+\.\d+)\]", said)
    if not value or not error:
        raise RuntimeError("gnubg's answer is not as expected:\n" + said[-2000:])
    name = "gnubg 0-ply" + (", variance reduction" if reduced else "")
    return Timed(name, games, float(value[-1]), float(error[-1]), max(seconds - idle, 1e-9))


def sage(games: int, threads: int, seed: int = 7) -> Timed | None:
    """Roll the opening out with bgsage, which always reduces variance."""
    if importlib.util.find_spec("bgsage") is None:
        return None
    import bgsage

    analyzer = bgsage.BgBotAnalyzer(
        eval_level="rollout",
        cubeful=False,
        n_trials=games,
        decision_ply=1,
        parallel_threads=threads,
        seed=seed,
        cubeful_trial_moves=False,
    )
    began = time.perf_counter()
    found = analyzer.cube_action(bgsage.STARTING_BOARD)
    seconds = time.perf_counter() - began
    return Timed("bgsage 1-ply", games, found.cubeless_equity, found.cubeless_se, seconds)


def ours(games: int, threads: int, policy: str, reduced: bool, turns: int | None = None) -> Timed:
    start = nc.Position.start(nc.BACKGAMMON)
    options = {"variance_reduction": reduced, "truncate": turns}
    nc.rollout(start, games=64, policy=policy, threads=threads, **options)  # loads what it needs
    began = time.perf_counter()
    result = nc.rollout(start, games=games, seed=7, policy=policy, threads=threads, **options)
    seconds = time.perf_counter() - began
    name = f"nardcore {policy}" + (", variance reduction" if reduced else "")
    name += f", {turns} turns" if turns else ""
    value, error = result.equity(), result.stderr()
    if reduced:
        value, error = result.reduced_equity(), result.reduced_stderr()
    return Timed(name, games, value, error, seconds)


def compare(mine: Timed, theirs: Timed | None, name: str) -> bool:
    if theirs is None:
        print(f"{name}: not installed, skipped")
        return False
    print(theirs.line())
    apart = abs(mine.equity - theirs.equity)
    bound = 4 * (mine.stderr**2 + theirs.stderr**2) ** 0.5 + 0.03
    if apart > bound:
        raise SystemExit(f"{mine.name} and {theirs.name} are {apart:.4f} apart, above {bound:.4f}")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=2592, help="games of each peer")
    parser.add_argument("--own-games", type=int, default=103_680)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--policy", default="net")
    parser.add_argument("--cost", action="store_true", help="the cost of a standard error of 0.005")
    options = parser.parse_args()
    mine = ours(options.own_games, options.threads, options.policy, reduced=False)
    print(mine.line())
    peer = gnubg(options.games, options.threads, reduced=False)
    if compare(mine, peer, "gnubg"):
        print(f"  x {mine.rate / peer.rate:.1f} games a second")
    if not options.cost:
        return
    reduced = ours(options.own_games // 10, options.threads, options.policy, reduced=True)
    cut = ours(options.own_games // 10, options.threads, options.policy, reduced=True, turns=11)
    best = min(mine, reduced, key=lambda t: t.cost)
    for t in (mine, reduced, cut):
        print(f"{t.line()}; {t.cost:.2f} s to a standard error of {WANTED}")
    for peer, name in (
        (gnubg(options.games // 2, options.threads, reduced=True), "gnubg"),
        (sage(options.games // 8, options.threads), "bgsage"),
    ):
        if compare(best, peer, name):
            ratio = peer.cost / best.cost
            print(f"  {peer.cost:.1f} s to a standard error of {WANTED}: x {ratio:.0f}")


if __name__ == "__main__":
    main()
