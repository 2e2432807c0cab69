// timestamp.c: the time-stamp counter in virtual time. Programs read it with an instruction, which
// no interposed function sees, to measure how long they waited. If a loaded module contains the
// instruction, the kernel makes it fault (PR_SET_TSC), and the handler emulates it.
//
// The kernel's vDSO reads the counter too, and gets the real one. Children of the program are
// started with the trap off, since they would inherit it past exec.
#define _GNU_SOURCE
#include <sys/auxv.h>
#include <sys/prctl.h>
#include "arch/context.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/run.h"
#include "memory/shared_state.h"
#include "signals/signals.h"

enum {
  PER_NS = 3,        // counts per nanosecond: a common rate
  PER_READ = 100,    // nanoseconds that a read takes, as reading a clock does
  VDSO_SIZE = 16384, // at most
};
static const uint64_t START = 3000000000000;

static bool reads(const uint8_t *code) { return hd_timestamp_size(code); }

static void set(int mode) { hd_sys(SYS_prctl, PR_SET_TSC, mode, 0); }

void hd_timestamp_trap(bool on) {
  static int used = -1;
  if (used < 0) used = hd_program_contains(reads, NULL); // of the system's libraries, only the loader and the vDSO do
  if (used) set(on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE);
}

static uint64_t real(void) {
  set(PR_TSC_ENABLE);
  uint64_t now = hd_timestamp_now();
  set(PR_TSC_SIGSEGV);
  return now;
}

// Returns the size of the instruction at pc, which has faulted; 0 if it is another one. A thread that waits may read the
// counter thousands of times, so a place is read through the kernel only once: that it faults again shows that it is still mapped,
// as far as the processor had to read it.
static uint64_t size_at(uint64_t pc) {
  enum { PLACES = 64 };
  static uint64_t places[PLACES];
  uint64_t *place = &places[hd_mix(pc, 0) >> 32 & (PLACES - 1)];
  uint8_t code[3] = { 0 };
  if (*place == pc) {
    const volatile uint8_t *at = (const volatile uint8_t *)pc;
    code[0] = at[0];
    if (code[0] == 0x0f) code[1] = at[1];
    if (code[0] == 0x0f && code[1] == 0x01) code[2] = at[2];
  } else {
    for (int i = 0; i < 3; i++) code[i] = (uint8_t)hd_word_at(pc + (uint64_t)i, 1);
  }
  uint64_t size = hd_timestamp_size(code);
  if (size) *place = pc;
  return size;
}

bool hd_timestamp(ucontext_t *c) {
  uint64_t pc = hd_context_pc(c), size = size_at(pc), vdso = getauxval(AT_SYSINFO_EHDR), now;
  if (!size) return false;
  if (hd_mode == HD_ACTIVE) hd_unordered(HD_SHARED_CLOCK);
  if (hd_mode == HD_ACTIVE && pc - vdso >= VDSO_SIZE) now = START + (hd.vtime += PER_READ) * PER_NS;
  else now = real();
  hd_context_timestamp(c, size, now);
  return true;
}
