"""Matches as SGF, game 6: the collection of game trees that gnubg saves.

White is O and counts the points as ``a`` (1) to ``x`` (24); black's own numbers run the other way.
``y`` is the bar, ``z`` the tray. Only the first line of play of a tree is read.
"""

from __future__ import annotations

import dataclasses
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nardcore._board import Position
from nardcore._entries import MAX_LENGTH
from nardcore.errors import FormatError, NardcoreError
from nardcore.formats._games import Budget, Draft, begun, settle, throws_to_write
from nardcore.formats._text import (
    MAX_REMARKS,
    fail,
    match_length,
    reader,
    roll_of,
    short,
    whole_number,
)
from nardcore.records import (
    CubeAction,
    Entry,
    GameRecord,
    MatchRecord,
    Move,
    Resignation,
    Throw,
    play_of,
)
from nardcore.rules import BACKGAMMON, HYPERGAMMON, NACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nardcore._entries import Action
    from nardcore.records import Steps
    from nardcore.typing import Side

__all__ = ["looks_like_sgf", "parse_sgf", "sgf_text"]

MAX_DEPTH = 100
MAX_NODES = 100_000
MAX_VALUES = 300_000
_MOST_PLACED = 200  # points of a position that is set up
_FIRST_GAME = "First game"

# ------------------------------------------------------------------------------ the file's syntax


class _Value(NamedTuple):
    text: str
    at: int


_Node: TypeAlias = dict[str, list[_Value]]
_BLANK = re.compile(r"\s+")
_NAME = re.compile(r"[A-Za-z]{1,32}")


class _Parser:
    """Trees of nodes from text; of variations only the first is kept."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.nodes = self.values = 0

    def blanks(self) -> None:
        found = _BLANK.match(self.text, self.at)
        if found:
            self.at = found.end()

    def peek(self) -> str:
        self.blanks()
        return self.text[self.at : self.at + 1]

    def collection(self) -> Iterator[list[_Node]]:
        """Give the main line of each tree."""
        if self.peek() != "(":
            fail("expected ( and a game tree", self.text, self.at)
        while self.peek():
            if self.peek() != "(":
                fail(f"expected (, not {self.peek()!r}", self.text, self.at)
            yield self.tree()

    def tree(self) -> list[_Node]:
        """Read a tree without recursion: `main` tells of each open one whether it is kept."""
        line: list[_Node] = []
        main = [True]
        branched = [False]  # whether the tree already has a variation
        self.at += 1
        while main:
            letter = self.peek()
            if letter == ";":
                self.at += 1
                node = self.node()
                if main[-1]:
                    line.append(node)
            elif letter == "(":
                self.at += 1
                main.append(main[-1] and not branched[-1])
                branched[-1] = True
                branched.append(False)
                if len(main) > MAX_DEPTH:
                    fail(f"trees in more than {MAX_DEPTH} levels", self.text, self.at)
            elif letter == ")":
                self.at += 1
                main.pop()
                branched.pop()
            else:
                what = repr(letter) if letter else "the end"
                fail(f"expected ;, ( or ), not {what}", self.text, self.at)
        return line

    def node(self) -> _Node:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            fail(f"more than {MAX_NODES:,} nodes", self.text, self.at)
        node: _Node = {}
        self.blanks()
        while found := _NAME.match(self.text, self.at):
            self.at = found.end()
            # lower letters in names are an old custom and mean nothing
            name = "".join(letter for letter in found[0] if letter.isupper()) or found[0].upper()
            if self.peek() != "[":
                fail(f"expected [ after {name}", self.text, self.at)
            values = node.setdefault(name, [])
            while self.peek() == "[":
                self.values += 1
                if self.values > MAX_VALUES:
                    fail(f"more than {MAX_VALUES:,} values", self.text, self.at)
                values.append(self.value())
            self.blanks()
        return node

    def value(self) -> _Value:
        start = self.at + 1
        end = start
        text = self.text
        while True:
            end = text.find("]", end)
            if end < 0:
                fail("[ without ]", text, start - 1)
            slashes = end
            while slashes > start and text[slashes - 1] == "\\":
                slashes -= 1
            if (end - slashes) % 2 == 0:
                break
            end += 1
        self.at = end + 1
        return _Value(_unescaped(text[start:end]), start)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    # an escaped line break is none
    return re.sub(r"\\(\r\n|\n|\r|.)", lambda m: "" if m[1][0] in "\r\n" else m[1], text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def looks_like_sgf(text: str) -> bool:
    """Say whether a text begins as SGF does."""
    return re.match(r"\s*\(\s*;", text) is not None


# -------------------------------------------------------------------------------------- reading

_ACTIONS: dict[str, Action] = {
    "double": "offer",
    "redouble": "offer",
    "take": "accept",
    "drop": "refuse",
    "pass": "refuse",
    "beaver": "beaver",
}
_SIDES: dict[str, Side] = {"W": "w", "B": "b"}
_SETUP = ("AE", "AW", "AB", "CV", "CO", "CP", "PL", "DI")
# Properties of our own, which other programs pass over: headings, rules, throws for the first move,
# and how many of the steps of a play were written as one.
_INFO, _RULES, _THROWS, _HOPS = _OURS = ("NI", "NR", "NT", "NH")
_NO_INFO = ("GM", "FF", "PW", "PB", "RE", "RU", "MI", "CA", "AP", *_OURS, *_SETUP)
_RESULT = re.compile(r"([WB])\+([0-9]{1,600})?(R(?:esign)?)?.*", re.IGNORECASE | re.DOTALL)
_VARIANTS = {"nackgammon": NACKGAMMON, "hypergammon3": HYPERGAMMON, "hypergammon": HYPERGAMMON}


def _is_info(key: str) -> bool:
    """Say whether a property tells something of the match that records keep as it is."""
    return re.fullmatch("[A-Z]{2}", key) is not None and key not in _NO_INFO


def _own(letter: str, side: Side) -> int:
    place = ord(letter) - ord("a")
    if place == 24:
        return 25
    if place == 25:
        return 0
    return place + 1 if side == "w" else 24 - place


class _Reader:
    """A collection being read."""

    def __init__(self, text: str, rules: Rules | None) -> None:
        self.text = text
        self.base = rules
        self.budget = Budget()
        self.rules: Rules | None = rules
        self.names = ["", ""]
        self.length = 0
        self.info: list[tuple[str, str]] = []
        self.at, self.line = 0, 1  # how far lines have been counted

    def read(self) -> MatchRecord:
        games = [
            self.budget.check(dataclasses.replace(game, length=self.length))
            for game in [self.game(nodes) for nodes in _Parser(self.text).collection()]
        ]
        return MatchRecord(
            self.rules or BACKGAMMON,
            white=self.names[0] or "White",
            black=self.names[1] or "Black",
            length=self.length,
            games=tuple(games),
            info=tuple(self.info),
        )

    def game(self, nodes: list[_Node]) -> GameRecord:
        self.budget.game(None)
        root = nodes[0] if nodes else {}
        kind = root.get("GM")
        if kind and kind[0].text.strip() != "6":
            fail(
                f"game {kind[0].text.strip()[:10]} of SGF, not 6, backgammon", self.text, kind[0].at
            )
        if self.budget.games == 1:
            self.head(root)
        rules = self.game_rules(root)
        if self.rules is None:
            self.rules = rules
        draft = Draft(rules)
        self.match(root, draft)
        draft.crawford = self.crawford(root)
        draft.throws = self.throws(root)
        if "C" in root:
            draft.comment = root["C"][0].text
        for node in nodes:
            values = next(iter(node.values()), None)
            if values:
                # lines are counted on from the last node, so that a long text is counted once
                self.line += self.text.count("\n", self.at, values[0].at)
                self.at = values[0].at
            self.node(node, draft, self.line, is_root=node is root)
        game = draft.record()
        if game.first is None and game.entries:
            game = dataclasses.replace(game, first=game.entries[0].side)
        return begun(self.result(root, game))

    # ---------------------------------------------------------------------------- headings

    def head(self, root: _Node) -> None:
        """Take what is said of the whole match."""
        for at, name in enumerate(("PW", "PB")):
            if name in root:
                self.names[at] = root[name][0].text
        for key, values in root.items():
            if key == _INFO:
                self.info += [self.pair(value) for value in values[:MAX_REMARKS]]
            elif _is_info(key):
                self.info += [(key, value.text) for value in values]
        if len(self.info) > MAX_REMARKS:
            msg = f"more than {MAX_REMARKS:,} headings"
            raise FormatError(msg)

    def pair(self, value: _Value) -> tuple[str, str]:
        """Read a piece of information whose name is no property of SGF."""
        try:
            key, text = json.loads(value.text)
        except (ValueError, TypeError, RecursionError):
            key = text = None
        if not (isinstance(key, str) and isinstance(text, str)):
            fail(f"{short(value.text)} is no pair of texts", self.text, value.at)
        return key, text

    def game_rules(self, root: _Node) -> Rules:
        if self.base is not None:
            return self.base
        if _RULES in root:
            value = root[_RULES][0]
            try:
                return Rules.parse(value.text)
            except (NardcoreError, ValueError) as error:
                fail(str(error), self.text, value.at)
        words = {word.strip().lower() for word in self.words(root)}
        rules = next((_VARIANTS[word] for word in words if word in _VARIANTS), BACKGAMMON)
        match_game = any(v.text.lower().startswith("length") for v in root.get("MI", []))
        if "jacoby" in words:
            rules = rules.replace(jacoby=True)
        if "RU" in root and match_game and "crawford" not in words:
            rules = rules.replace(crawford=False)
        return rules

    @staticmethod
    def words(root: _Node) -> list[str]:
        return [word for value in root.get("RU", []) for word in value.text.split(":")]

    def crawford(self, root: _Node) -> bool:
        return any(word.strip().lower() == "crawfordgame" for word in self.words(root))

    def throws(self, root: _Node) -> list[Throw]:
        """Take the throws for the first move, white's die first."""
        found = []
        for value in root.get(_THROWS, ()):
            self.budget.remark(None)
            if not re.fullmatch("[1-6]{2}", value.text):
                fail(f"{short(value.text)} is no throw of two dice", self.text, value.at)
            found.append(Throw(int(value.text[0]), int(value.text[1])))
        return found

    def match(self, root: _Node, draft: Draft) -> None:
        """Take the match property: tags with values in any order, each in brackets of its own."""
        score = [0, 0]
        for value in root.get("MI", []):
            tag, _, text = value.text.partition(":")
            tag = tag.strip().lower()
            if tag not in ("length", "game", "ws", "bs"):
                continue
            read = match_length if tag == "length" else whole_number
            number = read(text.strip())
            if number is None:
                most = f" of at most {MAX_LENGTH:,}" * (tag == "length")
                fail(f"{tag} is a number{most}, not {short(text)}", self.text, value.at)
            if tag == "length":
                self.length = number
            elif tag == "game":
                draft.number = number
                if self.budget.games == 1 and number != 1:
                    self.info.append((_FIRST_GAME, str(number)))
            else:
                score["wb".index(tag[0])] = number
        draft.score = (score[0], score[1])

    # ------------------------------------------------------------------------------- nodes

    def node(self, node: _Node, draft: Draft, line: int, *, is_root: bool) -> None:
        if any(name in node for name in _SETUP):
            self.setup(node, draft, line)
        remark = "" if is_root or "C" not in node else node["C"][0].text
        for name, side in _SIDES.items():
            for value in node.get(name, ()):
                entry = self.entry(value, side, draft, line)
                if isinstance(entry, Move) and _HOPS in node:
                    entry = _joined(entry, node[_HOPS][0].text)
                draft.add(dataclasses.replace(entry, comment=remark), self.budget)
                remark = ""
        if remark and draft.entries:
            draft.entries[-1] = dataclasses.replace(draft.entries[-1], comment=remark)

    def entry(self, value: _Value, side: Side, draft: Draft, line: int) -> Entry:
        word = "".join(value.text.split()).lower()
        if word in _ACTIONS:
            action = _ACTIONS[word]
            if action in ("offer", "beaver"):
                stake = draft.next_value()
            else:
                stake = draft.offered if draft.offered is not None else draft.now()
            return CubeAction(side, action, stake, line=line)
        if word.startswith("resign"):
            return Resignation(side, line=line)
        if not re.fullmatch(r"[1-6]{2}(?:[a-z]{2}){0,8}", word):
            fail(f"{short(value.text)} is no turn", self.text, value.at)
        steps = tuple(
            (_own(word[i], side), _own(word[i + 1], side)) for i in range(2, len(word), 2)
        )
        return Move(side, roll_of(word[:2]), steps, line=line)

    def setup(self, node: _Node, draft: Draft, line: int) -> None:
        if "CV" in node:
            value = node["CV"][0]
            stake = whole_number(value.text.strip())
            if not stake:
                fail(f"{short(value.text)} is no value of a cube", self.text, value.at)
            draft.stake = stake
        if "CO" in node or "CP" in node:
            value = node.get("CO", node.get("CP", []))[0]
            draft.owner = {"w": "w", "b": "b"}.get(value.text.strip().lower()[:1])  # type: ignore[assignment]
        turn: Side | None = None
        if "PL" in node:
            value = node["PL"][0]
            turn = _SIDES.get(value.text.strip().upper()[:1])
            if turn is None:
                fail(f"{short(value.text)} is no side", self.text, value.at)
        if any(name in node for name in ("AE", "AW", "AB")):
            if draft.entries:
                fail("a position set up after the first move", self.text, _first(node).at)
            draft.start = self.position(node, draft, turn or "w")
        elif turn is not None and draft.start is not None and not draft.entries:
            draft.start = draft.start if draft.start.turn == turn else draft.start.flip()
        elif turn is not None and not draft.entries:
            draft.first = turn
        if "DI" in node:
            value = node["DI"][0]
            word = value.text.strip()
            if not re.fullmatch(r"[1-6]{2}", word):
                fail(f"{short(word)} are no dice", self.text, value.at)
            side = turn or (draft.start.turn if draft.start else "w")
            draft.add(Move(side, roll_of(word), None, line=line), self.budget)

    def position(self, node: _Node, draft: Draft, turn: Side) -> Position:
        counts: dict[Side, dict[int | str, int]] = {"w": {}, "b": {}}
        if draft.start is None and "AE" not in node:
            position = Position.start(draft.rules)
            for side in counts:
                counts[side] = {
                    point: count for point, count in enumerate(position.points, 1) if count > 0
                }
        for name in ("AE", "AW", "AB"):
            values = node.get(name, [])
            if len(values) > _MOST_PLACED:
                what = f"{name} with more than {_MOST_PLACED} values"
                fail(what, self.text, values[0].at)
            for value in values:
                for letter in self.letters(value):
                    for side in ("w", "b") if name == "AE" else (_SIDES[name[1]],):
                        place = _own(letter, side)
                        key: int | str = {25: "bar", 0: "off"}.get(place, place)
                        if name == "AE":
                            counts[side].pop(key, None)
                        else:
                            counts[side][key] = counts[side].get(key, 0) + 1
        for side in counts:
            counts[side].setdefault("off", draft.rules.checkers - sum(counts[side].values()))
        other: Side = "b" if turn == "w" else "w"
        try:
            return Position(counts[turn], counts[other], turn=turn, rules=draft.rules)
        except (NardcoreError, ValueError) as error:
            fail(f"an impossible position: {error}", self.text, _first(node).at)

    def letters(self, value: _Value) -> str:
        """Read a point, or all the points of ``a:c``."""
        text = value.text.strip().lower()
        found = re.fullmatch(r"([a-z])(?::([a-z]))?", text)
        if found is None:
            fail(f"{short(value.text)} is no point", self.text, value.at)
        last = found[2] or found[1]
        return "".join(chr(code) for code in range(ord(found[1]), ord(last) + 1))

    def result(self, root: _Node, game: GameRecord) -> GameRecord:
        """Take ``W+2`` and the like."""
        if "RE" not in root:
            return game
        found = _RESULT.fullmatch(root["RE"][0].text.strip())
        points = whole_number(found[2]) if found and found[2] else None
        if found is None or points is None:
            return game  # void, unknown
        winner = _SIDES[found[1].upper()]
        return settle(game, winner, points)


def _joined(move: Move, hops: str) -> Move:
    """Join steps of one checker that were written as one: ``2 1`` joins the first two of three."""
    counts = [int(word) for word in hops.split() if word in ("1", "2", "3", "4")]
    steps = move.steps or ()
    if sum(counts) != len(steps):
        return move
    joined, at = [], 0
    for count in counts:
        chain = steps[at : at + count]
        if any(one[1] != two[0] for one, two in pairwise(chain)):
            return move
        joined.append((chain[0][0], chain[-1][1]))
        at += count
    return dataclasses.replace(move, steps=tuple(joined))


def _first(node: _Node) -> _Value:
    return next(iter(node.values()))[0]


@reader
def parse_sgf(text: str, rules: Rules | None = None) -> MatchRecord:
    """Read a collection of backgammon games in SGF.

    Parameters
    ----------
    text
        The file's text; each tree is a game. Variations after the first line of play are left out.
    rules
        What to read it under; else what the text says, backgammon by default.

    Returns
    -------
    MatchRecord
        Plays that the rules forbid are kept, each with its line and the reason. Names and rules are
        those of the first game.

    Raises
    ------
    FormatError
        If the text is no SGF of backgammon.

    Examples
    --------
    >>> from nardcore.formats import parse_sgf
    >>> match = parse_sgf(
    ...     "(;GM[6]MI[length:7][game:1][bs:0][ws:2]PW[Ann]PB[Bob];B[31qtst];W[double])"
    ... )
    >>> match.length, match.games[0].score, [str(e) for e in match.games[0].entries[:1]]
    (7, (2, 0), ['8/5 6/5'])
    """
    return _Reader(text, rules).read()


# -------------------------------------------------------------------------------------- writing


def _letter(number: int, side: Side) -> str:
    if number == 25:
        return "y"
    if number == 0:
        return "z"
    return chr(ord("a") + (number - 1 if side == "w" else 24 - number))


def _single_steps(entry: Move, position: Position) -> list[Steps]:
    """Split hops of several dice, which SGF cannot write: the steps of each hop."""
    assert entry.dice is not None
    assert entry.steps is not None
    whole: list[Steps] = [(hop,) for hop in entry.steps]
    if all(start - end <= entry.dice[0] for start, end in entry.steps):
        return whole
    try:
        left = list(play_of(position.plays(entry.dice), entry.steps).steps)
    except NardcoreError:
        return whole
    found = []
    for start, end in entry.steps:
        chain = _chain(left, start, end)
        if chain is None:
            return whole
        for step in chain:
            left.remove(step)
        found.append(chain)
    return found


def _chain(steps: list[tuple[int, int]], start: int, end: int) -> Steps | None:
    """Find steps that lead a checker from one point to another."""
    for step in steps:
        if step[0] == start and step[1] >= end:
            rest = () if step[1] == end else _chain(steps, step[1], end)
            if rest is not None:
                return (step, *rest)
    return None


def _turn(entry: Entry, position: Position) -> str:
    name = entry.side.upper()
    if isinstance(entry, Move):
        if entry.dice is None:
            msg = "SGF cannot hold a turn without its dice"
            raise FormatError(msg)
        if entry.steps is None:
            text = f"PL[{name}]DI[{entry.dice[0]}{entry.dice[1]}]"
            return f"\n;{text}" + (f"C[{_escaped(entry.comment)}]" if entry.comment else "")
        hops = _single_steps(entry, position)
        letters = "".join(_letter(n, entry.side) for hop in hops for step in hop for n in step)
        text = f"{name}[{entry.dice[0]}{entry.dice[1]}{letters}]"
        if any(len(hop) > 1 for hop in hops):
            text += f"{_HOPS}[{' '.join(str(len(hop)) for hop in hops)}]"
    elif isinstance(entry, CubeAction):
        words = {"offer": "double", "accept": "take", "refuse": "drop", "beaver": "beaver"}
        text = f"{name}[{words[entry.action]}]"
    else:
        return ""  # a resignation shows in the result
    return f"\n;{text}" + (f"C[{_escaped(entry.comment)}]" if entry.comment else "")


def _placed(position: Position) -> str:
    """Write a position that is set up."""
    seen = position if position.turn == "w" else position.flip()
    black = [-count for count in reversed(seen.points)]
    parts = ["AE[a:y]"]
    for name, side, counts, bar, off in (
        ("AW", "w", seen.points, seen.bar[0], seen.off[0]),
        ("AB", "b", black, seen.bar[1], seen.off[1]),
    ):
        numbers = [p for p, count in enumerate(counts, 1) for _ in range(max(count, 0))]
        numbers += [25] * bar + [0] * off
        if numbers:
            parts.append(name + "".join(f"[{_letter(p, side)}]" for p in numbers))  # type: ignore[arg-type]
    return "".join([*parts, f"PL[{position.turn.upper()}]"])


def _tree(number: int, game: GameRecord, match: MatchRecord) -> str:
    root = ["(;FF[4]GM[6]CA[UTF-8]AP[nardcore]"]
    if match.length:
        root.append(
            f"MI[length:{match.length}][game:{number}][ws:{game.score[0]}][bs:{game.score[1]}]"
        )
    else:
        root.append(f"MI[game:{number}][ws:{game.score[0]}][bs:{game.score[1]}]")
    root += [f"PW[{_escaped(match.white)}]", f"PB[{_escaped(match.black)}]"]
    words = ["Crawford"] if match.length and game.rules.crawford else []
    words += ["CrawfordGame"] * game.crawford + ["Jacoby"] * game.rules.jacoby
    for name, variant in (("Nackgammon", NACKGAMMON), ("Hypergammon3", HYPERGAMMON)):
        if game.rules.movement_fingerprint == variant.movement_fingerprint:
            words.append(name)
    if words or match.length:
        root.append(f"RU[{':'.join(words)}]")
    root.append(f"{_RULES}[{game.rules.name}]")
    throws = throws_to_write(game)
    if throws:
        root.append(_THROWS + "".join(f"[{throw.white}{throw.black}]" for throw in throws))
    if number == _first_number(match):
        for key, value in match.info:
            if key != _FIRST_GAME:
                known = _is_info(key)
                text = value if known else json.dumps([key, value])
                root.append(f"{key if known else _INFO}[{_escaped(text)}]")
    if game.result is not None:
        won = game.result
        root.append(f"RE[{won.winner.upper()}+{won.points}{'R' * (won.reason == 'resigned')}]")
    if game.comment:
        root.append(f"C[{_escaped(game.comment)}]")
    if game.stake != 1 or game.owner is not None:
        root.append(f"\n;CV[{game.stake}]CO[{game.owner or 'c'}]")
    if game.start is not None:
        root.append("\n;" + _placed(game.start))
    elif game.first is not None and game.first != _seen_first(game):
        root.append(f"\n;PL[{game.first.upper()}]")
    root += [_turn(entry, position) for entry, position in game.positions()]
    return "".join(root) + ")\n"


def _seen_first(game: GameRecord) -> Side | None:
    """Tell who begins for somebody who sees the throws and the turns."""
    shown = next((e.side for e in game.entries if not isinstance(e, Resignation)), None)
    seen = dataclasses.replace(game, first=shown)
    return seen.starter if shown or game.throws else None


def _first_number(match: MatchRecord) -> int:
    text = dict(match.info).get(_FIRST_GAME, "1")
    number = whole_number(text)
    return 1 if number is None else number


def sgf_text(match: MatchRecord) -> str:
    """Write a match as SGF, a tree for each game.

    Parameters
    ----------
    match : MatchRecord
        Of short nardy. Rules, throws for the first move and hops that were written as one stand in
        properties of our own, ``NR``, ``NT`` and ``NH``, that other programs pass over.

    Returns
    -------
    str
        Trees.

    Raises
    ------
    FormatError
        If SGF cannot express the rules or an entry.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.sgf import sgf_text
    >>> from nardcore.records import GameRecord, MatchRecord, Move
    >>> game = GameRecord(nc.BACKGAMMON, entries=(Move("b", (3, 1), ((8, 5), (6, 5))),))
    >>> print(sgf_text(MatchRecord(nc.BACKGAMMON, length=7, games=(game,))))
    (;FF[4]GM[6]CA[UTF-8]AP[nardcore]MI[length:7][game:1][ws:0][bs:0]PW[White]PB[Black]RU[Crawford]NR[backgammon]
    ;B[31qtst])
    """
    if match.rules.movement != "short":
        msg = f"SGF cannot express {match.rules.name}, which is long nardy; write a score sheet"
        raise FormatError(msg)
    if not match.games:
        msg = "SGF cannot hold a match without games"
        raise FormatError(msg)
    first = _first_number(match)
    return "".join(_tree(number, game, match) for number, game in enumerate(match.games, first))
