# Bear-off tables as other Cython modules see them: a Probe's `t` is what native code asks.
from libc.stdint cimport int32_t, int64_t
from nardcore._board cimport Position
from nardcore._rules cimport CompiledRules
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
    cdef CompiledRules rules            # those that single positions may be of
    cdef bint find(self, Position position, bint admitted, int64_t *index, int *side) noexcept


cdef class Probe:
    cdef table_t t


cdef struct probe_t:
    const lookup_t *lookup
    int total
    bint turned, single


cdef class TwoSidedProbe(Probe):
    cdef probe_t s
    cdef readonly TwoSidedTable table


cdef struct contact_t:
    const float *values
    int64_t n                           # positions of a side
    int total


cdef class ContactTable:
    cdef object kept
    cdef contact_t s
    cdef CompiledRules rules            # those that single positions may be of
    cdef const float *find(self, Position position, bint admitted) noexcept


cdef class ContactProbe(Probe):
    cdef readonly ContactTable table
