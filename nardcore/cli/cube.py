"""``nardcore cube``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from nardcore.cli._common import (
    COUNT,
    Given,
    Written,
    echo_json,
    examples,
    json_option,
    read_positions,
    rules_option,
    side,
)
from nardcore.match_equity import EFFICIENCY
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from nardcore.cube import CubeDecision, CubefulResult

__all__ = ["command"]

GAMES = 20_000


def _score(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) != 2 or not all(n.isascii() and n.isdecimal() and len(n) < 4 for n in parts):
        msg = f"{text!r} is no score such as 3,5: points that both sides still need"
        raise ValueError(msg)
    mine, theirs = int(parts[0]), int(parts[1])
    if not (mine and theirs):
        msg = f"{text!r}: a side that needs 0 points has won the match already"
        raise ValueError(msg)
    return mine, theirs


@click.command(
    "cube",
    epilog=examples(
        "nardcore cube --win 0.77",
        "nardcore cube --win 0.77 --rules short_dave --stake 2 --holder owned",
        "nardcore cube XGID=-b----E-C---eE---c-e----B-:0:0:1:00 --match 3,5",
        "nardcore cube --win 0.4 --match 3,1 --met Kazaross-XG2.xml --json",
        "nardcore cube - --table money.nct < positions.txt",
    ),
)
@click.argument("text", metavar="[POSITION]", required=False)
@rules_option
@click.option(
    "--win",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="The chance to win of the side on roll, in place of a position.",
)
@click.option("--stake", type=COUNT, default=1, show_default=True, metavar="N", help="The stake.")
@click.option(
    "--holder",
    type=click.Choice(("centred", "owned", "opponent")),
    help="Who may raise it: both, the side on roll, or the other. Both at a stake of 1, else the "
    "side on roll, by default.",
)
@click.option(
    "--match",
    type=Written("score", _score),
    metavar="M,N",
    help="Points that the side on roll and the other still need; money play by default.",
)
@click.option("--crawford", is_flag=True, help="This is the Crawford game.")
@click.option(
    "--met",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A match equity table in gnubg's XML; computed by default.",
)
@click.option(
    "--efficiency",
    type=click.FloatRange(0, 1),
    default=EFFICIENCY,
    show_default=True,
    metavar="X",
    help="The weight of the live cube: 0 for a dead one.",
)
@click.option(
    "--table",
    "tables",
    type=click.Path(exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="A two-sided bear-off table, for exact chances and worths; may be repeated.",
)
@click.option(
    "--games",
    type=COUNT,
    default=GAMES,
    show_default=True,
    metavar="N",
    help="How many games a position is rolled out for where no table and no net knows it.",
)
@click.option(
    "--cubeful",
    type=COUNT,
    metavar="N",
    help="Also play a position out so many times with the stake.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="The seed of the dice of --cubeful.",
)
@json_option
def command(
    text: str | None,
    rules: Rules | None,
    win: float | None,
    stake: int,
    holder: Literal["centred", "owned", "opponent"] | None,
    match: tuple[int, int] | None,
    crawford: bool,
    met: str | None,
    efficiency: float,
    tables: tuple[str, ...],
    games: int,
    cubeful: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Advise whether to raise the stake before a throw, and whether to accept.

    POSITION is nardcore's text, a gnubg position ID, an XGID, the word start, or - for one a line
    on standard input. Give it, or --win. All numbers are those of the side on roll. What a whole
    XGID, a match ID or a FIBS line says of cube and score counts where no option says otherwise.
    """
    if (text is None) is (win is None):
        msg = "give either a position or --win"
        raise click.UsageError(msg)
    from nardcore.bearoff import TwoSided
    from nardcore.cube import cube_decision, rollout_cubeful
    from nardcore.match_equity import MatchEquity

    names = {"stake": "stake", "cube": "holder", "match": "match", "crawford": "crawford"}
    asked = click.get_current_context().get_parameter_source
    given = {key for key, name in names.items() if asked(name) is ParameterSource.COMMANDLINE}
    # who may raise goes with the stake, and the Crawford game with the score
    given |= {other for key, other in (("stake", "cube"), ("match", "crawford")) if key in given}
    terms: dict[str, Any] = {
        "stake": stake,
        "cube": holder or ("centred" if stake == 1 else "owned"),
        "match": match,
        "crawford": crawford,
        "met": None if met is None else MatchEquity.read(met),
        "efficiency": efficiency,
    }
    if win is not None:
        if cubeful is not None:
            msg = "--cubeful needs a position"
            raise click.UsageError(msg)
        _show(cube_decision(win, rules=rules, **terms), None, rules, None, as_json)
        return
    opened = [TwoSided.open(path) for path in tables]
    for number, one in enumerate(read_positions(text, rules)):
        if number and not as_json:
            click.echo()
        position, own = one.position, terms
        if one.state is not None:
            told = one.state.terms()
            position = one.state.position.with_rules(told.pop("rules"))
            own = terms | {key: value for key, value in told.items() if key not in given}
        made = cube_decision(position, tables=opened, games=games, **own)
        played = None
        if cubeful is not None:
            played = rollout_cubeful(position, games=cubeful, seed=seed, **own)
        _show(made, Given(position, None), position.rules, played, as_json)


def _show(
    decision: CubeDecision,
    given: Given | None,
    rules: Rules | None,
    played: CubefulResult | None,
    as_json: bool,
) -> None:
    name = (rules or BACKGAMMON).name
    if as_json:
        text = None if given is None else given.position.text()
        more: dict[str, Any] = {"value": decision.value, "advice": decision.advice}
        if played is not None:
            more["cubeful"] = played.to_dict()
        echo_json({"position": text, "rules": name, **asdict(decision), **more})
        return
    if given is None:
        who = "side on roll"
    else:
        who = side(given.position)
        click.echo(given.position.text())
    holder = {"centred": "both may raise", "owned": f"{who} may raise", "opponent": ""}
    right = holder[decision.cube] or "the other side may raise"
    score = "money" if decision.match is None else "{} away, {} away".format(*decision.match)
    if decision.crawford:
        score += ", Crawford game"
    click.echo(f"{who}: {score}, stake {decision.stake}, {right}")
    click.echo()
    unit = "points a game" if decision.match is None else "% of matches"

    def amount(value: float) -> str:
        return f"{value:+.4f}" if decision.match is None else f"{100 * value:.2f}"

    worths = {"not raising": decision.hold}
    if decision.allowed:
        worths |= {"accepted": decision.accepted, "refused": decision.refused}
    click.echo(f"{'wins':<14} {100 * decision.win:.2f} %")
    for title, value in worths.items():
        click.echo(f"{title:<14} {amount(value)} {unit}")
    if decision.allowed:
        click.echo(f"{'refuse below':<14} {100 * decision.refusal_point:.2f} %")
        if decision.offer_point <= 1:
            click.echo(f"{'offer from':<14} {100 * decision.offer_point:.2f} %")
    click.echo(f"{'advice':<14} {decision.advice}{' (exact)' if decision.exact else ''}")
    if played is not None:
        mean, low, high = (amount(value) for value in (played.cubeful, *played.ci()))
        click.echo(
            f"{'played out':<14} {mean} {unit}, 95 % from {low} to {high} ({played.games:,} games "
            f"by {played.policies[0]}, decisions by {played.judge})"
        )
