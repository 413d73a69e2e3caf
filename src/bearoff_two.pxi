# Two-sided tables: what bearoff_tile.h needs, cut into tasks.
#
# "Places" are positions of a side ordered by pips. Values are found class by class of equal pips c, in two phases:
#   A  the mover has c pips, the opponent c or more;
#   B  the mover has more than c pips, the opponent c.
# A needs values of earlier B phases alone, B those of A as well, so all tasks of a phase are independent. In phase B a
# task reads one strip of the table from its beginning to its end, which the processor foresees.

cdef enum:
    STOPPED = 1
    BAD_IO = -2


def program(rules, const int8_t[:, ::1] counts, const int32_t[::1] place, Py_ssize_t first, Py_ssize_t last, stop):
    """The results of every roll from places first .. last - 1: uint8[n, 21] counts and uint16[] places.

    counts: the positions by place; place: by rank. None where a play can leave everything as it is, or stopped.
    """
    cdef CompiledRules c = compiled(rules)
    cdef Stop flag = stop
    cdef const kernels_t *kernel = kernels()
    cdef int points = <int>counts.shape[1], roll
    cdef Py_ssize_t u, n = 0, room = 512 * (last - first) + 4096
    cdef int32_t k, j
    cdef int32_t to
    cdef board_t b
    cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
    cdef int bad = 0
    numbers = np.zeros((last - first, NC_ROLLS), np.uint8)
    cdef uint8_t[:, ::1] number = numbers
    nexts = np.empty(room, np.uint16)
    cdef uint16_t[::1] out = nexts
    if not scratch:
        raise MemoryError
    try:
        with nogil:
            for u in range(first, last):
                if nc_flag_read(&flag.flag):
                    bad = 3
                    break
                lonely(&b, &c.c, &counts[u, 0], points)
                for roll in range(NC_ROLLS):
                    k = kernel.plays(&c.c, &b, ROLL[roll][0], ROLL[roll][1], scratch)
                    if k < 0 or k > 255 or n + k > room:
                        bad = 1
                        break
                    for j in range(k):
                        to = place[rank_of(scratch[j].pt, points)]
                        if to >= u:
                            bad = 2
                        out[n] = <uint16_t>to
                        n += 1
                    number[u - first, roll] = <uint8_t>k
                if bad:
                    break
    finally:
        free(scratch)
    if bad == 1:
        raise MemoryError
    if bad:
        return None
    return numbers, nexts[:n].copy()


cdef class Program:
    """The results of every roll from every place of a side, and where its classes of equal pips begin."""
    cdef object kept
    cdef nc_program p
    cdef readonly Py_ssize_t places

    def __init__(self, const int64_t[::1] start, const uint8_t[:, ::1] count, const uint16_t[::1] nexts):
        self.kept = (start, count, nexts)
        self.places = count.shape[0]
        self.p.start = &start[0]
        self.p.count = &count[0, 0]
        self.p.next = &nexts[0]


cdef int64_t read_at(int fd, void *p, int64_t n, int64_t offset) noexcept nogil:
    cdef int64_t k
    while n:
        k = nc_pread(fd, p, n, offset)
        if k <= 0:
            return BAD_IO
        p = <char *>p + k
        n -= k
        offset += k
    return 0


cdef int64_t write_at(int fd, const void *p, int64_t n, int64_t offset) noexcept nogil:
    cdef int64_t k
    while n:
        k = nc_pwrite(fd, p, n, offset)
        if k <= 0:
            return BAD_IO
        p = <const char *>p + k
        n -= k
        offset += k
    return 0


cdef class TwoSidedJob:
    """A build under way, as its threads see it: tables in memory, or in a file.

    Table i of side m (0 or 1) begins at base[m][i]; values of sides equal in checkers share their tables.
    """
    cdef object kept
    cdef nc_program program[2]
    cdef int64_t places[2]
    cdef char *base[2][4]
    cdef int64_t offset[2][4]
    cdef int fd, values, dtype, size
    cdef bint avx2
    cdef Stop stop
    cdef int64_t counter

    def __init__(self, Program mover, Program other, int dtype, int values, bint avx2, Stop stop, *,
                 tables=None, int fd=-1, offsets=None):
        cdef int m, i
        cdef uint8_t[::1] raw
        self.program[0] = mover.p
        self.program[1] = other.p
        self.places[0] = mover.places
        self.places[1] = other.places
        self.dtype = dtype
        self.size = 2 << dtype
        self.values = values
        self.avx2 = avx2
        self.stop = stop
        self.fd = fd
        self.kept = (mover, other, tables)
        for m in range(2):
            for i in range(values):
                if fd < 0:
                    raw = tables[m][i]
                    self.base[m][i] = <char *>&raw[0]
                else:
                    self.offset[m][i] = offsets[m][i]

    def begin(self):
        """Start a phase: the next task is the first."""
        self.counter = 0

    def work(self, int m, int64_t lane_first, int64_t lane_last, int64_t first, int64_t last, int64_t low, int64_t high,
             int64_t chunk):
        """Take tasks of a phase until there are none: side m at places first .. last - 1 against the other side's
        places lane_first .. lane_last - 1. Results lie in places low .. high - 1. Returns 0, STOPPED or an error."""
        cdef int64_t status
        with nogil:
            status = self.tasks(m, lane_first, lane_last, first, last, low, high, chunk)
        if status == -1:
            raise MemoryError
        return status

    cdef int64_t tasks(self, int m, int64_t lane_first, int64_t lane_last, int64_t first, int64_t last, int64_t low,
                       int64_t high, int64_t chunk) noexcept nogil:
        cdef int64_t strip0 = lane_first // NC_LANES, strips = (lane_last + NC_LANES - 1) // NC_LANES - strip0
        cdef int64_t cut0 = first // chunk, cuts = (last + chunk - 1) // chunk - cut0
        cdef int64_t task, s, u0, u1, status = 0
        # Room for the rows of a strip, where they are not used as they stand: read from a file, or seen with the cube.
        cdef int64_t strip = (high - low) * NC_LANES * self.size
        cdef int64_t room = strip * ((self.values if self.fd >= 0 else 0) + (2 if self.values > 1 else 0))
        cdef char *scratch = <char *>malloc(room + 2 * NC_LANES * NC_LANES * self.size)
        if not scratch:
            return -1
        while status == 0:
            task = nc_take(&self.counter)
            if task >= strips * cuts:
                break
            if nc_flag_read(&self.stop.flag):
                status = STOPPED
                break
            s = strip0 + task // cuts
            u0 = max(first, (cut0 + task % cuts) * chunk)
            u1 = min(last, (cut0 + task % cuts + 1) * chunk)
            status = self.task(m, s, max(lane_first - s * NC_LANES, <int64_t>0),
                               min(lane_last - s * NC_LANES, <int64_t>NC_LANES), u0, u1, low, min(high, u1),
                               scratch, strip)
        free(scratch)
        return status

    cdef int64_t task(self, int m, int64_t s, int64_t l0, int64_t l1, int64_t first, int64_t last, int64_t low,
                      int64_t high, char *scratch, int64_t strip) noexcept nogil:
        cdef int o = 1 - m
        cdef int64_t rows = self.places[m], line = NC_LANES * self.size, u, end
        cdef const char *source[4]              # rows as the recursion looks at them, row 0 at the pointer
        cdef char *block
        cdef char *turned
        cdef int i
        cdef int64_t offset = s * rows * line
        for i in range(self.values):
            if self.fd < 0:
                source[i] = self.base[o][i] + offset
            else:
                if read_at(self.fd, scratch, (high - low) * line, self.offset[o][i] + offset + low * line):
                    return BAD_IO
                source[i] = scratch - low * line
                scratch += strip
        if self.values > 1:
            # Values: 0 cubeless, 1 own cube, 2 centred, 3 the opponent's. After the play the opponent is on roll: the
            # cube that the mover owns is then the opponent's opponent's, and the opponent may double with its own or
            # a centred one.
            for i in range(1, 3):
                nc_double(self.dtype, source[i] + low * line, source[3] + low * line, scratch, (high - low) * NC_LANES)
                source[i] = scratch - low * line
                scratch += strip
            source[1], source[3] = source[3], source[1]
        block = scratch
        turned = scratch + NC_LANES * line
        u = first
        while u < last:
            end = min(last, (u // NC_LANES + 1) * NC_LANES)
            if nc_flag_read(&self.stop.flag):
                return STOPPED
            for i in range(self.values):
                nc_tile(self.dtype, self.avx2, &self.program[m], source[i], u, end, block)
                nc_turn(self.dtype, block, turned)
                if self.store(m, i, s, l0, l1, u, end, turned):
                    return BAD_IO
            u = end
        return 0

    cdef int64_t store(self, int m, int i, int64_t s, int64_t l0, int64_t l1, int64_t u, int64_t end,
                       const char *turned) noexcept nogil:
        """Values of places u .. end - 1, within one strip, against lanes l0 .. l1 - 1 of strip s: into their rows."""
        cdef int64_t line = NC_LANES * self.size, within = (u % NC_LANES) * self.size, width = (end - u) * self.size, k
        cdef int64_t at = ((u // NC_LANES) * self.places[1 - m] + s * NC_LANES) * line + within
        if self.fd < 0:
            for k in range(l0, l1):
                memcpy(self.base[m][i] + at + k * line, turned + k * line, width)
            return 0
        if width == line:
            return write_at(self.fd, turned + l0 * line, (l1 - l0) * line, self.offset[m][i] + at + l0 * line)
        for k in range(l0, l1):
            if write_at(self.fd, turned + k * line, width, self.offset[m][i] + at + k * line):
                return BAD_IO
        return 0


# ---- probing -------------------------------------------------------------------------------------------------------

cdef inline int64_t home_rank(const board_t *b, int side, int checkers, int total, bint turned) noexcept nogil:
    """As side_rank of six points, on the straight."""
    cdef const int8_t *p = &b.pt[0 if side == 0 else 12 if turned else 23]
    cdef int step = 1 if side == 0 or turned else -1, sign = 1 if side == 0 else -1
    cdef int k, n, s = 0, left = total - b.off[side]
    cdef uint64_t rank = 0
    for k in range(1, 7):
        n = sign * p[step * (6 - k)]
        s += n if n > 0 else 0
        rank += HOME_TERM[k - 1][s & 31]
    if b.bar[side] or left > checkers or s != left:
        return -1
    return <int64_t>rank


cdef uint32_t HOME_TERM[6][32]                  # [k - 1][s]: C(s + k - 1, k)


cdef void fill_home_terms() noexcept nogil:
    cdef int k, s
    for k in range(1, 7):
        for s in range(32):
            HOME_TERM[k - 1][s] = <uint32_t>CHOOSE[s + k - 1][k] if s <= MOST_CHECKERS else 0


fill_home_terms()


cdef bint find(const lookup_t *t, const board_t *b, int total, bint turned, int64_t *index, int *side) noexcept nogil:
    """Where a board's value stands; False where the table has none. total: the checkers of the rules."""
    cdef int m = 0
    cdef int64_t u, v
    if t.both and (total - b.off[0] > t.checkers[0] or total - b.off[1] > t.checkers[1]):
        m = 1
    u = home_rank(b, 0, t.checkers[m], total, turned)
    v = home_rank(b, 1, t.checkers[1 - m], total, turned)
    if u < 0 or v < 0 or u + v == 0:
        return False
    u = t.place[m][u]
    v = t.place[1 - m][v]
    side[0] = m
    index[0] = ((u // NC_LANES) * t.places[1 - m] + v) * NC_LANES + u % NC_LANES
    return True


cdef inline double value_at(const lookup_t *t, int side, int value, int64_t index) noexcept nogil:
    """A stored value, from 0 to 1."""
    if t.dtype == NC_U16:
        return (<const uint16_t *>t.base[side][value])[index] / 65535.
    if t.dtype == NC_F32:
        return (<const float *>t.base[side][value])[index]
    return (<const double *>t.base[side][value])[index]


cdef class TwoSidedTable:
    """A finished table for look-ups."""

    def __init__(self, checkers, places, tables, int dtype, int values):
        cdef int m, i
        cdef const int32_t[::1] order
        cdef const uint8_t[::1] raw
        self.kept = (places, tables)
        self.t.dtype = dtype
        self.t.values = values
        self.t.both = checkers[0] != checkers[1]
        for m in range(2):
            self.t.checkers[m] = checkers[m]
            self.t.places[m] = CHOOSE[6 + self.t.checkers[m]][6]
            order = places[m]
            self.t.place[m] = &order[0]
            for i in range(values):
                raw = tables[m][i]
                self.t.base[m][i] = <const char *>&raw[0]

    def one(self, Position position not None, int value, bint admitted=False):
        """The stored value of a position, from 0 to 1; -1 where there is none.

        Positions of rules that the caller has not `admitted` have none either; it finds whether the table serves them.
        """
        cdef int64_t index = 0
        cdef int side = 0
        if not self.find(position, admitted, &index, &side):
            return -1.
        return value_at(&self.t, side, value, index)

    def equity(self, Position position not None, int value, bint double, bint admitted=False):
        """As `one`, from -1 to 1; with `double`, the better of doubling now and not. -2 where there is none."""
        cdef int64_t index = 0
        cdef int side = 0
        cdef double held, given
        if not self.find(position, admitted, &index, &side):
            return -2.
        held = 2 * value_at(&self.t, side, value, index) - 1
        if double:
            given = 2 * (2 * value_at(&self.t, side, 3, index) - 1)
            held = max(held, min(given, 1.))
        return held

    cdef bint find(self, Position position, bint admitted, int64_t *index, int *side) noexcept:
        cdef CompiledRules c = position.r
        if c is not self.rules:
            if not admitted:
                return False
            self.rules = c
        return find(&self.t, &position.b, c.c.checkers, c.c.movement == NC_LONG, index, side)

    def many(self, const int8_t[:, ::1] boards, rules, int value, double[::1] out):
        """Stored values of boards, from 0 to 1; NaN where there is none. Returns how many there were."""
        cdef CompiledRules c = compiled(rules)
        cdef bint turned = c.c.movement == NC_LONG
        cdef int64_t index[16]
        cdef int side[16]
        cdef int64_t n = 0
        cdef Py_ssize_t i, last
        cdef int j
        with nogil:
            for i in range(0, boards.shape[0], 16):     # so many values are sent for before the first is looked at
                last = min(boards.shape[0] - i, 16)
                for j in range(last):
                    if find(&self.t, <const board_t *>&boards[i + j, 0], c.c.checkers, turned, &index[j], &side[j]):
                        nc_prefetch(self.t.base[side[j]][value] + (index[j] << (1 + self.t.dtype)))
                    else:
                        index[j] = -1
                for j in range(last):
                    out[i + j] = NAN if index[j] < 0 else value_at(&self.t, side[j], value, index[j])
                    n += index[j] >= 0
        return n


cdef int probe_win(const table_t *table, const board_t *b, float *out) noexcept nogil:
    cdef const probe_t *s = <const probe_t *>table.state
    cdef int64_t index = 0
    cdef int side = 0, i
    cdef double win
    if not (s.single or (b.off[0] and b.off[1])) or b.off[0] == s.total or b.off[1] == s.total:
        return 0
    if not find(s.lookup, b, s.total, s.turned, &index, &side):
        return 0
    win = value_at(s.lookup, side, 0, index)
    for i in range(NC_CLASSES):
        out[i] = 0
    out[NC_ANY_OFF] = <float>win
    out[5 + NC_ANY_OFF] = <float>(1 - win)
    return 1


cdef class Probe:
    """A table as native code asks it: `capsule` holds an ``nc_table`` named ``"nardcore.table"``."""

    @property
    def capsule(self):
        """The table for C code; this object must outlive it."""
        if self.t.probe is NULL:
            msg = "tables make probes: see TwoSided.probe"
            raise TypeError(msg)
        return PyCapsule_New(&self.t, "nardcore.table", NULL)

    def __call__(self, const int8_t[::1] board):
        """Class probabilities of a board as float32[10], or None where it is not covered."""
        if self.t.probe is NULL or board.shape[0] != sizeof(board_t):
            msg = "a probe of a table looks at one board, int8[32]"
            raise TypeError(msg)
        found = np.zeros(NC_CLASSES, np.float32)
        cdef float[::1] out = found
        return found if self.t.probe(&self.t, <const board_t *>&board[0], &out[0]) else None


cdef class TwoSidedProbe(Probe):
    """With `single` every win counts alike, and is given as class 0 whatever the loser still has; otherwise only
    positions in which both sides have a checker off are covered."""

    def __init__(self, TwoSidedTable table not None, rules, bint single):
        cdef CompiledRules c = compiled(rules)
        self.table = table
        self.s.lookup = &table.t
        self.s.total = c.c.checkers
        self.s.turned = c.c.movement == NC_LONG
        self.s.single = single
        self.t.version = NC_TABLE_VERSION
        self.t.flags = 0
        self.t.state = &self.s
        self.t.probe = probe_win
