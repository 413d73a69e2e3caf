"""Two-sided tables larger than the memory, built in their file.

The file under construction lies beside the table's own, with the header of a table whose data are
not yet hashed and the number of the last level that is safely on the disk. Levels only add to the
data, so a build that was interrupted, at whatever moment, does the level after that one again and
goes on.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _bearoff, _movegen
from nardcore.bearoff import _file
from nardcore.bearoff._crew import Crew
from nardcore.bearoff._two import DTYPES, VALUES, _about, _fingerprint, _names
from nardcore.errors import TableError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

if TYPE_CHECKING:
    from nardcore.bearoff._two import _Plan
    from nardcore.typing import Progress

__all__ = ["build_in_file"]


def build_in_file(
    plan: _Plan, path: Path, max_memory: int, threads: int | None, progress: Progress | None
) -> None:
    """Build a table in a file, or go on with one, and give it its name at the end."""
    shapes = [(name, plan.dtype, shape) for name, shape in plan.shapes().items()]
    placed, size = _file.layout(shapes)
    about = {
        **_about(plan.checkers, plan.equities, plan.dtype, plan.scoring),
        "rules": plan.rules.name,
        "fingerprint": _fingerprint(plan.rules, plan.equities, plan.scoring),
    }
    header = _file.make_header("two-sided", about, placed, size)
    offsets = {entry["name"]: entry["offset"] for entry in placed}
    _file.check_place(path)
    with Crew(threads, progress, plan.pairs) as crew:
        crew.threads = min(crew.threads, _threads_that_fit(plan, max_memory))
        part = path.with_name(f".{path.name}.building")
        handle = os.open(part, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(handle, path)
            level = _resume(handle, header, size)
            if level is None:
                _reserve(handle, size, part, path)
                for half, (mover, other) in zip(
                    _names(plan.checkers, plan.equities), plan.halves(), strict=False
                ):
                    for name in half:
                        _write_ends(handle, offsets[name], plan, mover, other)
                level = 0
                _mark(handle, header, level)
            _run(crew, plan, handle, offsets, header, level)
            digest = _file.digest_of(part)
            _write(handle, _file.pack_header({**header, "sha256": digest}), 0)
            os.fsync(handle)
            _file.settle(part, path)
        finally:
            os.close(handle)


def _run(
    crew: Crew,
    plan: _Plan,
    handle: int,
    offsets: dict[str, int],
    header: dict[str, Any],
    level: int,
) -> None:
    at = [[offsets[name] for name in half] for half in _names(plan.checkers, plan.equities)]
    programs = plan.programs(crew)
    job = _bearoff.TwoSidedJob(
        programs[0],
        programs[1],
        DTYPES.index(plan.dtype),
        len(VALUES[plan.equities]),
        _movegen.isa() == "avx2",
        crew.stop,
        fd=handle,
        offsets=at if len(at) == 2 else at * 2,
    )
    for done in range(level + 1):
        crew.advance(plan.pairs_of(done))
    for now in range(level + 1, plan.levels):
        plan.run_level(crew, job, now)
        os.fsync(handle)
        _mark(handle, header, now)


def _threads_that_fit(plan: _Plan, max_memory: int) -> int:
    """Say how many threads have room: each holds the rows of one strip."""
    longest = max(len(side) for side in plan.sides)
    values = len(VALUES[plan.equities])
    line = _bearoff.LANES * np.dtype(plan.dtype).itemsize
    each = longest * line * (values + (2 if values > 1 else 0)) + 2 * _bearoff.LANES * line
    fixed = sum(450 * len(plan.sides[m]) for m in plan.movers)
    fit = int((max_memory - fixed) // each)
    if fit < 1:
        msg = f"max_memory={max_memory:,} is too small: this build needs {fixed + each:,} bytes"
        raise TableError(msg)
    return fit


def _lock(handle: int, path: Path) -> None:
    """Keep other processes from the same file; the lock ends with this process, however it ends."""
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        msg = f"another process is building {path}"
        raise TableError(msg) from None


def _resume(handle: int, header: dict[str, Any], size: int) -> int | None:
    """Find the last finished level of the same table in a file; None to begin again."""
    if os.fstat(handle).st_size != size:
        return None
    page = os.read(handle, _file.HEADER)
    for_level = _file.unpack_header(page)
    if for_level is None or type(for_level.get("finished")) is not int:
        return None
    level = for_level.pop("finished")
    return int(level) if for_level == header else None


def _reserve(handle: int, size: int, part: Path, path: Path) -> None:
    """Take the room on the disk now, so that it cannot run out later."""
    os.ftruncate(handle, 0)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, size)
        else:
            os.ftruncate(handle, size)
    except OSError as error:
        os.ftruncate(handle, 0)
        part.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EFBIG):
            msg = f"there is no room for the {size:,} bytes of the table"
            raise OSError(error.errno, msg, str(path)) from error
        raise


def _mark(handle: int, header: dict[str, Any], level: int) -> None:
    _write(handle, _file.pack_header({**header, "finished": level}), 0)
    os.fsync(handle)


def _write(handle: int, data: bytes | memoryview, offset: int) -> None:
    view = memoryview(data).cast("B")
    while view:
        os.lseek(handle, offset, os.SEEK_SET)
        n = os.write(handle, view)
        view, offset = view[n:], offset + n


def _write_ends(handle: int, offset: int, plan: _Plan, mover: int, other: int) -> None:
    """Write the values of finished games: line 0 of every strip, lane 0 of the first strip."""
    lost, won = plan.ends(mover)
    strips, rows = -(-len(lost) // _bearoff.LANES), len(plan.sides[other])
    padded = np.zeros(strips * _bearoff.LANES, plan.dtype)
    padded[: len(lost)] = lost
    lines = padded.reshape(strips, _bearoff.LANES)
    strip: NDArray[Any] = np.zeros((rows, _bearoff.LANES), plan.dtype)
    strip[0] = lines[0]
    strip[:, 0] = won
    _write(handle, strip.reshape(-1).view(np.uint8).data, offset)
    for s in range(1, strips):
        _write(handle, lines[s].view(np.uint8).data, offset + s * strip.nbytes)
