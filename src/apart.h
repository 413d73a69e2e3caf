/* Whether the sides have passed each other: what tells positions of the race net from those of the net for contact. */
#ifndef NARDCORE_APART_H
#define NARDCORE_APART_H
#include "nardcore.h"

/* 1 when neither side can meet the other any more, and nothing is on a bar. */
static inline int nc_past_each_other(const nc_board *b, int movement) {
  if (movement == NC_LONG) {
    for (int i = 0; i < 12; i++)
      if (b->pt[i] < 0 || b->pt[i + 12] > 0) return 0;
    return 1;
  }
  if (b->bar[0] || b->bar[1]) return 0;
  int i = 0;
  while (i < 24 && b->pt[i] >= 0) i++;  /* the opponent's first checker */
  for (; i < 24; i++)
    if (b->pt[i] > 0) return 0;
  return 1;
}

#endif
