// patch.c: calls of hooks that have nothing to do become no-ops. A call costs more than the check
// whether there is something to do, and most instructions are no targets.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "live.h"

enum { CALL = 5, CALL_GOT = 6 }; // lengths of call f and of call *f@GOTPCREL(%rip)

static bool replace(uint8_t *after, bool jump) {
  static const uint8_t nop5[CALL] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, nop6[CALL_GOT] = { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 };
  if (jump) {
    if (after[-CALL] == 0xe9) after[-CALL] = 0xc3; // ret
    else if (after[-CALL_GOT] == 0xff && after[1 - CALL_GOT] == 0x25) after[-CALL_GOT] = 0xc3;
    else return false;
    return true;
  }
  if (after[-CALL_GOT] == 0xff && after[1 - CALL_GOT] == 0x15) memcpy(after - CALL_GOT, nop6, CALL_GOT);
  else if (after[-CALL] == 0xe8) memcpy(after - CALL, nop5, CALL);
  else return false;
  return true;
}

// The program has one thread, and none of it is executing the pages.
void hl_patch_calls(void) {
  struct hl_patch *p = (struct hl_patch *)(hl_targets + hl->ntargets);
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  for (uint64_t i = 0; i < hl->npatches;) {
    uint64_t at = hl_address(p[i].after);
    if (at == 0) {
      hl->refused++, i++;
      continue;
    }
    // All that begin in the same two pages at once: they are in ascending order.
    uint64_t lo = (at - CALL_GOT) & -page, hi = lo + 2 * page;
    if (mprotect((void *)lo, hi - lo, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
      hi = lo + page;
      if (mprotect((void *)lo, hi - lo, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        hl->refused++, i++;
        continue;
      }
    }
    for (; i < hl->npatches && (at = hl_address(p[i].after)) != 0 && at - CALL_GOT >= lo && at <= hi; i++)
      if (!replace((uint8_t *)at, p[i].jump != 0)) hl->refused++;
    mprotect((void *)lo, hi - lo, PROT_READ | PROT_EXEC);
  }
}
