// What the programs print: each call, and what it returned.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
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

// A call that must succeed, and after which somebody else prints.
#define MUST(call) do { if (call) printf("%s failed\n", #call); } while (0)
