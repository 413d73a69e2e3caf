# The linear evaluator: a weight for each state of each point, in two phases. Part of _kernels.pyx.

cdef extern from "linear.h" nogil:
    ctypedef struct linear_t "nc_linear":
        int8_t movement
        int16_t weight[2][28][32]


cdef inline int race(const linear_t *net, uint32_t mine, uint32_t theirs) noexcept nogil:
    """1 when neither side can meet the other any more, else 0 (contact)."""
    if net.movement == NC_LONG:                 # every checker of both sides is past its own 13-point
        return not mine >> 12 and not theirs & 0xFFF
    return not mine or not theirs or nc_highest(mine) < nc_lowest(theirs)


cdef int linear(void *state, const board_t *parent, const board_t *after, int32_t n, float *out) noexcept nogil:
    """Scores of results, larger is better for the side that has just moved: exact integers as floats.

    A play changes few bytes of the board, so a score is that of the parent and the difference at those bytes; it
    depends on the result alone.
    """
    cdef const linear_t *net = <const linear_t *>state
    cdef vec_t before = nc_load(parent), v
    cdef int32_t part[2][28]                    # the parent's weight at each byte
    cdef int32_t base[2]
    cdef bint known[2]
    cdef uint32_t m
    cdef int32_t i, sum
    cdef int phase, k
    cdef const int8_t *p = <const int8_t *>parent
    cdef const int8_t *q
    known[0] = known[1] = False
    for i in range(n):
        q = <const int8_t *>&after[i]
        v = nc_load(q)
        if q[NC_BAR_OPP]:
            phase = 0
        else:
            phase = race(net, mask_of(v), nc_negative(v) & POINTS)
        if not known[phase]:
            base[phase] = 0
            for k in range(28):
                part[phase][k] = net.weight[phase][k][p[k] + 16]
                base[phase] += part[phase][k]
            known[phase] = True
        sum = base[phase]
        m = nc_differs(v, before) & 0xFFFFFFF
        while m:
            k = nc_lowest(m)
            m &= m - 1
            sum += net.weight[phase][k][q[k] + 16] - part[phase][k]
        out[i] = <float>sum
    return 0
