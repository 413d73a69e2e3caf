# The structs of nardcore.h as Cython sees them: the one place that declares them.
from libc.stdint cimport int8_t, int32_t, uint32_t


cdef extern from "nardcore.h" nogil:
    enum:
        NC_MAX_PLAYS, NC_MAX_STEPS, NC_CLASSES, NC_BAR, NC_BAR_OPP, NC_OFF, NC_OFF_OPP, NC_SCORE_ONLY
        NC_ABI_VERSION, NC_EVALUATOR_VERSION, NC_TABLE_VERSION
        NC_SHORT, NC_LONG
        NC_HIDE_OFF, NC_HIDE_BOARD, NC_HIDE_HOME
        NC_HEAD_ONE, NC_HEAD_FREE
        NC_EXCEPTION_NONE, NC_EXCEPTION_LISTED, NC_EXCEPTION_BLOCKED, NC_EXCEPTION_ANY_DOUBLE
        NC_EXCEPTION_BOTH, NC_EXCEPTION_SECOND
        NC_BLOCK_OFF, NC_BLOCK_AHEAD, NC_BLOCK_HOME, NC_BLOCK_FLAT
        NC_BLOCK_END_OF_TURN, NC_BLOCK_EACH_STEP
        NC_KOKS_NONE, NC_KOKS_ALL_IN_START, NC_KOKS_ANY_IN_START, NC_KOKS_NONE_HOME
        NC_ANY_OFF, NC_ALL_HOME, NC_OUTSIDE, NC_WINNER_HOME, NC_ON_BAR

    ctypedef struct board_t "nc_board":
        int8_t pt[24]
        int8_t bar[2]
        int8_t off[2]
        int8_t turn
        int8_t flags
        int8_t reserved[2]

    ctypedef struct rules_t "nc_rules":
        int8_t movement, checkers, hit_and_hide, exact_first, last_home_larger
        int8_t head_limit, head_exception, head_exception_for, block, block_timing
        int8_t off_protects, long_koks

    ctypedef int (*evaluate_t)(void *state, const board_t *parent, const board_t *after, int32_t n,
                               float *out) noexcept nogil

    ctypedef struct evaluator_t "nc_evaluator":
        uint32_t version, flags
        void *state
        evaluate_t evaluate

    ctypedef struct table_t "nc_table":
        uint32_t version, flags
        void *state
        int (*probe)(const table_t *table, const board_t *on_roll, float *out) noexcept nogil

    int nc_table_probe(const table_t *table, const board_t *on_roll, float *out) noexcept
