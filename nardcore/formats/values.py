"""The library's own JSON: matches, games, states, positions, analyses and rollout results."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from nardcore._board import Position
from nardcore.errors import FormatError, NardcoreError
from nardcore.formats._games import Budget
from nardcore.formats._text import MAX_COUNT, MAX_STAKE, fail, reader, short
from nardcore.formats.analysis import Analysis, Candidate, CubeAnalysis
from nardcore.formats.state import MatchState
from nardcore.records import (
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Move,
    Resignation,
    Throw,
)
from nardcore.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from nardcore._cubeful import CubefulResult
    from nardcore.records import Entry
    from nardcore.rollouts import RolloutResult

__all__ = ["json_text", "parse_json"]

_VERSION = 1

# -------------------------------------------------------------------------------------- writing


def _entry(entry: Entry) -> dict[str, Any]:
    kind = {Move: "move", CubeAction: "cube", Resignation: "resignation"}[type(entry)]
    data: dict[str, Any] = {"entry": kind, "side": entry.side}
    if isinstance(entry, Move):
        data["dice"], data["steps"] = entry.dice, entry.steps
    elif isinstance(entry, CubeAction):
        data["action"], data["value"] = entry.action, entry.value
    else:
        data["state"], data["accepted"] = entry.state, entry.accepted
    for name in ("problem", "comment"):
        value = getattr(entry, name)
        if value:
            data[name] = value
    return data


def _game(game: GameRecord) -> dict[str, Any]:
    return {
        "rules": game.rules.name,
        "start": None if game.start is None else game.start.text(),
        "first": game.first,
        "throws": [[throw.white, throw.black] for throw in game.throws],
        "score": game.score,
        "crawford": game.crawford,
        "stake": game.stake,
        "owner": game.owner,
        "entries": [_entry(entry) for entry in game.entries],
        "result": None if game.result is None else dataclasses.asdict(game.result),
        "comment": game.comment,
        "length": game.length,
    }


def _match(match: MatchRecord) -> dict[str, Any]:
    return {
        "rules": match.rules.name,
        "white": match.white,
        "black": match.black,
        "length": match.length,
        "games_to_play": match.games_to_play,
        "info": [list(pair) for pair in match.info],
        "games": [_game(game) for game in match.games],
    }


def _state(state: MatchState) -> dict[str, Any]:
    data = {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    data["position"] = state.position.text()
    return data


def _analysis(analysis: Analysis) -> dict[str, Any]:
    return {
        "state": _state(analysis.state),
        "source": analysis.source,
        "language": analysis.language,
        "candidates": [dataclasses.asdict(one) for one in analysis.candidates],
        "cube": None if analysis.cube is None else dataclasses.asdict(analysis.cube),
    }


def _plain(value: object) -> dict[str, Any]:
    kinds: dict[type, tuple[str, Callable[[Any], dict[str, Any]]]] = {
        MatchRecord: ("match", _match),
        GameRecord: ("game", _game),
        MatchState: ("state", _state),
        Analysis: ("analysis", _analysis),
        Position: ("position", lambda position: {"text": position.text()}),
    }
    from nardcore import __version__

    if type(value) not in kinds:
        from nardcore._cubeful import CubefulResult
        from nardcore._result_file import to_dict
        from nardcore.rollouts import RolloutResult

        if isinstance(value, RolloutResult):
            return to_dict(value)
        if isinstance(value, CubefulResult):
            return value.to_dict()
        msg = f"a {type(value).__name__} cannot be written"
        raise TypeError(msg)
    name, write = kinds[type(value)]
    head = {"format": f"nardcore {name}", "version": _VERSION, "nardcore": __version__}
    return {**head, **write(value)}


def json_text(value: object) -> str:
    """Write a value as JSON.

    Parameters
    ----------
    value : MatchRecord, GameRecord, MatchState, Position, Analysis, RolloutResult or CubefulResult
        It is written whole.

    Returns
    -------
    str
        One object; its ``format`` and ``version`` say what it is.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.values import json_text
    >>> print(json_text(nc.Position.start(nc.LONG_NARDY)))
    {
     "format": "nardcore position",
     "version": 1,
     "nardcore": "...",
     "text": "long_nardy x15,11,o15,11 0/0 0/0 w - xo"
    }
    """
    data = _plain(value)
    games = data.pop("games", None) if isinstance(value, MatchRecord) else None
    entries = data.pop("entries", None) if isinstance(value, GameRecord) else None
    text = json.dumps(data, indent=1, allow_nan=False)
    if games is not None:
        # a game's head on a line, an entry on a line: files that people can compare
        text = _with_list(text, "games", [_game_lines(game) for game in games])
    if entries is not None:
        text = _with_list(text, "entries", [_line(entry) for entry in entries])
    return text + "\n"


def _line(value: object) -> str:
    return json.dumps(value, allow_nan=False)


def _game_lines(game: dict[str, Any]) -> str:
    entries = game.pop("entries")
    return _with_list(_line(game), "entries", [_line(entry) for entry in entries])


def _with_list(text: str, key: str, items: list[str]) -> str:
    """Add a list as the last member of an object, an item on a line."""
    inner = ",\n".join(items)
    body = text.rstrip()[:-1].rstrip()
    return f'{body},\n"{key}": [\n{inner}\n]}}' if items else f'{body},\n"{key}": []}}'


# -------------------------------------------------------------------------------------- reading


class _Place:
    """A value in a JSON text that knows its name there."""

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name

    def fail(self, wanted: str) -> NoReturn:
        shown = short(json.dumps(self.value, default=str)) if self.value is not None else "nothing"
        msg = f"{self.name or 'the text'}: expected {wanted}, not {shown}"
        raise FormatError(msg)

    def get(self, key: str, default: Any = None) -> _Place:
        if not isinstance(self.value, dict):
            self.fail("an object")
        return _Place(self.value.get(key, default), f"{self.name}.{key}".lstrip("."))

    def items(self) -> list[_Place]:
        if not isinstance(self.value, list):
            self.fail("a list")
        return [_Place(value, f"{self.name}[{at}]") for at, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fail("a text")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def number(self, most: int = MAX_COUNT) -> int:
        if type(self.value) is not int or not 0 <= self.value <= most:
            self.fail("a whole number")
        return self.value

    def stake(self) -> int:
        return self.number(MAX_STAKE)

    def real(self) -> float:
        if type(self.value) not in (int, float) or not math.isfinite(self.value):
            self.fail("a number")
        return float(self.value)

    def pair(self, most: int = MAX_COUNT) -> tuple[int, int]:
        numbers = [item.number(most) for item in self.items()]
        if len(numbers) != 2:
            self.fail("two numbers")
        return numbers[0], numbers[1]

    def three(self) -> tuple[float, float, float]:
        numbers = [item.real() for item in self.items()]
        if len(numbers) != 3:
            self.fail("three numbers")
        return numbers[0], numbers[1], numbers[2]

    def rules(self) -> Rules:
        try:
            return Rules.parse(self.text())
        except (NardcoreError, ValueError) as error:
            msg = f"{self.name}: {error}"
            raise FormatError(msg) from error

    def position(self) -> Position:
        try:
            return Position.parse(self.text())
        except (NardcoreError, ValueError) as error:
            msg = f"{self.name}: {error.args[0] if error.args else error}"
            raise FormatError(msg) from error

    def optional(self, read: Callable[[_Place], Any]) -> Any:
        return None if self.value is None else read(self)

    def made(self, make: Callable[..., Any], *args: Any, **fields: Any) -> Any:
        """Make a value and say where its parts do not fit."""
        try:
            return make(*args, **fields)
        except (NardcoreError, ValueError, TypeError) as error:
            msg = f"{self.name or 'the text'}: {error}"
            raise FormatError(msg) from error


def _read_entry(place: _Place, line: int | None) -> Entry:
    kind = place.get("entry").text()
    common = {
        "side": place.get("side").text(),
        "problem": place.get("problem").optional(_Place.text),
        "comment": place.get("comment", "").text(),
        "line": line,
    }
    if kind == "move":
        steps = place.get("steps").optional(lambda p: tuple(step.pair() for step in p.items()))
        if steps is not None and len(steps) > 16:
            place.get("steps").fail("16 steps at most")
        dice = place.get("dice").optional(_Place.pair)
        return place.made(Move, dice=dice, steps=steps, **common)  # type: ignore[no-any-return]
    if kind == "cube":
        action, value = place.get("action").text(), place.get("value").stake()
        return place.made(CubeAction, action=action, value=value, **common)  # type: ignore[no-any-return]
    if kind == "resignation":
        state = place.get("state").optional(_Place.number)
        accepted = place.get("accepted", True).flag()
        return place.made(Resignation, state=state, accepted=accepted, **common)  # type: ignore[no-any-return]
    return place.get("entry").fail("move, cube or resignation")


def _read_game(place: _Place, budget: Budget, length: int | None = None) -> GameRecord:
    budget.game(None)
    entries = []
    for item in place.get("entries", []).items():
        budget.entry(None)
        entries.append(_read_entry(item, None))
    throws = []
    for item in place.get("throws", []).items():
        budget.remark(None)
        throws.append(item.made(Throw, *item.pair()))
    result = None
    found = place.get("result")
    if found.value is not None:
        result = found.made(
            GameResult,
            winner=found.get("winner").text(),
            state=found.get("state").number(),
            points=found.get("points").stake(),
            stake=found.get("stake", 1).stake(),
            reason=found.get("reason", "unknown").text(),
        )
    game: GameRecord = place.made(
        GameRecord,
        place.get("rules").rules(),
        start=place.get("start").optional(_Place.position),
        first=place.get("first").optional(_Place.text),
        throws=tuple(throws),
        score=place.get("score", [0, 0]).pair(MAX_STAKE),
        crawford=place.get("crawford", False).flag(),
        stake=place.get("stake", 1).stake(),
        owner=place.get("owner").optional(_Place.text),
        entries=tuple(entries),
        result=result,
        comment=place.get("comment", "").text(),
        length=place.get("length", 0).number() if length is None else length,
    )
    return budget.check(game)


def _read_match(place: _Place) -> MatchRecord:
    budget = Budget()
    info = []
    for item in place.get("info", []).items():
        budget.remark(None)
        pair = [part.text() for part in item.items()]
        if len(pair) != 2:
            item.fail("two texts")
        info.append((pair[0], pair[1]))
    length = place.get("length", 0).number()
    return place.made(  # type: ignore[no-any-return]
        MatchRecord,
        place.get("rules").rules(),
        white=place.get("white", "White").text(),
        black=place.get("black", "Black").text(),
        length=length,
        games_to_play=place.get("games_to_play", 0).number(),
        games=tuple(_read_game(item, budget, length) for item in place.get("games", []).items()),
        info=tuple(info),
    )


def _read_state(place: _Place) -> MatchState:
    return place.made(  # type: ignore[no-any-return]
        MatchState,
        place.get("position").position(),
        dice=place.get("dice").optional(_Place.pair),
        cube=place.get("cube", 1).number(),
        cube_owner=place.get("cube_owner").optional(_Place.text),
        score=place.get("score", [0, 0]).pair(),
        length=place.get("length", 0).number(),
        crawford=place.get("crawford", False).flag(),
        jacoby=place.get("jacoby", False).flag(),
        beavers=place.get("beavers", False).flag(),
        max_cube=place.get("max_cube").optional(_Place.number),
        offer=place.get("offer").optional(_Place.text),
        resignation=place.get("resignation", 0).number(),
        resigner=place.get("resigner").optional(_Place.text),
        status=place.get("status", "playing").text(),
        white=place.get("white", "").text(),
        black=place.get("black", "").text(),
    )


def _read_candidate(place: _Place) -> Candidate:
    return Candidate(
        place.get("rank").number(),
        place.get("play").text(),
        place.get("equity").real(),
        place.get("loss", 0.0).real(),
        place.get("player").three(),
        place.get("opponent").three(),
        place.get("depth", "").text(),
    )


def _read_cube(place: _Place) -> CubeAnalysis:
    return CubeAnalysis(
        place.get("player").three(),
        place.get("opponent").three(),
        place.get("no_double").real(),
        place.get("double_take").real(),
        place.get("double_pass", 1.0).real(),
        place.get("cubeless_no_double").optional(_Place.real),
        place.get("cubeless_double").optional(_Place.real),
        place.get("redouble", False).flag(),
        place.get("depth", "").text(),
    )


def _read_analysis(place: _Place) -> Analysis:
    return Analysis(
        _read_state(place.get("state")),
        place.get("source").text(),
        place.get("language").text(),
        tuple(_read_candidate(item) for item in place.get("candidates", []).items()),
        place.get("cube").optional(_read_cube),
    )


def _read_rollout(place: _Place) -> RolloutResult:
    from nardcore._result_file import from_dict

    return from_dict(place.value)


def _read_cubeful(place: _Place) -> CubefulResult:
    from nardcore._cubeful import cubeful_from_dict
    from nardcore._result_file import made

    found: CubefulResult = made(place.value, "the text", cubeful_from_dict)
    return found


_KINDS: dict[str, Callable[[_Place], Any]] = {
    "nardcore match": _read_match,
    "nardcore game": lambda place: _read_game(place, Budget()),
    "nardcore state": _read_state,
    "nardcore analysis": _read_analysis,
    "nardcore position": lambda place: place.get("text").position(),
    "nardcore rollout": _read_rollout,
    "nardcore cubeful rollout": _read_cubeful,
}


@reader
def parse_json(
    text: str,
) -> MatchRecord | GameRecord | MatchState | Position | Analysis | RolloutResult | CubefulResult:
    """Read the library's own JSON; the inverse of `json_text`.

    Parameters
    ----------
    text
        One object.

    Returns
    -------
    MatchRecord, GameRecord, MatchState, Position, Analysis, RolloutResult or CubefulResult
        Games are checked again: the rules of today say what is wrong with a play.

    Raises
    ------
    FormatError
        If it is no JSON, or not of this library.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.values import json_text, parse_json
    >>> parse_json(json_text(nc.Position.start())) == nc.Position.start()
    True
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(error.msg, line=error.lineno, column=error.colno) from error
    except RecursionError as error:
        msg = "lists or objects in too many levels"
        raise FormatError(msg) from error
    except ValueError:
        # the one that is left: Python reads no whole number of more digits than it allows itself
        digits = max(re.finditer("[0-9]+", text), key=lambda found: found.end() - found.start())
        fail(f"a number of {len(digits[0]):,} digits", text, digits.start())
    place = _Place(data, "")
    kind = place.get("format").text()
    if kind not in _KINDS:
        place.get("format").fail(f"one of {', '.join(_KINDS)}")
    # results of rollouts count versions of their own, which their reader knows
    if not kind.endswith("rollout") and place.get("version").value != _VERSION:
        msg = f"version {short(str(place.get('version').value))} of the format is not read here"
        raise FormatError(msg)
    return _KINDS[kind](place)  # type: ignore[no-any-return]
