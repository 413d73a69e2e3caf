/* nardcore's C interface: the structs every native part shares, and the function table of the capsule
 * "nardcore._capi.C_API". A consumer compiles with -I nardcore.get_include() and calls nc_import() once.
 *
 * Stability: NC_ABI_VERSION changes when a struct or the order of nc_api changes; nc_api only grows at its end.
 */
#ifndef NARDCORE_H
#define NARDCORE_H

#include <stdint.h>

#define NC_ABI_VERSION 1

#define NC_POINTS 24
#define NC_BAR 24       /* index of the mover's bar: "point 25", so a step from the bar is a step from index 24 */
#define NC_BAR_OPP 25
#define NC_OFF 26
#define NC_OFF_OPP 27
#define NC_CLASSES 10   /* 5 * (the mover loses) + the loser's state */

/* Each of at most 15 checkers takes k_i of the 4 steps of a double: C(18, 4) ways, the most results a roll can have. */
#define NC_MAX_PLAYS 3060
#define NC_MAX_STEPS 4

/* A position of 32 bytes, seen from the side on roll, who travels from pt[23] to pt[0] and off.
 * pt > 0: the mover's checkers, pt < 0: the opponent's. bar and off: [mover, opponent], never negative.
 * turn: 0 white, 1 black. flags: bit 0 the mover's first turn is still to come, bit 1 the opponent's (long nardy). */
typedef struct {
  int8_t pt[24];
  int8_t bar[2];
  int8_t off[2];
  int8_t turn;
  int8_t flags;
  int8_t reserved[2];
} nc_board;

enum { NC_SHORT = 0, NC_LONG = 1 };
enum { NC_HIDE_OFF = 0, NC_HIDE_BOARD = 1, NC_HIDE_HOME = 2 };
enum { NC_HEAD_ONE = 0, NC_HEAD_FREE = 1 };
enum { NC_EXCEPTION_NONE = 0, NC_EXCEPTION_LISTED = 1, NC_EXCEPTION_BLOCKED = 2, NC_EXCEPTION_ANY_DOUBLE = 3 };
enum { NC_EXCEPTION_BOTH = 0, NC_EXCEPTION_SECOND = 1 };
enum { NC_BLOCK_OFF = 0, NC_BLOCK_AHEAD = 1, NC_BLOCK_HOME = 2, NC_BLOCK_FLAT = 3 };
enum { NC_BLOCK_END_OF_TURN = 0, NC_BLOCK_EACH_STEP = 1 };
enum { NC_KOKS_NONE = 0, NC_KOKS_ALL_IN_START = 1, NC_KOKS_ANY_IN_START = 2, NC_KOKS_NONE_HOME = 3 };
enum { NC_ANY_OFF = 0, NC_ALL_HOME = 1, NC_OUTSIDE = 2, NC_WINNER_HOME = 3, NC_ON_BAR = 4 };

/* The movement and classifier fields of nardcore.Rules. */
typedef struct {
  int8_t movement, checkers, hit_and_hide, exact_first, last_home_larger;
  int8_t head_limit, head_exception, head_exception_for, block, block_timing;
  int8_t off_protects, long_koks;
  int8_t reserved[4];
} nc_rules;

/* An evaluator rates the results of one roll.
 *   after: n unflipped, unfinished results of one roll from *parent, seen by the side that has just moved;
 *   out:   float[n][NC_CLASSES] probabilities, or float[n] scores (larger is better) if flags & NC_SCORE_ONLY.
 * Returns 0, or < 0 for failure. It may be called from several threads at once, without the GIL. */
#define NC_EVALUATOR_VERSION 1
#define NC_SCORE_ONLY 1u
typedef struct {
  uint32_t version, flags;
  void *state;
  int (*evaluate)(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out);
} nc_evaluator;

/* A table that knows some positions exactly. probe() fills the class probabilities of the side on roll, before its roll,
 * and returns 1 where the position is covered exactly, 0 where it is not. Thread-safe, without the GIL. */
#define NC_TABLE_VERSION 1
typedef struct nc_table {
  uint32_t version, flags;
  void *state;
  int (*probe)(const struct nc_table *table, const nc_board *on_roll, float out[NC_CLASSES]);
} nc_table;

static inline int nc_table_probe(const nc_table *table, const nc_board *on_roll, float out[NC_CLASSES]) {
  return table->probe(table, on_roll, out);
}

/* The function table of the capsule. */
typedef struct {
  uint32_t version, size;             /* NC_ABI_VERSION, sizeof(nc_api) */
  const char *(*isa)(void);           /* "portable" or "avx2": the kernels in use */

  /* Fills *rules from a preset's or any rules' name, such as "long_nardy+block=flat". Needs the GIL; -1 and an exception. */
  int (*rules_from_name)(const char *name, nc_rules *rules);

  /* Writes the distinct results of a roll into out[NC_MAX_PLAYS], mover's view; returns their number (a pass is one
   * result; a finished position has none), or -1 when memory runs out. The board must be valid. */
  int32_t (*plays)(const nc_rules *rules, const nc_board *board, int d1, int d2, nc_board *out);

  void (*flip)(const nc_rules *rules, const nc_board *board, nc_board *out);

  /* -1 while the game goes on, else the outcome class of a position for the side whose view it is. */
  int (*outcome)(const nc_rules *rules, const nc_board *board);

  /* The built-in linear evaluator of the movement: NC_SCORE_ONLY, read-only, lives as long as the process. */
  const nc_evaluator *(*linear)(const nc_rules *rules);

  int (*table_probe)(const nc_table *table, const nc_board *on_roll, float out[NC_CLASSES]);
} nc_api;

#ifdef Py_PYTHON_H
/* PyCapsule_Import alone does not import a submodule. NULL and an exception on failure or another ABI. */
static inline const nc_api *nc_import(void) {
  PyObject *module = PyImport_ImportModule("nardcore._capi");
  const nc_api *api;
  if (!module) return NULL;
  Py_DECREF(module);
  api = (const nc_api *)PyCapsule_Import("nardcore._capi.C_API", 0);
  if (api && api->version != NC_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError, "nardcore has C ABI %u, this module was compiled for %u", api->version,
                 (unsigned)NC_ABI_VERSION);
    return NULL;
  }
  return api;
}
#endif

#endif
