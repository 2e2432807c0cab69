// arrivals.c: signals that the program's child processes, and processes that these start, send to it. They know it by the
// kernel's identifier of this process, so the signals come through the kernel. From the first child on the kernel keeps them
// pending, and process/children.c takes them when a child may have run: the runtime's own code is never interrupted.
//
// Signals that the runtime needs for itself cannot be blocked; its handlers (crash.c) put aside what another process sent.
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>
#include "core/fiber.h"
#include "core/interrupts.h"
#include "core/rings.h"
#include "signals/signals.h"

enum { CANCEL = 32, SETXID = 33 /* libc's own */, ROOM = 16 };

static bool open; // a child process has been started
static siginfo_t aside[ROOM];
static uint32_t first, last; // of those put aside; last - first of them

// With --threads a debugger interrupts the program by SIGINT.
static uint64_t blocked(void) {
  uint64_t set = ~(hd_bit(CANCEL) | hd_bit(SETXID) | hd_crash_set());
  return hd_threads_real ? set & ~hd_bit(SIGINT) : set;
}

uint64_t hd_arrivals_mask(void) { return blocked(); }

void hd_arrivals_open(void) {
  uint64_t set = blocked();
  if (open) return;
  open = true;
  if (!hd_threads_real) hd_sys4(SYS_rt_sigprocmask, SIG_BLOCK, &set, 0, 8); // else: blocked in all kernel threads already
}

bool hd_arrival_aside(const siginfo_t *info) {
  if (!open || info->si_code > 0 || info->si_pid == 0 || info->si_pid == hd_controller || info->si_pid == hd_sys(SYS_getpid, 0, 0, 0)) return false;
  if (last - first < ROOM) aside[last++ % ROOM] = *info;
  return true;
}

bool hd_arrival_waits(void) {
  uint64_t pending = 0;
  if (last != first) return true;
  hd_sys(SYS_rt_sigpending, &pending, 8, 0);
  return pending & blocked();
}

bool hd_arrival_take(siginfo_t *info) {
  if (last != first) {
    *info = aside[first++ % ROOM];
    return true;
  }
  struct timespec now = { 0 };
  for (;;) {
    uint64_t set = blocked();
    long sig = hd_sys4(SYS_rt_sigtimedwait, &set, info, &now, 8);
    if (sig <= 0) return false;
    if (info->si_code <= 0) return true;
    if (sig == SIGCHLD) continue; // a child has ended, which the runtime learns otherwise
    hd_arrival_fatal((int)sig);
  }
}

void hd_arrival_fatal(int sig) {
  uint64_t set = hd_bit(sig);
  hd_sys(SYS_tgkill, hd_sys(SYS_getpid, 0, 0, 0), hd_sys(SYS_gettid, 0, 0, 0), sig);
  hd_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, 0, 8);
}

// ---- around fork
uint64_t hd_signals_block(void) {
  uint64_t all = ~0ull, old = 0;
  hd_sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, 8);
  return old;
}

void hd_signals_unblock(uint64_t old) { hd_sys4(SYS_rt_sigprocmask, SIG_SETMASK, &old, 0, 8); }
