"""Counter-based dice: any roll of any trial of any seed, without the ones before it."""
from libc.stdint cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t

import numpy as np


cdef void pair_of(uint32_t r, bint no_double, int *out) noexcept nogil:
    """The throw number r: of 36, or of the 30 that are no double."""
    if no_double:
        out[0] = r // 5
        out[1] = r % 5
        out[1] += out[1] >= out[0]
    else:
        out[0] = r // 6
        out[1] = r % 6
    out[0] += 1
    out[1] += 1


cdef void roll(stream_t *s, uint64_t ply, bint no_double, int *out) noexcept nogil:
    """The dice of a ply: 36 equal chances, or 30 where an opening throw admits no double."""
    pair_of(nc_stream_below(s, ply, 30 if no_double else 36), no_double, out)


cdef void shuffled(stream_t *s, uint64_t at, uint32_t n, uint8_t *out) noexcept nogil:
    """A random order of 0 .. n - 1, from words at .. at + n - 1 of a stream."""
    cdef uint32_t i, j
    cdef uint8_t k
    for i in range(n):
        out[i] = i
    for i in range(n - 1, 0, -1):
        j = nc_stream_below(s, at + i, i + 1)
        k = out[i]
        out[i] = out[j]
        out[j] = k


cdef void fill_cycle(const uint64_t *key, uint64_t cycle, uint32_t n, uint8_t *first, uint8_t *second) noexcept nogil:
    """First two throws of a cycle of 36 n trials: each of n throws once in n trials, each pair of throws once a cycle.

    Block b of n trials has the n first throws in a random order; the second throw of a trial is the b-th of a random
    order of 36 that belongs to its first throw.
    """
    cdef stream_t s
    cdef uint8_t order[36][36]
    cdef uint8_t block[36]
    cdef uint32_t b, k
    nc_stream_begin(&s, key, cycle, STREAM_STRATA)
    for k in range(n):
        shuffled(&s, 36 * k, 36, order[k])
    for b in range(36):
        shuffled(&s, 36 * (36 + b), n, block)
        for k in range(n):
            first[n * b + k] = block[k]
            second[n * b + k] = order[block[k]][b]


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


def strata(key, const uint64_t[::1] trials, bint no_double):
    """The first two throws of stratified trials, int8[n, 2, 2]."""
    cdef uint64_t k[2]
    cdef uint64_t cycle = 0
    cdef uint32_t n = 30 if no_double else 36
    cdef uint8_t first[1296]
    cdef uint8_t second[1296]
    cdef bint known = False
    cdef Py_ssize_t i
    cdef int d[2]
    _key(key, k)
    found = np.empty((trials.shape[0], 2, 2), np.int8)
    cdef int8_t[:, :, ::1] out = found
    for i in range(trials.shape[0]):
        if not known or trials[i] // (36 * n) != cycle:
            cycle = trials[i] // (36 * n)
            fill_cycle(k, cycle, n, first, second)
            known = True
        pair_of(first[trials[i] % (36 * n)], no_double, d)
        out[i, 0, 0] = d[0]
        out[i, 0, 1] = d[1]
        pair_of(second[trials[i] % (36 * n)], False, d)
        out[i, 1, 0] = d[0]
        out[i, 1, 1] = d[1]
    return found
