# The kernels chosen for this CPU: for the modules built here.
from nardcore._simd cimport kernels_t


cdef const kernels_t *kernels() noexcept nogil
