// real.c: libc's own functions behind the ones the runtime stands in for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include "rt.h"

struct hd_real hd_real;

static const struct { const char *name; uint32_t offset; } names[] = {
#define HD_REAL(ret, name, args) { #name, offsetof(struct hd_real, name) },
#include "real.def"
#undef HD_REAL
};

// The runtime stands in for dlsym, too, but not for dlvsym. Both look at who calls.
void *hd_real_find(const char *name) {
  static void *(*real)(void *, const char *);
  if (!real) *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!real) *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return real ? real(RTLD_NEXT, name) : NULL;
}

// Old executables on glibc before 2.36 get the oldest condition variable from dlsym, so
// ask for the version that knows clocks first.
static void *find(const char *name) {
  void *p = NULL;
  if (name[0] == 'p' && name[8] == 'c' && name[9] == 'o' && name[10] == 'n')
    p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  return p ? p : hd_real_find(name);
}

void hd_real_init(void) {
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    void **slot = (void **)((char *)&hd_real + names[i].offset);
    if (!*slot) *slot = find(names[i].name);
  }
}
