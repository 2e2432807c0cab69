// libc.c: looks up the libc functions that the runtime interposes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include "core/libc.h"

struct hd_real hd_real;
uint64_t hd_real_calls;

static const struct { const char *name; uint32_t offset; } names[] = {
#define HD_LIBC(name) { #name, offsetof(struct hd_real, name) },
#include "core/libc.def"
#undef HD_LIBC
};

// The runtime interposes dlsym but not dlvsym. Both depend on the caller's address.
void *(*hd_real_dlsym)(void *, const char *);
void *hd_real_find(const char *name) {
  if (!hd_real_dlsym) *(void **)&hd_real_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!hd_real_dlsym) *(void **)&hd_real_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return hd_real_dlsym ? hd_real_dlsym(RTLD_NEXT, name) : NULL;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), __libc_free(void *);
bool hd_real_is(const void *p, const char *name) {
  if (p == (void *)__libc_malloc || p == (void *)__libc_calloc || p == (void *)__libc_realloc || p == (void *)__libc_free)
    return name[0] != '_';
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (*(void **)((char *)&hd_real + names[i].offset) == p) return hd_streq(names[i].name, name);
  return false;
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
