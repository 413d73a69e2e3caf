# One-sided tables: the distribution of the number of rolls until a side has done something, each under the policy that
# minimises its own mean. Among results of equal mean the lowest rank is taken, so the policy is fixed whatever finds it.

cdef enum:
    ALL_OFF = 0                                 # the last checker is off
    FIRST_OFF = 1                               # the first checker is off
    ALL_HOME = 2                                # every checker is on points 1..6

cdef double NOTHING = 2. ** -60                 # what a tail may weigh to be cut off


cdef struct one_t:
    int points, total, goal
    bint plain                                  # every die can be played until the last checker is off
    const rules_t *rules
    const uint32_t *order                       # ranks by pips
    double *mean                                # by rank, like all that follow
    uint32_t *best                              # [rank][die - 1][k - 1]: the best that k steps of a die lead to
    uint32_t *choice                            # [place in the level][roll]
    int64_t *start
    uint8_t *first
    uint8_t *length
    double *rows


cdef inline bint reached(const one_t *t, const int8_t *counts) noexcept nogil:
    cdef int i, n = 0
    if t.goal == ALL_HOME:
        for i in range(6, t.points):
            n += counts[i]
        return n == 0
    for i in range(t.points):
        n += counts[i]
    return n < (t.total if t.goal == FIRST_OFF else 1)


cdef int steps(const int8_t *counts, int points, uint32_t rank, const uint32_t *below, int die, uint32_t *out) noexcept nogil:
    """The ranks one step leads to. below[k]: what the rank loses when the k highest points' sums each lose one checker."""
    cdef int p, n = 0, top = points
    while top and not counts[top - 1]:
        top -= 1
    if top == 0:
        out[0] = 0
        return 1
    for p in range(die + 1, top + 1):
        if counts[p - 1]:
            out[n] = rank - (below[points - p + die] - below[points - p])
            n += 1
    if top <= 6 and (top < die or (die <= points and counts[die - 1])):
        p = die if die < top else top
        out[n] = rank - (below[points] - below[points - p])
        n += 1
    return n


cdef inline uint32_t better(const double *mean, uint32_t a, uint32_t b) noexcept nogil:
    return b if mean[b] < mean[a] or (mean[b] == mean[a] and b < a) else a


cdef bint choose_plain(const one_t *t, uint32_t rank, const int8_t *counts, uint32_t *choice) noexcept nogil:
    cdef uint32_t below[MOST_POINTS + 1]
    cdef uint32_t step[6][MOST_POINTS]
    cdef int n[6]
    cdef uint32_t e
    cdef uint32_t *mine = t.best + <int64_t>rank * 18
    cdef int k, die, i, roll, a, c, s = 0
    below[0] = 0
    for k in range(1, t.points + 1):
        s += counts[t.points - k]
        below[k] = below[k - 1] + (<uint32_t>CHOOSE[s + k - 2][k - 1] if s else 0)
    for die in range(6):
        n[die] = steps(counts, t.points, rank, below, die + 1, step[die])
        e = step[die][0]
        for i in range(1, n[die]):
            e = better(t.mean, e, step[die][i])
        mine[3 * die] = e
        for k in range(1, 4):
            e = t.best[<int64_t>step[die][0] * 18 + 3 * die + k - 1]
            for i in range(1, n[die]):
                e = better(t.mean, e, t.best[<int64_t>step[die][i] * 18 + 3 * die + k - 1])
            if k < 3:
                mine[3 * die + k] = e
        choice[NC_MIXED + die] = e
    for roll in range(NC_MIXED):
        a = ROLL[roll][0] - 1
        c = ROLL[roll][1] - 1
        e = t.best[<int64_t>step[a][0] * 18 + 3 * c]
        for i in range(1, n[a]):
            e = better(t.mean, e, t.best[<int64_t>step[a][i] * 18 + 3 * c])
        for i in range(n[c]):
            e = better(t.mean, e, t.best[<int64_t>step[c][i] * 18 + 3 * a])
        choice[roll] = e
    return True


cdef bint choose_by_rules(const one_t *t, uint32_t rank, const int8_t *counts, uint32_t *choice, board_t *scratch) noexcept nogil:
    cdef const kernels_t *kernel = kernels()
    cdef board_t b
    cdef int roll
    cdef int32_t i, n
    cdef uint32_t e, found
    lonely(&b, t.rules, counts, t.points)
    for roll in range(NC_ROLLS):
        n = kernel.plays(t.rules, &b, ROLL[roll][0], ROLL[roll][1], scratch)
        if n < 1:
            return False
        e = <uint32_t>rank_of(scratch[0].pt, t.points)
        for i in range(1, n):
            found = <uint32_t>rank_of(scratch[i].pt, t.points)
            e = better(t.mean, e, found)
            if found >= rank:
                return False
        if e >= rank:
            return False
        choice[roll] = e
    return True


cdef bint decide(const one_t *t, int64_t begin, int64_t i, board_t *scratch) noexcept nogil:
    """Policy, mean and the extent of the distribution of one position."""
    cdef int8_t counts[MOST_POINTS]
    cdef uint32_t rank = t.order[i]
    cdef uint32_t *choice = t.choice + (i - begin) * NC_ROLLS
    cdef int roll, low = 255, high = 0, k
    cdef double sum = 0
    position_of(rank, t.points, counts)
    if reached(t, counts):
        t.mean[rank] = 0
        t.start[rank] = t.first[rank] = 0
        t.length[rank] = 0              # until the level is filled: nothing of its own
        if t.plain:
            for k in range(18):
                t.best[<int64_t>rank * 18 + k] = rank
        choice[0] = rank
        return True
    if t.plain:
        choose_plain(t, rank, counts, choice)
    elif not choose_by_rules(t, rank, counts, choice, scratch):
        return False
    for roll in range(NC_ROLLS):
        if roll == NC_MIXED:
            sum += sum
        sum += t.mean[choice[roll]]
        k = t.first[choice[roll]]
        low = min(low, k)
        high = max(high, k + t.length[choice[roll]])
    t.mean[rank] = 1 + sum / 36
    t.first[rank] = <uint8_t>(low + 1)
    t.length[rank] = <uint8_t>(high - low)
    return True


cdef void fill(const one_t *t, int64_t begin, int64_t i) noexcept nogil:
    """The distribution of one position; its place in `rows` is known by now."""
    cdef uint32_t rank = t.order[i], e
    cdef const uint32_t *choice = t.choice + (i - begin) * NC_ROLLS
    cdef double *row
    cdef const double *other
    cdef int roll, k, n
    cdef double tail = 0
    if t.length[rank] == 0:
        t.length[rank] = 1              # row 0: certainly at once
        return
    row = t.rows + t.start[rank]
    n = t.length[rank]
    for k in range(n):
        row[k] = 0
    for roll in range(NC_ROLLS):
        if roll == NC_MIXED:
            for k in range(n):
                row[k] += row[k]
        e = choice[roll]
        other = t.rows + t.start[e]
        k = t.first[e] + 1 - t.first[rank]
        nc_add_rows(row + k, other, t.length[e])
    for k in range(n):
        row[k] /= 36
    while n > 1:
        tail += row[n - 1]
        if tail >= NOTHING:
            break
        n -= 1
    t.length[rank] = <uint8_t>n


cdef class OneSidedJob:
    """One distribution of a one-sided table under way."""
    cdef object kept
    cdef one_t t
    cdef CompiledRules rules
    cdef Stop stop
    cdef int64_t counter

    def __init__(self, rules, int points, int goal, bint plain, const uint32_t[::1] order, double[::1] mean,
                 uint32_t[::1] best, uint32_t[::1] choice, int64_t[::1] start, uint8_t[::1] first, uint8_t[::1] length,
                 Stop stop):
        self.kept = [order, mean, best, choice, start, first, length, None]
        self.rules = compiled(rules)
        self.stop = stop
        self.t.points = points
        self.t.total = self.rules.c.checkers
        self.t.goal = goal
        self.t.plain = plain
        self.t.rules = &self.rules.c
        self.t.order = &order[0]
        self.t.mean = &mean[0]
        self.t.best = &best[0]
        self.t.choice = &choice[0]
        self.t.start = &start[0]
        self.t.first = &first[0]
        self.t.length = &length[0]

    def use(self, double[::1] rows):
        """Take the array that distributions are written to."""
        self.kept[7] = rows
        self.t.rows = &rows[0]

    def begin(self):
        self.counter = 0

    def work(self, int64_t first, int64_t last, bint filling, int64_t chunk):
        """Take pieces of a level, places first .. last - 1 of the order, until there are none. False: a play moved nothing."""
        cdef int64_t i, a
        cdef bint fine = True
        cdef board_t *scratch = NULL
        if not self.t.plain and not filling:
            scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
            if not scratch:
                raise MemoryError
        with nogil:
            while fine:
                a = first + nc_take(&self.counter) * chunk
                if a >= last or nc_flag_read(&self.stop.flag):
                    break
                for i in range(a, min(a + chunk, last)):
                    if filling:
                        fill(&self.t, first, i)
                    elif not decide(&self.t, first, i, scratch):
                        fine = False
                        break
            free(scratch)
        return fine


# ---- two distributions -----------------------------------------------------------------------------------------------------

cdef struct row_t:
    const int64_t *start
    const uint8_t *first
    const uint8_t *length
    const double *rows


cdef int cumulate(const row_t *t, int64_t rank, double *out) noexcept nogil:
    """out[k]: the chance of at most k rolls, up to the k that this returns, from which on it is 1."""
    cdef int k, n = t.first[rank] + t.length[rank]
    cdef const double *row = t.rows + t.start[rank] - t.first[rank]
    cdef double sum = 0
    for k in range(256):
        if t.first[rank] <= k < n:
            sum += row[k]
        out[k] = sum if k < n - 1 else 1
        if k >= n:
            break
    return n - 1


cdef class OneSidedTable:
    """A finished one-sided table for look-ups: distributions by goal."""
    cdef object kept
    cdef int points, checkers
    cdef row_t t[3]
    cdef bint has[3]

    def __init__(self, int points, int checkers, goals):
        cdef int g
        cdef const int64_t[::1] start
        cdef const uint8_t[::1] first
        cdef const uint8_t[::1] length
        cdef const double[::1] rows
        self.kept = goals
        self.points = points
        self.checkers = checkers
        for g in range(3):
            self.has[g] = goals[g] is not None
            if self.has[g]:
                start, first, length, rows = goals[g]
                self.t[g].start = &start[0]
                self.t[g].first = &first[0]
                self.t[g].length = &length[0]
                self.t[g].rows = &rows[0]

    cdef int cumulated(self, int goal, int64_t rank, bint done, double *out) noexcept nogil:
        """As `cumulate`; a goal that the table does not have, or that is `done`, is reached at once."""
        cdef int k
        if self.has[goal] and not done:
            return cumulate(&self.t[goal], rank, out)
        for k in range(256):
            out[k] = 1
        return 0

    def outcomes(self, const int8_t[:, ::1] boards, const int64_t[:, ::1] ranks, double[:, ::1] out):
        """Chances of the ten classes from independent distributions; NaN where a rank is negative.

        A loser has its first checker off, or all home, or some outside: as if it had played for just that.
        """
        cdef double done[2][3][256]
        cdef int last[2]
        cdef Py_ssize_t i
        cdef int side, goal, k, j
        cdef double p, off, home
        cdef bint has_off
        with nogil:
            for i in range(boards.shape[0]):
                for k in range(NC_CLASSES):
                    out[i, k] = 0
                if ranks[i, 0] < 0 or ranks[i, 1] < 0 or ranks[i, 0] + ranks[i, 1] == 0:
                    for k in range(NC_CLASSES):
                        out[i, k] = NAN
                    continue
                for side in range(2):
                    has_off = boards[i, NC_OFF + side] > 0
                    for goal in range(3):
                        j = self.cumulated(goal, ranks[i, side], goal == FIRST_OFF and has_off, done[side][goal])
                        if goal == ALL_OFF:
                            last[side] = min(j, 255)
                        for k in range(j + 1, 256):
                            done[side][goal][k] = 1
                    # A checker borne off brought all home first; means are minimised one by one, so this must be imposed.
                    for k in range(256):
                        if not has_off:
                            done[side][FIRST_OFF][k] = min(done[side][FIRST_OFF][k], done[side][ALL_HOME][k])
                        done[side][ALL_OFF][k] = min(done[side][ALL_OFF][k], done[side][FIRST_OFF][k])
                for side in range(2):           # the winner, with its k-th roll; the mover's comes first
                    for k in range(last[side] + 1):
                        p = done[side][ALL_OFF][k] - (done[side][ALL_OFF][k - 1] if k else 0)
                        j = k - 1 if side == 0 else k
                        if p <= 0:
                            continue
                        if j < 0:
                            j = 0               # the mover has won already: the other has had no roll
                        off = done[1 - side][FIRST_OFF][j]
                        home = done[1 - side][ALL_HOME][j]
                        out[i, 5 * side + NC_ANY_OFF] += p * (off - done[1 - side][ALL_OFF][j])
                        if home > off:
                            out[i, 5 * side + NC_ALL_HOME] += p * (home - off)
                            out[i, 5 * side + NC_OUTSIDE] += p * (1 - home)
                        else:
                            out[i, 5 * side + NC_OUTSIDE] += p * (1 - off)
        return out
