// own_memory.c: the runtime's own memory, which the snapshot never restores.
#define _GNU_SOURCE
#include <sys/mman.h>
#include "core/carrier.h"
#include "core/own_memory.h"
#include "core/rings.h"

uintptr_t hd_own_next;

// Shared, because the snapshot covers private mappings only, and the kernel may merge a private
// mapping with a neighbouring mapping of the program, but never a shared one. Private without a
// snapshot, so that a child process's writes stay in the child.
static long map(uintptr_t at, uint64_t bytes, bool shared, int flags) {
  long p = hd_sys6(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE,
                   (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (p < 0) return p;
  hd_sys(SYS_madvise, p, bytes, MADV_DONTDUMP);
  hd_sys(SYS_madvise, p, bytes, MADV_NOHUGEPAGE);
  return p;
}

void *hd_map_at(uintptr_t at, uint64_t bytes) {
  long p = map(at, (bytes + 4095) & ~4095ull, !hd_isolation, MAP_FIXED_NOREPLACE);
  return p == (long)at ? (void *)p : NULL;
}

static void *next(uint64_t bytes, bool shared, const char *what) {
  bytes = (bytes + 4095) & ~4095ull;
  uintptr_t at = hd_own_next;
  if (at) hd_own_next += bytes;
  long p = map(at, bytes, shared, 0);
  if (p < 0) hd_fatal("no memory for %s (%u MB)", what, (unsigned)(bytes >> 20));
  return (void *)p;
}

void *hd_map(uint64_t bytes, const char *what) { return next(bytes, !hd_isolation, what); }
void *hd_map_shared(uint64_t bytes, const char *what) { return next(bytes, true, what); }
