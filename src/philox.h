/* Philox4x64-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four random words
 * of a counter and a key. NumPy's generator of the same name gives the same words, starting at the counter after. */
#ifndef NARDCORE_PHILOX_H
#define NARDCORE_PHILOX_H
#include <stdint.h>

static inline uint64_t nc_mulhilo(uint64_t a, uint64_t b, uint64_t *hi) {
#ifdef __SIZEOF_INT128__
  unsigned __int128 p = (unsigned __int128)a * b;
  *hi = (uint64_t)(p >> 64);
  return (uint64_t)p;
#else
  uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
  uint64_t mid = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
  *hi = hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
  return (mid << 32) | (uint32_t)ll;
#endif
}

static inline void nc_philox(const uint64_t key[2], uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, uint64_t out[4]) {
  uint64_t k0 = key[0], k1 = key[1];
  for (int i = 0; i < 10; i++) {
    uint64_t hi0, hi1;
    uint64_t lo0 = nc_mulhilo(0xD2E7470EE14C6C93ULL, c0, &hi0);
    uint64_t lo1 = nc_mulhilo(0xCA5A826395121157ULL, c2, &hi1);
    c0 = hi1 ^ c1 ^ k0;
    c1 = lo1;
    c2 = hi0 ^ c3 ^ k1;
    c3 = lo0;
    k0 += 0x9E3779B97F4A7C15ULL;
    k1 += 0xBB67AE8584CAA73BULL;
  }
  out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}

/* A word of stream `stream` of a trial, by ply; `attempt` counts rejected words. The block of four is cached. */
typedef struct {
  uint64_t key[2], trial, stream, block, word[4];
  int filled;
} nc_stream;

static inline void nc_stream_begin(nc_stream *s, const uint64_t key[2], uint64_t trial, uint64_t stream) {
  s->key[0] = key[0]; s->key[1] = key[1];
  s->trial = trial; s->stream = stream; s->filled = 0;
}

/* Unbiased 0 <= r < n for a ply (Lemire's method; a rejected word is replaced by the same word of the next attempt). */
static inline uint32_t nc_stream_below(nc_stream *s, uint64_t ply, uint32_t n) {
  uint64_t hi, lo, attempt = 0, again[4];
  if (!s->filled || s->block != ply >> 2) {
    nc_philox(s->key, ply >> 2, s->trial, s->stream, 0, s->word);
    s->block = ply >> 2;
    s->filled = 1;
  }
  lo = nc_mulhilo(s->word[ply & 3], n, &hi);
  if (lo < n) {                         /* rare: only then can the word be one of the 2^64 mod n too many */
    uint64_t limit = (0 - (uint64_t)n) % n;
    while (lo < limit) {
      nc_philox(s->key, ply >> 2, s->trial, s->stream, ++attempt, again);
      lo = nc_mulhilo(again[ply & 3], n, &hi);
    }
  }
  return (uint32_t)hi;
}
#endif
