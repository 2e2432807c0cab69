// own_memory.c: the runtime's own memory, which the snapshot never restores.
#define _GNU_SOURCE
#include <sys/mman.h>
#include "core/carrier.h"
#include "core/own_memory.h"
#include "core/rings.h"

uintptr_t hd_own_next;

// Shared, because the snapshot covers private mappings only, and the kernel may merge a private
// mapping with a neighbouring one of the program's but never a shared one. Private without a
// snapshot, so that a child process's writes stay in the child.
void *hd_map(uint64_t bytes, const char *what) {
  bytes = (bytes + 4095) & ~4095ull;
  uintptr_t at = hd_own_next;
  if (at) hd_own_next += bytes;
  long p = hd_sys6(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE,
                   (hd_isolation ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p < 0) hd_fatal("no memory for %s (%u MB)", what, (unsigned)(bytes >> 20));
  hd_sys(SYS_madvise, p, bytes, MADV_DONTDUMP);
  hd_sys(SYS_madvise, p, bytes, MADV_NOHUGEPAGE);
  return (void *)p;
}
