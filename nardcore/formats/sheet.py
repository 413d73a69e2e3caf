"""The score sheet: numbered pairs of turns, white on the left, as the source texts write games.

It holds everything a record holds, under every ruleset. Points may be named by each of the four
numberings.
"""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from nardcore._entries import MAX_LENGTH
from nardcore.errors import FormatError, InvalidPlayError, NardcoreError
from nardcore.formats._games import Budget, Draft, hits, settle
from nardcore.formats._text import (
    Line,
    lines_of,
    match_length,
    quoted,
    read_quoted,
    read_tag,
    reader,
    roll_of,
    short,
    whole_number,
    written_tag,
)
from nardcore.notation import NUMBERINGS, parse_point, point_name
from nardcore.records import (
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Move,
    Resignation,
    Throw,
    state_of,
)
from nardcore.rules import BACKGAMMON, STATES, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nardcore._board import Position
    from nardcore._entries import Action
    from nardcore.records import Entry, Steps
    from nardcore.typing import Numbering, Side

__all__ = ["looks_like_sheet", "parse_sheet", "sheet_text"]

_SIDES: dict[str, Side] = {
    "white": "w",
    "black": "b",
    "w": "w",
    "b": "b",
    "белые": "w",
    "чёрные": "b",
    "черные": "b",
    "білі": "w",
    "чорні": "b",
}
_NAMES = {"w": "White", "b": "Black"}
_WIDTH = 34
_NOTHING = "..."

# -------------------------------------------------------------------------------------- writing


def _value(text: str) -> str:
    """Write a value after ``Key:``, quoted where it would not come back as it is."""
    plain = text and text == text.strip() and text.isprintable() and text[0] != '"'
    return text if plain and "\\" not in text else quoted(text)


def _comment(text: str) -> str:
    """Write a remark in braces."""
    return "{" + quoted(text)[1:-1].replace("}", "\\u007d") + "}"


def _play(move: Move, position: Position, numbering: Numbering) -> str:
    if move.steps is None:
        return "???"
    if not move.steps:
        return "pass"
    rules = position.rules
    words = []
    for (start, end), hit in zip(move.steps, hits(position, move.steps), strict=True):
        names = [point_name(point, rules, move.side, numbering) for point in (start, end)]
        words.append("/".join(names) + "*" * hit)
    return " ".join(words)


def _cell(entry: Entry, position: Position, numbering: Numbering) -> str:
    if isinstance(entry, Move):
        dice = "?-?" if entry.dice is None else "{}-{}".format(*entry.dice)
        text = f"{dice}: {_play(entry, position, numbering)}"
    elif isinstance(entry, CubeAction):
        verb = {"offer": "offers", "accept": "accepts", "refuse": "refuses", "beaver": "beavers"}
        text = f"{verb[entry.action]} {entry.value}"
    else:
        text = "resigns" if entry.state is None else f"resigns {STATES[entry.state]}"
        if not entry.accepted:
            text += " (refused)"
    return f"{text} {_comment(entry.comment)}" if entry.comment else text


def _turns(game: GameRecord, numbering: Numbering) -> Iterator[str]:
    """Pair the entries: white's on the left, black's on the right."""
    number = 0
    left: str | None = None

    def row(right: str) -> str:
        nonlocal number, left
        number += 1
        cells = f"{left or _NOTHING:<{_WIDTH}}  {right}" if right else f"{left}"
        left = None
        return f"{number:>3}. {cells}".rstrip()

    for entry, position in game.positions():
        cell = _cell(entry, position, numbering)
        if entry.side == "b":
            yield row(cell)
            continue
        if left is not None:
            yield row("")
        left = cell
    if left is not None:
        yield row("")


def _head(match: MatchRecord, numbering: Numbering) -> Iterator[str]:
    yield f"Rules: {match.rules.name}"
    if numbering != "own":
        yield f"Numbering: {numbering}"
    yield f"White: {_value(match.white)}"
    yield f"Black: {_value(match.black)}"
    wants = [f"{match.length} points"] * (match.length > 0)
    wants += [f"{match.games_to_play} games"] * (match.games_to_play > 0)
    if wants:
        yield f"Match: {', '.join(wants)}"
    for key, value in match.info:
        yield written_tag(key, value)


def _game(number: int, game: GameRecord, match: MatchRecord, numbering: Numbering) -> Iterator[str]:
    yield ""
    yield f"Game {number}"
    if game.rules != match.rules:
        yield f"Rules: {game.rules.name}"
    if game.score != (0, 0):
        yield f"Score: {game.score[0]}-{game.score[1]}"
    if game.crawford:
        yield "Crawford: yes"
    if game.stake != 1 or game.owner is not None:
        owner = "" if game.owner is None else f", {_NAMES[game.owner]}"
        yield f"Stake: {game.stake}{owner}"
    if game.first is not None:
        yield f"First: {_NAMES[game.first]}"
    if game.start is not None:
        yield f"Start: {game.start.text()}"
    if game.throws:
        yield "Throws: " + " ".join(f"{one.white}-{one.black}" for one in game.throws)
    if game.comment:
        yield f"Comment: {_value(game.comment)}"
    yield from _turns(game, numbering)
    if game.result is not None:
        won = game.result
        points = f"{won.points} point" + "s" * (won.points != 1)
        yield (f"{_NAMES[won.winner]} wins {points} ({won.name}, stake {won.stake}, {won.reason})")


def sheet_text(match: MatchRecord, *, numbering: Numbering = "own") -> str:
    """Write a match as a score sheet.

    Parameters
    ----------
    match : MatchRecord
        Of any rules.
    numbering : {"own", "traditional", "through", "roman"}
        How points are named. All but ``"own"`` are white's names, used for both sides.

    Returns
    -------
    str
        Lines.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.sheet import sheet_text
    >>> from nardcore.records import GameRecord, MatchRecord, Move
    >>> moves = Move("w", (5, 3), ((8, 3), (6, 3))), Move("b", (6, 1), ((13, 7), (8, 7)))
    >>> game = GameRecord(nc.TRIKTRAK, entries=moves)
    >>> print(sheet_text(MatchRecord(nc.TRIKTRAK, games=(game,)), numbering="traditional"))
    Rules: triktrak
    Numbering: traditional
    White: White
    Black: Black
    <BLANKLINE>
    Game 1
      1. 5-3: 8/3 6/3                        6-1: 12/07 08/07
    """
    if numbering not in NUMBERINGS:
        msg = f"unknown numbering {numbering!r}; expected one of {', '.join(NUMBERINGS)}"
        raise ValueError(msg)
    lines = list(_head(match, numbering))
    for number, game in enumerate(match.games, 1):
        lines += _game(number, game, match, numbering)
    return "\n".join(lines) + "\n"


# -------------------------------------------------------------------------------------- reading

_GAME = re.compile(r"\s*(?:game|партия|партія|гра)\s+([0-9]{1,6})\.?\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*([0-9]{1,6})\s?[.)](?![0-9])")
_KEY = re.compile(r"\s*([A-Za-z]+)\s*:\s*(.*)")
_DICE = re.compile(r"([1-6])\s?[-–—:]\s?([1-6])(?![0-9/])\s*:?|([1-6])([1-6])(?![0-9/]):?")
_NO_DICE = re.compile(r"\?\s?[-–—]\s?\?\s*:?")
_EMPTY = re.compile(r"(?:\.\.\.|…|--)(?=\s|$|\{)")
_ACTIONS: tuple[tuple[re.Pattern[str], Action], ...] = tuple(
    (
        re.compile(rf"(?:{words})(?:\s*(?:=>|to|at)?\s*([0-9]{{1,600}}))?(?![\w/])", re.IGNORECASE),
        act,  # type: ignore[misc]
    )
    for words, act in (
        ("offers?|doubles?|redoubles?|raises?|dave|дейв|даве", "offer"),
        ("accepts?|takes?|принимает|принял", "accept"),
        ("refuses?|drops?|declines?|отказ|отказывается", "refuse"),
        ("beavers?", "beaver"),
    )
)
_RESIGNS = re.compile(
    r"(?:resigns?|сдаётся|сдается)(?:\s+(any_off|all_home|outside|winner_home|bar)(?!\w))?"
    r"(\s*\(refused\))?(?!\w)",
    re.IGNORECASE,
)
_UNKNOWN_PLAY = re.compile(r"\?\?\?")
_PASS = re.compile(r"(?:pass|пас|no play|cannot move|can't move|-(?=\s|$))(?!\w)", re.IGNORECASE)
_POINT = r"(?:[0-9]{1,3}|[IVXivx]{1,4}|[A-Za-zА-Яа-яёіїєґ]{2,5})"
_CHAIN = re.compile(rf"({_POINT}(?:/{_POINT}\*?)+)(?:\(([1-8])\))?(\*?)[,;]?(?=\s|$|\{{)")
_RESULT = re.compile(
    r"\s*(\S.{0,200}?)\s+wins?\s+([0-9]{1,600})(?:\s+points?)?\s*(?:\(([^()]{0,100})\))?\s*\.?",
    re.IGNORECASE,
)
_FOREIGN = {"бар": "bar", "двор": "off", "двір": "off", "вон": "off"}
_MOST_STEPS = 16


def looks_like_sheet(text: str) -> bool:
    """Say whether a text begins as a score sheet does."""
    for line in text[:20_000].splitlines()[:200]:
        if re.match(r"\s*(?:Rules|Numbering)\s*:", line):
            return True
        if re.match(r"\s*1\s?[.)]\s*(?:[1-6]\s?[-–—]\s?[1-6]\b|[1-6]{2}\s|\.\.\.|…)", line):
            return True
    return False


class _Reader:
    """A score sheet being read."""

    def __init__(self, rules: Rules | None) -> None:
        self.rules = rules or BACKGAMMON
        self.numbering: Numbering = "own"
        self.names = {"w": "White", "b": "Black"}
        self.length = self.games_to_play = 0
        self.info: list[tuple[str, str]] = []
        self.games: list[GameRecord] = []
        self.budget = Budget()
        self.game: Draft | None = None
        self.remarks: list[str] = []  # on the game
        self.ended: tuple[Side, int, str | None, Line] | None = None

    # ------------------------------------------------------------------------------- lines

    def read(self, text: str) -> MatchRecord:
        for line in lines_of(text):
            if line.text.strip():
                self.line(line)
        self.finish()
        return MatchRecord(
            self.rules,
            white=self.names["w"],
            black=self.names["b"],
            length=self.length,
            games_to_play=self.games_to_play,
            games=tuple(
                self.budget.check(dataclasses.replace(game, length=self.length))
                for game in self.games
            ),
            info=tuple(self.info),
        )

    def line(self, line: Line) -> None:
        text = line.text
        found = _GAME.fullmatch(text)
        if found:
            self.begin(line, int(found[1]))
            return
        found = _NUMBERED.match(text)
        if found:
            self.cells(line, found.end())
            return
        stripped = text.strip()
        if stripped[0] == "{" and self.game is not None:
            self.cells(line, 0)
            return
        if stripped[0] in "#;":
            return
        tag = read_tag(stripped)
        if tag:
            self.budget.remark(line.number)
            self.info.append(tag)
            return
        found = _KEY.fullmatch(text)
        if found and self.key(line, found[1].lower(), found[2], found.start(2)):
            return
        found = _RESULT.fullmatch(text)
        if found:
            self.result(line, found)
            return
        line.fail(f"{short(stripped)} is no line of a score sheet", len(text) - len(text.lstrip()))

    def begin(self, line: Line, number: int = 1) -> Draft:
        self.finish()
        self.budget.game(line.number)
        self.game = Draft(self.rules, number, line.number)
        return self.game

    def current(self, line: Line) -> Draft:
        if self.game is None or self.ended is not None:
            return self.begin(line)
        return self.game

    def finish(self) -> None:
        """Close the game that is being read."""
        if self.game is None:
            return
        if self.remarks:
            self.game.comment = "\n".join(filter(None, [self.game.comment, *self.remarks]))
            self.remarks = []
        game = self.game.record()
        if self.ended is not None:
            winner, points, how, line = self.ended
            if how is None:
                game = settle(game, winner, points, line.number)
            else:
                game = dataclasses.replace(game, result=_how(winner, points, how, line))
        self.games.append(game)
        self.game, self.ended = None, None

    # -------------------------------------------------------------------------------- keys

    def key(self, line: Line, key: str, value: str, at: int) -> bool:
        """Take a line ``Key: value``; False for a key that is not known."""
        if value.startswith('"'):
            found = read_quoted(value, 0)
            if found is None or found[1] != len(value.rstrip()):
                line.fail(f"{short(value)} is no quoted text", at)
            value = found[0]
        if key == "rules":
            try:
                rules = Rules.parse(value)
            except (NardcoreError, ValueError) as error:
                line.fail(str(error), at)
            if self.game is None or self.ended is not None:
                if self.games or self.game:
                    line.fail("rules after the first game stand below 'Game'", at)
                self.rules = rules
            else:
                self.game.rules = rules
        elif key == "numbering":
            if value not in NUMBERINGS:
                line.fail(f"expected one of {', '.join(NUMBERINGS)}, not {short(value)}", at)
            self.numbering = value
        elif key in ("white", "black"):
            self.names[key[0]] = value
        elif key == "match":
            self.match(line, value, at)
        else:
            return self.game_key(line, key, value, at)
        return True

    def match(self, line: Line, value: str, at: int) -> None:
        for part in value.split(","):
            found = re.fullmatch(r"\s*(?:to\s+)?([0-9]{1,600})\s*(points?|games?)?\s*", part)
            number = match_length(found[1]) if found else None
            if found is None or number is None:
                what = f"expected a number of points or games, at most {MAX_LENGTH:,}"
                line.fail(f"{what}, not {short(part.strip())}", at)
            if (found[2] or "").startswith("game"):
                self.games_to_play = number
            else:
                self.length = number

    def game_key(self, line: Line, key: str, value: str, at: int) -> bool:
        if key not in ("score", "crawford", "stake", "first", "start", "throws", "comment"):
            return False
        game = self.current(line)
        if key == "score":
            found = re.fullmatch(r"\s*([0-9]{1,600})\s*[-:–]\s*([0-9]{1,600})\s*", value)
            white, black = (whole_number(found[k]) if found else None for k in (1, 2))
            if white is None or black is None:
                line.fail(f"expected a score such as 2-1, not {short(value)}", at)
            game.score = (white, black)
        elif key == "crawford":
            if value.strip().lower() not in ("yes", "no"):
                line.fail(f"expected yes or no, not {short(value)}", at)
            game.crawford = value.strip().lower() == "yes"
        elif key == "stake":
            number, _, owner = value.partition(",")
            stake = whole_number(number.strip())
            if not stake:
                line.fail(f"expected a stake, not {short(value)}", at)
            game.stake = stake
            game.owner = self.side(line, owner.strip(), at) if owner.strip() else None
        elif key == "first":
            game.first = self.side(line, value.strip(), at)
        elif key == "start":
            game.start = self.start(line, value, at)
        elif key == "throws":
            for pair in value.split():
                self.budget.remark(line.number)
                found = re.fullmatch(r"([1-6])[-–:]([1-6])", pair)
                if found is None:
                    line.fail(f"expected a die of each side such as 5-3, not {short(pair)}", at)
                game.throws.append(Throw(int(found[1]), int(found[2])))
        else:
            game.comment = value
        return True

    def side(self, line: Line, text: str, at: int) -> Side:
        side = _SIDES.get(text.lower())
        for each in ("w", "b"):
            if side is None and text and text == self.names[each]:
                side = each
        if side is None:
            line.fail(f"expected White or Black, not {short(text)}", at)
        return side

    def start(self, line: Line, value: str, at: int) -> Position:
        from nardcore._board import Position

        try:
            return Position.parse(value)
        except NardcoreError as error:
            what = error.args[0] if isinstance(error, FormatError) else str(error)
            line.fail(str(what), at + (getattr(error, "column", None) or 1) - 1)

    def result(self, line: Line, found: re.Match[str]) -> None:
        if self.game is None or self.ended is not None:
            line.fail("a result without a game")
        points = whole_number(found[2])
        if points is None:
            line.fail(f"a game is not won by {found[2]} points", found.start(2))
        winner = self.side(line, found[1], found.start(1))
        self.ended = (winner, points, found[3], line)

    # ------------------------------------------------------------------------------- cells

    def cells(self, line: Line, at: int) -> None:
        game = self.current(line)
        text = line.text
        column = 0
        last: Entry | None = None
        while True:
            while at < len(text) and text[at] == " ":
                at += 1
            if at >= len(text):
                return
            if text[at] == "{":
                self.budget.remark(line.number)
                words, at = self.remark(line, at)
                if last is None:
                    self.remarks.append(words)
                else:
                    last = dataclasses.replace(last, comment=words)
                    game.entries[-1] = last
                continue
            if column > 1:
                line.fail("more than two turns under one number", at)
            found = _EMPTY.match(text, at)
            if found:
                at, column = found.end(), column + 1
                continue
            side: Side = "b" if column else "w"
            last, at = self.entry(line, at, side, game)
            game.add(last, self.budget)
            column += 1

    def remark(self, line: Line, at: int) -> tuple[str, int]:
        end = line.text.find("}", at)
        if end < 0:
            line.fail("a remark is not closed by }", at)
        raw = line.text[at + 1 : end]
        found = read_quoted(f'"{raw}"', 0)
        whole = found is not None and found[1] == len(raw) + 2
        return (found[0] if found and whole else raw), end + 1

    def entry(self, line: Line, at: int, side: Side, game: Draft) -> tuple[Entry, int]:
        text = line.text
        found = _DICE.match(text, at)
        if found:
            digits = (found[1] or found[3]) + (found[2] or found[4])
            steps, at = self.play(line, found.end(), side, game)
            return Move(side, roll_of(digits), steps, line=line.number), at
        found = _NO_DICE.match(text, at)
        if found:
            steps, at = self.play(line, found.end(), side, game)
            return Move(side, None, steps, line=line.number), at
        for pattern, action in _ACTIONS:
            found = pattern.match(text, at)
            if found:
                return self.action(line, found, side, action, game), found.end()
        found = _RESIGNS.match(text, at)
        if found:
            state = None if found[1] is None else state_of(found[1].lower())
            return Resignation(side, state, found[2] is None, line=line.number), found.end()
        return line.fail(f"expected dice such as 5-3 or an action, not {short(text[at:])}", at)

    def action(
        self, line: Line, found: re.Match[str], side: Side, action: Action, game: Draft
    ) -> CubeAction:
        value: int | None
        if found[1]:
            value = whole_number(found[1])
            if not value:
                line.fail(f"{found[1]} is no stake", found.start(1))
        elif action in ("offer", "beaver"):
            value = game.next_value()
        else:
            value = game.offered if game.offered is not None else game.now()
        return CubeAction(side, action, value, line=line.number)

    def play(self, line: Line, at: int, side: Side, game: Draft) -> tuple[Steps | None, int]:
        """Read what was played; nothing written is a pass."""
        text = line.text
        at += len(text[at:]) - len(text[at:].lstrip(" "))
        found = _UNKNOWN_PLAY.match(text, at)
        if found:
            return None, found.end()
        found = _PASS.match(text, at)
        if found:
            return (), found.end()
        steps: list[tuple[int, int]] = []
        while True:
            found = _CHAIN.match(text, at)
            if found is None:
                return tuple(steps), at
            stops = []
            for word in found[1].replace("*", "").split("/"):
                name = _FOREIGN.get(word.lower(), word)
                try:
                    stops.append(parse_point(name, game.rules, side, self.numbering))
                except InvalidPlayError as error:
                    line.fail(str(error), at)
            steps += list(pairwise(stops)) * int(found[2] or 1)
            if len(steps) > _MOST_STEPS:
                line.fail(f"a play of more than {_MOST_STEPS} steps", at)
            at = found.end()
            at += len(text[at:]) - len(text[at:].lstrip(" "))


def _how(winner: Side, points: int, how: str, line: Line) -> GameResult:
    """Read what stands in brackets after a result: the loser's state, the stake, the reason."""
    words = [word.strip() for word in how.split(",")]
    try:
        state, stake, reason = words
        number = whole_number(stake.removeprefix("stake ").strip())
        return GameResult(winner, state_of(state), points, number or 0, reason)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        line.fail(f"expected such as (all_home, stake 2, played), not ({short(how)})")


@reader
def parse_sheet(text: str, rules: Rules | None = None) -> MatchRecord:
    r"""Read a score sheet.

    Parameters
    ----------
    text
        Lines ``1. 5-3 8/3 6/3   6-4 24/14`` with or without headings. ``...`` is an empty cell,
        ``{...}`` a remark. The points are named as the line ``Numbering:`` says.
    rules
        What to read a sheet under that does not name its rules; backgammon by default.

    Returns
    -------
    MatchRecord
        Plays that the rules forbid are kept, each with its line and the reason.

    Raises
    ------
    FormatError
        If a line cannot be read.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.sheet import parse_sheet
    >>> match = parse_sheet("1. 5–3 8/3 6/3  6-4 24/14\n2. 3-1 8/4", nc.TRIKTRAK)
    >>> [str(move) for move in match.games[0].entries]
    ['8/3 6/3', '24/14', '8/4']
    """
    return _Reader(rules).read(text)
