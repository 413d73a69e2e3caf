/* Reading and writing a file at a place, from several threads at once. */
#ifndef NARDCORE_BEAROFF_IO_H
#define NARDCORE_BEAROFF_IO_H
#include <stdint.h>
#if defined(_WIN32)
#include <io.h>
#include <windows.h>
static inline int64_t nc_pread(int fd, void *p, int64_t n, int64_t offset) {
  OVERLAPPED at = {0};
  DWORD done = 0, part = n > (1 << 30) ? 1 << 30 : (DWORD)n;
  at.Offset = (DWORD)offset;
  at.OffsetHigh = (DWORD)(offset >> 32);
  return ReadFile((HANDLE)_get_osfhandle(fd), p, part, &done, &at) ? (int64_t)done : -1;
}
static inline int64_t nc_pwrite(int fd, const void *p, int64_t n, int64_t offset) {
  OVERLAPPED at = {0};
  DWORD done = 0, part = n > (1 << 30) ? 1 << 30 : (DWORD)n;
  at.Offset = (DWORD)offset;
  at.OffsetHigh = (DWORD)(offset >> 32);
  return WriteFile((HANDLE)_get_osfhandle(fd), p, part, &done, &at) ? (int64_t)done : -1;
}
#else
#include <errno.h>
#include <unistd.h>
static inline int64_t nc_pread(int fd, void *p, int64_t n, int64_t offset) {
  ssize_t k;
  do k = pread(fd, p, (size_t)n, (off_t)offset); while (k < 0 && errno == EINTR);
  return k;
}
static inline int64_t nc_pwrite(int fd, const void *p, int64_t n, int64_t offset) {
  ssize_t k;
  do k = pwrite(fd, p, (size_t)n, (off_t)offset); while (k < 0 && errno == EINTR);
  return k;
}
#endif
#endif
