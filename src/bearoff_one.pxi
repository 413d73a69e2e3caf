# One-sided tables: the distribution of the number of rolls until a side has done something, each under the policy that
# minimises its own mean. Among results of equal mean the lowest rank is taken: the policy is fixed whatever finds it.

cdef enum:
    ALL_OFF = 0                                 # the last checker is off
    FIRST_OFF = 1                               # the first checker is off
    ALL_HOME = 2                                # every checker is on points 1..6

cdef enum:                                      # what may end the work on a table
    STUCK = 1                                   # a play moved nothing
    FULL = 2                                    # there is no room for the distributions of a level

cdef double NOTHING = 2. ** -60                 # what a tail may weigh to be cut off


cdef struct place_t:
    double mean
    int64_t start                               # of the distribution in `rows`
    uint8_t first
    uint8_t length


# Means are compared as keys: in units of 2^-shift, with the rank below them, so that one comparison orders by both and
# what rounding does to equal means does not matter. A key tells the rank that it is for.
cdef struct near_t:                             # 64 bytes: keys of a position itself and of the best a die leads to
    uint64_t own
    uint64_t one[6]
    uint64_t unused


cdef struct far_t:                              # keys of the best that two and three steps of a die lead to
    uint64_t two
    uint64_t three


cdef struct one_t:
    int points, total, goal
    bint plain                                  # every die can be played until the last checker is off
    int rank_bits
    double unit                                 # 2^shift
    const rules_t *rules
    const uint32_t *order                       # ranks by pips, without those that have reached the goal
    const int8_t *counts                        # their positions
    place_t *at                                 # by rank, like the next two
    near_t *near
    far_t *far                                  # [rank][die - 1]
    uint32_t *choice                            # [place in the level][roll]
    double *rows
    int64_t room, used


# The steps of a position: n[die - 1] ranks each.
cdef struct steps_t:
    int n[6]
    uint32_t to[6][MOST_CHECKERS]


def level_order(int points, int checkers, int goal):
    """The positions that have not reached a goal, by pips: ranks, counts, and where each number of pips begins."""
    cdef int sums[MOST_POINTS + 2]
    cdef int k, pips, round_
    cdef int64_t n = CHOOSE[points + checkers][points], rank, i
    begins = np.zeros(points * checkers + 2, np.int64)
    cdef int64_t[::1] begin = begins
    cdef uint32_t[::1] order = None
    cdef int8_t[:, ::1] counts = None
    cdef bint open_
    for round_ in range(2):
        if round_ == 1:                         # begin[pips + 1] holds how many have so many
            begins = np.cumsum(begins)
            begin = begins.copy()
            total = int(begin[points * checkers + 1])
            orders = np.empty(max(total, 1), np.uint32)
            order = orders
            found = np.empty((max(total, 1), points), np.int8)
            counts = found
        with nogil:
            memset(sums, 0, sizeof(sums))
            sums[points + 1] = checkers
            pips = 0
            for rank in range(n):
                # sums[k]: the checkers on the k highest points. Those on more than the highest points - 6 are all home.
                if goal == ALL_OFF:
                    open_ = rank > 0
                elif goal == FIRST_OFF:
                    open_ = sums[points] == checkers
                else:
                    open_ = points > 6 and sums[points - 6] > 0
                if open_:
                    if round_ == 0:
                        begin[pips + 1] += 1
                    else:
                        i = begin[pips]
                        begin[pips] += 1
                        order[i] = <uint32_t>rank
                        for k in range(1, points + 1):
                            counts[i, points - k] = <int8_t>(sums[k] - (sums[k - 1] if k > 1 else 0))
                k = 1
                while k < points and sums[k] == sums[k + 1]:
                    pips -= sums[k]
                    sums[k] = 0
                    k += 1
                sums[k] += 1
                pips += 1
    return orders[:total], found[:total], begins


cdef inline void step(const one_t *t, uint32_t rank, const int8_t *counts, steps_t *out) noexcept nogil:
    """The ranks that a step of each die leads to; 0 for all that have reached the goal. What they hold is sent for."""
    cdef uint32_t fall[MOST_POINTS + 1]         # [j]: what it costs that sums over the points above j each lose one
    cdef uint32_t to
    cdef int at[MOST_CHECKERS + 1]
    cdef int points = t.points, m = 0, j, k, n, die, p, top, s = 0, outside = 0
    cdef uint32_t below = 0
    fall[points] = 0
    for j in range(points, 0, -1):
        s += counts[j - 1]
        below += <uint32_t>CHOOSE[s + points - j - 1][points - j] if s else 0
        fall[j - 1] = below
        at[m] = j
        m += counts[j - 1] > 0
        if j == 7:
            outside = s
    top = at[0]
    for die in range(1, 7):
        n = 0
        for k in range(m):
            p = at[k]
            if p <= die:
                break
            to = rank - (fall[p - die] - fall[p])
            if t.goal == ALL_HOME and outside == 1 and p > 6 and p - die <= 6:
                to = 0
            out.to[die - 1][n] = to
            n += 1
        if top <= 6 and (top < die or (die <= points and counts[die - 1])):
            p = die if die < top else top
            out.to[die - 1][n] = 0 if t.goal == FIRST_OFF else rank - (fall[0] - fall[p])
            n += 1
        out.n[die - 1] = n
        for k in range(n):
            nc_prefetch(&t.near[out.to[die - 1][k]])
            nc_prefetch(&t.far[<int64_t>out.to[die - 1][k] * 6 + die - 1])


cdef inline uint64_t key_of(const one_t *t, double mean) noexcept nogil:
    return <uint64_t>(mean * t.unit)


cdef inline uint64_t least(uint64_t a, uint64_t b) noexcept nogil:
    return a if a < b else b


cdef void choose_plain(const one_t *t, uint32_t rank, const steps_t *s, uint32_t *choice) noexcept nogil:
    cdef uint64_t one[6][6]                     # [die of the first step][die of the second]
    cdef uint64_t own, a0, a1, a2, a3, a4, a5, three, four
    cdef uint32_t mask = <uint32_t>((<uint64_t>1 << t.rank_bits) - 1)
    cdef const near_t *near
    cdef const far_t *far
    cdef int die, i, roll, a, c
    for die in range(6):
        own = a0 = a1 = a2 = a3 = a4 = a5 = three = four = <uint64_t>-1
        for i in range(s.n[die]):
            near = t.near + s.to[die][i]
            far = t.far + <int64_t>s.to[die][i] * 6 + die
            own = least(own, near.own)
            a0 = least(a0, near.one[0])
            a1 = least(a1, near.one[1])
            a2 = least(a2, near.one[2])
            a3 = least(a3, near.one[3])
            a4 = least(a4, near.one[4])
            a5 = least(a5, near.one[5])
            three = least(three, far.two)
            four = least(four, far.three)
        one[die][0] = a0
        one[die][1] = a1
        one[die][2] = a2
        one[die][3] = a3
        one[die][4] = a4
        one[die][5] = a5
        t.near[rank].one[die] = own
        t.far[<int64_t>rank * 6 + die].two = one[die][die]
        t.far[<int64_t>rank * 6 + die].three = three
        choice[NC_MIXED + die] = <uint32_t>four & mask
    for roll in range(NC_MIXED):
        a = ROLL[roll][0] - 1
        c = ROLL[roll][1] - 1
        choice[roll] = <uint32_t>least(one[a][c], one[c][a]) & mask


cdef bint choose_by_rules(const one_t *t, uint32_t rank, const int8_t *counts, uint32_t *choice,
                          board_t *scratch) noexcept nogil:
    cdef const kernels_t *kernel = kernels()
    cdef board_t b
    cdef int roll
    cdef int32_t i, n
    cdef uint32_t e, found
    cdef uint64_t mean, best
    lonely(&b, t.rules, counts, t.points)
    for roll in range(NC_ROLLS):
        n = kernel.plays(t.rules, &b, ROLL[roll][0], ROLL[roll][1], scratch)
        if n < 1:
            return False
        e = rank
        best = <uint64_t>-1
        for i in range(n):
            found = <uint32_t>rank_of(scratch[i].pt, t.points)
            if found >= rank:
                return False
            mean = key_of(t, t.at[found].mean)
            if mean < best or (mean == best and found < e):
                best = mean
                e = found
        choice[roll] = e
    return True


cdef void weigh(const one_t *t, uint32_t rank, const uint32_t *choice) noexcept nogil:
    """The mean and the extent of the distribution of one position."""
    cdef const place_t *at
    cdef int roll, low = 255, high = 0
    cdef double sum = 0
    for roll in range(NC_ROLLS):
        at = t.at + choice[roll]
        if roll == NC_MIXED:
            sum += sum
        sum += at.mean
        low = min(low, at.first)
        high = max(high, at.first + at.length)
    sum = 1 + sum / 36
    t.at[rank].mean = sum
    t.at[rank].first = <uint8_t>(low + 1)
    t.at[rank].length = <uint8_t>(high - low)
    if t.plain:
        t.near[rank].own = (key_of(t, sum) << t.rank_bits) | rank


cdef bint decide(const one_t *t, int64_t begin, int64_t first, int64_t last, board_t *scratch) noexcept nogil:
    """Policy, means and extents of positions first .. last - 1 of the level that starts at `begin`."""
    cdef steps_t steps[2]
    cdef int64_t i, ahead = 1
    cdef int roll
    cdef uint32_t *choice
    if not t.plain:
        for i in range(first, last):
            choice = t.choice + (i - begin) * NC_ROLLS
            if not choose_by_rules(t, t.order[i], t.counts + i * t.points, choice, scratch):
                return False
            weigh(t, t.order[i], choice)
        return True
    # Three positions are under way at a time, each waiting for memory while the next goes on.
    step(t, t.order[first], t.counts + first * t.points, &steps[first & 1])
    for i in range(first, last):
        if i + 1 < last:
            step(t, t.order[i + 1], t.counts + (i + 1) * t.points, &steps[(i + 1) & 1])
        choice = t.choice + (i - begin) * NC_ROLLS
        choose_plain(t, t.order[i], &steps[i & 1], choice)
        for roll in range(NC_ROLLS):
            nc_prefetch(t.at + choice[roll])
        if i > first:
            weigh(t, t.order[i - 1], choice - NC_ROLLS)
    weigh(t, t.order[last - 1], t.choice + (last - 1 - begin) * NC_ROLLS)
    return True


cdef void fill(const one_t *t, int64_t begin, int64_t first, int64_t last) noexcept nogil:
    """Distributions of positions; their places in `rows` are known by now."""
    cdef double sum[256 + 8]
    cdef const uint32_t *choice
    cdef const place_t *at
    cdef place_t *own
    cdef double *row
    cdef int roll, k, n
    cdef int64_t i
    cdef double tail
    for i in range(first, last):
        choice = t.choice + (i - begin) * NC_ROLLS
        own = t.at + t.order[i]
        n = own.length
        for k in range(n):
            sum[k] = 0
        for roll in range(NC_ROLLS):
            if roll == NC_MIXED:
                for k in range(n):
                    sum[k] += sum[k]
            at = t.at + choice[roll]
            nc_add_rows(sum + (at.first + 1 - own.first), t.rows + at.start, at.length)
            if i + 1 < last:
                nc_prefetch(t.rows + t.at[choice[roll + NC_ROLLS]].start)
        row = t.rows + own.start
        for k in range(n):
            row[k] = sum[k] / 36
        tail = 0
        while n > 1:
            tail += row[n - 1]
            if tail >= NOTHING:
                break
            n -= 1
        own.length = <uint8_t>n


cdef class OneSidedJob:
    """One distribution of a one-sided table under way: levels, each decided, given places, and filled."""
    cdef object kept
    cdef one_t t
    cdef CompiledRules rules
    cdef Stop stop
    cdef const int64_t[::1] levels
    cdef int64_t level, end                     # which are to be done
    cdef int threads
    cdef int failed                             # not enough room, or a play moved nothing: see `work`
    cdef bint filling
    cdef int64_t counter, arrived, passed

    def __init__(self, rules, int points, int goal, bint plain, int rank_bits, const uint32_t[::1] order,
                 const int8_t[:, ::1] counts, const int64_t[::1] levels, uint8_t[::1] at, uint64_t[::1] near,
                 uint64_t[::1] far, uint32_t[::1] choice, Stop stop):
        self.kept = [order, counts, at, near, far, choice, None]
        self.rules = compiled(rules)
        self.stop = stop
        self.levels = levels
        self.t.points = points
        self.t.total = self.rules.c.checkers
        self.t.goal = goal
        self.t.plain = plain
        self.t.rank_bits = rank_bits
        self.t.unit = 2. ** (58 - rank_bits)    # means are below 64
        self.t.rules = &self.rules.c
        self.t.order = &order[0]
        self.t.counts = &counts[0, 0]
        self.t.at = <place_t *>&at[0]
        self.t.near = <near_t *>&near[0]
        self.t.far = <far_t *>&far[0]
        self.t.choice = &choice[0]
        self.t.used = 1

    @property
    def used(self):
        """How much of the array of distributions is in use, or needed if `work` said ROOM."""
        return self.t.used

    @property
    def level(self):
        """The first level that is not done."""
        return self.level

    def use(self, double[::1] rows):
        """Take the array that distributions are written to."""
        self.kept[6] = rows
        self.t.rows = &rows[0]
        self.t.room = rows.shape[0]

    def begin(self, int64_t end, int threads):
        """Levels up to `end` follow, done by so many calls of `work` at the same time."""
        self.end = end
        self.threads = threads
        self.arrived = 0
        # Where there was no room, the level has its policy and waits for being filled.
        if self.failed == FULL:
            self.failed = 0
            self.counter = 0
            self.filling = True

    def work(self):
        """Do levels together with the other threads. 0: done or stopped; FULL: `used` numbers need room; STUCK: a play
        moved nothing."""
        cdef board_t *scratch = NULL
        if not self.t.plain:
            scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
            if not scratch:
                self.failed = STUCK             # the others shall not wait
                raise MemoryError
        with nogil:
            self.run(scratch)
            free(scratch)
        return self.failed

    cdef void run(self, board_t *scratch) noexcept nogil:
        cdef int64_t a, first, last, begin, chunk, passed
        while self.level < self.end:
            begin = self.levels[self.level]
            last = self.levels[self.level + 1]
            chunk = max(<int64_t>16, min(<int64_t>256, (last - begin) // (8 * self.threads)))
            passed = nc_shared_load(&self.passed)
            while True:
                a = begin + nc_take(&self.counter) * chunk
                if a >= last:
                    break
                if nc_flag_read(&self.stop.flag) or nc_flag_read(&self.failed):
                    return
                if self.filling:
                    fill(&self.t, begin, a, min(a + chunk, last))
                elif not decide(&self.t, begin, a, min(a + chunk, last), scratch):
                    nc_flag_raise(&self.failed)
                    return
            # The last to arrive prepares what follows and lets the others go.
            if nc_shared_add(&self.arrived, 1) == self.threads:
                self.arrived = 0
                self.counter = 0
                if self.filling:
                    self.level += 1
                elif not self.give_places(begin, last):
                    self.failed = FULL
                self.filling = not self.filling
                nc_shared_add(&self.passed, 1)
            else:
                while nc_shared_load(&self.passed) == passed:
                    if nc_flag_read(&self.stop.flag) or nc_flag_read(&self.failed):
                        return
                    nc_pause()
            if nc_flag_read(&self.failed):
                return

    cdef bint give_places(self, int64_t begin, int64_t last) noexcept nogil:
        cdef int64_t i
        for i in range(begin, last):
            self.t.at[self.t.order[i]].start = self.t.used
            self.t.used += self.t.at[self.t.order[i]].length
        return self.t.used <= self.t.room


# ---- two distributions ---------------------------------------------------------------------------------------------

cdef struct row_t:
    const double *mean
    const int64_t *start
    const uint8_t *first
    const uint8_t *length
    const double *rows
    int64_t size                                # of rows: what an altered file says must not lead beyond


cdef struct race_t:
    int points, checkers
    bint has[3]                                 # by goal; one that a table does not have is reached at once
    row_t t[3]


cdef inline bint kept(const row_t *t, int64_t rank) noexcept nogil:
    """Is a distribution where it should be?"""
    return 0 <= t.start[rank] <= t.size - t.length[rank]


cdef inline int cumulate(const race_t *t, int goal, int64_t rank, double *out, int *begin) noexcept nogil:
    """out[k]: the chance of at most k rolls, up to the k that this returns, from which on it is 1; 0 below `begin`."""
    cdef int k, first, n
    cdef const double *row
    cdef double sum = 0
    begin[0] = 0
    if not t.has[goal]:
        out[0] = 1
        return 0
    if not kept(&t.t[goal], rank):
        out[0] = NAN
        return 0
    first = t.t[goal].first[rank]
    n = min(first + t.t[goal].length[rank], 256)
    row = t.t[goal].rows + t.t[goal].start[rank] - first
    memset(out, 0, 16 * sizeof(double))         # a number of steps that is known beforehand
    for k in range(16, first):
        out[k] = 0
    for k in range(first, n - 1):
        sum += row[k]
        out[k] = sum
    if n > 0:
        out[n - 1] = 1
    begin[0] = min(first, max(n - 1, 0))
    return max(n - 1, 0)


cdef struct runner_t:                           # a side of a race, as `cumulate` says of each goal
    double off[256]
    double first[256]                           # no checker off: a mars; up to last_mars, from which on it is 1
    double home[256]                            # not all home
    int begin, last, last_mars
    bint mars, far                              # may it still lose a mars, or with checkers outside


cdef void run_of(const race_t *t, const board_t *b, int side, bint protects, int64_t rank, runner_t *r) noexcept nogil:
    cdef int k, n_first = 0, n_home, unused
    r.last = cumulate(t, ALL_OFF, rank, r.off, &r.begin)
    r.mars = not (b.off[side] and protects)
    r.far = False
    r.last_mars = 0
    if not r.mars:
        return
    r.first[0] = 1
    if not b.off[side]:
        n_first = cumulate(t, FIRST_OFF, rank, r.first, &unused)
    r.last_mars = n_first
    if t.has[ALL_HOME]:
        n_home = cumulate(t, ALL_HOME, rank, r.home, &unused)
        r.far = n_home > 0
        # A checker borne off brought all home first; means are minimised one by one: this must be imposed.
        if r.far:
            r.last_mars = max(n_first, n_home)
            for k in range(n_first + 1, r.last_mars + 1):
                r.first[k] = 1
            for k in range(n_home + 1, r.last_mars + 1):
                r.home[k] = 1
            for k in range(r.last_mars + 1):
                r.first[k] = min(r.first[k], r.home[k])
    for k in range(r.last + 1, r.last_mars + 1):
        r.off[k] = 1
    r.last = max(r.last, r.last_mars)
    for k in range(r.last_mars):
        r.off[k] = min(r.off[k], r.first[k])


cdef void classes_of(const race_t *t, const board_t *b, bint protects, int64_t mine, int64_t theirs,
                     double *out) noexcept nogil:
    """Chances of the ten classes from independent distributions.

    A loser has its first checker off, or all home, or some outside: as if it had played for just that.
    """
    cdef runner_t runners[2]
    cdef const runner_t *winner
    cdef const runner_t *loser
    cdef int side, k, j, late
    cdef double p, before, win = 0, mars, outside
    run_of(t, b, 0, protects, mine, &runners[0])
    run_of(t, b, 1, protects, theirs, &runners[1])
    for side in range(2):                       # the winner, with its k-th roll; the mover's comes first
        winner, loser = &runners[side], &runners[1 - side]
        late = 1 - side                         # the mover's first roll: the other has had none
        before = mars = outside = 0
        if side == 0:
            for k in range(winner.begin, min(winner.last, loser.last + late) + 1):
                win += (winner.off[k] - before) * (1 - loser.off[max(k - late, 0)])
                before = winner.off[k]
        else:
            win = 1 - win
        if loser.mars:
            before = 0
            for k in range(winner.begin, min(winner.last, loser.last_mars + late) + 1):
                j = max(k - late, 0)
                p = winner.off[k] - before
                before = winner.off[k]
                mars += p * (1 - loser.first[j])
                if loser.far:
                    outside += p * (1 - loser.home[j])
        # Nothing is below 0: the sums of mars and of what is outside are rounded in the same order.
        out[5 * side + NC_ANY_OFF] = 0 if win < mars else win - mars
        out[5 * side + NC_ALL_HOME] = mars - outside
        out[5 * side + NC_OUTSIDE] = outside
        out[5 * side + NC_WINNER_HOME] = out[5 * side + NC_ON_BAR] = 0


cdef inline void ranks_of(const race_t *t, const board_t *b, const rules_t *rules, int64_t *out) noexcept nogil:
    """The ranks of the mover and of the opponent; -1 where one is not covered, both where there is contact."""
    cdef bint turned = rules.movement == NC_LONG
    cdef int side
    for side in range(2):
        if t.points == 6:
            out[side] = home_rank(b, side, t.checkers, rules.checkers, turned)
        else:
            out[side] = side_rank(b, side, t.points, t.checkers, rules.checkers, turned)
    # Two sides that are covered are past each other where tables end before the half of the way.
    if (t.points > 12 or out[0] < 0 or out[1] < 0) and not past(b, turned):
        out[0] = out[1] = -1


cdef class OneSidedTable:
    """A finished one-sided table for look-ups: distributions by goal."""
    cdef object kept
    cdef race_t t
    cdef CompiledRules rules                    # those that single positions may be of

    def __init__(self, int points, int checkers, goals):
        cdef int g
        cdef const double[::1] mean
        cdef const int64_t[::1] start
        cdef const uint8_t[::1] first
        cdef const uint8_t[::1] length
        cdef const double[::1] rows
        self.kept = goals
        self.t.points = points
        self.t.checkers = checkers
        for g in range(3):
            self.t.has[g] = goals[g] is not None
            if self.t.has[g]:
                start, first, length, rows, mean = goals[g]
                self.t.t[g].start = &start[0]
                self.t.t[g].first = &first[0]
                self.t.t[g].length = &length[0]
                self.t.t[g].rows = &rows[0]
                self.t.t[g].mean = &mean[0]
                self.t.t[g].size = rows.shape[0]

    # Positions of rules that the caller has not `admitted` are not found; it sees whether the table serves them.

    cdef int64_t rank(self, Position position, int side, bint admitted) noexcept:
        """The rank of a side; -1 where it is not covered or the sides can meet."""
        cdef CompiledRules c = position.r
        cdef bint turned = c.c.movement == NC_LONG
        if c is not self.rules:
            if not admitted:
                return -1
            self.rules = c
        if not past(&position.b, turned):
            return -1
        return side_rank(&position.b, side, self.t.points, self.t.checkers, c.c.checkers, turned)

    def mean(self, Position position not None, int side, int goal, bint admitted=False):
        """The mean number of rolls of a side; -1 where there is none."""
        cdef int64_t rank = self.rank(position, side, admitted)
        if rank < 0:
            return -1.
        return self.t.t[goal].mean[rank] if self.t.has[goal] else 0.

    def distribution(self, Position position not None, int side, int goal, bint admitted=False):
        """The chances of 0, 1, … rolls of a side; None where there are none."""
        cdef int64_t rank = self.rank(position, side, admitted)
        cdef int k, first, length
        cdef double[::1] out
        if rank < 0:
            return None
        if not self.t.has[goal]:
            return np.ones(1)
        if not kept(&self.t.t[goal], rank):
            return np.full(1, NAN)
        first = self.t.t[goal].first[rank]
        length = self.t.t[goal].length[rank]
        found = np.zeros(first + length)
        out = found
        for k in range(length):
            out[first + k] = self.t.t[goal].rows[self.t.t[goal].start[rank] + k]
        return found

    cdef bint classes(self, Position position, bint admitted, double *out) noexcept:
        cdef int64_t mine = self.rank(position, 0, admitted), theirs = self.rank(position, 1, admitted)
        if mine < 0 or theirs < 0 or mine + theirs == 0:
            return False
        classes_of(&self.t, &position.b, position.r.c.off_protects, mine, theirs, out)
        return True

    def outcome(self, Position position not None, bint admitted=False):
        """Chances of the ten classes; None where there are none."""
        found = np.empty(NC_CLASSES)
        cdef double[::1] out = found
        return found if self.classes(position, admitted, &out[0]) else None

    def win(self, Position position not None, bint admitted=False):
        """The chance to win; -1 where there is none."""
        cdef double out[NC_CLASSES]
        if not self.classes(position, admitted, out):
            return -1.
        return out[0] + out[1] + out[2] + out[3] + out[4]

    def means(self, const int8_t[:, ::1] boards, rules, int goal, double[:, ::1] out):
        """Mean numbers of rolls of both sides of boards, the mover's first; NaN where there is none."""
        cdef int64_t ranks[16][2]
        cdef CompiledRules c = compiled(rules)
        cdef Py_ssize_t i, j, last
        cdef int side
        with nogil:
            for i in range(0, boards.shape[0], 16):     # so many numbers are sent for before the first is looked at
                last = min(boards.shape[0] - i, 16)
                for j in range(last):
                    ranks_of(&self.t, <const board_t *>&boards[i + j, 0], &c.c, ranks[j])
                    for side in range(2):
                        if self.t.has[goal] and ranks[j][side] >= 0:
                            nc_prefetch(self.t.t[goal].mean + ranks[j][side])
                for j in range(last):
                    for side in range(2):
                        if ranks[j][side] < 0:
                            out[i + j, side] = NAN
                        else:
                            out[i + j, side] = self.t.t[goal].mean[ranks[j][side]] if self.t.has[goal] else 0

    def outcomes(self, const int8_t[:, ::1] boards, rules, double[:, ::1] out):
        """Chances of the ten classes of boards, or of winning where there is room for one; NaN where there are none."""
        cdef double found[NC_CLASSES]
        cdef bint wins = out.shape[1] == 1
        cdef int64_t ranks[16][2]
        cdef CompiledRules c = compiled(rules)
        cdef const row_t *t
        cdef Py_ssize_t i, j, last
        cdef int side, goal, k
        with nogil:
            for i in range(0, boards.shape[0], 16):     # extents, then distributions, are sent for before they are used
                last = min(boards.shape[0] - i, 16)
                for j in range(last):
                    ranks_of(&self.t, <const board_t *>&boards[i + j, 0], &c.c, ranks[j])
                    for side in range(2):
                        for goal in range(3):
                            if self.t.has[goal] and ranks[j][side] >= 0:
                                t = &self.t.t[goal]
                                nc_prefetch(t.start + ranks[j][side])
                                nc_prefetch(t.first + ranks[j][side])
                                nc_prefetch(t.length + ranks[j][side])
                for j in range(last):
                    for side in range(2):
                        for goal in range(3):
                            if self.t.has[goal] and ranks[j][side] >= 0:
                                t = &self.t.t[goal]
                                nc_prefetch(t.rows + t.start[ranks[j][side]])
                                nc_prefetch(t.rows + t.start[ranks[j][side]] + 8)
                                nc_prefetch(t.rows + t.start[ranks[j][side]] + t.length[ranks[j][side]] - 1)
                for j in range(last):
                    if ranks[j][0] < 0 or ranks[j][1] < 0 or ranks[j][0] + ranks[j][1] == 0:
                        for k in range(NC_CLASSES):
                            found[k] = NAN
                    else:
                        classes_of(&self.t, <const board_t *>&boards[i + j, 0], c.c.off_protects,
                                   ranks[j][0], ranks[j][1], found)
                    if wins:
                        out[i + j, 0] = found[0] + found[1] + found[2] + found[3] + found[4]
                    else:
                        memcpy(&out[i + j, 0], found, sizeof(found))
