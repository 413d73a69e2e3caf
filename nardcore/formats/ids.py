"""States of a match in one line: gnubg's position ID with its match ID, and the whole XGID."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from nardcore._board import Position
from nardcore.errors import FormatError
from nardcore.formats import positions
from nardcore.formats._text import fail, reader, short
from nardcore.formats.state import STATUSES, MatchState, Offer
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from nardcore.typing import Side

__all__ = ["match_id", "parse_gnubg_id", "parse_xgid_state", "state_gnubg_id", "state_xgid"]

# ------------------------------------------------------------------------------------- match ID

_SHORTEST, _LONGEST = 11, 12
# name and number of bits, from the lowest bit on
_FIELDS = (
    ("cube", 4),
    ("owner", 2),
    ("on_roll", 1),
    ("crawford", 1),
    ("status", 3),
    ("turn", 1),
    ("doubled", 1),
    ("resignation", 2),
    ("die_1", 3),
    ("die_2", 3),
    ("length", 15),
    ("score_0", 15),
    ("score_1", 15),
    ("no_jacoby", 1),
)
_KEY_BYTES = 9
_PLAYERS: tuple[Side, Side] = ("b", "w")  # player 0 is the O of an XGID
_CENTRED = 3


def match_id(state: MatchState) -> str:
    """Write what surrounds a position as a gnubg match ID.

    Parameters
    ----------
    state : MatchState
        White is player 1, black player 0, as in the texts that give an XGID beside the ID.

    Returns
    -------
    str
        12 characters.

    Raises
    ------
    FormatError
        If a number does not fit.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats import MatchState, match_id
    >>> match_id(MatchState(nc.Position.start(), score=(0, 5), length=9))
    'cAkgAVAAAAAE'
    """
    if state.offer in ("beaver", "raccoon"):
        msg = f"a match ID knows no {state.offer}"
        raise FormatError(msg)
    on_roll = _PLAYERS.index(state.position.turn)
    values = {
        "cube": state.cube.bit_length() - 1,
        "owner": _CENTRED if state.cube_owner is None else _PLAYERS.index(state.cube_owner),
        "on_roll": on_roll,
        "crawford": int(state.crawford),
        "status": STATUSES.index(state.status),
        "turn": _PLAYERS.index(state.turn),
        "doubled": int(state.offer == "double"),
        "resignation": state.resignation,
        "die_1": state.dice[0] if state.dice else 0,
        "die_2": state.dice[1] if state.dice else 0,
        "length": state.length,
        "score_0": state.score[1],
        "score_1": state.score[0],
        "no_jacoby": int(not state.jacoby),
    }
    key = place = 0
    for name, bits in _FIELDS:
        if values[name] >= 1 << bits:
            msg = f"a match ID holds the {name} only up to {(1 << bits) - 1}, not {values[name]}"
            raise FormatError(msg)
        key |= values[name] << place
        place += bits
    return base64.b64encode(key.to_bytes(_KEY_BYTES, "little")).decode("ascii")


def _match_fields(text: str, at: int) -> dict[str, int]:
    word = text[at:].strip()
    if not _SHORTEST <= len(word) <= _LONGEST:
        fail(f"expected the {_LONGEST} characters of a match ID, not {len(word)}", text, at)
    try:
        # the last characters of old IDs are left out where they say nothing
        data = base64.b64decode(word.ljust(_LONGEST, "A"), validate=True)
    except (binascii.Error, ValueError):
        fail(f"{short(word)} is no match ID: not in the base64 alphabet", text, at)
    key = int.from_bytes(data, "little")
    values = {}
    for name, bits in _FIELDS:
        values[name] = key & ((1 << bits) - 1)
        key >>= bits
    return values


def state_gnubg_id(state: MatchState) -> str:
    """Write a state as gnubg does: position ID, a colon, match ID.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.ids import state_gnubg_id
    >>> from nardcore.formats import MatchState
    >>> state_gnubg_id(MatchState(nc.Position.start(), (3, 1)))
    '4HPwATDgc/ABMA:cIkFAAAAAAAE'
    """
    position = state.position
    return f"{positions.position_id(position.board, position.rules)}:{match_id(state)}"


@reader
def parse_gnubg_id(text: str, rules: Rules = BACKGAMMON) -> MatchState:
    """Read a position ID, alone or with a match ID after a colon.

    Parameters
    ----------
    text
        ``4HPwATDgc/ABMA`` or ``4HPwATDgc/ABMA:cAkAAAAAAAAE``. Words such as ``Position ID:`` before
        them do no harm.
    rules
        Rules of short nardy.

    Returns
    -------
    MatchState
        Player 1 is white. Without a match ID: money play, white on roll.

    Raises
    ------
    FormatError
        If the text is no such ID.

    Examples
    --------
    >>> from nardcore.formats.ids import parse_gnubg_id
    >>> state = parse_gnubg_id("dB7GGAJsZuJgAg:cAkgAVAAAAAE")
    >>> state.length, state.score, state.position.turn
    (9, (0, 5), 'w')
    """
    words = re.sub(
        r"(?i)(position|match)[- ]?id\s*[:=]?", lambda found: " " * len(found[0]), text[:400]
    )
    start = len(words) - len(words.lstrip())
    first, colon, _ = words.partition(":")
    blank = re.compile(r"\S\s+(?=\S)").search(words, start)
    if not colon and blank:
        first = words[: blank.start() + 1]
    at = len(first) + 1
    if len(text) > 400:
        fail(f"{short(text)} is no position ID", text)
    found = positions.parse_position_id(first, rules)
    if not words[at:].strip():
        return MatchState(Position.from_board(found.board, rules))
    values = _match_fields(words, at)
    turn = _PLAYERS[values["on_roll"]]
    if turn == "b":
        found = positions.parse_position_id(first, rules, turn)
    dice = values["die_1"], values["die_2"]
    if any(die > 6 for die in dice) or (min(dice) == 0 and max(dice) > 0):
        fail(f"a match ID with the dice {dice[0]} and {dice[1]}", text, at)
    if values["owner"] == 2:
        fail("a match ID with a cube owner that does not exist", text, at)
    if values["status"] >= len(STATUSES):
        fail("a match ID with a state of the game that does not exist", text, at)
    length, decides = values["length"], _PLAYERS[values["turn"]]
    resigner: Side | None = None
    if values["resignation"]:
        resigner = "b" if decides == "w" else "w"
    return MatchState(
        Position.from_board(found.board, rules),
        dice=(max(dice), min(dice)) if dice[0] and not values["doubled"] else None,
        cube=1 << values["cube"],
        cube_owner=None if values["owner"] == _CENTRED else _PLAYERS[values["owner"]],
        score=(values["score_1"], values["score_0"]),
        length=length,
        crawford=bool(values["crawford"] and length),
        jacoby=not values["no_jacoby"] and not length,
        offer="double" if values["doubled"] else None,
        resignation=values["resignation"],
        resigner=resigner,
        status=STATUSES[values["status"]],
    )


# ----------------------------------------------------------------------------------------- XGID

_LETTERS: dict[str, Offer] = {"D": "double", "B": "beaver", "R": "raccoon"}
_USUAL_LIMIT = 10  # what stands for the largest cube where nobody chose it
_LARGEST_EXPONENT = 30
_LEFT_OUT = ["0", "0", "1", "00", "0", "0", "0", "0", str(_USUAL_LIMIT)]


def state_xgid(state: MatchState) -> str:
    """Write a state as an XGID, white being its X and black its O.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.formats.ids import state_xgid
    >>> from nardcore.formats import MatchState
    >>> state_xgid(MatchState(nc.Position.start(), offer="double", jacoby=True, beavers=True))
    'XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:3:0:10'
    """
    position = state.position
    places = positions.xgid(position.board, position.rules).split(":")[0]
    dice = "00" if state.dice is None else "{}{}".format(*state.dice)
    if state.offer is not None:
        dice = next(letter for letter, offer in _LETTERS.items() if offer == state.offer)
    rule = int(state.crawford) if state.length else state.jacoby + 2 * state.beavers
    limit = _USUAL_LIMIT if state.max_cube is None else state.max_cube.bit_length() - 1
    owner = {None: 0, "w": 1, "b": -1}[state.cube_owner]
    turn = 1 if position.turn == "w" else -1
    white, black = state.score
    cube = state.cube.bit_length() - 1
    return f"{places}:{cube}:{owner}:{turn}:{dice}:{white}:{black}:{rule}:{state.length}:{limit}"


@reader
def parse_xgid_state(text: str, rules: Rules = BACKGAMMON) -> MatchState:
    """Read everything that an XGID says.

    Parameters
    ----------
    text
        As for `parse_xgid`.
    rules
        Rules of short nardy.

    Returns
    -------
    MatchState
        X is white. A limit of the cube of 1024, which programs write where nobody chose one, is
        read as none.

    Raises
    ------
    FormatError
        If the text is no XGID.

    Examples
    --------
    >>> from nardcore.formats import parse_xgid_state
    >>> state = parse_xgid_state("XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:2:4:0:9:10")
    >>> state.cube, state.cube_owner, state.score, state.length, state.dice
    (2, 'b', (2, 4), 9, (3, 1))
    """
    if len(text) > 400:
        fail(f"{short(text)} is no XGID", text)
    found = positions.parse_xgid(text, rules)
    fields = text.strip().split(":")
    given = (
        fields[1:] + ["0", "0", "1", "00", "0", "0", "0", "0", str(_USUAL_LIMIT)][len(fields) - 1 :]
    )
    cube, owner, _, dice, white, black, rule, length, limit = given
    if max(int(cube), int(limit)) > _LARGEST_EXPONENT:
        fail(f"a cube of 2**{max(int(cube), int(limit))} is none", text)
    points = int(length)
    return MatchState(
        Position.from_board(found.board, rules),
        dice=found.dice,
        cube=1 << int(cube),
        cube_owner={"0": None, "1": "w", "-1": "b"}[owner],
        score=(int(white), int(black)),
        length=points,
        crawford=points > 0 and int(rule) & 1 == 1,
        jacoby=points == 0 and int(rule) & 1 == 1,
        beavers=points == 0 and int(rule) & 2 == 2,
        max_cube=None if int(limit) == _USUAL_LIMIT else 1 << int(limit),
        offer=_LETTERS.get(dice),
    )
