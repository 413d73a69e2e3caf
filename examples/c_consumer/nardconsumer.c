/* A C extension that uses nardcore through its function table, and gives it an evaluator to play with. */
#include <Python.h>
#include "nardcore.h"

static const nc_api *api;

/* count(rules, board, d1, d2): how many distinct results a roll has. board: a Position, or anything of 32 bytes. */
static PyObject *count(PyObject *self, PyObject *args) {
  const char *name;
  Py_buffer view;
  int d1, d2;
  nc_rules rules;
  nc_board board;
  nc_board *results;
  int32_t n;
  if (!PyArg_ParseTuple(args, "sy*ii", &name, &view, &d1, &d2)) return NULL;
  if (view.len != sizeof board || d1 < 1 || d1 > 6 || d2 < 1 || d2 > 6) {
    PyBuffer_Release(&view);
    return PyErr_Format(PyExc_ValueError, "32 bytes and two dice are needed");
  }
  board = *(const nc_board *)view.buf;
  PyBuffer_Release(&view);
  if (api->rules_from_name(name, &rules) < 0) return NULL;
  results = malloc(NC_MAX_PLAYS * sizeof *results);
  if (!results) return PyErr_NoMemory();
  Py_BEGIN_ALLOW_THREADS
  n = api->plays(&rules, &board, d1, d2, results);
  Py_END_ALLOW_THREADS
  free(results);
  return n < 0 ? PyErr_NoMemory() : PyLong_FromLong(n);
}

/* An evaluator: leave as few blots as can be. It runs in nardcore's threads, without the GIL. */
static int few_blots(void *state, const nc_board *parent, const nc_board *after, int32_t n, float *out) {
  (void)state;
  (void)parent;
  for (int32_t i = 0; i < n; i++) {
    int blots = 0;
    for (int p = 0; p < NC_POINTS; p++) blots += after[i].pt[p] == 1;
    out[i] = (float)-blots;
  }
  return 0;
}

static nc_evaluator evaluator = {NC_EVALUATOR_VERSION, NC_SCORE_ONLY, NULL, few_blots};

static PyObject *evaluator_capsule(PyObject *self, PyObject *unused) {
  return PyCapsule_New(&evaluator, "nardcore.evaluator", NULL);
}

static PyMethodDef methods[] = {
  {"count", count, METH_VARARGS, "count(rules, board, d1, d2): the number of distinct results of a roll."},
  {"evaluator", evaluator_capsule, METH_NOARGS, "evaluator(): a capsule for nardcore.Evaluator.from_capsule."},
  {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "nardconsumer", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_nardconsumer(void) {
  api = nc_import(); /* refuses another ABI with an ImportError */
  return api ? PyModule_Create(&module) : NULL;
}
