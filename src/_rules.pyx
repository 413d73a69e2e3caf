"""Rules compiled for the kernels, and what they say of a position: is it possible, how has it ended?"""
from libc.string cimport memset

from nardcore._types cimport *


_MOVEMENT = {"short": NC_SHORT, "long": NC_LONG}
_HIDE = {"off": NC_HIDE_OFF, "board": NC_HIDE_BOARD, "home": NC_HIDE_HOME}
_HEAD = {"one": NC_HEAD_ONE, "free": NC_HEAD_FREE}
_EXCEPTION = {"none": NC_EXCEPTION_NONE, "listed": NC_EXCEPTION_LISTED, "blocked": NC_EXCEPTION_BLOCKED,
              "any_double": NC_EXCEPTION_ANY_DOUBLE}
_EXCEPTION_FOR = {"both": NC_EXCEPTION_BOTH, "second": NC_EXCEPTION_SECOND}
_BLOCK = {"off": NC_BLOCK_OFF, "ahead": NC_BLOCK_AHEAD, "home": NC_BLOCK_HOME, "flat": NC_BLOCK_FLAT}
_TIMING = {"end_of_turn": NC_BLOCK_END_OF_TURN, "each_step": NC_BLOCK_EACH_STEP}
_KOKS = {"none": NC_KOKS_NONE, "all_in_start": NC_KOKS_ALL_IN_START, "any_in_start": NC_KOKS_ANY_IN_START,
         "none_home": NC_KOKS_NONE_HOME}


cdef class CompiledRules:
    """The movement and classifier fields of a `Rules` as the kernels read them."""

    def __cinit__(self, rules):
        cdef int p, n
        memset(&self.c, 0, sizeof(rules_t))
        memset(&self.start, 0, sizeof(board_t))
        self.rules = rules
        self.fingerprint = int(rules.movement_fingerprint, 16)
        self.c.movement = _MOVEMENT[rules.movement]
        self.c.checkers = rules.checkers
        self.c.hit_and_hide = _HIDE[rules.hit_and_hide]
        self.c.exact_first = rules.exact_first
        self.c.last_home_larger = rules.last_home_larger
        self.c.head_limit = _HEAD[rules.head_limit]
        self.c.head_exception = _EXCEPTION[rules.head_exception]
        self.c.head_exception_for = _EXCEPTION_FOR[rules.head_exception_for]
        self.c.block = _BLOCK[rules.block]
        self.c.block_timing = _TIMING[rules.block_timing]
        self.c.off_protects = rules.off_protects
        self.c.long_koks = _KOKS[rules.long_koks]
        for p, n in rules.start:
            self.start.pt[p - 1] += n
            self.start.pt[(p + 11) % 24 if self.c.movement == NC_LONG else 24 - p] -= n
        if self.c.movement == NC_LONG:
            self.start.flags = 3


cdef dict _compiled = {}


cdef CompiledRules compiled(object rules):
    cdef CompiledRules c = _compiled.get(rules)
    if c is None:
        from nardcore.rules import Rules
        if not isinstance(rules, Rules):
            msg = f"rules must be a nardcore.Rules, not {type(rules).__name__}"
            raise TypeError(msg)
        if len(_compiled) > 1000:           # a search over rules must not fill the memory
            _compiled.clear()
        c = _compiled[rules] = CompiledRules(rules)
    return c


cdef int loser_state(const rules_t *rules, const board_t *b, int side) noexcept nogil:
    """Rule 28 for the loser: side 0 the mover of this view, 1 the opponent."""
    cdef int i, own, n, total = 0, outside = 0, start = 0
    for i in range(24):
        n = b.pt[i] if side == 0 else -b.pt[i]
        if n > 0:
            own = i if side == 0 else ((i + 12) % 24 if rules.movement == NC_LONG else 23 - i)
            total += n
            outside += n if own >= 6 else 0
            start += n if own >= 18 else 0
    if rules.off_protects and b.off[side]:
        return NC_ANY_OFF
    if rules.movement == NC_LONG:
        if (rules.long_koks == NC_KOKS_ALL_IN_START and start == rules.checkers) or (
                rules.long_koks == NC_KOKS_ANY_IN_START and start) or (
                rules.long_koks == NC_KOKS_NONE_HOME and outside == rules.checkers):
            return NC_ON_BAR
    elif b.bar[side]:
        return NC_ON_BAR
    if start:
        return NC_WINNER_HOME
    if outside:
        return NC_OUTSIDE
    return NC_ANY_OFF if b.off[side] else NC_ALL_HOME


cdef int outcome(const rules_t *rules, const board_t *b) noexcept nogil:
    """The outcome class of a finished position for the side whose view it is, -1 while the game goes on."""
    if b.off[0] == rules.checkers:
        return loser_state(rules, b, 1)
    if b.off[1] == rules.checkers:
        return 5 + loser_state(rules, b, 0)
    return -1


cdef bint sound(const rules_t *rules, const board_t *b) noexcept nogil:
    """Is this a position of these rules? nardcore._faults says what is wrong where it is not."""
    cdef int i, n, mine = 0, theirs = 0
    cdef bint tails
    for i in range(24):
        n = b.pt[i]
        mine += n if n > 0 else 0
        theirs -= n if n < 0 else 0
    tails = b.bar[0] >= 0 and b.bar[1] >= 0 and b.off[0] >= 0 and b.off[1] >= 0 and 0 <= b.turn <= 1
    tails = tails and not b.reserved[0] and not b.reserved[1] and 0 <= b.flags <= 3
    if rules.movement == NC_LONG:
        tails = tails and not b.bar[0] and not b.bar[1]
    else:
        tails = tails and not b.flags
    return (tails and mine + b.bar[0] + b.off[0] == rules.checkers and theirs + b.bar[1] + b.off[1] == rules.checkers
            and not (b.off[0] == rules.checkers and b.off[1] == rules.checkers))
