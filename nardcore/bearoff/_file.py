"""Tables as files: a page of header, then arrays as they stand in memory.

A file begins with eight bytes of magic, the length of the header as a little-endian uint32, and
the header itself, JSON padded with zeros to 4096 bytes, of which the last 32 are the JSON's
SHA-256. The arrays follow, little-endian and in C order, each at the offset that the header names.
Files are written under another name, brought to the disk and then renamed: what has a table's name
is a whole table.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nardcore.rules import Rules

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

__all__ = [
    "HEADER",
    "Array",
    "Opened",
    "check_place",
    "layout",
    "make_header",
    "open_table",
    "pack_header",
    "save_table",
    "whole_file",
]

MAGIC = b"NCTABLE\n"
VERSION = 1
HEADER = 4096
_BLOCK = 1 << 24
_SUFFIX = ".part"

Array = NDArray[Any]


class Opened:
    """An open table: its header, its arrays (views of the mapped file) and its path."""

    def __init__(self, path: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
        self.path, self.header, self.arrays = path, header, arrays


def layout(
    shapes: Sequence[tuple[str, str, tuple[int, ...]]],
) -> tuple[list[dict[str, Any]], int]:
    """Place arrays, (name, dtype, shape), one after the other; give also where the file ends."""
    at = HEADER
    placed = []
    for name, dtype, shape in shapes:
        kind = np.dtype(dtype).newbyteorder("<")
        placed.append({"name": name, "dtype": kind.str, "shape": list(shape), "offset": at})
        at += -(-kind.itemsize * int(np.prod(shape, dtype=np.int64)) // 64) * 64
    return placed, at


def make_header(
    kind: str, about: Mapping[str, Any], arrays: list[dict[str, Any]], size: int
) -> dict[str, Any]:
    """Put a header together, still without the hash of the data."""
    from nardcore import __version__

    return {
        "format": "nardcore table",
        "version": VERSION,
        "kind": kind,
        **about,
        "arrays": arrays,
        "size": size,
        "library": __version__,
    }


def pack_header(header: Mapping[str, Any]) -> bytes:
    """Give the first page of a file."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    page = MAGIC + len(text).to_bytes(4, "little") + text
    if len(page) > HEADER - 32:
        msg = f"the header takes {len(page)} bytes, more than {HEADER - 32}"
        raise TableError(msg)
    return page.ljust(HEADER - 32, b"\0") + hashlib.sha256(text).digest()


def save_table(
    path: str | os.PathLike[str],
    kind: str,
    about: Mapping[str, Any],
    arrays: Mapping[str, Array],
) -> None:
    """Write a table; it appears whole or not at all."""
    target = Path(path)
    placed, size = layout([(name, a.dtype.str, a.shape) for name, a in arrays.items()])
    header = make_header(kind, about, placed, size)
    with whole_file(target) as file:
        file.write(bytes(HEADER))
        digest = hashlib.sha256()
        for array, entry in zip(arrays.values(), placed, strict=True):
            flat = np.ascontiguousarray(array, entry["dtype"]).reshape(-1)
            raw = flat.view(np.uint8).data
            for at in range(0, len(raw), _BLOCK):
                part = raw[at : at + _BLOCK]
                digest.update(part)
                file.write(part)
            gap = bytes(-len(raw) % 64)
            digest.update(gap)
            file.write(gap)
        file.seek(0)
        file.write(pack_header({**header, "sha256": digest.hexdigest()}))


def check_place(path: str | os.PathLike[str], size: int = 0) -> Path:
    """See before long work whether a file of a size can be written.

    Raises
    ------
    OSError
        If its folder is not there, is not to be written to or has no room, or if it is a folder.
    """
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        code, what = errno.EISDIR, target
    elif not folder.is_dir():
        code, what = errno.ENOENT, folder
    elif not os.access(folder, os.W_OK):
        code, what = errno.EACCES, folder
    elif shutil.disk_usage(folder).free < size:
        msg = f"there is no room for the {size:,} bytes of the table"
        raise OSError(errno.ENOSPC, msg, str(target))
    else:
        return target
    raise OSError(code, os.strerror(code), str(what))


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only when it is whole and on the disk.

    Until then it is ``.NAME.*.part`` beside it. What a killed process left there is removed.
    """
    check_place(target)
    _sweep(target)
    # named before it is made: an interrupt right after the making finds what to remove
    name = str(target.with_name(f".{target.name}.{secrets.token_hex(4)}{_SUFFIX}"))
    try:
        with os.fdopen(_part(name), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # named while still locked; elsewhere no open file can be renamed
                _name(Path(name), target)
        if fcntl is None:
            _name(Path(name), target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(target)  # writes do not say what they wrote to
        raise


def _part(name: str) -> int:
    """Make a file that a lock shows to be in use, as long as this process lives."""
    while True:
        handle = os.open(
            name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
        )
        if fcntl is None:
            return handle
        # no lock: another process looks whether it is in use, or the file system has none
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # taken for a leftover before it was locked


def _sweep(target: Path) -> None:
    """Remove unfinished files of a table whose writers are no more."""
    if fcntl is None:
        return
    for path in target.parent.glob(f".{escape(target.name)}.????????{_SUFFIX}"):
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        except OSError:  # in use, or gone
            continue


def _name(part: Path, target: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)
    settle(part, target)


def settle(part: Path, target: Path) -> None:
    """Give a finished file its name, on the disk too."""
    part.replace(target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def digest_of(path: Path) -> str:
    """Hash the data of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(HEADER)
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def unpack_header(page: bytes) -> dict[str, Any] | None:
    """Read a first page; None where it is damaged."""
    text = page[12 : 12 + int.from_bytes(page[8:12], "little")]
    if not page.startswith(MAGIC) or hashlib.sha256(text).digest() != page[-32:]:
        return None
    try:
        header = dict(json.loads(text))
        if header["format"] != "nardcore table" or type(header["version"]) is not int:
            return None
    except (ValueError, KeyError, TypeError):
        return None
    return header if type(header.get("size")) is int else None


def read_header(path: Path) -> dict[str, Any]:
    """Read and judge the first page of a file."""
    with path.open("rb") as file:
        page = file.read(HEADER)
        size = file.seek(0, os.SEEK_END)
    if not page.startswith(MAGIC):
        msg = f"{path} is no nardcore table"
        raise TableError(msg)
    if len(page) < HEADER:
        msg = f"{path} is cut short, within its header"
        raise TableError(msg)
    header = unpack_header(page)
    if header is None:
        msg = f"the header of {path} is damaged"
        raise TableError(msg)
    version, expected = header["version"], header["size"]
    if version > VERSION:
        msg = f"{path} has format {version}, newer than {VERSION}, which this nardcore reads"
        raise TableError(msg)
    if size != expected:
        msg = f"{path} has {size} bytes instead of {expected}: it is cut short or damaged"
        raise TableError(msg)
    return header


def open_table(path: str | os.PathLike[str], kind: str, *, verify: bool) -> Opened:
    """Map a table into memory.

    Raises
    ------
    TableError
        If it is no table of this kind, cut, damaged, of a newer format or, with `verify`, altered.
    """
    source = Path(path)
    header = read_header(source)
    if header.get("kind") != kind:
        msg = f"{source} is a {header.get('kind')} table, not a {kind} one"
        raise TableError(msg)
    if verify and digest_of(source) != header.get("sha256"):
        msg = f"{source} has been altered: its data do not have the hash that its header names"
        raise TableError(msg)
    with source.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays: dict[str, Array] = {}
    try:
        for entry in header["arrays"]:
            shape = tuple(int(n) for n in entry["shape"])
            array = np.frombuffer(
                data, np.dtype(entry["dtype"]), int(np.prod(shape, dtype=np.int64)), entry["offset"]
            )
            arrays[entry["name"]] = array.reshape(shape)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        msg = f"the header of {source} is damaged"
        raise TableError(msg) from None
    return Opened(source, header, arrays)


def check_rules(
    path: Path, header: Mapping[str, Any], rules: Rules, fingerprint: str, shared: str
) -> None:
    """Refuse a table of other rules."""
    if header.get("fingerprint") != fingerprint:
        msg = (
            f"{path} is a table for {header.get('rules')}, whose {shared} is not that of "
            f"{rules.name}"
        )
        raise TableError(msg)
