/* The table of kernels that exist once per instruction set, filled by nardcore._kernels_<isa>. */
#ifndef NARDCORE_KERNELS_H
#define NARDCORE_KERNELS_H
#include "nardcore.h"

typedef struct {
  const char *isa;
  int32_t (*plays)(const nc_rules *, const nc_board *, int d1, int d2, nc_board *out);
  int32_t (*plays_general)(const nc_rules *, const nc_board *, int d1, int d2, nc_board *out);
  int32_t (*single_steps)(const nc_rules *, const nc_board *start, const nc_board *now, int d1, int d2, int die,
                          nc_board *out, int8_t *from);
  int (*find_steps)(const nc_rules *, const nc_board *start, int d1, int d2, const nc_board *target, int8_t *out);
  void (*flip)(const nc_rules *, const nc_board *, nc_board *out, int64_t n);
  int (*linear)(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out);
  int (*net)(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out);
  void (*features)(int set, const nc_board *, int64_t n, uint16_t *rows, uint8_t *buckets);
  void (*possible)(const nc_rules *, const nc_board *, int64_t n, uint8_t *out);
} nc_kernels;
#endif
