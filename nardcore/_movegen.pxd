# Rules compiled for the kernels, and the kernels chosen for this CPU.
from libc.stdint cimport int8_t, int32_t, uint64_t
from nardcore._types cimport board_t, rules_t
from nardcore._simd cimport kernels_t


cdef class CompiledRules:
    cdef readonly object rules              # nardcore.Rules
    cdef readonly uint64_t fingerprint      # of the movement
    cdef rules_t c
    cdef board_t start


cdef const kernels_t *kernels() noexcept nogil
cdef CompiledRules compiled(object rules)
cdef int outcome(const rules_t *rules, const board_t *b) noexcept nogil
cdef bint sound(const rules_t *rules, const board_t *b) noexcept nogil
