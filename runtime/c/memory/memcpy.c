// memcpy.c: gcc leaves memcpy, memmove and memset as calls into libc, clang calls
// __tsan_memcpy and its kin: both are accesses to ranges.
#define HD_STANDS_IN_FOR_MEM
#include <stddef.h>
#include "core/rt.h"

void hd_access_range(const void *p, uint64_t size, bool write, uint64_t pc);

// Copying for the program, also before libc can be asked for its own functions.
static HD_PROGACCESS void copy(void *dst, const void *src, size_t n) { hd_copy(dst, src, n); }
static inline void down(char *dst, const char *src, size_t n) {
  char *to = dst + n - 1;
  const char *from = src + n - 1;
  __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static HD_PROGACCESS void copy_down(char *dst, const char *src, size_t n) { down(dst, src, n); }
static HD_PROGACCESS void fill(void *dst, int c, size_t n) { hd_fill(dst, c, n); }

static inline void *do_copy(void *dst, const void *src, size_t n, uint64_t pc) {
  if (hd_active()) {
    hd_access_range(src, n, false, pc);
    hd_access_range(dst, n, true, pc);
    hd.cur->pend.pc = pc;
  }
  if (HD_LIKELY(hd_real.memcpy != NULL)) return hd_real.memcpy(dst, src, n);
  copy(dst, src, n);
  return dst;
}

static inline void *do_move(void *dst, const void *src, size_t n, uint64_t pc) {
  if (hd_active()) {
    hd_access_range(src, n, false, pc);
    hd_access_range(dst, n, true, pc);
    hd.cur->pend.pc = pc;
  }
  if (HD_LIKELY(hd_real.memmove != NULL)) return hd_real.memmove(dst, src, n);
  if ((char *)dst > (const char *)src && (char *)dst < (const char *)src + n) copy_down(dst, src, n);
  else copy(dst, src, n);
  return dst;
}

static inline void *do_set(void *dst, int c, size_t n, uint64_t pc) {
  if (hd_active()) {
    hd_access_range(dst, n, true, pc);
    hd.cur->pend.pc = pc;
  }
  if (HD_LIKELY(hd_real.memset != NULL)) return hd_real.memset(dst, c, n);
  fill(dst, c, n);
  return dst;
}

HD_EXPORT void *memcpy(void *dst, const void *src, size_t n) { return do_copy(dst, src, n, HD_RA); }
HD_EXPORT void *memmove(void *dst, const void *src, size_t n) { return do_move(dst, src, n, HD_RA); }
HD_EXPORT void *memset(void *dst, int c, size_t n) { return do_set(dst, c, n, HD_RA); }
HD_EXPORT void *__tsan_memcpy(void *dst, const void *src, size_t n) { return do_copy(dst, src, n, HD_RA); }
HD_EXPORT void *__tsan_memmove(void *dst, const void *src, size_t n) { return do_move(dst, src, n, HD_RA); }
HD_EXPORT void *__tsan_memset(void *dst, int c, size_t n) { return do_set(dst, c, n, HD_RA); }

// What compilers call in the runtime's other files (core/sys.h).
void *hd_memcpy(void *dst, const void *src, size_t n) {
  hd_copy(dst, src, n);
  return dst;
}
void *hd_memset(void *dst, int c, size_t n) {
  hd_fill(dst, c, n);
  return dst;
}
void *hd_memmove(void *dst, const void *src, size_t n) {
  if ((char *)dst > (const char *)src && (char *)dst < (const char *)src + n) down(dst, src, n);
  else hd_copy(dst, src, n);
  return dst;
}
