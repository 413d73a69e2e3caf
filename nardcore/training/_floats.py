"""Float nets as they are trained: four arrays over a named set of features, and their files."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nardcore import _train
from nardcore._whole_file import write_whole
from nardcore.errors import FormatError
from nardcore.nets import feature_sets, features, possible
from nardcore.typing import Boards

if TYPE_CHECKING:
    from nardcore.rules import Rules

__all__ = ["FloatNet", "feature_set", "masks_of", "rows_of"]

PLAIN = "plain"
_ARRAYS = ("W1", "b1", "W2", "b2")  # as in files


def feature_set(name: str) -> tuple[int, int, int]:
    """Give the numbers of rows, of active rows and of output buckets of a set of features.

    Examples
    --------
    >>> feature_set("plain")
    (897, 28, 1)
    """
    if name == PLAIN:
        return _train.PLAIN_ROWS, _train.PLAIN_ACTIVE, 1
    known = feature_sets()
    if name not in known:
        msg = f"there is no set of features {name!r}; known are {', '.join([PLAIN, *known])}"
        raise ValueError(msg)
    rows, active, buckets = known[name]
    return rows, active, buckets


def rows_of(name: str, boards: Boards) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Give the active rows and the output bucket of each after-position.

    Examples
    --------
    >>> import nardcore as nc
    >>> rows, buckets = rows_of("plain", nc.batch.start(2))
    >>> rows.shape, buckets.tolist()
    ((2, 28), [0, 0])
    """
    if name == PLAIN:
        return _train.plain_rows(boards), np.zeros(len(boards), np.uint8)
    rows, buckets = features(boards, name)
    return rows, buckets


def masks_of(boards: Boards, rules: Rules) -> NDArray[np.uint16]:
    """Give which classes after-positions can still end in: bit k for class k.

    Examples
    --------
    >>> import nardcore as nc
    >>> masks_of(nc.batch.start(1), nc.BACKGAMMON).shape
    (1,)
    """
    bits = np.left_shift(1, np.arange(10)).astype(np.uint16)
    return np.asarray(possible(boards, rules) @ bits, np.uint16)


@dataclass(frozen=True, eq=False)
class FloatNet:
    """One net in floats.

    Attributes
    ----------
    features : str
        The name of its set of features.
    w1, b1, w2, b2 : ndarray of float32
        ``[rows, hidden]``, ``[hidden]``, ``[buckets, 10, hidden]``, ``[buckets, 10]``.
    about : dict
        What is known of its training, plain values.

    Examples
    --------
    >>> net = FloatNet.fresh("plain", 32, seed=1)
    >>> net.hidden, net.w1.shape
    (32, (897, 32))
    """

    features: str
    w1: NDArray[np.float32]
    b1: NDArray[np.float32]
    w2: NDArray[np.float32]
    b2: NDArray[np.float32]
    about: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def fresh(features: str, hidden: int, *, seed: int) -> FloatNet:
        """Make a net of small random weights.

        Examples
        --------
        >>> FloatNet.fresh("plain", 64, seed=1).w2.shape
        (1, 10, 64)
        """
        rows, active, buckets = feature_set(features)
        rng = np.random.default_rng(seed)
        w1 = rng.normal(0, 0.35 / np.sqrt(active), (rows, hidden)).astype(np.float32)
        w1[-1] = 0
        w2 = rng.normal(0, 1 / np.sqrt(hidden), (1, 10, hidden)).astype(np.float32)
        return FloatNet(
            features,
            w1,
            np.full(hidden, 0.35, np.float32),
            np.repeat(w2, buckets, axis=0),
            np.zeros((buckets, 10), np.float32),
        )

    def widened(self, hidden: int, *, seed: int) -> FloatNet:
        """Give the same net with more hidden units, the new ones of random weights and no say yet.

        Examples
        --------
        >>> import nardcore as nc
        >>> net = FloatNet.fresh("plain", 32, seed=1)
        >>> more = net.widened(64, seed=2)
        >>> boards = nc.batch.start(1)
        >>> more.hidden, bool(np.allclose(more.evaluate(boards), net.evaluate(boards)))
        (64, True)
        """
        if hidden < self.hidden:
            msg = f"a net of {self.hidden} hidden units does not become one of {hidden}"
            raise ValueError(msg)
        new = FloatNet.fresh(self.features, hidden, seed=seed)
        new.w1[:, : self.hidden], new.b1[: self.hidden] = self.w1, self.b1
        new.w2[:, :, : self.hidden], new.w2[:, :, self.hidden :] = self.w2, 0
        new.b2[:] = self.b2
        new.about.update(self.about)
        return new

    @property
    def hidden(self) -> int:
        """The number of hidden units."""
        return len(self.b1)

    @property
    def active(self) -> int:
        """The number of rows that a position has."""
        return feature_set(self.features)[1]

    def copy(self, **about: Any) -> FloatNet:
        """Copy the arrays, and note something about them.

        Examples
        --------
        >>> FloatNet.fresh("plain", 32, seed=1).copy(round=3).about
        {'round': 3}
        """
        w1, b1, w2, b2 = (array.copy() for array in self.arrays.values())
        return FloatNet(self.features, w1, b1, w2, b2, {**self.about, **about})

    @property
    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The arrays by the names they have in files."""
        return {name: getattr(self, name.lower()) for name in _ARRAYS}

    def model(self) -> _train.Model:
        """Give the native model, which uses these arrays.

        Examples
        --------
        >>> net = FloatNet.fresh("plain", 32, seed=1)
        >>> net.model().w1 is net.w1
        True
        """
        return _train.Model(self.w1, self.b1, self.w2, self.b2, self.active)

    def evaluate(self, boards: Boards, rules: Rules | None = None) -> NDArray[np.float32]:
        """Rate after-positions: the ten chances, seen by the side that has just moved.

        With `rules`, classes that these make impossible have none.

        Examples
        --------
        >>> import nardcore as nc
        >>> after = nc.Position.start().plays((3, 1)).boards
        >>> FloatNet.fresh("plain", 32, seed=1).evaluate(after).shape
        (16, 10)
        """
        out = np.empty((len(boards), 10), np.float32)
        model = self.model()
        for first in range(0, len(boards), 1 << 15):
            part = slice(first, min(first + (1 << 15), len(boards)))
            rows, buckets = rows_of(self.features, boards[part])
            masks = None if rules is None else masks_of(boards[part], rules)
            samples = _train.Samples(model, rows, buckets, masks=masks)
            samples.evaluate(out[part], 0, samples.n)
        return out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz file without pickles, under its name only when it is whole.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     FloatNet.fresh("plain", 32, seed=1).save(f"{folder}/net.npz")
        ...     FloatNet.open(f"{folder}/net.npz").features
        'plain'
        """
        meta = json.dumps({"features": self.features, "about": self.about})
        whole = io.BytesIO()
        arrays: dict[str, Any] = {"meta": np.array(meta), **self.arrays}
        np.savez(whole, **arrays)
        write_whole(path, whole.getvalue())

    @staticmethod
    def open(path: str | os.PathLike[str]) -> FloatNet:
        """Read what `save` wrote.

        Raises
        ------
        FormatError
            If the file is none, or damaged.

        Examples
        --------
        >>> FloatNet.open("none.npz")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'none.npz'
        """
        try:
            with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                meta = json.loads(str(file["meta"]))
                arrays = {name: np.ascontiguousarray(file[name], np.float32) for name in _ARRAYS}
            arrays = {name.lower(): array for name, array in arrays.items()}
            net = FloatNet(str(meta["features"]), **arrays, about=dict(meta["about"]))
            net.model()
        except (KeyError, TypeError, ValueError, EOFError, BadZipFile) as error:
            msg = f"{path} holds no float net: {error}"
            raise FormatError(msg) from error
        return net
