"""Positions from games, and their labels: outcomes, traces, look-ahead.

The work is cut into pieces by `nardcore.training`, which calls these functions from threads; every piece is a
function of its arguments alone.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from nardcore._types cimport *
from nardcore._simd cimport kernels_t
from nardcore._movegen cimport kernels
from nardcore._rollout cimport Evaluator, Stop, best_result
from nardcore._rules cimport CompiledRules, compiled, outcome
from nardcore._dice cimport STREAM_DICE, STREAM_POLICY, nc_stream_begin, nc_stream_below, roll, stream_t

import numpy as np


cdef extern from "stop.h" nogil:
    int nc_flag_read(const int *flag) noexcept


cdef extern from "apart.h" nogil:
    int nc_past_each_other(const board_t *b, int movement) noexcept


cdef enum:
    STREAM_GAME = 16                    # which games begin at random, and how
    STREAM_STRAY = 17
    STREAM_KEEP = 18
    LONGEST = 4096                      # plies; a longer game gives nothing
    ONE = 1 << 24                       # chances are counted in units of 1 / ONE


def past_each_other(boards, rules):
    """Tell in which boards the sides can no longer meet: bool[n]."""
    cdef CompiledRules r = compiled(rules)
    cdef const int8_t[:, ::1] b = boards
    cdef Py_ssize_t i
    if b.shape[1] != 32:
        msg = "boards have 32 numbers"
        raise ValueError(msg)
    found = np.empty(b.shape[0], np.bool_)
    cdef uint8_t[::1] out = found.view(np.uint8)
    with nogil:
        for i in range(b.shape[0]):
            out[i] = nc_past_each_other(<const board_t *>&b[i, 0], r.c.movement)
    return found


def rate(Evaluator evaluator, boards):
    """Ask an evaluator of chances for many unrelated after-positions: float32[n, 10]."""
    cdef const int8_t[:, ::1] rows = boards
    cdef Py_ssize_t i
    cdef int status = 0
    cdef const board_t *b
    if rows.shape[1] != 32:
        msg = "boards have 32 numbers"
        raise ValueError(msg)
    if evaluator.e.evaluate is NULL or evaluator.e.flags & NC_SCORE_ONLY:
        msg = "expected an evaluator that gives chances"
        raise ValueError(msg)
    found = np.empty((rows.shape[0], NC_CLASSES), np.float32)
    cdef float[:, ::1] out = found
    with nogil:
        for i in range(rows.shape[0]):
            b = <const board_t *>&rows[i, 0]
            status = evaluator.e.evaluate(evaluator.e.state, b, b, 1, &out[i, 0])
            if status < 0:
                break
    if status < 0:
        msg = f"the evaluator {evaluator.name} failed"
        raise RuntimeError(msg)
    return found


# ----------------------------------------------------------------------------------------- look-ahead

cdef struct looking_t:
    const rules_t *rules
    const evaluator_t *policy                   # answers the rolls
    const evaluator_t *judge                    # rates what comes of them; NULL: the policy gives chances itself
    int32_t points[5]
    const table_t *table[16]
    int tables


cdef bint probe(const looking_t *plan, const board_t *b, float *out) noexcept nogil:
    cdef int i
    for i in range(plan.tables):
        if nc_table_probe(plan.table[i], b, out) == 1:
            return True
    return False


cdef int look_ahead_one(const looking_t *plan, const board_t *after, float *out, board_t *scratch,
                        float *scores) noexcept nogil:
    """The mean chances over the 21 rolls, each answered best: of the side that has just moved."""
    cdef const kernels_t *kernel = kernels()
    cdef board_t b, again
    cdef double sum[10]
    cdef float chances[10]
    cdef const float *p
    cdef int x, y, k, ways
    cdef int32_t count, chosen
    kernel.flip(plan.rules, after, &b, 1)
    if probe(plan, &b, chances):
        for k in range(10):
            out[k] = chances[(k + 5) % 10]
        return 0
    for k in range(10):
        sum[k] = 0
    for x in range(1, 7):
        for y in range(1, x + 1):
            ways = 1 if x == y else 2
            count = kernel.plays(plan.rules, &b, x, y, scratch)
            if count < 0:
                return -1
            chosen = best_result(plan.policy, plan.rules, plan.points, &b, scratch, count, scores)
            if chosen < 0:
                return -2
            if scratch[chosen].off[0] == plan.rules.checkers:
                sum[5 + outcome(plan.rules, &scratch[chosen])] += ways
                continue
            if plan.tables:
                kernel.flip(plan.rules, &scratch[chosen], &again, 1)
                if probe(plan, &again, chances):
                    for k in range(10):
                        sum[k] += ways * <double>chances[k]
                    continue
            p = scores
            if plan.judge:
                if plan.judge.evaluate(plan.judge.state, &scratch[chosen], &scratch[chosen], 1, scores) < 0:
                    return -2
            elif count == 1:
                if plan.policy.evaluate(plan.policy.state, &b, scratch, 1, scores) < 0:
                    return -2
            else:
                p = scores + NC_CLASSES * chosen
            for k in range(10):
                sum[(k + 5) % 10] += ways * <double>p[k]
    for k in range(10):
        out[k] = <float>(sum[k] / 36)
    return 0


def look_ahead(rules, Evaluator evaluator, Evaluator judge, tables, boards, points, Stop stop):
    """Rate after-positions one ply deep: over the 21 rolls, each answered by the play that the evaluator likes best.

    Parameters
    ----------
    rules : Rules
    evaluator : Evaluator
        It chooses.
    judge : Evaluator
        It gives chances, not scores; perhaps the same.
    tables : sequence of PyCapsule
        Exact values of positions on roll, used for the positions and after the replies.
    boards : int8[n, 32]
        Unfinished after-positions.
    points : sequence of 5 int
    stop : Stop

    Returns
    -------
    float32[n, 10] or None
        Chances of the side that has just moved; None when stopped.
    """
    cdef CompiledRules r = compiled(rules)
    cdef const int8_t[:, ::1] rows = boards
    cdef looking_t plan
    cdef int i, status = 0
    cdef int64_t k
    if rows.shape[1] != 32:
        msg = "boards have 32 numbers"
        raise ValueError(msg)
    if evaluator.e.evaluate is NULL or judge.e.evaluate is NULL or judge.e.flags & NC_SCORE_ONLY:
        msg = "labels come from an evaluator that gives chances"
        raise ValueError(msg)
    if len(tables) > 16:
        msg = "there are at most 16 tables"
        raise ValueError(msg)
    plan.rules = &r.c
    plan.policy = &evaluator.e
    plan.judge = NULL if judge is evaluator else &judge.e
    plan.tables = 0
    for table in tables:
        if not PyCapsule_IsValid(table, "nardcore.table"):
            msg = "expected a PyCapsule named 'nardcore.table'"
            raise TypeError(msg)
        plan.table[plan.tables] = <const table_t *>PyCapsule_GetPointer(table, "nardcore.table")
        plan.tables += 1
    for i in range(5):
        plan.points[i] = points[i]
    found = np.empty((rows.shape[0], NC_CLASSES), np.float32)
    cdef float[:, ::1] out = found
    cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
    cdef float *scores = <float *>malloc(NC_MAX_PLAYS * NC_CLASSES * sizeof(float))
    try:
        if not scratch or not scores:
            raise MemoryError
        with nogil:
            for k in range(rows.shape[0]):
                if nc_flag_read(&stop.flag):
                    status = 1
                    break
                status = look_ahead_one(&plan, <const board_t *>&rows[k, 0], &out[k, 0], scratch, scores)
                if status < 0:
                    break
    finally:
        free(scratch)
        free(scores)
    if status == 1:
        return None
    if status == -1:
        raise MemoryError
    if status < 0:
        msg = f"the evaluator {evaluator.name} failed or gave a value that is not finite"
        raise RuntimeError(msg)
    return found


# ---------------------------------------------------------------------------------------------- games

cdef struct sampling_t:
    const rules_t *rules
    const evaluator_t *policy
    uint64_t key[2]
    int32_t points[5]
    const board_t *starts
    int64_t starts_n
    uint64_t keep, stray, random_games          # in units of 1 / ONE
    uint64_t random_plies                       # the most that a random beginning has
    uint64_t limit                              # the most plies of a game that are looked at, 0: all
    const evaluator_t *judge                    # chances of what was played, for targets with a trace; NULL: outcomes
    double trace
    bint ahead                                  # targets are look-ahead with a trace
    bint contact                                # games end where the sides have passed each other
    looking_t looking


cdef struct found_t:
    board_t *boards
    float *chances                              # [room][10]
    int64_t n, room
    float *now                                  # [LONGEST][10]: chances after each ply of a game
    float *ahead                                # [LONGEST][10]: look-ahead after each ply, NULL: not wanted
    int64_t *at                                 # [LONGEST]: where its position is kept, -1: it is not
    uint8_t *random                             # [LONGEST]: whether it was played at random


cdef bint make_room(found_t *found) noexcept nogil:
    cdef board_t *boards
    cdef float *chances
    if found.n < found.room:
        return True
    found.room = 2 * found.room + 1024
    boards = <board_t *>realloc(found.boards, found.room * sizeof(board_t))
    if boards is not NULL:
        found.boards = boards
    chances = <float *>realloc(found.chances, found.room * NC_CLASSES * sizeof(float))
    if chances is not NULL:
        found.chances = chances
    return boards is not NULL and chances is not NULL


cdef void settle(const sampling_t *plan, found_t *found, int64_t begin, int64_t plies, int result) noexcept nogil:
    """Give the kept positions of a game their targets, from its end back.

    The target of a position is (1 - trace) times the chances after the next ply and trace times the target there, both
    seen from the other side; a play at random says nothing, so that what led to it is left out.
    """
    cdef float target[10]
    cdef float next_target[10]
    cdef float *value
    cdef float *of
    cdef float own = <float>(1 - plan.trace), rest = <float>plan.trace
    cdef int64_t t, kept = begin, k
    cdef int i
    for i in range(10):
        next_target[i] = 0
    next_target[result] = 1
    for t in range(plies - 1, -1, -1):                  # ply `plies` ended the game
        value = found.now + 10 * (t + 1)
        if found.random[t + 1] and not (plan.policy is NULL):
            if found.at[t] >= 0:
                found.at[t] = -1
            if plan.judge is NULL:                      # outcomes: all before is left out
                for k in range(t):
                    found.at[k] = -1
                break
            for i in range(10):
                next_target[i] = found.now[10 * t + i]
            continue
        for i in range(10):
            if plan.judge is NULL or t + 1 == plies:
                target[(i + 5) % 10] = next_target[i]
            else:
                target[(i + 5) % 10] = own * value[i] + rest * next_target[i]
        for i in range(10):
            next_target[i] = target[i]
        if found.at[t] >= 0:
            of = found.chances + 10 * found.at[t]
            for i in range(10):
                of[i] = target[i]
    for t in range(plies):                              # close the gaps
        k = found.at[t]
        if k >= 0:
            if k != kept:
                found.boards[kept] = found.boards[k]
                memcpy(found.chances + 10 * kept, found.chances + 10 * k, 10 * sizeof(float))
            kept += 1
    found.n = kept


cdef void settle_ahead(const sampling_t *plan, found_t *found, int64_t plies) noexcept nogil:
    """Give the kept positions of a game their look-ahead, corrected by what followed, from its end back.

    The target of a position is its look-ahead and trace times the difference between the target and the chances after
    the next ply: look-ahead is the mean of the chances there, so the luck of that roll is in neither. A play at random
    ends the sum.
    """
    cdef float target[10]
    cdef float gap[10]
    cdef int64_t t
    cdef int i
    for i in range(10):
        gap[i] = 0
    for t in range(plies - 1, -1, -1):
        for i in range(10):
            target[i] = found.ahead[10 * t + i] + <float>plan.trace * gap[(i + 5) % 10]
        for i in range(10):
            gap[i] = 0 if found.random[t] else target[i] - found.now[10 * t + i]
        if found.at[t] >= 0:
            memcpy(found.chances + 10 * found.at[t], target, 10 * sizeof(float))


cdef int sample_games(const sampling_t *plan, uint64_t first, int64_t n, const int *stop, found_t *found,
                      board_t *scratch, float *scores) noexcept nogil:
    """Play games and keep some of their after-positions with their outcomes. 1: stopped, < 0: as the trials."""
    cdef const kernels_t *kernel = kernels()
    cdef const rules_t *rules = plan.rules
    cdef stream_t dice, game, stray, keep, choices
    cdef board_t b, after
    cdef int64_t i, begin
    cdef uint64_t ply, until, skipped
    cdef int32_t count, chosen
    cdef int d[2]
    cdef int who, status
    cdef bint at_random, kept
    for i in range(n):
        if nc_flag_read(stop):
            return 1
        nc_stream_begin(&dice, plan.key, first + i, STREAM_DICE)
        nc_stream_begin(&choices, plan.key, first + i, STREAM_POLICY)
        nc_stream_begin(&game, plan.key, first + i, STREAM_GAME)
        nc_stream_begin(&stray, plan.key, first + i, STREAM_STRAY)
        nc_stream_begin(&keep, plan.key, first + i, STREAM_KEEP)
        b = plan.starts[(first + i) % <uint64_t>plan.starts_n]
        until = 0
        who = 2
        if plan.random_plies and nc_stream_below(&game, 0, ONE) < plan.random_games:
            who = nc_stream_below(&game, 1, 4)          # 2, 3: both sides
            until = 1 + nc_stream_below(&game, 2, <int>plan.random_plies)
        begin = found.n
        ply = 0
        skipped = until - 1 if plan.ahead and until else 0
        while True:
            roll(&dice, ply, False, d)
            count = kernel.plays(rules, &b, d[0], d[1], scratch)
            if count < 0:
                return -1
            at_random = ply < until and (who >= 2 or <int>(ply & 1) == who)
            at_random = at_random or (plan.stray and nc_stream_below(&stray, ply, ONE) < plan.stray)
            found.random[ply] = at_random and count > 1
            if count == 1:
                chosen = 0
            elif at_random or plan.policy is NULL:
                chosen = nc_stream_below(&choices, ply, count)
            else:
                chosen = best_result(plan.policy, rules, plan.points, &b, scratch, count, scores)
                if chosen < 0:
                    return -2
            after = scratch[chosen]
            if after.off[0] == rules.checkers:
                if plan.ahead:
                    settle_ahead(plan, found, ply)
                else:
                    settle(plan, found, begin, ply, outcome(rules, &after))
                break
            if plan.ahead and ((plan.limit and ply >= plan.limit) or
                               (plan.contact and nc_past_each_other(&after, rules.movement))):
                settle_ahead(plan, found, ply)
                break
            if plan.judge and plan.judge.evaluate(plan.judge.state, &after, &after, 1, found.now + 10 * ply) < 0:
                return -2
            found.at[ply] = -1
            kept = ((not plan.limit or ply < plan.limit) and ply >= skipped and
                    nc_stream_below(&keep, ply, ONE) < plan.keep)
            if plan.ahead:
                if kept or (plan.trace > 0 and ply >= skipped):
                    status = look_ahead_one(&plan.looking, &after, found.ahead + 10 * ply, scratch, scores)
                    if status < 0:
                        return status
                else:
                    memcpy(found.ahead + 10 * ply, found.now + 10 * ply, 10 * sizeof(float))
            if kept:
                if not make_room(found):
                    return -1
                found.boards[found.n] = after
                found.at[ply] = found.n
                found.n += 1
            ply += 1
            if ply == LONGEST:
                found.n = begin
                break
            kernel.flip(rules, &after, &b, 1)
    return 0


def play_games(rules, Evaluator evaluator, starts, key, points, uint64_t first, int64_t n, Stop stop, *,
               double keep=1.0, double stray=0.0, double random_games=0.0, int random_plies=0, int limit=0,
               Evaluator judge=None, double trace=1.0, bint ahead=False, bint contact=False):
    """Play games first .. first + n - 1 and keep some after-positions.

    Parameters
    ----------
    rules : Rules
    evaluator : Evaluator or None
        What plays both sides; None plays at random.
    starts : int8[m, 32]
        Positions on roll; game i begins at row i modulo m.
    key : uint64[2]
    points : sequence of 5 int
        By which an evaluator of chances chooses.
    first, n : int
    stop : Stop
    keep : float
        The share of positions that are kept.
    stray : float
        The share of plays that are made at random.
    random_games, random_plies : float, int
        The share of games that begin with plays at random, by both sides or one, and the most plies of it.
    limit : int
        How many plies of a game are looked at; 0: all.
    judge : Evaluator or None
        It gives chances of what was played, for targets with a trace; None: targets are outcomes.
    trace : float
        The share of the rest of the game in a target; what is left of 1 is that of the judge after the next ply.
    ahead : bool
        Targets are the look-ahead of evaluator and judge, and trace times what followed in the game corrects in it.
    contact : bool
        With `ahead`: games are looked at only while the sides can meet.

    Returns
    -------
    (int8[k, 32], float32[k, 10]) or None
        Unfinished after-positions, and targets: chances of the classes for the side that had moved. None: stopped.
        Of outcomes, only positions after the last play at random are given; with a judge, all but those just before;
        with `ahead`, all but those of a random beginning.
    """
    cdef CompiledRules r = compiled(rules)
    cdef const int8_t[:, ::1] s = starts
    cdef sampling_t plan
    cdef found_t found
    cdef int i, status
    if s.shape[1] != 32 or s.shape[0] < 1:
        msg = "games begin at boards of 32 numbers"
        raise ValueError(msg)
    for share in (keep, stray, random_games, trace):
        if not 0 <= share <= 1:
            msg = f"a share is between 0 and 1, not {share}"
            raise ValueError(msg)
    if not 0 <= random_plies < 1 << 20 or limit < 0:
        msg = "numbers of plies are no less than 0"
        raise ValueError(msg)
    if evaluator is not None and evaluator.e.evaluate is NULL:
        msg = "this Evaluator was never made; see Evaluator.from_capsule"
        raise TypeError(msg)
    plan.rules = &r.c
    plan.policy = NULL if evaluator is None else &evaluator.e
    for i in range(2):
        plan.key[i] = key[i]
    for i in range(5):
        plan.points[i] = points[i]
    plan.starts = <const board_t *>&s[0, 0]
    plan.starts_n = s.shape[0]
    plan.keep = <uint64_t>(keep * ONE)
    plan.stray = <uint64_t>(stray * ONE)
    plan.random_games = <uint64_t>(random_games * ONE)
    plan.random_plies = random_plies
    plan.limit = limit
    plan.judge = NULL
    plan.trace = trace
    if judge is not None:
        if judge.e.evaluate is NULL or judge.e.flags & NC_SCORE_ONLY:
            msg = "a judge is an evaluator that gives chances"
            raise ValueError(msg)
        plan.judge = &judge.e
    plan.ahead = ahead
    plan.contact = contact
    if ahead:
        if judge is None or evaluator is None:
            msg = "look-ahead needs an evaluator and a judge"
            raise ValueError(msg)
        plan.looking.rules = plan.rules
        plan.looking.policy = plan.policy
        plan.looking.judge = NULL if judge is evaluator else plan.judge
        plan.looking.tables = 0
        for i in range(5):
            plan.looking.points[i] = plan.points[i]
    found.boards = NULL
    found.chances = NULL
    found.n = found.room = 0
    found.now = <float *>malloc(LONGEST * NC_CLASSES * sizeof(float))
    found.ahead = <float *>malloc(LONGEST * NC_CLASSES * sizeof(float)) if ahead else NULL
    found.at = <int64_t *>malloc(LONGEST * sizeof(int64_t))
    found.random = <uint8_t *>malloc(LONGEST)
    cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
    cdef float *scores = <float *>malloc(NC_MAX_PLAYS * NC_CLASSES * sizeof(float))
    cdef int8_t[:, ::1] to
    cdef float[:, ::1] to_chances
    try:
        if not scratch or not scores or not found.now or not found.at or not found.random:
            raise MemoryError
        if ahead and not found.ahead:
            raise MemoryError
        with nogil:
            status = sample_games(&plan, first, n, &stop.flag, &found, scratch, scores)
        if status == 1:
            return None
        if status == -1:
            raise MemoryError
        if status < 0:
            msg = f"the evaluator {evaluator.name} failed or gave a value that is not finite"
            raise RuntimeError(msg)
        boards = np.empty((found.n, 32), np.int8)
        chances = np.empty((found.n, NC_CLASSES), np.float32)
        if found.n:
            to = boards
            to_chances = chances
            memcpy(&to[0, 0], found.boards, found.n * sizeof(board_t))
            memcpy(&to_chances[0, 0], found.chances, found.n * NC_CLASSES * sizeof(float))
        return boards, chances
    finally:
        free(scratch)
        free(scores)
        free(found.boards)
        free(found.chances)
        free(found.now)
        free(found.ahead)
        free(found.at)
        free(found.random)
