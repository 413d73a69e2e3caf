# Ranking: the combinatorial number system. With s(k) the checkers on the k highest of the points, the rank of a
# position is the sum over k of C(s(k) + k - 1, k): a bijection onto 0 .. C(checkers + points, points) - 1 for at
# most that many checkers, whatever the limit. Every step lowers the rank. gnubg numbers its bear-off positions the
# same way.

cdef enum:
    MOST_POINTS = 25
    MOST_CHECKERS = 15
    PIP_LIMIT = 24                      # the most pips a roll plays

cdef uint64_t CHOOSE[MOST_POINTS + MOST_CHECKERS + 1][MOST_POINTS + 1]


cdef void fill_choose() noexcept nogil:
    cdef int n, k
    for n in range(MOST_POINTS + MOST_CHECKERS + 1):
        for k in range(MOST_POINTS + 1):
            if k == 0:
                CHOOSE[n][k] = 1
            elif n == 0:
                CHOOSE[n][k] = 0
            else:
                CHOOSE[n][k] = CHOOSE[n - 1][k - 1] + CHOOSE[n - 1][k]


fill_choose()


cdef inline int64_t rank_of(const int8_t *counts, int points) noexcept nogil:
    """The rank of counts[0 .. points - 1], point 1 first. No count is negative, their sum at most MOST_CHECKERS."""
    cdef int k, s = 0
    cdef uint64_t rank = 0
    for k in range(1, points + 1):
        s += counts[points - k]
        rank += CHOOSE[s + k - 1][k]
    return <int64_t>rank


cdef inline void position_of(int64_t rank, int points, int8_t *counts) noexcept nogil:
    """The inverse of rank_of."""
    cdef int k, s, above = MOST_CHECKERS
    cdef uint64_t left = <uint64_t>rank
    for k in range(points, 0, -1):
        s = above
        while s and CHOOSE[s + k - 1][k] > left:
            s -= 1
        left -= CHOOSE[s + k - 1][k]
        if k < points:
            counts[points - k - 1] = <int8_t>(above - s)
        above = s
    counts[points - 1] = <int8_t>above


def position_count(int points, int checkers):
    """How many positions at most `checkers` checkers have on `points` points."""
    return CHOOSE[points + checkers][points]


def rank_batch(const int8_t[:, ::1] counts, int64_t[::1] out):
    """The ranks of rows of counts, which the caller has checked."""
    cdef Py_ssize_t i
    cdef int points = <int>counts.shape[1]
    with nogil:
        for i in range(counts.shape[0]):
            out[i] = rank_of(&counts[i, 0], points)


def unrank_batch(const int64_t[::1] ranks, int8_t[:, ::1] out):
    """The rows of counts of ranks, which the caller has checked."""
    cdef Py_ssize_t i
    cdef int points = <int>out.shape[1]
    with nogil:
        for i in range(ranks.shape[0]):
            position_of(ranks[i], points, &out[i, 0])


cdef inline int8_t theirs_at(const board_t *b, int point, bint turned) noexcept nogil:
    """The opponent's checkers on its own point `point` + 1."""
    cdef int8_t n = b.pt[(point + 12) % 24] if turned else b.pt[23 - point]
    return <int8_t>-n if n < 0 else 0


cdef inline int64_t side_rank(const board_t *b, int side, int points, int checkers, int total,
                              bint turned) noexcept nogil:
    """The rank of one side's checkers on its first points; -1 where it has others, or too many. total: of the rules."""
    cdef int8_t counts[MOST_POINTS]
    cdef int i, left = total - b.off[side]
    if b.bar[side] or left > checkers or left < 0:
        return -1
    for i in range(points):
        if side == 0:
            counts[i] = b.pt[i] if b.pt[i] > 0 else 0
        else:
            counts[i] = theirs_at(b, i, turned)
        left -= counts[i]
    if left:
        return -1
    return rank_of(counts, points)


cdef inline bint past(const board_t *b, bint turned) noexcept nogil:
    """Are the sides past each other, so that neither can ever be in the other's way?"""
    cdef int i, own, mine = 0, theirs = 0
    if b.bar[0] or b.bar[1]:
        return False
    for i in range(24):
        if b.pt[i] > 0:
            mine = i + 1                        # ends as the highest
    # An opponent's checker on its own point p meets the mover's on points 25 - p and below it (short), or on its way
    # round the board to come: those from p + 12 down to 13 (long).
    for i in range(24):
        if theirs_at(b, i, turned):
            theirs = i + 1
    if not turned:
        return mine + theirs < 25
    return mine <= 12 and theirs <= 12


def race_ranks(boards, rules, int points, int checkers):
    """Ranks of the mover and of the opponent, int64[N, 2]; -1 where one is not covered, both where there is contact."""
    cdef CompiledRules c = compiled(rules)
    cdef const int8_t[:, ::1] rows = boards
    cdef bint turned = c.c.movement == NC_LONG
    cdef Py_ssize_t i
    found = np.full((rows.shape[0], 2), -1, np.int64)
    cdef int64_t[:, ::1] out = found
    with nogil:
        for i in range(rows.shape[0]):
            if past(<const board_t *>&rows[i, 0], turned):
                out[i, 0] = side_rank(<const board_t *>&rows[i, 0], 0, points, checkers, c.c.checkers, turned)
                out[i, 1] = side_rank(<const board_t *>&rows[i, 0], 1, points, checkers, c.c.checkers, turned)
    return found


# ---- what a roll leads to, by the kernel that knows the rules ------------------------------------------------------

cdef void lonely(board_t *b, const rules_t *rules, const int8_t *counts, int points) noexcept nogil:
    """A board on which the mover has these checkers and nothing is in its way."""
    cdef int i, left = rules.checkers
    memset(b, 0, sizeof(board_t))
    for i in range(points):
        b.pt[i] = counts[i]
        left -= counts[i]
    b.off[0] = <int8_t>left
    b.pt[23] = -1                               # behind the mover in every movement
    b.off[1] = rules.checkers - 1


cdef int ROLL[NC_ROLLS][2]                      # the rolls in the order of tables: mixed ones first, then doubles


cdef void fill_rolls() noexcept nogil:
    cdef int a, c, i = 0
    for a in range(2, 7):
        for c in range(1, a):
            ROLL[i][0] = a
            ROLL[i][1] = c
            i += 1
    for a in range(1, 7):
        ROLL[i][0] = ROLL[i][1] = a
        i += 1


fill_rolls()
