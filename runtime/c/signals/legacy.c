// legacy.c: the signal calls of System V and of BSD, in terms of POSIX's, as in glibc. BSD's masks
// have 32 bits and do not cover higher signals.
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // they are
#include <errno.h>
#include <signal.h>
#include "core/interrupts.h"
#include "core/libc.h"
#include "core/run.h"
#include "signals/signals.h"

// sigset's disposition that blocks, in headers only for X/Open programs.
#define HOLD ((void (*)(int))2)

static int result(int err) {
  if (err) errno = err;
  return err ? -1 : 0;
}

static int one(int how, int sig, bool *was, uint64_t pc) {
  if (!hd_signal_valid(sig)) return EINVAL;
  sigset_t set, old;
  hd_fill(&set, 0, sizeof set);
  *(uint64_t *)&set = hd_bit(sig);
  int err = hd_signal_mask(how, &set, &old, pc);
  if (was) *was = *(uint64_t *)&old & hd_bit(sig);
  return err;
}

HD_INTERPOSE_CONTROLLED(int, sighold, (int sig), (sig)) { return result(one(SIG_BLOCK, sig, NULL, HD_RA)); }
HD_INTERPOSE_CONTROLLED(int, sigrelse, (int sig), (sig)) { return result(one(SIG_UNBLOCK, sig, NULL, HD_RA)); }

HD_INTERPOSE_CONTROLLED(int, sigignore, (int sig), (sig)) {
  struct sigaction act;
  hd_fill(&act, 0, sizeof act);
  act.sa_handler = SIG_IGN;
  return result(hd_signal_action(sig, &act, NULL, HD_RA));
}

static int set(int sig, void (*handler)(int), void (**before)(int), uint64_t pc) {
  struct sigaction act, old;
  bool held;
  hd_fill(&act, 0, sizeof act);
  act.sa_handler = handler;
  int err = handler == HOLD ? one(SIG_BLOCK, sig, &held, pc) : 0;
  if (!err) err = hd_signal_action(sig, handler == HOLD ? NULL : &act, &old, pc);
  if (!err && handler != HOLD) err = one(SIG_UNBLOCK, sig, &held, pc);
  if (!err) *before = held ? HOLD : old.sa_handler;
  return err;
}

HD_EXPORT void (*sigset(int sig, void (*handler)(int)))(int) {
  if (!hd_controlled()) return (void (*)(int))REAL(sigset)(sig, (void *)handler);
  void (*before)(int) = SIG_ERR;
  return result(set(sig, handler, &before, HD_RA)) ? SIG_ERR : before;
}

// ---- BSD
static int change(int how, int bits, uint64_t pc) {
  sigset_t set, old;
  hd_fill(&set, 0, sizeof set);
  *(uint64_t *)&set = (uint32_t)bits;
  hd_signal_mask(how, &set, &old, pc);
  return (int)*(uint64_t *)&old;
}

HD_INTERPOSE_CONTROLLED(int, sigblock, (int bits), (bits)) { return change(SIG_BLOCK, bits, HD_RA); }
HD_INTERPOSE_CONTROLLED(int, sigsetmask, (int bits), (bits)) { return change(SIG_SETMASK, bits, HD_RA); }
HD_INTERPOSE_CONTROLLED(int, siggetmask, (void), ()) { return change(SIG_BLOCK, 0, HD_RA); }

// Headers decide which of the two sigpause is: System V's takes a signal to unblock, BSD's the
// whole mask.
static int suspend(int what, bool one_signal, uint64_t pc) {
  if (one_signal && !hd_signal_valid(what)) return result(EINVAL);
  return hd_signal_suspend(true, one_signal ? hd.cur->signals.mask & ~hd_bit(what) : (uint32_t)what, pc);
}

HD_INTERPOSE(int, __sigpause, (int what, int one_signal), (what, one_signal)) { return suspend(what, one_signal, HD_RA); }
HD_EXPORT int __xpg_sigpause(int sig) { return hd_active() ? suspend(sig, true, HD_RA) : REAL(__sigpause)(sig, 1); }
HD_EXPORT int hd_bsd_sigpause(int bits) __asm__("sigpause"); // in the header that name means the one above
int hd_bsd_sigpause(int bits) { return hd_active() ? suspend(bits, false, HD_RA) : REAL(__sigpause)(bits, 0); }
