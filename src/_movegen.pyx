"""The kernels chosen for this CPU; batches of positions, perft and expansion."""
import os

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from nardcore._types cimport *
from nardcore._rules cimport CompiledRules, compiled, outcome, sound
from nardcore._simd cimport kernels_t

import numpy as np


cdef const kernels_t *KERNELS = NULL


def _choose():
    """Pick the kernels once: the best the CPU has, or those that NARDCORE_ISA names."""
    global KERNELS
    wanted = os.environ.get("NARDCORE_ISA", "")
    if wanted not in ("", "portable", "avx2", "avx512"):
        msg = f"NARDCORE_ISA is {wanted!r}; it may be portable, avx2 or avx512"
        raise ImportError(msg)
    module = None
    if wanted != "portable":
        try:
            from nardcore import _kernels_avx2 as module
        except ImportError as error:
            if wanted:
                msg = f"NARDCORE_ISA={wanted} asks for kernels that do not run here: {error}"
                raise ImportError(msg) from error
    if module is None:
        from nardcore import _kernels_portable as module
    KERNELS = <const kernels_t *>PyCapsule_GetPointer(module.table, "nardcore.kernels")


_choose()


cdef const kernels_t *kernels() noexcept nogil:
    return KERNELS


def isa() -> str:
    """Name the instruction set of the kernels in use: ``"portable"`` or ``"avx2"``.

    Examples
    --------
    >>> import nardcore as nc
    >>> nc.isa() in ("portable", "avx2")
    True
    """
    return KERNELS.isa.decode()


# ---- batches -------------------------------------------------------------------------------------------------------

def _boards(boards, name="boards"):
    """Take int8[N, 32], C-contiguous, from an array-like of integers."""
    a = np.asarray(boards)
    if a.dtype.names and a.dtype.itemsize == 32:
        a = np.ascontiguousarray(a).view(np.int8).reshape(*a.shape, 32)
    if a.dtype.kind not in "iu":
        msg = f"{name} must be integers of shape (N, 32), not {a.dtype}"
        raise TypeError(msg)
    if a.ndim != 2 or a.shape[1] != 32:
        msg = f"{name} must have the shape (N, 32), not {a.shape}"
        raise ValueError(msg)
    if a.dtype != np.int8:
        if a.size and (a.min() < -128 or a.max() > 127):
            msg = f"{name} hold numbers outside int8"
            raise ValueError(msg)
        a = a.astype(np.int8)
    return np.ascontiguousarray(a)


def _dice(dice, n):
    """Take int8[N, 2] from one pair or N pairs, every die 1..6."""
    a = np.asarray(dice)
    if a.dtype.kind not in "iu":
        msg = f"dice must be integers, not {a.dtype}"
        raise TypeError(msg)
    if a.shape == (2,):
        a = np.broadcast_to(a, (n, 2))
    if a.shape != (n, 2):
        msg = f"dice must have the shape (2,) or ({n}, 2), not {a.shape}"
        raise ValueError(msg)
    if a.size and (a.min() < 1 or a.max() > 6):
        bad = np.nonzero(((a < 1) | (a > 6)).any(axis=1))[0][0]
        msg = f"dice must be 1..6; row {bad} holds {tuple(a[bad].tolist())}"
        raise ValueError(msg)
    return np.ascontiguousarray(a, dtype=np.int8)


cdef _check(CompiledRules rules, const int8_t[:, ::1] boards):
    """Refuse a batch that holds an impossible position, naming the row and every fault."""
    cdef Py_ssize_t i, bad = -1
    with nogil:
        for i in range(boards.shape[0]):
            if not sound(&rules.c, <const board_t *>&boards[i, 0]):
                bad = i
                break
    if bad >= 0:
        from nardcore._faults import board_faults
        from nardcore.errors import PositionError
        faults = board_faults(np.asarray(boards[bad]), rules.rules)
        raise PositionError(tuple(f"row {bad}: {fault}" for fault in faults))


def _out(out, shape, dtype=np.int8):
    """Check a caller's output array, or make one."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.dtype != dtype or not out.flags.c_contiguous or not out.flags.writeable:
        msg = f"out must be a writeable C-contiguous array of {np.dtype(dtype)}"
        raise TypeError(msg)
    if out.shape != shape:
        msg = f"out must have the shape {shape}, not {out.shape}"
        raise ValueError(msg)
    return out


ctypedef int32_t (*plays_t)(const rules_t *, const board_t *, int, int, board_t *) noexcept nogil

cdef enum:
    STRETCH = 1 << 13                   # rolls between two looks at signals

cdef int8_t ALL_ROLLS[21][2]


cdef void _list_rolls() noexcept:
    cdef int a, b, i = 0
    for a in range(1, 7):
        for b in range(1, a + 1):
            ALL_ROLLS[i][0] = a
            ALL_ROLLS[i][1] = b
            i += 1


_list_rolls()


cdef tuple results_of(plays_t generate, CompiledRules c, a, rolls, out):
    """The results of a roll a row, or of all 21 rolls of every row where rolls is None: (indptr, boards).

    Results go to `out`, or to an array whose size is foretold from the first rows, as it costs more to move or to touch
    memory than to fill it.
    """
    cdef const int8_t[:, ::1] rows = a
    cdef const int8_t[:, ::1] given_rolls
    cdef const int8_t *roll
    cdef Py_ssize_t n = rows.shape[0] * (21 if rolls is None else 1), i = 0, stop, room, total = 0
    cdef int32_t k = 0
    cdef int8_t[:, ::1] to
    cdef bint every = rolls is None, fixed = out is not None
    _check(c, rows)
    if not every:
        given_rolls = rolls
    indptr = np.zeros(n + 1, np.int64)
    cdef int64_t[::1] ends = indptr
    if fixed:
        if np.may_share_memory(out, a):
            msg = "out may not overlap boards"
            raise ValueError(msg)
        found = _out(out, (out.shape[0], 32) if getattr(out, "ndim", 0) == 2 else (0, 32))
    else:
        found = np.empty((24 * min(n, 4096) + 2 * NC_MAX_PLAYS, 32), np.int8)
    to = found
    room = to.shape[0]
    cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
    if not scratch:
        raise MemoryError
    try:
        while i < n:
            stop = i + STRETCH if i + STRETCH < n else n
            with nogil:
                while i < stop:
                    roll = &ALL_ROLLS[i % 21][0] if every else &given_rolls[i, 0]
                    k = generate(&c.c, <const board_t *>&rows[i // 21 if every else i, 0], roll[0], roll[1],
                                 <board_t *>&to[total, 0] if room - total >= NC_MAX_PLAYS else scratch)
                    if k < 0 or k > room - total:
                        break
                    if k and room - total < NC_MAX_PLAYS:
                        memcpy(&to[total, 0], scratch, k * sizeof(board_t))
                    total += k
                    i += 1
                    ends[i] = total
            if k < 0:
                raise MemoryError
            PyErr_CheckSignals()
            if i < stop:                        # no room for the results of this row
                if fixed:
                    msg = f"out holds {room} results, not enough from row {i} on"
                    raise ValueError(msg)
                room = max(room + room // 2, total // (i or 1) * n * 11 // 10) + 2 * NC_MAX_PLAYS
                larger = np.empty((room, 32), np.int8)
                larger[:total] = found[:total]
                to = found = larger
    finally:
        free(scratch)
    if not fixed and total < room // 2:
        return indptr, found[:total].copy()
    return indptr, found[:total]


def plays(boards, dice, rules, *, bint steps=False, out=None):
    """Batch form of the generator; see nardcore.batch.plays."""
    cdef CompiledRules c = compiled(rules)
    a = _boards(boards)
    rolls = _dice(dice, a.shape[0])
    indptr, found = results_of(KERNELS.plays, c, a, rolls, out)
    if not steps:
        return indptr, found, None
    moves = np.empty((found.shape[0], 2 * NC_MAX_STEPS), np.int8)
    cdef const int8_t[:, ::1] rows = a
    cdef const int8_t[:, ::1] dice_rows = rolls
    cdef const int8_t[:, ::1] results = found
    cdef const int64_t[::1] ends = indptr
    cdef int8_t[:, ::1] to = moves
    cdef Py_ssize_t i = 0, stop, n = rows.shape[0]
    cdef int64_t k
    while i < n:
        stop = i + STRETCH if i + STRETCH < n else n
        with nogil:
            while i < stop:
                for k in range(ends[i], ends[i + 1]):
                    KERNELS.find_steps(&c.c, <const board_t *>&rows[i, 0], dice_rows[i, 0], dice_rows[i, 1],
                                       <const board_t *>&results[k, 0], &to[k, 0])
                i += 1
        PyErr_CheckSignals()
    return indptr, found, moves


def flip(boards, rules, *, out=None):
    """Batch form of the opponent's view; see nardcore.batch.flip."""
    cdef CompiledRules c = compiled(rules)
    a = _boards(boards)
    cdef const int8_t[:, ::1] rows = a
    _check(c, rows)
    result = _out(out, a.shape)
    cdef int8_t[:, ::1] to = result
    if rows.shape[0] and &to[0, 0] != <int8_t *>&rows[0, 0] and np.may_share_memory(result, a):
        msg = "out may be boards itself or apart from it, but may not overlap it in part"
        raise ValueError(msg)
    if rows.shape[0]:
        with nogil:
            KERNELS.flip(&c.c, <const board_t *>&rows[0, 0], <board_t *>&to[0, 0], rows.shape[0])
    return result


def pips(boards, rules, *, out=None):
    """Batch form of the pip counts; see nardcore.batch.pips."""
    cdef CompiledRules c = compiled(rules)
    a = _boards(boards)
    cdef const int8_t[:, ::1] rows = a
    cdef Py_ssize_t i
    _check(c, rows)
    result = _out(out, (a.shape[0], 2), np.int32)
    cdef int32_t[:, ::1] to = result
    with nogil:
        for i in range(rows.shape[0]):
            pip_counts(&c.c, <const board_t *>&rows[i, 0], &to[i, 0])
    return result


cdef void pip_counts(const rules_t *rules, const board_t *b, int32_t *out) noexcept nogil:
    """Pips of the mover and of the opponent; a checker on the bar has 25 to go."""
    cdef int i, mine = 25 * b.bar[0], theirs = 25 * b.bar[1]
    for i in range(24):
        if b.pt[i] > 0:
            mine += (i + 1) * b.pt[i]
        elif rules.movement == NC_LONG:
            theirs -= ((i + 12) % 24 + 1) * b.pt[i]
        else:
            theirs -= (24 - i) * b.pt[i]
    out[0] = mine
    out[1] = theirs


def results(boards, rules, *, out=None):
    """Batch form of the outcome classes; see nardcore.batch.results."""
    cdef CompiledRules c = compiled(rules)
    a = _boards(boards)
    cdef const int8_t[:, ::1] rows = a
    cdef Py_ssize_t i
    _check(c, rows)
    result = _out(out, (a.shape[0],))
    cdef int8_t[::1] to = result
    with nogil:
        for i in range(rows.shape[0]):
            to[i] = outcome(&c.c, <const board_t *>&rows[i, 0])
    return result


def expand(boards, rules):
    """All results of all 21 rolls of each board, in the order of nardcore.dice.ROLLS; see nardcore.batch.expand."""
    return results_of(KERNELS.plays, compiled(rules), _boards(boards), None, None)


def plays_by(str kernel, boards, dice, rules):
    """`plays` by the kernel "general" or "chosen": for tests, which hold the two against each other."""
    a = _boards(boards)
    return results_of(KERNELS.plays_general if kernel == "general" else KERNELS.plays, compiled(rules), a,
                      _dice(dice, a.shape[0]), None)


# ---- perft ---------------------------------------------------------------------------------------------------------

cdef int64_t count_tree(const rules_t *rules, const board_t *board, int depth, bint weighted,
                        board_t *scratch) except -1 nogil:
    """Nodes of the tree of rolls and plays. scratch holds depth * NC_MAX_PLAYS. Ctrl-C ends it."""
    cdef int64_t total = 0
    cdef int32_t n, i
    cdef int d1, d2, weight
    if depth == 2:                              # a millisecond of work below
        with gil:
            PyErr_CheckSignals()
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            n = KERNELS.plays(rules, board, d1, d2, scratch)
            if n < 0:
                with gil:
                    raise MemoryError
            weight = 2 if weighted and d1 != d2 else 1
            if depth == 1:
                total += weight * n
                continue
            KERNELS.flip(rules, scratch, scratch, n)
            for i in range(n):
                total += weight * count_tree(rules, &scratch[i], depth - 1, weighted, scratch + NC_MAX_PLAYS)
    return total


def perft(board, rules, int depth, bint weighted, d1=None, d2=None):
    """Count the tree below one board; with a roll given, below each result of that roll (a list)."""
    cdef CompiledRules c = compiled(rules)
    cdef const int8_t[:, ::1] rows = _boards(np.asarray(board)[None, :])
    cdef int64_t total = 0
    cdef int32_t n = 0, i
    cdef int a, b
    _check(c, rows)
    cdef board_t *scratch = <board_t *>malloc((depth + 1) * NC_MAX_PLAYS * sizeof(board_t))
    if not scratch:
        raise MemoryError
    try:
        if d1 is None:
            with nogil:
                total = count_tree(&c.c, <const board_t *>&rows[0, 0], depth, weighted, scratch)
            return total
        a = d1
        b = d2
        n = KERNELS.plays(&c.c, <const board_t *>&rows[0, 0], a, b, scratch)
        KERNELS.flip(&c.c, scratch, scratch, n)
        counts = []
        for i in range(n):
            total = 1
            if depth > 1:
                with nogil:
                    total = count_tree(&c.c, &scratch[i], depth - 1, weighted, scratch + NC_MAX_PLAYS)
            counts.append(total)
            PyErr_CheckSignals()
        return counts
    finally:
        free(scratch)
