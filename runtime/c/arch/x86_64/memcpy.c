// memcpy.c: the functions behind copies that compilers generate in the runtime's files (inline.h).
#define HD_INTERPOSES_MEMCPY
#include <stddef.h>
#include "arch/arch.h"

void *hd_memcpy(void *dst, const void *src, size_t n) {
  hd_copy(dst, src, n);
  return dst;
}
void *hd_memset(void *dst, int c, size_t n) {
  hd_fill(dst, c, n);
  return dst;
}
void *hd_memmove(void *dst, const void *src, size_t n) {
  if ((char *)dst > (const char *)src && (char *)dst < (const char *)src + n) hd_copy_down(dst, src, n);
  else hd_copy(dst, src, n);
  return dst;
}
