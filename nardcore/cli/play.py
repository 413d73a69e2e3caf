"""``nardcore play``."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nardcore._entries import MAX_LENGTH
from nardcore._terms import LANGUAGES
from nardcore.cli._common import (
    Written,
    examples,
    json_option,
    numbering_option,
    read_positions,
    rules_option,
)
from nardcore.errors import FormatError
from nardcore.game import Game
from nardcore.match import Match
from nardcore.policies import NAMES, check_net, resolve
from nardcore.rules import BACKGAMMON

if TYPE_CHECKING:
    from nardcore._terms import Language
    from nardcore.records import MatchRecord
    from nardcore.rules import Rules
    from nardcore.typing import Numbering

__all__ = ["command"]

_LENGTH = click.IntRange(min=1, max=MAX_LENGTH)
SIDES = {"white": "w", "black": "b", "both": "wb", "none": ""}


def _policies(text: str) -> str:
    """Check one policy, or two with a comma between them."""
    names = text.split(",")
    if len(names) > 2:
        msg = "a policy is one name, or two with a comma between them"
        raise ValueError(msg)
    for name in names:
        resolve(name)
    return text


@click.command(
    "play",
    epilog=examples(
        "nardcore play",
        "nardcore play --rules long_nardy --side black --lang ru",
        "nardcore play --rules short_dave --length 5 --save match.json",
        "nardcore play --load match.json",
        "nardcore play --side none --seed 1 --quiet",
        "printf '8/5 6/5\\nquit\\n' | nardcore play --position start --seed 3",
    ),
)
@rules_option
@click.option(
    "--side",
    type=click.Choice(list(SIDES)),
    help="Whom you play; 'both' for two at one keyboard, 'none' to look on. White by default.",
)
@click.option(
    "--policy",
    type=Written("policy", _policies),
    metavar="NAME",
    help=f"Who plays against you: {', '.join(NAMES)}; by default a net, "
    "where there is one for the rules, else linear. "
    "Two with a comma for white and black.",
)
@click.option("--length", type=_LENGTH, metavar="N", help="A match to N points.")
@click.option("--games", type=_LENGTH, metavar="N", help="N games; 1 by default.")
@click.option("--position", metavar="TEXT", help="Where the game begins; as for 'nardcore moves'.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Of the dice; drawn and shown by default.",
)
@click.option("--manual", is_flag=True, help="Ask for all dice instead of throwing them.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep the match in this file, written anew after every turn.",
)
@click.option(
    "--load",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Go on with a match from a file.",
)
@numbering_option
@click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="The language of the messages.",
)
@click.option("--quiet", is_flag=True, help="Draw no boards unless asked.")
@json_option
def command(
    rules: Rules | None,
    side: str | None,
    policy: str | None,
    length: int | None,
    games: int | None,
    position: str | None,
    seed: int | None,
    manual: bool,
    save: str | None,
    load: str | None,
    numbering: Numbering,
    lang: Language,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play a game or a match against a policy, in the terminal or from a program.

    The program throws and plays for its side, draws the board when you are to act, and reads what
    you do, one line at a time: a play such as 8/5 6/5, or one of the words that 'help' lists. With
    --json every event is an object on a line, among them what is due and the legal plays.

    What is typed wrongly is told on standard error and asked again. At the end of the input the
    game is left as it is.
    """
    from nardcore.cli._table import Options, Table

    told: dict[str, str] = {}
    if load is not None:
        _exclude(load="--load", rules=rules, length=length, games=games, position=position)
        record = _read(load)
        told = dict(record.details())
        words = [int(word) for word in told.get("seed", "").split() if word.isdecimal()]
        match = Match.from_record(record, seed=words if seed is None and words else seed)
    else:
        match = _new(rules, length, games, position, seed)
    sides = side or told.get("side", "white")
    who = policy or told.get("policy") or _strongest(match.rules)
    try:
        names = _policies(who).split(",")
    except ValueError:  # a file of somebody with other policies
        names = ["linear"]
    options = Options(
        humans=SIDES.get(sides, "w"),
        policies=(names[0], names[-1]),
        lang=lang,
        numbering=numbering,
        boards=not quiet,
        manual=manual,
        as_json=as_json,
        save=None if save is None else Path(save),
        info={"side": sides, "policy": ",".join(names)},
    )
    Table(match, options).run()


def _strongest(rules: Rules) -> str:
    """Name the strongest policy that plays by these rules."""
    try:
        check_net(rules)
    except ValueError:
        return "linear"
    return "net"


def _exclude(load: str, **others: object) -> None:
    for name, value in others.items():
        if value is not None:
            msg = f"{load} brings its own match, so --{name} cannot be given with it"
            raise click.UsageError(msg)


def _new(
    rules: Rules | None,
    length: int | None,
    games: int | None,
    position: str | None,
    seed: int | None,
) -> Match:
    if length is not None and games is not None:
        msg = "--length and --games exclude each other"
        raise click.UsageError(msg)
    words = secrets.randbits(32) if seed is None else seed
    counted = 0 if length else games or 1
    if position is None:
        return Match(rules or BACKGAMMON, length=length or 0, games=counted, seed=words)
    given = read_positions(position, rules)
    if len(given) != 1:
        msg = "a game begins at one position"
        raise click.UsageError(msg)
    start = given[0].position
    match = Match(start.rules, length=length or 0, games=counted, seed=words)
    match.games[0] = Game(position=start, seed=match.seed, length=match.length)
    if given[0].dice is not None:
        match.game.set_dice(given[0].dice)
    return match


def _read(path: str) -> MatchRecord:
    """Read a match, or a game as one."""
    from nardcore import formats
    from nardcore.records import GameRecord, MatchRecord

    value: Any = formats.load(path)
    if isinstance(value, GameRecord):
        value = MatchRecord(value.rules, games_to_play=1, games=(value,))
    if not isinstance(value, MatchRecord):
        msg = f"{path} holds no match"
        raise FormatError(msg)
    return value
