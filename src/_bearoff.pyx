"""Bear-off tables: ranking, one- and two-sided builders, probes."""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from nardcore._types cimport *
from nardcore._simd cimport kernels_t
from nardcore._rules cimport CompiledRules, compiled, outcome
from nardcore._movegen cimport kernels
from nardcore._board cimport Position

import numpy as np


cdef extern from "stop.h" nogil:
    int nc_flag_read(const int *flag) noexcept
    void nc_flag_raise(int *flag) noexcept


cdef extern from "bearoff_tile.h" nogil:
    enum:
        NC_LANES, NC_ROLLS, NC_MIXED, NC_U16, NC_F32, NC_F64
    ctypedef struct nc_program:
        const int64_t *start
        const uint8_t *count
        const uint16_t *next
    void nc_tile(int dtype, int avx2, const nc_program *p, const void *rows, int64_t first, int64_t last,
                 void *block) noexcept
    void nc_turn(int dtype, const void *block, void *turned) noexcept
    void nc_double(int dtype, const void *held, const void *given, void *out, int64_t n) noexcept
    int64_t nc_take(int64_t *counter) noexcept
    int64_t nc_shared_add(int64_t *p, int64_t n) noexcept
    int64_t nc_shared_load(const int64_t *p) noexcept
    void nc_pause() noexcept
    void nc_prefetch(const void *p) noexcept
    void nc_add_rows(double *into, const double *source, int n) noexcept


cdef extern from "bearoff_io.h" nogil:
    int64_t nc_pread(int fd, void *p, int64_t n, int64_t offset) noexcept
    int64_t nc_pwrite(int fd, const void *p, int64_t n, int64_t offset) noexcept


LANES = NC_LANES


cdef class Stop:
    """A flag that ends builds."""

    def set(self):
        nc_flag_raise(&self.flag)


include "bearoff_rank.pxi"
include "bearoff_two.pxi"
include "bearoff_one.pxi"
include "bearoff_contact.pxi"
