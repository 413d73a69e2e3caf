"""A Cython module that uses nardcore's plays without the GIL and without Python objects."""
from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport free, malloc

from nardcore._types cimport NC_MAX_PLAYS, board_t, rules_t

cdef extern from "nardcore.h":
    ctypedef struct nc_api:
        int (*rules_from_name)(const char *name, rules_t *rules) except -1
        int32_t (*plays)(const rules_t *rules, const board_t *board, int d1, int d2, board_t *out) noexcept nogil
    const nc_api *nc_import() except NULL

cdef const nc_api *api = nc_import()


cdef int32_t most(const rules_t *rules, const board_t *board, board_t *scratch) noexcept nogil:
    cdef int32_t n, found = 0
    cdef int d1, d2
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            n = api.plays(rules, board, d1, d2, scratch)
            if n < 0:
                return n
            found = n if n > found else found
    return found


def most_plays(str rules_name, const int8_t[::1] board):
    """Give the largest number of results that any of the 21 rolls has; a Position is a board."""
    cdef rules_t rules
    cdef int32_t found
    cdef board_t *scratch
    if board.shape[0] != sizeof(board_t):
        raise ValueError("a board has 32 bytes")
    name = rules_name.encode()
    api.rules_from_name(name, &rules)
    scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
    if not scratch:
        raise MemoryError
    with nogil:
        found = most(&rules, <const board_t *>&board[0], scratch)
    free(scratch)
    if found < 0:
        raise MemoryError
    return found
