# A Cython extension that takes nardcore's structs and classes by cimport.
from nardcore._board cimport Position
from nardcore._rules cimport CompiledRules
from nardcore._types cimport NC_BAR, NC_MAX_PLAYS, board_t, rules_t


def bytes_of(Position position):
    """The board of a position, read without Python."""
    cdef const board_t *b = &position.b
    cdef int i, mine = b.bar[0] + b.off[0]
    for i in range(24):
        if b.pt[i] > 0:
            mine += b.pt[i]
    return sizeof(board_t), mine, b.turn, b.flags


def rules_of(Position position):
    cdef CompiledRules compiled = position.r
    cdef rules_t rules = compiled.c
    return rules.movement, rules.checkers, compiled.rules


def limits():
    return NC_BAR, NC_MAX_PLAYS
