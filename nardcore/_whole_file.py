"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name beside it, then give it its own.

    Raises
    ------
    OSError
        With the name that was asked for, whatever step failed. What stood there before stays.
    """
    target = Path(path).resolve()  # a link stays one, and its target is written
    if target.exists() and not target.is_file():
        msg = f"{os.fspath(path)} is no regular file, so nothing is written there"
        raise OSError(msg)
    # named before it is made: an interrupt right after the making finds what to remove
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename, error.filename2 = os.fspath(path), None
        raise
