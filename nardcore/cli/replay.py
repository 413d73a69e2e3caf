"""``nardcore replay``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nardcore._terms import LANGUAGES
from nardcore.cli._common import (
    echo_json,
    examples,
    json_option,
    numbering_option,
    rules_option,
    takes_unicode,
)
from nardcore.cli._listing import entry_text, listing
from nardcore.cli._phrases import result_name, say
from nardcore.errors import FormatError
from nardcore.records import GameRecord, MatchRecord, Move

if TYPE_CHECKING:
    from nardcore._board import Position
    from nardcore._terms import Language
    from nardcore.records import Entry
    from nardcore.rules import Rules
    from nardcore.typing import Numbering

__all__ = ["command"]


@click.command(
    "replay",
    epilog=examples(
        "nardcore replay match.json",
        "nardcore replay match.mat --moves",
        "nardcore replay match.sgf --game 2 --at 7",
        "nardcore replay match.mat --game 1 --svg 12 --output position.svg",
        "nardcore replay sheet.txt --rules triktrak --json",
    ),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@rules_option
@click.option(
    "--game", "game_number", type=click.IntRange(min=1), metavar="N", help="This game only."
)
@click.option("--moves", is_flag=True, help="List the moves without boards.")
@click.option(
    "--at",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show one position only: the one after N entries of the game, 0 for its first.",
)
@click.option(
    "--svg",
    type=click.IntRange(min=0),
    metavar="N",
    help="Draw that position as SVG instead, on standard output or into --output.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The file of the picture.",
)
@numbering_option
@click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="The language of the text.",
)
@json_option
def command(
    file: str,
    rules: Rules | None,
    game_number: int | None,
    moves: bool,
    at: int | None,
    svg: int | None,
    output: str | None,
    numbering: Numbering,
    lang: Language,
    as_json: bool,
) -> None:
    """Show the games of a file: every position with what was done, or one of them as a picture.

    FILE is in any of the formats that nardcore reads: its own JSON, a score sheet, .mat, .sgf.
    Plays that the rules forbid are shown as they are written, with the reason after a '!'.
    """
    if at is not None and svg is not None:
        msg = "--at and --svg both name a position; give one of them"
        raise click.UsageError(msg)
    if output is not None and svg is None:
        msg = "--output is the file of a picture and needs --svg"
        raise click.UsageError(msg)
    match = _read(file, rules)
    games = list(enumerate(match.games, 1))
    if game_number is not None:
        if game_number > len(games):
            msg = f"{file} holds {len(games)} games, no number {game_number}"
            raise click.UsageError(msg)
        games = [games[game_number - 1]]
    one = svg if svg is not None else at
    if one is not None:
        if not games:
            msg = f"{file} holds no games"
            raise click.UsageError(msg)
        _show_one(games[0][1], one, svg is not None, output, numbering, as_json)
        return
    if as_json:
        echo_json(_as_data(match, games, numbering, lang))
        return
    _head(match)
    for number, game in games:
        click.echo()
        _write(number, game, moves, numbering, lang)


def _read(file: str, rules: Rules | None) -> MatchRecord:
    from nardcore import formats

    value: Any = formats.load(file, rules=rules)
    if isinstance(value, GameRecord):
        return MatchRecord(value.rules, length=value.length, games=(value,))
    if not isinstance(value, MatchRecord):
        msg = f"{file} holds no games; nardcore show draws a position"
        raise FormatError(msg)
    return value


Place = tuple["Entry | None", "Position"]


def _places(game: GameRecord) -> list[Place]:
    """List every position with what is done in it; the last is the final one."""
    return [*game.positions(), (None, game.final)]


def _dice(entry: Entry | None) -> tuple[int, int] | None:
    return entry.dice if isinstance(entry, Move) else None


def _show_one(
    game: GameRecord,
    at: int,
    picture: bool,
    output: str | None,
    numbering: Numbering,
    as_json: bool,
) -> None:
    places = _places(game)
    if at >= len(places):
        msg = f"the game has positions 0 to {len(places) - 1}, no {at}"
        raise click.UsageError(msg)
    entry, position = places[at]
    if picture:
        drawn = position.svg(numbering=numbering, dice=_dice(entry))
        if output is None:
            click.echo(drawn)
        else:
            Path(output).write_text(drawn + "\n", encoding="utf-8")
    elif as_json:
        echo_json({"at": at, "position": position.text(_dice(entry)), "dice": _dice(entry)})
    else:
        click.echo(_board(position, entry, numbering))
        click.echo(position.text(_dice(entry)))


def _board(position: Position, entry: Entry | None, numbering: Numbering) -> str:
    from nardcore.render import board_text

    return board_text(
        position.board,
        position.rules,
        numbering=numbering,
        dice=_dice(entry),
        view="white",
        unicode=takes_unicode(),
    )


def _head(match: MatchRecord) -> None:
    click.echo(f"X {match.white}, O {match.black}: {match.rules.name}")
    if match.length:
        click.echo(f"match to {match.length}")
    for key, value in match.info:
        click.echo(f"{key}: {value}")


def _write(
    number: int, game: GameRecord, moves: bool, numbering: Numbering, lang: Language
) -> None:
    white, black = game.score
    click.echo(say("game", lang, n=number, w=white, b=black, rules=game.rules.name))
    if game.crawford:
        click.echo(say("crawford", lang))
    if game.throws:
        throws = ", ".join(f"{throw.white}-{throw.black}" for throw in game.throws)
        click.echo(say("throws", lang, side=game.starter, throws=throws))
    if game.comment:
        click.echo(game.comment)
    if moves:
        for row in listing(game, numbering, lang):
            click.echo(row)
        return
    for at, (entry, position) in enumerate(_places(game)):
        click.echo(f"\n({at})")
        click.echo(_board(position, entry, numbering))
        if entry is None:
            continue
        click.echo(entry_text(entry, position, numbering, lang))
        if entry.problem:
            click.echo(f"! {entry.problem}")
        if entry.comment:
            click.echo(entry.comment)
    if game.result is not None:
        result = game.result
        name = result_name(game.rules, result.state, lang)
        click.echo(say("won", lang, side=result.winner, points=result.points, name=name))


def _as_data(
    match: MatchRecord,
    games: list[tuple[int, GameRecord]],
    numbering: Numbering,
    lang: Language,
) -> dict[str, Any]:
    return {
        "rules": match.rules.name,
        "white": match.white,
        "black": match.black,
        "length": match.length,
        "score": match.score,
        "winner": match.winner,
        "info": match.info,
        "games": [
            {
                "number": number,
                "score": game.score,
                "crawford": game.crawford,
                "starter": game.starter,
                "throws": [[throw.white, throw.black] for throw in game.throws],
                "result": None if game.result is None else dataclasses.asdict(game.result),
                "entries": [
                    None
                    if entry is None
                    else {
                        "side": entry.side,
                        "text": entry_text(entry, position, numbering, lang, short=True),
                        "problem": entry.problem,
                        "line": entry.line,
                    }
                    for entry, position in places[:-1]
                ],
                "positions": [position.text(_dice(entry)) for entry, position in places],
            }
            for number, game, places in ((n, g, _places(g)) for n, g in games)
        ],
    }
