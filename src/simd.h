/* 32-byte board vectors. One set of functions, compiled twice: with AVX2 (the file is built with -mavx2) and without.
 * The plain path is C with 64-bit words, no intrinsics: it is what other processors run.
 *
 * nc_vec is a board in registers; masks have bit i for byte i. */
#ifndef NARDCORE_SIMD_H
#define NARDCORE_SIMD_H

#include <stdint.h>
#include <string.h>

#include "nardcore.h"

#if defined(__AVX2__) && !defined(NC_PORTABLE)
#include <immintrin.h>
#define NC_ISA "avx2"

typedef __m256i nc_vec;

static inline nc_vec nc_load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline void nc_store(void *p, nc_vec v) { _mm256_storeu_si256((__m256i *)p, v); }
static inline nc_vec nc_add(nc_vec a, nc_vec b) { return _mm256_add_epi8(a, b); }
static inline uint32_t nc_positive(nc_vec v) {
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(v, _mm256_setzero_si256()));
}
static inline uint32_t nc_negative(nc_vec v) { return (uint32_t)_mm256_movemask_epi8(v); }
static inline uint32_t nc_equals(nc_vec v, int8_t x) {
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(x)));
}
/* bytes in which a and b differ */
static inline uint32_t nc_differs(nc_vec a, nc_vec b) { return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)); }
/* the mover's first-turn flag cleared: byte 29, bit 0 */
static inline nc_vec nc_turn_taken(nc_vec v) {
  return _mm256_andnot_si256(_mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0x100), v);
}

#else
#define NC_ISA "portable"

typedef struct { uint64_t w[4]; } nc_vec;

#define NC_HIGH 0x8080808080808080ULL
#define NC_ONES 0x0101010101010101ULL

static inline nc_vec nc_load(const void *p) { nc_vec v; memcpy(&v, p, 32); return v; }
static inline void nc_store(void *p, nc_vec v) { memcpy(p, &v, 32); }
/* bytewise a + b: the carry out of bit 7 of each byte is cut off */
static inline uint64_t nc_add8(uint64_t a, uint64_t b) { return ((a & ~NC_HIGH) + (b & ~NC_HIGH)) ^ ((a ^ b) & NC_HIGH); }
static inline nc_vec nc_add(nc_vec a, nc_vec b) {
  nc_vec r;
  for (int i = 0; i < 4; i++) r.w[i] = nc_add8(a.w[i], b.w[i]);
  return r;
}
/* bit 7 of each byte, gathered into 8 bits; byte 0 gives bit 0 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "nardcore's portable kernels assume a little-endian machine"
#endif
static inline uint32_t nc_gather(uint64_t x) { return (uint32_t)(((x & NC_HIGH) >> 7) * 0x0102040810204080ULL >> 56); }
static inline uint32_t nc_negative(nc_vec v) {
  return nc_gather(v.w[0]) | nc_gather(v.w[1]) << 8 | nc_gather(v.w[2]) << 16 | nc_gather(v.w[3]) << 24;
}
/* bit 7 set where the byte is > 0: not negative, and adding 127 reaches bit 7 */
static inline uint32_t nc_positive(nc_vec v) {
  nc_vec r;
  for (int i = 0; i < 4; i++) r.w[i] = ((v.w[i] & ~NC_HIGH) + ~NC_HIGH) & ~v.w[i];
  return nc_negative(r);
}
static inline uint32_t nc_equals(nc_vec v, int8_t x) {
  nc_vec r;
  for (int i = 0; i < 4; i++) {
    uint64_t d = v.w[i] ^ (NC_ONES * (uint8_t)x);       /* zero bytes are the equal ones */
    r.w[i] = ~(((d & ~NC_HIGH) + ~NC_HIGH) | d);
  }
  return nc_negative(r);
}
static inline uint32_t nc_differs(nc_vec a, nc_vec b) {
  nc_vec r;
  for (int i = 0; i < 4; i++) {
    uint64_t d = a.w[i] ^ b.w[i];
    r.w[i] = ((d & ~NC_HIGH) + ~NC_HIGH) | d;
  }
  return nc_negative(r);
}
static inline nc_vec nc_turn_taken(nc_vec v) { v.w[3] &= ~(1ULL << 40); return v; }
#endif

static inline int nc_same(nc_vec a, nc_vec b) { return nc_differs(a, b) == 0; }

/* The opponent's view: points mirrored (short) or turned by 12 (long) and negated; bar, off and flag bits swapped, turn
 * changed. In place is allowed. */
#if defined(__AVX2__) && !defined(NC_PORTABLE)
static inline void nc_flip_short(const nc_board *b, nc_board *out) {
  const __m256i order = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
                                         7, 6, 5, 4, 3, 2, 1, 0, 9, 8, 11, 10, 12, 13, 14, 15);
  const __m256i sign = _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                        -1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m256i turn = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 1);
  __m256i v = _mm256_permute4x64_epi64(nc_load(b), 0xC6);        /* 64-bit words 2, 1, 0, 3 */
  v = _mm256_sign_epi8(_mm256_shuffle_epi8(v, order), sign);
  nc_store(out, _mm256_xor_si256(v, turn));                      /* flags are zero in short nardy */
}
#else
static inline void nc_flip_tail(const nc_board *b, nc_board *out) {
  int8_t bar = b->bar[0], off = b->off[0];
  out->bar[0] = b->bar[1]; out->bar[1] = bar;
  out->off[0] = b->off[1]; out->off[1] = off;
  out->turn = b->turn ^ 1;
  out->flags = (int8_t)((b->flags & ~3) | (b->flags & 1) << 1 | (b->flags & 2) >> 1);
  out->reserved[0] = b->reserved[0]; out->reserved[1] = b->reserved[1];
}
static inline uint64_t nc_neg8(uint64_t y) { return nc_add8(~y, NC_ONES); }
static inline uint64_t nc_swap8(uint64_t x) {
  x = (x >> 8 & 0x00FF00FF00FF00FFULL) | (x & 0x00FF00FF00FF00FFULL) << 8;
  x = (x >> 16 & 0x0000FFFF0000FFFFULL) | (x & 0x0000FFFF0000FFFFULL) << 16;
  return x >> 32 | x << 32;
}
static inline void nc_flip_short(const nc_board *b, nc_board *out) {
  uint64_t w[3], r[3];
  memcpy(w, b->pt, 24);
  for (int i = 0; i < 3; i++) r[i] = nc_neg8(nc_swap8(w[2 - i]));
  nc_flip_tail(b, out);
  memcpy(out->pt, r, 24);
}
#endif
#if defined(__AVX2__) && !defined(NC_PORTABLE)
static inline void nc_flip_long(const nc_board *b, nc_board *out) {
  const __m256i turned = _mm256_setr_epi32(3, 4, 5, 0, 1, 2, 6, 7);   /* 12 points are three 32-bit words */
  const __m256i tail = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                        0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 12, 13, 14, 15);
  const __m256i sign = _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                        -1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m256i first = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0x100);
  const __m256i second = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0x200);
  const __m256i turn = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 1);
  __m256i v = _mm256_permutevar8x32_epi32(nc_load(b), turned);
  __m256i flags = _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(v, first), 1),
                                  _mm256_srli_epi32(_mm256_and_si256(v, second), 1));
  v = _mm256_andnot_si256(_mm256_or_si256(first, second), v);
  v = _mm256_sign_epi8(_mm256_shuffle_epi8(v, tail), sign);
  nc_store(out, _mm256_or_si256(_mm256_xor_si256(v, turn), flags));
}
#else
static inline void nc_flip_long(const nc_board *b, nc_board *out) {
  uint64_t w[3], r[3];
  memcpy(w, b->pt, 24);
  r[0] = nc_neg8(w[1] >> 32 | w[2] << 32);
  r[1] = nc_neg8(w[2] >> 32 | w[0] << 32);
  r[2] = nc_neg8(w[0] >> 32 | w[1] << 32);
  nc_flip_tail(b, out);
  memcpy(out->pt, r, 24);
}
#endif

static inline int nc_bits(uint32_t m) { return __builtin_popcount(m); }
static inline int nc_lowest(uint32_t m) { return __builtin_ctz(m); }       /* m != 0 */
static inline int nc_highest(uint32_t m) { return 31 - __builtin_clz(m); } /* m != 0 */

/* What a step adds to a board, by die, origin and hit; filled once by nc_fill_steps. Origin 24 is the bar. */
typedef struct { int8_t b[32]; } nc_delta;
typedef struct { nc_delta by[6][25][2]; } nc_steps_table;
static inline void nc_fill_steps(nc_steps_table *t) {
  memset(t, 0, sizeof *t);
  for (int die = 1; die <= 6; die++)
    for (int from = 0; from < 25; from++)
      for (int hit = 0; hit < 2; hit++) {
        int8_t *b = t->by[die - 1][from][hit].b;
        int to = from - die;
        b[from] -= 1;
        if (to < 0) b[NC_OFF] += 1;
        else b[to] += 1;
        if (hit && to >= 0) { b[to] += 1; b[NC_BAR_OPP] += 1; }
      }
}

/* Writes a board for each origin in `from`, lowest first, moved by the die whose table `by` is, and returns the place after
 * the last. hits has a bit for each origin whose step hits. */
static inline nc_board *nc_put_steps(nc_vec v, const nc_delta (*by)[2], uint32_t from, uint32_t hits, nc_board *out) {
  while (from) {
    int f = nc_lowest(from);
    from &= from - 1;
    nc_store(out++, nc_add(v, nc_load(&by[f][hits >> f & 1])));
  }
  return out;
}

#endif
