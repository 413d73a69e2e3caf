/* The inner loop of two-sided tables: values of some positions of the mover against 64 positions of the opponent.
 *
 * A table is an array [strip][row][64]: entry [s][r][l] is the value for a mover at place 64 s + l against an opponent
 * at place r. Successors of the mover are rows (after its play the opponent is on roll, and looks at it from the other
 * side), so the best reply is a minimum over whole lines of 64 neighbouring lanes, and a strip is one piece of memory.
 *
 * Values are linear in [0, 1]: 0 is the worst result of the mover, 1 the best. value = 1 - (sum over 36 throws of the least
 * value the opponent can be given) / 36. uint16 holds it in steps of 1/65535; all sums are exact there, and rounded once.
 * The value with a doubled cube is a half step above a whole one, and is cut down to it (nc_double); so that such errors do
 * not add up through all levels, quotients are rounded up from 16/36 on, not from 18/36: of the pairs tried on 6 to 8 checkers it errs least.
 * Every path gives the same bits: integers are exact, floats are added in one order, lane by lane. */
#ifndef NARDCORE_BEAROFF_TILE_H
#define NARDCORE_BEAROFF_TILE_H

#include <stdint.h>
#include <string.h>

#define NC_LANES 64
#define NC_HALF 20      /* added to sums of 36 before the division: see above */
#define NC_ROLLS 21
#define NC_MIXED 15     /* rolls of two different dice come first, doubles after them */

/* The distinct results of every roll, as places: those of place u are next[start[u] ...], count[u][roll] a roll. */
typedef struct {
  const int64_t *start;
  const uint8_t *count;         /* [places][NC_ROLLS] */
  const uint16_t *next;
} nc_program;

/* block[(u - from) * 64 + lane], for from <= u < to. `rows` is the strip that starts at row 0. */
static void nc_tile_u16_portable(const nc_program *p, const uint16_t *rows, int64_t from, int64_t to, uint16_t *block) {
  for (int64_t u = from; u < to; u++, block += NC_LANES) {
    const uint16_t *next = p->next + p->start[u];
    const uint8_t *count = p->count + u * NC_ROLLS;
    uint32_t sum[NC_LANES];
    memset(sum, 0, sizeof sum);
    for (int roll = 0; roll < NC_ROLLS; roll++) {
      uint16_t least[NC_LANES];
      memset(least, 0xFF, sizeof least);
      for (int k = count[roll]; k; k--) {
        const uint16_t *row = rows + (int64_t)*next++ * NC_LANES;
        for (int l = 0; l < NC_LANES; l++) least[l] = row[l] < least[l] ? row[l] : least[l];
      }
      for (int l = 0; l < NC_LANES; l++) sum[l] += (uint32_t)least[l] << (roll < NC_MIXED);
    }
    for (int l = 0; l < NC_LANES; l++) block[l] = (uint16_t)(65535 - (sum[l] + NC_HALF) / 36);
  }
}

/* Floating types: 16 lanes at a time, so that the least values and the sums stay in registers. */
#define NC_FLOAT_TILE(name, type, attribute)                                                                        \
  attribute static void name(const nc_program *p, const type *rows, int64_t from, int64_t to, type *block) {       \
    for (int64_t u = from; u < to; u++, block += NC_LANES)                                                          \
      for (int part = 0; part < NC_LANES; part += 16) {                                                             \
        const uint16_t *next = p->next + p->start[u];                                                               \
        const uint8_t *count = p->count + u * NC_ROLLS;                                                             \
        type sum[16] = {0};                                                                                         \
        for (int roll = 0; roll < NC_ROLLS; roll++) {                                                               \
          type least[16];                                                                                           \
          for (int l = 0; l < 16; l++) least[l] = 1;                                                                \
          for (int k = count[roll]; k; k--) {                                                                       \
            const type *row = rows + (int64_t)*next++ * NC_LANES + part;                                            \
            for (int l = 0; l < 16; l++) least[l] = row[l] < least[l] ? row[l] : least[l];                          \
          }                                                                                                         \
          if (roll == NC_MIXED)                                                                                     \
            for (int l = 0; l < 16; l++) sum[l] += sum[l];                                                          \
          for (int l = 0; l < 16; l++) sum[l] += least[l];                                                          \
        }                                                                                                           \
        for (int l = 0; l < 16; l++) block[part + l] = 1 - sum[l] / 36;                                             \
      }                                                                                                             \
  }

NC_FLOAT_TILE(nc_tile_f32_portable, float, )
NC_FLOAT_TILE(nc_tile_f64_portable, double, )

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define NC_BEAROFF_AVX2 1
NC_FLOAT_TILE(nc_tile_f32_avx2, float, __attribute__((target("avx2"))))
NC_FLOAT_TILE(nc_tile_f64_avx2, double, __attribute__((target("avx2"))))

/* low + 256 high is the exact sum: low counts in 16 bits and wraps, high sums the upper bytes (at most 36 * 255). */
__attribute__((target("avx2"))) static inline __m256i nc_finish_u16(__m256i low, __m256i high) {
  const __m256i weights = _mm256_set1_epi32(256 << 16 | 1), half = _mm256_set1_epi32(NC_HALF);
  const __m256 ninth = _mm256_set1_ps(1.0f / 9), middle = _mm256_set1_ps(0.5f);
  low = _mm256_sub_epi16(low, _mm256_slli_epi16(high, 8));
  __m256i a = _mm256_madd_epi16(_mm256_unpacklo_epi16(low, high), weights);
  __m256i b = _mm256_madd_epi16(_mm256_unpackhi_epi16(low, high), weights);
  /* floor(x / 9) in float is exact: x < 2^20, and (x + 1/2) / 9 is never nearer than 1/18 to a whole number. */
  __m256 x = _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_add_epi32(a, half), 2));
  __m256 y = _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_add_epi32(b, half), 2));
  a = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_add_ps(x, middle), ninth));
  b = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_add_ps(y, middle), ninth));
  return _mm256_xor_si256(_mm256_packus_epi32(a, b), _mm256_set1_epi16(-1));
}

__attribute__((target("avx2"))) static void nc_tile_u16_avx2(const nc_program *p, const uint16_t *rows, int64_t from,
                                                             int64_t to, uint16_t *block) {
  const __m256i top = _mm256_set1_epi16(-1);
  for (int64_t u = from; u < to; u++, block += NC_LANES) {
    const uint16_t *next = p->next + p->start[u];
    const uint8_t *count = p->count + u * NC_ROLLS;
    __m256i l0 = _mm256_setzero_si256(), l1 = l0, l2 = l0, l3 = l0, h0 = l0, h1 = l0, h2 = l0, h3 = l0;
    for (int roll = 0; roll < NC_ROLLS; roll++) {
      __m256i m0 = top, m1 = top, m2 = top, m3 = top;
      const uint16_t *end = next + count[roll];
      for (; next < end; next++) {
        const __m256i *row = (const __m256i *)(rows + ((size_t)*next << 6));
        m0 = _mm256_min_epu16(m0, _mm256_loadu_si256(row));
        m1 = _mm256_min_epu16(m1, _mm256_loadu_si256(row + 1));
        m2 = _mm256_min_epu16(m2, _mm256_loadu_si256(row + 2));
        m3 = _mm256_min_epu16(m3, _mm256_loadu_si256(row + 3));
      }
      if (roll == NC_MIXED) {
        l0 = _mm256_add_epi16(l0, l0); l1 = _mm256_add_epi16(l1, l1);
        l2 = _mm256_add_epi16(l2, l2); l3 = _mm256_add_epi16(l3, l3);
        h0 = _mm256_add_epi16(h0, h0); h1 = _mm256_add_epi16(h1, h1);
        h2 = _mm256_add_epi16(h2, h2); h3 = _mm256_add_epi16(h3, h3);
      }
      l0 = _mm256_add_epi16(l0, m0); h0 = _mm256_add_epi16(h0, _mm256_srli_epi16(m0, 8));
      l1 = _mm256_add_epi16(l1, m1); h1 = _mm256_add_epi16(h1, _mm256_srli_epi16(m1, 8));
      l2 = _mm256_add_epi16(l2, m2); h2 = _mm256_add_epi16(h2, _mm256_srli_epi16(m2, 8));
      l3 = _mm256_add_epi16(l3, m3); h3 = _mm256_add_epi16(h3, _mm256_srli_epi16(m3, 8));
    }
    __m256i *out = (__m256i *)block;
    _mm256_storeu_si256(out, nc_finish_u16(l0, h0));
    _mm256_storeu_si256(out + 1, nc_finish_u16(l1, h1));
    _mm256_storeu_si256(out + 2, nc_finish_u16(l2, h2));
    _mm256_storeu_si256(out + 3, nc_finish_u16(l3, h3));
  }
}

/* out[j][i] = in[i][j], 8 x 8, rows of 64. SSE2 is part of x86-64. */
static inline void nc_turn8(const uint16_t *in, uint16_t *out) {
  __m128i r[8], s[8];
  for (int i = 0; i < 8; i++) r[i] = _mm_loadu_si128((const __m128i *)(in + i * NC_LANES));
  for (int i = 0; i < 4; i++) {
    s[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    s[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
  for (int h = 0; h < 2; h++) {                         /* columns 4 h ... 4 h + 3 */
    __m128i a = _mm_unpacklo_epi32(s[h], s[2 + h]), b = _mm_unpackhi_epi32(s[h], s[2 + h]);
    __m128i c = _mm_unpacklo_epi32(s[4 + h], s[6 + h]), d = _mm_unpackhi_epi32(s[4 + h], s[6 + h]);
    uint16_t *to = out + 4 * h * NC_LANES;
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(a, c));
    _mm_storeu_si128((__m128i *)(to + NC_LANES), _mm_unpackhi_epi64(a, c));
    _mm_storeu_si128((__m128i *)(to + 2 * NC_LANES), _mm_unpacklo_epi64(b, d));
    _mm_storeu_si128((__m128i *)(to + 3 * NC_LANES), _mm_unpackhi_epi64(b, d));
  }
}
#else
#define NC_BEAROFF_AVX2 0
static inline void nc_turn8(const uint16_t *in, uint16_t *out) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) out[j * NC_LANES + i] = in[i * NC_LANES + j];
}
#endif

static inline void nc_turn_u16(const uint16_t *in, uint16_t *out) {
  for (int i = 0; i < NC_LANES; i += 8)
    for (int j = 0; j < NC_LANES; j += 8) nc_turn8(in + i * NC_LANES + j, out + j * NC_LANES + i);
}
#define NC_TURN(name, type)                                                                                           \
  static void name(const type *in, type *out) {                                                                       \
    for (int i = 0; i < NC_LANES; i += 8)                                                                             \
      for (int j = 0; j < NC_LANES; j++)                                                                              \
        for (int k = 0; k < 8; k++) out[j * NC_LANES + i + k] = in[(i + k) * NC_LANES + j];                           \
  }
NC_TURN(nc_turn_f32, float)
NC_TURN(nc_turn_f64, double)

enum { NC_U16 = 0, NC_F32 = 1, NC_F64 = 2 };

static void nc_tile(int dtype, int avx2, const nc_program *p, const void *rows, int64_t from, int64_t to, void *block) {
#if NC_BEAROFF_AVX2
  if (avx2) {
    if (dtype == NC_U16) nc_tile_u16_avx2(p, (const uint16_t *)rows, from, to, (uint16_t *)block);
    else if (dtype == NC_F32) nc_tile_f32_avx2(p, (const float *)rows, from, to, (float *)block);
    else nc_tile_f64_avx2(p, (const double *)rows, from, to, (double *)block);
    return;
  }
#endif
  if (dtype == NC_U16) nc_tile_u16_portable(p, (const uint16_t *)rows, from, to, (uint16_t *)block);
  else if (dtype == NC_F32) nc_tile_f32_portable(p, (const float *)rows, from, to, (float *)block);
  else nc_tile_f64_portable(p, (const double *)rows, from, to, (double *)block);
}

/* block[u - from][lane], 64 rows of it allocated -> turned[lane][u - from] */
static void nc_turn(int dtype, const void *block, void *turned) {
  if (dtype == NC_U16) nc_turn_u16((const uint16_t *)block, (uint16_t *)turned);
  else if (dtype == NC_F32) nc_turn_f32((const float *)block, (float *)turned);
  else nc_turn_f64((const double *)block, (double *)turned);
}

/* The value with the right to double, from the value without a double now and the value when the opponent owns the cube:
 * max(held, min(2 given, 1)) as an equity. An equity e is stored as (e + 1) / 2. */
static void nc_double(int dtype, const void *held, const void *given, void *out, int64_t n) {
  int64_t i;
  if (dtype == NC_U16) {
    const uint16_t *h = (const uint16_t *)held, *g = (const uint16_t *)given;
    uint16_t *o = (uint16_t *)out;
    for (i = 0; i < n; i++) {
      int32_t d = 2 * (int32_t)g[i] - 32768;    /* 2 g - 32767.5, cut down */
      d = d > 65535 ? 65535 : d;
      o[i] = (uint16_t)(d > (int32_t)h[i] ? d : h[i]);
    }
  } else if (dtype == NC_F32) {
    const float *h = (const float *)held, *g = (const float *)given;
    float *o = (float *)out;
    for (i = 0; i < n; i++) {
      float d = 2 * g[i] - 0.5f;
      d = d > 1 ? 1 : d;
      o[i] = d > h[i] ? d : h[i];
    }
  } else {
    const double *h = (const double *)held, *g = (const double *)given;
    double *o = (double *)out;
    for (i = 0; i < n; i++) {
      double d = 2 * g[i] - 0.5;
      d = d > 1 ? 1 : d;
      o[i] = d > h[i] ? d : h[i];
    }
  }
}

/* into[k] += from[k], k < n */
static inline void nc_add_rows(double *restrict into, const double *restrict from, int n) {
  for (int k = 0; k < n; k++) into[k] += from[k];
}

/* What threads share. nc_shared_add gives the sum; it and nc_shared_load order what is written before it and read after it. */
#if defined(__GNUC__)
#include <sched.h>
static inline int64_t nc_take(int64_t *counter) { return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }
static inline int64_t nc_shared_add(int64_t *p, int64_t n) { return __atomic_add_fetch(p, n, __ATOMIC_ACQ_REL); }
static inline int64_t nc_shared_load(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void nc_pause(void) { sched_yield(); }
static inline void nc_prefetch(const void *p) { __builtin_prefetch(p); }
#else
#include <intrin.h>
__declspec(dllimport) int __stdcall SwitchToThread(void);
static inline int64_t nc_take(int64_t *counter) { return _InterlockedExchangeAdd64((volatile long long *)counter, 1); }
static inline int64_t nc_shared_add(int64_t *p, int64_t n) {
  return _InterlockedExchangeAdd64((volatile long long *)p, n) + n;
}
static inline int64_t nc_shared_load(const int64_t *p) {
  return _InterlockedCompareExchange64((volatile long long *)p, 0, 0);
}
static inline void nc_pause(void) { SwitchToThread(); }
static inline void nc_prefetch(const void *p) { (void)p; }
#endif

#endif
