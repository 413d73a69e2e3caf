/* A C extension that uses nardcore's function table, and gives it an evaluator of its own. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "nardcore.h"

static const nc_api *api;

static int read_board(PyObject *object, nc_board *board) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return -1;
  if (view.len != sizeof *board) {
    PyBuffer_Release(&view);
    PyErr_SetString(PyExc_ValueError, "a board has 32 bytes");
    return -1;
  }
  memcpy(board, view.buf, sizeof *board);
  PyBuffer_Release(&view);
  return 0;
}

static PyObject *isa(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  return PyUnicode_FromString(api->isa());
}

/* plays(rules, board, d1, d2) -> bytes of the results */
static PyObject *plays(PyObject *self, PyObject *args) {
  static nc_board out[NC_MAX_PLAYS]; /* under the GIL */
  nc_rules rules;
  nc_board board;
  const char *name;
  PyObject *object;
  int d1, d2, n;
  (void)self;
  if (!PyArg_ParseTuple(args, "sOii", &name, &object, &d1, &d2)) return NULL;
  if (api->rules_from_name(name, &rules) < 0 || read_board(object, &board) < 0) return NULL;
  n = api->plays(&rules, &board, d1, d2, out);
  if (n < 0) return PyErr_NoMemory();
  return PyBytes_FromStringAndSize((const char *)out, n * (Py_ssize_t)sizeof *out);
}

/* outcome(rules, board) -> int */
static PyObject *outcome(PyObject *self, PyObject *args) {
  nc_rules rules;
  nc_board board;
  const char *name;
  PyObject *object;
  (void)self;
  if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
  if (api->rules_from_name(name, &rules) < 0 || read_board(object, &board) < 0) return NULL;
  return PyLong_FromLong(api->outcome(&rules, &board));
}

/* flip(rules, board) -> bytes */
static PyObject *flip(PyObject *self, PyObject *args) {
  nc_rules rules;
  nc_board board, out;
  const char *name;
  PyObject *object;
  (void)self;
  if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
  if (api->rules_from_name(name, &rules) < 0 || read_board(object, &board) < 0) return NULL;
  api->flip(&rules, &board, &out);
  return PyBytes_FromStringAndSize((const char *)&out, sizeof out);
}

/* linear(rules, parent, after) -> float: the score of one result */
static PyObject *linear(PyObject *self, PyObject *args) {
  nc_rules rules;
  nc_board parent, after;
  const nc_evaluator *e;
  const char *name;
  PyObject *first, *second;
  float score;
  (void)self;
  if (!PyArg_ParseTuple(args, "sOO", &name, &first, &second)) return NULL;
  if (api->rules_from_name(name, &rules) < 0) return NULL;
  if (read_board(first, &parent) < 0 || read_board(second, &after) < 0) return NULL;
  e = api->linear(&rules);
  if (!e) return NULL;
  if (!(e->flags & NC_SCORE_ONLY) || e->evaluate(e->state, &parent, &after, 1, &score) < 0) {
    PyErr_SetString(PyExc_RuntimeError, "the evaluator failed");
    return NULL;
  }
  return PyFloat_FromDouble(score);
}

/* An evaluator: hits are good, and so are few pips; its state is what a hit is worth. */
static float worth = 20;

static int evaluate(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  for (int32_t i = 0; i < n; i++) {
    int pips = 25 * after[i].bar[0];
    for (int p = 0; p < NC_POINTS; p++)
      if (after[i].pt[p] > 0) pips += (p + 1) * after[i].pt[p];
    out[i] = *(float *)state * (after[i].bar[1] - parent->bar[1]) - (float)pips;
  }
  return 0;
}

/* An evaluator that gives classes: made up, but the same floats in any language. */
static int classes(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  (void)state, (void)parent;
  for (int32_t i = 0; i < n; i++, out += NC_CLASSES) {
    int held = 0;
    for (int p = 0; p < NC_POINTS; p++) held += after[i].pt[p] > 1;
    memset(out, 0, NC_CLASSES * sizeof *out);
    out[0] = (float)after[i].off[0] / 30.0f;
    out[1] = (float)held / 31.0f;
    out[3] = (float)after[i].bar[1] / 70.0f;
    out[5] = (float)after[i].off[1] / 40.0f;
    out[6] = 1.0f - (out[0] + out[1]) - (out[3] + out[5]);
  }
  return 0;
}

static int failing(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  (void)state, (void)parent, (void)after, (void)n, (void)out;
  return -1;
}

static nc_evaluator hitter = {NC_EVALUATOR_VERSION, NC_SCORE_ONLY, &worth, evaluate};
static nc_evaluator classifier = {NC_EVALUATOR_VERSION, 0, NULL, classes};
static nc_evaluator broken = {NC_EVALUATOR_VERSION, NC_SCORE_ONLY, NULL, failing};
static nc_evaluator newer = {NC_EVALUATOR_VERSION + 1, NC_SCORE_ONLY, NULL, evaluate};

static PyMethodDef methods[] = {
    {"isa", isa, METH_NOARGS, NULL},          {"plays", plays, METH_VARARGS, NULL},
    {"outcome", outcome, METH_VARARGS, NULL}, {"flip", flip, METH_VARARGS, NULL},
    {"linear", linear, METH_VARARGS, NULL},   {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "consumer", NULL, -1, methods, 0, 0, 0, 0};

static int add(PyObject *module, const char *name, nc_evaluator *e) {
  PyObject *capsule = PyCapsule_New(e, "nardcore.evaluator", NULL);
  int failed = !capsule || PyModule_AddObjectRef(module, name, capsule) < 0;
  Py_XDECREF(capsule);
  return failed;
}

PyMODINIT_FUNC PyInit_consumer(void) {
  PyObject *module;
  api = nc_import();
  if (!api) return NULL;
  module = PyModule_Create(&definition);
  if (!module || add(module, "hitter", &hitter) || add(module, "classifier", &classifier) || add(module, "broken", &broken) || add(module, "newer", &newer))
    return NULL;
  return module;
}
