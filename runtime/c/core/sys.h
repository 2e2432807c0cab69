// sys.h: system calls without libc, because a hook may run where libc is not usable
// (before its constructors, on a fiber inside its locks, in a signal handler).
#ifndef HD_SYS_H
#define HD_SYS_H
#include <stdint.h>
#include <sys/syscall.h>

static inline long hd_sys6(long n, long a, long b, long c, long d, long e, long f) {
  long r;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return r;
}
#define hd_sys(n, a, b, c) hd_sys6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define hd_sys4(n, a, b, c, d) hd_sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

// Compilers call memcpy and memset on their own, to copy and to clear structs. These calls must
// not reach the functions that the runtime stands in for (memory/memcpy.c), which are accesses of the
// program's.
#ifndef HD_STANDS_IN_FOR_MEM
__asm__(".set memcpy, hd_memcpy\n\t.set memmove, hd_memmove\n\t.set memset, hd_memset");
#endif

// Own copies and fills.
static inline void hd_copy(void *dst, const void *src, uint64_t n) {
  __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
}
static inline void hd_fill(void *dst, int byte, uint64_t n) {
  __asm__ volatile("rep stosb" : "+D"(dst), "+c"(n) : "a"(byte) : "memory");
}
static inline uint64_t hd_strlen(const char *s) {
  uint64_t n = 0;
  while (s[n]) { n++; __asm__ volatile("" ::: "memory"); }
  return n;
}
static inline int hd_streq(const char *a, const char *b) {
  while (*a && *a == *b) { a++; b++; }
  return *a == *b;
}
#endif
