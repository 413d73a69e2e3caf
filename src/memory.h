/* Large buffers in large pages, where the system has them: first touching 4 KiB pages costs more than filling them. */
#ifndef NARDCORE_MEMORY_H
#define NARDCORE_MEMORY_H
#include <stddef.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

static inline void nc_large_pages(void *p, size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const uintptr_t page = 1 << 21;
  uintptr_t start = ((uintptr_t)p + page - 1) & ~(page - 1), end = ((uintptr_t)p + size) & ~(page - 1);
  if (end > start) madvise((void *)start, end - start, MADV_HUGEPAGE);    /* advice: a refusal does no harm */
#else
  (void)p; (void)size;
#endif
}
#endif
