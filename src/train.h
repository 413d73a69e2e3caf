/* Training nets of the form: acc = b1 + the sum of w1 over the active rows; h = clamp(acc, 0, 1)^2;
 * logits = w2[bucket] h + b2[bucket]; p = softmax(logits). Compiled for the baseline and for AVX2, chosen once.
 */
#ifndef NARDCORE_TRAIN_H
#define NARDCORE_TRAIN_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "apart.h"

#define NC_MOST_HIDDEN 1024     /* hidden units: a multiple of 32 */
#define NC_TOGETHER 1024        /* samples that go through the first layer together */

typedef float nc_f8 __attribute__((vector_size(32), aligned(4), may_alias));

typedef struct {
  int32_t rows, active, buckets, hidden;        /* row rows - 1 pads and stays zero */
  float *w1, *b1, *w2, *b2;                     /* [rows][hidden], [hidden], [buckets][10][hidden], [buckets][10] */
} nc_model;

typedef struct {
  const uint16_t *rows;
  const uint8_t *bucket;
  const uint16_t *mask;         /* bit k: class k is possible; NULL: all are */
  const float *target, *weight; /* weight: NULL where all weigh 1 */
  float points[NC_CLASSES];     /* what a class is worth to the side that has just moved */
  float equity_share;           /* of the squared error of equity in the loss */
} nc_samples;

typedef struct {
  float *w1, *b1, *w2, *b2;
  uint8_t *touched, *bucket_used;
  double loss[4];               /* sums of weight, cross-entropy, squared and absolute error of equity */
} nc_gradient;

typedef struct {
  float rate, decay, beta1, beta2, epsilon, scale, mean_unbias, square_unbias;
} nc_adam;

typedef struct {
  int movement;
  nc_model net[2];              /* in contact, past each other */
} nc_plain;

static inline void nc_softmax(const float *logits, unsigned mask, float *p) {
  float top = -INFINITY, sum = 0;
  for (int k = 0; k < NC_CLASSES; k++)
    if (mask >> k & 1 && logits[k] > top) top = logits[k];
  for (int k = 0; k < NC_CLASSES; k++) {
    p[k] = mask >> k & 1 ? expf(logits[k] - top) : 0;
    sum += p[k];
  }
  for (int k = 0; k < NC_CLASSES; k++) p[k] /= sum;
}

/* The gradient by the logits and the loss of one sample. */
static inline void nc_loss(const nc_samples *s, const float *p, const float *t, float weight, float *d, double *loss) {
  float mine = 0, wanted = 0, entropy = 0, error;
  for (int k = 0; k < NC_CLASSES; k++) {
    mine += s->points[k] * p[k];
    wanted += s->points[k] * t[k];
    if (t[k] != 0) entropy -= t[k] * logf(p[k] > 1e-12f ? p[k] : 1e-12f);
  }
  error = mine - wanted;
  for (int k = 0; k < NC_CLASSES; k++)
    d[k] = weight * (p[k] - t[k] + s->equity_share * 2 * error * p[k] * (s->points[k] - mine));
  loss[0] += weight;
  loss[1] += (double)weight * entropy;
  loss[2] += (double)weight * error * error;
  loss[3] += (double)weight * fabsf(error);
}

static inline void nc_plain_rows(const nc_board *b, uint16_t *rows) {
  const int8_t *v = (const int8_t *)b;
  for (int k = 0; k < 28; k++) rows[k] = (uint16_t)(k * 32 + 16 + v[k]);
}

#define NC(name) nc_train_##name##_portable
#define NC_ATTR
#include "train_body.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NC(name) nc_train_##name##_avx2
#define NC_ATTR __attribute__((target("avx2")))
#include "train_body.h"
#define NC_HAVE_AVX2 1
#endif

typedef struct {
  const char *isa;
  void (*gradient)(const nc_model *, const nc_samples *, int64_t, int64_t, nc_gradient *, float *);
  void (*adam)(const nc_adam *, float *, float *, float *, float **, int, int64_t, float, float, float);
  void (*evaluate_rows)(const nc_model *, const nc_samples *, int64_t, int64_t, float *);
  int (*evaluate_plain)(void *, const nc_board *, const nc_board *, int32_t, float *);
} nc_train_kernels;

static const nc_train_kernels nc_train_portable = {
  "portable", nc_train_gradient_portable, nc_train_adam_portable, nc_train_evaluate_rows_portable,
  nc_train_evaluate_plain_portable,
};
#ifdef NC_HAVE_AVX2
static const nc_train_kernels nc_train_avx2 = {
  "avx2", nc_train_gradient_avx2, nc_train_adam_avx2, nc_train_evaluate_rows_avx2, nc_train_evaluate_plain_avx2,
};
#endif

static inline const nc_train_kernels *nc_choose_train(void) {
  const char *wanted = getenv("NARDCORE_ISA");
  if (wanted && !strcmp(wanted, "portable")) return &nc_train_portable;
#ifdef NC_HAVE_AVX2
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) return &nc_train_avx2;
#endif
  return &nc_train_portable;
}
#endif
