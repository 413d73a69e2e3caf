/* The kernels of training, once per instruction set: train.h includes this with NC(name), NC_ATTR defined.
 *
 * Vectors of eight floats are GCC's own: the portable build does the same operations in the same order, lane by lane,
 * so both give the same bits (but for the C library's expf). No vector crosses a function boundary.
 */

NC_ATTR static void NC(accumulate)(const nc_model *m, const uint16_t *rows, float *acc) {
  const int64_t width = m->hidden;
  for (int64_t j = 0; j < width; j += 32) {
    const nc_f8 *b = (const nc_f8 *)(m->b1 + j);
    nc_f8 a0 = b[0], a1 = b[1], a2 = b[2], a3 = b[3];
    for (int k = 0; k < m->active; k++) {
      const nc_f8 *w = (const nc_f8 *)(m->w1 + rows[k] * width + j);
      a0 += w[0]; a1 += w[1]; a2 += w[2]; a3 += w[3];
    }
    nc_f8 *to = (nc_f8 *)(acc + j);
    to[0] = a0; to[1] = a1; to[2] = a2; to[3] = a3;
  }
}

/* Activations h and the logits of one output bucket. */
NC_ATTR static void NC(head)(const nc_model *m, int bucket, const float *restrict acc, float *restrict h, float *logits) {
  const int64_t width = m->hidden;
  const float *w2 = m->w2 + bucket * NC_CLASSES * width;
  for (int64_t j = 0; j < width; j++) {
    float a = acc[j] > 0 ? acc[j] : 0;
    a = a < 1 ? a : 1;
    h[j] = a * a;
  }
  for (int k = 0; k < NC_CLASSES; k++) {
    const float *w = w2 + k * width;
    nc_f8 s = {0}, t = {0};
    for (int64_t j = 0; j < width; j += 16) {
      s += *(const nc_f8 *)(w + j) * *(const nc_f8 *)(h + j);
      t += *(const nc_f8 *)(w + j + 8) * *(const nc_f8 *)(h + j + 8);
    }
    s += t;
    logits[k] = m->b2[bucket * NC_CLASSES + k] + (((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])));
  }
}

/* One shard of a minibatch: gradients are added to g, its touched rows marked, the losses summed.
 *
 * Here w1 and its gradient lie in tiles, [hidden / 32][rows][32]: a tile of the whole layer fits the nearer caches, where
 * all samples look it up before the next is taken. acc has room for NC_TOGETHER samples. */
NC_ATTR static void NC(gradient)(const nc_model *m, const nc_samples *s, int64_t first, int64_t last, nc_gradient *g,
                                float *acc) {
  const int64_t width = m->hidden, tile = (int64_t)m->rows * 32;
  const int active = m->active;
  float h[NC_MOST_HIDDEN], logits[NC_CLASSES], p[NC_CLASSES], d[NC_CLASSES];
  for (; first < last; first += NC_TOGETHER) {
    const int64_t n = last - first < NC_TOGETHER ? last - first : NC_TOGETHER;
    for (int64_t j = 0; j < width; j += 32) {
      const float *w1 = m->w1 + j / 32 * tile;
      const nc_f8 *b = (const nc_f8 *)(m->b1 + j);
      const nc_f8 b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
      for (int64_t i = 0; i < n; i++) {
        const uint16_t *rows = s->rows + (first + i) * active;
        nc_f8 a0 = b0, a1 = b1, a2 = b2, a3 = b3, *to = (nc_f8 *)(acc + i * width + j);
        for (int k = 0; k < active; k++) {
          const nc_f8 *w = (const nc_f8 *)(w1 + rows[k] * 32);
          a0 += w[0]; a1 += w[1]; a2 += w[2]; a3 += w[3];
        }
        to[0] = a0; to[1] = a1; to[2] = a2; to[3] = a3;
      }
    }
    for (int64_t i = 0; i < n; i++) {
      const int bucket = s->bucket[first + i];
      const uint16_t *rows = s->rows + (first + i) * active;
      float *own = acc + i * width, *gw2 = g->w2 + bucket * NC_CLASSES * width;
      const float *w2 = m->w2 + bucket * NC_CLASSES * width;
      NC(head)(m, bucket, own, h, logits);
      nc_softmax(logits, s->mask ? s->mask[first + i] : 0x3FF, p);
      nc_loss(s, p, s->target + (first + i) * NC_CLASSES, s->weight ? s->weight[first + i] : 1.0f, d, g->loss);
      for (int64_t j = 0; j < width; j++) {     /* the activation's slope: none above one and below zero */
        const float a = own[j] > 0 ? own[j] : 0;
        own[j] = a < 1 ? 2 * a : 0;
      }
      for (int64_t j = 0; j < width; j += 8) {
        nc_f8 x = *(const nc_f8 *)(h + j), sum = {0};
        for (int k = 0; k < NC_CLASSES; k++) {
          nc_f8 *gw = (nc_f8 *)(gw2 + k * width + j);
          sum += d[k] * *(const nc_f8 *)(w2 + k * width + j);
          *gw += d[k] * x;
        }
        sum *= *(const nc_f8 *)(own + j);
        *(nc_f8 *)(own + j) = sum;
        *(nc_f8 *)(g->b1 + j) += sum;
      }
      for (int k = 0; k < NC_CLASSES; k++) g->b2[bucket * NC_CLASSES + k] += d[k];
      g->bucket_used[bucket] = 1;
      for (int k = 0; k < active; k++) g->touched[rows[k]] = 1;
    }
    for (int64_t j = 0; j < width; j += 32) {
      float *gw1 = g->w1 + j / 32 * tile;
      for (int64_t i = 0; i < n; i++) {
        const uint16_t *rows = s->rows + (first + i) * active;
        const nc_f8 *from = (const nc_f8 *)(acc + i * width + j);
        const nc_f8 a0 = from[0], a1 = from[1], a2 = from[2], a3 = from[3];
        for (int k = 0; k < active; k++) {
          nc_f8 *to = (nc_f8 *)(gw1 + rows[k] * 32);
          to[0] += a0; to[1] += a1; to[2] += a2; to[3] += a3;
        }
      }
    }
  }
}

/* Adam over n numbers that share their count of steps; the gradients of the shards are added in order and cleared. */
NC_ATTR static void NC(adam)(const nc_adam *o, float *restrict w, float *restrict mean, float *restrict square, float **grads,
                            int shards, int64_t n, float keep_mean, float keep_square, float clip) {
  float *restrict g = grads[0];
  const float new_mean = 1 - o->beta1, new_square = 1 - o->beta2, rate = o->rate * o->mean_unbias;
  for (int s = 1; s < shards; s++) {
    float *restrict more = grads[s];
    for (int64_t j = 0; j < n; j++) {
      g[j] += more[j];
      more[j] = 0;
    }
  }
  for (int64_t j = 0; j < n; j++) {
    const float slope = g[j] * o->scale;
    const float x = keep_mean * mean[j] + new_mean * slope, y = keep_square * square[j] + new_square * (slope * slope);
    float v = w[j] - rate * x / (sqrtf(y * o->square_unbias) + o->epsilon) - o->decay * w[j];
    v = v > clip ? clip : v;
    w[j] = v < -clip ? -clip : v;
    mean[j] = x;
    square[j] = y;
    g[j] = 0;
  }
}

NC_ATTR static void NC(evaluate_rows)(const nc_model *m, const nc_samples *s, int64_t first, int64_t last, float *out) {
  float acc[NC_MOST_HIDDEN], h[NC_MOST_HIDDEN], logits[NC_CLASSES];
  for (int64_t i = first; i < last; i++) {
    NC(accumulate)(m, s->rows + i * m->active, acc);
    NC(head)(m, s->bucket[i], acc, h, logits);
    nc_softmax(logits, s->mask ? s->mask[i] : 0x3FF, out + i * NC_CLASSES);
  }
}

/* The nc_evaluator of nets over plain rows: the parent's sums once, each result's by the rows that a play changes. */
NC_ATTR static int NC(evaluate_plain)(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  const nc_plain *player = (const nc_plain *)state;
  const int8_t *before = (const int8_t *)parent;
  float base[2][NC_MOST_HIDDEN], acc[NC_MOST_HIDDEN], h[NC_MOST_HIDDEN], logits[NC_CLASSES];
  int known[2] = {0, 0};
  for (int32_t i = 0; i < n; i++) {
    const int8_t *now = (const int8_t *)&after[i];
    const int phase = nc_past_each_other(&after[i], player->movement);
    const nc_model *m = &player->net[phase];
    const int64_t width = m->hidden;
    uint16_t rows[28];
    int changed[28], count = 0;
    if (!known[phase]) {
      nc_plain_rows(parent, rows);
      NC(accumulate)(m, rows, base[phase]);
      known[phase] = 1;
    }
    for (int k = 0; k < 28; k++)
      if (now[k] != before[k]) changed[count++] = k;
    for (int64_t j = 0; j < width; j += 32) {
      const nc_f8 *from = (const nc_f8 *)(base[phase] + j);
      nc_f8 a0 = from[0], a1 = from[1], a2 = from[2], a3 = from[3];
      for (int c = 0; c < count; c++) {
        const int k = changed[c];
        const nc_f8 *u = (const nc_f8 *)(m->w1 + (k * 32 + 16 + now[k]) * width + j);
        const nc_f8 *v = (const nc_f8 *)(m->w1 + (k * 32 + 16 + before[k]) * width + j);
        a0 += u[0] - v[0]; a1 += u[1] - v[1]; a2 += u[2] - v[2]; a3 += u[3] - v[3];
      }
      nc_f8 *to = (nc_f8 *)(acc + j);
      to[0] = a0; to[1] = a1; to[2] = a2; to[3] = a3;
    }
    NC(head)(m, 0, acc, h, logits);
    nc_softmax(logits, 0x3FF, out + i * NC_CLASSES);
  }
  return 0;
}

#undef NC
#undef NC_ATTR
