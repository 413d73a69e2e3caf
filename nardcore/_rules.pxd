# Rules compiled for the kernels.
from libc.stdint cimport uint64_t
from nardcore._types cimport board_t, rules_t


cdef class CompiledRules:
    cdef readonly object rules              # nardcore.Rules
    cdef readonly uint64_t fingerprint      # of the movement
    cdef rules_t c
    cdef board_t start


cdef CompiledRules compiled(object rules)
cdef int outcome(const rules_t *rules, const board_t *b) noexcept nogil
cdef bint sound(const rules_t *rules, const board_t *b) noexcept nogil
