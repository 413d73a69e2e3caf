# The specialised generator: one body, compiled for short and for long nardy by fused tags. Part of _kernels.pyx.
#
# Distinct by construction. A double plays its origins in descending order, which never repeats a result and loses none
# (checkers come from above, and bearing off needs the higher steps first). Two different dice repeat a result only
# where one step starts from the point on which the other ends; bear-off cases compare whole boards.

ctypedef struct short_t:
    int tag
ctypedef struct long_t:
    int tag
ctypedef fused movement_t:
    short_t
    long_t

cdef steps_table_t STEPS
nc_fill_steps(&STEPS)


cdef inline vec_t stepped(vec_t v, int origin, int die, bint hit) noexcept nogil:
    return nc_add(v, nc_load(&STEPS.by[die - 1][origin][hit]))


cdef inline uint32_t mask_of(vec_t v) noexcept nogil:
    """The mover's points and bar."""
    return nc_positive(v) & 0x1FFFFFF


cdef inline uint32_t bit(int i) noexcept nogil:
    return (<uint32_t>1) << i


cdef inline void put(movement_t *tag, turn_t *t, vec_t v) noexcept nogil:
    """Append a result that a forbidden block does not end."""
    if movement_t is long_t:
        if t.ban and blocks(nc_positive(v) & POINTS) & t.ban:
            return
    nc_store(&t.out[t.n], v)
    t.n += 1


cdef inline void put_new(movement_t *tag, turn_t *t, vec_t v) noexcept nogil:
    """Append a result unless it is there already."""
    cdef int32_t i
    for i in range(t.n):
        if nc_same(nc_load(&t.out[i]), v):
            return
    put(tag, t, v)


cdef inline bint hits(movement_t *tag, uint32_t blots, int to) noexcept nogil:
    if movement_t is short_t:
        return to >= 0 and blots >> to & 1
    else:
        return False


cdef inline void put_single(movement_t *tag, turn_t *t, vec_t v, uint32_t from_, uint32_t blots,
                            int die) noexcept nogil:
    """Every single step of one die."""
    cdef int f
    if movement_t is long_t:
        if t.ban:
            while from_:
                f = nc_lowest(from_)
                from_ &= from_ - 1
                put(tag, t, stepped(v, f, die, False))
            return
        t.n = <int32_t>(nc_put_steps(v, STEPS.by[die - 1], from_, 0, &t.out[t.n]) - t.out)
    else:
        t.n = <int32_t>(nc_put_steps(v, STEPS.by[die - 1], from_, blots << die, &t.out[t.n]) - t.out)


cdef inline void two_from_bar(short_t *tag, turn_t *t, vec_t v, uint32_t occ, uint32_t ones, uint32_t blots,
                              int a, int c) noexcept nogil:
    """Two different dice with a checker on the bar (which keeps bearing off out of reach)."""
    cdef int into_a = 24 - a, into_c = 24 - c, f
    cdef bint open_a = not t.closed >> into_a & 1, open_c = not t.closed >> into_c & 1
    cdef bint hit_a = blots >> into_a & 1, hit_c = blots >> into_c & 1
    cdef uint32_t m, entered, left
    cdef vec_t w
    if t.board.bar[0] > 1:
        if open_a:
            v = stepped(v, NC_BAR, a, hit_a)
        if open_c:
            v = stepped(v, NC_BAR, c, hit_c)
        put(tag, t, v)
        return
    occ &= POINTS
    if open_a:
        w = stepped(v, NC_BAR, a, hit_a)
        entered = occ | bit(into_a)
        left = blots & ~bit(into_a)
        m = entered & ~(t.closed << c) & ((<uint32_t>0xFFFFFFFF) << c)
        put_single(tag, t, w, m, left, c)
    if open_c:
        w = stepped(v, NC_BAR, c, hit_c)
        entered = occ | bit(into_c)
        left = blots & ~bit(into_c)
        m = entered & ~(t.closed << a) & ((<uint32_t>0xFFFFFFFF) << a)
        if open_a and not hit_a and not hit_c:
            m &= ~bit(into_c)                   # bar/a/a+c is bar/c/a+c
        put_single(tag, t, w, m, left, a)
    if t.n == 0:
        if open_a:
            put(tag, t, stepped(v, NC_BAR, a, hit_a))
        elif open_c:
            put(tag, t, stepped(v, NC_BAR, c, hit_c))


cdef inline void two_near_home(movement_t *tag, turn_t *t, vec_t v, uint32_t occ, uint32_t blots,
                               int a, int c) noexcept nogil:
    """Two different dice where a step of this turn may bear off: at most one checker outside."""
    cdef uint32_t from_a = origins(occ, t.closed, a, t.over_larger)
    cdef uint32_t from_c = origins(occ, t.closed, c, t.over_smaller)
    cdef uint32_t after[24]                     # after[f]: origins of c once f has moved by a
    cdef uint32_t m, k, rest, left
    cdef int f, g
    cdef vec_t w
    m = from_a
    while m:
        f = nc_lowest(m)
        m &= m - 1
        w = stepped(v, f, a, hits(tag, blots, f - a))
        left = blots & ~bit(f - a) if f >= a else blots
        rest = mask_of(w)
        after[f] = 0
        if not rest:                            # rule 13: the game is won, whatever dice remain
            put_new(tag, t, w)
            continue
        k = after[f] = origins(rest, t.closed, c, t.over_smaller)
        while k:
            g = nc_lowest(k)
            k &= k - 1
            if g == f - a:                      # one checker on: a lower one by a, this one by c may have led to it
                put_new(tag, t, stepped(w, g, c, hits(tag, left, g - c)))
            else:
                put(tag, t, stepped(w, g, c, hits(tag, left, g - c)))
    m = from_c
    while m:
        f = nc_lowest(m)
        m &= m - 1
        w = stepped(v, f, c, hits(tag, blots, f - c))
        left = blots & ~bit(f - c) if f >= c else blots
        rest = mask_of(w)
        if not rest:
            put_new(tag, t, w)
            continue
        k = origins(rest, t.closed, a, t.over_larger)
        while k:
            g = nc_lowest(k)
            k &= k - 1
            if not (from_a >> g & 1 and after[g] >> f & 1):     # else the same two steps came larger first
                put_new(tag, t, stepped(w, g, a, hits(tag, left, g - a)))
    if t.n == 0:
        put_single(tag, t, v, from_a, blots, a)
        if t.n == 0:
            put_single(tag, t, v, from_c, blots, c)


cdef inline void two_dice(movement_t *tag, turn_t *t, vec_t v, int a, int c) noexcept nogil:
    """The results of two different dice, a > c."""
    cdef uint32_t occ = mask_of(v), ones = nc_equals(v, 1), blots = 0
    cdef uint32_t outside, from_a, from_c, quiet_a, m, k, rest, left
    cdef int f, g
    cdef vec_t w
    if movement_t is short_t:
        blots = nc_equals(v, -1) & POINTS
        if occ >> NC_BAR:
            two_from_bar(tag, t, v, occ, ones, blots, a, c)
            return
    outside = occ >> 6
    if not outside & (outside - 1) and (not outside or ones >> 6 & outside):
        two_near_home(tag, t, v, occ, blots, a, c)
        return
    from_a = occ & ~(t.closed << a) & ((<uint32_t>0xFFFFFFFF) << a)
    from_c = occ & ~(t.closed << c) & ((<uint32_t>0xFFFFFFFF) << c)
    quiet_a = from_a & ~(blots << a)
    m = from_a
    while m:
        f = nc_lowest(m)
        m &= m - 1
        g = f - a
        w = stepped(v, f, a, hits(tag, blots, g))
        rest = (occ & ~(ones & bit(f))) | bit(g)
        left = blots & ~bit(g)
        k = rest & ~(t.closed << c) & ((<uint32_t>0xFFFFFFFF) << c)
        if movement_t is long_t:
            if f == HEAD and t.head_left == 1:
                k &= ~bit(HEAD)
        k &= ~(bit(f + c) & quiet_a)            # f+c to f, f to f-a: one checker by a, then c, reaches the same
        put_single(tag, t, w, k, left, c)
    # one checker by c, then a: new where the way by a is closed or hits, or where this way hits
    m = from_c & ~(occ << c) & ~(t.closed << (a + c)) & ((<uint32_t>0xFFFFFFFF) << (a + c))
    m &= (blots << c) | (t.closed << a) | (blots << a)
    while m:
        f = nc_lowest(m)
        m &= m - 1
        w = stepped(v, f, c, hits(tag, blots, f - c))
        put(tag, t, stepped(w, f - c, a, hits(tag, blots, f - c - a)))
    if t.n == 0:
        put_single(tag, t, v, from_a, blots, a)
        if t.n == 0:
            put_single(tag, t, v, from_c, blots, c)


cdef inline bint keep_depth(turn_t *t, int steps) noexcept nogil:
    """May a result of so many steps be written? Longer plays drop the shorter ones (rule 12)."""
    if steps < t.best:
        return False
    if steps > t.best:
        t.best = steps
        t.n = 0
    return True


cdef inline uint32_t double_origins(movement_t *tag, turn_t *t, uint32_t occ, int die, int last,
                                    int head_left) noexcept nogil:
    """Origins, not above `last`, of the next step of a double."""
    cdef uint32_t m
    if movement_t is short_t:
        if occ >> NC_BAR:
            return 0 if t.closed >> (NC_BAR - die) & 1 else bit(NC_BAR)
    m = origins(occ, t.closed, die, True) & (bit(last) | (bit(last) - 1))
    if movement_t is long_t:
        if head_left == 0:
            m &= ~bit(HEAD)
    return m


cdef inline void put_blockless(movement_t *tag, turn_t *t, vec_t v, uint32_t occ, int steps) noexcept nogil:
    """Under rule 23, any position on the way may turn out to be the longest permitted one."""
    if not blocks(occ & POINTS) & t.ban and keep_depth(t, steps):
        nc_store(&t.out[t.n], v)
        t.n += 1


cdef inline void last_step(movement_t *tag, turn_t *t, vec_t v, int die, int last, int head_left) noexcept nogil:
    """The fourth step of a double, after three."""
    cdef uint32_t occ = mask_of(v), m
    cdef vec_t w
    cdef int f
    m = double_origins(tag, t, occ, die, last, head_left)
    if movement_t is long_t:
        if t.ban:
            put_blockless(tag, t, v, occ, 3)
            while m:
                f = nc_lowest(m)
                m &= m - 1
                w = stepped(v, f, die, False)
                put_blockless(tag, t, w, mask_of(w), 4)
            return
    if m:
        keep_depth(t, 4)
        put_single(tag, t, v, m, nc_equals(v, -1) if movement_t is short_t else 0, die)
    elif keep_depth(t, 3):
        nc_store(&t.out[t.n], v)
        t.n += 1


cdef void double_steps(movement_t *tag, turn_t *t, vec_t v, int die, int last, int steps, int head_left) noexcept nogil:
    """Go on with a double after steps < 3, origins not above `last`."""
    cdef uint32_t occ = mask_of(v), blots = 0, m
    cdef vec_t w
    cdef int f, left
    m = double_origins(tag, t, occ, die, last, head_left)
    if movement_t is short_t:
        blots = nc_equals(v, -1)
    if movement_t is long_t and t.ban:
        if steps:
            put_blockless(tag, t, v, occ, steps)
    elif not m:
        if keep_depth(t, steps):
            nc_store(&t.out[t.n], v)
            t.n += 1
        return
    while m:
        f = nc_lowest(m)
        m &= m - 1
        w = stepped(v, f, die, hits(tag, blots, f - die))
        left = head_left - (f == HEAD)
        if steps == 2:
            last_step(tag, t, w, die, f, left)
        else:
            double_steps(tag, t, w, die, f, steps + 1, left)


cdef inline int32_t specialised(movement_t *tag, turn_t *t, int a, int c) noexcept nogil:
    cdef vec_t v = nc_load(t.board)
    if movement_t is long_t:
        v = nc_turn_taken(v)
    if a == c:
        double_steps(tag, t, v, a, NC_BAR, 0, t.head_left)
    else:
        two_dice(tag, t, v, a, c)
    if t.n == 0:                                # a pass: the position as it is, whatever block stands in it
        nc_store(t.out, v)
        t.n = 1
    return t.n


cdef inline bint rare(const rules_t *rules, turn_t *t, int a, int c) noexcept nogil:
    """Does this turn meet a rule that looks at the steps of a play, not only at its result?"""
    cdef vec_t v
    cdef uint32_t mine, reach, blots
    cdef bint timed = rules.block_timing == NC_BLOCK_EACH_STEP and t.ban
    if not timed and rules.hit_and_hide == NC_HIDE_OFF and not rules.last_home_larger:
        return False
    v = nc_load(t.board)
    mine = mask_of(v)
    if timed:                                   # some order of the steps may pass through a forbidden block
        reach = mine | (mine >> a) | (mine >> c) | (mine >> (a + c))
        if a == c:
            reach |= (mine >> 3 * a) | (mine >> 4 * a)
        if blocks(reach & POINTS) & t.ban:
            return True
    if rules.hit_and_hide != NC_HIDE_OFF:       # a checker may hit and move on, with two dice to an own checker
        blots = nc_equals(v, -1) & (0x3F if rules.hit_and_hide == NC_HIDE_HOME else POINTS)
        if a != c:
            if mine & ((blots << a) | (blots << c)) & (mine << (a + c)):
                return True
        elif blots & ~(t.closed << a) & ((mine >> a) | (mine >> 2 * a) | (mine >> 3 * a)) >> a << a:
            return True
    if rules.last_home_larger and a != c:
        return 0 < outside_of(t.board) <= 2
    return False
