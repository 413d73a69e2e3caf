"""The C function table, in the PyCapsule ``nardcore._capi.C_API``: see ``include/nardcore.h``."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, uint32_t

from nardcore._types cimport *
from nardcore._movegen cimport kernels
from nardcore._rules cimport CompiledRules, compiled, outcome
from nardcore._rollout cimport Evaluator


cdef extern from "nardcore.h":
    ctypedef struct nc_api:
        uint32_t version, size
        const char *(*isa)() noexcept
        int (*rules_from_name)(const char *name, rules_t *rules) except -1
        int32_t (*plays)(const rules_t *, const board_t *, int, int, board_t *) noexcept nogil
        void (*flip)(const rules_t *, const board_t *, board_t *) noexcept nogil
        int (*outcome)(const rules_t *, const board_t *) noexcept nogil
        const evaluator_t *(*linear)(const rules_t *) except NULL
        int (*table_probe)(const table_t *, const board_t *, float *) noexcept nogil


cdef const char *isa() noexcept:
    return kernels().isa


cdef int rules_from_name(const char *name, rules_t *rules) except -1:
    from nardcore.rules import Rules
    cdef CompiledRules r = compiled(Rules.parse(name.decode()))
    rules[0] = r.c
    return 0


cdef void flip(const rules_t *rules, const board_t *board, board_t *out) noexcept nogil:
    kernels().flip(rules, board, out, 1)


cdef const evaluator_t *linear(const rules_t *rules) except NULL:
    from nardcore.policies import linear_evaluator
    cdef Evaluator e = linear_evaluator("long" if rules.movement == NC_LONG else "short")
    return &e.e                         # cached by nardcore.policies for the life of the process


cdef int table_probe(const table_t *table, const board_t *on_roll, float *out) noexcept nogil:
    return table.probe(table, on_roll, out)


cdef nc_api API
API.version = NC_ABI_VERSION
API.size = sizeof(nc_api)
API.isa = isa
API.rules_from_name = rules_from_name
API.plays = kernels().plays
API.flip = flip
API.outcome = outcome
API.linear = linear
API.table_probe = table_probe

C_API = PyCapsule_New(&API, "nardcore._capi.C_API", NULL)
