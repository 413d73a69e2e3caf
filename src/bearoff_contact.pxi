# Few checkers in full contact: every pair of positions, solved by iteration.
#
# Pairs are swept in the order of both sides' pips, a level of equal pips at a time. Hits lead upwards, to values of the
# sweep before; all else leads to levels that this sweep has already done. Within a level nobody reads what the level writes,
# so the result does not depend on threads.

cdef inline int64_t contact_side(const board_t *b, int side) noexcept nogil:
    """The rank of a side on 24 points and the bar."""
    cdef int8_t counts[MOST_POINTS]
    cdef int i
    for i in range(24):
        if side == 0:
            counts[i] = b.pt[i] if b.pt[i] > 0 else 0
        else:
            counts[i] = theirs_at(b, i, False)
    counts[24] = b.bar[side]
    return rank_of(counts, 25)


cdef class ContactJob:
    """A table of class probabilities float32[positions, positions, 10] under iteration."""
    cdef object kept
    cdef CompiledRules rules
    cdef Stop stop
    cdef int64_t n, counter
    cdef const int8_t *counts
    cdef float *values                          # [mover][opponent][class]
    cdef double *equities                       # [mover][opponent]: what plays are chosen by
    cdef double *better                         # [place in the level]
    cdef float *fresh                           # [place in the level][class]
    cdef float points[NC_CLASSES]

    def __init__(self, rules, const int8_t[:, ::1] counts, float[::1] values, double[::1] equities, float[::1] fresh,
                 double[::1] better, points, Stop stop):
        cdef int k
        self.kept = (counts, values, equities, fresh, better)
        self.rules = compiled(rules)
        self.stop = stop
        self.n = counts.shape[0]
        self.counts = &counts[0, 0]
        self.values = &values[0]
        self.equities = &equities[0]
        self.fresh = &fresh[0]
        self.better = &better[0]
        for k in range(NC_CLASSES):
            self.points[k] = points[k]

    cdef void board(self, int64_t a, int64_t b, board_t *out) noexcept nogil:
        cdef const int8_t *mine = self.counts + 25 * a
        cdef const int8_t *theirs = self.counts + 25 * b
        cdef int i, left = self.rules.c.checkers, other = self.rules.c.checkers
        memset(out, 0, sizeof(board_t))
        for i in range(24):
            out.pt[i] = mine[i]
            left -= mine[i]
        for i in range(24):
            if theirs[i]:
                out.pt[23 - i] = -theirs[i]
                other -= theirs[i]
        out.bar[0] = mine[24]
        out.bar[1] = theirs[24]
        out.off[0] = <int8_t>(left - mine[24])
        out.off[1] = <int8_t>(other - theirs[24])

    def begin(self):
        self.counter = 0

    def work(self, const int32_t[:, ::1] pairs, int64_t first, int64_t last):
        """Take pieces of a level until there are none; the largest change of an equity or a chance, or -1 when memory ran out."""
        cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
        cdef int64_t i, a
        cdef double change = 0
        if not scratch:
            raise MemoryError
        with nogil:
            while True:
                a = first + nc_take(&self.counter) * 64
                if a >= last or nc_flag_read(&self.stop.flag):
                    break
                for i in range(a, min(a + 64, last)):
                    change = max(change, self.solve(pairs[i, 0], pairs[i, 1], i - first, scratch))
            free(scratch)
        return change

    cdef double solve(self, int64_t a, int64_t b, int64_t place, board_t *scratch) noexcept nogil:
        cdef const kernels_t *kernel = kernels()
        cdef board_t board, after
        cdef double sums[NC_CLASSES]
        cdef double equity = 0, e, best, moved = 0
        cdef float *out = self.fresh + place * NC_CLASSES
        cdef int roll, k, weight, done
        cdef int32_t i, n
        cdef int64_t at, chosen
        self.board(a, b, &board)
        done = outcome(&self.rules.c, &board)
        for k in range(NC_CLASSES):
            sums[k] = 0
        if done >= 0:
            sums[done] = 36
            equity = 36 * self.points[done]
        else:
            for roll in range(NC_ROLLS):
                weight = 2 if roll < NC_MIXED else 1
                n = kernel.plays(&self.rules.c, &board, ROLL[roll][0], ROLL[roll][1], scratch)
                chosen = -1
                best = 0
                for i in range(n):
                    kernel.flip(&self.rules.c, &scratch[i], &after, 1)
                    at = contact_side(&after, 0) * self.n + contact_side(&after, 1)
                    e = self.equities[at]
                    if chosen < 0 or e < best:
                        chosen = at
                        best = e
                equity -= weight * best
                for k in range(NC_CLASSES):
                    sums[k] += weight * <double>self.values[chosen * NC_CLASSES + (k + 5) % NC_CLASSES]
        for k in range(NC_CLASSES):
            out[k] = <float>(sums[k] / 36)
            moved = max(moved, abs(<double>out[k] - self.values[(a * self.n + b) * NC_CLASSES + k]))
        equity /= 36
        self.better[place] = equity
        equity -= self.equities[a * self.n + b]
        # float32 may go on changing in its last digit
        return max(abs(equity), moved if moved > 2.5e-7 else 0)

    def settle(self, const int32_t[:, ::1] pairs, int64_t first, int64_t last):
        """Take over what a level has found."""
        cdef int64_t i, at
        cdef int k
        with nogil:
            for i in range(first, last):
                at = <int64_t>pairs[i, 0] * self.n + pairs[i, 1]
                for k in range(NC_CLASSES):
                    self.values[at * NC_CLASSES + k] = self.fresh[(i - first) * NC_CLASSES + k]
                self.equities[at] = self.better[i - first]


def contact_indices(const int8_t[:, ::1] boards, int64_t n, int64_t[::1] out):
    """The place of each board in a table of n positions a side."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(boards.shape[0]):
            out[i] = contact_side(<const board_t *>&boards[i, 0], 0) * n + contact_side(<const board_t *>&boards[i, 0], 1)
