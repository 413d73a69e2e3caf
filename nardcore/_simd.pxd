# Board vectors and the kernel table (src/simd.h, src/kernels.h): for the modules built here, not for consumers.
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from nardcore._types cimport board_t, rules_t


cdef extern from "simd.h" nogil:
    const char *NC_ISA

    ctypedef struct vec_t "nc_vec":
        pass
    ctypedef struct delta_t "nc_delta":
        int8_t b[32]
    ctypedef struct steps_table_t "nc_steps_table":
        delta_t by[6][25][2]

    vec_t nc_load(const void *p) noexcept
    void nc_store(void *p, vec_t v) noexcept
    vec_t nc_add(vec_t a, vec_t b) noexcept
    vec_t nc_turn_taken(vec_t v) noexcept
    uint32_t nc_positive(vec_t v) noexcept
    uint32_t nc_negative(vec_t v) noexcept
    uint32_t nc_equals(vec_t v, int8_t x) noexcept
    uint32_t nc_differs(vec_t a, vec_t b) noexcept
    bint nc_same(vec_t a, vec_t b) noexcept
    void nc_flip_short(const board_t *b, board_t *out) noexcept
    void nc_flip_long(const board_t *b, board_t *out) noexcept
    int nc_bits(uint32_t m) noexcept
    int nc_lowest(uint32_t m) noexcept
    int nc_highest(uint32_t m) noexcept
    void nc_fill_steps(steps_table_t *t) noexcept
    board_t *nc_put_steps(vec_t v, const delta_t (*by)[2], uint32_t from_, uint32_t hits, board_t *out) noexcept


cdef extern from "kernels.h" nogil:
    ctypedef struct kernels_t "nc_kernels":
        const char *isa
        int32_t (*plays)(const rules_t *, const board_t *, int, int, board_t *) noexcept nogil
        int32_t (*plays_general)(const rules_t *, const board_t *, int, int, board_t *) noexcept nogil
        int32_t (*single_steps)(const rules_t *, const board_t *, const board_t *, int, int, int, board_t *,
                                int8_t *) noexcept nogil
        int (*find_steps)(const rules_t *, const board_t *, int, int, const board_t *, int8_t *) noexcept nogil
        void (*flip)(const rules_t *, const board_t *, board_t *, int64_t) noexcept nogil
        int (*linear)(void *, const board_t *, const board_t *, int32_t, float *) noexcept nogil
        int (*net)(void *, const board_t *, const board_t *, int32_t, float *) noexcept nogil
        void (*features)(int, const board_t *, int64_t, uint16_t *, uint8_t *) noexcept nogil
        void (*possible)(const rules_t *, const board_t *, int64_t, uint8_t *) noexcept nogil
