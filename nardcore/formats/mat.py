"""Matches as `.mat` files, in the dialects that programs write.

Jellyfish began it; gnubg, eXtreme Gammon, Backgammon Studio and Backgammon Galaxy write it, each in
its own way: the bar and the tray are words or 25 and 0, equal hops are repeated or counted in
brackets, a dance is a word or an empty cell, results stand on a line of their own or after the last
move.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from nardcore._entries import MAX_LENGTH
from nardcore.errors import FormatError, NardcoreError
from nardcore.formats._games import (
    Budget,
    Draft,
    begun,
    crawford_games,
    hits,
    last_positions,
    settle,
    steps_of,
    throws_to_write,
)
from nardcore.formats._text import (
    Line,
    lines_of,
    match_length,
    read_tag,
    reader,
    roll_of,
    short,
    whole_number,
    written_tag,
)
from nardcore.records import (
    CubeAction,
    GameRecord,
    MatchRecord,
    Move,
    Resignation,
    Throw,
)
from nardcore.rules import BACKGAMMON, HYPERGAMMON, NACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nardcore._board import Position
    from nardcore._entries import Action
    from nardcore.records import Entry
    from nardcore.typing import Side

__all__ = ["looks_like_mat", "mat_text", "parse_mat"]

Dialect: TypeAlias = Literal["words", "numbers"]

_VARIANTS = {"backgammon": BACKGAMMON, "nackgammon": NACKGAMMON, "hypergammon": HYPERGAMMON}
_FIRST_GAME = "First game"
_LEFT, _RIGHT = 5, 36

# -------------------------------------------------------------------------------------- reading

_MATCH = re.compile(r"\s*(\S+?)\s*[- ]?(?:point|pt\.?)s?\s*match.*", re.IGNORECASE)
_MONEY = re.compile(r"\s*(?:money|unlimited)\s+(?:game|match|session).*", re.IGNORECASE)
_GAME = re.compile(r"\s*game\s+([0-9]{1,6})\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*([0-9]{1,6})\)")
_DICE = re.compile(r"([1-6])([1-6]):(?![0-9])")
_SPACES = re.compile(r"\s+")
_WINS = re.compile(
    r"wins?\s+([0-9]{1,600})\s*(?:points?)?(?:\s+and\s+the\s+match)?\.?", re.IGNORECASE
)
_SCORE_END = re.compile(r":\s*([0-9]{1,600})(?=\s|$)")
_ACTIONS: tuple[tuple[re.Pattern[str], Action], ...] = (
    (re.compile(r"(?:re)?doubles?\s*(?:=>|to|at)?\s*([0-9]{1,600})?", re.IGNORECASE), "offer"),
    (re.compile(r"(?:takes?|accepts?)()(?![a-z])", re.IGNORECASE), "accept"),
    (re.compile(r"(?:drops?|pass(?:es)?|rejects?)()(?![a-z])", re.IGNORECASE), "refuse"),
    (re.compile(r"beavers?\s*(?:=>|to|at)?\s*([0-9]{1,600})?", re.IGNORECASE), "beaver"),
    (re.compile(r"raccoons?\s*(?:=>|to|at)?\s*([0-9]{1,600})?", re.IGNORECASE), "beaver"),
)
_RESIGNS = re.compile(r"resigns?(?:\s+(?:a\s+)?(single|gammon|backgammon))?", re.IGNORECASE)
_RESIGNED = {"single": 0, "gammon": 1, "backgammon": 3}
# A cell goes on up to the next of these.
_NEXT = re.compile(
    r"[1-6][1-6]:(?![0-9])|(?:re)?double|take|accept|drop|pass|reject|beaver|raccoon|win|resign",
    re.IGNORECASE,
)
_DANCE = re.compile(
    r"\(?(?:cannot move|can't move|no moves?|no play|no legal moves?|dances?)\)?", re.IGNORECASE
)
_THROWS = re.compile(r"Throws ([0-9]{1,6})")
_THROWN = re.compile(r"[1-6]-[1-6](?: [1-6]-[1-6]){0,999}")
_UNKNOWN = re.compile(r"\?{2,4}")
_ILLEGAL = re.compile(r"\(?illegal (?:play|move)\)?:?", re.IGNORECASE)


class _Cell(NamedTuple):
    at: int
    text: str


def looks_like_mat(text: str) -> bool:
    """Say whether a text begins as a `.mat` file does."""
    head = text[:20_000].splitlines()[:200]
    title = any(_MATCH.fullmatch(line) or _MONEY.fullmatch(line) for line in head)
    turns = any(re.match(r"\s*[0-9]{1,4}\)", line) for line in head)
    tags = any(line.lstrip().startswith("; [") for line in head)
    return title or (turns and (tags or any(_GAME.fullmatch(line) for line in head)))


class _Reader:
    """A `.mat` file being read."""

    def __init__(self, rules: Rules | None) -> None:
        self.base = rules
        self.rules = rules or BACKGAMMON
        self.names = ["", ""]
        self.length = 0
        self.info: list[tuple[str, str]] = []
        self.games: list[GameRecord] = []
        self.budget = Budget()
        self.game: Draft | None = None
        self.throws: dict[int, tuple[Throw, ...]] = {}  # for the first moves of games, by number
        self.won: tuple[Side, int, Line] | None = None
        self.column = _RIGHT  # where black's cells begin

    def read(self, text: str) -> MatchRecord:
        for line in lines_of(text):
            if line.text.strip():
                self.line(line)
        self.finish()
        games = [
            self.budget.check(dataclasses.replace(begun(game), length=self.length))
            for game in crawford_games(self.games, self.length, self.rules)
        ]
        return MatchRecord(
            self.rules,
            white=self.names[0] or "White",
            black=self.names[1] or "Black",
            length=self.length,
            games=tuple(games),
            info=tuple(self.info),
        )

    def line(self, line: Line) -> None:
        text = line.text
        stripped = text.strip()
        if stripped.startswith(";"):
            self.remark(line, stripped[1:].strip())
            return
        if _NUMBERED.match(text):
            self.turns(line)
            return
        found = _MATCH.fullmatch(text)
        if found:
            length = match_length(found[1])
            if length is None:
                what = f"a match to {short(found[1])} points; 0 to {MAX_LENGTH:,} are read"
                line.fail(what, found.start(1))
            self.length = length
        elif _MONEY.fullmatch(text):
            self.length = 0
        elif found := _GAME.fullmatch(text):
            self.begin(line, int(found[1]))
        elif self.game is not None and not self.game.entries and self.score(line):
            pass
        elif self.game is not None and (found := _WINS.fullmatch(stripped)):
            self.wins(line, _Cell(len(text) - len(text.lstrip()), stripped), found)
        elif self.game is not None:
            line.fail(f"{short(stripped)} is no line of a .mat file")

    # ---------------------------------------------------------------------------- headings

    def remark(self, line: Line, text: str) -> None:
        """Take ``; [Key "value"]``."""
        tag = read_tag(text)
        if tag is None:
            return
        self.budget.remark(line.number)
        key, value = tag
        name = key.lower()
        if name in ("player 1", "player 2"):
            self.names[int(name[-1]) - 1] = value
            return
        if name == "rules":
            try:
                self.rules = self.base or Rules.parse(value)
            except (NardcoreError, ValueError) as error:
                line.fail(str(error))
            return
        thrown = _THROWS.fullmatch(key), _THROWN.fullmatch(value)
        if thrown[0] and thrown[1]:
            throws = tuple(Throw(int(pair[0]), int(pair[2])) for pair in value.split())
            self.throws[int(thrown[0][1])] = throws
            return
        self.info.append(tag)
        if self.base is None:
            self.rules = _with_tag(self.rules, name, value)

    def begin(self, line: Line, number: int) -> None:
        self.finish()
        self.budget.game(line.number)
        if not self.games and number > 1:
            self.info.append((_FIRST_GAME, str(number)))
        throws = list(self.throws.pop(number, ()))
        self.game = Draft(self.rules, number, line.number, throws=throws)
        self.column = _RIGHT

    def score(self, line: Line) -> bool:
        """Take ``Alpha : 2      Beta : 1``; False for another line."""
        found = list(_SCORE_END.finditer(line.text))
        if len(found) < 2 or found[-1].end() != len(line.text):
            return False
        first, last = found[0], found[-1]
        names = line.text[: first.start()], line.text[first.end() : last.start()]
        scores = whole_number(first[1]), whole_number(last[1])
        if scores[0] is None or scores[1] is None:
            line.fail("a score that is no number")
        assert self.game is not None
        self.game.score = (scores[0], scores[1])
        for at, name in enumerate(names):
            self.names[at] = self.names[at] or name.strip()
        self.column = first.end() + len(names[1]) - len(names[1].lstrip())
        return True

    # ------------------------------------------------------------------------------- turns

    def turns(self, line: Line) -> None:
        """Take one numbered line with a cell of each side."""
        if self.game is None:
            self.begin(line, 1)
        assert self.game is not None
        cells = self.cells(line)
        if cells and self.won is not None:
            line.fail("a move after the game was won", cells[0].at)
        plays = [cell for cell in cells if not cell.text.lower().startswith("win")]
        if len(plays) > 2:
            line.fail("more than two turns under one number", plays[2].at)
        for at, cell in enumerate(plays):
            left = at == 0 and (len(plays) == 2 or not self.right(cell.at))
            entry = self.entry(line, cell, "w" if left else "b")
            self.game.add(entry, self.budget)
        for cell in cells:
            if cell not in plays:
                found = _WINS.fullmatch(cell.text)
                if found is None:
                    line.fail(f"{short(cell.text)} is no result", cell.at)
                self.wins(line, cell, found)

    def right(self, at: int) -> bool:
        """Say whether a place on the line is black's."""
        return at >= max(_LEFT + 7, self.column - 7)

    def cells(self, line: Line) -> list[_Cell]:
        text = line.text
        number = _NUMBERED.match(text)
        at = number.end() if number else 0
        found: list[_Cell] = []
        while at < len(text):
            blank = _SPACES.match(text, at)
            if blank:
                at = blank.end()
                continue
            start = _NEXT.match(text, at)
            if start is None:
                unknown = _UNKNOWN.match(text, at)
                if unknown is None:
                    line.fail(f"expected dice such as 31:, not {short(text[at:])}", at)
                start = unknown
            following = self.after_blank(text, start.end())
            stop = following.start() if following else len(text)
            found.append(_Cell(at, text[at:stop].rstrip()))
            at = stop
            if len(found) > 4:
                line.fail("more than two turns under one number", at)
        return found

    @staticmethod
    def after_blank(text: str, at: int) -> re.Match[str] | None:
        """Find the next beginning of a cell that a blank precedes."""
        for found in _NEXT.finditer(text, at):
            if text[found.start() - 1].isspace():
                return found
        return None

    def entry(self, line: Line, cell: _Cell, side: Side) -> Entry:
        assert self.game is not None
        found = _DICE.match(cell.text)
        if found:
            return self.move(line, cell, found, side)
        if _UNKNOWN.fullmatch(cell.text):
            return Move(side, None, None, line=line.number)
        for pattern, action in _ACTIONS:
            found = pattern.fullmatch(cell.text)
            if found is None:
                continue
            if found[1]:
                value = whole_number(found[1])
                if not value:
                    line.fail(f"{found[1]} is no stake", cell.at)
            elif action in ("offer", "beaver"):
                value = self.game.next_value()
            else:
                value = self.game.offered or self.game.now()
            return CubeAction(side, action, value, line=line.number)
        found = _RESIGNS.fullmatch(cell.text)
        if found:
            state = _RESIGNED[found[1].lower()] if found[1] else None
            return Resignation(side, state, line=line.number)
        return line.fail(f"{short(cell.text)} is no turn", cell.at)

    @staticmethod
    def move(line: Line, cell: _Cell, found: re.Match[str], side: Side) -> Move:
        dice = roll_of(found[1] + found[2])
        rest = cell.text[found.end() :]
        illegal = _ILLEGAL.match(rest.strip())
        at = cell.at + found.end()
        if illegal:
            skip = len(rest) - len(rest.lstrip()) + illegal.end()
            rest, at = rest[skip:], at + skip
        word = rest.strip()
        if _UNKNOWN.fullmatch(word):
            return Move(side, dice, None, line=line.number)
        if not word or _DANCE.fullmatch(word):
            return Move(side, dice, (), line=line.number)
        return Move(side, dice, steps_of(line, rest, at), line=line.number)

    def wins(self, line: Line, cell: _Cell, found: re.Match[str]) -> None:
        """Take a result; who won follows from the game, else from the column."""
        assert self.game is not None
        points = whole_number(found[1])
        if points is None:
            line.fail(f"a game is not won by {found[1]} points", cell.at)
        if self.won is not None:
            line.fail("a second result of the game", cell.at)
        self.won = ("b" if self.right(cell.at) else "w", points, line)

    def finish(self) -> None:
        """Close the game that is being read."""
        if self.game is None:
            return
        game = self.game.record()
        if game.entries:
            game = dataclasses.replace(game, first=game.entries[0].side)
        if self.won is not None:
            winner, points, line = self.won
            game = settle(game, _winner(game, winner), points, line.number)
        self.games.append(game)
        self.game, self.won = None, None


def _with_tag(rules: Rules, name: str, value: str) -> Rules:
    """Read what a heading says of the rules."""
    on = value.strip().lower() in ("on", "yes", "true", "1")
    if name == "variation":
        variant = _VARIANTS.get(value.strip().lower())
        if variant is None:
            return rules
        return variant.replace(
            crawford=rules.crawford, jacoby=rules.jacoby, cube_cap=rules.cube_cap
        )
    if name in ("crawford", "jacoby"):
        return rules.replace(**{name: on})
    if name == "beaver":
        return rules.replace(beavers=int(on))
    if name == "cubelimit":
        limit = whole_number(value.strip())
        if limit and not limit & (limit - 1):
            return rules.replace(cube_cap=limit)
    return rules


def _winner(game: GameRecord, column: Side) -> Side:
    """Tell who won: the last answer or the last checker says it, else the column."""
    last = game.entries[-1] if game.entries else None
    if isinstance(last, CubeAction) and last.action == "refuse":
        return "b" if last.side == "w" else "w"
    if isinstance(last, Resignation):
        return "b" if last.side == "w" else "w"
    final = last_positions(game)[1]
    if final.outcome is None:
        return column
    won = final.outcome < 5
    return final.turn if won else ("b" if final.turn == "w" else "w")


@reader
def parse_mat(text: str, rules: Rules | None = None) -> MatchRecord:
    """Read a `.mat` file of any dialect.

    Parameters
    ----------
    text
        The file's text.
    rules
        What to read it under; else what its headings say, backgammon by default.

    Returns
    -------
    MatchRecord
        The left side is white. Plays that the rules forbid are kept, each with its line and the
        reason. A game that is won without a last checker off, a refusal or a resignation ends with
        the loser's resignation; dice before it that could have been played have not been played.

    Raises
    ------
    FormatError
        If a line cannot be read.

    Examples
    --------
    >>> from nardcore.formats import parse_mat
    >>> match = parse_mat('''
    ...  5 point match
    ...
    ...  Game 1
    ...  Ann : 0                        Bob : 0
    ...   1) 31: 8/5 6/5                 64: 24/14
    ...   2)  Doubles => 2                Drops
    ...       Wins 1 point
    ... ''')
    >>> match.white, match.length, match.score
    ('Ann', 5, (1, 0))
    """
    return _Reader(rules).read(text)


# -------------------------------------------------------------------------------------- writing


def _point(number: int, dialect: Dialect) -> str:
    if dialect == "words":
        return {0: "off", 25: "bar"}.get(number, str(number))
    return str(number)


def _cell(entry: Entry, position: Position, dialect: Dialect) -> str:
    if isinstance(entry, Move):
        if entry.dice is None:
            if entry.steps is not None:
                msg = "a .mat file cannot hold a play without its dice"
                raise FormatError(msg)
            return "????"
        dice = "{}{}:".format(*entry.dice)
        if entry.steps is None:
            return f"{dice} ???"
        if not entry.steps:
            return f"{dice} Cannot Move" if dialect == "words" else dice
        words = [
            f"{_point(start, dialect)}/{_point(end, dialect)}{'*' * hit}"
            for (start, end), hit in zip(entry.steps, hits(position, entry.steps), strict=True)
        ]
        return f"{dice} {' '.join(words)}"
    if isinstance(entry, CubeAction):
        verb = {"offer": "Doubles", "accept": "Takes", "refuse": "Drops", "beaver": "Beavers"}
        asks = entry.action in ("offer", "beaver")
        return f" {verb[entry.action]}" + (f" => {entry.value}" if asks else "")
    return ""  # a resignation shows in the result


def _turns(game: GameRecord, dialect: Dialect) -> Iterator[str]:
    number = 0
    left: str | None = None
    for entry, position in game.positions():
        cell = _cell(entry, position, dialect)
        if not cell:
            continue
        if entry.side == "w" and left is None:
            left = cell
            continue
        number += 1
        right = cell if entry.side == "b" else ""
        yield f"{number:>3}) {left or '':<{_RIGHT - _LEFT - 1}} {right}".rstrip()
        left = cell if entry.side == "w" else None
    if left is not None:
        yield f"{number + 1:>3}) {left}"


def _names(match: MatchRecord) -> Iterator[tuple[str, str]]:
    for number, name in ((1, match.white), (2, match.black)):
        plain = name and name.isprintable() and name == name.strip() and ":" not in name
        if not plain or not match.games or name[0] == ";" or "  " in name:
            yield f"Player {number}", name


def mat_text(match: MatchRecord, *, dialect: Dialect = "words") -> str:
    """Write a match as a `.mat` file.

    Parameters
    ----------
    match : MatchRecord
        Of backgammon, nackgammon or hypergammon; white is the left side.
    dialect : {"words", "numbers"}
        Whether the bar and the tray are the words ``bar`` and ``off`` or 25 and 0.

    Returns
    -------
    str
        Lines.

    Raises
    ------
    FormatError
        If such a file cannot express the rules.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.mat import mat_text
    >>> from nardcore.records import GameRecord, MatchRecord, Move
    >>> moves = Move("w", (5, 3), ((8, 3), (6, 3))), Move("b", (6, 1), ((13, 7), (8, 7)))
    >>> match = MatchRecord(
    ...     nc.BACKGAMMON, length=7, games=(GameRecord(nc.BACKGAMMON, entries=moves),)
    ... )
    >>> print(mat_text(match))
     7 point match
    <BLANKLINE>
     Game 1
     White : 0                          Black : 0
      1) 53: 8/3 6/3                    61: 13/7 8/7
    """
    if dialect not in ("words", "numbers"):
        msg = f"dialect is 'words' or 'numbers', not {dialect!r}"
        raise ValueError(msg)
    _need_known_rules(match.rules)
    rules = BACKGAMMON
    lines = []
    first = 1
    for key, value in match.info:
        if key == _FIRST_GAME:
            first = whole_number(value) or 1
            continue
        rules = _with_tag(rules, key.lower(), value)
        lines.append(f"; {written_tag(key, value)}")
    if rules != match.rules:
        lines.append(f"; {written_tag('Rules', match.rules.name)}")
    lines += [f"; {written_tag(key, name)}" for key, name in _names(match)]
    for number, game in enumerate(match.games, first):
        throws = " ".join(f"{throw.white}-{throw.black}" for throw in throws_to_write(game))
        if throws:
            lines.append(f"; {written_tag(f'Throws {number}', throws)}")
    lines += [""] * bool(lines) + [f" {match.length} point match"]
    for number, game in enumerate(match.games, first):
        white, black = game.score
        left = f" {match.white} : {white}"
        lines += ["", f" Game {number}", f"{left:<{_RIGHT - 1}} {match.black} : {black}"]
        lines += _turns(game, dialect)
        if game.result is not None:
            won = game.result
            points = f"Wins {won.points} point" + "s" * (won.points != 1)
            lines.append(" " * (_LEFT + 1 if won.winner == "w" else _RIGHT + 1) + points)
    return "\n".join(lines) + "\n"


def _need_known_rules(rules: Rules) -> None:
    known = any(
        rules.movement_fingerprint == each.movement_fingerprint
        and rules.points == each.points
        and rules.classes_fingerprint == each.classes_fingerprint
        for each in _VARIANTS.values()
    )
    if not known or rules.stake not in ("cube", "none"):
        msg = (
            f"a .mat file is of backgammon, nackgammon or hypergammon, not of {rules.name}; "
            "write a score sheet"
        )
        raise FormatError(msg)
