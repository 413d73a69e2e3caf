# Position as other Cython modules see it.
from nardcore._rules cimport CompiledRules
from nardcore._types cimport board_t


cdef class Position:
    cdef board_t b
    cdef CompiledRules r
