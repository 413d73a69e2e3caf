"""Text exports of eXtreme Gammon and BGBlitz, in any of the languages they are written in.

Both are read by their layout, not by their words: an XGID, numbers with a decimal point or comma,
and what stands around them. They are never written.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, NoReturn

from nardcore.errors import FormatError
from nardcore.formats._text import Line, lines_of, reader
from nardcore.formats.analysis import Analysis, Candidate, CubeAnalysis, decimal
from nardcore.formats.ids import parse_gnubg_id, parse_xgid_state
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from nardcore.formats.analysis import Chances
    from nardcore.formats.state import MatchState

__all__ = ["is_bgblitz_text", "is_xg_text", "parse_bgblitz_text", "parse_xg_text"]

_XGID = re.compile(r"XGID=(\S{26,200})")
_IDS = re.compile(r"Position-ID:\s*(\S{14})\s+Match-ID:\s*(\S{11,12})(?!\S)")
_NUMBER = r"[-+\u2212]?[0-9]{1,6}[.,][0-9]{1,6}"
_PART = r"([0-9]{1,3}(?:[.,][0-9]{1,4})?) ?%"
_MOST_CANDIDATES = 500

# The first of these to be found in the text names its language.
_WORDS = (
    ("ja", ("キューブ", "プレーヤー", "評価", "エクイティ")),
    ("ru", ("Показатель", "Игрок", "играть")),
    ("el", ("Παίκτης", "Βίδος", "Το σκορ")),
    (
        "de",
        ("Spieler", "Punktzahl", "Spielstand", "Doppler", "Bewertung", "Siege ", "Würfelaktion"),
    ),
    ("fi", ("Pelaaja", "Tulos on", "Kuutio")),
    ("es", ("Jugador", "La puntuación")),
    ("it", ("Giocatore", "Il Punteggio")),
    ("fr", ("Joueur", "Le score est", "Videau", "Évaluation", "Gagne ", "joueur")),
    ("en", ("Player", "Score is", "Evaluation", "Wins ", "Unlimited", "Cube")),
)


def _language(text: str) -> str:
    # names of players say nothing, so the lines that hold them are left out
    body = "\n".join(line for line in text.split("\n") if not re.search(r"\b[XO]:\s*\S", line))
    lines = [line for line in text.split("\n") if re.search(r"X:\s*[0-9]+\s+O:", line)]
    body += "\n".join(lines)
    for language, words in _WORDS:
        if any(word in body for word in words):
            return language
    return ""


def is_bgblitz_text(text: str) -> bool:
    """Say whether a text looks like an export of BGBlitz."""
    return "+13-14-15-" in text[:20_000] and _IDS.search(text[:20_000]) is not None


def is_xg_text(text: str) -> bool:
    """Say whether a text looks like an export of eXtreme Gammon."""
    head = text[:20_000]
    return len(head.strip().split("\n")) > 1 and _XGID.search(head) is not None


def _xgid(lines: list[Line], rules: Rules) -> MatchState:
    found = [(line, match) for line in lines for match in _XGID.finditer(line.text)]
    if not found:
        msg = "there is no XGID in the text"
        raise FormatError(msg)
    line, match = found[0]
    if any(other[1] != match[1] for _, other in found):
        second = next(each for each, other in found if other[1] != match[1])
        second.fail("a second position; the text is read one position at a time")
    try:
        return parse_xgid_state(match[0], rules)
    except FormatError as error:
        line.fail(str(error.args[0]), match.start() + (error.column or 1) - 1)


def _number(line: Line, text: str) -> float:
    try:
        return decimal(text)
    except ValueError as error:
        _fail(line, error)


def _fail(line: Line, error: Exception) -> NoReturn:
    line.fail(str(error))


# ------------------------------------------------------------------------------- eXtreme Gammon

_XG_NAMES = re.compile(r"\s*X:(\S.{0,80}?|)\s{2,80}O:(\S.{0,80})")
_XG_CHANCES = re.compile(rf"{_PART}\s{{0,4}}\(\w{{1,4}}:\s?{_PART}\s{{1,4}}\w{{1,4}}:\s?{_PART}\)")
_XG_RANK = re.compile(r"\s{0,20}([0-9]{1,3})[.)]\s{1,8}(\S.*)")
_XG_EQUITY = re.compile(rf"\w{{1,8}}\.?\s?:\s?({_NUMBER})(?:\s{{0,4}}\(({_NUMBER})\))?\s*")
_XG_CUBELESS = re.compile(rf"=\s?({_NUMBER})")
_XG_CUBEFUL = re.compile(rf"\s*\S.{{0,60}}?:\s{{0,20}}({_NUMBER})(?:\s{{0,4}}\({_NUMBER}\))?")


@reader
def parse_xg_text(text: str, rules: Rules = BACKGAMMON) -> Analysis:
    """Read a text export of eXtreme Gammon of one position.

    Parameters
    ----------
    text
        What the program writes to a file or the clipboard, in any language.
    rules
        Rules of short nardy.

    Returns
    -------
    Analysis
        White is the X of the XGID; the text itself calls the side on roll X.

    Raises
    ------
    FormatError
        If there is no XGID in it, or more than one position.

    Examples
    --------
    >>> from nardcore.formats import parse_xg_text
    >>> found = parse_xg_text('''XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10
    ...
    ... X:Ann   O:Bob
    ...     1. 3-plis      8/5 6/5                      éq:+0,165
    ...       Joueur:     55,18% (G:17,05% B:0,67%)
    ...       Adversaire: 44,82% (G:12,22% B:0,51%)
    ... ''')
    >>> found.candidates[0].equity, found.candidates[0].player, found.state.white, found.language
    (0.165, (0.5518, 0.1705, 0.0067), 'Ann', 'fr')
    """
    lines = list(lines_of(text))
    state = _xgid(lines, rules)
    for line in lines:
        found = _XG_NAMES.fullmatch(line.text)
        if found:
            # the text calls the side on roll X, whichever colour it has in the XGID
            names = found[1].strip(), found[2].strip()
            white, black = names if state.position.turn == "w" else names[::-1]
            state = dataclasses.replace(state, white=white, black=black)
            break
    candidates = _xg_candidates(lines)
    cube = None if candidates else _xg_cube(lines, state)
    return Analysis(state, "eXtreme Gammon", _language(text), candidates, cube)


def _xg_chances(line: Line) -> Chances | None:
    found = _XG_CHANCES.search(line.text)
    if found is None:
        return None
    win, gammon, backgammon = (_number(line, f"{part}%") for part in found.groups())
    return win, gammon, backgammon


def _xg_candidates(lines: list[Line]) -> tuple[Candidate, ...]:
    found: list[Candidate] = []
    open_chances = 0
    for line in lines:
        rank = _XG_RANK.fullmatch(line.text)
        equity = _XG_EQUITY.search(rank[2]) if rank else None
        if rank and equity:
            if len(found) == _MOST_CANDIDATES:
                line.fail(f"more than {_MOST_CANDIDATES} plays")
            words = re.split(r"\s{2,}", rank[2][: equity.start()].strip(), maxsplit=1)
            depth, play = ("", words[0]) if len(words) == 1 else words
            loss = _number(line, equity[2]) if equity[2] else 0.0
            value = _number(line, equity[1])
            found.append(Candidate(int(rank[1]), " ".join(play.split()), value, loss, depth=depth))
            open_chances = 2
            continue
        chances = _xg_chances(line) if open_chances else None
        if chances:
            if open_chances == 2:
                found[-1] = dataclasses.replace(found[-1], player=chances)
            else:
                found[-1] = dataclasses.replace(found[-1], opponent=chances)
            open_chances -= 1
    return tuple(found)


def _xg_cube(lines: list[Line], state: MatchState) -> CubeAnalysis | None:
    chances: list[Chances] = []
    cubeless: list[float] = []
    cubeful: list[float] = []
    depth = ""
    before = ""
    for line in lines:
        if len(chances) < 2:
            seen = _xg_chances(line)
            if seen:
                depth = depth if chances else before
                chances.append(seen)
            elif line.text.strip():
                before = line.text.strip()
            continue
        if not cubeless:
            pair = _XG_CUBELESS.findall(line.text)
            if len(pair) == 2:
                cubeless = [_number(line, one) for one in pair]
            continue
        found = _XG_CUBEFUL.fullmatch(line.text)
        if found and len(cubeful) < 3:
            cubeful.append(_number(line, found[1]))
    if len(chances) < 2 or len(cubeful) < 3:
        return None
    return CubeAnalysis(
        chances[0],
        chances[1],
        no_double=cubeful[0],
        double_take=cubeful[1],
        double_pass=cubeful[2],
        cubeless_no_double=cubeless[0] if cubeless else None,
        cubeless_double=cubeless[1] if cubeless else None,
        redouble=state.cube_owner == state.position.turn,
        depth=depth,
    )


# --------------------------------------------------------------------------------------- BGBlitz

_BGB_NAME = re.compile(r".*-\+\s{1,20}([XO]):\s{0,4}(\S.{0,80}?)\s{1,20}([0-9]{1,4})\s*")
_BGB_NEW = re.compile(
    rf"\s*([0-9]{{1,3}})[.)]\s{{1,20}}({_NUMBER})(?:\s?mwp)?(?:\s{{0,4}}/\s{{0,8}}({_NUMBER}))?"
    rf"\s{{0,20}}(?:\(\s{{0,4}}({_NUMBER})\))?\s{{1,40}}(\S.{{0,80}})"
)
_BGB_OLD = re.compile(
    rf"\s*([0-9]{{1,3}})[.)]\s{{1,20}}(\S.{{0,60}}?)\s{{2,40}}({_NUMBER})(?:\s{{0,4}}/\s{{0,8}}({_NUMBER}))?\s*"
)
_BGB_CHANCES = re.compile(
    r"\s*" + r"\s{1,20}".join(["([0-9][.,][0-9]{1,4})"] * 3) + r"\s{1,8}-\s{1,8}"
    + r"\s{1,20}".join(["([0-9][.,][0-9]{1,4})"] * 3) + r"\s*"
)  # fmt: skip
_BGB_WINS = re.compile(r"\s*(\S.{0,80}?)" + r"\s{1,40}([0-9]{1,3}[.,][0-9]{1,3})" * 3 + r"\s*")
_BGB_CUBE = re.compile(
    rf"\s*(\S.{{0,60}}?)\s{{0,40}}:\s{{0,20}}({_NUMBER})\s{{1,20}}\(\s{{0,4}}{_NUMBER}\)"
    rf"(?:\s{{1,20}}({_NUMBER})\s{{1,20}}\(\s{{0,4}}{_NUMBER}\))?\s*"
)
_PASS_WORDS = ("pass", "ablehnen", "refuser", "rejeter", "降りる", "rechazar", "drop")


@reader
def parse_bgblitz_text(text: str, rules: Rules = BACKGAMMON) -> Analysis:
    """Read a text export of BGBlitz of one position.

    Parameters
    ----------
    text
        What the program writes, in any language.
    rules
        Rules of short nardy.

    Returns
    -------
    Analysis
        X is white.

    Raises
    ------
    FormatError
        If its position ID, match ID and XGID are missing or disagree.

    Examples
    --------
    >>> from nardcore.formats import parse_bgblitz_text
    >>> found = parse_bgblitz_text('''
    ...  +13-14-15-16-17-18------19-20-21-22-23-24-+   O: Ann  137
    ...  +12-11-10--9--8--7-------6--5--4--3--2--1-+   X: Bob  147
    ...  Position-ID: dB7GGAJsZuJgAg    Match-ID: cAkgAVAAAAAE
    ...  XGID=---BBaB-BbA-bC-b--BdAca---:0:0:1:00:0:5:0:9:10
    ... ''')
    >>> found.state.white, found.state.score, found.pips
    ('Bob', (0, 5), {'w': 147, 'b': 137})
    """
    lines = list(lines_of(text))
    state = _xgid(lines, rules)
    for line in lines:
        ids = _IDS.search(line.text)
        if ids:
            _agree(line, parse_gnubg_id(f"{ids[1]}:{ids[2]}", rules), state)
            break
    else:
        msg = "there are no Position-ID and Match-ID in the text"
        raise FormatError(msg)
    names = {"X": "", "O": ""}
    pips = {"X": 0, "O": 0}
    for line in lines:
        found = _BGB_NAME.fullmatch(line.text)
        if found:
            names[found[1]], pips[found[1]] = found[2], int(found[3])
    # whether the text calls white X, its pips tell
    mine, theirs = state.position.pips
    white = mine if state.position.turn == "w" else theirs
    swapped = pips["X"] != white == pips["O"]
    state = dataclasses.replace(
        state, white=names["O" if swapped else "X"], black=names["X" if swapped else "O"]
    )
    candidates = _bgb_candidates(lines)
    cube = None if candidates else _bgb_cube(lines, state)
    return Analysis(state, "BGBlitz", _language(text), candidates, cube)


def _agree(line: Line, by_id: MatchState, by_xgid: MatchState) -> None:
    for name in ("position", "dice", "cube", "cube_owner", "score", "length", "crawford"):
        first, second = getattr(by_id, name), getattr(by_xgid, name)
        if first != second:
            line.fail(f"the IDs and the XGID disagree about the {name}: {first} and {second}")


def _bgb_candidates(lines: list[Line]) -> tuple[Candidate, ...]:
    found: list[Candidate] = []
    for line in lines:
        new, old = _BGB_NEW.fullmatch(line.text), _BGB_OLD.fullmatch(line.text)
        if new or old:
            if len(found) == _MOST_CANDIDATES:
                line.fail(f"more than {_MOST_CANDIDATES} plays")
            loss = 0.0
            if new:
                rank, equity, play = new[1], new[3] or new[2], new[5]
                loss = _number(line, new[4]) if new[4] else 0.0
            else:
                assert old is not None
                rank, equity, play = old[1], old[4] or old[3], old[2].replace("-", "/")
            value = _number(line, equity)
            if not new and found:
                loss = round(value - found[0].equity, 6)
            words = " ".join(play.replace(",", " ").split())
            found.append(Candidate(int(rank), words, value, loss))
            continue
        chances = _BGB_CHANCES.fullmatch(line.text)
        if chances and found:
            six = [_number(line, part) for part in chances.groups()]
            found[-1] = dataclasses.replace(
                found[-1],
                player=(six[0], six[1], six[2]),
                opponent=(six[3], six[4], six[5]),
            )
    return tuple(found)


def _bgb_cube(lines: list[Line], state: MatchState) -> CubeAnalysis | None:
    chances: dict[str, Chances] = {}
    actions: dict[str, float] = {}
    for line in lines:
        wins = _BGB_WINS.fullmatch(line.text)
        if wins and wins[1] in (state.white, state.black):
            three = [_number(line, f"{part}%") for part in wins.groups()[1:]]
            side = "w" if wins[1] == state.white and "w" not in chances else "b"
            if state.white == state.black:  # the side of O stands first
                side = "w" if "b" in chances else "b"
            chances[side] = (three[0], three[1], three[2])
            continue
        found = _BGB_CUBE.fullmatch(line.text)
        if found:
            label = found[1].lower()
            equity = _number(line, found[3] or found[2])
            if "/" not in label:
                actions.setdefault("no_double", equity)
            elif any(word in label for word in _PASS_WORDS):
                actions.setdefault("double_pass", equity)
            else:
                actions.setdefault("double_take", equity)
    if len(chances) < 2 or len(actions) < 3:
        return None
    turn = state.position.turn
    return CubeAnalysis(
        chances[turn],
        chances["b" if turn == "w" else "w"],
        no_double=actions["no_double"],
        double_take=actions["double_take"],
        double_pass=actions["double_pass"],
        redouble=state.cube_owner == turn,
    )
