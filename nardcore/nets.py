"""Small nets that rate positions: their files, and how they are made into evaluators.

A *player* is a net for positions in contact, one for races, and, if it prunes, a small one over
plain points that picks the plays worth a closer look. A file (``*.npz``, no pickle) holds the
arrays ``<part>/W1``, ``b1``, ``W2``, ``scale`` and ``b2`` of each part and ``meta``, JSON.

>>> import nardcore as nc
>>> sorted(nc.nets.PARTS)
['contact', 'prune', 'race']
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from nardcore._net import (
    MAX_KEEP,
    PARTS,
    Player,
    check,
    feature_movement,
    feature_sets,
    features,
    possible,
    quantise,
    race,
)
from nardcore._whole_file import write_whole
from nardcore.errors import FormatError
from nardcore.rules import SCORING, Rules

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MAX_KEEP",
    "PARTS",
    "PlayerFile",
    "feature_sets",
    "features",
    "forward",
    "load",
    "make",
    "possible",
    "quantise",
    "race",
    "save",
]

Arrays = dict[str, "NDArray[Any]"]

_ARRAYS = ("W1", "b1", "W2", "scale", "b2")
_MOST_BYTES = 1 << 27  # of all arrays together, before any is read


@dataclass(frozen=True, eq=False)
class PlayerFile:
    """A player's nets and what is said of them.

    Attributes
    ----------
    parts : dict
        The arrays of each part: quantised nets, see `quantise`.
    sets : dict
        The feature set of each part.
    rules : Rules
        The rules it was trained for.
    scoring : tuple of int
        The points it was trained for.
    keep : int
        How many plays are left after pruning; 0 rates all.
    meta : dict
        All that the file says, the recipe of the training too.
    """

    parts: dict[str, Arrays]
    sets: dict[str, str]
    rules: Rules
    scoring: tuple[int, ...]
    keep: int
    meta: dict[str, Any]


def _refuse(what: str) -> NoReturn:
    msg = f"this is no player: {what}"
    raise FormatError(msg) from None


def _read_meta(meta: Any) -> tuple[dict[str, str], Rules, tuple[int, ...], int]:
    if not isinstance(meta, Mapping):
        _refuse("meta is no JSON object")
    sets = meta.get("sets")
    if not isinstance(sets, dict) or not {"contact", "race"} <= set(sets) <= set(PARTS):
        _refuse("meta['sets'] names the feature sets of contact, race and perhaps prune")
    known = feature_sets()
    for part, name in sets.items():
        if name not in known:
            _refuse(f"the feature set {name!r} of {part} is unknown to this version")
    try:
        rules = Rules.parse(meta.get("rules", ""))
    except (ValueError, TypeError) as error:
        _refuse(f"meta['rules'] is no ruleset: {error}")
    if meta.get("classes", rules.classes_fingerprint) != rules.classes_fingerprint:
        _refuse("meta['classes'] is not the fingerprint of meta['rules']")
    scoring = meta.get("scoring", list(rules.points))
    if isinstance(scoring, str):
        if scoring not in SCORING:
            _refuse(f"meta['scoring'] is the unknown {scoring!r}")
        scoring = list(SCORING[scoring])
    if (
        not isinstance(scoring, list | tuple)
        or len(scoring) != 5
        or not all(type(p) is int and abs(p) <= 100 for p in scoring)
    ):
        _refuse("meta['scoring'] must be five points of -100 to 100, or a name")
    keep = meta.get("keep", 0)
    if type(keep) is not int or not 0 <= keep <= MAX_KEEP:
        _refuse(f"meta['keep'] must be 0 to {MAX_KEEP}")
    return dict(sets), rules, tuple(scoring), keep


def make(parts: Mapping[str, Mapping[str, NDArray[Any]]], meta: Mapping[str, Any]) -> PlayerFile:
    """Put a player together from quantised nets.

    Parameters
    ----------
    parts : mapping
        ``contact``, ``race`` and perhaps ``prune``: what `quantise` gives.
    meta : mapping
        ``sets`` (the feature set of each part) and ``rules`` (a ruleset's name); perhaps
        ``scoring`` (five points or a name), ``keep``, ``classes``, and anything that JSON can hold.

    Raises
    ------
    FormatError
        If they do not fit together.

    Examples
    --------
    >>> make({}, {"sets": {"contact": "contact_short", "race": "race_short"}, "rules": "chess"})
    Traceback (most recent call last):
        ...
    nardcore.errors.FormatError: this is no player: meta['rules'] is no ruleset: ...
    """
    sets, rules, scoring, keep = _read_meta(meta)
    if rules.checkers != 15:
        _refuse(f"nets are made for 15 checkers, not {rules.checkers}")
    if set(parts) != set(sets):
        _refuse(f"it has the nets {sorted(parts)} and names sets for {sorted(sets)}")
    taken: dict[str, Arrays] = {}
    for part, arrays in parts.items():
        if feature_movement(sets[part]) != rules.movement:
            _refuse(f"the feature set {sets[part]} is not for {rules.movement} nardy")
        if part == "prune" and not sets[part].startswith("points_"):
            _refuse(f"the net that prunes sees plain points, not {sets[part]}")
        try:
            check(arrays, sets[part])
        except ValueError as error:
            _refuse(f"{part}: {error}")
        taken[part] = {key: np.ascontiguousarray(arrays[key]) for key in _ARRAYS}
    return PlayerFile(taken, sets, rules, scoring, keep if "prune" in sets else 0, dict(meta))


def save(player: PlayerFile, path: str | os.PathLike[str]) -> None:
    """Write a player to a file.

    Examples
    --------
    >>> import tempfile, numpy as np, nardcore as nc
    >>> def still(name):
    ...     rows, _, buckets = nc.nets.feature_sets()[name]
    ...     zeros = {"W1": np.zeros((rows, 64)), "b1": np.zeros(64)}
    ...     zeros |= {"W2": np.zeros((buckets, 10, 64)), "b2": np.zeros((buckets, 10))}
    ...     return nc.nets.quantise(zeros, name)
    >>> sets = {"contact": "contact_short", "race": "race_short"}
    >>> idle = nc.nets.make(
    ...     {p: still(s) for p, s in sets.items()}, {"sets": sets, "rules": "backgammon"}
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nc.nets.save(idle, f"{folder}/idle.npz")
    ...     nc.nets.load(f"{folder}/idle.npz").scoring
    (1, 2, 2, 3, 3)
    """
    arrays: dict[str, Any] = {
        f"{part}/{key}": a for part, of in player.parts.items() for key, a in of.items()
    }
    text = json.dumps(player.meta, ensure_ascii=False, sort_keys=True)
    arrays["meta"] = np.frombuffer(text.encode(), np.uint8)
    whole = io.BytesIO()
    np.savez_compressed(whole, **arrays)
    write_whole(path, whole.getvalue())


def load(path: str | os.PathLike[str]) -> PlayerFile:
    """Read a player from a file, all of it checked.

    Raises
    ------
    FormatError
        If the file is no player, is damaged, or of another kind of net.

    Examples
    --------
    >>> load("nothing.npz")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'nothing.npz'
    """
    parts: dict[str, Arrays] = {}
    with Path(path).open("rb") as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                    _refuse("it is too large")
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                meta = file["meta"]
                if meta.dtype.kind == "U" and meta.ndim == 0:
                    text = str(meta)
                else:
                    text = meta.astype(np.uint8, casting="equiv").tobytes().decode()
                for key in file.files:
                    part, _, name = key.partition("/")
                    if key != "meta":
                        parts.setdefault(part, {})[name] = file[key]
            found = json.loads(text)
        except FormatError:
            raise
        # zipfile, zlib, numpy and json each have their own ways to say that a file is damaged
        except Exception as error:
            _refuse(str(error))
    return make(parts, found)


def native(
    player: PlayerFile,
    *,
    points: tuple[int, ...] | None = None,
    keep: int | None = None,
    full: bool = False,
) -> Player:
    """Make the nets ready for the kernels; see `nardcore.Evaluator.net`.

    Examples
    --------
    >>> callable(native)
    True
    """
    return Player(
        player.parts,
        player.sets,
        player.rules,
        player.scoring if points is None else tuple(points),
        player.keep if keep is None else keep,
        full,
    )


def forward(
    net: Mapping[str, ArrayLike],
    boards: ArrayLike,
    name: str,
    mask: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Rate boards by a float net: what the integers of a quantised one stand for, slowly.

    Parameters
    ----------
    net : mapping
        ``W1``, ``b1``, ``W2``, ``b2``, as `quantise` takes them.
    boards : array-like of int8, shape (n, 32)
        After-positions.
    name : str
        The feature set.
    mask : array-like of bool, shape (n, 10), optional
        The classes to choose from; see `possible`. All by default.

    Returns
    -------
    float64[n, 10]
        Probabilities of the outcome classes, seen by the side that has just moved.

    Examples
    --------
    >>> import numpy as np, nardcore as nc
    >>> zeros = {"W1": np.zeros((897, 64)), "b1": np.zeros(64)}
    >>> zeros |= {"W2": np.zeros((1, 10, 64)), "b2": np.zeros((1, 10))}
    >>> forward(zeros, nc.batch.start(1), "points_short").round(2)[0, :3].tolist()
    [0.1, 0.1, 0.1]
    """
    w1, b1, w2, b2 = (np.asarray(net[key], np.float64) for key in ("W1", "b1", "W2", "b2"))
    rows, buckets = features(boards, name)
    acc = b1 + w1[rows].sum(1)
    hidden = np.clip(acc, 0, 1) ** 2
    logits = np.einsum("nkh,nh->nk", w2[buckets], hidden) + b2[buckets]
    if mask is not None:
        logits = np.where(np.asarray(mask, np.bool_), logits, -np.inf)
    logits -= logits.max(1, keepdims=True)
    p = np.exp(logits)
    return np.asarray(p / p.sum(1, keepdims=True))
