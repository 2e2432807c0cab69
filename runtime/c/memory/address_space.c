// address_space.c: makes the addresses of libraries loaded while the program runs independent of the
// isolation. The loader lets the kernel choose an address, and the kernel picks the highest gap that
// is large enough. That gap depends on the runtime's mappings, which differ between isolations, and
// so would pointers into the library. Before the first dlopen, the runtime therefore fills all
// address space above a fixed line, and the highest gap begins at that line.
//
// The address is an optimisation only: modules are named independently of it (core/late_modules.c).
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/own_memory.h"
#include "memory/mappings.h"

// The kernel places mappings within a terabyte of the top of the address space, and a process maps
// less than another terabyte before main.
#define LINE 0x7c0000000000ul
#define SIZE (256ul << 30)   // bytes below the line, more than libraries need
static bool filled, failed;
static uintptr_t done;

static void fill(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)perms;
  if (lo < LINE) return;
  for (const char *s = rest; *s && *s != '\n'; s++)
    if (s[0] == '[' && s[1] == 's') done = ~0ul; // leaves out the space above the stack, and below it for its growth
  if (lo > done && hd_sys6(SYS_mmap, (long)done, (long)(lo - done), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (long)done) failed = true;
  if (hi > done) done = hi;
}

void hd_area_prepare(void) {
  if (filled) return;
  filled = true;
  done = LINE;
  struct rlimit r;
  failed = getrlimit(RLIMIT_AS, &r) || r.rlim_cur != RLIM_INFINITY; // filled address space would count towards the limit
  if (failed) return;
  hd_maps_each(fill);
}

bool hd_area_above(uintptr_t address) { return filled && !failed && address >= LINE; }

// Unmaps what an execution has loaded, in a process that continues. Returns false if the space was
// not filled, so that libraries may be elsewhere.
bool hd_area_empty(void) {
  hd_sys(SYS_munmap, LINE - SIZE, SIZE, 0);
  return !failed;
}
