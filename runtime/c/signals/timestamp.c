// timestamp.c: the time-stamp counter in virtual time. Programs read it with an instruction, which
// no interposed function sees, to measure how long they waited. If a loaded module contains the
// instruction, the kernel makes it fault (PR_SET_TSC), and the handler emulates it.
//
// The kernel's vDSO reads the counter too, and gets the real one. Children of the program are
// started with the trap off, since they would inherit it past exec.
#define _GNU_SOURCE
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include "arch/context.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/run.h"
#include "signals/signals.h"

enum {
  PER_NS = 3,        // counts per nanosecond: a common rate
  PER_READ = 100,    // nanoseconds that a read takes, as reading a clock does
  VDSO_SIZE = 16384, // at most
};
static const uint64_t START = 3000000000000;

static bool reads(const uint8_t *code, uint64_t n) {
  for (const uint8_t *end = code + n; code + 2 < end; code++)
    if (hd_timestamp_size(code)) return true;
  return false;
}

// Libraries of the system, of which only the dynamic loader and the vDSO read the counter.
static bool of_system(const char *path) {
  static const char *const names[] = { "linux-vdso", "ld-linux", "libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "libtsan.so" };
  const char *base = hd_base_name(path);
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *s = base, *n = names[i];
    while (*n && *s == *n) { s++; n++; }
    if (!*n) return true;
  }
  return false;
}

static int one(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  if (of_system(info->dlpi_name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_flags & PF_R && p->p_filesz > 2 &&
        reads((const uint8_t *)info->dlpi_addr + p->p_vaddr, p->p_filesz)) return 1;
  }
  return 0;
}

static void set(int mode) { hd_sys(SYS_prctl, PR_SET_TSC, mode, 0); }

void hd_timestamp_trap(bool on) {
  static int used = -1;
  if (used < 0) used = REAL(dl_iterate_phdr)(one, NULL);
  if (used) set(on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE);
}

static uint64_t real(void) {
  set(PR_TSC_ENABLE);
  uint64_t now = hd_timestamp_now();
  set(PR_TSC_SIGSEGV);
  return now;
}

bool hd_timestamp(ucontext_t *c) {
  uint64_t pc = hd_context_pc(c), word = hd_word_at(pc, 2);
  uint8_t code[3] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)hd_word_at(pc + 2, 1) };
  uint64_t size = hd_timestamp_size(code), vdso = getauxval(AT_SYSINFO_EHDR), now;
  if (!size) return false;
  if (hd_mode == HD_ACTIVE && pc - vdso >= VDSO_SIZE) now = START + (hd.vtime += PER_READ) * PER_NS;
  else now = real();
  hd_context_timestamp(c, size, now);
  return true;
}
