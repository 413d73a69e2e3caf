/* Weights of the linear evaluator: [contact, race][byte of the board: 24 points, bars, offs][value + 16]. */
#ifndef NARDCORE_LINEAR_H
#define NARDCORE_LINEAR_H
#include <stdint.h>
typedef struct {
  int8_t movement;
  int16_t weight[2][28][32];
} nc_linear;
#endif
