"""Look-ahead search: the ten chances of a position, so many rolls deep, by an evaluator and exact tables.

A position on roll is worth, 0 plies deep, what the evaluator says of it seen from the other side, as if that had just
moved; n plies deep, the mean over the 21 rolls of what the best play of each is worth n - 1 plies deep. Everything is
added up in one order in double precision, so the answer is the same on any machine and by any number of threads.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from nardcore._types cimport *
from nardcore._movegen cimport kernels
from nardcore._rules cimport CompiledRules, compiled, outcome
from nardcore._rollout cimport Evaluator, Stop

import numpy as np


cdef extern from "stop.h" nogil:
    int nc_flag_read(const int *flag) noexcept


# ---- chances -------------------------------------------------------------------------------------------------------

cdef bint in_contact(const rules_t *rules, const board_t *b) noexcept nogil:
    """Can the sides still meet? In long nardy they cannot hit, so that nothing ever goes back."""
    cdef int i, highest = -1, lowest = 24
    if rules.movement == NC_LONG:
        return False
    for i in range(24):
        if b.pt[i] > 0:
            highest = i
        elif b.pt[i] < 0 and lowest == 24:
            lowest = i
    if b.bar[0]:
        highest = 24
    if b.bar[1]:
        lowest = -1
    return highest > lowest


cdef int possible(const rules_t *rules, const board_t *b, int side, bint contact) noexcept nogil:
    """Bits of the states in which a side can still lose: rule 28, and that without contact no checker goes back."""
    cdef int i, own, n, outside = 0, start = 0, bits
    if b.off[side] and rules.off_protects:
        return 1 << NC_ANY_OFF
    bits = 1 << NC_ANY_OFF
    if not b.off[side]:
        bits |= 1 << NC_ALL_HOME
    if contact:
        return bits | 1 << NC_OUTSIDE | 1 << NC_WINNER_HOME | 1 << NC_ON_BAR
    for i in range(24):
        n = b.pt[i] if side == 0 else -b.pt[i]
        if n > 0:
            own = i if side == 0 else ((i + 12) % 24 if rules.movement == NC_LONG else 23 - i)
            outside += n if own >= 6 else 0
            start += n if own >= 18 else 0
    if outside:
        bits |= 1 << NC_OUTSIDE
    if start and not (rules.movement == NC_LONG and rules.long_koks == NC_KOKS_ANY_IN_START):
        bits |= 1 << NC_WINNER_HOME
    if rules.movement == NC_LONG:
        if (rules.long_koks == NC_KOKS_ALL_IN_START and start == rules.checkers) or (
                rules.long_koks == NC_KOKS_ANY_IN_START and start) or (
                rules.long_koks == NC_KOKS_NONE_HOME and outside == rules.checkers):
            bits |= 1 << NC_ON_BAR
    return bits


cdef int clean(const rules_t *rules, const board_t *b, const float *raw, double *out) noexcept nogil:
    """An evaluator's ten chances: what cannot happen becomes zero and goes to the next cheaper state that can.

    Chances must be numbers of 0 or more that add up to 1 within a thousandth; they are divided by their sum.
    """
    cdef int i, k, s, bits
    cdef bint contact = in_contact(rules, b)
    cdef double total = 0
    for i in range(NC_CLASSES):
        if not raw[i] >= 0:
            return SEARCH_CHANCES
        total += raw[i]
    if not 0.999 < total < 1.001:
        return SEARCH_CHANCES
    for i in range(NC_CLASSES):
        out[i] = raw[i] / total
    for i in range(2):                          # who loses: first the opponent
        bits = possible(rules, b, 1 - i, contact)
        if bits == 31:
            continue
        for s in range(4, 0, -1):
            if not bits >> s & 1 and out[5 * i + s] != 0:
                k = s - 1
                while not bits >> k & 1:
                    k -= 1
                out[5 * i + k] += out[5 * i + s]
                out[5 * i + s] = 0
    return SEARCH_OK


cdef inline void swap(double *v) noexcept nogil:
    """Chances as the other side sees them."""
    cdef int i
    cdef double x
    for i in range(5):
        x = v[i]
        v[i] = v[5 + i]
        v[5 + i] = x


cdef inline double equity_of(const search_t *s, const double *v) noexcept nogil:
    """Points, term by term: nardcore._ratings adds them in the same order."""
    cdef double sum = 0
    cdef int k
    for k in range(5):
        sum += s.points[k] * (v[k] - v[5 + k])
    return sum


cdef inline void decided(int k, double *out) noexcept nogil:
    cdef int i
    for i in range(NC_CLASSES):
        out[i] = 0
    out[k] = 1


cdef inline bint asked_tables(const search_t *s, const board_t *on_roll, double *out) noexcept nogil:
    """Ask the tables in order; True where one knows the position on roll."""
    cdef float found[NC_CLASSES]
    cdef int i, k
    for i in range(s.tables):
        if nc_table_probe(s.table[i], on_roll, found) == 1:
            for k in range(NC_CLASSES):
                out[k] = found[k]
            return True
    return False


cdef bint any_known(const search_t *s, const board_t *results, int32_t n) noexcept nogil:
    """Does a table know one of these results?"""
    cdef board_t turned
    cdef double value[NC_CLASSES]
    cdef int32_t i
    if s.tables:
        for i in range(n):
            kernels().flip(s.rules, &results[i], &turned, 1)
            if asked_tables(s, &turned, value):
                return True
    return False


cdef int rate(const search_t *s, const board_t *parent, const board_t *results, int32_t n, float *raw, double *value,
              double *equity) noexcept nogil:
    """Rate unfinished results of one roll 0 plies deep, by tables where they know them."""
    cdef int32_t i
    cdef int failed
    cdef board_t turned
    if s.evaluator.evaluate(s.evaluator.state, parent, results, n, raw) < 0:
        return SEARCH_FAILED
    for i in range(n):
        failed = clean(s.rules, &results[i], &raw[NC_CLASSES * i], &value[NC_CLASSES * i])
        if failed:
            return failed
        if s.tables:
            kernels().flip(s.rules, &results[i], &turned, 1)
            if asked_tables(s, &turned, &value[NC_CLASSES * i]):
                swap(&value[NC_CLASSES * i])
        equity[i] = equity_of(s, &value[NC_CLASSES * i])
    return SEARCH_OK


# ---- search --------------------------------------------------------------------------------------------------------

cdef scratch_t *new_scratch(const int *stop) noexcept nogil:
    """Memory for one search; NULL when there is none."""
    cdef scratch_t *w = <scratch_t *>malloc(sizeof(scratch_t))
    cdef level_t *here
    cdef int i
    cdef bint lacks = False
    if not w:
        return NULL
    w.stop = stop
    for i in range(MAX_LEVELS):
        here = &w.level[i]
        here.results = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
        here.raw = <float *>malloc(NC_MAX_PLAYS * NC_CLASSES * sizeof(float))
        here.value = <double *>malloc(NC_MAX_PLAYS * NC_CLASSES * sizeof(double))
        here.equity = <double *>malloc(NC_MAX_PLAYS * sizeof(double))
        here.order = <int32_t *>malloc(NC_MAX_PLAYS * sizeof(int32_t))
        lacks |= not (here.results and here.raw and here.value and here.equity and here.order)
    if lacks:
        free_scratch(w)
        return NULL
    return w


cdef void free_scratch(scratch_t *w) noexcept nogil:
    cdef int i
    if w:
        for i in range(MAX_LEVELS):
            free(w.level[i].results)
            free(w.level[i].raw)
            free(w.level[i].value)
            free(w.level[i].equity)
            free(w.level[i].order)
        free(w)


cdef int32_t sift(const filter_t *filter, const double *equity, int32_t *order, int32_t n) noexcept nogil:
    """Bring the plays that go on to the front of `order`, best first, the first of equals first; how many they are."""
    cdef int32_t i, j, best, kept = 0
    cdef double least = 0
    while kept < n and kept < filter.keep:
        best = kept
        for j in range(kept + 1, n):
            if equity[order[j]] > equity[order[best]] or (
                    equity[order[j]] == equity[order[best]] and order[j] < order[best]):
                best = j
        if kept == 0:
            least = equity[order[best]] - filter.within
        elif equity[order[best]] < least:
            break
        i = order[kept]
        order[kept] = order[best]
        order[best] = i
        kept += 1
    return kept


cdef int deeper(const search_t *s, const board_t *result, int plies, int depth, scratch_t *w,
                double *out) noexcept nogil:
    """An unfinished result rated `plies` deep, for the side that has just moved."""
    cdef board_t turned
    cdef int failed
    kernels().flip(s.rules, result, &turned, 1)
    failed = node_value(s, &turned, plies, depth, w, out)
    swap(out)
    return failed


cdef int roll_value(const search_t *s, const board_t *b, int d1, int d2, int plies, int depth, scratch_t *w,
                    double *out, int32_t *chosen) noexcept nogil:
    """What the best play of a roll is worth, rated plies - 1 deep, and which it is of w.level[depth].results.

    A won game is taken at once, by its points, as every policy does.
    """
    cdef level_t *here = &w.level[depth]
    cdef int32_t n, m, i, k, best = -1
    cdef int level, failed, state
    n = kernels().plays(s.rules, b, d1, d2, here.results)
    if n < 0:
        return SEARCH_NO_MEMORY
    if b.off[0] + NC_MAX_STEPS >= s.rules.checkers:
        state = -1
        for i in range(n):
            if here.results[i].off[0] == s.rules.checkers:
                k = outcome(s.rules, &here.results[i])
                if best < 0 or s.points[k] > s.points[state]:
                    best = i
                    state = k
        if best >= 0:
            decided(state, out)
            chosen[0] = best
            return SEARCH_OK
    chosen[0] = 0
    if n == 1 and plies > 1:
        return deeper(s, &here.results[0], plies - 1, depth + 1, w, out)
    if plies == 1 and n > 1 and s.chooser and not any_known(s, here.results, n):
        if s.chooser.evaluate(s.chooser.state, b, here.results, n, here.raw) < 0:
            return SEARCH_FAILED
        best = 0
        for i in range(n):
            if here.raw[i] - here.raw[i] != 0:
                return SEARCH_FAILED
            if here.raw[i] > here.raw[best]:
                best = i
        chosen[0] = best
        failed = rate(s, b, &here.results[best], 1, here.raw, here.value, here.equity)
        memcpy(out, here.value, NC_CLASSES * sizeof(double))
        return failed
    failed = rate(s, b, here.results, n, here.raw, here.value, here.equity)
    if failed:
        return failed
    for i in range(n):
        here.order[i] = i
    m = n
    for level in range(1, plies):
        if m > 1:
            m = sift(&s.filter[level - 1], here.equity, here.order, m)
        if m == 1 and level < plies - 1:        # nothing to choose from any more
            continue
        for i in range(m):
            k = here.order[i]
            failed = deeper(s, &here.results[k], level, depth + 1, w, &here.value[NC_CLASSES * k])
            if failed:
                return failed
            here.equity[k] = equity_of(s, &here.value[NC_CLASSES * k])
    best = here.order[0]
    for i in range(1, m):
        k = here.order[i]
        if here.equity[k] > here.equity[best] or (here.equity[k] == here.equity[best] and k < best):
            best = k
    memcpy(out, &here.value[NC_CLASSES * best], NC_CLASSES * sizeof(double))
    chosen[0] = best
    return SEARCH_OK


cdef int node_value(const search_t *s, const board_t *on_roll, int plies, int depth, scratch_t *w,
                    double *out) noexcept nogil:
    """An unfinished position before its roll, `plies` deep, for the side on roll."""
    cdef double total[NC_CLASSES]
    cdef double value[NC_CLASSES]
    cdef board_t turned
    cdef int32_t chosen
    cdef float raw[NC_CLASSES]
    cdef int d1, d2, i, failed
    if asked_tables(s, on_roll, out):
        return SEARCH_OK
    if plies == 0:
        kernels().flip(s.rules, on_roll, &turned, 1)
        if s.evaluator.evaluate(s.evaluator.state, &turned, &turned, 1, raw) < 0:
            return SEARCH_FAILED
        failed = clean(s.rules, &turned, raw, out)
        swap(out)
        return failed
    if nc_flag_read(w.stop):
        return SEARCH_STOPPED
    for i in range(NC_CLASSES):
        total[i] = 0
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            failed = roll_value(s, on_roll, d1, d2, plies, depth, w, value, &chosen)
            if failed:
                return failed
            for i in range(NC_CLASSES):
                total[i] += value[i] if d1 == d2 else 2 * value[i]
    for i in range(NC_CLASSES):
        out[i] = total[i] / 36
    return SEARCH_OK


# ---- for Python ----------------------------------------------------------------------------------------------------

cdef int take_tables(const table_t **to, tables) except -1:
    """Take the tables out of their capsules; how many they are."""
    cdef int n = 0
    if len(tables) > MAX_TABLES:
        msg = f"there may be at most {MAX_TABLES} tables"
        raise ValueError(msg)
    for table in tables:
        if not PyCapsule_IsValid(table, "nardcore.table"):
            msg = "expected a PyCapsule named 'nardcore.table'"
            raise TypeError(msg)
        to[n] = <const table_t *>PyCapsule_GetPointer(table, "nardcore.table")
        if to[n].version != NC_TABLE_VERSION:
            msg = f"this table is of version {to[n].version}, not {NC_TABLE_VERSION}"
            raise ValueError(msg)
        n += 1
    return n


def clean_chances(results, chances, rules):
    """Make chances of results, float32[n, 10], those that can happen, float64[n, 10]; a row with none, or -1."""
    cdef CompiledRules r = compiled(rules)
    cdef const int8_t[:, ::1] rows = results
    cdef const float[:, ::1] raw = chances
    found = np.empty((rows.shape[0], NC_CLASSES))
    cdef double[:, ::1] out = found
    cdef Py_ssize_t i, bad = -1
    if raw.shape[0] != rows.shape[0] or raw.shape[1] != NC_CLASSES or rows.shape[1] != 32:
        msg = "expected boards of 32 numbers with ten chances each"
        raise ValueError(msg)
    with nogil:
        for i in range(rows.shape[0]):
            if clean(&r.c, <const board_t *>&rows[i, 0], &raw[i, 0], &out[i, 0]):
                bad = i
                break
    return found, bad


def possible_classes(results, rules):
    """Which of the ten classes can still happen, bool[n, 10], of unfinished positions for the side whose view it is."""
    cdef CompiledRules r = compiled(rules)
    cdef const int8_t[:, ::1] rows = results
    found = np.zeros((rows.shape[0], NC_CLASSES), np.bool_)
    cdef Py_ssize_t i
    cdef int side, s, bits
    cdef const board_t *b
    for i in range(rows.shape[0]):
        b = <const board_t *>&rows[i, 0]
        for side in range(2):
            bits = possible(&r.c, b, 1 - side, in_contact(&r.c, b))
            for s in range(5):
                found[i, 5 * side + s] = bits >> s & 1
    return found


def probe_tables(tables, on_roll):
    """Ask tables about positions on roll: which they know, bool[n], and their chances, float64[n, 10]."""
    cdef search_t s
    cdef const int8_t[:, ::1] rows = on_roll
    s.tables = take_tables(s.table, tables)
    found = np.zeros((rows.shape[0], NC_CLASSES))
    known = np.zeros(rows.shape[0], np.bool_)
    cdef double[:, ::1] out = found
    cdef Py_ssize_t i
    for i in range(rows.shape[0]):
        if asked_tables(&s, <const board_t *>&rows[i, 0], &out[i, 0]):
            known[i] = True
    return known, found


cdef _tell(int status, str name):
    """Raise what a search reports."""
    if status == SEARCH_NO_MEMORY:
        raise MemoryError
    if status == SEARCH_FAILED:
        msg = f"the evaluator {name} failed"
        raise RuntimeError(msg)
    if status == SEARCH_CHANCES:
        msg = f"the evaluator {name} gave chances that are below 0 or do not add up to 1"
        raise RuntimeError(msg)


cdef class Searcher:
    """A native search: an evaluator of chances, rules, points, tables and filters."""

    def __cinit__(self, Evaluator evaluator not None, rules, points, tables, filters, Evaluator chooser=None):
        cdef int i
        if evaluator.e.evaluate is NULL:
            msg = "this Evaluator was never made; see Evaluator.from_capsule"
            raise TypeError(msg)
        if evaluator.e.flags & NC_SCORE_ONLY:
            msg = f"the evaluator {evaluator.name} gives scores, no chances: it can play, but not evaluate"
            raise ValueError(msg)
        self.rules = compiled(rules)
        if chooser is not None and (chooser.e.evaluate is NULL or not chooser.e.flags & NC_SCORE_ONLY):
            msg = "a chooser is an Evaluator of scores"
            raise ValueError(msg)
        self.owners = evaluator, tuple(tables), chooser
        self.s.chooser = NULL if chooser is None else &chooser.e
        self.s.evaluator = &evaluator.e
        self.s.rules = &self.rules.c
        for i in range(5):
            self.s.points[i] = points[i]
        self.s.tables = take_tables(self.s.table, tables)
        for i in range(MAX_LEVELS):
            self.s.filter[i].keep = filters[i][0] if i < len(filters) else NC_MAX_PLAYS
            self.s.filter[i].within = filters[i][1] if i < len(filters) else float("inf")

    def values(self, on_roll, int plies, Stop stop not None):
        """Values of unfinished positions before their rolls, float64[n, 10]; None when stopped."""
        cdef const int8_t[:, ::1] rows = on_roll
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef int status = SEARCH_OK
        if rows.shape[1] != 32 or not 0 <= plies <= MAX_LEVELS:
            msg = "expected boards of 32 numbers and a few plies"
            raise ValueError(msg)
        found = np.empty((n, NC_CLASSES))
        cdef double[:, ::1] out = found
        cdef scratch_t *w = new_scratch(&stop.flag)
        if not w:
            raise MemoryError
        with nogil:
            for i in range(n):
                status = node_value(&self.s, <const board_t *>&rows[i, 0], plies, 0, w, &out[i, 0])
                if status:
                    break
        free_scratch(w)
        _tell(status, self.owners[0].name)
        return None if status == SEARCH_STOPPED else found

    def rolls(self, on_roll, rolls, int plies, Stop stop not None):
        """What the best play of each roll is worth, rated plies - 1 deep: float64[n, 10], and its number, int64[n]."""
        cdef const int8_t[:, ::1] rows = on_roll
        cdef const int8_t[:, ::1] dice = rolls
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef int32_t k
        cdef int status = SEARCH_OK
        if rows.shape[1] != 32 or dice.shape[0] != n or dice.shape[1] != 2 or not 1 <= plies <= MAX_LEVELS:
            msg = "expected boards of 32 numbers, a roll each, and a few plies"
            raise ValueError(msg)
        found = np.empty((n, NC_CLASSES))
        numbers = np.empty(n, np.int64)
        cdef double[:, ::1] out = found
        cdef int64_t[::1] at = numbers
        cdef scratch_t *w = new_scratch(&stop.flag)
        if not w:
            raise MemoryError
        with nogil:
            for i in range(n):
                if nc_flag_read(w.stop):
                    status = SEARCH_STOPPED
                    break
                status = roll_value(&self.s, <const board_t *>&rows[i, 0], dice[i, 0], dice[i, 1], plies, 0, w,
                                    &out[i, 0], &k)
                if status:
                    break
                at[i] = k
        free_scratch(w)
        _tell(status, self.owners[0].name)
        return None if status == SEARCH_STOPPED else (found, numbers)

    def rate(self, parent, results):
        """Rate the unfinished results of one roll 0 plies deep, for the side that has just moved: float64[n, 10]."""
        cdef const int8_t[::1] p = parent
        cdef const int8_t[:, ::1] rows = results
        cdef int32_t n = <int32_t>rows.shape[0]
        cdef int status = SEARCH_OK
        if p.shape[0] != 32 or rows.shape[1] != 32:
            msg = "boards have 32 numbers"
            raise ValueError(msg)
        raw = np.empty((n, NC_CLASSES), np.float32)
        found = np.empty((n, NC_CLASSES))
        scores = np.empty(n)
        cdef float[:, ::1] to = raw
        cdef double[:, ::1] out = found
        cdef double[::1] equity = scores
        if n:
            with nogil:
                status = rate(&self.s, <const board_t *>&p[0], <const board_t *>&rows[0, 0], n, &to[0, 0], &out[0, 0],
                              &equity[0])
        _tell(status, self.owners[0].name)
        return found


def gather_rolls(const double[:, ::1] values):
    """Mean of the values of the 21 rolls of each position: float64[n, 10] of float64[21 n, 10]."""
    cdef Py_ssize_t i, n = values.shape[0] // 21
    cdef int r, k, d1, d2
    found = np.zeros((n, NC_CLASSES))
    cdef double[:, ::1] out = found
    with nogil:
        for i in range(n):
            r = 0
            for d1 in range(1, 7):
                for d2 in range(1, d1 + 1):
                    for k in range(NC_CLASSES):
                        out[i, k] += values[21 * i + r, k] if d1 == d2 else 2 * values[21 * i + r, k]
                    r += 1
            for k in range(NC_CLASSES):
                out[i, k] /= 36
    return found
