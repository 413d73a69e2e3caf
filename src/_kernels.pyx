"""The kernels that exist once per instruction set: this file is built as _kernels_portable and as _kernels_avx2.

Nothing here touches Python objects. Callers take the table of function pointers, never these functions by name.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from nardcore._types cimport *
from nardcore._simd cimport *

include "turn.pxi"
include "movegen.pxi"
include "general.pxi"
include "linear.pxi"


cdef extern from "net.h" nogil:
    void nc_fill_features() noexcept
    int nc_evaluate_net(void *, const board_t *, const board_t *, int32_t, float *) noexcept
    void nc_features_of(int, const board_t *, int64_t, uint16_t *, uint8_t *) noexcept
    void nc_possible_of(const rules_t *, const board_t *, int64_t, uint8_t *) noexcept


cdef inline bint over(const rules_t *rules, const board_t *b) noexcept nogil:
    return b.off[0] == rules.checkers or b.off[1] == rules.checkers


cdef int32_t plays(const rules_t *rules, const board_t *board, int d1, int d2, board_t *out) noexcept nogil:
    """Write the distinct results of a roll to `out`, which holds NC_MAX_PLAYS and may not be `board`; give the count.

    Results keep the mover's view, its first-turn flag cleared. A pass is one result; a finished position has none.
    -1: out of memory. The board is valid and the dice are 1..6.
    """
    cdef turn_t t
    cdef int a = d1 if d1 > d2 else d2, c = d2 if d1 > d2 else d1
    if over(rules, board):
        return 0
    begin_turn(&t, rules, board, a, c, out)
    if rare(rules, &t, a, c):
        return general(rules, &t, a, c)
    if rules.movement == NC_LONG:
        return specialised(<long_t *>NULL, &t, a, c)
    return specialised(<short_t *>NULL, &t, a, c)


cdef int32_t plays_general(const rules_t *rules, const board_t *board, int d1, int d2, board_t *out) noexcept nogil:
    """`plays` by the general generator alone."""
    cdef turn_t t
    cdef int a = d1 if d1 > d2 else d2, c = d2 if d1 > d2 else d1
    if over(rules, board):
        return 0
    begin_turn(&t, rules, board, a, c, out)
    return general(rules, &t, a, c)


cdef void flip(const rules_t *rules, const board_t *boards, board_t *out, int64_t n) noexcept nogil:
    """The opponent's view of n boards; `out` may be `boards`."""
    cdef int64_t i
    if rules.movement == NC_LONG:
        for i in range(n):
            nc_flip_long(&boards[i], &out[i])
    else:
        for i in range(n):
            nc_flip_short(&boards[i], &out[i])


cdef kernels_t kernels
kernels.isa = NC_ISA
kernels.plays = plays
kernels.plays_general = plays_general
kernels.single_steps = single_steps
kernels.find_steps = find_steps
kernels.flip = flip
kernels.linear = linear
kernels.net = nc_evaluate_net
kernels.features = nc_features_of
kernels.possible = nc_possible_of
nc_fill_features()

table = PyCapsule_New(&kernels, "nardcore.kernels", NULL)
