/* Small quantised nets over the rows of net_features.h.
 *
 *   acc = b1 + sum of W1[row]            int16, in 1/255; the sums of a checked net do not overflow
 *   a   = clamp(acc, 0, 255)^2 / 512     rounded, 0..127
 *   out = (W2[bucket] . a) * scale + b2  int32 sums, one float multiplication and addition
 *   p   = softmax over the classes that are possible
 *
 * The results of one roll differ little from each other: the sums of the first are made from nothing, and each of the others
 * takes those of the one before, adds and subtracts the rows in which it differs. Additions of integers may be done in any
 * order, so the answer depends on the board alone. Everything in float has one fixed order, the same in both instruction
 * sets, which therefore give the same bits. */
#ifndef NARDCORE_NET_H
#define NARDCORE_NET_H
#include "net_features.h"

enum { NC_MAX_HIDDEN = 512, NC_MAX_KEEP = 64, NC_LANES = 16 };
#define NC_PRUNED 1000.0f               /* what a pruned play's score is lowered by */
#define NC_NEVER (-3.0e38f)             /* below every logit */

typedef struct {
  int32_t set, hidden, buckets;         /* hidden is a multiple of 64 */
  const int16_t *w1, *b1;               /* [rows][hidden], [hidden], at multiples of 32 bytes */
  const int8_t *w2;                     /* [buckets][hidden / 32][10][32], at a multiple of 32 bytes */
  const float *scale, *b2;              /* [buckets][NC_LANES], the last six 0 */
} nc_net;

typedef struct {
  nc_net net[3];                        /* contact, race, prune; hidden is 0 where there is none */
  int32_t keep, full;                   /* 0: no pruning; probabilities instead of scores */
  nc_rules rules;                       /* movement, checkers and what classifies results */
  float points[NC_LANES];               /* of the ten classes, those of losses negative; the last six 0 */
} nc_player;
enum { NC_NET_CONTACT, NC_NET_RACE, NC_NET_PRUNE };

#if defined(__GNUC__)
#define NC_ALIGNED(n) __attribute__((aligned(n)))
#else
#define NC_ALIGNED(n)
#endif

/* The board rated last by a net. */
typedef struct {
  int16_t acc[NC_MAX_HIDDEN] NC_ALIGNED(32);
  uint8_t a[NC_MAX_HIDDEN] NC_ALIGNED(32);
  uint16_t rows[NC_PLAIN + NC_ROOM] NC_ALIGNED(32);     /* its active rows, then zeros; unused by plain sets, */
  nc_board board;                                       /* which need the board alone */
  int known;
} nc_last;

/* ---- the first layer ------------------------------------------------------------------------------------------------
 * nc_begin: acc = b1 + W1[in]. nc_change: acc += W1[in] - W1[out]; a = what they give. Both for n rows each, given by where
 * they start, and 64 * blocks units from `from` on. */
#if defined(__AVX2__) && !defined(NC_PORTABLE)
#define NC_FOR_BLOCK _Pragma("GCC unroll 16") for (int i = 0; i < 4 * blocks; i++)
static inline __attribute__((always_inline)) void nc_change(nc_last *o, const int16_t *w1, const uint32_t *in,
                                                            const uint32_t *out, int n, int from, const int blocks) {
  const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi16(255);
  __m256i v[16];
  NC_FOR_BLOCK v[i] = _mm256_load_si256((const __m256i *)(o->acc + from) + i);
  for (int k = 0; k < n; k++) {
    const __m256i *p = (const __m256i *)(w1 + in[k] + from), *q = (const __m256i *)(w1 + out[k] + from);
    NC_FOR_BLOCK v[i] = _mm256_add_epi16(v[i], _mm256_load_si256(p + i));
    NC_FOR_BLOCK v[i] = _mm256_sub_epi16(v[i], _mm256_load_si256(q + i));
  }
  NC_FOR_BLOCK _mm256_store_si256((__m256i *)(o->acc + from) + i, v[i]);
  NC_FOR_BLOCK {
    v[i] = _mm256_min_epi16(_mm256_max_epi16(v[i], zero), most);
    v[i] = _mm256_mulhrs_epi16(_mm256_slli_epi16(v[i], 6), v[i]);
  }
  for (int i = 0; i < 2 * blocks; i++)
    _mm256_store_si256((__m256i *)(o->a + from) + i,
                       _mm256_permute4x64_epi64(_mm256_packus_epi16(v[2 * i], v[2 * i + 1]), 0xD8));
}
static inline __attribute__((always_inline)) void nc_begin(nc_last *o, const int16_t *b1, const int16_t *w1,
                                                           const uint32_t *in, int n, int from, const int blocks) {
  __m256i v[16];
  NC_FOR_BLOCK v[i] = _mm256_load_si256((const __m256i *)(b1 + from) + i);
  for (int k = 0; k < n; k++) {
    const __m256i *p = (const __m256i *)(w1 + in[k] + from);
    NC_FOR_BLOCK v[i] = _mm256_add_epi16(v[i], _mm256_load_si256(p + i));
  }
  NC_FOR_BLOCK _mm256_store_si256((__m256i *)(o->acc + from) + i, v[i]);
}
#undef NC_FOR_BLOCK
#else
static inline void nc_begin(nc_last *o, const int16_t *b1, const int16_t *w1, const uint32_t *in, int n, int from, int blocks) {
  for (int i = from; i < from + 64 * blocks; i++) o->acc[i] = b1[i];
  for (int k = 0; k < n; k++)
    for (int i = from; i < from + 64 * blocks; i++) o->acc[i] = (int16_t)((uint16_t)o->acc[i] + (uint16_t)w1[in[k] + i]);
}
static inline void nc_change(nc_last *o, const int16_t *w1, const uint32_t *in, const uint32_t *out, int n, int from,
                             int blocks) {
  for (int k = 0; k < n; k++)
    for (int i = from; i < from + 64 * blocks; i++)
      o->acc[i] = (int16_t)((uint16_t)o->acc[i] + (uint16_t)w1[in[k] + i] - (uint16_t)w1[out[k] + i]);
  for (int i = from; i < from + 64 * blocks; i++) {
    int32_t c = o->acc[i] < 0 ? 0 : o->acc[i] > 255 ? 255 : o->acc[i];
    o->a[i] = (uint8_t)((c * c + 256) >> 9);
  }
}
#endif

/* Make `o` the rated board b, and give its bucket. */
static inline int nc_move_to(const nc_net *net, nc_last *o, const nc_board *b) {
  const int8_t *now = (const int8_t *)b, *before = (const int8_t *)&o->board;
  const uint32_t hidden = (uint32_t)net->hidden;
  const int experts = nc_sets[net->set].experts;
  uint32_t in[NC_MAX_ACTIVE], out[NC_MAX_ACTIVE];
  uint16_t rows[NC_PLAIN + NC_ROOM] NC_ALIGNED(32);
  int n = 0, k, bucket = 0, from = 0;
  if (experts) bucket = nc_features(net->set, b, rows);
  if (!o->known) {
    if (!experts)
      for (k = 0; k < NC_PLAIN; k++) rows[k] = (uint16_t)nc_plain_row(now, k);
    for (k = 0; k < NC_PLAIN + experts; k++) in[k] = rows[k] * hidden;
    for (; from + 256 <= net->hidden; from += 256) nc_begin(o, net->b1, net->w1, in, NC_PLAIN + experts, from, 4);
    for (; from < net->hidden; from += 64) nc_begin(o, net->b1, net->w1, in, NC_PLAIN + experts, from, 1);
    from = 0;
    o->known = 1;
  } else if (experts) {
    uint64_t m = 0;
#if defined(__AVX2__) && !defined(NC_PORTABLE)
    for (k = 0; k < 2; k++) {
      __m256i x = _mm256_cmpeq_epi16(nc_load(rows + 32 * k), nc_load(o->rows + 32 * k));
      __m256i y = _mm256_cmpeq_epi16(nc_load(rows + 32 * k + 16), nc_load(o->rows + 32 * k + 16));
      x = _mm256_permute4x64_epi64(_mm256_packs_epi16(x, y), 0xD8);
      m |= (uint64_t)~(uint32_t)_mm256_movemask_epi8(x) << 32 * k;
    }
#else
    for (k = 0; k < NC_MAX_ACTIVE; k++) m |= (uint64_t)(rows[k] != o->rows[k]) << k;
#endif
    while (m) {
      k = __builtin_ctzll(m);
      m &= m - 1;
      in[n] = rows[k] * hidden;
      out[n++] = o->rows[k] * hidden;
    }
  } else {
    uint32_t m = nc_differs(nc_load(b), nc_load(&o->board)) & ((1u << NC_PLAIN) - 1);
    while (m) {
      k = nc_lowest(m);
      m &= m - 1;
      in[n] = (uint32_t)nc_plain_row(now, k) * hidden;
      out[n++] = (uint32_t)nc_plain_row(before, k) * hidden;
    }
  }
  if (experts)
    for (k = 0; k < NC_MAX_ACTIVE; k += 16) nc_store(o->rows + k, nc_load(rows + k));
  else nc_store(&o->board, nc_load(b));
  for (; from + 256 <= net->hidden; from += 256) nc_change(o, net->w1, in, out, n, from, 4);
  for (; from + 128 <= net->hidden; from += 128) nc_change(o, net->w1, in, out, n, from, 2);
  if (from < net->hidden) nc_change(o, net->w1, in, out, n, from, 1);
  return bucket;
}

/* ---- the last layer -------------------------------------------------------------------------------------------------- */
static inline void nc_logits(const nc_net *net, const nc_last *o, int bucket, float *logits) {
  const int8_t *w = net->w2 + (size_t)bucket * NC_CLASSES * (size_t)net->hidden;
  const float *scale = net->scale + NC_LANES * bucket, *b2 = net->b2 + NC_LANES * bucket;
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i s[NC_CLASSES], x, y;
  for (int k = 0; k < NC_CLASSES; k++) s[k] = _mm256_setzero_si256();
  for (int c = 0; c < net->hidden; c += 32, w += 32 * NC_CLASSES) {
    __m256i a = _mm256_load_si256((const __m256i *)(o->a + c));
    for (int k = 0; k < NC_CLASSES; k++)
      s[k] = _mm256_add_epi32(s[k], _mm256_madd_epi16(
               _mm256_maddubs_epi16(a, _mm256_load_si256((const __m256i *)w + k)), ones));
  }
  x = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
  y = _mm256_hadd_epi32(_mm256_hadd_epi32(s[4], s[5]), _mm256_hadd_epi32(s[6], s[7]));
  x = _mm256_add_epi32(_mm256_permute2x128_si256(x, y, 0x20), _mm256_permute2x128_si256(x, y, 0x31));
  _mm256_store_ps(logits, _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(x), _mm256_loadu_ps(scale)), _mm256_loadu_ps(b2)));
  y = _mm256_hadd_epi32(s[8], s[9]);
  y = _mm256_hadd_epi32(y, _mm256_setzero_si256());
  y = _mm256_add_epi32(y, _mm256_permute2x128_si256(y, y, 0x81));
  _mm256_store_ps(logits + 8,
                  _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(y), _mm256_loadu_ps(scale + 8)), _mm256_loadu_ps(b2 + 8)));
#else
  int32_t sum[NC_LANES] = {0};
  for (int c = 0; c < net->hidden; c += 32, w += 32 * NC_CLASSES)
    for (int k = 0; k < NC_CLASSES; k++)
      for (int i = 0; i < 32; i++) sum[k] += o->a[c + i] * w[32 * k + i];
  for (int k = 0; k < NC_LANES; k++) logits[k] = (float)sum[k] * scale[k] + b2[k];
#endif
}

/* e^x for x <= 0, to a few units of the last place; below -87 as at -87 */
#if defined(__AVX2__) && !defined(NC_PORTABLE)
static inline __m256 nc_exp8(__m256 x) {
  __m256 k, y;
  __m256i n;
#define NC_STEP(c) y = _mm256_add_ps(_mm256_mul_ps(y, x), _mm256_set1_ps(c))
  x = _mm256_max_ps(x, _mm256_set1_ps(-87.0f));
  n = _mm256_cvttps_epi32(_mm256_sub_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _mm256_set1_ps(0.5f)));
  k = _mm256_cvtepi32_ps(n);
  x = _mm256_sub_ps(_mm256_sub_ps(x, _mm256_mul_ps(k, _mm256_set1_ps(0.693359375f))),
                    _mm256_mul_ps(k, _mm256_set1_ps(-2.12194440e-4f)));
  y = _mm256_set1_ps(1.9875691500e-4f);
  NC_STEP(1.3981999507e-3f);
  NC_STEP(8.3334519073e-3f);
  NC_STEP(4.1665795894e-2f);
  NC_STEP(1.6666665459e-1f);
  NC_STEP(5.0000001201e-1f);
#undef NC_STEP
  y = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(y, _mm256_mul_ps(x, x)), x), _mm256_set1_ps(1.0f));
  return _mm256_mul_ps(y, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23)));
}
static inline float nc_total(__m256 x, __m256 y) {
  __m128 s;
  x = _mm256_add_ps(x, y);
  s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
#else
static inline float nc_exp(float x) {
  union { uint32_t u; float f; } power;
  float k, y;
  int32_t n;
  x = x > -87.0f ? x : -87.0f;
  n = (int32_t)(x * 1.44269504f - 0.5f);
  k = (float)n;
  x = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  y = 1.9875691500e-4f;
  y = y * x + 1.3981999507e-3f;
  y = y * x + 8.3334519073e-3f;
  y = y * x + 4.1665795894e-2f;
  y = y * x + 1.6666665459e-1f;
  y = y * x + 5.0000001201e-1f;
  y = y * (x * x) + x + 1.0f;
  power.u = (uint32_t)(n + 127) << 23;
  return y * power.f;
}
static inline float nc_total(const float *x) {
  float s[8];
  for (int i = 0; i < 8; i++) s[i] = x[i] + x[i + 8];
  for (int i = 0; i < 4; i++) s[i] += s[i + 4];
  return (s[0] + s[2]) + (s[1] + s[3]);
}
#endif

/* Softmax over the classes of a mask, one at least; then the equity to *out, or ten probabilities if full. */
static inline void nc_answer(const nc_player *player, const float *logits, uint32_t possible, int full, float *out) {
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), mask = _mm256_set1_epi32((int)possible);
  const __m256i high = _mm256_slli_epi32(bits, 8);
  const __m256 may = _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits));
  const __m256 may2 = _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(mask, high), high));
  const __m256 never = _mm256_set1_ps(NC_NEVER);
  __m256 x = _mm256_blendv_ps(never, _mm256_load_ps(logits), may);
  __m256 y = _mm256_blendv_ps(never, _mm256_load_ps(logits + 8), may2);
  __m256 top = _mm256_max_ps(x, y);
  float sum;
  top = _mm256_max_ps(top, _mm256_permute2f128_ps(top, top, 1));
  top = _mm256_max_ps(top, _mm256_shuffle_ps(top, top, 0x4E));
  top = _mm256_max_ps(top, _mm256_shuffle_ps(top, top, 0xB1));
  x = _mm256_and_ps(nc_exp8(_mm256_sub_ps(x, top)), may);
  y = _mm256_and_ps(nc_exp8(_mm256_sub_ps(y, top)), may2);
  sum = nc_total(x, y);
  if (full) {
    float p[NC_LANES] NC_ALIGNED(32);
    __m256 s = _mm256_set1_ps(sum);
    _mm256_store_ps(p, _mm256_div_ps(x, s));
    _mm256_store_ps(p + 8, _mm256_div_ps(y, s));
    memcpy(out, p, NC_CLASSES * sizeof *out);
  } else {
    x = _mm256_mul_ps(x, _mm256_loadu_ps(player->points));
    y = _mm256_mul_ps(y, _mm256_loadu_ps(player->points + 8));
    *out = nc_total(x, y) / sum;
  }
#else
  float e[NC_LANES], w[NC_LANES], top = NC_NEVER, sum;
  for (int k = 0; k < NC_LANES; k++) {
    e[k] = possible >> k & 1 ? logits[k] : NC_NEVER;
    top = e[k] > top ? e[k] : top;
  }
  for (int k = 0; k < NC_LANES; k++) e[k] = possible >> k & 1 ? nc_exp(e[k] - top) : 0.0f;
  sum = nc_total(e);
  if (full) {
    for (int k = 0; k < NC_CLASSES; k++) out[k] = e[k] / sum;
  } else {
    for (int k = 0; k < NC_LANES; k++) w[k] = e[k] * player->points[k];
    *out = nc_total(w) / sum;
  }
#endif
}

/* ---- the evaluator ---------------------------------------------------------------------------------------------------- */
static inline void nc_rate(const nc_player *player, const nc_net *net, nc_last *o, const nc_board *b, int race, int full,
                           float *out) {
  float logits[NC_LANES] NC_ALIGNED(32);
  int bucket = nc_move_to(net, o, b);
  nc_logits(net, o, bucket, logits);
  nc_answer(player, logits, nc_possible(&player->rules, b, race), full, out);
}

/* The evaluator's function; state is a nc_player. The boards need not come from one parent, which is looked at only to see
 * whether to prune: not in a race. */
static int nc_evaluate_net(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  const nc_player *player = (const nc_player *)state;
  const int movement = player->rules.movement;
  const nc_net *prune = &player->net[NC_NET_PRUNE];
  nc_last last[2];
  int32_t kept[NC_MAX_KEEP], i, k, count = 0, keep = player->full ? 0 : player->keep;
  last[0].known = last[1].known = 0;
  if (!keep || n <= keep || !prune->hidden || nc_is_race(movement, parent)) {
    for (i = 0; i < n; i++) {
      int race = nc_is_race(movement, &after[i]);
      nc_rate(player, &player->net[race], &last[race], &after[i], race, player->full,
              out + (player->full ? (size_t)i * NC_CLASSES : (size_t)i));
    }
    return 0;
  }
  for (i = 0; i < n; i++) {
    nc_rate(player, prune, &last[0], &after[i], nc_is_race(movement, &after[i]), 0, &out[i]);
    out[i] -= NC_PRUNED;
    if (count == keep && !(out[i] > out[kept[count - 1]])) continue;
    k = count < keep ? count++ : count - 1;
    for (; k > 0 && out[i] > out[kept[k - 1]]; k--) kept[k] = kept[k - 1];
    kept[k] = i;
  }
  last[0].known = 0;
  for (i = 1; i < count; i++) {         /* in the order of the plays, of which neighbours differ little */
    int32_t x = kept[i];
    for (k = i; k > 0 && kept[k - 1] > x; k--) kept[k] = kept[k - 1];
    kept[k] = x;
  }
  for (k = 0; k < count; k++) {
    const nc_board *b = &after[kept[k]];
    int race = nc_is_race(movement, b);
    nc_rate(player, &player->net[race], &last[race], b, race, 0, &out[kept[k]]);
  }
  return 0;
}

/* nc_kernels: rows [n][active], buckets [n] */
static void nc_features_of(int set, const nc_board *b, int64_t n, uint16_t *rows, uint8_t *buckets) {
  for (int64_t i = 0; i < n; i++) buckets[i] = (uint8_t)nc_features_to(set, &b[i], rows + i * nc_layouts[set].active);
}
static void nc_possible_of(const nc_rules *rules, const nc_board *b, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; i++) {
    uint32_t m = nc_possible(rules, &b[i], nc_is_race(rules->movement, &b[i]));
    for (int k = 0; k < NC_CLASSES; k++) out[i * NC_CLASSES + k] = m >> k & 1;
  }
}

#endif
