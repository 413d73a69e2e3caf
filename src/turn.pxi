# What both generators know of a turn before its first step. Part of _kernels.pyx.
#
# Indices are 0..23 for the mover's points 1..24 and 24 for its bar; masks have bit i for index i.

cdef enum:
    POINTS = 0xFFFFFF
    HEAD = 23
    UNLIMITED = 127

ctypedef struct turn_t:
    const board_t *board        # before the turn
    board_t *out                # caller's scratch of NC_MAX_PLAYS
    int32_t n                   # results written
    int32_t best                # doubles: steps of the results written
    uint32_t closed             # points on which no step may end
    uint32_t ban                # lowest enemy indices at which six points in a row are forbidden
    int head_left               # checkers that may leave the head this turn
    bint over_larger            # may the larger (smaller) die bear off from below its own point?
    bint over_smaller


cdef inline uint32_t blocks(uint32_t mine) noexcept nogil:
    """Bit i: the mover holds the six points i..i+5 in the enemy's own numbering (long nardy)."""
    cdef uint32_t m = ((mine >> 12) | (mine << 12)) & POINTS
    cdef uint32_t two = m & (m >> 1)
    return two & (two >> 2) & (two >> 4)


cdef inline uint32_t block_ban(const rules_t *rules, const board_t *b, uint32_t mine, uint32_t theirs) noexcept nogil:
    """The blocks that rule 23 forbids this turn, as a mask over `blocks`; 0 where rule 25 lifts it."""
    cdef uint32_t enemy, ban
    if rules.block == NC_BLOCK_OFF:
        return 0
    if rules.block == NC_BLOCK_FLAT:
        ban = POINTS
    else:
        if b.off[1]:
            return 0
        enemy = ((theirs >> 12) | (theirs << 12)) & POINTS
        if rules.block == NC_BLOCK_HOME:
            ban = 0 if enemy & 0x3F else POINTS
        else:                                   # past the block: below its lowest point on the enemy's route
            ban = ((<uint32_t>1) << nc_lowest(enemy)) - 1
    return 0 if blocks(mine) & ban else ban


cdef inline bint head_runs_through(const board_t *b, uint32_t closed, int first, int second) noexcept nogil:
    """Can one checker make every step of the roll from the head, the dice in this order?"""
    cdef int steps = 4 if first == second else 2
    cdef int at = HEAD, i, j
    for i in range(steps):
        at -= first if i == 0 else second
        if at < 0:                              # four sixes: the last one bears off, if nothing else is outside
            if b.pt[HEAD] != 1:
                return False
            for j in range(6, HEAD):
                if b.pt[j] > 0:
                    return False
            return True
        if closed >> at & 1:
            return False
    return True


cdef inline int head_allowance(const rules_t *rules, const board_t *b, uint32_t closed, int a, int c) noexcept nogil:
    """How many checkers may leave the head this turn (rule 22)."""
    cdef bint excepted = False
    if rules.head_limit == NC_HEAD_FREE:
        return UNLIMITED
    if not b.flags & 1 or (rules.head_exception_for == NC_EXCEPTION_SECOND and b.flags & 2):
        return 1
    if rules.head_exception == NC_EXCEPTION_LISTED:
        excepted = a == c and (a == 3 or a == 4 or a == 6)
    elif rules.head_exception == NC_EXCEPTION_ANY_DOUBLE:
        excepted = a == c
    elif rules.head_exception == NC_EXCEPTION_BLOCKED:
        excepted = not head_runs_through(b, closed, a, c) and not head_runs_through(b, closed, c, a)
    return 2 if excepted else 1


cdef inline void begin_turn(turn_t *t, const rules_t *rules, const board_t *b, int a, int c,
                            board_t *out) noexcept nogil:
    """Fill a turn: dice a >= c."""
    cdef vec_t v = nc_load(b)
    cdef uint32_t mine = nc_positive(v) & POINTS
    cdef uint32_t theirs = nc_negative(v) & POINTS
    t.board = b
    t.out = out
    t.n = 0
    t.best = 0
    t.ban = 0
    t.head_left = UNLIMITED
    t.over_larger = t.over_smaller = True
    if rules.movement == NC_LONG:
        t.closed = theirs
        t.ban = block_ban(rules, b, mine, theirs)
        t.head_left = head_allowance(rules, b, t.closed, a, c)
    else:
        t.closed = theirs & ~nc_equals(v, -1)
    if rules.exact_first and a != c and not (mine >> 6) and not b.bar[0]:
        t.over_larger = b.pt[a - 1] <= 0
        t.over_smaller = b.pt[c - 1] <= 0


cdef inline uint32_t origins(uint32_t occupied, uint32_t closed, int die, bint over) noexcept nogil:
    """Indices from which a checker may move by `die`, the bar empty; bearing off when all are home."""
    cdef uint32_t o = occupied & ~(closed << die) & ((<uint32_t>0xFFFFFFFF) << die)
    if not (occupied >> 6):
        if occupied >> (die - 1):
            o |= occupied & ((<uint32_t>1) << (die - 1))
        elif over and occupied:
            o |= (<uint32_t>1) << nc_highest(occupied)
    return o
