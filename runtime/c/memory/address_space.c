// address_space.c: where the loader maps what a program loads while it runs. It asks the kernel for
// any place, and the kernel gives the highest gap that is large enough: one that depends on
// what the runtime has mapped before, which is not the same under each isolation. Pointers
// into a library would be other numbers then. So before the first dlopen all of the address
// space above a fixed line is filled, and gaps begin at that line.
//
// The address is an optimisation only: modules are named independently of it (core/late_modules.c).
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/own_memory.h"
#include "memory/mappings.h"

// The kernel's own place for mappings is within a terabyte of the top, and everything that a
// process maps until main within another.
#define LINE 0x7c0000000000ul
#define SIZE (256ul << 30)   // below the line: more than libraries need
#define OWN 0x2c0000000000ul // the runtime's own mappings from then on
static bool filled, failed;
static uintptr_t done;

static void fill(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)perms;
  if (lo < LINE) return;
  for (const char *s = rest; *s && *s != '\n'; s++)
    if (s[0] == '[' && s[1] == 's') done = ~0ul; // what is above the stack, and what it grows into
  if (lo > done && hd_sys6(SYS_mmap, (long)done, (long)(lo - done), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (long)done) failed = true;
  if (hi > done) done = hi;
}

void hd_area_prepare(void) {
  if (filled) return;
  filled = true;
  hd_own_next = OWN;
  done = LINE;
  struct rlimit r;
  failed = getrlimit(RLIMIT_AS, &r) || r.rlim_cur != RLIM_INFINITY; // it would count
  if (failed) return;
  hd_maps_each(fill);
}

bool hd_area_above(uintptr_t address) { return filled && !failed && address >= LINE; }

// Of a process that goes on: what an execution has loaded goes. False: it may be elsewhere.
bool hd_area_empty(void) {
  hd_sys(SYS_munmap, LINE - SIZE, SIZE, 0);
  return !failed;
}
