// clocks.c: clocks, sleeps and yields, in virtual time. When it passes is in virtual_time.c; a look at
// a clock takes a little of it, too.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <unistd.h>
#include <time.h>
#include "core/rt.h"
#include "sync/sync.h"

static const uint64_t REAL_START = 1750000000ull * 1000000000, MONO_START = 1000ull * 1000000000;

static uint64_t origin(int clock) {
  if (clock < 0) return 1000000; // a process's or thread's own
  switch (clock) {
  case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_TAI: case CLOCK_REALTIME_ALARM: return REAL_START;
  case CLOCK_PROCESS_CPUTIME_ID: case CLOCK_THREAD_CPUTIME_ID: return 1000000;
  default: return MONO_START;
  }
}

uint64_t hd_clock_origin(int clock) { return origin(clock); }

// The clocks there are. Those of processes and threads by number count as this process's.
static bool exists(clockid_t clock) {
  return (clock >= 0 && clock <= CLOCK_TAI && clock != 10 /* CLOCK_SGI_CYCLE */) || (clock < 0 && (clock & 7) != 3 && (clock & 3) != 3);
}

// A loop that does nothing but look at a clock waits for a time: like other loops that wait it
// yields from time to time, so that the others come to run, or time can pass.
static HD_COLD void long_look(struct hd_thread *t, uint64_t pc) {
  hd_forced_yield(t, pc);
  hd_waste(t, pc, 1, false);
  t->looks = HD_LOOKS - HD_LOOKS_AGAIN;
  t->looks_at = hd.points;
}

static uint64_t now(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (t->looks_at != hd.points) {
    t->looks_at = hd.points;
    t->looks = 0;
  }
  if (HD_UNLIKELY(++t->looks > HD_LOOKS)) long_look(t, pc);
  return hd.vtime += HD_CLOCK_NS;
}

bool hd_deadline(struct hd_deadline *d, int clock, const struct timespec *abs) {
  if (!abs || abs->tv_nsec < 0 || abs->tv_nsec >= 1000000000) return false;
  uint64_t at = abs->tv_sec < 0 ? 0 : (uint64_t)abs->tv_sec * 1000000000ull + (uint64_t)abs->tv_nsec;
  uint64_t from = origin(clock);
  d->vtime = at > from ? at - from : 0;
  return true;
}

void hd_timer(struct hd_thread *t, const struct hd_deadline *d) {
  t->timed = true;
  t->timed_out = false;
  t->deadline = d->vtime;
  if (d->vtime < hd.next_deadline) hd.next_deadline = d->vtime;
  hd_add(&hd.timers, t->index);
}

static void split(struct timespec *ts, uint64_t ns) {
  ts->tv_sec = (time_t)(ns / 1000000000);
  ts->tv_nsec = (long)(ns % 1000000000);
}

HD_EXPORT int clock_gettime(clockid_t clock, struct timespec *ts) {
  if (!hd_active()) return REAL(clock_gettime)(clock, ts);
  if (!exists(clock)) { errno = EINVAL; return -1; }
  hd_refresh(ts, sizeof *ts, HD_RA);
  split(ts, origin(clock) + now(HD_RA));
  return 0;
}

HD_EXPORT int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
  if (!hd_active()) return REAL(gettimeofday)(tv, tz);
  hd_refresh(tv, sizeof *tv, HD_RA);
  uint64_t at = REAL_START + now(HD_RA);
  tv->tv_sec = (time_t)(at / 1000000000);
  tv->tv_usec = (suseconds_t)(at % 1000000000 / 1000);
  return 0;
}

HD_EXPORT time_t time(time_t *out) {
  if (!hd_active()) return REAL(time)(out);
  time_t t = (time_t)((REAL_START + now(HD_RA)) / 1000000000);
  if (out) *out = t;
  return t;
}

HD_EXPORT clock_t clock(void) {
  return hd_active() ? (clock_t)(now(HD_RA) / 1000) : REAL(clock)();
}

HD_EXPORT int timespec_get(struct timespec *ts, int base) {
  if (!hd_active()) return REAL(timespec_get)(ts, base);
  if (base != TIME_UTC) return 0;
  split(ts, REAL_START + now(HD_RA));
  return base;
}

HD_EXPORT int timespec_getres(struct timespec *ts, int base) {
  if (base != TIME_UTC) return 0;
  if (ts) split(ts, 1);
  return base;
}

HD_EXPORT int clock_getres(clockid_t clock, struct timespec *ts) {
  if (!hd_active()) return REAL(clock_getres)(clock, ts);
  if (!exists(clock)) { errno = EINVAL; return -1; }
  bool coarse = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE;
  if (ts) {
    hd_refresh(ts, sizeof *ts, HD_RA);
    split(ts, coarse ? 4000000 : 1);
  }
  return 0;
}

HD_EXPORT int clock_getcpuclockid(pid_t pid, clockid_t *clock) {
  if (!hd_active()) return REAL(clock_getcpuclockid)(pid, clock);
  if (pid && pid != getpid()) return ESRCH;
  *clock = CLOCK_PROCESS_CPUTIME_ID;
  return 0;
}

// All time is spent computing, none of it in the kernel.
HD_EXPORT clock_t times(struct tms *t) {
  if (!hd_active()) return REAL(times)(t);
  uint64_t at = now(HD_RA);
  if (t) {
    hd_refresh(t, sizeof *t, HD_RA);
    *t = (struct tms){ .tms_utime = (clock_t)(at / 10000000) };
  }
  return (clock_t)((MONO_START + at) / 10000000);
}

HD_EXPORT int getrusage(int who, struct rusage *r) {
  if (!hd_active()) return REAL(getrusage)(who, r);
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD) { errno = EINVAL; return -1; }
  hd_refresh(r, sizeof *r, HD_RA);
  hd_fill(r, 0, sizeof *r);
  if (who == RUSAGE_CHILDREN) return 0;
  uint64_t at = now(HD_RA);
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
  hd_need(t, HD_TIMERS, 0); // those that expire before it fire before it ends
  hd_timer(t, &d);
  t->intr = HD_INTR_ALWAYS;
  hd_point_cancel(t);
  bool interrupted = t->interrupted;
  *left = interrupted && deadline > hd.vtime ? deadline - hd.vtime : 0;
  hd_commit(t, ns, interrupted ? EINTR : 0);
  if (HD_UNLIKELY(hd.npending)) hd_signals_arrive();
  hd_kernel_exit(pc);
  return !interrupted;
}

static uint64_t length(const struct timespec *ts) { return (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec; }
static bool sensible(const struct timespec *ts) { return ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000 && ts->tv_sec >= 0; }

int hd_sleep(const struct timespec *req, struct timespec *rem, uint64_t pc) {
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

HD_EXPORT int nanosleep(const struct timespec *req, struct timespec *rem) {
  if (!hd_active()) return REAL(nanosleep)(req, rem);
  int err = hd_sleep(req, rem, HD_RA);
  if (err) errno = err;
  return err ? -1 : 0;
}

HD_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *req, struct timespec *rem) {
  if (!hd_active()) return REAL(clock_nanosleep)(clock, flags, req, rem);
  if (!(flags & TIMER_ABSTIME)) return hd_sleep(req, rem, HD_RA);
  struct timespec until;
  hd_fetch(&until, req, sizeof until, HD_RA);
  struct hd_deadline d;
  uint64_t left;
  if (!sensible(&until) || !hd_deadline(&d, clock, &until)) return EINVAL;
  return sleep_until(d.vtime, d.vtime > hd.vtime ? d.vtime - hd.vtime : 0, true, HD_RA, &left) ? 0 : EINTR;
}

HD_EXPORT unsigned sleep(unsigned seconds) {
  if (!hd_active()) return REAL(sleep)(seconds);
  uint64_t left;
  sleep_until(hd.vtime + seconds * 1000000000ull, seconds * 1000000000ull, false, HD_RA, &left);
  return (unsigned)((left + 999999999) / 1000000000);
}

HD_EXPORT int usleep(__useconds_t us) {
  if (!hd_active()) return REAL(usleep)(us);
  uint64_t left;
  if (sleep_until(hd.vtime + us * 1000ull, us * 1000ull, false, HD_RA, &left)) return 0;
  errno = EINTR;
  return -1;
}

// A loop that does nothing but yield gets as far as one that reads the same value. Where
// accesses are not seen, it may have done anything in between.
void hd_yield(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  bool looked = t->quiet || t->pend.op != HD_OP_YIELD || t->pend.pc != pc;
  hd_op(HD_OP_YIELD, pc, 0);
  hd_commit(t, 0, 0);
  if (!hd_tells_nothing(t, pc, 0)) hd_progress(t);
  else if (hd_shm->instrumented == HD_INSTR_TSAN) hd_waste(t, pc, 1, looked);
  else t->stale++;
  hd_kernel_exit(pc);
}

static int yield(uint64_t pc) {
  if (!hd_active()) return REAL(sched_yield)();
  hd_yield(pc);
  return 0;
}
HD_EXPORT int sched_yield(void) { return yield(HD_RA); }
HD_EXPORT int pthread_yield(void) { return yield(HD_RA); }
