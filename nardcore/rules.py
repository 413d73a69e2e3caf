"""The rules of a game as one immutable value, and the named rulesets.

A ruleset is a `Rules`: nothing in the package asks which game is played, only what its fields say.
Rules have a text form, the name of a preset followed by what differs from it::

    long_nardy
    long_nardy+block=flat
    backgammon+cube_cap=none+jacoby=true
    short_nardy+scoring=1/2/2/3/3+start=24:2,23:2,13:4,8:3,6:4

`Rules.parse` reads it, `Rules.name` writes the shortest one.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, final, get_args

from nardcore.errors import RulesError, RulesTypeError

__all__ = [
    "BACKGAMMON",
    "FNR_LONG",
    "FNR_SHORT",
    "HYPERGAMMON",
    "LONG_BEGINNER",
    "LONG_CLASSIC",
    "LONG_NARDY",
    "NACKGAMMON",
    "PRESETS",
    "SCORING",
    "SHORT_BEGINNER",
    "SHORT_DAVE",
    "SHORT_NARDY",
    "STATES",
    "TRIKTRAK",
    "TRIKTRAK_UA",
    "Rules",
]

Movement: TypeAlias = Literal["short", "long"]
HitAndHide: TypeAlias = Literal["off", "board", "home"]
HeadLimit: TypeAlias = Literal["one", "free"]
HeadException: TypeAlias = Literal["none", "listed", "blocked", "any_double"]
HeadExceptionFor: TypeAlias = Literal["both", "second"]
Block: TypeAlias = Literal["off", "ahead", "home", "flat"]
BlockTiming: TypeAlias = Literal["end_of_turn", "each_step"]
LongKoks: TypeAlias = Literal["none", "all_in_start", "any_in_start", "none_home"]
Stake: TypeAlias = Literal["none", "dave_geometric", "dave_arithmetic", "cube"]
Opening: TypeAlias = Literal["use_dice", "reroll"]
NextStarter: TypeAlias = Literal["roll", "winner", "alternate"]
Start: TypeAlias = tuple[tuple[int, int], ...]
Points: TypeAlias = tuple[int, int, int, int, int]

MAX_CHECKERS: Final = 15
LAST_POINT: Final = 24
HOME_POINTS: Final = 6
# Every number of a ruleset fits a C int32, and its text stays short.
_LARGEST: Final = 2**31 - 1

STATES: Final = ("any_off", "all_home", "outside", "winner_home", "bar")
"""The five states of a loser, in the order of every scoring table and of the outcome classes."""

SCORING: Final[Mapping[str, Points]] = MappingProxyType(
    {
        "triktrak": (1, 2, 4, 4, 8),  # S0 R27-R30; S4 L11
        "beginner": (1, 3, 2, 2, 4),  # S3 L7-L11
        "oin_mars": (1, 2, 2, 2, 2),  # S3 L103, L169-L171, L217-L221
        "backgammon": (1, 2, 2, 3, 3),  # S3 L277-L279
        "single": (1, 1, 1, 1, 1),  # games for a stake alone
    }
)
"""The named scoring tables: points for a win by the loser's state, in the order of `STATES`."""

_STARTS: Final[Mapping[str, Start]] = {
    "short": ((24, 2), (13, 5), (8, 3), (6, 5)),
    "long": ((24, 15),),
}
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "movement": get_args(Movement),
    "hit_and_hide": get_args(HitAndHide),
    "head_limit": get_args(HeadLimit),
    "head_exception": get_args(HeadException),
    "head_exception_for": get_args(HeadExceptionFor),
    "block": get_args(Block),
    "block_timing": get_args(BlockTiming),
    "long_koks": get_args(LongKoks),
    "stake": get_args(Stake),
    "opening": get_args(Opening),
    "next_starter": get_args(NextStarter),
}
_SWITCHES: Final = ("exact_first", "last_home_larger", "off_protects", "jacoby", "crawford")
_COUNTS: Final = ("beavers", "auto_doubles")
# What a movement does not know, with the value that stands for "does not apply".
_FOREIGN: Final[Mapping[str, Mapping[str, object]]] = {
    "short": {
        "head_limit": "one",
        "head_exception": "listed",
        "head_exception_for": "both",
        "block": "ahead",
        "block_timing": "end_of_turn",
        "long_koks": "none",
    },
    "long": {"hit_and_hide": "off", "off_protects": True},
}
_MOVEMENT_FIELDS: Final = (
    "movement",
    "start",
    "checkers",
    "hit_and_hide",
    "exact_first",
    "last_home_larger",
    "head_limit",
    "head_exception",
    "head_exception_for",
    "block",
    "block_timing",
)
_CLASSIFIER_FIELDS: Final = ("off_protects", "long_koks")


@final
@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Rules:
    """The rules of one game: how checkers move, what a win is called, what is at stake.

    A value: immutable, hashable, equal when every field is equal. A field that only the other
    movement knows is ignored and set to its default, so it cannot make two equal games unequal.

    The sources the fields are taken from: **S0** the Russian text on triktrak, rules R1-R30; **S3**
    the Russian compilation of five articles on short and long nardy, by line; **S4** the Ukrainian
    text on triktrak, by line; **FNR** the common practice of Russian federation play. Rule numbers
    are those of the rules page.

    Parameters
    ----------
    movement : {'short', 'long'}
        Towards each other with hitting, or the same way round without it. Rules 2, 3, 10, 26
        (S3 L33, L62; S3 L15, L177, L195).
    start : tuple of (point, count) pairs
        Where the checkers of either side stand at the start, in its own numbering, highest point
        first. Empty, the default, means the movement's own: 24:2 13:5 8:3 6:5 in short, 24:15 in
        long. Rules 2, 3 (S3 L62, S4 L6; S3 L15, L177).
    checkers : int
        Checkers of each side, 1 to 15. Rule 1 (S3 L62, L120).
    hit_and_hide : {'off', 'board', 'home'}
        Short only: whether a checker that has hit may go on, the same turn, to stand with another
        of its own; `board` forbids it everywhere, `home` after hits on the mover's points 1-6.
        Rule 17 (S3 L87-L91).
    exact_first : bool
        With two different dice, a die whose own point was occupied when the turn began, all
        checkers home, may not bear off from a lower point. Rule 20 (S0 R26).
    last_home_larger : bool
        The last outside checker comes home with the larger of two different dice, where it can.
        Rule 21 (S3 L39).
    head_limit : {'one', 'free'}
        Long only: how many checkers may leave the head in a turn. Rule 22 (S3 L21, L189; L136
        knows no limit).
    head_exception : {'none', 'listed', 'blocked', 'any_double'}
        Long only: the rolls that let a second checker leave the head in a side's first turn. Rule
        22 (S3 L195; `any_double` S3 L21).
    head_exception_for : {'both', 'second'}
        Long only: who has that exception. Rule 22 (S3 L195; `second` FNR).
    block : {'off', 'ahead', 'home', 'flat'}
        Long only: when six points in a row are forbidden: never, unless an enemy checker is past
        them, unless one is in the enemy's home, always. Rule 23 (S3 L195, FNR; `flat` S3 L136).
    block_timing : {'end_of_turn', 'each_step'}
        Long only: whether a block may stand for a moment within a turn. Rule 24 (S3 L195;
        `each_step` FNR).
    off_protects : bool
        Whether a loser with a checker off loses a single game wherever the others stand; always so
        in long. Rule 28 (False: S0 R29-R30, S4 L11 to the letter).
    long_koks : {'none', 'all_in_start', 'any_in_start', 'none_home'}
        Long only: what counts as koks, shown as the state `bar`. Rule 28 (S3 L9, which is unclear).
    scoring : str or tuple of 5 int
        A name in `SCORING`, or points for the five `STATES`. Rule 29 (S0 R27-R30, S4 L11; S3
        L7-L11, L103, L169-L171, L217-L221, L277-L279).
    stake : {'none', 'dave_geometric', 'dave_arithmetic', 'cube'}
        How the stake is raised. Rules 31-33 (S3 L105-L107, L283).
    cube_cap : int or None
        The highest value of the cube, a power of two; None for no limit. Rule 33 (S3 L283).
    jacoby : bool
        Money play with the cube: more than a single win counts only after a double. Rule 33.
    beavers : int
        Money play with the cube: how many times a double may be raised again at once. Rule 33.
    crawford : bool
        Match play with the cube: no doubling in the game after a side comes within one point.
        Rule 33.
    opening : {'use_dice', 'reroll'}
        Whether the two dice thrown for the start are the first roll. Rule 7 (S3 L54, L245, FNR;
        `reroll` S0 R1-R2, S3 L189, S4 L7).
    next_starter : {'roll', 'winner', 'alternate'}
        Who begins the next game of a match. Rule 8 (S0 R1; `winner` S3 L187).
    auto_doubles : int
        How many equal throws for the start double the stake; needs the cube (and money play).
        Rule 9 (0: S0 R1).

    Raises
    ------
    RulesError
        If anything is wrong, with every fault in ``.faults``. It is a `TypeError` as well when a
        value has the wrong type.

    Examples
    --------
    >>> from nardcore.rules import LONG_NARDY, Rules
    >>> rules = Rules.parse("long_nardy+block=flat")
    >>> rules.block, rules.start, rules.points
    ('flat', ((24, 15),), (1, 2, 2, 2, 2))
    >>> rules == LONG_NARDY.replace(block="flat")
    True
    >>> Rules(movement="long", block="aheat", checkers=16)
    Traceback (most recent call last):
        ...
    nardcore.errors.RulesError: block: 'aheat' is not one of off, ahead, home, flat; did you mean \
'ahead'?; checkers: 16 is not between 1 and 15
    """

    movement: Movement = "short"
    start: Start = ()
    checkers: int = MAX_CHECKERS
    hit_and_hide: HitAndHide = "off"
    exact_first: bool = False
    last_home_larger: bool = False
    head_limit: HeadLimit = "one"
    head_exception: HeadException = "listed"
    head_exception_for: HeadExceptionFor = "both"
    block: Block = "ahead"
    block_timing: BlockTiming = "end_of_turn"
    off_protects: bool = True
    long_koks: LongKoks = "none"
    scoring: str | Points = "oin_mars"
    stake: Stake = "none"
    cube_cap: int | None = 64
    jacoby: bool = False
    beavers: int = 0
    crawford: bool = True
    opening: Opening = "use_dice"
    next_starter: NextStarter = "roll"
    auto_doubles: int = 0

    def __post_init__(self) -> None:
        check = _Check(_values(self))
        check.raise_faults()
        for name, value in check.settled.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def preset(name: str) -> Rules:
        """Return the preset of this name.

        Parameters
        ----------
        name : str
            A key of `PRESETS`.

        Returns
        -------
        Rules
            The preset.

        Raises
        ------
        TypeError
            If `name` is no str.
        RulesError
            If there is no such preset; the nearest name is suggested.

        Examples
        --------
        >>> Rules.preset("triktrak").exact_first
        True
        >>> Rules.preset("tricktrak")
        Traceback (most recent call last):
            ...
        nardcore.errors.RulesError: there is no preset 'tricktrak'; did you mean 'triktrak'?
        """
        _need_str(name, "the name of a preset")
        try:
            return PRESETS[name]
        except KeyError:
            raise RulesError(_no_preset(name)) from None

    @staticmethod
    def parse(text: str) -> Rules:
        """Read rules from their text form, a preset and what differs from it.

        Parameters
        ----------
        text : str
            ``preset`` or ``preset+field=value+field=value``. Switches are ``true`` or ``false``, no
            limit on the cube is ``none``, a table of points is ``1/2/2/3/3``, a start
            ``24:2,13:5,8:3,6:5``. There are no spaces.

        Returns
        -------
        Rules
            The rules.

        Raises
        ------
        TypeError
            If `text` is no str.
        RulesError
            If the text is wrong anywhere, with every fault.

        Examples
        --------
        >>> Rules.parse("long_nardy+block=flat+long_koks=none_home").long_koks
        'none_home'
        >>> Rules.parse("fnr_short+cube_cap=none").cube_cap is None
        True
        """
        _need_str(text, "the text of rules")
        name, *parts = text.split("+")
        faults = [] if name in PRESETS else [_no_preset(name)]
        changes: dict[str, Any] = {}
        seen: set[str] = set()
        for part in parts:
            field, equals, value = part.partition("=")
            if not equals:
                faults.append(f"{part!r} is not of the form field=value")
            elif field not in _FIELDS:
                faults.append(_no_field(field))
            elif field in seen:
                faults.append(f"{field}: given twice")
            else:
                seen.add(field)
                try:
                    changes[field] = _read(field, value)
                except _UnreadableError as error:
                    faults.append(f"{field}: {error}")
        # An unknown preset still gets its changes checked, so that every fault shows at once.
        return _changed(PRESETS.get(name), changes, faults)

    @property
    def name(self) -> str:
        """The shortest text that `parse` reads as these rules.

        A preset's own name, or the preset of the same movement with the fewest differences (the
        first of them in `PRESETS`) and the differences in the order of the fields.

        Examples
        --------
        >>> Rules.preset("backgammon").replace(jacoby=True, cube_cap=None).name
        'backgammon+cube_cap=none+jacoby=true'
        >>> Rules.parse("short_nardy+hit_and_hide=off+stake=cube").name
        'fnr_short'
        """
        return _name(self)

    def replace(self, **changes: object) -> Rules:
        """Return these rules with some fields changed.

        A change of movement takes the new movement's own start, unless a start is given or these
        rules have one of their own.

        Parameters
        ----------
        **changes
            Fields and their new values.

        Returns
        -------
        Rules
            The changed rules.

        Raises
        ------
        RulesError
            If a field does not exist (the nearest one is suggested) or a value is wrong, with every
            fault.

        Examples
        --------
        >>> LONG_NARDY.replace(block_timing="each_step").name
        'long_nardy+block_timing=each_step'
        >>> LONG_NARDY.replace(blok="off")
        Traceback (most recent call last):
            ...
        nardcore.errors.RulesError: there is no field 'blok'; did you mean 'block'?
        """
        known = {field: value for field, value in changes.items() if field in _FIELDS}
        return _changed(self, known, [_no_field(field) for field in changes if field not in known])

    @property
    def points(self) -> Points:
        """Points for a win by the state of the loser, in the order of `STATES`.

        Examples
        --------
        >>> TRIKTRAK.points
        (1, 2, 4, 4, 8)
        """
        return SCORING[self.scoring] if isinstance(self.scoring, str) else self.scoring

    @property
    def movement_fingerprint(self) -> str:
        """Sixteen hex digits that are equal when the checkers move by equal rules.

        Examples
        --------
        >>> BACKGAMMON.movement_fingerprint == FNR_SHORT.movement_fingerprint
        True
        >>> BACKGAMMON.movement_fingerprint == NACKGAMMON.movement_fingerprint
        False
        """
        return _movement_fingerprint(self)

    @property
    def classes_fingerprint(self) -> str:
        """Sixteen hex digits that are equal when movement and outcome classes are equal.

        Examples
        --------
        >>> LONG_NARDY.classes_fingerprint == LONG_NARDY.replace(
        ...     long_koks="none_home"
        ... ).classes_fingerprint
        False
        """
        return _classes_fingerprint(self)

    def bearoff_fingerprint(self, points: int = HOME_POINTS, *, scoring: bool = False) -> str:
        """Sixteen hex digits that are equal when one bear-off table serves both rules.

        Parameters
        ----------
        points : int
            How many points the table covers, 1 to 24.
        scoring : bool
            Whether the table counts more than wins, so that outcome classes and points matter.

        Returns
        -------
        str
            The fingerprint.

        Examples
        --------
        >>> BACKGAMMON.bearoff_fingerprint() == LONG_NARDY.bearoff_fingerprint()
        True
        >>> BACKGAMMON.bearoff_fingerprint(scoring=True) == LONG_NARDY.bearoff_fingerprint(
        ...     scoring=True
        ... )
        False
        >>> BACKGAMMON.bearoff_fingerprint() == TRIKTRAK.bearoff_fingerprint()
        False
        """
        if type(points) is not int:
            msg = f"points is an int, not {_kind(points)}"
            raise TypeError(msg)
        if not 1 <= points <= LAST_POINT:
            msg = f"a table covers 1 to {LAST_POINT} points, not {points}"
            raise ValueError(msg)
        return _bearoff_fingerprint(self, points > HOME_POINTS, bool(scoring))

    def __repr__(self) -> str:
        return f"Rules.parse({self.name!r})"

    def __reduce__(self) -> tuple[Callable[[str], Rules], tuple[str]]:
        # The text is checked when it is read back, and survives fields added later.
        return Rules.parse, (self.name,)


_FIELDS: Final = tuple(field.name for field in dataclasses.fields(Rules))


def _values(rules: Rules) -> dict[str, Any]:
    return {field: getattr(rules, field) for field in _FIELDS}


def _changed(base: Rules | None, changes: Mapping[str, Any], faults: Iterable[str]) -> Rules:
    """Apply checked changes to rules; faults found before are raised with the new ones."""
    values = _values(base) if base is not None else {}
    if base is not None and base.start == _STARTS[base.movement]:
        values["start"] = ()
    values.update(changes)
    # Without a base, the defaults stand in: only the changes themselves are then to be judged.
    if base is None:
        values = {field.name: field.default for field in dataclasses.fields(Rules)} | values
    check = _Check(values, faults, alone=base is None)
    check.raise_faults()
    return Rules(**check.settled)


class _Check:
    """Judge the values of all fields: collect every fault, normalise what is sound.

    With `alone`, each field is judged by itself and what fields must agree on is left out.
    """

    def __init__(
        self, values: dict[str, Any], faults: Iterable[str] = (), *, alone: bool = False
    ) -> None:
        self.faults = list(faults)
        self.wrong_type = False
        self.settled = values
        for field in _OPTIONS:
            self._option(field)
        for field in _SWITCHES:
            self._switch(field)
        checkers_sound = self._number("checkers", 1, MAX_CHECKERS)
        start_sound = self._start()
        for field in _COUNTS:
            self._number(field, 0, _LARGEST)
        self._cube_cap()
        self._scoring()
        movement = values["movement"]
        if alone or movement not in _OPTIONS["movement"]:
            return
        if start_sound:
            self._start_fits(movement, checkers_sound)
        auto_doubles = values["auto_doubles"]
        if type(auto_doubles) is int and auto_doubles > 0 and values["stake"] != "cube":
            self.faults.append(f"auto_doubles: {auto_doubles} needs stake=cube")
        values.update(_FOREIGN[movement])

    def raise_faults(self) -> None:
        if self.faults:
            kind = RulesTypeError if self.wrong_type else RulesError
            raise kind(*self.faults)

    def _fault_of_type(self, field: str, wanted: str, value: object) -> None:
        self.wrong_type = True
        self.faults.append(f"{field}: {wanted} is needed, not {_kind(value)} {value!r}")

    def _option(self, field: str) -> None:
        value, options = self.settled[field], _OPTIONS[field]
        if not isinstance(value, str):
            self._fault_of_type(field, "a str", value)
        elif value not in options:
            self.faults.append(f"{field}: {_not_one_of(value, options)}")
        else:
            # A member of a str enumeration is as good, but the plain str is what is kept.
            self.settled[field] = options[options.index(value)]

    def _switch(self, field: str) -> None:
        if type(self.settled[field]) is not bool:
            self._fault_of_type(field, "a bool", self.settled[field])

    def _number(self, field: str, low: int, high: int) -> bool:
        value = self.settled[field]
        if type(value) is not int:
            self._fault_of_type(field, "an int", value)
        elif not low <= value <= high:
            self.faults.append(f"{field}: {_shown(value)} is not between {low} and {high}")
        else:
            return True
        return False

    def _cube_cap(self) -> None:
        value = self.settled["cube_cap"]
        if value is None:
            return
        if type(value) is not int:
            self._fault_of_type("cube_cap", "an int or None", value)
        elif not 1 <= value <= _LARGEST or value & (value - 1):
            self.faults.append(
                f"cube_cap: {_shown(value)} is not a power of two between 1 and {_LARGEST // 2 + 1}"
            )

    def _scoring(self) -> None:
        value = self.settled["scoring"]
        if isinstance(value, str):
            if value not in SCORING:
                self.faults.append(f"scoring: {_not_one_of(value, tuple(SCORING))}")
            else:
                self.settled["scoring"] = next(name for name in SCORING if name == value)
        elif not isinstance(value, (tuple, list)):
            self._fault_of_type("scoring", "a str or a tuple of 5 int", value)
        elif len(value) != len(STATES):
            self.faults.append(
                f"scoring: a table has {len(STATES)} values ({', '.join(STATES)}), not {len(value)}"
            )
        else:
            for state, number in zip(STATES, value, strict=True):
                if type(number) is not int:
                    self._fault_of_type("scoring", f"an int for {state}", number)
                elif not 1 <= number <= _LARGEST:
                    self.faults.append(
                        f"scoring: {_shown(number)} for {state} is not between 1 and {_LARGEST}"
                    )
            self.settled["scoring"] = tuple(value)

    def _start(self) -> bool:
        """Judge the pairs one by one; True if they can be judged together."""
        value = self.settled["start"]
        if not isinstance(value, (tuple, list)):
            self._fault_of_type("start", "a tuple of (point, count) pairs", value)
            return False
        before = len(self.faults)
        seen: set[int] = set()
        for pair in value:
            if not isinstance(pair, (tuple, list)) or [*map(type, pair)] != [int, int]:
                self._fault_of_type("start", "a (point, count) pair of int", pair)
                continue
            point, count = pair
            if not 1 <= point <= LAST_POINT:
                self.faults.append(f"start: there is no point {_shown(point)}")
            elif point in seen:
                self.faults.append(f"start: point {point} is given twice")
            seen.add(point)
            if count < 1:
                self.faults.append(f"start: {_shown(count)} checkers on point {_shown(point)}")
        return len(self.faults) == before

    def _start_fits(self, movement: str, checkers_sound: bool) -> None:
        pairs: Start = tuple((point, count) for point, count in self.settled["start"])
        start = tuple(sorted(pairs, reverse=True)) or _STARTS[movement]
        total, checkers = sum(count for _, count in start), self.settled["checkers"]
        if checkers_sound and total != checkers:
            self.faults.append(
                f"start: {_shown(total)} checkers stand there, but checkers={checkers}"
            )
        own = {point for point, _ in start}
        shared = sorted(own & {_enemy_point(movement, point) for point in own}, reverse=True)
        if shared:
            places = ", ".join(map(str, shared))
            self.faults.append(f"start: both sides would stand on the mover's points {places}")
        self.settled["start"] = start


def _enemy_point(movement: str, point: int) -> int:
    """Return the mover's number of the point the enemy calls `point`."""
    if movement == "short":
        return LAST_POINT + 1 - point
    half = LAST_POINT // 2
    return point + half if point <= half else point - half


def _need_str(value: object, what: str) -> None:
    if not isinstance(value, str):
        msg = f"{what} is a str, not {_kind(value)}"
        raise TypeError(msg)


def _kind(value: object) -> str:
    return type(value).__name__


def _shown(value: int) -> str:
    # Python refuses to write integers of some thousand digits.
    return str(value) if abs(value) < 10**20 else "a huge number"


def _near(word: str, words: Iterable[str]) -> str:
    import difflib  # with hashlib, a fifth of the time that importing nardcore took

    close = difflib.get_close_matches(word.lower(), list(words), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _not_one_of(word: str, words: tuple[str, ...]) -> str:
    return f"{word!r} is not one of {', '.join(words)}{_near(word, words)}"


def _no_preset(name: str) -> str:
    return f"there is no preset {name!r}{_near(name, PRESETS)}"


def _no_field(field: str) -> str:
    return f"there is no field {field!r}{_near(field, _FIELDS)}"


class _UnreadableError(Exception):
    """A value in the text form that cannot be read."""


_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


def _read_int(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        msg = f"{text!r} is not a whole number"
        raise _UnreadableError(msg)
    return int(text)


def _read(field: str, text: str) -> Any:
    """Read the text of one value; what the value may be is judged later."""
    if field in _SWITCHES:
        if text not in ("true", "false"):
            raise _UnreadableError(_not_one_of(text, ("true", "false")))
        return text == "true"
    if field == "cube_cap" and text == "none":
        return None
    if field in _COUNTS or field in ("checkers", "cube_cap"):
        return _read_int(text)
    if field == "scoring" and "/" in text:
        return tuple(_read_int(number) for number in text.split("/"))
    if field == "start":
        pairs = [pair.split(":") for pair in text.split(",")]
        if any(len(pair) != 2 for pair in pairs):
            msg = f"{text!r} is not of the form point:count,point:count"
            raise _UnreadableError(msg)
        return tuple((_read_int(point), _read_int(count)) for point, count in pairs)
    return text


def _write(value: object) -> str:
    """Write one value as `_read` reads it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        if isinstance(value[0], tuple):
            return ",".join(f"{point}:{count}" for point, count in value)
        return "/".join(map(str, value))
    return str(value)


@functools.lru_cache(maxsize=256)
def _name(rules: Rules) -> str:
    values = _values(rules)

    def differences(base: Rules) -> list[str]:
        return [field for field in _FIELDS if getattr(base, field) != values[field]]

    # min() keeps the first of equals. A base of the other movement would read like another game.
    base, fields = min(
        (
            (name, differences(preset))
            for name, preset in PRESETS.items()
            if preset.movement == rules.movement
        ),
        key=lambda candidate: len(candidate[1]),
    )
    return "+".join([base, *(f"{field}={_write(values[field])}" for field in fields)])


def _fingerprint(title: str, parts: Iterable[tuple[str, object]]) -> str:
    lines = [f"nardcore {title} 1", *(f"{field}={_write(value)}" for field, value in parts)]
    import hashlib

    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()[:16]


def _parts(rules: Rules, fields: Iterable[str]) -> list[tuple[str, object]]:
    # Fields of the other movement say nothing, and leaving them out keeps the fingerprints of one
    # movement when the other gains an option.
    foreign = _FOREIGN[rules.movement]
    return [(field, getattr(rules, field)) for field in fields if field not in foreign]


@functools.lru_cache(maxsize=256)
def _movement_fingerprint(rules: Rules) -> str:
    return _fingerprint("movement", _parts(rules, _MOVEMENT_FIELDS))


@functools.lru_cache(maxsize=256)
def _classes_fingerprint(rules: Rules) -> str:
    return _fingerprint("classes", _parts(rules, _MOVEMENT_FIELDS + _CLASSIFIER_FIELDS))


@functools.lru_cache(maxsize=256)
def _bearoff_fingerprint(rules: Rules, outside: bool, scoring: bool) -> str:
    # Only what can matter once the sides are past each other, so that movements share tables. Every
    # value is written whatever the movement.
    parts: list[tuple[str, object]] = [
        ("checkers", rules.checkers),
        ("exact_first", rules.exact_first),
    ]
    if outside:
        parts.append(("last_home_larger", rules.last_home_larger))
    if rules.block == "flat":
        parts += [("block", rules.block), ("block_timing", rules.block_timing)]
    if scoring:
        parts += [(field, getattr(rules, field)) for field in _CLASSIFIER_FIELDS]
        parts.append(("scoring", rules.points))
    return _fingerprint("bearoff", parts)


BACKGAMMON: Final = Rules(scoring="backgammon", stake="cube")
SHORT_NARDY: Final = Rules(hit_and_hide="board", scoring="oin_mars")
SHORT_DAVE: Final = Rules(hit_and_hide="board", scoring="single", stake="dave_geometric")
TRIKTRAK: Final = Rules(exact_first=True, scoring="triktrak", opening="reroll")
TRIKTRAK_UA: Final = Rules(scoring="triktrak", opening="reroll")
SHORT_BEGINNER: Final = Rules(last_home_larger=True, scoring="beginner", opening="reroll")
LONG_NARDY: Final = Rules(
    movement="long", scoring="oin_mars", opening="reroll", next_starter="winner"
)
LONG_BEGINNER: Final = Rules(
    movement="long",
    head_exception="any_double",
    block="off",
    long_koks="all_in_start",
    scoring="beginner",
    opening="reroll",
)
LONG_CLASSIC: Final = Rules(
    movement="long", head_limit="free", block="flat", scoring="oin_mars", opening="reroll"
)
FNR_SHORT: Final = Rules(scoring="oin_mars", stake="cube")
FNR_LONG: Final = Rules(
    movement="long",
    head_exception_for="second",
    block_timing="each_step",
    scoring="oin_mars",
    stake="cube",
)
NACKGAMMON: Final = Rules(
    start=((24, 2), (23, 2), (13, 4), (8, 3), (6, 4)), scoring="backgammon", stake="cube"
)
HYPERGAMMON: Final = Rules(
    checkers=3, start=((24, 1), (23, 1), (22, 1)), scoring="backgammon", stake="cube"
)

PRESETS: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        "backgammon": BACKGAMMON,
        "short_nardy": SHORT_NARDY,
        "short_dave": SHORT_DAVE,
        "triktrak": TRIKTRAK,
        "triktrak_ua": TRIKTRAK_UA,
        "short_beginner": SHORT_BEGINNER,
        "long_nardy": LONG_NARDY,
        "long_beginner": LONG_BEGINNER,
        "long_classic": LONG_CLASSIC,
        "fnr_short": FNR_SHORT,
        "fnr_long": FNR_LONG,
        "nackgammon": NACKGAMMON,
        "hypergammon": HYPERGAMMON,
    }
)
"""The named rulesets, in the order of the rules page."""
