"""The trial kernel: games played out by two policies, to their end, to a table or to a truncation, and added up.

Everything that is kept is a whole number, so that sums are the same in whatever order they are made. A trial's ten
chances are in units of 2**-32: a game that ends adds 2**32 to its class, one that a table or a truncation ends adds the
chances there. Where luck is taken out, a second set of sums holds the trial's chances less the luck of its rolls.
"""
from libc.math cimport fabs, floor
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from nardcore._types cimport *
from nardcore._simd cimport kernels_t
from nardcore._movegen cimport kernels
from nardcore._rules cimport CompiledRules, compiled, outcome
from nardcore._dice cimport (STREAM_DICE, STREAM_POLICY, fill_cycle, nc_mulhilo, nc_stream_begin, nc_stream_below,
                             pair_of, roll, stream_t)
from nardcore._rollout cimport Evaluator, Stop, best_result
from nardcore._search cimport (SEARCH_CHANCES, SEARCH_FAILED, SEARCH_NO_MEMORY, SEARCH_OK, SEARCH_STOPPED,
                               Searcher, free_scratch, new_scratch, node_value, roll_value, scratch_t, search_t,
                               take_tables)

import numpy as np


cdef extern from "stop.h" nogil:
    int nc_flag_read(const int *flag) noexcept


cdef enum:
    ENDLESS = -3
    LONGEST = 1 << 20               # plies after which a game is taken to be endless
    PLIES_BINS = 4096
    MOMENTS = 1 + NC_CLASSES + NC_CLASSES * NC_CLASSES          # a number of trials, sums, products
    PAIRS = 21 * 21
    # where things are in a result
    AT_EARLY = NC_CLASSES + 1 + PLIES_BINS                      # moments of trials that did not end by themselves
    AT_TRUNCATED = AT_EARLY + MOMENTS                           # how many of them were truncated
    AT_ROLLS = AT_TRUNCATED + 1                                 # moments by the first roll thrown
    AT_REDUCED = AT_ROLLS + 21 * MOMENTS                        # moments less luck, then by the first roll thrown
    AT_CELLS = AT_REDUCED + 22 * MOMENTS                        # by the first two rolls: trials, sums, sums less luck
    AT_END = AT_CELLS + PAIRS * (1 + 2 * NC_CLASSES)

PLIES = PLIES_BINS                  # bins of the histogram of plies; the last takes all longer games
EARLY, TRUNCATED, ROLLS_AT, REDUCED, CELLS, RESULT_SIZE = AT_EARLY, AT_TRUNCATED, AT_ROLLS, AT_REDUCED, AT_CELLS, AT_END
PLAIN_SIZE = AT_REDUCED             # of a result without luck and strata

cdef double UNIT = 4294967296.0


# ---- sums ----------------------------------------------------------------------------------------------------------

cdef void to_units(const double *chances, int side, int64_t *unit) noexcept nogil:
    """A side's chances as whole units of side 0 that add up to 2**32: the largest takes what rounding leaves."""
    cdef int64_t left = <int64_t>1 << 32, u
    cdef int i, largest = 0
    for i in range(NC_CLASSES):
        if chances[i] > chances[largest]:
            largest = i
    for i in range(NC_CLASSES):
        if i != largest:
            u = <int64_t>(chances[i] * UNIT + 0.5) if chances[i] > 0 else 0
            u = u if u < left else left
            left -= u
            unit[(i + 5 * side) % NC_CLASSES] = u
    unit[(largest + 5 * side) % NC_CLASSES] = left


cdef void add_moments(const int64_t *x, int64_t *to) noexcept nogil:
    """Count a trial: its chances and their products, in units of 2**-32."""
    cdef uint64_t lo, hi, a, b
    cdef int i, j
    cdef int64_t p
    to[0] += 1
    for i in range(NC_CLASSES):
        if not x[i]:
            continue
        to[1 + i] += x[i]
        a = <uint64_t>(x[i] if x[i] > 0 else -x[i])
        for j in range(i, NC_CLASSES):
            if not x[j]:
                continue
            b = <uint64_t>(x[j] if x[j] > 0 else -x[j])
            lo = nc_mulhilo(a, b, &hi)
            p = <int64_t>(hi << 32 | lo >> 32)
            if (x[i] < 0) != (x[j] < 0):
                p = -p
            to[1 + NC_CLASSES + NC_CLASSES * i + j] += p
            if j != i:
                to[1 + NC_CLASSES + NC_CLASSES * j + i] += p


cdef struct trial_t:
    int ended                           # the class of a game that ended by itself, else -1
    bint truncated
    int64_t x[NC_CLASSES]               # its chances
    double luck[NC_CLASSES]
    uint64_t ply
    int roll                            # the first roll thrown, -1 for none
    int cell                            # of the strata, -1 without


cdef void add_trial(trial_t *t, bint reduce, int64_t *result, int64_t *raw, int64_t *reduced) noexcept nogil:
    """Add a trial to a result, and write its chances where they are wanted."""
    cdef int64_t y[NC_CLASSES]
    cdef int64_t *cell
    cdef int i
    result[NC_CLASSES] += t.ply
    result[NC_CLASSES + 1 + (t.ply if t.ply < PLIES_BINS else PLIES_BINS - 1)] += 1
    if t.ended >= 0:
        result[t.ended] += 1
        for i in range(NC_CLASSES):
            t.x[i] = 0
        t.x[t.ended] = <int64_t>1 << 32
    else:
        add_moments(t.x, result + AT_EARLY)
        result[AT_TRUNCATED] += t.truncated
    if t.roll >= 0:
        add_moments(t.x, result + AT_ROLLS + MOMENTS * t.roll)
    if reduce:
        for i in range(NC_CLASSES):
            y[i] = t.x[i] - <int64_t>floor(t.luck[i] * UNIT + 0.5)
        add_moments(y, result + AT_REDUCED)
        if t.roll >= 0:
            add_moments(y, result + AT_REDUCED + MOMENTS * (1 + t.roll))
    if t.cell >= 0:
        cell = result + AT_CELLS + t.cell * (1 + 2 * NC_CLASSES)
        cell[0] += 1
        for i in range(NC_CLASSES):
            cell[1 + i] += t.x[i]
            if reduce:
                cell[1 + NC_CLASSES + i] += y[i]
    if raw:
        memcpy(raw, t.x, sizeof(t.x))
        if reduce:
            memcpy(reduced, y, sizeof(y))


cdef inline int number_of(const int *d) noexcept nogil:
    """The number of a roll among the 21: 1-1, 2-1, 2-2, …"""
    cdef int a = d[0] if d[0] > d[1] else d[1], b = d[1] if d[0] > d[1] else d[0]
    return a * (a - 1) // 2 + b - 1


# ---- trials --------------------------------------------------------------------------------------------------------

cdef struct player_t:
    const evaluator_t *evaluator        # NULL plays at random
    const search_t *search              # NULL rates plays 0 plies deep
    int plies, early_plies
    int64_t early_turns


cdef struct spec_t:
    board_t start
    const rules_t *rules
    player_t player[2]                  # of the side on roll at the start and of the other
    uint64_t key[2]
    int32_t points[5]
    int dice[2]                         # the first roll, 0 where it is thrown
    bint no_double                      # an opening throw
    search_t ask                        # its tables end trials
    uint64_t truncate                   # plies after which a trial ends with what it is worth then; 0 for never
    int truncate_plies
    const search_t *leaf                # what says that, and what luck is
    bint reduce, stratified
    double most                         # points of luck that are taken out at most


cdef int luck_of(const spec_t *s, const board_t *b, const int *d, bint no_double, int side, scratch_t *w,
                 double *total) noexcept nogil:
    """Add to a trial's luck what its roll was better than the mean roll, by the best play of each.

    It is left out where some roll could take the luck so far past `most` points; that is known before the roll, so the
    mean stays 0, and no trial's chances less luck are worth more than `most` and a game.
    """
    cdef double value[21][NC_CLASSES]
    cdef double mean[NC_CLASSES]
    cdef double so_far = 0, x, sign = 1 if side == 0 else -1
    cdef int d1, d2, i, r = 0, failed, actual = number_of(d)
    cdef int32_t chosen
    for i in range(NC_CLASSES):
        mean[i] = 0
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            failed = roll_value(s.leaf, b, d1, d2, 1, 0, w, value[r], &chosen)
            if failed:
                return failed
            if d1 != d2:
                for i in range(NC_CLASSES):
                    mean[i] += 2 * value[r][i]
            elif not no_double:
                for i in range(NC_CLASSES):
                    mean[i] += value[r][i]
            r += 1
    for i in range(NC_CLASSES):
        mean[i] /= 30 if no_double else 36
    for i in range(5):
        so_far += s.points[i] * (total[i] - total[5 + i])
    r = 0
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            if d1 != d2 or not no_double:
                x = 0
                for i in range(5):
                    x += s.points[i] * ((value[r][i] - mean[i]) - (value[r][5 + i] - mean[5 + i]))
                if fabs(so_far + sign * x) > s.most:
                    return SEARCH_OK
            r += 1
    for i in range(NC_CLASSES):
        total[(i + 5 * side) % NC_CLASSES] += value[actual][i] - mean[i]
    return SEARCH_OK


cdef int play_trial(const spec_t *s, uint64_t number, const uint8_t *throws, scratch_t *w, board_t *scratch,
                    float *scores, trial_t *t) noexcept nogil:
    """Play one trial. A table looks before each throw, but for one that is given or limited."""
    cdef const kernels_t *kernel = kernels()
    cdef const rules_t *rules = s.rules
    cdef const player_t *player
    cdef const board_t *results
    cdef stream_t dice, choices
    cdef board_t b = s.start
    cdef uint64_t ply = 0, begun = 1 if s.dice[0] else 0      # the ply of the first throw
    cdef int32_t count, chosen
    cdef int d[2]
    cdef float found[NC_CLASSES]
    cdef double chances[NC_CLASSES]
    cdef int i, side, plies, failed
    cdef bint no_double, known
    nc_stream_begin(&dice, s.key, number, STREAM_DICE)
    nc_stream_begin(&choices, s.key, number, STREAM_POLICY)
    t.ended = t.roll = t.cell = -1
    t.truncated = False
    for i in range(NC_CLASSES):
        t.luck[i] = 0
    if throws:
        pair_of(throws[0], s.no_double, d)
        t.cell = 21 * number_of(d)
        pair_of(throws[1], False, d)
        t.cell += number_of(d)
    while True:
        side = ply & 1
        if s.ask.tables and (ply or not (s.dice[0] or s.no_double)):
            known = False
            for i in range(s.ask.tables):
                if nc_table_probe(s.ask.table[i], &b, found) == 1:
                    known = True
                    break
            if known:
                for i in range(NC_CLASSES):
                    chances[i] = found[i]
                to_units(chances, side, t.x)
                break
        if s.truncate and ply == s.truncate:
            failed = node_value(s.leaf, &b, s.truncate_plies, 0, w, chances)
            if failed:
                return failed
            to_units(chances, side, t.x)
            t.truncated = True
            break
        no_double = ply == 0 and s.no_double
        if ply < begun:
            d[0] = s.dice[0]
            d[1] = s.dice[1]
        else:
            if throws and ply < begun + 2:
                pair_of(throws[ply - begun], no_double, d)
            else:
                roll(&dice, ply, no_double, d)
            if ply == begun:
                t.roll = number_of(d)
            if s.reduce:
                failed = luck_of(s, &b, d, no_double, side, w, t.luck)
                if failed:
                    return failed
        player = &s.player[side]
        plies = player.early_plies if <int64_t>(ply >> 1) < player.early_turns else player.plies
        results = scratch
        if player.search and plies:
            failed = roll_value(player.search, &b, d[0], d[1], plies + 1, 0, w, chances, &chosen)
            if failed:
                return failed
            results = w.level[0].results
        else:
            count = kernel.plays(rules, &b, d[0], d[1], scratch)
            if count < 0:
                return SEARCH_NO_MEMORY
            if count == 1:
                chosen = 0
            elif player.evaluator:
                chosen = best_result(player.evaluator, rules, s.points, &b, scratch, count, scores)
                if chosen < 0:
                    return SEARCH_FAILED
            else:
                chosen = nc_stream_below(&choices, ply, count)
        ply += 1
        if results[chosen].off[0] == rules.checkers:
            i = outcome(rules, &results[chosen])
            t.ended = i if side == 0 else 5 + i
            break
        if ply == LONGEST:
            return ENDLESS
        kernel.flip(rules, &results[chosen], &b, 1)
    t.ply = ply
    return SEARCH_OK


cdef int play_trials(const spec_t *s, uint64_t first, int64_t n, const int *stop, int64_t *result, int64_t *raw,
                     int64_t *reduced, scratch_t *w, board_t *scratch, float *scores) noexcept nogil:
    """Play n trials and add them to a result."""
    cdef trial_t t
    cdef uint8_t one[1296]
    cdef uint8_t two[1296]
    cdef uint8_t throws[2]
    cdef uint64_t size = 36 * (30 if s.no_double else 36), cycle = 0
    cdef bint known = False
    cdef int64_t i
    cdef int failed
    for i in range(n):
        if nc_flag_read(stop):
            return SEARCH_STOPPED
        if s.stratified:
            if not known or (first + i) // size != cycle:
                cycle = (first + i) // size
                fill_cycle(s.key, cycle, 30 if s.no_double else 36, one, two)
                known = True
            throws[0] = one[(first + i) % size]
            throws[1] = two[(first + i) % size]
        failed = play_trial(s, first + i, throws if s.stratified else NULL, w, scratch, scores, &t)
        if failed:
            return failed
        add_trial(&t, s.reduce, result, raw + NC_CLASSES * i if raw else NULL,
                  reduced + NC_CLASSES * i if reduced else NULL)
    return SEARCH_OK


# ---- for Python ----------------------------------------------------------------------------------------------------

def play_chunk(board, rules, players, key, points, dice, bint no_double, tables, method, uint64_t first, int64_t n,
               Stop stop not None, bint keep=False):
    """Play trials first .. first + n - 1 with native policies: (int64[size], raw, reduced), or None when stopped.

    players: for each side (Evaluator or None, Searcher or None, plies, early turns, early plies). method: (truncate,
    plies at it, Searcher or None, take luck out, most luck, stratify). With `keep`, raw and reduced are the trials'
    chances, int64[n, 10], else None.
    """
    cdef CompiledRules r = compiled(rules)
    cdef const int8_t[::1] start = board
    cdef spec_t spec
    cdef Evaluator e
    cdef Searcher searcher
    cdef int side, status
    cdef int64_t[:, ::1] kept
    cdef int64_t *to[2]
    memcpy(&spec.start, &start[0], sizeof(board_t))
    spec.rules = &r.c
    for side in range(2):
        e, searcher = players[side][:2]
        spec.player[side].plies, spec.player[side].early_turns, spec.player[side].early_plies = players[side][2:]
        if e is not None and e.e.evaluate is NULL:
            msg = "this Evaluator was never made; see Evaluator.from_capsule"
            raise TypeError(msg)
        spec.player[side].evaluator = NULL if e is None else &e.e
        spec.player[side].search = NULL if searcher is None else &searcher.s
        spec.key[side] = key[side]
        spec.dice[side] = dice[side]
    for side in range(5):
        spec.points[side] = points[side]
    spec.no_double = no_double
    spec.ask.tables = take_tables(spec.ask.table, tables)
    spec.truncate, spec.truncate_plies, searcher, spec.reduce, spec.most, spec.stratified = method
    spec.leaf = NULL if searcher is None else &searcher.s
    if spec.leaf is NULL and (spec.reduce or spec.truncate):
        msg = "luck and truncation need an evaluator"
        raise ValueError(msg)
    result = np.zeros(RESULT_SIZE if spec.reduce or spec.stratified else PLAIN_SIZE, np.int64)
    cdef int64_t[::1] sums = result
    raw = np.empty((n, NC_CLASSES), np.int64) if keep else None
    reduced = np.empty((n, NC_CLASSES), np.int64) if keep and spec.reduce else None
    to[0] = to[1] = NULL
    if raw is not None and n:
        kept = raw
        to[0] = &kept[0, 0]
    if reduced is not None and n:
        kept = reduced
        to[1] = &kept[0, 0]
    cdef scratch_t *w = new_scratch(&stop.flag)
    cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
    cdef float *scores = <float *>malloc(NC_MAX_PLAYS * NC_CLASSES * sizeof(float))
    try:
        if not scratch or not scores or not w:
            raise MemoryError
        with nogil:
            status = play_trials(&spec, first, n, &stop.flag, &sums[0], to[0], to[1], w, scratch, scores)
    finally:
        free_scratch(w)
        free(scratch)
        free(scores)
    if status == SEARCH_STOPPED:
        return None
    if status == SEARCH_NO_MEMORY:
        raise MemoryError
    if status == SEARCH_FAILED:
        msg = "an evaluator failed or gave a value that is not finite"
        raise RuntimeError(msg)
    if status == SEARCH_CHANCES:
        msg = "an evaluator gave chances that are below 0 or do not add up to 1"
        raise RuntimeError(msg)
    if status == ENDLESS:
        msg = f"a game did not end within {LONGEST} plies"
        raise RuntimeError(msg)
    return result, raw, reduced


def add_trials(int64_t[::1] result, const int64_t[::1] ended, const double[:, ::1] chances, const int64_t[::1] sides,
               truncated, const double[:, ::1] luck, const int64_t[::1] plies, const int64_t[::1] rolls, cells,
               bint reduce, raw, reduced):
    """Add trials that were played elsewhere, as play_chunk adds its own; chances are seen from their sides."""
    cdef trial_t t
    cdef Py_ssize_t i, n = ended.shape[0]
    cdef int k
    cdef const int64_t[::1] cell
    cdef const uint8_t[::1] cut = truncated.view(np.uint8)
    cdef int64_t[:, ::1] raw_rows
    cdef int64_t[:, ::1] reduced_rows
    if cells is not None:
        cell = cells
    if raw is not None:
        raw_rows = raw
    if reduced is not None:
        reduced_rows = reduced
    for i in range(n):
        t.ended = <int>ended[i]
        t.truncated = cut[i]
        if t.ended < 0:
            to_units(&chances[i, 0], <int>sides[i], t.x)
        for k in range(NC_CLASSES):
            t.luck[k] = luck[i, k] if reduce else 0
        t.ply = plies[i]
        t.roll = <int>rolls[i]
        t.cell = -1 if cells is None else <int>cell[i]
        add_trial(&t, reduce, &result[0], NULL if raw is None else &raw_rows[i, 0],
                  NULL if reduced is None else &reduced_rows[i, 0])


def difference_moments(const int64_t[:, ::1] a, const int64_t[:, ::1] b):
    """Moments of the differences of the same trials of two rollouts, int64[111]."""
    cdef int64_t x[NC_CLASSES]
    cdef Py_ssize_t i
    cdef int k
    found = np.zeros(MOMENTS, np.int64)
    cdef int64_t[::1] to = found
    if a.shape[0] != b.shape[0] or a.shape[1] != NC_CLASSES or b.shape[1] != NC_CLASSES:
        msg = "expected the ten chances of the same trials"
        raise ValueError(msg)
    with nogil:
        for i in range(a.shape[0]):
            for k in range(NC_CLASSES):
                x[k] = a[i, k] - b[i, k]
            add_moments(x, &to[0])
    return found
