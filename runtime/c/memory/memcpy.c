// memcpy.c: accesses to ranges. gcc leaves memcpy, memmove and memset as calls to libc; clang calls
// __tsan_memcpy and similar functions.
#define HD_INTERPOSES_MEMCPY
#include <stddef.h>
#include <string.h>
#include "core/injection.h"
#include "core/libc.h"
#include "core/run.h"
#include "memory/access.h"

// Copies for the program, without libc's functions, which the runtime may not have looked up yet.
static HD_PROGACCESS void copy(void *dst, const void *src, size_t n) { hd_copy(dst, src, n); }
static HD_PROGACCESS void copy_down(char *dst, const char *src, size_t n) { hd_copy_down(dst, src, n); }
static HD_PROGACCESS void fill(void *dst, int c, size_t n) { hd_fill(dst, c, n); }

static inline void *real_copy(void *dst, const void *src, size_t n) {
  if (HD_LIKELY(hd_real.memcpy != NULL)) return ((__typeof__(memcpy) *)hd_real.memcpy)(dst, src, n);
  copy(dst, src, n);
  return dst;
}
static inline void *real_move(void *dst, const void *src, size_t n) {
  if (HD_LIKELY(hd_real.memmove != NULL)) return ((__typeof__(memmove) *)hd_real.memmove)(dst, src, n);
  if ((char *)dst > (const char *)src && (char *)dst < (const char *)src + n) copy_down(dst, src, n);
  else copy(dst, src, n);
  return dst;
}
static inline void *real_set(void *dst, int c, size_t n) {
  if (HD_LIKELY(hd_real.memset != NULL)) return ((__typeof__(memset) *)hd_real.memset)(dst, c, n);
  fill(dst, c, n);
  return dst;
}

// The events of a call; src NULL: of memset.
static inline void accesses(void *dst, const void *src, size_t n, uint64_t pc) {
  if (src) hd_access_range(src, n, false, pc);
  hd_access_range(dst, n, true, pc);
  hd.cur->pend.pc = pc;
}

// A call of an execution into which a fault is injected.
static HD_COLD void *injected(void *dst, const void *src, int c, size_t n, bool move, uint64_t pc) {
  n = hd_inject_length(n, pc);
  hd_inject_copy(dst, src, n);
  accesses(dst, src, n, pc);
  void *r = !src ? real_set(dst, c, n) : move ? real_move(dst, src, n) : real_copy(dst, src, n);
  hd_inject_called();
  return r;
}

static inline void *do_copy(void *dst, const void *src, size_t n, uint64_t pc) {
  if (hd_active()) {
    if (HD_UNLIKELY(hd_injectable || hd_inject_open)) return injected(dst, src, 0, n, false, pc);
    accesses(dst, src, n, pc);
  }
  return real_copy(dst, src, n);
}

static inline void *do_move(void *dst, const void *src, size_t n, uint64_t pc) {
  if (hd_active()) {
    if (HD_UNLIKELY(hd_injectable || hd_inject_open)) return injected(dst, src, 0, n, true, pc);
    accesses(dst, src, n, pc);
  }
  return real_move(dst, src, n);
}

static inline void *do_set(void *dst, int c, size_t n, uint64_t pc) {
  if (hd_active()) {
    if (HD_UNLIKELY(hd_injectable || hd_inject_open)) return injected(dst, NULL, c, n, false, pc);
    accesses(dst, NULL, n, pc);
  }
  return real_set(dst, c, n);
}

HD_COPIES HD_EXPORT void *memcpy(void *dst, const void *src, size_t n) { return do_copy(dst, src, n, HD_RA); }
HD_COPIES HD_EXPORT void *memmove(void *dst, const void *src, size_t n) { return do_move(dst, src, n, HD_RA); }
HD_COPIES HD_EXPORT void *memset(void *dst, int c, size_t n) { return do_set(dst, c, n, HD_RA); }
HD_COPIES HD_EXPORT void *__tsan_memcpy(void *dst, const void *src, size_t n) { return do_copy(dst, src, n, HD_RA); }
HD_COPIES HD_EXPORT void *__tsan_memmove(void *dst, const void *src, size_t n) { return do_move(dst, src, n, HD_RA); }
HD_COPIES HD_EXPORT void *__tsan_memset(void *dst, int c, size_t n) { return do_set(dst, c, n, HD_RA); }
