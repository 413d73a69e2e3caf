# The general generator: every rule read as data, every order of the steps, one checker told from another. It serves the
# rules that look at the steps of a play (hit_and_hide, last_home_larger, block_timing = each_step) and checks the
# specialised one. Part of _kernels.pyx.
#
# States are kept level by level (a level is a number of steps) without repetition; then the duties of rule 12 choose.

from libc.stdlib cimport abs, free, malloc, realloc
from libc.string cimport memcmp, memset


ctypedef struct state_t:
    board_t board
    int8_t mark[4]              # where checkers stand that have hit this turn; -1 for none, descending
    int8_t moved[4]             # has that checker moved since its last hit?
    int8_t steps
    int8_t used                 # two different dice: bit 0 the larger, bit 1 the smaller
    int8_t home_by              # which die brought the last outside checker home: 1 larger, 2 smaller
    int8_t padding[5]

ctypedef struct pool_t:
    state_t *item
    int32_t *slot               # open addressing over item, -1 free
    int32_t n, size, slots


cdef inline uint32_t hash_bytes(const void *p, int words) noexcept nogil:
    cdef const uint64_t *w = <const uint64_t *>p
    cdef uint64_t h = <uint64_t>0x9E3779B97F4A7C15ULL
    cdef int i
    for i in range(words):
        h = (h ^ w[i]) * <uint64_t>0xD6E8FEB86659FD93ULL
        h ^= h >> 32
    return <uint32_t>h


cdef bint grow(pool_t *pool) noexcept nogil:
    cdef int32_t size = 2 * pool.size if pool.size else 256
    cdef int32_t i, at
    cdef void *p = realloc(pool.item, size * sizeof(state_t))
    if not p:
        return False
    pool.item = <state_t *>p
    p = realloc(pool.slot, 2 * size * sizeof(int32_t))
    if not p:
        return False
    pool.slot = <int32_t *>p
    pool.size = size
    pool.slots = 2 * size
    memset(pool.slot, 0xFF, pool.slots * sizeof(int32_t))
    for i in range(pool.n):
        at = hash_bytes(&pool.item[i], sizeof(state_t) // 8) & (pool.slots - 1)
        while pool.slot[at] >= 0:
            at = (at + 1) & (pool.slots - 1)
        pool.slot[at] = i
    return True


cdef bint keep(pool_t *pool, const state_t *s) noexcept nogil:
    """Add a state unless it is there; False when memory runs out."""
    cdef int32_t at
    if pool.n == pool.size and not grow(pool):
        return False
    at = hash_bytes(s, sizeof(state_t) // 8) & (pool.slots - 1)
    while pool.slot[at] >= 0:
        if memcmp(&pool.item[pool.slot[at]], s, sizeof(state_t)) == 0:
            return True
        at = (at + 1) & (pool.slots - 1)
    pool.slot[at] = pool.n
    pool.item[pool.n] = s[0]
    pool.n += 1
    return True


cdef inline int outside_of(const board_t *b) noexcept nogil:
    cdef int i, n = b.bar[0]
    for i in range(6, 24):
        if b.pt[i] > 0:
            n += b.pt[i]
    return n


cdef inline bint may_step(const rules_t *rules, const turn_t *t, const board_t *b, int f, int die,
                          bint larger) noexcept nogil:
    """May a checker on index f move by `die` from here? (Blocks and hiding are judged elsewhere.)"""
    cdef int to = f - die, i
    if f == NC_BAR:
        if not b.bar[0]:
            return False
    elif b.pt[f] <= 0 or b.bar[0]:
        return False
    if rules.movement == NC_LONG and f == HEAD and t.board.pt[HEAD] - b.pt[HEAD] >= t.head_left:
        return False
    if to >= 0:
        return b.pt[to] >= (-1 if rules.movement == NC_SHORT else 0)
    if outside_of(b):
        return False
    if to == -1:
        return True
    for i in range(f + 1, 6):
        if b.pt[i] > 0:
            return False
    return t.over_larger if larger else t.over_smaller


cdef inline bint standing_block(const turn_t *t, const board_t *b) noexcept nogil:
    return t.ban != 0 and blocks(nc_positive(nc_load(b)) & POINTS) & t.ban != 0


cdef void move_mark(state_t *s, int which, int to, int moved) noexcept nogil:
    """Put the marked checker `which` (or a new one, -1) on `to`; off the board it is forgotten. Keeps the order."""
    cdef int8_t at[5]
    cdef int8_t how[5]
    cdef int n = 0, i, j
    for i in range(4):
        if s.mark[i] >= 0 and i != which:
            at[n] = s.mark[i]
            how[n] = s.moved[i]
            n += 1
    if to >= 0:
        i = n
        while i > 0 and (at[i - 1] < to or (at[i - 1] == to and how[i - 1] < moved)):
            at[i] = at[i - 1]
            how[i] = how[i - 1]
            i -= 1
        at[i] = <int8_t>to
        how[i] = <int8_t>moved
        n += 1
    for j in range(4):
        s.mark[j] = at[j] if j < n else -1
        s.moved[j] = how[j] if j < n else 0


cdef bint spread(const rules_t *rules, const turn_t *t, pool_t *pool, const state_t *from_, int f, int die,
                 int larger, bint different) noexcept nogil:
    """Add the states that follow when a checker on index f moves by `die`, for each kind of checker there."""
    cdef state_t s
    cdef int to = f - die, which, k, marks = 0, standing
    cdef bint hit = to >= 0 and from_.board.pt[to] == -1
    cdef bint told = hit and (rules.hit_and_hide == NC_HIDE_BOARD or (rules.hit_and_hide == NC_HIDE_HOME and to < 6))
    for k in range(4):
        marks += from_.mark[k] == f
    standing = from_.board.bar[0] if f == NC_BAR else from_.board.pt[f]
    for which in range(-1, 4):
        if which < 0:
            if standing <= marks:
                continue                        # every checker here has hit
        elif from_.mark[which] != f or (which and from_.mark[which - 1] == f
                                        and from_.moved[which - 1] == from_.moved[which]):
            continue
        s = from_[0]
        if f == NC_BAR:
            s.board.bar[0] -= 1
        else:
            s.board.pt[f] -= 1
        if to < 0:
            s.board.off[0] += 1
        elif hit:
            s.board.pt[to] = 1
            s.board.bar[1] += 1
        else:
            s.board.pt[to] += 1
        if told:
            move_mark(&s, which, to, 0)
        elif which >= 0:
            move_mark(&s, which, to, 1)
        s.steps += 1
        if different:
            s.used |= 1 if larger else 2
            if outside_of(&from_.board) and not outside_of(&s.board):
                s.home_by = 1 if larger else 2
        if rules.block_timing == NC_BLOCK_EACH_STEP and standing_block(t, &s.board):
            continue
        if not keep(pool, &s):
            return False
    return True


cdef bint may_end(const turn_t *t, const state_t *s) noexcept nogil:
    """Is a turn permitted to end here, by hiding and blocks?"""
    cdef int k
    for k in range(4):
        if s.mark[k] >= 0 and s.moved[k] and s.board.pt[s.mark[k]] > 1:
            return False
    return not standing_block(t, &s.board)


cdef int32_t choose(const rules_t *rules, turn_t *t, pool_t *pool, bint different) noexcept nogil:
    """Rule 12 and last_home_larger over all states; writes the results."""
    cdef int32_t i, j, at, slots = 8192
    cdef int longest = 0
    cdef bint by_larger = False, larger_home = False
    cdef int32_t *slot
    cdef int8_t home[NC_MAX_PLAYS]
    cdef state_t *s
    for i in range(pool.n):
        s = &pool.item[i]
        if s.steps == 0 or not may_end(t, s):
            s.steps = -1                        # not a play
            continue
        if s.board.off[0] == rules.checkers:
            s.padding[0] = 1                    # rule 13: complete at any length
        if s.steps > longest:
            longest = s.steps
        by_larger |= s.steps == 1 and s.used == 1
    slot = <int32_t *>malloc(slots * sizeof(int32_t))
    if not slot:
        return -1
    memset(slot, 0xFF, slots * sizeof(int32_t))
    for i in range(pool.n):
        s = &pool.item[i]
        if s.steps < 0 or not s.padding[0] and (
                s.steps < longest or (different and longest == 1 and by_larger and s.used == 2)):
            continue
        at = hash_bytes(&s.board, 4) & (slots - 1)
        while slot[at] >= 0 and memcmp(&t.out[slot[at]], &s.board, sizeof(board_t)) != 0:
            at = (at + 1) & (slots - 1)
        if slot[at] < 0:
            slot[at] = t.n
            home[t.n] = s.home_by
            t.out[t.n] = s.board
            t.n += 1
        elif s.home_by == 1:
            home[slot[at]] = 1
        larger_home |= s.home_by == 1
    free(slot)
    if rules.last_home_larger and larger_home:
        j = 0
        for i in range(t.n):
            if home[i] != 2:
                t.out[j] = t.out[i]
                j += 1
        t.n = j
    return t.n


cdef int32_t general(const rules_t *rules, turn_t *t, int a, int c) noexcept nogil:
    """The results of a roll, a >= c; -1 when memory runs out."""
    cdef pool_t pool
    cdef state_t s
    cdef int32_t i, n = -1
    cdef int f, k, level
    cdef bint good, different = a != c
    cdef int die[2]
    memset(&pool, 0, sizeof(pool))
    memset(&s, 0, sizeof(s))
    s.board = t.board[0]
    s.board.flags &= ~1
    for k in range(4):
        s.mark[k] = -1
    die[0] = a
    die[1] = c
    good = keep(&pool, &s)
    i = 0
    while good and i < pool.n:
        s = pool.item[i]
        i += 1
        if s.steps == (2 if different else 4) or s.board.off[0] == rules.checkers:
            continue
        for k in range(2 if different else 1):
            if different and s.used >> k & 1:
                continue
            for f in range(NC_BAR, -1, -1):
                if good and may_step(rules, t, &s.board, f, die[k], k == 0):
                    good = spread(rules, t, &pool, &s, f, die[k], k == 0, different)
    if good:
        n = choose(rules, t, &pool, different)
        if n == 0:
            nc_store(t.out, nc_turn_taken(nc_load(t.board)))
            n = t.n = 1
    free(pool.item)
    free(pool.slot)
    return n


cdef int32_t single_steps(const rules_t *rules, const board_t *start, const board_t *now, int d1, int d2, int die,
                          board_t *out, int8_t *from_) noexcept nogil:
    """Write each step by `die` that is permitted in itself on the way from `start` to the end of its turn.

    `now` is a position of that turn; out and from_ hold 25. Duties that look at whole plays are not judged.
    """
    cdef turn_t t
    cdef int a = d1 if d1 > d2 else d2, c = d2 if d1 > d2 else d1
    cdef int f, n = 0
    begin_turn(&t, rules, start, a, c, NULL)
    for f in range(NC_BAR, -1, -1):
        if may_step(rules, &t, now, f, die, die == a):
            out[n] = now[0]
            take_step(&out[n], f, die)
            if rules.block_timing == NC_BLOCK_EACH_STEP and standing_block(&t, &out[n]):
                continue
            from_[n] = <int8_t>f
            n += 1
    return n


cdef inline void take_step(board_t *b, int f, int die) noexcept nogil:
    cdef int to = f - die
    nc_store(b, stepped(nc_load(b), f, die, to >= 0 and b.pt[to] == -1))


cdef inline int distance(const board_t *a, const board_t *b) noexcept nogil:
    """Checkers of the mover that stand elsewhere, counted at both ends."""
    cdef int i, d = abs(a.bar[0] - b.bar[0]) + abs(a.off[0] - b.off[0]), x, y
    for i in range(24):
        x = a.pt[i] if a.pt[i] > 0 else 0
        y = b.pt[i] if b.pt[i] > 0 else 0
        d += x - y if x > y else y - x
    return d


cdef int search_steps(const rules_t *rules, const turn_t *t, const board_t *now, const board_t *target, int a, int c,
                      int left_a, int left_c, int made, int least, int8_t *out) noexcept nogil:
    cdef board_t b
    cdef int k, f, die, n
    if memcmp(now, target, sizeof(board_t)) == 0:
        return made if made >= least else -1
    if distance(now, target) > 2 * (left_a + left_c):
        return -1
    for k in range(2):
        die = c if k else a
        if not (left_c if k else left_a):
            continue
        for f in range(NC_BAR, -1, -1):
            if not may_step(rules, t, now, f, die, k == 0):
                continue
            b = now[0]
            take_step(&b, f, die)
            if rules.block_timing == NC_BLOCK_EACH_STEP and standing_block(t, &b):
                continue
            out[2 * made] = <int8_t>(f + 1)
            out[2 * made + 1] = <int8_t>(f + 1 - die if f >= die else 0)
            n = search_steps(rules, t, &b, target, a, c, left_a - (k == 0), left_c - k, made + 1, least, out)
            if n >= 0:
                return n
    return -1


cdef int find_steps(const rules_t *rules, const board_t *start, int d1, int d2, const board_t *target,
                    int8_t *out) noexcept nogil:
    """Steps that lead from `start` to the result `target`: out[2 * NC_MAX_STEPS] takes (from, to) in human numbers (bar
    25, off 0), larger die and higher origin first; returns their number, -1 where there are none."""
    cdef turn_t t
    cdef board_t b = start[0]
    cdef int a = d1 if d1 > d2 else d2, c = d2 if d1 > d2 else d1
    cdef int n = -1, filled
    begin_turn(&t, rules, start, a, c, NULL)
    b.flags &= ~1
    if a != c and target.off[0] != rules.checkers:
        # 3/off by a 5 may lead where 3/2/off leads, which plays both dice, as one must (rule 12)
        n = search_steps(rules, &t, &b, target, a, c, 1, 1, 0, 2, out)
    if n < 0:
        n = search_steps(rules, &t, &b, target, a, c, 4 if a == c else 1, 0 if a == c else 1, 0, 0, out)
    filled = n if n > 0 else 0
    memset(out + 2 * filled, 0xFF, 2 * (NC_MAX_STEPS - filled))     # what dead ends have left
    return n
