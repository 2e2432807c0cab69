// mappings.c: what the program maps. The kernel may map memory where other memory was before, depending on the schedule, so
// recordings with values have where mappings begin and end. Those of libc itself, for stacks and the heap, are not seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "live.h"

void *hl_mmap(void *address, size_t size, int protection, int flags, int fd, long offset) {
  return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}
int hl_munmap(void *address, size_t size) { return (int)syscall(SYS_munmap, address, size); }

// The end of a mapping is recorded before another can take its place.
static void begins(void *p, size_t size) {
  if (p != MAP_FAILED && hl_valued()) hl_record(HL_MAP, 0, (uint64_t)p, 0, size);
}
static void ends(void *p, size_t size) {
  if (hl_valued()) hl_record(HL_UNMAP, 0, (uint64_t)p, 0, size);
}

HL_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset) {
  void *p = hl_mmap(address, size, protection, flags, fd, offset);
  begins(p, size);
  return p;
}
HL_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, long offset) {
  return mmap(address, size, protection, flags, fd, offset);
}
HL_EXPORT int munmap(void *p, size_t size) {
  ends(p, size);
  return hl_munmap(p, size);
}
HL_EXPORT void *mremap(void *old, size_t size, size_t wanted, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void *to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
  va_end(more);
  if (size) ends(old, size);
  void *p = (void *)syscall(SYS_mremap, old, size, wanted, flags, to);
  if (p == MAP_FAILED) begins(old, size);
  else begins(p, wanted);
  return p;
}
