/* A flag that one thread raises and others read: relaxed atomics, no locks. */
#ifndef NARDCORE_STOP_H
#define NARDCORE_STOP_H
#if defined(__GNUC__)
static inline int nc_flag_read(const int *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }
static inline void nc_flag_raise(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }
#else
#include <intrin.h>
static inline int nc_flag_read(const int *flag) { return *(const volatile int *)flag; }
static inline void nc_flag_raise(int *flag) { _InterlockedExchange((volatile long *)flag, 1); }
#endif
#endif
