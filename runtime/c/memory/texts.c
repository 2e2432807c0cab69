// texts.c: what formatted input and output, numbers in texts, tokens and sorting access. strings.c has the functions on
// strings and bytes. Declarations of stdio.h and stdlib.h would give some of these functions other names.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include "core/event.h"
#include "core/injection.h"
#include "core/libc.h"
#include "core/run.h"
#include "memory/access.h"
#include "memory/shared_state.h"
#include "memory/texts.h"

#define ALL ((size_t)-1)

// The texts are the program's, and reading them may fault as the program's call would.
static HD_PROGACCESS size_t whole(const char *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n]) n++;
  return n < most ? n + 1 : n;
}
static HD_PROGACCESS char byte(const char *s) { return *(volatile const char *)s; }
static HD_PROGACCESS void *pointer(void *const *p) { return *(void *volatile const *)p; }

HD_ON_SIDE_STACK(void, hd_bytes_read, (const void *p, size_t n, uint64_t pc)) {
  hd_inject_call();
  hd_access_range(p, n, false, pc);
}
HD_ON_SIDE_STACK(void, hd_text_read, (const char *s, size_t most, uint64_t pc)) {
  hd.cur->pend.pc = pc;
  hd_bytes_read(s, whole(s, most), pc);
}
void hd_text_done(void) { hd_inject_calling = false; }
static void writes(const void *p, size_t n, uint64_t pc) {
  hd_inject_call();
  hd_access_range(p, n, true, pc);
}
HD_ON_SIDE_STACK(void, hd_bytes_written, (const void *p, size_t n, uint64_t pc)) {
  hd_access_range(p, n, true, pc);
  hd_event_settle();
}
HD_ON_SIDE_STACK(void, hd_text_written, (const char *s, uint64_t pc)) { hd_bytes_written(s, whole(s, ALL), pc); }

// ---- formats
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_one_of(char c, const char *set) {
  for (; *set; set++)
    if (*set == c) return true;
  return false;
}

// Skips a number, and returns it.
static size_t number(const char **f) {
  size_t n = 0;
  for (char c; is_digit(c = byte(*f)); ++*f) n = 10 * n + (size_t)(c - '0');
  return n;
}

// Skips a length modifier. The result is 'H' for hh, 'q' for ll, otherwise the letter, or 0.
static char length_modifier(const char **f) {
  char c = byte(*f);
  if (!is_one_of(c, "hlqLjzZt")) return 0;
  if (byte(++*f) != c || (c != 'h' && c != 'l')) return c;
  ++*f;
  return c == 'h' ? 'H' : 'q';
}

// A format with positions of arguments (%1$s) is not looked at further.
HD_ON_SIDE_STACK(void, hd_printed, (const char *f, va_list given, uint64_t pc)) {
  if (!hd_access_seen(pc)) return;
  va_list list;
  hd.cur->pend.pc = pc;
  va_copy(list, given);
  for (char c; (c = byte(f)) != 0;) {
    f++;
    if (c != '%') continue;
    size_t most = ALL;
    while (is_one_of(byte(f), "-+ #0'I")) f++;
    if (byte(f) == '*') f++, (void)va_arg(list, int);
    else number(&f);
    if (byte(f) == '$') break;
    if (byte(f) == '.') {
      f++;
      if (byte(f) == '*') {
        int n = va_arg(list, int);
        if (n >= 0) most = (size_t)n;
        f++;
      } else {
        most = number(&f);
      }
    }
    char modifier = length_modifier(&f);
    c = byte(f);
    if (!c) break;
    f++;
    if (is_one_of(c, "dioxXuc")) {
      if (is_one_of(modifier, "lqLjzZt") && modifier) (void)va_arg(list, long);
      else (void)va_arg(list, int);
    } else if (is_one_of(c, "aAeEfFgG")) {
      if (modifier == 'L' || modifier == 'q') (void)va_arg(list, long double);
      else (void)va_arg(list, double);
    } else if (c == 's') {
      const char *s = va_arg(list, const char *);
      if (s && modifier != 'l') hd_text_read(s, most, pc);
    } else if (is_one_of(c, "pnSC")) {
      (void)va_arg(list, void *);
    } else if (!is_one_of(c, "m%")) {
      break;
    }
  }
  va_end(list);
}

// How many bytes a conversion of scanf writes; 0: a text with a 0.
static size_t converted(char c, char modifier, size_t width) {
  if (is_one_of(c, "aAeEfFgG")) return modifier == 'L' || modifier == 'q' ? sizeof(long double) : modifier == 'l' ? sizeof(double) : sizeof(float);
  if (c == 'p') return sizeof(void *);
  bool wide = modifier == 'l';
  if (c == 'c') return (width ? width : 1) * (wide ? sizeof(__WCHAR_TYPE__) : 1);
  if (c == 's' || c == '[') return 0;
  return modifier == 'H' ? 1 : modifier == 'h' ? 2 : modifier ? 8 : 4;
}

HD_ON_SIDE_STACK(void, hd_scanned, (const char *f, va_list given, int assigned, uint64_t pc)) {
  if (assigned < 0 || !hd_access_seen(pc)) return;
  va_list list;
  va_copy(list, given);
  bool literal = false; // something had to match since the last conversion
  for (char c; (c = byte(f)) != 0;) {
    f++;
    if (c != '%') {
      literal = true;
      continue;
    }
    bool keeps = byte(f) != '*', allocates = false;
    if (!keeps) f++;
    size_t width = number(&f);
    if (byte(f) == '$') break;
    while (byte(f) == '\'' || byte(f) == 'I') f++;
    if (byte(f) == 'm') f++, allocates = true;
    char modifier = length_modifier(&f);
    if (!(c = byte(f))) break;
    f++;
    if (c == '%') {
      literal = true;
      continue;
    }
    if (c == '[') {
      if (byte(f) == '^') f++;
      if (byte(f)) f++;
      while (byte(f) && byte(f) != ']') f++;
      if (byte(f)) f++;
    }
    if (!keeps) {
      literal = true;
      continue;
    }
    void *p = va_arg(list, void *);
    if (c == 'n') {
      if (assigned > 0 || !literal) hd_bytes_written(p, converted('d', modifier, 0), pc);
      continue;
    }
    if (assigned-- <= 0) break;
    literal = false;
    if (allocates) hd_bytes_written(p, sizeof(char *), pc), p = pointer(p);
    size_t n = c == 'C' || c == 'S' ? 0 : converted(c, modifier, width);
    if (n) hd_bytes_written(p, n, pc);
    else if (c != 'C' && c != 'S' && modifier != 'l') hd_text_written(p, pc);
  }
  va_end(list);
}

#define SCAN(name, standard) \
  HD_EXPORT int standard(const char *s, const char *format, va_list list); \
  static int scan_##standard(const char *s, const char *format, va_list list, uint64_t pc) { \
    if (!hd_active()) return REAL(standard)(s, format, list); \
    va_list again; \
    va_copy(again, list); \
    hd_text_read(s, ALL, pc); \
    hd_text_done(); \
    hd.cur->pend.pc = pc; \
    int n = REAL(standard)(s, format, list); \
    hd_scanned(format, again, n, pc); \
    va_end(again); \
    return n; \
  } \
  HD_EXPORT int standard(const char *s, const char *format, va_list list) { return scan_##standard(s, format, list, HD_RA); } \
  HD_EXPORT int name(const char *s, const char *format, ...) { \
    va_list list; \
    va_start(list, format); \
    int n = scan_##standard(s, format, list, HD_RA); \
    va_end(list); \
    return n; \
  }
SCAN(sscanf, vsscanf)
SCAN(__isoc99_sscanf, __isoc99_vsscanf)
SCAN(__isoc23_sscanf, __isoc23_vsscanf)

// ---- numbers
static inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline int digit(char c) { return is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10 : 99; }

// The bytes before a number: blanks and a sign.
static HD_PROGACCESS size_t before(const char *s) {
  size_t n = 0;
  while (is_blank(s[n])) n++;
  return s[n] == '+' || s[n] == '-' ? n + 1 : n;
}
// How many bytes a conversion reads, the one behind the number included.
static HD_PROGACCESS size_t integer(const char *s, int base, size_t n) {
  if ((base == 0 || base == 16) && s[n] == '0' && (s[n + 1] | 0x20) == 'x') base = 16, n += 2;
  else if (base == 0) base = s[n] == '0' ? 8 : 10;
  while (digit(s[n]) < base) n++;
  return n + 1;
}

HD_ON_SIDE_STACK(void, hd_integer_read, (const char *s, char **end, int base, uint64_t pc)) {
  hd.cur->pend.pc = pc;
  hd_bytes_read(s, hd_access_seen(pc) ? integer(s, base, before(s)) : 1, pc);
  if (end) writes(end, sizeof *end, pc);
  hd_text_done();
  hd.cur->pend.pc = pc;
}
HD_EXPORT long double strtold(const char *s, char **end);
HD_ON_SIDE_STACK(void, hd_float_read, (const char *s, char **end, uint64_t pc)) {
  hd.cur->pend.pc = pc;
  size_t n = 1;
  if (hd_access_seen(pc)) {
    int err = errno;
    char *behind;
    REAL(strtold)(s, &behind);
    errno = err;
    n = behind == s ? before(s) + 1 : (size_t)(behind - s) + 1;
  }
  hd_bytes_read(s, n, pc);
  if (end) writes(end, sizeof *end, pc);
  hd_text_done();
  hd.cur->pend.pc = pc;
}

#define WORD(type, name) \
  HD_INTERPOSE(type, name, (const char *s), (s)) { \
    hd_integer_read(s, NULL, 10, HD_RA); \
    return REAL(name)(s); \
  }
WORD(int, atoi)
WORD(long, atol)
WORD(long long, atoll)
#define INTEGER(type, name) \
  HD_INTERPOSE(type, name, (const char *s, char **end, int base), (s, end, base)) { \
    hd_integer_read(s, end, base, HD_RA); \
    return REAL(name)(s, end, base); \
  }
INTEGER(long, strtol)
INTEGER(unsigned long, strtoul)
INTEGER(long long, strtoll)
INTEGER(unsigned long long, strtoull)
INTEGER(intmax_t, strtoimax)
INTEGER(uintmax_t, strtoumax)
// glibc from 2.38 on calls these where the program is C23 or newer.
INTEGER(long, __isoc23_strtol)
INTEGER(unsigned long, __isoc23_strtoul)
INTEGER(long long, __isoc23_strtoll)
INTEGER(unsigned long long, __isoc23_strtoull)
INTEGER(intmax_t, __isoc23_strtoimax)
INTEGER(uintmax_t, __isoc23_strtoumax)
HD_INTERPOSE(double, atof, (const char *s), (s)) {
  hd_float_read(s, NULL, HD_RA);
  return REAL(atof)(s);
}
#define FLOAT(type, name) \
  HD_INTERPOSE(type, name, (const char *s, char **end), (s, end)) { \
    hd_float_read(s, end, HD_RA); \
    return REAL(name)(s, end); \
  }
FLOAT(double, strtod)
FLOAT(float, strtof)
FLOAT(long double, strtold)

// ---- tokens: the text from s on up to the token's end, and the 0 that replaces the byte there
static void reads_token(char *s, const char *separators, uint64_t pc) {
  size_t n = REAL(strspn)(s, separators);
  n += REAL(strcspn)(s + n, separators);
  hd_bytes_read(s, n + 1, pc);
  hd_text_read(separators, ALL, pc);
  if (byte(s + n)) writes(s + n, 1, pc);
}
HD_INTERPOSE(char *, strtok_r, (char *s, const char *separators, char **rest), (s, separators, rest)) {
  hd.cur->pend.pc = HD_RA;
  if (!s) hd_bytes_read(rest, sizeof *rest, HD_RA);
  char *from = s ? s : pointer((void **)rest);
  if (from) reads_token(from, separators, HD_RA);
  writes(rest, sizeof *rest, HD_RA);
  hd_text_done();
  hd.cur->pend.pc = HD_RA;
  return REAL(strtok_r)(s, separators, rest);
}
// Where libc goes on is not known before.
HD_INTERPOSE(char *, strtok, (char *s, const char *separators), (s, separators)) {
  hd.cur->pend.pc = HD_RA;
  hd_shares(HD_SHARED_LIBC, HD_STATE_TOKENS, HD_CHANGES, HD_RA);
  if (s) reads_token(s, separators, HD_RA);
  else hd_text_read(separators, ALL, HD_RA);
  hd_text_done();
  hd.cur->pend.pc = HD_RA;
  char *token = REAL(strtok)(s, separators);
  if (!s && token) hd_text_written(token, HD_RA);
  return token;
}
HD_INTERPOSE(char *, strsep, (char **rest, const char *separators), (rest, separators)) {
  hd.cur->pend.pc = HD_RA;
  hd_bytes_read(rest, sizeof *rest, HD_RA);
  char *s = pointer((void **)rest);
  if (s) {
    size_t n = REAL(strcspn)(s, separators);
    hd_bytes_read(s, n + 1, HD_RA);
    hd_text_read(separators, ALL, HD_RA);
    if (byte(s + n)) writes(s + n, 1, HD_RA);
    writes(rest, sizeof *rest, HD_RA);
  }
  hd_text_done();
  hd.cur->pend.pc = HD_RA;
  return REAL(strsep)(rest, separators);
}

// ---- sorting: libc moves the elements. bsearch reads them in the program's function only.
static void sorts(void *base, size_t n, size_t size, uint64_t pc) {
  hd_bytes_read(base, n * size, pc);
  writes(base, n * size, pc);
  hd_text_done();
  hd.cur->pend.pc = pc;
}
HD_INTERPOSE(void, qsort, (void *base, size_t n, size_t size, int (*compare)(const void *, const void *)), (base, n, size, compare)) {
  if (n > 1) sorts(base, n, size, HD_RA);
  REAL(qsort)(base, n, size, compare);
}
HD_INTERPOSE(void, qsort_r, (void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *), void *with), (base, n, size, compare, with)) {
  if (n > 1) sorts(base, n, size, HD_RA);
  REAL(qsort_r)(base, n, size, compare, with);
}
