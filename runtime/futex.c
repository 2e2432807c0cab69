// futex.c: system calls made through libc's syscall(). libstdc++ waits with futexes there
// (futures, atomic wait, guards), so those are modelled; what would start another thread
// of control is refused; the rest goes to the kernel.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include "rt.h"
#include "sync.h"

static HD_PROGACCESS uint32_t word_at(uint32_t *p) { return *p; }

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
    t->granted = false;
    t->arrival = ++hd.arrivals;
    hd_need(t, (uint64_t)p, 0);
    t->intr = HD_INTR_RESTART;
    if (timeout) {
      struct hd_deadline d;
      if (cmd == FUTEX_WAIT_BITSET) hd_deadline(&d, op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, timeout);
      else d.vtime = hd.vtime + (uint64_t)timeout->tv_sec * 1000000000ull + (uint64_t)timeout->tv_nsec;
      hd_timer(t, &d);
    }
    hd_point(t);
    int err = t->granted ? 0 : t->interrupted ? EINTR : ETIMEDOUT;
    hd_commit(t, 0, err);
    if (err) { errno = err; return -1; }
    return 0;
  }
  case FUTEX_WAKE: case FUTEX_WAKE_BITSET: {
    hd_op(HD_OP_FUTEX_WAKE, pc, (uint64_t)p);
    uint32_t n = 0;
    for (uint32_t i; n < val && (i = hd_policy_waiter(HD_OP_FUTEX_WAKEUP, (uint64_t)p, n == 0)) != ~0u; n++) {
      hd_grant(&hd_threads[i]);
      if (n == 0) t->pend.aux = i + 1; // the choice a script can repeat
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

HD_EXPORT long syscall(long n, ...) {
  va_list ap;
  va_start(ap, n);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(ap, long);
  va_end(ap);
  if (hd_active()) switch (n) {
    case SYS_futex: return futex((uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const void *)a[3], (uint32_t)a[5], HD_RA);
    case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork: hd_unsupported("a process or thread started by a raw system call");
    case SYS_exit: case SYS_exit_group: hd_unsupported("exit by a raw system call");
    case SYS_execve: case SYS_execveat: hd_unsupported("execve by a raw system call");
    case SYS_rt_sigaction: case SYS_rt_sigprocmask: case SYS_arch_prctl: hd_unsupported("a raw system call that changes signals or the thread pointer");
    case SYS_gettid: return (long)hd.cur->index + HD_TID_BASE;
    case SYS_tgkill: return tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]);
    case SYS_tkill: return tgkill(hd_pid(), (pid_t)a[0], (int)a[1]);
    case SYS_rt_sigsuspend: case SYS_rt_sigtimedwait: case SYS_rt_sigqueueinfo: case SYS_rt_tgsigqueueinfo: case SYS_sigaltstack:
    case SYS_pause: case SYS_kill: case SYS_alarm: case SYS_setitimer: case SYS_timer_create: case SYS_timer_settime: case SYS_signalfd4:
      hd_unsupported("a raw system call for signals or timers");
    }
  long r = hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (r < 0 && r > -4096) { errno = (int)-r; return -1; }
  return r;
}
