/* Small quantised nets over the rows of net_features.h.
 *
 *   acc = b1 + sum of W1[row]            int16, in 1/255; the sums of a checked net do not overflow
 *   a   = clamp(acc, 0, 255)^2 >> 9      0..127
 *   out = (W2[bucket] . a) * scale + b2  int32 sums, one float multiplication and addition
 *   p   = softmax over the classes that are possible
 *
 * The results of one roll differ little from the position before it: the sums of that position are made once, and a result
 * adds and subtracts the rows in which it differs. int16 additions may be done in any order, so the answer depends on the
 * result alone. Everything in float has one fixed order: both instruction sets give the same bits. */
#ifndef NARDCORE_NET_H
#define NARDCORE_NET_H
#include "net_features.h"

enum { NC_MAX_HIDDEN = 512, NC_MAX_KEEP = 64 };
#define NC_PRUNED 1000.0f               /* what a pruned play's score is lowered by */

typedef struct {
  int32_t set, hidden, buckets;         /* hidden is a multiple of 64 */
  const int16_t *w1, *b1;               /* [rows][hidden], [hidden] */
  const int8_t *w2;                     /* [buckets][10][hidden] */
  const float *scale, *b2;              /* [buckets][10] */
} nc_net;

typedef struct {
  nc_net net[3];                        /* contact, race, prune; hidden is 0 where there is none */
  int32_t keep, full;                   /* 0: no pruning; probabilities instead of scores */
  nc_rules rules;                       /* movement, checkers and what classifies results */
  float points[5];
} nc_player;
enum { NC_NET_CONTACT, NC_NET_RACE, NC_NET_PRUNE };

typedef struct {
  int known;
  uint16_t rows[NC_MAX_ACTIVE];
  int16_t acc[NC_MAX_HIDDEN];
} nc_base;

/* e^x for x <= 0, to a few units of the last place; below -87 as at -87 */
static inline float nc_exp(float x) {
  union { uint32_t u; float f; } power;
  float k, y;
  int32_t n;
  x = x < -87.0f ? -87.0f : x;
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

static inline void nc_add_row(int16_t *acc, const int16_t *row, int hidden) {
  for (int i = 0; i < hidden; i++) acc[i] = (int16_t)((uint16_t)acc[i] + (uint16_t)row[i]);
}
static inline void nc_take_row(int16_t *acc, const int16_t *row, int hidden) {
  for (int i = 0; i < hidden; i++) acc[i] = (int16_t)((uint16_t)acc[i] - (uint16_t)row[i]);
}

static inline void nc_begin(const nc_net *net, const nc_board *b, nc_base *base) {
  int active = nc_layouts[net->set].active;
  nc_features(net->set, b, base->rows);
  memcpy(base->acc, net->b1, net->hidden * sizeof *net->b1);
  for (int i = 0; i < active; i++) nc_add_row(base->acc, net->w1 + (size_t)base->rows[i] * net->hidden, net->hidden);
  base->known = 1;
}

static inline void nc_logits(const nc_net *net, const int16_t *acc, int bucket, float *logits) {
  uint8_t a[NC_MAX_HIDDEN];
  for (int i = 0; i < net->hidden; i++) {
    int32_t c = acc[i] < 0 ? 0 : acc[i] > 255 ? 255 : acc[i];
    a[i] = (uint8_t)(c * c >> 9);
  }
  for (int k = 0; k < NC_CLASSES; k++) {
    const int8_t *w = net->w2 + ((size_t)bucket * NC_CLASSES + k) * net->hidden;
    int32_t sum = 0;
    for (int i = 0; i < net->hidden; i++) sum += a[i] * w[i];
    logits[k] = (float)sum * net->scale[bucket * NC_CLASSES + k] + net->b2[bucket * NC_CLASSES + k];
  }
}

/* Rate a result by a net; base is of the position before. */
static inline void nc_rate(const nc_net *net, const nc_base *base, const nc_board *b, float *logits) {
  int16_t acc[NC_MAX_HIDDEN];
  uint16_t rows[NC_MAX_ACTIVE];
  int active = nc_layouts[net->set].active, bucket = nc_features(net->set, b, rows);
  memcpy(acc, base->acc, net->hidden * sizeof *acc);
  for (int i = 0; i < active; i++)
    if (rows[i] != base->rows[i]) {
      nc_add_row(acc, net->w1 + (size_t)rows[i] * net->hidden, net->hidden);
      nc_take_row(acc, net->w1 + (size_t)base->rows[i] * net->hidden, net->hidden);
    }
  nc_logits(net, acc, bucket, logits);
}

/* Logits to probabilities in place, over the classes of the mask (one at least). */
static inline void nc_softmax(float *x, uint32_t possible) {
  float top = -3.0e38f, e[16], sum;
  for (int k = 0; k < NC_CLASSES; k++) {
    e[k] = possible >> k & 1 ? x[k] : -3.0e38f;
    top = e[k] > top ? e[k] : top;
  }
  for (int k = 0; k < NC_CLASSES; k++) e[k] = nc_exp(e[k] - top);
  for (int k = 0; k < NC_CLASSES; k++) e[k] = possible >> k & 1 ? e[k] : 0.0f;
  sum = ((e[0] + e[1]) + (e[2] + e[3])) + ((e[4] + e[5]) + (e[6] + e[7])) + (e[8] + e[9]);
  for (int k = 0; k < NC_CLASSES; k++) x[k] = e[k] / sum;
}

static inline float nc_score(const float *p, const float *points) {
  float s = 0;
  for (int k = 0; k < 5; k++) s += points[k] * (p[k] - p[5 + k]);
  return s;
}

static inline void nc_rate_to(const nc_player *player, const nc_net *net, const nc_base *base, const nc_board *b, int race,
                              int full, float *out) {
  float p[NC_CLASSES];
  nc_rate(net, base, b, p);
  nc_softmax(p, nc_possible(&player->rules, b, race));
  if (full) memcpy(out, p, sizeof p);
  else *out = nc_score(p, player->points);
}

/* The evaluator's function; state is a nc_player. */
static int nc_evaluate_net(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  const nc_player *player = (const nc_player *)state;
  const int movement = player->rules.movement;
  const nc_net *prune = &player->net[NC_NET_PRUNE];
  nc_base base[3];
  int32_t kept[NC_MAX_KEEP], i, k, count = 0, keep = player->full ? 0 : player->keep;
  base[0].known = base[1].known = base[2].known = 0;
  if (keep && n > keep && prune->hidden && !nc_is_race(movement, parent)) {
    nc_begin(prune, parent, &base[NC_NET_PRUNE]);
    for (i = 0; i < n; i++) {
      float s;
      nc_rate_to(player, prune, &base[NC_NET_PRUNE], &after[i], nc_is_race(movement, &after[i]), 0, &s);
      out[i] = s - NC_PRUNED;
      if (count == keep && s - NC_PRUNED <= out[kept[count - 1]]) continue;
      k = count < keep ? count++ : count - 1;
      for (; k > 0 && out[i] > out[kept[k - 1]]; k--) kept[k] = kept[k - 1];
      kept[k] = i;
    }
  } else {
    keep = 0;
    count = n;
  }
  for (k = 0; k < count; k++) {
    int race, which;
    i = keep ? kept[k] : k;
    race = nc_is_race(movement, &after[i]);
    which = race ? NC_NET_RACE : NC_NET_CONTACT;
    if (!base[which].known) nc_begin(&player->net[which], parent, &base[which]);
    nc_rate_to(player, &player->net[which], &base[which], &after[i], race, player->full,
               player->full ? out + (size_t)i * NC_CLASSES : out + i);
  }
  return 0;
}

/* nc_kernels: rows [n][active], buckets [n] */
static void nc_features_of(int set, const nc_board *b, int64_t n, uint16_t *rows, uint8_t *buckets) {
  for (int64_t i = 0; i < n; i++) buckets[i] = (uint8_t)nc_features(set, &b[i], rows + i * nc_layouts[set].active);
}
static void nc_possible_of(const nc_rules *rules, const nc_board *b, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; i++) {
    uint32_t m = nc_possible(rules, &b[i], nc_is_race(rules->movement, &b[i]));
    for (int k = 0; k < NC_CLASSES; k++) out[i * NC_CLASSES + k] = m >> k & 1;
  }
}

#endif
