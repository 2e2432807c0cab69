// heddle: Functions on strings and bytes, whose accesses the runtime reports.
// kind: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include "say.h"

static char a[32] = "One, two", b[32] = "one, three", d[32];

#define AT(base, call) do { const char *at = (const char *)(call); printf("%s: %ld\n", #call, at ? (long)(at - (base)) : -1L); } while (0)
#define SIGN(call) do { int said = (call); printf("%s: %d\n", #call, (said > 0) - (said < 0)); } while (0)
#define SIZE(call) printf("%s: %zu\n", #call, (size_t)(call))

static int print(char *to, int most, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = most < 0 ? vsprintf(to, format, list) : vsnprintf(to, (size_t)most, format, list);
  va_end(list);
  return n;
}

static void *calls(void *arg) {
  SIZE(strlen(a));
  SIZE(strlen(""));
  SIZE(strnlen(a, 3));
  SIZE(strnlen(a, SIZE_MAX));
  SIGN(strcmp(a, b));
  SIGN(strcmp("\xff", "\x01"));
  SIGN(strncmp(a + 1, b + 1, 5));
  SIGN(strncmp(a, b, 0));
  SIGN(strcasecmp(a, b));
  SIGN(strncasecmp(a, b, 5));
  SIGN(memcmp(a, b, 1));
  SIGN(memcmp(a, b, 0));
  SIGN(bcmp(a + 1, b + 1, 3));
  AT(a, strchr(a, ','));
  AT(a, strchr(a, 0));
  AT(a, strchr(a, 'z'));
  AT(a, strchrnul(a, 'z'));
  AT(a, strrchr(a, 't'));
  AT(a, index(a, 'e'));
  AT(a, rindex(a, 'z'));
  AT(a, memchr(a, 'w', sizeof a));
  AT(a, memchr(a, 'w', 3));
  AT(a, memrchr(a, 'o', 8));
  AT(a, rawmemchr(a, 'w'));
  AT(a, strstr(a, "two"));
  AT(a, strstr(a, ""));
  AT(a, strstr(a, "three"));
  AT(a, strcasestr(a, "TWO"));
  AT(a, memmem(a, 8, "wo", 2));
  AT(a, memmem(a, 7, "wo", 2));
  SIZE(strspn(a, "enO"));
  SIZE(strcspn(a, " ,"));
  AT(a, strpbrk(a, "wt"));
  AT(a, strpbrk(a, "z"));
  AT(d, strcpy(d, a));
  AT(d, stpcpy(d, b));
  AT(d, strncpy(d, a, 3));
  AT(d, stpncpy(d, "x", 5));
  puts(d);
  AT(d, strcat(d, a));
  AT(d, strncat(d, b, 3));
  puts(d);
  char *copy = strdup(a), *part = strndup(a, 3);
  printf("%s %s\n", copy, part);
  free(copy);
  free(part);
  SIZE(snprintf(d, sizeof d, "%d %s", 12, "x"));
  SIZE(snprintf(d, 3, "%d %s", 12345, "x"));
  SIZE(snprintf(NULL, 0, "%d", 12345));
  puts(d);
  SIZE(sprintf(d, "%.2f", 1.5));
  SIZE(print(d, -1, "%c%%", 'x'));
  SIZE(print(d, 4, "%s", "abcdef"));
  puts(d);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, calls, NULL);
  pthread_join(t, NULL);
  return 0;
}
