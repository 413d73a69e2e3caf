# Counter-based dice (src/philox.h).
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef extern from "philox.h" nogil:
    ctypedef struct stream_t "nc_stream":
        pass
    uint64_t nc_mulhilo(uint64_t a, uint64_t b, uint64_t *hi) noexcept
    void nc_philox(const uint64_t *key, uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, uint64_t *out) noexcept
    void nc_stream_begin(stream_t *s, const uint64_t *key, uint64_t trial, uint64_t stream) noexcept
    uint32_t nc_stream_below(stream_t *s, uint64_t ply, uint32_t n) noexcept


cdef enum:
    STREAM_DICE = 0
    STREAM_POLICY = 1
    STREAM_OPENING = 2
    STREAM_STRATA = 3


cdef void roll(stream_t *s, uint64_t ply, bint no_double, int *out) noexcept nogil
cdef void pair_of(uint32_t r, bint no_double, int *out) noexcept nogil
cdef void fill_cycle(const uint64_t *key, uint64_t cycle, uint32_t n, uint8_t *first, uint8_t *second) noexcept nogil
