# Evaluators as other Cython modules see them.
from nardcore._types cimport evaluator_t


cdef extern from "linear.h" nogil:
    ctypedef struct linear_t "nc_linear":
        signed char movement
        short weight[2][28][32]


cdef class Evaluator:
    cdef evaluator_t e
    cdef readonly str name
    cdef readonly object owner              # what keeps the state alive
    cdef linear_t *weights


cdef class Stop:
    cdef int flag
