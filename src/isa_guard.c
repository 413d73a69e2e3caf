/* The entry of _kernels_avx2: asks the CPU before any AVX2 instruction can run. */
#include <Python.h>

PyObject *nc_init_kernels_avx2(void);

PyMODINIT_FUNC PyInit__kernels_avx2(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))     /* whoever has these has LZCNT and POPCNT */
    return nc_init_kernels_avx2();
  PyErr_SetString(PyExc_ImportError, "this CPU has no AVX2");
  return NULL;
}
