"""Games played by chance, stake actions and resignations included."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import nardcore as nc
from nardcore.game import ACTIONS
from nardcore.rules import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

# the presets, and every kind of stake and starter that they leave out
RULES = (
    *nc.PRESETS.values(),
    nc.Rules.parse("short_dave+stake=dave_arithmetic"),
    nc.Rules.parse("backgammon+jacoby=true+beavers=2+cube_cap=16+auto_doubles=2"),
    nc.Rules.parse("fnr_long+next_starter=alternate+cube_cap=none+jacoby=true"),
    nc.Rules.parse("triktrak+off_protects=false+opening=use_dice+next_starter=winner"),
)


def step(game: nc.Game, chance: random.Random, bold: float = 0.3) -> str:
    """Do one thing that is due, plays and throws more often than the rest."""
    due = list(game.due)
    if "resign" in due and chance.random() > 0.002:
        due.remove("resign")
    if "offer" in due and chance.random() > bold:
        due.remove("offer")
    if "refuse" in due and chance.random() > 0.1:
        due.remove("refuse")
    action = chance.choice(due)
    if action == "push":
        plays = game.plays()
        game.push(plays[chance.randrange(len(plays))])
    elif action == "resign":
        game.resign(chance.randrange(len(STATES)), side=chance.choice(["w", "b"]))
    else:
        getattr(game, action)()
    return action


def walk(game: nc.Game, chance: random.Random) -> Iterator[str]:
    """Play to the end."""
    while not game.over:
        yield step(game, chance)


def snapshot(game: nc.Game) -> tuple[object, ...]:
    """Everything that can be seen of a game."""
    return (
        bytes(game.position),
        game.turn,
        game.to_act,
        game.dice,
        game.ply,
        game.stake,
        game.resignation,
        game.result(),
        game.entries,
        game.due,
        game.history,
    )


__all__ = ["ACTIONS", "RULES", "snapshot", "step", "walk"]
