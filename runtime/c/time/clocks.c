// clocks.c: clocks, sleeps and yields, in virtual time. virtual_time.c decides when it passes;
// reading a clock takes a little of it, too.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <unistd.h>
#include <time.h>
#include "core/cancellation.h"
#include "core/injection.h"
#include "core/interrupts.h"
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/private_state.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"
#include "memory/access.h"
#include "memory/shared_state.h"
#include "signals/signals.h"
#include "threads/threads.h"
#include "time/time.h"

// The supported clocks. Clocks of numbered processes and threads count as this process's.
static bool exists(clockid_t clock) {
  return (clock >= 0 && clock <= CLOCK_TAI && clock != 10 /* CLOCK_SGI_CYCLE */) || (clock < 0 && (clock & 7) != 3 && (clock & 3) != 3);
}

// A loop that does nothing but read a clock waits for a time: like other waiting loops it yields
// after a number of reads, so that other threads run or time passes.
static HD_COLD void long_look(struct hd_thread *t, uint64_t pc) {
  hd_forced_yield(t, pc, 0);
  hd_waste(t, pc, 1, false);
  t->clock.looks = HD_LOOKS - HD_LOOKS_AGAIN;
  t->clock.looks_at = hd.points;
}

// Returns what a clock of that origin shows, in units of so many ns.
static uint64_t now(uint64_t origin, uint64_t unit, uint64_t pc) {
  if (HD_UNLIKELY(!hd_active())) return (origin + (hd_vtime_at_main += HD_CLOCK_NS)) / unit;
  hd_unordered(HD_SHARED_CLOCK); // how much time has passed depends on what other threads have done
  struct hd_thread *t = hd.cur;
  if (t->clock.looks_at != hd.points) {
    t->clock.looks_at = hd.points;
    t->clock.looks = 0;
  }
  if (HD_UNLIKELY(++t->clock.looks > HD_LOOKS)) long_look(t, pc);
  uint64_t shown = (origin + (hd.vtime += HD_CLOCK_NS)) / unit;
  hd_private_reading(shown * unit, origin);
  return shown;
}

// The call is about to store its result, and calls hd_inject_called then: an access of the caller's. Before main, accesses are not recorded.
static inline void stores(const void *p, uint64_t n, uint64_t pc) {
  hd_inject_call();
  if (hd_active()) hd_access_range(p, n, true, pc);
}

static void split(struct timespec *ts, uint64_t ns) {
  ts->tv_sec = (time_t)(ns / 1000000000);
  ts->tv_nsec = (long)(ns % 1000000000);
}

HD_INTERPOSE_MODELLED(int, clock_gettime, (clockid_t clock, struct timespec *ts), (clock, ts)) {
  if (!exists(clock)) { errno = EINVAL; return -1; }
  hd_refresh(ts, sizeof *ts, HD_RA);
  stores(ts, sizeof *ts, HD_RA);
  bool processor = clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  split(ts, now(hd_clock_origin(clock) - (processor ? hd.idled : 0), 1, HD_RA));
  hd_inject_called();
  return 0;
}

HD_INTERPOSE_MODELLED(int, gettimeofday, (struct timeval *restrict tv, void *restrict tz), (tv, tz)) {
  hd_refresh(tv, sizeof *tv, HD_RA);
  stores(tv, sizeof *tv, HD_RA);
  uint64_t at = now(hd_clock_origin(CLOCK_REALTIME), 1000, HD_RA);
  tv->tv_sec = (time_t)(at / 1000000);
  tv->tv_usec = (suseconds_t)(at % 1000000);
  hd_inject_called();
  return 0;
}

HD_INTERPOSE_MODELLED(time_t, time, (time_t *out), (out)) {
  if (out) stores(out, sizeof *out, HD_RA);
  time_t t = (time_t)now(hd_clock_origin(CLOCK_REALTIME), 1000000000, HD_RA);
  if (out) *out = t;
  hd_inject_called();
  return t;
}

HD_INTERPOSE_MODELLED(clock_t, clock, (void), ()) { return (clock_t)now(-hd.idled, 1000, HD_RA); }

HD_INTERPOSE_MODELLED(int, timespec_get, (struct timespec *ts, int base), (ts, base)) {
  if (base != TIME_UTC) return 0;
  stores(ts, sizeof *ts, HD_RA);
  split(ts, now(hd_clock_origin(CLOCK_REALTIME), 1, HD_RA));
  hd_inject_called();
  return base;
}

HD_EXPORT int timespec_getres(struct timespec *ts, int base) {
  if (base != TIME_UTC) return 0;
  if (ts) split(ts, 1);
  return base;
}

HD_INTERPOSE_MODELLED(int, clock_getres, (clockid_t clock, struct timespec *ts), (clock, ts)) {
  if (!exists(clock)) { errno = EINVAL; return -1; }
  bool coarse = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE;
  if (ts) {
    hd_refresh(ts, sizeof *ts, HD_RA);
    split(ts, coarse ? 4000000 : 1);
  }
  return 0;
}

HD_INTERPOSE_MODELLED(int, clock_getcpuclockid, (pid_t pid, clockid_t *clock), ((pid_t)hd_identity_kernels(pid), clock)) {
  struct hd_named n;
  if (hd_active() && !hd_named(pid, "clock_getcpuclockid", HD_RA, &n)) return ESRCH;
  if (hd_active() && !n.thread) hd_unsupported("clock_getcpuclockid of a child process");
  if (hd_active() && pid && n.thread->number != 0) return ESRCH; // the identifier of a thread, not of a process
  *clock = CLOCK_PROCESS_CPUTIME_ID;
  return 0;
}

// All time in which a thread could run is spent computing, none of it in the kernel.
HD_INTERPOSE_MODELLED(clock_t, times, (struct tms *t), (t)) {
  uint64_t worked = now(-hd.idled, 1, HD_RA);
  if (t) {
    hd_refresh(t, sizeof *t, HD_RA);
    *t = (struct tms){ .tms_utime = (clock_t)(worked / 10000000) };
  }
  return (clock_t)((hd_clock_origin(CLOCK_MONOTONIC) + hd.idled + worked) / 10000000);
}

HD_INTERPOSE_MODELLED(int, getrusage, (int who, struct rusage *r), (who, r)) {
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD) { errno = EINVAL; return -1; }
  hd_refresh(r, sizeof *r, HD_RA);
  hd_fill(r, 0, sizeof *r);
  if (who == RUSAGE_CHILDREN) return 0;
  uint64_t at = now(-hd.idled, 1, HD_RA);
  r->ru_utime.tv_sec = (time_t)(at / 1000000000);
  r->ru_utime.tv_usec = (suseconds_t)(at % 1000000000 / 1000);
  r->ru_maxrss = 16 << 10;
  return 0;
}

// False: a signal handler interrupted it, with *left ns still to sleep.
static bool sleep_until(uint64_t deadline, uint64_t ns, bool absolute, uint64_t pc, uint64_t *left) {
  struct hd_thread *t = hd.cur;
  struct hd_deadline d = { absolute && !ns ? deadline : hd_nap_end(t, pc, deadline) };
  hd_pend(t, HD_OP_SLEEP, pc, 0);
  hd_block_on(t, HD_TIMERS, 0); // earlier timers fire before the sleep ends
  hd_timer(t, &d);
  t->wait.intr = HD_INTR_ALWAYS;
  hd_point_cancel(t);
  bool interrupted = t->wait.interrupted;
  *left = interrupted && deadline > hd.vtime ? deadline - hd.vtime : 0;
  hd_commit(t, ns, interrupted ? EINTR : 0);
  if (HD_UNLIKELY(hd.npending)) hd_signals_arrive();
  hd_kernel_exit(pc);
  return !interrupted;
}

static uint64_t length(const struct timespec *ts) { return (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec; }
static bool sensible(const struct timespec *ts) { return ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000 && ts->tv_sec >= 0; }

// On the side stack: its frame has the time, which is another in each turn of a loop (core/private_state.h).
HD_ON_SIDE_STACK(int, hd_sleep, (const struct timespec *req, struct timespec *rem, uint64_t pc)) {
  struct timespec for_;
  hd_fetch(&for_, req, sizeof for_, pc);
  if (!sensible(&for_)) return EINVAL;
  uint64_t ns = length(&for_), left;
  if (sleep_until(hd.vtime + ns, ns, false, pc, &left)) return 0;
  if (rem) {
    hd_refresh(rem, sizeof *rem, pc);
    split(rem, left);
  }
  return EINTR;
}

HD_INTERPOSE(int, nanosleep, (const struct timespec *req, struct timespec *rem), (req, rem)) {
  int err = hd_sleep(req, rem, HD_RA);
  if (err) errno = err;
  return err ? -1 : 0;
}

HD_INTERPOSE(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *req, struct timespec *rem), (clock, flags, req, rem)) {
  if (!(flags & TIMER_ABSTIME)) return hd_sleep(req, rem, HD_RA);
  struct timespec until;
  hd_fetch(&until, req, sizeof until, HD_RA);
  struct hd_deadline d;
  uint64_t left;
  if (!sensible(&until) || !hd_deadline(&d, clock, &until)) return EINVAL;
  return sleep_until(d.vtime, d.vtime > hd.vtime ? d.vtime - hd.vtime : 0, true, HD_RA, &left) ? 0 : EINTR;
}

HD_ON_SIDE_STACK(bool, hd_sleep_for, (uint64_t ns, uint64_t pc, uint64_t *left)) { return sleep_until(hd.vtime + ns, ns, false, pc, left); }

HD_INTERPOSE(unsigned, sleep, (unsigned seconds), (seconds)) {
  uint64_t left;
  hd_sleep_for(seconds * 1000000000ull, HD_RA, &left);
  return (unsigned)((left + 999999999) / 1000000000);
}

HD_INTERPOSE(int, usleep, (__useconds_t us), (us)) {
  uint64_t left;
  if (hd_sleep_for(us * 1000ull, HD_RA, &left)) return 0;
  errno = EINTR;
  return -1;
}

// A loop that does nothing but yield makes as little progress as one that reads the same value.
// Where accesses are not recorded, it may have done anything in between.
void hd_yield(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  bool looked = hd_quiet_sum() || t->pend.op != HD_OP_YIELD || t->pend.pc != pc;
  hd_pend(t, HD_OP_YIELD, pc, 0);
  if (HD_UNLIKELY(t->library_pc || hd_access_exempts(pc))) t->pend.flags = HD_EV_LIBRARY;
  hd_point(t);
  hd_commit(t, 0, 0);
  if (!hd_tells_nothing(t, pc, 0)) hd_progress(t);
  else if (hd_shm->instrumented == HD_INSTR_TSAN) hd_waste(t, pc, 1, looked);
  else t->progress.stale++;
  hd_kernel_exit(pc);
}

static int yield(uint64_t pc) {
  if (!hd_active()) return REAL(sched_yield)();
  hd_yield(pc);
  return 0;
}
HD_EXPORT int sched_yield(void) { return yield(HD_RA); }
HD_EXPORT int pthread_yield(void) { return yield(HD_RA); }

// ---- for the scheduler
static bool sleep_over(const struct hd_thread *u) { return u->wait.timed_out && !hd_timer_before(u->wait.deadline); }

static const struct hd_operation operations[] = {
  { .op = HD_OP_SLEEP, .enabled = sleep_over },
  { .op = HD_OP_YIELD, .async_cancel = true },
};

const struct hd_registration hd_clocks = { HD_OPERATIONS(operations) };
