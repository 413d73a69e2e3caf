"""Compare decisions about the cube with gnubg's (the program `gnubg`), from the same chances.

    python bench/compare_cube.py [--games 12] [--met /usr/share/gnubg/met/Kazaross-XG2.xml]

Positions come from games of the policy `linear`. gnubg evaluates each with its 0-ply net, for
money or at some score; its class chances go through `nardcore.cube_decision` with the efficiency
that gnubg has in contact, 0.68 (in races it depends on the pip count, so that they are left out).
The models are the same but for three things. In the worth of a dead cube gnubg counts no raise that
costs nothing; it makes a side that is too good take the corner of the live cube; and at two away,
two away it takes a centred cube as dead. Every difference printed should be one of these.
"""

from __future__ import annotations

import argparse
import re
import subprocess

import nardcore as nc

SCORES = (None, (3, 5), (5, 3), (2, 4), (4, 2), (7, 7), (3, 1), (2, 2), (6, 3))
CUBES = ((1, "centred"), (2, "owned"), (1, "centred"), (2, "opponent"), (4, "owned"))
SETUP = """set player 0 human
set player 1 human
set automatic roll off
set automatic game off
set automatic crawford off
set jacoby off
set beavers 0
set output digits 6
set output mwc on
set evaluation cubedecision evaluation plies 0
set evaluation cubedecision evaluation cubeful on
set evaluation cubedecision evaluation noise 0
"""
LENGTH = 9


def cases(games: int) -> list[tuple[nc.Position, tuple[int, int] | None, int, str]]:
    found = []
    for seed in range(games):
        turns = nc.rollout(nc.Position.start(), games=1, seed=seed).replay(0).turns
        for turn in turns[8::9]:
            number = len(found)
            score = SCORES[number % len(SCORES)]
            stake, holder = CUBES[number % len(CUBES)]
            if score and stake >= min(score):
                stake, holder = 1, "centred"
            found.append((turn.position, score, stake, holder))
    return found


def commands(some: list, met: str) -> str:
    lines = [SETUP, f"set matchequitytable {met}"]
    for position, score, stake, holder in some:
        if score is None:
            lines.append("new session")
        else:
            lines += [f"new match {LENGTH}", f"set score {LENGTH - score[1]} {LENGTH - score[0]}"]
            lines += ["set postcrawford on"] if 1 in score else []
        owner = {"owned": "owner 1", "opponent": "owner 0", "centred": "centre"}[holder]
        lines += ["set turn 1", f"set board {position.gnubg_id()}", f"set cube value {stake}"]
        lines += [f"set cube {owner}", "eval"]
    return "\n".join(lines) + "\n"


def number(text: str) -> float:
    return float(text.rstrip("%")) / (100 if text.endswith("%") else 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--met", default="/usr/share/gnubg/met/Kazaross-XG2.xml")
    options = parser.parse_args()
    some, met = cases(options.games), nc.MatchEquity.read(options.met)
    done = subprocess.run(
        ["gnubg", "-t", "-q", "-r"],
        input=commands(some, options.met),
        capture_output=True,
        text=True,
        check=True,
    )
    blocks = done.stdout.split("Evaluator:")[1:]
    assert len(blocks) == len(some)
    rules = nc.BACKGAMMON.replace(cube_cap=None)
    gaps = []
    for (_, score, stake, holder), block in zip(some, blocks, strict=True):
        static = re.search(r"static:" + r"\s+([-+\d.]+)" * 5 + r"\s+\S+\s+(\S+)", block)
        if static is None or block.split(maxsplit=1)[0] == "Race":
            continue
        w, wg, wb, lg, lb = (float(x) for x in static.groups()[:5])
        chances = [w - wg, 0, wg - wb, wb, 0, 1 - w - lg, 0, lg - lb, lb, 0]
        d = nc.cube_decision(
            [max(x, 0.0) for x in chances],
            rules=rules,
            stake=stake,
            cube=holder,
            match=score,
            met=met if score else None,
            efficiency=0.68,
        )
        scale = 1 if score else stake
        pairs = [("not raising", number(static.group(6)), d.hold / scale)]
        taken = re.search(r"ouble, take\s+(\S+)", block)
        if taken and d.allowed:
            pairs.append(("accepted", number(taken.group(1)), d.accepted / scale))
        for what, theirs, ours in pairs:
            gaps.append(abs(theirs - ours))
            if gaps[-1] > 2e-4:
                print(
                    f"{score or 'money'}, {stake} {holder}, wins {w:.4f}: {what} "
                    f"{theirs:.4f} by gnubg, {ours:.4f} here"
                )
    close = sum(gap <= 2e-4 for gap in gaps)
    print(f"{len(gaps)} worths, {close} equal to within 0.0002, largest gap {max(gaps):.4f}")


if __name__ == "__main__":
    main()
