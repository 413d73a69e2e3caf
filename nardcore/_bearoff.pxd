# Bear-off tables as other Cython modules see them: a Probe's `t` is what native code asks.
from libc.stdint cimport int32_t, int64_t
from nardcore._types cimport table_t


cdef class Stop:
    cdef int flag


cdef struct lookup_t:
    int values, dtype
    bint both                           # two numbers of checkers: two halves
    int checkers[2]
    int64_t places[2]
    const char *base[2][4]              # by side of the mover, and value
    const int32_t *place[2]             # by rank


cdef class TwoSidedTable:
    cdef object kept
    cdef lookup_t t


cdef struct probe_t:
    const lookup_t *lookup
    int total
    bint turned, single


cdef class Probe:
    cdef table_t t
    cdef probe_t s
    cdef readonly TwoSidedTable table
