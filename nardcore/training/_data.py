"""Sets of labelled after-positions: 52 bytes each, in memory and in files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nardcore._whole_file import write_whole
from nardcore.errors import FormatError
from nardcore.typing import Boards

__all__ = ["Labelled"]

_SCALE = 30000
_MOST = 32767


@dataclass(frozen=True, eq=False)
class Labelled:
    """After-positions and the chances to be learned for them.

    Attributes
    ----------
    boards : ndarray of int8, shape (n, 32)
        Unfinished after-positions, seen by the side that has just moved.
    chances : ndarray of int16, shape (n, 10)
        Of the ten classes for that side, in units of 1/30000. Estimates without bias may lie a
        little below 0 or above 1; they sum to 1. What is farther out than 1.09 is cut.

    Examples
    --------
    >>> import nardcore as nc
    >>> data = Labelled.of_outcomes(nc.batch.start(2), np.array([0, 7], np.uint8))
    >>> len(data), data.targets(slice(1, 2))[0, 7]
    (2, np.float32(1.0))
    """

    boards: Boards
    chances: NDArray[np.int16]

    def __post_init__(self) -> None:
        if self.boards.shape != (len(self.chances), 32) or self.chances.shape[1:] != (10,):
            shapes = f"{self.boards.shape} and chances {self.chances.shape}"
            msg = f"boards {shapes} do not belong together"
            raise ValueError(msg)

    def __len__(self) -> int:
        return len(self.boards)

    @staticmethod
    def of(boards: Boards, chances: NDArray[np.floating]) -> Labelled:
        """Take chances of any floats.

        Examples
        --------
        >>> import nardcore as nc
        >>> Labelled.of(nc.batch.start(1), np.full((1, 10), 0.1)).targets()[0, 0].round(3)
        np.float32(0.1)
        """
        units = np.clip(np.rint(chances * np.float32(_SCALE)), -_MOST, _MOST).astype(np.int16)
        return Labelled(boards, units)

    @staticmethod
    def of_outcomes(boards: Boards, classes: NDArray[np.uint8]) -> Labelled:
        """Take the classes that games ended in.

        Examples
        --------
        >>> import nardcore as nc
        >>> Labelled.of_outcomes(nc.batch.start(1), np.array([5])).targets()[0].argmax()
        np.int64(5)
        """
        chances = np.zeros((len(boards), 10), np.int16)
        chances[np.arange(len(boards)), classes] = _SCALE
        return Labelled(boards, chances)

    @staticmethod
    def join(parts: Sequence[Labelled]) -> Labelled:
        """Put sets together.

        Examples
        --------
        >>> import nardcore as nc
        >>> one = Labelled.of_outcomes(nc.batch.start(2), np.array([0, 5]))
        >>> len(Labelled.join([one, one]))
        4
        """
        return Labelled(
            np.concatenate([part.boards for part in parts]),
            np.concatenate([part.chances for part in parts]),
        )

    def take(self, which: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Labelled:
        """Give some of the samples.

        Examples
        --------
        >>> import nardcore as nc
        >>> len(Labelled.of_outcomes(nc.batch.start(2), np.array([0, 5])).take(slice(1)))
        1
        """
        return Labelled(self.boards[which], self.chances[which])

    def targets(self, which: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float32]:
        """Give chances as floats that sum to one.

        Examples
        --------
        >>> import nardcore as nc
        >>> Labelled.of_outcomes(nc.batch.start(2), np.array([0, 5])).targets().sum()
        np.float32(2.0)
        """
        found = self.chances[which].astype(np.float32)
        found /= found.sum(axis=1, keepdims=True)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz file, under its name only when it is whole.

        Examples
        --------
        >>> import tempfile, nardcore as nc
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Labelled.of_outcomes(nc.batch.start(2), np.array([0, 5])).save(f"{folder}/x.npz")
        ...     len(Labelled.open(f"{folder}/x.npz"))
        2
        """
        whole = io.BytesIO()
        np.savez(whole, boards=self.boards, chances=self.chances)
        write_whole(path, whole.getvalue())

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Labelled:
        """Read what `save` wrote.

        Raises
        ------
        FormatError
            If the file is none, or damaged.

        Examples
        --------
        >>> Labelled.open("none.npz")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'none.npz'
        """
        try:
            with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                boards, chances = file["boards"], file["chances"]
            if boards.dtype != np.int8 or chances.dtype != np.int16:
                kinds = f"boards are {boards.dtype} and chances {chances.dtype}"
                msg = f"{kinds}, not int8 and int16"
                raise ValueError(msg)
            return Labelled(np.ascontiguousarray(boards), chances)
        except (KeyError, ValueError, TypeError, EOFError, BadZipFile) as error:
            msg = f"{path} holds no labelled positions: {error}"
            raise FormatError(msg) from error
