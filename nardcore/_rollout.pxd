# Evaluators as other Cython modules see them.
from nardcore._types cimport evaluator_t


cdef class Evaluator:
    cdef evaluator_t e
    cdef readonly str name
    cdef object made_for                    # "short" or "long" where it is made for one, else None
    cdef readonly object owner              # what keeps the state alive
    cdef readonly object rules              # what its nets were trained for, else None
    cdef void *weights                      # the linear evaluator's own


cdef class Stop:
    cdef int flag
