/* What a net sees of a board: rows of its first layer, one of each group, and the output bucket.
 *
 * The side that has just moved is "me"; the opponent is to roll. In every set the first 28 groups are the bytes of the
 * board, row = byte * 32 + value + 16 (0..895); expert groups follow, whose rows are computed from bit masks. A group has
 * exactly one active row, so a set has a fixed number of them. The last row of a set belongs to no group and is never
 * active: trainers pad with it. Everything here is integers: both instruction sets give the same rows.
 *
 * An index that leaves its group is cut to the group's last row: no board, however odd, names a row of another group. */
#ifndef NARDCORE_NET_FEATURES_H
#define NARDCORE_NET_FEATURES_H
#include "simd.h"

enum { NC_SET_POINTS_SHORT, NC_SET_POINTS_LONG, NC_SET_CONTACT_SHORT, NC_SET_RACE_SHORT, NC_SET_CONTACT_LONG, NC_SET_RACE_LONG,
       NC_SETS };
enum { NC_PLAIN = 28, NC_PLAIN_ROWS = 896, NC_MAX_EXPERTS = 36, NC_MAX_ACTIVE = NC_PLAIN + NC_MAX_EXPERTS,
       NC_ROOM = 48 };                  /* places for expert rows, in whole vectors */

#define NC_ALL_POINTS 0xFFFFFFu

/* ---- one side's view of a board -----------------------------------------------------------------------------------
 * Bit i is the side's own point i + 1; it travels towards bit 0. */
typedef struct {
  uint32_t own, blots, enemy, single;   /* own points; with one checker; the enemy's; with one checker */
  int bar, enemy_bar, off;
  int rear, second;                     /* the last checker's place, point - 1 (24: bar), the last but one's; -1: none */
  int next;                             /* the last but one of the occupied places */
  int sum[4];
} nc_view;

/* Four sums over the checkers of the mover of this view, its bar at 24, by weight of the point. */
typedef struct { int8_t w[4][32]; } nc_weights4;

static inline void nc_weigh(const nc_board *b, const nc_weights4 *by, int *out) {
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i v = _mm256_max_epi8(nc_load(b), _mm256_setzero_si256()), s[4];
  for (int i = 0; i < 4; i++) s[i] = _mm256_madd_epi16(_mm256_maddubs_epi16(v, nc_load(by->w[i])), ones);
  v = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
  _mm_storeu_si128((__m128i *)out, _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
#else
  const int8_t *p = (const int8_t *)b;
  for (int i = 0; i < 4; i++) {
    out[i] = 0;
    for (int k = 0; k < 25; k++) out[i] += (p[k] > 0 ? p[k] : 0) * by->w[i][k];
  }
#endif
}

/* Checkers of the mover of this view on its point `from` + 1 and behind, the bar too; from is 0..25. */
static inline int nc_checkers_from(const nc_board *b, int from) {
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  static const int8_t window[64] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1};
  const __m256i places = _mm256_setr_epi64x(-1, -1, -1, 0xFF);
  __m256i v = _mm256_max_epi8(_mm256_and_si256(nc_load(b), places), _mm256_setzero_si256());
  v = _mm256_sad_epu8(_mm256_and_si256(v, nc_load(window + 32 - from)), _mm256_setzero_si256());
  __m128i s = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return _mm_cvtsi128_si32(s) + _mm_extract_epi16(s, 4);
#else
  const int8_t *p = (const int8_t *)b;
  int n = 0;
  for (int i = from; i < 25; i++) n += p[i] > 0 ? p[i] : 0;
  return n;
#endif
}

static inline void nc_look(const nc_board *b, const nc_weights4 *by, nc_view *o) {
  nc_vec v = nc_load(b);
  uint32_t left;
  o->own = nc_positive(v) & NC_ALL_POINTS;
  o->enemy = nc_negative(v) & NC_ALL_POINTS;
  o->blots = nc_equals(v, 1) & NC_ALL_POINTS;
  o->single = nc_equals(v, -1) & NC_ALL_POINTS;
  o->bar = b->bar[0] > 0 ? b->bar[0] : 0;
  o->enemy_bar = b->bar[1] > 0 ? b->bar[1] : 0;
  o->off = b->off[0] > 0 ? b->off[0] : 0;
  left = o->own << 1 | (uint32_t)(o->bar > 0) << 25 | 1;     /* bit 0: there is none */
  o->rear = nc_highest(left) - 1;
  left = (left & ~(2u << o->rear)) | 1;
  o->next = nc_highest(left) - 1;
  left |= (uint32_t)(o->bar > 1) << 25 | (o->own & ~o->blots) << 1;
  o->second = nc_highest(left) - 1;
  nc_weigh(b, by, o->sum);
}

/* the w points next before place r (0..24) on the way, the nearest in the highest bit; beyond the last all are clear */
static inline uint32_t nc_ahead(uint32_t points, int r, int w) {
  return r < 0 ? 0 : (uint32_t)((uint64_t)points << w >> r) & ((1u << w) - 1);
}

/* The length of the longest run of set bits, at most 7; *starts has the lowest bits of the runs of this length. */
static inline int nc_longest_run(uint32_t m, uint32_t *starts) {
  uint32_t runs[8];                     /* by length: no branches that are hard to foresee */
  int n = 0;
  runs[0] = 0;
  for (int i = 1; i < 8; i++) {
    runs[i] = m;
    n += m != 0;
    m &= m >> 1;
  }
  *starts = runs[n];
  return n;
}

static inline int nc_least(int a, int b) { return a < b ? a : b; }
static inline int nc_within(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* ---- shots -------------------------------------------------------------------------------------------------------
 * Of the 36 rolls, those with which the mover of this view can hit at least one blot: by one die, by both with one checker over
 * an open point, by up to four steps of a double; a checker on the bar enters first, and with two there nothing else moves
 * (in a double, those on the bar take their steps). Rule 12 is not looked at: a hit that would leave a die unplayed counts.
 * *blots is the set of blots that some roll hits. */
static inline int nc_shots(const nc_view *o, uint32_t *blots) {
  static const uint32_t first[16] = {2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 6, 0};
  static const uint32_t other[16] = {1, 1, 2, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 5, 0};
  static const uint32_t twice[8] = {1, 2, 3, 4, 5, 6, 31, 31};
  const uint32_t open = NC_ALL_POINTS & ~(o->enemy & ~o->single), target = o->single, bar = 1u << 24;
  const uint32_t from = o->bar ? bar : o->own;              /* of the first step */
  const uint32_t rest = o->bar == 1 ? o->own : 0;           /* who may step once the bar is empty */
  const uint32_t goes_on = o->bar > 1 ? 0 : ~0u;
  uint32_t any = 0, count = 0;
  if (!target || !(o->own | (o->bar ? bar : 0))) {
    *blots = 0;
    return 0;
  }
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  const __m256i zero = _mm256_setzero_si256(), f = _mm256_set1_epi32((int)from), m = _mm256_set1_epi32((int)open);
  const __m256i t = _mm256_set1_epi32((int)target), r = _mm256_set1_epi32((int)rest), g = _mm256_set1_epi32((int)goes_on);
  __m256i hits = zero, d, now, hit;
  for (int i = 0; i < 2; i++) {
    __m256i a = nc_load(first + 8 * i), c = nc_load(other + 8 * i);
    __m256i one = _mm256_and_si256(_mm256_srlv_epi32(f, a), m), two = _mm256_and_si256(_mm256_srlv_epi32(f, c), m);
    hit = _mm256_or_si256(one, two);
    one = _mm256_or_si256(_mm256_and_si256(one, g), _mm256_andnot_si256(_mm256_cmpeq_epi32(one, zero), r));
    two = _mm256_or_si256(_mm256_and_si256(two, g), _mm256_andnot_si256(_mm256_cmpeq_epi32(two, zero), r));
    hit = _mm256_or_si256(hit, _mm256_or_si256(_mm256_srlv_epi32(one, c), _mm256_srlv_epi32(two, a)));
    hit = _mm256_andnot_si256(_mm256_cmpeq_epi32(a, zero), _mm256_and_si256(hit, t));
    hits = _mm256_or_si256(hits, hit);
    count += 16 - 2 * (uint32_t)nc_bits((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(hit, zero))));
  }
  d = nc_load(twice);
  hit = zero;
  now = _mm256_set1_epi32((int)o->own);
  if (o->bar) {
    hit = _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32((int)bar), d), m);
    now = _mm256_andnot_si256(_mm256_cmpeq_epi32(hit, zero), _mm256_or_si256(now, hit));
  }
  for (int k = o->bar; k < 4; k++) {
    now = _mm256_and_si256(_mm256_srlv_epi32(now, d), m);
    hit = _mm256_or_si256(hit, now);
  }
  hit = _mm256_and_si256(hit, t);
  hits = _mm256_or_si256(hits, hit);
  count += 8 - (uint32_t)nc_bits((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(hit, zero))));
  {
    __m128i h = _mm_or_si128(_mm256_castsi256_si128(hits), _mm256_extracti128_si256(hits, 1));
    h = _mm_or_si128(h, _mm_shuffle_epi32(h, 0x4E));
    any = (uint32_t)_mm_cvtsi128_si32(_mm_or_si128(h, _mm_shuffle_epi32(h, 0xB1)));
  }
#else
  for (int i = 0; i < 16; i++) {
    uint32_t a = first[i], c = other[i], one = from >> a & open, two = from >> c & open;
    uint32_t hit = one | two | ((one & goes_on) | (one ? rest : 0)) >> c | ((two & goes_on) | (two ? rest : 0)) >> a;
    hit &= a ? target : 0;
    any |= hit;
    count += hit ? 2 : 0;
  }
  for (int i = 0; i < 8; i++) {
    uint32_t d = twice[i], entered = bar >> d & open, now = o->bar ? (entered ? o->own | entered : 0) : o->own;
    uint32_t hit = o->bar ? entered : 0;
    for (int k = 0; k < 4; k++) {
      now = k + o->bar < 4 ? now >> d & open : 0;
      hit |= now;
    }
    hit &= target;
    any |= hit;
    count += hit ? 1 : 0;
  }
#endif
  *blots = any;
  return (int)count;
}

/* How many of the 36 rolls take a single checker 7 points on or farther, its stops on points that are not closed, by the mask
 * of the closed ones among the next 12 (the nearest is bit 11). Filled once by nc_fill_escapes. */
typedef struct { uint8_t by[4096]; } nc_escapes_table;

static inline void nc_fill_escapes(nc_escapes_table *t) {
  for (int m = 0; m < 4096; m++) {
    int n = 0;
#define NC_IS_OPEN(k) ((k) > 12 || !(m >> (12 - (k)) & 1))
    for (int a = 1; a <= 6; a++) {
      int at = 0, k;
      for (int c = 1; c < a; c++)
        if (a + c >= 7 && NC_IS_OPEN(a + c) && (NC_IS_OPEN(a) || NC_IS_OPEN(c))) n += 2;
      for (k = 1; k <= 4 && NC_IS_OPEN(a * k); k++) at = a * k;
      n += at >= 7;
    }
#undef NC_IS_OPEN
    t->by[m] = (uint8_t)n;
  }
}

/* Places -1..24 in 14 steps: up to point 12, each point of 13..24, the bar. */
static const uint8_t nc_back_step[26] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
/* in 4: up to point 12, 13..18, 19..21, beyond */
static const uint8_t nc_back_zone[26] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3};
/* that many rolls, of which there are at most 23, in nine steps */
static inline int nc_nine_steps(int rolls) { return (rolls + 2) / 3; }

/* ---- the sets ----------------------------------------------------------------------------------------------------- */
typedef struct {
  const char *name;
  int8_t movement, experts, buckets;
  uint16_t size[NC_MAX_EXPERTS];        /* rows of each expert group */
} nc_set;

#define NC_PAIR(n) n, n                 /* a group of mine and the same of the opponent */
static const nc_set nc_sets[NC_SETS] = {
  {"points_short", NC_SHORT, 0, 1, {0}},
  {"points_long", NC_LONG, 0, 1, {0}},
  {"contact_short", NC_SHORT, 30, 9,
   {NC_PAIR(56),        /* 0 pips / 4 */
    81, 26,             /* 2 lead in pips / 2, from +-80; contact left: by how many points the last checkers overlap */
    NC_PAIR(259),       /* 4 shots of this side, 37, by points held in its home, 7 */
    NC_PAIR(75),        /* 6 its blots that can be hit: the farthest on, 25, and how many, 3 */
    NC_PAIR(126),       /* 8 escapes of the last checker, 9, by where it stands, 14 */
    NC_PAIR(36),        /* 10 escapes of the next place, 9, by where it is, 4 */
    NC_PAIR(128),       /* 12 closed points among the 7 before its last checker */
    NC_PAIR(56),        /* 14 its longest run before the opponent's last checker, 8, by the distance between, 7 */
    NC_PAIR(256),       /* 16 its checkers on the bar, 4, by the points held against them, 64 */
    NC_PAIR(195),       /* 18 its last checker and its last but one */
    NC_PAIR(84),        /* 20 points held at home, 7, blots there, 4, the opponent's checkers on the bar, 3 */
    NC_PAIR(32),        /* 22 mobility: steps open to it, over the six dice, / 2 */
    NC_PAIR(24),        /* 24 pips to spare: on its points 7..18, down to 6, / 4 */
    NC_PAIR(208),       /* 26 checkers that have to pass the opponent's last one, 16, by contact left / 2, 13 */
    NC_PAIR(64)}},      /* 28 points it holds in the opponent's home */
  {"race_short", NC_SHORT, 14, 4,
   {121, 820,           /* 0 lead in pips; lead / 2, 41, by its pips / 8, 20 */
    NC_PAIR(192),       /* 2 pips */
    NC_PAIR(400),       /* 4 checkers left, 16, by pips / 4, 25 */
    NC_PAIR(32),        /* 6 crossovers */
    NC_PAIR(16),        /* 8 checkers outside home */
    NC_PAIR(64),        /* 10 points of the home that are taken */
    NC_PAIR(81)}},      /* 12 pips that the outside checkers need, while none is off */
  {"contact_long", NC_LONG, 36, 9,
   {65, 64,             /* 0 lead in pips / 4, from +-128; checkers on both heads, / 2 */
    NC_PAIR(61),        /* 2 pips / 6 */
    NC_PAIR(84),        /* 4 the longest run before this side's last checker, 7, by its place / 2, 12 */
    NC_PAIR(98),        /* 6 the same by the distance, 14 */
    NC_PAIR(256),       /* 8 closed points among the 7 before its last checker, 128; is that on the head? */
    NC_PAIR(128),       /* 10 the same before the next occupied point */
    NC_PAIR(108),       /* 12 escapes of the last checker, 9, by its place / 2, 12 */
    NC_PAIR(46),        /* 14 mobility: steps open to it, over the six dice, / 2 */
    NC_PAIR(64),        /* 16 dice that some checker can play */
    NC_PAIR(64),        /* 18 dice that checkers of two points can play */
    NC_PAIR(64),        /* 20 points it holds of 19..24 */
    NC_PAIR(64),        /* 22 of 13..18 */
    NC_PAIR(64),        /* 24 of 7..12 */
    NC_PAIR(64),        /* 26 of 1..6 */
    NC_PAIR(256),       /* 28 its checkers on 13..24 by those home or off */
    NC_PAIR(16),        /* 30 its checkers on 19..24 */
    NC_PAIR(40),        /* 32 pips that the outside checkers need, / 8, while none is off */
    NC_PAIR(32)}},      /* 34 points it holds; is the head empty? */
  {"race_long", NC_LONG, 14, 4,
   {121, 820, NC_PAIR(192), NC_PAIR(400), NC_PAIR(32), NC_PAIR(16), NC_PAIR(64), NC_PAIR(81)}},
};

typedef struct {
  int32_t rows, active;
  uint16_t first[NC_ROOM], last[NC_ROOM]; /* rows of each expert group; of absent ones 0 */
} nc_layout;

static inline void nc_fill_layouts(nc_layout *t) {
  for (int s = 0; s < NC_SETS; s++) {
    int32_t at = NC_PLAIN_ROWS;
    memset(&t[s], 0, sizeof t[s]);
    for (int g = 0; g < nc_sets[s].experts; g++) {
      t[s].first[g] = (uint16_t)at;
      at += nc_sets[s].size[g];
      t[s].last[g] = (uint16_t)(at - 1);
    }
    t[s].rows = at + 1;
    t[s].active = NC_PLAIN + nc_sets[s].experts;
  }
}

/* Tables of this translation unit; nc_fill_features before any use. */
static nc_escapes_table nc_escapes;
static nc_layout nc_layouts[NC_SETS];
static inline void nc_fill_features(void) {
  nc_fill_escapes(&nc_escapes);
  nc_fill_layouts(nc_layouts);
}

static const nc_weights4 nc_weights_contact_short = {{
  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 0, 0, 0, 0, 0, 0, 0},
  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},      /* back */
  {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},   /* to spare */
  {0}}};
static const nc_weights4 nc_weights_race = {{
  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 0, 0, 0, 0, 0, 0, 0},
  {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},      /* outside */
  {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 0, 0, 0, 0, 0, 0},
  {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 0, 0, 0, 0, 0, 0, 0}}};    /* crossovers */
static const nc_weights4 nc_weights_contact_long = {{
  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 0, 0, 0, 0, 0, 0, 0, 0},
  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0},      /* 13..24 */
  {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0, 0, 0, 0, 0, 0, 0, 0},
  {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}};    /* home */

/* groups of one side, at x[0], x[2], ...; e is the other side's view of the same board b */
static inline int nc_contact_short_side(const nc_board *b, const nc_view *o, const nc_view *e, uint16_t *x) {
  const uint32_t held = o->own & ~o->blots, closed = o->enemy & ~o->single, home = 0x3F;
  uint32_t hit, runs;
  /* the opponent's last checker in this side's numbers: -1 on the bar, 24 when it has none left */
  int foe = e->rear < 0 ? 24 : 23 - e->rear, run, shots, moves = 0, points = nc_bits(held & home);
  int contact = o->rear < 0 ? 0 : nc_within(o->rear - foe, 0, 25);
  int back = nc_least(o->sum[1], 3);
  x[0] = (uint16_t)(o->sum[0] >> 2);
  shots = nc_shots(o, &hit);
  x[4] = (uint16_t)(points * 37 + shots);
  x[6] = (uint16_t)(hit ? (nc_highest(hit) + 1) * 3 + nc_least(nc_bits(hit), 3) - 1 : 0);
  run = nc_escapes.by[nc_ahead(closed, o->rear, 12)];
  x[8] = (uint16_t)(nc_nine_steps(run) * 14 + nc_back_step[o->rear + 1]);
  run = nc_escapes.by[nc_ahead(closed, o->next, 12)];
  x[10] = (uint16_t)(nc_nine_steps(run) * 4 + nc_back_zone[o->next + 1]);
  x[12] = (uint16_t)nc_ahead(closed, o->rear, 7);
  run = nc_longest_run(foe >= 23 ? 0 : held >> (foe + 1), &runs);
  x[14] = (uint16_t)(run * 7 + (run ? nc_least(nc_lowest(runs), 6) : 0));
  x[16] = (uint16_t)(nc_least(o->bar, 3) * 64 + (closed >> 18));
  x[18] = (uint16_t)(o->rear < 0 ? 194 : o->rear < 12 ? o->rear : 12 + (o->rear - 12) * 14 + nc_back_step[o->second + 1]);
  x[20] = (uint16_t)((points * 4 + nc_least(nc_bits(o->blots & home), 3)) * 3 + nc_least(o->enemy_bar, 2));
  for (int d = 1; d <= 6; d++) moves += nc_bits(o->own >> d & ~closed);
  x[22] = (uint16_t)(o->bar ? nc_bits(~closed >> 18 & home) / 2 : 3 + moves / 2);
  x[24] = (uint16_t)(o->sum[2] >> 2);
  x[26] = (uint16_t)(nc_least(foe < 24 ? nc_checkers_from(b, foe + 1) : 0, 15) * 13 + contact / 2);
  x[28] = (uint16_t)(held >> 18);
  return (back + 1) / 2;
}

static inline int nc_contact_short(const nc_board *b, uint16_t *x) {
  nc_board turned;
  nc_view me, foe;
  int bucket;
  nc_flip_short(b, &turned);
  nc_look(b, &nc_weights_contact_short, &me);
  nc_look(&turned, &nc_weights_contact_short, &foe);
  bucket = 3 * nc_contact_short_side(b, &me, &foe, x);
  bucket += nc_contact_short_side(&turned, &foe, &me, x + 1);
  x[2] = (uint16_t)(nc_within((foe.sum[0] - me.sum[0] + 81) >> 1, 0, 80));
  x[3] = (uint16_t)(me.rear < 0 || foe.rear < 0 ? 0 : nc_within(me.rear + foe.rear - 23, 0, 25));
  return bucket;
}

static inline void nc_race_side(const nc_view *o, uint16_t *x, int checkers) {
  x[2] = (uint16_t)o->sum[0];
  x[4] = (uint16_t)(nc_within(checkers - o->off, 0, 15) * 25 + nc_least(o->sum[0] >> 2, 24));
  x[6] = (uint16_t)o->sum[3];
  x[8] = (uint16_t)o->sum[1];
  x[10] = (uint16_t)(o->own & 0x3F);
  x[12] = (uint16_t)(o->off ? 80 : nc_least(o->sum[2], 79));
}

static inline int nc_race(const nc_board *b, int movement, uint16_t *x) {
  nc_board turned;
  nc_view me, foe;
  int lead;
  if (movement == NC_LONG) nc_flip_long(b, &turned);
  else nc_flip_short(b, &turned);
  nc_look(b, &nc_weights_race, &me);
  nc_look(&turned, &nc_weights_race, &foe);
  lead = foe.sum[0] - me.sum[0];
  x[0] = (uint16_t)(nc_within(lead, -60, 60) + 60);
  x[1] = (uint16_t)(nc_within((lead + 40) >> 1, 0, 40) * 20 + nc_least(me.sum[0] >> 3, 19));
  nc_race_side(&me, x, 15);
  nc_race_side(&foe, x + 1, 15);
  return (me.sum[1] > 0) * 2 + (foe.sum[1] > 0);
}

static inline int nc_contact_long_side(const nc_view *o, uint16_t *x) {
  const uint32_t open = NC_ALL_POINTS & ~o->enemy;
  int low, run, moves = 0, rear = o->rear < 0 ? 0 : o->rear;
  uint32_t some = 0, two = 0, runs;
  x[2] = (uint16_t)(o->sum[0] / 6);
  run = nc_least(nc_longest_run(o->enemy & ((1u << rear) - 1), &runs), 6);
  low = runs ? nc_highest(runs) : 0;
  x[4] = (uint16_t)(run * 12 + low / 2);
  x[6] = (uint16_t)(run * 14 + (run ? nc_within(rear - low - run, 0, 13) : 0));
  x[8] = (uint16_t)(nc_ahead(o->enemy, rear, 7) * 2 + (rear == 23));
  x[10] = (uint16_t)nc_ahead(o->enemy, o->next, 7);
  x[12] = (uint16_t)(nc_nine_steps(nc_escapes.by[nc_ahead(o->enemy, rear, 12)]) * 12 + rear / 2);
  for (int d = 1; d <= 6; d++) {
    uint32_t m = o->own >> d & open;
    moves += nc_bits(m);
    some |= (m ? 1u : 0) << (d - 1);
    two |= (m & (m - 1) ? 1u : 0) << (d - 1);
  }
  x[14] = (uint16_t)(moves / 2);
  x[16] = (uint16_t)some;
  x[18] = (uint16_t)two;
  x[20] = (uint16_t)(o->own >> 18);
  x[22] = (uint16_t)(o->own >> 12 & 63);
  x[24] = (uint16_t)(o->own >> 6 & 63);
  x[26] = (uint16_t)(o->own & 63);
  x[28] = (uint16_t)(nc_least(o->sum[1], 15) * 16 + nc_least(o->sum[3] + o->off, 15));
  x[32] = (uint16_t)(o->off ? 39 : nc_least(o->sum[2] >> 3, 38));
  x[34] = (uint16_t)(nc_least(nc_bits(o->own), 15) * 2 + !(o->own >> 23 & 1));
  return rear < 12 ? 2 : 0;             /* all past 13; the caller tells a full head from an emptied one */
}

static inline int nc_contact_long(const nc_board *b, uint16_t *x) {
  nc_board turned;
  nc_view me, foe;
  int mine, theirs;
  nc_flip_long(b, &turned);
  nc_look(b, &nc_weights_contact_long, &me);
  nc_look(&turned, &nc_weights_contact_long, &foe);
  x[0] = (uint16_t)(nc_within((foe.sum[0] - me.sum[0] + 130) >> 2, 0, 64));
  x[1] = (uint16_t)((nc_within(b->pt[23], 0, 15) >> 1) * 8 + (nc_within(turned.pt[23], 0, 15) >> 1));
  mine = nc_contact_long_side(&me, x);
  theirs = nc_contact_long_side(&foe, x + 1);
  x[30] = (uint16_t)nc_least(nc_checkers_from(b, 18), 15);
  x[31] = (uint16_t)nc_least(nc_checkers_from(&turned, 18), 15);
  if (!mine) mine = b->pt[23] < 4;
  if (!theirs) theirs = turned.pt[23] < 4;
  return 3 * mine + theirs;
}

static inline int nc_plain_row(const int8_t *bytes, int i) { return i * 32 + ((bytes[i] + 16) & 31); }

/* The active rows of a board in a set, the plain ones first, and its bucket. All NC_PLAIN + NC_ROOM places are written: 0
 * behind the last. */
static inline int nc_features(int set, const nc_board *b, uint16_t *rows) {
  const nc_layout *t = &nc_layouts[set];
  uint16_t x[NC_ROOM];
  int bucket;
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  const __m128i *bytes = (const __m128i *)b;
  const __m256i low = _mm256_setr_epi16(16, 48, 80, 112, 144, 176, 208, 240, 272, 304, 336, 368, 400, 432, 464, 496);
  _mm256_storeu_si256((__m256i *)rows, _mm256_add_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(bytes)), low));
  _mm256_storeu_si256((__m256i *)(rows + 16), _mm256_add_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(bytes + 1)),
                                                               _mm256_add_epi16(low, _mm256_set1_epi16(512))));
  for (int i = 0; i < NC_ROOM; i += 16) nc_store(x + i, _mm256_setzero_si256());
#else
  for (int i = 0; i < NC_PLAIN; i++) rows[i] = (uint16_t)(nc_plain_row((const int8_t *)b, i));
  memset(x, 0, sizeof x);
#endif
  if (set == NC_SET_CONTACT_SHORT) bucket = nc_contact_short(b, x);
  else if (set == NC_SET_CONTACT_LONG) bucket = nc_contact_long(b, x);
  else bucket = nc_race(b, nc_sets[set].movement, x);
#if defined(__AVX2__) && !defined(NC_PORTABLE)
  for (int g = 0; g < NC_ROOM; g += 16)
    nc_store(rows + NC_PLAIN + g,
             _mm256_min_epu16(_mm256_add_epi16(nc_load(x + g), nc_load(t->first + g)), nc_load(t->last + g)));
#else
  for (int g = 0; g < NC_ROOM; g++) {
    uint16_t r = (uint16_t)(t->first[g] + x[g]);
    rows[NC_PLAIN + g] = r < t->last[g] ? r : t->last[g];
  }
#endif
  return bucket;
}

/* The same of any set, for callers with room for the active rows alone. */
static inline int nc_features_to(int set, const nc_board *b, uint16_t *out) {
  uint16_t rows[NC_PLAIN + NC_ROOM];
  int bucket = 0;
  if (nc_sets[set].experts) bucket = nc_features(set, b, rows);
  else
    for (int i = 0; i < NC_PLAIN; i++) rows[i] = (uint16_t)nc_plain_row((const int8_t *)b, i);
  memcpy(out, rows, (size_t)nc_layouts[set].active * sizeof *out);
  return bucket;
}

/* ---- what can still happen ------------------------------------------------------------------------------------------
 * A bit for each of the ten outcome classes of an after-position that the rules do not exclude; finished ones have one. Some
 * that could be excluded by counting rolls are kept: the mask never drops what can happen, and may keep what cannot. */
static inline uint32_t nc_possible_states(const nc_rules *rules, uint32_t own, uint32_t home, uint32_t start, int off,
                                          int race) {
  uint32_t states = 1u << NC_ANY_OFF;
  if (rules->movement == NC_LONG) {
    if (off) return states;
    states |= 1u << NC_ALL_HOME;
    if (own & ~home) states |= 1u << NC_OUTSIDE;
    if (own & start) states |= 1u << NC_WINNER_HOME;
    switch (rules->long_koks) {
      case NC_KOKS_ALL_IN_START: states |= own && !(own & ~start) ? 1u << NC_ON_BAR : 0; break;
      case NC_KOKS_ANY_IN_START: states = own & start ? (states & ~(1u << NC_WINNER_HOME)) | 1u << NC_ON_BAR : states; break;
      case NC_KOKS_NONE_HOME: states |= own && !(own & home) ? 1u << NC_ON_BAR : 0; break;
      default: break;
    }
    return states;
  }
  if (off && rules->off_protects) return states;
  if (!off) states |= 1u << NC_ALL_HOME;
  if (!race) return states | 1u << NC_OUTSIDE | 1u << NC_WINNER_HOME | 1u << NC_ON_BAR;
  if (own & ~home) states |= 1u << NC_OUTSIDE;
  if (own & start) states |= 1u << NC_WINNER_HOME;
  return states;
}

/* 1 when the sides can no longer meet */
static inline int nc_is_race(int movement, const nc_board *b) {
  nc_vec v = nc_load(b);
  uint32_t mine = nc_positive(v) & NC_ALL_POINTS, theirs = nc_negative(v) & NC_ALL_POINTS;
  if (movement == NC_LONG) return !(mine >> 12) && !(theirs & 0xFFF);
  if (b->bar[0] > 0 || b->bar[1] > 0) return 0;
  return !mine || !theirs || nc_highest(mine) < nc_lowest(theirs);
}

static inline uint32_t nc_possible(const nc_rules *rules, const nc_board *b, int race) {
  const int turned = rules->movement == NC_LONG;
  nc_vec v = nc_load(b);
  uint32_t mine = nc_positive(v) & NC_ALL_POINTS, theirs = nc_negative(v) & NC_ALL_POINTS;
  return nc_possible_states(rules, theirs, turned ? 0x03F000 : 0xFC0000, turned ? 0x000FC0 : 0x00003F, b->off[1] > 0, race) |
         nc_possible_states(rules, mine, 0x00003F, 0xFC0000, b->off[0] > 0, race) << 5;
}

#endif
