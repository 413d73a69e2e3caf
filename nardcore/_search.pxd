# Look-ahead search as the trial kernel sees it.
from libc.stdint cimport int32_t
from nardcore._rules cimport CompiledRules
from nardcore._types cimport board_t, evaluator_t, rules_t, table_t


cdef enum:
    SEARCH_OK = 0
    SEARCH_STOPPED = 1
    SEARCH_NO_MEMORY = -1
    SEARCH_FAILED = -2
    SEARCH_CHANCES = -4             # an evaluator's chances are no chances
    MAX_TABLES = 16
    MAX_LEVELS = 4                  # rolls looked ahead, that of the root included


cdef struct filter_t:
    int32_t keep
    double within


cdef struct search_t:
    const evaluator_t *evaluator
    const evaluator_t *chooser      # scores that choose among plays rated 0 plies deep, or NULL: by the chances
    const rules_t *rules
    double points[5]
    const table_t *table[MAX_TABLES]
    int tables
    filter_t filter[MAX_LEVELS]     # [i]: which plays rated i plies deep are rated i + 1 deep


cdef struct level_t:
    board_t *results
    float *raw
    double *value                   # [NC_MAX_PLAYS][10]
    double *equity
    int32_t *order


cdef struct scratch_t:
    level_t level[MAX_LEVELS]
    const int *stop


cdef class Searcher:
    cdef search_t s
    cdef CompiledRules rules
    cdef object owners              # what keeps the evaluator and the tables alive


cdef scratch_t *new_scratch(const int *stop) noexcept nogil
cdef void free_scratch(scratch_t *w) noexcept nogil
cdef int node_value(const search_t *s, const board_t *on_roll, int plies, int depth, scratch_t *w,
                    double *out) noexcept nogil
cdef int roll_value(const search_t *s, const board_t *b, int d1, int d2, int plies, int depth, scratch_t *w,
                    double *out, int32_t *chosen) noexcept nogil
cdef int take_tables(const table_t **to, tables) except -1
