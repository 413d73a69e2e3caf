# Few checkers in full contact: every pair of positions, solved by policy iteration.
#
# Looking at all plays of all rolls is dear, following plays already chosen is cheap: so plays are chosen a few times
# (`choose`), and between two choices the pairs are swept many times by the chosen plays alone (`follow`). Where plays
# lead is kept in lists, as far as there is room for them. A sweep goes in the order of both sides' pips, a level of
# equal pips at a time. Hits lead upwards, to values of the sweep before; all else leads to levels that this sweep has
# already done. Within a level nobody reads what the level writes, so nothing depends on threads.

cdef extern from * nogil:
    """
    /* Ranks of both sides, the opponent's first, on 24 points and the bar. gain[j][p]: what the checker that is j-th
    from
       behind adds on point p. left: how many are not off. */
    static inline int64_t nc_contact_place(const int8_t *b, const uint32_t (*gain)[26], int checkers, int64_t n)
    {
        int64_t mine = 0, theirs = 0;
        int i, c, j, left;
        for (left = checkers - b[26], j = 0, c = b[24]; c > 0; c--)
            mine += gain[j++][25];
        for (i = 23; j < left; i--)
            for (c = b[i]; c > 0; c--)
                mine += gain[j++][i + 1];
        for (left = checkers - b[27], j = 0, c = b[25]; c > 0; c--)
            theirs += gain[j++][25];
        for (i = 0; j < left; i++)
            for (c = b[i]; c < 0; c++)
                theirs += gain[j++][24 - i];
        return theirs * n + mine;
    }
    """
    int64_t nc_contact_place(const int8_t *b, const uint32_t (*gain)[26], int checkers, int64_t n) noexcept


cdef enum:
    CONTACT_MOST = 3                            # checkers a side
    CONTACT_PIECE = 64                          # pairs that a thread takes at a time
    CONTACT_COUNTS = 6                          # words that hold a byte for each roll


cdef uint32_t CONTACT_GAIN[CONTACT_MOST][26]


cdef void fill_gain() noexcept nogil:
    cdef int j, p, k
    for j in range(CONTACT_MOST):
        CONTACT_GAIN[j][0] = 0
        for p in range(1, 26):
            CONTACT_GAIN[j][p] = 0
            for k in range(26 - p, 26):
                CONTACT_GAIN[j][p] += <uint32_t>CHOOSE[j + k - 1][k - 1]


fill_gain()


cdef class ContactJob:
    """A table under construction.

    `now` holds the equity of a place and how many turns the game still lasts, [mover][opponent][2]; `chances` the
    classes, once it is their turn. `chosen` are the places that plays lead to, [pair][roll], the opponent on roll.
    """
    cdef object kept
    cdef CompiledRules rules
    cdef Stop stop
    cdef int64_t n, counter
    cdef const int8_t *counts
    cdef const int32_t *pairs
    cdef double *now
    cdef double *chances
    cdef double *fresh                          # [place in the level][NC_CLASSES]
    cdef uint32_t *chosen
    cdef uint32_t **lists                       # [pair]: how many results each roll has, their places; NULL: not kept
    cdef int64_t size, room
    cdef float points[NC_CLASSES]

    def __init__(self, rules, const int8_t[:, ::1] counts, const int32_t[:, ::1] pairs, double[::1] now,
                 double[::1] fresh, uint32_t[::1] chosen, points, int64_t room, Stop stop):
        cdef int k
        self.size = pairs.shape[0]
        self.lists = <uint32_t **>calloc(self.size + 1, sizeof(uint32_t *))
        if not self.lists:
            raise MemoryError
        self.room = room
        self.kept = [counts, pairs, now, fresh, chosen]
        self.rules = compiled(rules)
        self.stop = stop
        self.n = counts.shape[0]
        self.counts = &counts[0, 0]
        self.pairs = &pairs[0, 0]
        self.now = &now[0]
        self.fresh = &fresh[0]
        self.chosen = &chosen[0]
        for k in range(NC_CLASSES):
            self.points[k] = points[k]

    def __dealloc__(self):
        self.forget()

    def forget(self):
        """Give the room of the lists back."""
        cdef int64_t i
        if self.lists:
            for i in range(self.size):
                free(self.lists[i])
            free(self.lists)
            self.lists = NULL

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

    def ends(self, double[::1] chances=None):
        """Set the values of finished games; from now on, where given, of `chances`."""
        cdef board_t board
        cdef int64_t i, at
        cdef int k, side
        if chances is not None:
            self.kept.append(chances)
            self.chances = &chances[0]
        with nogil:
            for i in range(1, self.n):
                for side in range(2):
                    at = i * self.n if side else i
                    self.board(i if side else 0, 0 if side else i, &board)
                    k = outcome(&self.rules.c, &board)
                    self.now[2 * at] = self.points[k]
                    self.now[2 * at + 1] = 0
                    if self.chances:
                        self.chances[NC_CLASSES * at + k] = 1

    def begin(self):
        """Start a phase: the next piece is the first."""
        self.counter = 0

    def choose(self, int64_t first, int64_t last, bint take, double delta):
        """Choose plays for pairs first .. last - 1, in pieces, until there are none.

        The best ones, of those the shortest way, with `take` for a level whose values follow at once (`settle`). A
        `delta` above 0 prefers plays that prolong the game by a turn even at that price. Returns the largest change of
        an equity, or with `delta` how many pairs are not known within `delta` for every turn that the game still lasts.
        """
        cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
        cdef uint32_t *places = <uint32_t *>malloc((CONTACT_COUNTS + NC_ROLLS * 255) * sizeof(uint32_t))
        cdef int64_t i, a
        cdef double found = 0, one
        if not scratch or not places:
            free(scratch)
            free(places)
            raise MemoryError
        with nogil:
            while True:
                a = first + nc_take(&self.counter) * CONTACT_PIECE
                if a >= last or nc_flag_read(&self.stop.flag):
                    break
                for i in range(a, min(a + CONTACT_PIECE, last)):
                    one = self.choose_one(i, self.fresh + (i - first) * NC_CLASSES if take else NULL, delta,
                                          scratch, places)
                    found = found + one if delta > 0 else max(found, one)
            free(scratch)
            free(places)
        return found

    cdef uint32_t *list_of(self, int64_t pair, board_t *scratch, uint32_t *found) noexcept nogil:
        """Where the plays of a pair lead: a list that is kept, or else `found`, which has room for the longest."""
        cdef const kernels_t *kernel = kernels()
        cdef board_t board
        cdef uint8_t *count = <uint8_t *>found
        cdef int64_t length = CONTACT_COUNTS
        cdef uint32_t *kept
        cdef int roll
        cdef int32_t i, n
        if self.lists[pair]:
            return self.lists[pair]
        self.board(self.pairs[2 * pair], self.pairs[2 * pair + 1], &board)
        for roll in range(NC_ROLLS):
            n = kernel.plays(&self.rules.c, &board, ROLL[roll][0], ROLL[roll][1], scratch)
            count[roll] = <uint8_t>n
            for i in range(n):
                found[length] = <uint32_t>nc_contact_place(<const int8_t *>&scratch[i], CONTACT_GAIN,
                                                           self.rules.c.checkers, self.n)
                length += 1
        # the room is counted by threads at once, roughly
        if self.room < length * <int64_t>sizeof(uint32_t):
            return found
        kept = <uint32_t *>malloc(length * sizeof(uint32_t))
        if kept:
            self.room -= length * <int64_t>sizeof(uint32_t) + 16
            memcpy(kept, found, length * sizeof(uint32_t))
            self.lists[pair] = kept
        return found

    cdef double choose_one(self, int64_t pair, double *fresh, double delta, board_t *scratch,
                           uint32_t *found) noexcept nogil:
        cdef int64_t here = self.pairs[2 * pair] * self.n + self.pairs[2 * pair + 1], at, chosen
        cdef double equity = 0, turns = 0, upper = 0, lower = 0, e, g, best, length, high, low
        cdef const uint32_t *places = self.list_of(pair, scratch, found)
        cdef const uint8_t *count = <const uint8_t *>places
        cdef int roll, weight, i
        places += CONTACT_COUNTS
        for roll in range(NC_ROLLS):
            weight = 2 if roll < NC_MIXED else 1
            chosen = -1
            best = length = high = low = 0
            for i in range(count[roll]):
                at = places[i]
                e = -self.now[2 * at]
                g = self.now[2 * at + 1]
                if delta > 0:
                    if chosen < 0 or e + delta * g > high:
                        chosen = at
                        high = e + delta * g
                    if i == 0 or e - delta * g > low:
                        low = e - delta * g
                elif chosen < 0 or e > best or (e == best and g < length):
                    chosen = at
                    best = e
                    length = g
            places += count[roll]
            self.chosen[pair * NC_ROLLS + roll] = <uint32_t>chosen
            equity += weight * best
            turns += weight * length
            upper += weight * high
            lower += weight * low
        e = self.now[2 * here]
        g = self.now[2 * here + 1]
        if delta > 0:
            return upper / 36 > e + delta * g or lower / 36 < e - delta * g
        if fresh:
            fresh[0] = equity / 36
            fresh[1] = 1 + turns / 36
        return abs(equity / 36 - e)

    def close(self, int64_t first, int64_t last, uint8_t[::1] over):
        """Mark the pairs from which some roll leads to marked ones only, whatever is played. Returns how many are
        not marked."""
        cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
        cdef uint32_t *found = <uint32_t *>malloc((CONTACT_COUNTS + NC_ROLLS * 255) * sizeof(uint32_t))
        cdef const uint32_t *places
        cdef const uint8_t *count
        cdef int64_t i, a, here, left = 0
        cdef int roll, k, marked
        if not scratch or not found:
            free(scratch)
            free(found)
            raise MemoryError
        with nogil:
            while True:
                a = first + nc_take(&self.counter) * CONTACT_PIECE
                if a >= last or nc_flag_read(&self.stop.flag):
                    break
                for i in range(a, min(a + CONTACT_PIECE, last)):
                    here = self.pairs[2 * i] * self.n + self.pairs[2 * i + 1]
                    if over[here]:
                        continue
                    places = self.list_of(i, scratch, found)
                    count = <const uint8_t *>places
                    places += CONTACT_COUNTS
                    marked = 0
                    for roll in range(NC_ROLLS):
                        marked = 1
                        for k in range(count[roll]):
                            if not over[places[k]]:
                                marked = 0
                                break
                        if marked:
                            break
                        places += count[roll]
                    if marked:
                        over[here] = 1
                    else:
                        left += 1
            free(scratch)
            free(found)
        return left

    def follow(self, int64_t first, int64_t last, bint equities):
        """Look where the chosen plays of a level lead. Returns the largest changes: of an equity, of a number of
        turns."""
        cdef int64_t i, a, here
        cdef double change = 0, longer = 0
        cdef double *fresh
        with nogil:
            while True:
                a = first + nc_take(&self.counter) * CONTACT_PIECE
                if a >= last or nc_flag_read(&self.stop.flag):
                    break
                for i in range(a, min(a + CONTACT_PIECE, last)):
                    fresh = self.fresh + (i - first) * NC_CLASSES
                    here = self.pairs[2 * i] * self.n + self.pairs[2 * i + 1]
                    self.follow_one(self.chosen + i * NC_ROLLS, fresh)
                    if not equities:
                        fresh[0] = self.now[2 * here]
                    change = max(change, abs(fresh[0] - self.now[2 * here]))
                    longer = max(longer, abs(fresh[1] - self.now[2 * here + 1]))
        return change, longer

    cdef void follow_one(self, const uint32_t *chosen, double *fresh) noexcept nogil:
        cdef double mixed = 0, doubles = 0, longer = 0, long_doubles = 0
        cdef int roll
        for roll in range(NC_MIXED):
            mixed += self.now[2 * <int64_t>chosen[roll]]
            longer += self.now[2 * <int64_t>chosen[roll] + 1]
        for roll in range(NC_MIXED, NC_ROLLS):
            doubles += self.now[2 * <int64_t>chosen[roll]]
            long_doubles += self.now[2 * <int64_t>chosen[roll] + 1]
        fresh[0] = -(2 * mixed + doubles) / 36
        fresh[1] = 1 + (2 * longer + long_doubles) / 36

    def spread(self, int64_t first, int64_t last):
        """Find the chances of the classes in a level by the chosen plays. Returns the largest change."""
        cdef int64_t i, a, here
        cdef double change = 0, weight
        cdef double *fresh
        cdef const double *there
        cdef int k, roll
        with nogil:
            while True:
                a = first + nc_take(&self.counter) * CONTACT_PIECE
                if a >= last or nc_flag_read(&self.stop.flag):
                    break
                for i in range(a, min(a + CONTACT_PIECE, last)):
                    fresh = self.fresh + (i - first) * NC_CLASSES
                    here = NC_CLASSES * (self.pairs[2 * i] * self.n + self.pairs[2 * i + 1])
                    for k in range(NC_CLASSES):
                        fresh[k] = 0
                    for roll in range(NC_ROLLS):
                        weight = 2 if roll < NC_MIXED else 1
                        there = self.chances + NC_CLASSES * <int64_t>self.chosen[i * NC_ROLLS + roll]
                        for k in range(5):
                            fresh[k] += weight * there[k + 5]
                            fresh[k + 5] += weight * there[k]
                    for k in range(NC_CLASSES):
                        fresh[k] /= 36
                        change = max(change, abs(fresh[k] - self.chances[here + k]))
        return change

    def settle(self, int64_t first, int64_t last, bint spread):
        """Take over what a level has found."""
        cdef int64_t i, at
        with nogil:
            for i in range(first, last):
                at = self.pairs[2 * i] * self.n + self.pairs[2 * i + 1]
                if spread:
                    memcpy(self.chances + at * NC_CLASSES, self.fresh + (i - first) * NC_CLASSES,
                           NC_CLASSES * sizeof(double))
                else:
                    memcpy(self.now + at * 2, self.fresh + (i - first) * NC_CLASSES, 2 * sizeof(double))


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


cdef int probe_contact(const table_t *table, const board_t *b, float *out) noexcept nogil:
    cdef const contact_t *s = <const contact_t *>table.state
    cdef int64_t at
    if b.off[0] == s.total or b.off[1] == s.total:
        return 0
    at = contact_side(b, 0) * s.n + contact_side(b, 1)
    memcpy(out, s.values + NC_CLASSES * at, NC_CLASSES * sizeof(float))
    return 1


cdef class ContactTable:
    """A finished table for look-ups: chances of the classes, [mover][opponent][NC_CLASSES]."""

    def __init__(self, const float[:, :, ::1] values, int checkers):
        self.kept = values
        self.s.values = &values[0, 0, 0]
        self.s.n = values.shape[0]
        self.s.total = checkers

    cdef const float *find(self, Position position, bint admitted) noexcept:
        if position.r is not self.rules:
            if not admitted:
                return NULL
            self.rules = position.r
        return self.s.values + NC_CLASSES * (contact_side(&position.b, 0) * self.s.n + contact_side(&position.b, 1))

    def outcome(self, Position position not None, bint admitted=False):
        """Chances of the ten classes; None where the rules are not `admitted`, the caller seeing whether they are."""
        cdef const float *values = self.find(position, admitted)
        cdef float[::1] out
        if values is NULL:
            return None
        found = np.empty(NC_CLASSES, np.float32)
        out = found
        memcpy(&out[0], values, NC_CLASSES * sizeof(float))
        return found

    def mean(self, Position position not None, tuple points, bint admitted=False):
        """The mean of the points of the ten classes; NaN where `outcome` has none."""
        cdef const float *values = self.find(position, admitted)
        cdef double sum = 0
        cdef int k
        if values is NULL:
            return NAN
        for k in range(NC_CLASSES):
            sum += values[k] * <double>points[k]
        return sum

    def many(self, const int8_t[:, ::1] boards, float[:, ::1] out):
        """Chances of the classes of boards, which the caller has checked."""
        cdef int64_t at[16]
        cdef Py_ssize_t i, j, last
        with nogil:
            for i in range(0, boards.shape[0], 16):     # so many numbers are sent for before the first is looked at
                last = min(boards.shape[0] - i, 16)
                for j in range(last):
                    at[j] = NC_CLASSES * (contact_side(<const board_t *>&boards[i + j, 0], 0) * self.s.n
                                          + contact_side(<const board_t *>&boards[i + j, 0], 1))
                    nc_prefetch(self.s.values + at[j])
                for j in range(last):
                    memcpy(&out[i + j, 0], self.s.values + at[j], NC_CLASSES * sizeof(float))


cdef class ContactProbe(Probe):
    """It covers all positions."""

    def __init__(self, ContactTable table not None):
        self.table = table
        self.t.version = NC_TABLE_VERSION
        self.t.flags = 0
        self.t.state = &table.s
        self.t.probe = probe_contact
