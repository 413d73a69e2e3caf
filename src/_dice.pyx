"""Counter-based dice: any roll of any trial of any seed, without the ones before it."""
from libc.stdint cimport int8_t, int64_t, uint64_t

import numpy as np


cdef void roll(stream_t *s, uint64_t ply, bint no_double, int *out) noexcept nogil:
    """The dice of a ply: 36 equal chances, or 30 where an opening throw admits no double."""
    cdef uint32_t r
    if no_double:
        r = nc_stream_below(s, ply, 30)
        out[0] = r // 5
        out[1] = r % 5
        out[1] += out[1] >= out[0]
    else:
        r = nc_stream_below(s, ply, 36)
        out[0] = r // 6
        out[1] = r % 6
    out[0] += 1
    out[1] += 1


cdef _key(const uint64_t[::1] key, uint64_t *out):
    out[0] = key[0]
    out[1] = key[1]


def words(key, uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3):
    """The four words of one counter: for tests against NumPy's Philox."""
    cdef uint64_t k[2]
    cdef uint64_t w[4]
    _key(key, k)
    nc_philox(k, c0, c1, c2, c3, w)
    return [int(w[0]), int(w[1]), int(w[2]), int(w[3])]


def rolls(key, uint64_t trial, int64_t plies, bint no_double_first):
    """The first rolls of a trial, int8[plies, 2]."""
    cdef uint64_t k[2]
    cdef stream_t s
    cdef int d[2]
    cdef int64_t i
    _key(key, k)
    nc_stream_begin(&s, k, trial, STREAM_DICE)
    found = np.empty((plies, 2), np.int8)
    cdef int8_t[:, ::1] out = found
    for i in range(plies):
        roll(&s, i, no_double_first and i == 0, d)
        out[i, 0] = d[0]
        out[i, 1] = d[1]
    return found


def opening_throws(key, uint64_t game, int64_t throws):
    """Throws for the first move of a game, int8[throws, 2]: white's die and black's."""
    cdef uint64_t k[2]
    cdef stream_t s
    cdef int d[2]
    cdef int64_t i
    _key(key, k)
    nc_stream_begin(&s, k, game, STREAM_OPENING)
    found = np.empty((throws, 2), np.int8)
    cdef int8_t[:, ::1] out = found
    for i in range(throws):
        roll(&s, i, False, d)
        out[i, 0] = d[0]
        out[i, 1] = d[1]
    return found


def rolls_of_ply(key, const uint64_t[::1] trials, uint64_t ply, bint no_double):
    """The roll of one ply in many trials, int8[n, 2]."""
    cdef uint64_t k[2]
    cdef stream_t s
    cdef int d[2]
    cdef Py_ssize_t i
    _key(key, k)
    found = np.empty((trials.shape[0], 2), np.int8)
    cdef int8_t[:, ::1] out = found
    for i in range(trials.shape[0]):
        nc_stream_begin(&s, k, trials[i], STREAM_DICE)
        roll(&s, ply, no_double, d)
        out[i, 0] = d[0]
        out[i, 1] = d[1]
    return found


def choices_of_ply(key, const uint64_t[::1] trials, uint64_t ply, const int64_t[::1] counts):
    """The random policy's choice 0 <= i < counts in many trials."""
    cdef uint64_t k[2]
    cdef stream_t s
    cdef Py_ssize_t i
    _key(key, k)
    found = np.empty(trials.shape[0], np.int64)
    cdef int64_t[::1] out = found
    for i in range(trials.shape[0]):
        nc_stream_begin(&s, k, trials[i], STREAM_POLICY)
        out[i] = nc_stream_below(&s, ply, <uint32_t>counts[i])
    return found
