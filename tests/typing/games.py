"""Types that mypy must find for games, matches and records, and errors that it must report."""

from typing import assert_type

import nardcore as nc
from nardcore.records import Entry, GameRecord, GameResult, MatchRecord, check
from nardcore.stakes import Stake

game = nc.Game(nc.LONG_NARDY, seed=1)
assert_type(game.roll(), tuple[int, int])
assert_type(game.plays(), nc.Plays | tuple[nc.Play, ...])
assert_type(game.plays()[0], nc.Play)
assert_type(game.push(game.plays()[0]), nc.Play)
assert_type(game.push("24/21/20"), nc.Play)
assert_type(game.push([(24, 21), (21, 20)]), nc.Play)
assert_type(game.position, nc.Position)
assert_type(game.dice, tuple[int, int] | None)
assert_type(game.stake, Stake)
assert_type(game.entries, tuple[Entry, ...])
assert_type(game.result(), GameResult | None)
assert_type(game.record(), GameRecord)
assert_type(nc.Game.from_record(game.record()), nc.Game)
assert_type(check(game.record()), GameRecord)
assert_type(game.over, bool)

match = nc.Match(length=5, score=(3, 1))
assert_type(match.game, nc.Game)
assert_type(match.next_game(), nc.Game)
assert_type(match.score, tuple[int, int])
assert_type(match.record(), MatchRecord)

assert_type(nc.play_out(nc.TRIKTRAK, seed=1), nc.Game)
assert_type(nc.play_out(game, ("linear", "random")), nc.Game)
assert_type(
    nc.play_out(match, actions=lambda game: "offer" if "offer" in game.due else None), nc.Match
)

nc.Game("backgammon")  # type: ignore[arg-type]
nc.Game(first="white")  # type: ignore[arg-type]
nc.play_out(match, seed=1)  # type: ignore[call-overload]
game.push(7)  # type: ignore[arg-type]
game.position = nc.Position.start()  # type: ignore[misc]
