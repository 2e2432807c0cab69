// side_stack.c: memory for side stacks, one for each slot of a thread.
#include <sys/mman.h>
#include "core/attach.h"
#include "core/rings.h"
#include "core/side_stack.h"

enum {
  SIZE = 128 << 10,
  ROOM = 32 << 10,   // for the frames of a call, the unwinder's included; with less, hooks run on the program's stack
  SLACK = 2048,      // frames between a caller of hd_side_below and the program
};

static uint32_t opened, reserved;

static void reserve(void) {
  for (reserved = HD_MAX_THREADS; reserved; reserved /= 2) {
    long p = hd_sys6(SYS_mmap, (long)(HD_SIDE_BASE + hd_random_gap), (long)reserved * SIZE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p < 0) continue;
    hd_side_lo = (uintptr_t)p;
    hd_side_size = (uint64_t)reserved * SIZE;
    hd_sys(SYS_madvise, p, hd_side_size, MADV_DONTDUMP);
    hd_sys(SYS_madvise, p, hd_side_size, MADV_NOHUGEPAGE);
    return;
  }
}

void hd_side_open(uint32_t n) {
  if (!hd_side_lo) reserve();
  if (n > reserved) n = reserved;
  if (n <= opened) return;
  if (hd_sys(SYS_mprotect, hd_side_lo + (uint64_t)opened * SIZE, (uint64_t)(n - opened) * SIZE, PROT_READ | PROT_WRITE) == 0) opened = n;
}

uintptr_t hd_side_of(uint32_t slot) {
  if (HD_UNLIKELY(slot >= opened)) hd_side_open(slot + 1);
  return slot < opened ? hd_side_lo + (slot + 1ull) * SIZE - (slot * 64ull & 4095) : 0;
}

uintptr_t hd_side_below(uintptr_t sp) {
  uintptr_t was = hd_side_top;
  if (!hd_on_side(sp)) return was;
  uintptr_t top = (sp - SLACK) & ~63ull;
  hd_side_top = (top - hd_side_lo) % SIZE > ROOM ? top : 0;
  return was;
}
