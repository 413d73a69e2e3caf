# Evaluators as other Cython modules see them.
from libc.stdint cimport int32_t
from nardcore._types cimport board_t, evaluator_t, rules_t


cdef class Evaluator:
    cdef evaluator_t e
    cdef readonly str name
    cdef object made_for                    # "short" or "long" where it is made for one, else None
    cdef readonly object owner              # what keeps the state alive
    cdef readonly object rules              # what its nets were trained for, else None
    cdef void *weights                      # the linear evaluator's own


cdef class Stop:
    cdef int flag


cdef int32_t best_result(const evaluator_t *e, const rules_t *rules, const int32_t *points, const board_t *parent,
                         const board_t *results, int32_t n, float *scores) noexcept nogil
