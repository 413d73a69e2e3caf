"""Recipes: what is trained, on what, in which order; a TOML file for each net that ships."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from nardcore.errors import FormatError
from nardcore.rules import Rules
from nardcore.training._fit import Fit
from nardcore.training._floats import PLAIN, feature_set
from nardcore.training._positions import Games

__all__ = ["NetPlan", "Recipe", "Round", "Source"]

PARTS = ("prune", "contact", "race")
LABELS = ("outcomes", "trace", "look_ahead", "look_ahead_trace")

_Plan = TypeVar("_Plan")


@dataclass(frozen=True)
class NetPlan:
    """The shape of one net.

    Attributes
    ----------
    features : str
        Its set of features.
    hidden : int
        Its hidden units: a multiple of 64, 512 at most.

    Examples
    --------
    >>> NetPlan("plain", 64).hidden
    64
    """

    features: str
    hidden: int


@dataclass(frozen=True)
class Source:
    """Where some of a round's positions come from.

    Attributes
    ----------
    positions : int
        How many.
    games : Games
        The games that give them.
    mined : float
        Games begin at this share of the newest labels by look_ahead: where the player and its
        look-ahead disagree most. 0: at the start of the rules.
    phase : {"", "contact", "race"}
        Keep only these of the positions.

    Examples
    --------
    >>> Source(1000).mined
    0.0
    """

    positions: int
    games: Games = field(default_factory=Games)
    mined: float = 0.0
    phase: str = ""


@dataclass(frozen=True)
class Round:
    """One round: games, labels, fits.

    Attributes
    ----------
    labels : {"outcomes", "trace", "look_ahead", "look_ahead_trace"}
        What the positions are labelled with: how their games ended, that mixed with what the player
        says of the positions that followed, its look-ahead over the 21 rolls, or that corrected by
        what followed.
    sources : tuple of Source
        The positions.
    nets : tuple of str
        The nets that are fitted: of ``"prune"``, ``"contact"``, ``"race"``.
    start_copies : int
        So many samples more of the position in which nobody has moved, which no play results in,
        with its look-ahead.
    window : int
        Over the labels of so many rounds, this one the last.
    hidden : mapping of str to int
        From this round on these nets have so many hidden units: new ones are added.
    fresh : bool
        Whether fits begin with random weights; else where the last round ended.
    fit : Fit
        How.

    Examples
    --------
    >>> Round("outcomes", (Source(1000),)).nets
    ('prune',)
    """

    labels: Literal["outcomes", "trace", "look_ahead", "look_ahead_trace"]
    sources: tuple[Source, ...]
    nets: tuple[str, ...] = ("prune",)
    start_copies: int = 0
    window: int = 1
    hidden: Mapping[str, int] = field(default_factory=dict)
    fresh: bool = False
    fit: Fit = field(default_factory=Fit)


@dataclass(frozen=True)
class Recipe:
    """A whole training.

    Attributes
    ----------
    name : str
        The name of the player that comes of it.
    rules : Rules
        By these it plays its games, and by their points it chooses.
    seed : int
        Of everything at random.
    nets : dict of str to NetPlan
        Its nets; the net "prune" plays alone while there is no other.
    rounds : tuple of Round
        In their order.
    keep : int
        How many plays the net "prune" leaves for the others; 0: all.
    holdout : int
        Labels of each round that no fit sees.
    races : int
        Races in which both sides are on so many points are labelled from the one-sided bear-off
        table; 0: none.
    duel : int
        Games of the duels after each round.
    measured : dict
        What came of it when it was made: for readers, not used.

    Examples
    --------
    >>> recipe = Recipe.of(
    ...     {
    ...         "name": "small",
    ...         "rules": "backgammon",
    ...         "holdout": 100,
    ...         "nets": {"prune": {"features": "plain", "hidden": 64}},
    ...         "rounds": [{"labels": "outcomes", "sources": [{"positions": 1000}]}],
    ...     }
    ... )
    >>> recipe.rounds[0].sources[0].positions
    1000
    """

    name: str
    rules: Rules
    nets: Mapping[str, NetPlan]
    rounds: tuple[Round, ...]
    seed: int = 1
    keep: int = 6
    holdout: int = 20_000
    races: int = 6
    duel: int = 4000
    measured: Mapping[str, Any] | None = None

    @staticmethod
    def of(raw: Mapping[str, Any]) -> Recipe:
        """Read a recipe from plain values.

        Examples
        --------
        >>> Recipe.of({"nets": {}})
        Traceback (most recent call last):
            ...
        nardcore.errors.FormatError: a recipe has the net 'prune' ...

        Raises
        ------
        FormatError
            If something is missing, unknown or of the wrong kind.
        """
        try:
            return Recipe._of(dict(raw))
        except FormatError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            msg = f"this is no recipe: {error}"
            raise FormatError(msg) from error

    def hidden(self, part: str, number: int) -> int:
        """Give how many hidden units a net has in a round.

        Examples
        --------
        >>> import nardcore as nc
        >>> rounds = (Round("outcomes", ()), Round("trace", (), hidden={"prune": 128}))
        >>> recipe = Recipe("x", nc.BACKGAMMON, {"prune": NetPlan("plain", 64)}, rounds)
        >>> recipe.hidden("prune", 0), recipe.hidden("prune", 1)
        (64, 128)
        """
        so_far = (one.hidden[part] for one in self.rounds[: number + 1] if part in one.hidden)
        return max(so_far, default=self.nets[part].hidden)

    @staticmethod
    def _of(raw: dict[str, Any]) -> Recipe:
        nets = {str(k): _net_plan(v, f"nets.{k}") for k, v in dict(raw.pop("nets", {})).items()}
        if not nets or not set(nets) <= set(PARTS) or "prune" not in nets:
            msg = f"a recipe has the net 'prune' and may have others of {', '.join(PARTS)}"
            raise FormatError(msg)
        if {"contact", "race"} & set(nets) and not {"contact", "race"} <= set(nets):
            msg = "the nets 'contact' and 'race' go together"
            raise FormatError(msg)
        rounds = []
        for number, one in enumerate(raw.pop("rounds", [])):
            where, one = f"rounds[{number}]", dict(one)
            sources = []
            for source in one.pop("sources", []):
                games = _plan(Games, source.get("games", {}), f"{where}.sources.games")
                sources.append(_plan(Source, {**source, "games": games}, f"{where}.sources"))
                if sources[-1].phase not in ("", "contact", "race"):
                    msg = f"{where}.sources.phase: contact or race, not {sources[-1].phase!r}"
                    raise FormatError(msg)
            how = _plan(Fit, one.pop("fit", {}), f"{where}.fit")
            chosen = tuple(one.pop("nets", ["prune"]))
            if not sources or not chosen or not set(chosen) <= set(nets):
                msg = f"{where}: it needs sources, and nets of this recipe"
                raise FormatError(msg)
            hidden = one.pop("hidden", {})
            if not isinstance(hidden, Mapping) or not set(hidden) <= set(nets):
                msg = f"{where}.hidden: expected numbers by nets of this recipe, not {hidden}"
                raise FormatError(msg)
            for part, units in hidden.items():
                _net_plan({"features": nets[part].features, "hidden": units}, where)
            plans = {"sources": tuple(sources), "nets": chosen, "fit": how, "hidden": hidden}
            made = _plan(Round, {**one, **plans}, where)
            if made.labels not in LABELS:
                msg = f"{where}: labels are {', '.join(LABELS)}, not {made.labels!r}"
                raise FormatError(msg)
            rounds.append(made)
        if not rounds:
            msg = "a recipe has rounds"
            raise FormatError(msg)
        if rounds[0].labels != "outcomes":
            msg = "rounds[0].labels: outcomes, for there is no net yet that could label"
            raise FormatError(msg)
        rules = Rules.parse(str(raw.pop("rules", "backgammon")))
        recipe = _plan(
            Recipe, {**raw, "rules": rules, "nets": nets, "rounds": tuple(rounds)}, "recipe"
        )
        _check_whole(recipe)
        return recipe

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Recipe:
        """Read a TOML file.

        Examples
        --------
        >>> Recipe.open("none.toml")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'none.toml'
        """
        try:
            with Path(path).open("rb") as file:
                raw = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            msg = f"{path}: {error}"
            raise FormatError(msg) from error
        return Recipe.of(raw)


_LEAST = {
    "batch": 1,
    "clip": 0.01,
    "duel": 2,
    "epochs": 1e-9,
    "positions": 1,
    "shards": 1,
    "window": 1,
}
"""Of numbers in recipes that may not be 0."""


def _check_whole(recipe: Recipe) -> None:
    """Refuse a recipe whose parts do not belong together: a run would notice late."""
    for part, plan in recipe.nets.items():
        feature_set(plan.features)
        wanted = PLAIN if part == "prune" else f"{part}_{recipe.rules.movement}"
        if plan.features != wanted:
            msg = f"nets.{part}.features: {wanted}, not {plan.features}"
            raise FormatError(msg)
    for number, one in enumerate(recipe.rounds):
        before = recipe.rounds[:number]
        positions = sum(source.positions for source in one.sources)
        if positions <= recipe.holdout:
            msg = f"rounds[{number}]: of {positions} positions {recipe.holdout} are held out"
            raise FormatError(msg)
        mined = any(source.mined for source in one.sources)
        if mined and not any(other.labels == "look_ahead" for other in before):
            msg = f"rounds[{number}]: no round of look_ahead before it has labels to mine in"
            raise FormatError(msg)
        for part, hidden in one.hidden.items():
            last = recipe.hidden(part, number - 1) if number else recipe.nets[part].hidden
            if hidden < last:
                msg = f"rounds[{number}].hidden: {part} has {last} units already, not {hidden}"
                raise FormatError(msg)


def _net_plan(raw: Mapping[str, Any], where: str) -> NetPlan:
    """Fill the plan of a net, which is to be one that can play."""
    plan = _plan(NetPlan, raw, where)
    if not 64 <= plan.hidden <= 512 or plan.hidden % 64:
        msg = f"{where}.hidden: a multiple of 64 up to 512, not {plan.hidden}"
        raise FormatError(msg)
    return plan


def _plan(kind: type[_Plan], raw: Mapping[str, Any], where: str) -> _Plan:
    """Fill a plan, and refuse what it does not know."""
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    if unknown := set(raw) - set(known):
        msg = f"{where}: unknown {', '.join(sorted(unknown))}; known are {', '.join(known)}"
        raise FormatError(msg)
    for name, value in raw.items():
        wanted = str(known[name].type)
        wrong = isinstance(value, bool) != (wanted == "bool") or (
            (wanted == "int" and not isinstance(value, int))
            or (wanted == "float" and not isinstance(value, int | float))
            or (wanted == "str" and not isinstance(value, str))
        )
        if wrong:
            msg = f"{where}.{name}: expected {wanted}, not {value!r}"
            raise FormatError(msg)
        least = _LEAST.get(name, 0)
        if wanted in ("int", "float") and not least <= value < float("inf"):
            msg = f"{where}.{name}: {least} or more, not {value}"
            raise FormatError(msg)
    try:
        return kind(**raw)
    except TypeError as error:
        msg = f"{where}: {error}"
        raise FormatError(msg) from error
