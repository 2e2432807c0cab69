// futex.c: futexes. libstdc++ waits with them, by syscall() (futures, atomic wait, guards).
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include "core/outcome.h"
#include "core/policy.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"
#include "signals/signals.h"
#include "sync/sync.h"

static HD_PROGACCESS uint32_t word_at(volatile uint32_t *p) { return *p; }

static long futex(uint32_t *p, int op, uint32_t val, const struct timespec *timeout, uint32_t bits, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  int cmd = op & FUTEX_CMD_MASK;
  t->pend.pc = pc;
  (void)word_at(p);
  switch (cmd) {
  case FUTEX_WAIT: case FUTEX_WAIT_BITSET: {
    if (cmd == FUTEX_WAIT_BITSET && bits != FUTEX_BITSET_MATCH_ANY) hd_unsupported("futex wait with a bit set");
    hd_op(HD_OP_FUTEX_WAIT, pc, (uint64_t)p);
    uint32_t seen = word_at(p);
    if (seen != val) {
      hd_commit(t, seen, EAGAIN);
      errno = EAGAIN;
      return -1;
    }
    hd_commit(t, seen, 0);
    hd_pend(t, HD_OP_FUTEX_WAKEUP, pc, (uint64_t)p);
    t->wait.woken = false;
    t->wait.arrival = ++hd.arrivals;
    hd_block_on(t, (uint64_t)p, 0);
    t->wait.intr = HD_INTR_RESTART;
    if (timeout) {
      struct hd_deadline d;
      if (cmd == FUTEX_WAIT_BITSET) hd_deadline(&d, op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, timeout);
      else d.vtime = hd_after((uint64_t)timeout->tv_sec * 1000000000ull + (uint64_t)timeout->tv_nsec);
      hd_timer(t, &d);
    }
    hd_point(t);
    int err = t->wait.woken ? 0 : t->wait.interrupted ? EINTR : ETIMEDOUT;
    hd_commit(t, 0, err);
    if (err == ETIMEDOUT) hd_timed_out(t, pc);
    if (err) { errno = err; return -1; }
    return 0;
  }
  case FUTEX_WAKE: case FUTEX_WAKE_BITSET: {
    hd_op(HD_OP_FUTEX_WAKE, pc, (uint64_t)p);
    uint32_t n = 0;
    for (uint32_t i; n < val && (i = hd_policy_waiter(HD_OP_FUTEX_WAKEUP, (uint64_t)p, n == 0)) != ~0u; n++) {
      hd_wake(&hd_threads[i]);
      if (n == 0) t->pend.aux = hd_threads[i].number + 1; // lets a script wake the same thread
    }
    if (n) hd_progress(t);
    hd_commit(t, n, 0);
    hd_update((uint64_t)p);
    return n;
  }
  }
  hd_unsupported("a futex operation other than wait and wake");
  return -1;
}

long hd_futex(uint32_t *p, int op, uint32_t val, const struct timespec *timeout, uint32_t bits, uint64_t pc) {
  long r = futex(p, op, val, timeout, bits, pc);
  hd_kernel_exit(pc);
  return r;
}

// ---- for the scheduler
static bool wakeup_enabled(const struct hd_thread *u) { return u->wait.woken || u->wait.timed_out; }

static const struct hd_operation operations[] = { { .op = HD_OP_FUTEX_WAKEUP, .enabled = wakeup_enabled, .spurious = true } };

const struct hd_registration hd_futexes = { HD_OPERATIONS(operations) };
