"""Types that mypy must find for positions and plays, and errors that it must report."""

from collections.abc import Iterator
from typing import Any, Literal, assert_type

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore.dice import Expansion
from nardcore.formats import parse_position

p = nc.Position.start()
assert_type(p, nc.Position)
assert_type(nc.Position.start(nc.LONG_NARDY), nc.Position)
assert_type(nc.Position.parse("4HPwATDgc/ABMA"), nc.Position)
assert_type(nc.Position.from_board(p.board), nc.Position)
assert_type(nc.Position.from_board([0] * 32, nc.TRIKTRAK), nc.Position)
assert_type(nc.Position.from_points([2, 0, 1] + 20 * [0] + [-1], off=(12, 14)), nc.Position)

# checkers by number, by place, and in a variable of a narrower type
nc.Position({6: 2, 4: 1}, {1: 2}, turn="b", first_turns=(True, False), rules=nc.LONG_NARDY)
nc.Position({6: 2, "bar": 1, "off": 3}, {"off": 15})
home: dict[int, int] = {6: 5, 5: 5, 4: 5}
nc.Position(home, home)

assert_type(p.board, NDArray[np.int8])
assert_type(p.rules, nc.Rules)
assert_type(p.points, tuple[int, ...])
assert_type(p.bar, tuple[int, int])
assert_type(p.off, tuple[int, int])
assert_type(p.turn, Literal["w", "b"])
assert_type(p.first_turns, tuple[bool, bool])
assert_type(p.pips, tuple[int, int])
assert_type(p.outcome, int | None)
assert_type(p.flip(), nc.Position)
assert_type(p.with_rules(nc.FNR_SHORT), nc.Position)
assert_type(p.play("8/5 6/5", dice=(3, 1)), nc.Position)
assert_type(p.expand(depth=1), Expansion)
assert_type(p.expand().of((3, 1)), NDArray[np.int8])
assert_type(p.perft(2, weighted=True), int)
assert_type(p.divide(1), dict[tuple[int, int], dict[str, int]])
assert_type(p.text((3, 1)), str)
assert_type(p.gnubg_id(), str)
assert_type(p.xgid(), str)
assert_type(p.draw(numbering="roman"), str)
assert_type(p.svg(dice=(6, 6)), str)
assert_type(np.asarray(p), NDArray[Any])
assert_type(memoryview(p), memoryview[int])
assert_type({p: 1}, dict[nc.Position, int])
assert_type(parse_position(p.text()).dice, tuple[int, int] | None)

plays = p.plays((3, 1))
assert_type(plays, nc.Plays)
assert_type(plays[0], nc.Play)
assert_type(plays[np.int64(0)], nc.Play)
assert_type(plays[:2], nc.Plays)
assert_type(iter(plays), Iterator[nc.Play])
assert_type(len(plays), int)
assert_type("8/5 6/5" in plays, bool)
assert_type(plays.position, nc.Position)
assert_type(plays.dice, tuple[int, int])
assert_type(plays.boards, NDArray[np.int8])
assert_type(plays.find("8/5 6/5", numbering="own"), nc.Play)
assert_type(plays.next_steps([(8, 5)]), tuple[tuple[int, int, int], ...])
assert_type(plays.after([(8, 5)]), NDArray[np.int8])

play = plays[0]
assert_type(play.of, nc.Plays)
assert_type(play.dice, tuple[int, int])
assert_type(play.board, NDArray[np.int8])
assert_type(play.result, nc.Position)
assert_type(play.steps, tuple[tuple[int, int], ...])
assert_type(play.hits, tuple[int, ...])
assert_type(play.dice_used, int)
assert_type(play.notation(numbering="traditional"), str)
assert_type(p.play(play, dice=play.dice), nc.Position)

# errors
p.plays(3, 1)  # type: ignore[call-arg, arg-type]
p.plays("31")  # type: ignore[arg-type]
p.plays((3, 1, 1))  # type: ignore[arg-type]
p.play("8/5 6/5")  # type: ignore[call-arg]
p.play("8/5 6/5", (3, 1))  # type: ignore[call-arg]
p.draw(numbering="gnubg")  # type: ignore[arg-type]
p.turn = "b"  # type: ignore[misc]
p.board = np.zeros(32, np.int8)  # type: ignore[misc]
plays["8/5 6/5"]  # type: ignore[call-overload]
play.result.outcome + 1  # type: ignore[operator]
nc.Plays()  # type: ignore[call-arg]
nc.Play()  # type: ignore[call-arg]
nc.Position.start("backgammon")  # type: ignore[arg-type]
nc.Position({6: 15}, {6: 15}, turn="white")  # type: ignore[arg-type]
nc.Position({6: 1.5}, {6: 15})  # type: ignore[dict-item]
