// strings.c: what libc's functions on strings and blocks of bytes access. libc is compiled without
// hooks, so the runtime reports the ranges that each call reads and writes, from the contents at the
// call. memcpy.c has the functions that compilers generate calls of.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "core/injection.h"
#include "core/libc.h"
#include "core/run.h"
#include "memory/access.h"
#include "memory/texts.h"

// The contents are the program's, and reading them may fault as the program's call would.
static HD_PROGACCESS size_t length(const char *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n]) n++;
  return n;
}

static inline int folded(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

// Returns how many bytes of each string a comparison reads.
static HD_PROGACCESS size_t compared(const char *a, const char *b, size_t most, bool fold) {
  for (size_t n = 0; n < most; n++)
    if (!a[n] || (fold ? folded(a[n]) != folded(b[n]) : a[n] != b[n])) return n + 1;
  return most;
}

// Returns how many bytes a search for c reads; with terminated, it ends behind a 0.
static HD_PROGACCESS size_t searched(const char *s, int c, size_t most, bool terminated) {
  for (size_t n = 0; n < most; n++)
    if (s[n] == (char)c || (terminated && !s[n])) return n + 1;
  return most;
}

static inline void reads(const void *p, size_t n, uint64_t pc) {
  hd_inject_call();
  hd_access_range(p, n, false, pc);
}
static inline void writes(const void *p, size_t n, uint64_t pc) {
  hd_inject_call();
  hd_access_range(p, n, true, pc);
}

// The length of a string with its 0, of which at most so many bytes are looked at.
static inline size_t whole(const char *s, size_t most) {
  size_t n = length(s, most);
  return n < most ? n + 1 : n;
}

enum { HAS_0 = true };
#define ALL ((size_t)-1)
// The operation happens at the call, whatever the accesses were.
#define DONE() (hd.cur->pend.pc = HD_RA)
// Ends each function.
#define RETURN(call) \
  do { \
    __typeof__(call) r = (call); \
    hd_inject_called(); \
    return r; \
  } while (0)

// The texts are measured before they are reported, so a fault there already counts as the call's.
static inline bool at(uint64_t pc) {
  hd.cur->pend.pc = pc;
  return true;
}
#define CALL(...) HD_INTERPOSE_WHILE(hd_active() && at(HD_RA), __VA_ARGS__)

// ---- lengths and comparisons
CALL(size_t, strlen, (const char *s), (s)) {
  reads(s, whole(s, ALL), HD_RA);
  DONE();
  RETURN(REAL(strlen)(s));
}
CALL(size_t, strnlen, (const char *s, size_t most), (s, most)) {
  reads(s, whole(s, most), HD_RA);
  DONE();
  RETURN(REAL(strnlen)(s, most));
}
#define COMPARISON(name, parameters, arguments, most, fold) \
  CALL(int, name, parameters, arguments) { \
    size_t n = compared(a, b, most, fold); \
    reads(a, n, HD_RA); \
    reads(b, n, HD_RA); \
    DONE(); \
    RETURN(REAL(name) arguments); \
  }
COMPARISON(strcmp, (const char *a, const char *b), (a, b), ALL, false)
COMPARISON(strncmp, (const char *a, const char *b, size_t most), (a, b, most), most, false)
COMPARISON(strcasecmp, (const char *a, const char *b), (a, b), ALL, true)
COMPARISON(strncasecmp, (const char *a, const char *b, size_t most), (a, b, most), most, true)
// The order of a locale depends on all of both.
CALL(int, strcoll, (const char *a, const char *b), (a, b)) {
  reads(a, whole(a, ALL), HD_RA);
  reads(b, whole(b, ALL), HD_RA);
  DONE();
  return REAL(strcoll)(a, b);
}
// The standard lets these read all n bytes, whatever differs.
#define BYTES(name) \
  CALL(int, name, (const void *a, const void *b, size_t n), (a, b, n)) { \
    reads(a, n, HD_RA); \
    reads(b, n, HD_RA); \
    DONE(); \
    RETURN(REAL(name)(a, b, n)); \
  }
BYTES(memcmp)
BYTES(bcmp)

// ---- searches
#define SEARCH(type, name, parameters, arguments, n) \
  CALL(type *, name, parameters, arguments) { \
    reads(s, n, HD_RA); \
    DONE(); \
    RETURN(REAL(name) arguments); \
  }
SEARCH(char, strchr, (const char *s, int c), (s, c), searched(s, c, ALL, HAS_0))
SEARCH(char, strchrnul, (const char *s, int c), (s, c), searched(s, c, ALL, HAS_0))
SEARCH(char, strrchr, (const char *s, int c), (s, c), whole(s, ALL))
SEARCH(char, index, (const char *s, int c), (s, c), searched(s, c, ALL, HAS_0))
SEARCH(char, rindex, (const char *s, int c), (s, c), whole(s, ALL))
SEARCH(void, memchr, (const void *s, int c, size_t n), (s, c, n), searched(s, c, n, false))
SEARCH(void, memrchr, (const void *s, int c, size_t n), (s, c, n), n)
SEARCH(void, rawmemchr, (const void *s, int c), (s, c), searched(s, c, ALL, false))

// A search reads up to the end of what it has found, or everything.
#define SUBSTRING(name) \
  CALL(char *, name, (const char *s, const char *want), (s, want)) { \
    const char *at = REAL(name)(s, want); \
    size_t n = whole(want, ALL); \
    reads(s, at ? (size_t)(at - s) + n - 1 : whole(s, ALL), HD_RA); \
    reads(want, n, HD_RA); \
    DONE(); \
    RETURN(REAL(name)(s, want)); \
  }
SUBSTRING(strstr)
SUBSTRING(strcasestr)
CALL(void *, memmem, (const void *s, size_t n, const void *want, size_t m), (s, n, want, m)) {
  const char *at = REAL(memmem)(s, n, want, m);
  reads(s, at ? (size_t)(at - (const char *)s) + m : n, HD_RA);
  reads(want, m, HD_RA);
  DONE();
  RETURN(REAL(memmem)(s, n, want, m));
}
#define SPAN(name) \
  CALL(size_t, name, (const char *s, const char *set), (s, set)) { \
    size_t n = REAL(name)(s, set); \
    reads(s, n + 1, HD_RA); \
    reads(set, whole(set, ALL), HD_RA); \
    DONE(); \
    RETURN(REAL(name)(s, set)); \
  }
SPAN(strspn)
SPAN(strcspn)
CALL(char *, strpbrk, (const char *s, const char *set), (s, set)) {
  const char *at = REAL(strpbrk)(s, set);
  reads(s, at ? (size_t)(at - s) + 1 : whole(s, ALL), HD_RA);
  reads(set, whole(set, ALL), HD_RA);
  DONE();
  RETURN(REAL(strpbrk)(s, set));
}

// ---- copies
//
// A copy of a string may be one that goes on behind the string's end (core/injection.h).
static HD_PROGACCESS void overrun(char *dst, const char *src, size_t more) { hd_copy(dst, src, more); }
#define COPY(name) \
  CALL(char *, name, (char *dst, const char *src), (dst, src)) { \
    size_t n = whole(src, ALL), more = hd_inject_more(HD_RA); \
    reads(src, n + more, HD_RA); \
    writes(dst, n + more, HD_RA); \
    DONE(); \
    char *r = REAL(name)(dst, src); \
    if (HD_UNLIKELY(more)) overrun(dst + n, src + n, more); \
    hd_inject_called(); \
    return r; \
  }
COPY(strcpy)
COPY(stpcpy)
#define COPY_FILLED(name) \
  CALL(char *, name, (char *dst, const char *src, size_t n), (dst, src, n)) { \
    if (HD_UNLIKELY(hd_injectable)) n = hd_inject_length(n, HD_RA); \
    reads(src, whole(src, n), HD_RA); \
    writes(dst, n, HD_RA); \
    DONE(); \
    RETURN(REAL(name)(dst, src, n)); \
  }
COPY_FILLED(strncpy)
COPY_FILLED(stpncpy)
CALL(char *, strcat, (char *dst, const char *src), (dst, src)) {
  size_t at = length(dst, ALL), n = whole(src, ALL), more = hd_inject_more(HD_RA);
  reads(dst, at + 1, HD_RA);
  reads(src, n + more, HD_RA);
  writes(dst + at, n + more, HD_RA);
  DONE();
  char *r = REAL(strcat)(dst, src);
  if (HD_UNLIKELY(more)) overrun(dst + at + n, src + n, more);
  hd_inject_called();
  return r;
}
CALL(char *, strncat, (char *dst, const char *src, size_t most), (dst, src, most)) {
  size_t at = length(dst, ALL), n = length(src, most) + 1, more = hd_inject_more(HD_RA);
  reads(dst, at + 1, HD_RA);
  reads(src, whole(src, most) + more, HD_RA);
  writes(dst + at, n + more, HD_RA);
  DONE();
  char *r = REAL(strncat)(dst, src, most);
  if (HD_UNLIKELY(more)) overrun(dst + at + n, src + n, more);
  hd_inject_called();
  return r;
}
// The bytes up to the first c are copied, or all.
CALL(void *, memccpy, (void *dst, const void *src, int c, size_t most), (dst, src, c, most)) {
  size_t n = searched(src, c, most, false);
  reads(src, n, HD_RA);
  writes(dst, n, HD_RA);
  DONE();
  return REAL(memccpy)(dst, src, c, most);
}
CALL(void *, mempcpy, (void *dst, const void *src, size_t n), (dst, src, n)) {
  reads(src, n, HD_RA);
  writes(dst, n, HD_RA);
  DONE();
  return REAL(mempcpy)(dst, src, n);
}
CALL(char *, strdup, (const char *s), (s)) {
  reads(s, whole(s, ALL), HD_RA);
  hd.cur->pend.pc = HD_RA;
  char *r = REAL(strdup)(s); // has the event of an allocation
  if (r) hd_access_range(r, whole(r, ALL), true, HD_RA);
  hd_inject_called();
  return r;
}
CALL(char *, strndup, (const char *s, size_t most), (s, most)) {
  reads(s, whole(s, most), HD_RA);
  hd.cur->pend.pc = HD_RA;
  char *r = REAL(strndup)(s, most);
  if (r) hd_access_range(r, whole(r, ALL), true, HD_RA);
  hd_inject_called();
  return r;
}

// ---- formatted output to memory
static int formatted(char *dst, size_t most, const char *format, va_list list, uint64_t pc) {
  va_list again;
  va_copy(again, list);
  int n = REAL(vsnprintf)(NULL, 0, format, again);
  va_end(again);
  hd_printed(format, list, pc);
  if (n >= 0 && most) writes(dst, (size_t)n < most ? (size_t)n + 1 : most, pc);
  hd.cur->pend.pc = pc;
  n = REAL(vsnprintf)(dst, most, format, list);
  hd_inject_called();
  return n;
}
HD_EXPORT int vsnprintf(char *dst, size_t most, const char *format, va_list list) {
  return hd_active() ? formatted(dst, most, format, list, HD_RA) : REAL(vsnprintf)(dst, most, format, list);
}
HD_EXPORT int vsprintf(char *dst, const char *format, va_list list) {
  return hd_active() ? formatted(dst, (size_t)INT32_MAX, format, list, HD_RA) : REAL(vsprintf)(dst, format, list);
}
HD_EXPORT int snprintf(char *dst, size_t most, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = hd_active() ? formatted(dst, most, format, list, HD_RA) : REAL(vsnprintf)(dst, most, format, list);
  va_end(list);
  return n;
}
HD_EXPORT int sprintf(char *dst, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = hd_active() ? formatted(dst, (size_t)INT32_MAX, format, list, HD_RA) : REAL(vsprintf)(dst, format, list);
  va_end(list);
  return n;
}
