// What the programs print: each call, and what it returned.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(int n) {
  const char *s = n > 0 ? strerrorname_np(n) : NULL;
  static char buf[32];
  if (s) return s;
  snprintf(buf, sizeof buf, "%d", n);
  return buf;
}

#define SAY(call) do { int said = (call); printf("%s: %s\n", #call, name_of(said)); fflush(stdout); } while (0)
