"""From what readers of games find to checked records, with the limits of a text."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from nardcore.errors import FormatError
from nardcore.formats._text import (
    MAX_ENTRIES,
    MAX_GAMES,
    MAX_PROBLEMS,
    MAX_REMARKS,
    MAX_STAKE,
    MAX_TURNS,
    Line,
)
from nardcore.records import (
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Move,
    Resignation,
    Throw,
    check,
    enter_steps,
)

if TYPE_CHECKING:
    from nardcore._board import Position
    from nardcore.records import Entry, Steps
    from nardcore.rules import Rules
    from nardcore.typing import Side

__all__ = [
    "Budget",
    "Draft",
    "begun",
    "canonical",
    "check_limits",
    "conceded",
    "crawford_games",
    "hits",
    "last_positions",
    "other",
    "settle",
    "stake_after",
    "steps_of",
    "throws_to_write",
    "with_first_throw",
]


class Budget:
    """How much of a text's allowance is left."""

    def __init__(self) -> None:
        self.games = self.entries = self.remarks = self.problems = 0

    def game(self, line: int | None) -> None:
        """Count a game."""
        self.games += 1
        if self.games > MAX_GAMES:
            msg = f"more than {MAX_GAMES:,} games"
            raise FormatError(msg, line=line)

    def entry(self, line: int | None) -> None:
        """Count a move or an offer."""
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            msg = f"more than {MAX_ENTRIES:,} moves"
            raise FormatError(msg, line=line)

    def remark(self, line: int | None) -> None:
        """Count a heading, a remark or a throw for the first move."""
        self.remarks += 1
        if self.remarks > MAX_REMARKS:
            msg = f"more than {MAX_REMARKS:,} headings and remarks"
            raise FormatError(msg, line=line)

    def check(self, game: GameRecord, *, again: bool = True) -> GameRecord:
        """Check a game, if it is not checked already, and count what is wrong in it."""
        if len(game.entries) > MAX_TURNS:
            msg = f"a game of more than {MAX_TURNS:,} turns"
            raise FormatError(msg, line=game.entries[-1].line)
        checked = check(game) if again else game
        self.problems += sum(entry.problem is not None for entry in checked.entries)
        if self.problems > MAX_PROBLEMS:
            line = checked.entries[-1].line
            msg = f"more than {MAX_PROBLEMS:,} illegal plays: this is no record of this game"
            raise FormatError(msg, line=line)
        return checked


def check_limits(match: MatchRecord) -> None:
    """Refuse to write what no reader would take back."""
    budget = Budget()
    for number, game in enumerate(match.games, 1):
        try:
            budget.game(None)
            for _ in game.entries:
                budget.entry(None)
            budget.check(game, again=False)
        except FormatError as error:
            msg = f"game {number} is too much for one text: {error}"
            raise FormatError(msg) from error


@dataclass
class Draft:
    """A game being read."""

    rules: Rules
    number: int = 1
    line: int = 0
    start: Position | None = None
    first: Side | None = None
    throws: list[Throw] = field(default_factory=list)
    score: tuple[int, int] = (0, 0)
    crawford: bool = False
    stake: int = 1
    owner: Side | None = None
    entries: list[Entry] = field(default_factory=list)
    result: GameResult | None = None
    comment: str = ""
    length: int = 0
    offered: int | None = None
    running: tuple[int, int | None] | None = None

    def add(self, entry: Entry, budget: Budget) -> None:
        """Append an entry."""
        budget.entry(entry.line)
        self.entries.append(entry)
        if isinstance(entry, CubeAction):
            self.offered = entry.value
        self.running = _raised(self.now(), self.running[1] if self.running else None, entry)

    def now(self) -> int:
        """Tell the stake of this moment."""
        if self.running:
            return self.running[0]
        equal = sum(throw.white == throw.black for throw in self.throws)
        return self.stake << min(self.rules.auto_doubles, equal)

    def next_value(self) -> int:
        """Tell the stake that an offer without a number means."""
        now = self.now() if self.offered is None else max(self.now(), self.offered)
        return now + 1 if self.rules.stake == "dave_arithmetic" else min(2 * now, MAX_STAKE)

    def record(self) -> GameRecord:
        """Make it a record."""
        return GameRecord(
            self.rules,
            start=self.start,
            first=self.first,
            throws=tuple(self.throws),
            score=self.score,
            crawford=self.crawford,
            stake=self.stake,
            owner=self.owner,
            entries=tuple(self.entries),
            result=self.result,
            comment=self.comment,
            length=self.length,
        )


def other(side: Side) -> Side:
    """Give the other side."""
    return "b" if side == "w" else "w"


def stake_after(game: GameRecord) -> int:
    """Tell what is played for after the entries of a game."""
    stake, pending = game.stake << min(game.rules.auto_doubles, game.equal_throws), None
    for entry in game.entries:
        stake, pending = _raised(stake, pending, entry)
    return stake


def _raised(stake: int, pending: int | None, entry: Entry) -> tuple[int, int | None]:
    """Give the stake after an entry, and the one that is offered."""
    if isinstance(entry, CubeAction):
        if entry.action == "offer":
            return stake, entry.value
        if entry.action == "accept":
            return entry.value, None
        if entry.action == "beaver":
            return pending or stake, entry.value
        return stake, None
    if isinstance(entry, Move) and pending is not None:
        return pending, None  # nobody wrote the answer down
    return stake, pending


def conceded(rules: Rules, points: int, stake: int) -> int:
    """Tell the loser's state that is worth so many points, as far as the scoring table tells."""
    each, rest = divmod(points, stake)
    worth = tuple(rules.points)
    return worth.index(each) if not rest and each in worth else 0


def settle(game: GameRecord, winner: Side, points: int, line: int | None = None) -> GameRecord:
    """Add a result of which only winner and points are known.

    What ended the game follows from its last entry and last position. Where nothing did, the loser
    has resigned, and a roll without a play that could have been played has not been played.
    """
    stake = stake_after(game)
    last = game.entries[-1] if game.entries else None
    entries = game.entries
    state = 0
    reason = "resigned"
    if isinstance(last, CubeAction) and last.action == "refuse":
        reason = "refused" if last.side != winner else "unknown"
    elif isinstance(last, Resignation) and last.accepted:
        state = last.state if last.state is not None else conceded(game.rules, points, stake)
        reason = "resigned" if last.side != winner else "unknown"
    else:
        before, final = last_positions(game)
        if final.outcome is not None:
            state = final.outcome % 5
            won = final.turn if final.outcome < 5 else other(final.turn)
            reason = "played" if won == winner else "unknown"
        elif entries or points:
            if isinstance(last, Move) and last.steps == () and last.dice:
                plays = before.plays(last.dice)
                if len(plays) and plays[0].dice_used:
                    entries = (*entries[:-1], dataclasses.replace(last, steps=None))
            state = conceded(game.rules, points, stake)
            entries = (*entries, Resignation(other(winner), state, line=line))
    result = GameResult(winner, state, points, stake, reason)  # type: ignore[arg-type]
    return dataclasses.replace(game, entries=entries, result=result)


def last_positions(game: GameRecord) -> tuple[Position, Position]:
    """Give the positions before and after the last entry."""
    before = game.opening
    for _, position in game.positions():
        before = position
    last = game.entries[-1] if game.entries else None
    return before, enter_steps(before, last)[0] if isinstance(last, Move) else before


def begun(game: GameRecord) -> GameRecord:
    """Fill in what a record shows anyway: who began, and the throw that is the first roll."""
    if game.first is None and (game.entries or game.throws):
        game = dataclasses.replace(game, first=game.starter)
    return with_first_throw(game)


def throws_to_write(game: GameRecord) -> tuple[Throw, ...]:
    """Give the throws for the first move that readers would not see from the first roll."""
    seen = with_first_throw(dataclasses.replace(game, throws=()))
    return () if seen.throws == game.throws else game.throws


def crawford_games(games: list[GameRecord], length: int, rules: Rules) -> list[GameRecord]:
    """Mark the Crawford game of a match in texts that do not name it."""
    if length < 2 or not rules.crawford or rules.stake != "cube":
        return games
    for at, game in enumerate(games):
        if length - 1 in game.score:
            return [*games[:at], dataclasses.replace(game, crawford=True), *games[at + 1 :]]
    return games


def with_first_throw(game: GameRecord) -> GameRecord:
    """Add the throw for the first move where the first roll is made of it and none is known."""
    if game.throws:
        return game
    rules = game.rules
    thrown = rules.opening == "use_dice" and rules.next_starter == "roll" and game.start is None
    first = game.entries[0] if game.entries else None
    if not (thrown and isinstance(first, Move) and first.dice and first.dice[0] != first.dice[1]):
        return game
    larger, smaller = first.dice
    throw = Throw(larger, smaller) if first.side == "w" else Throw(smaller, larger)
    return dataclasses.replace(game, throws=(throw,))


def canonical(match: MatchRecord) -> MatchRecord:
    """Give a match as readers of `.mat` and SGF give it back, which fill in what shows anyway.

    Who began is the side of the first entry, and the throw for the first move is the first roll
    where the rules say so and no throws were recorded.
    """
    return dataclasses.replace(match, games=tuple(check(begun(game)) for game in match.games))


# ---------------------------------------------------------------------------------------- plays

_WORD = r"(?:bar|off|[0-9]{1,2})"
_CHAIN = re.compile(
    rf"\s*({_WORD}(?:/{_WORD}\*?)+)(?:\(([1-8])\))?(\*?)[,;]?(?=\s|$)", re.IGNORECASE
)
_MOST_STEPS = 16


def steps_of(line: Line, text: str, at: int) -> Steps:
    """Read hops in own numbers, legal or not: ``bar/20*``, ``13/7/3``, ``8/7(2)``, ``6/0``."""
    steps: list[tuple[int, int]] = []
    end = len(text.rstrip())
    here = 0
    while here < end:
        found = _CHAIN.match(text, here)
        if found is None:
            here += len(text[here:]) - len(text[here:].lstrip())
            line.fail(f"{text[here : here + 40].strip()!r} is no play", at + here)
        stops = [_number(word) for word in found[1].replace("*", "").split("/")]
        if max(stops) > 25:
            line.fail(f"there is no point {max(stops)}", at + found.start(1))
        steps += list(pairwise(stops)) * int(found[2] or 1)
        if len(steps) > _MOST_STEPS:
            line.fail(f"a play of more than {_MOST_STEPS} steps", at + here)
        here = found.end()
    return tuple(steps)


def _number(word: str) -> int:
    return {"bar": 25, "off": 0}.get(word.lower(), -1) if word[0].isalpha() else int(word)


def hits(position: Position, steps: Steps) -> list[bool]:
    """Tell of each step, as far as the position knows, whether it hits."""
    if position.rules.movement == "long":
        return [False] * len(steps)
    blots = {point for point in range(1, 25) if position.points[point - 1] == -1}
    found = []
    for _, end in steps:
        found.append(end in blots)
        blots.discard(end)
    return found
