// timers.c: alarm, interval timers and POSIX timers, all in virtual time. A timer is an
// actor of its own: it has a thread's index and events, so its expiry is a scheduling decision like
// any other, but no stack and no code. It fires when virtual time has passed it, or earlier where
// the plan allows early time-outs. Processor time is virtual time, too.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "core/interrupts.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/policy.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/threads.h"
#include "core/virtual_time.h"
#include "signals/signals.h"
#include "threads/threads.h"
#include "time/time.h"

enum { MAX_TIMERS = 64, INTERVAL_TIMERS = 3, SECOND = 1000000000, NOBODY = HD_PROCESS - 1, CHILD_TAKES = 1000000 /* ns that pass until a child's end may show */ };

struct hd_timer {
  bool used;
  uint32_t thread;
  int clock, notify, sig;
  union sigval value;
  void *fn;               // SIGEV_THREAD
  uint32_t target;        // slot of a thread, HD_PROCESS or NOBODY
  uint64_t interval, set_at;
  int child;              // it is a child process of that number
  bool (*over)(int child, bool patient, struct hd_signal *s);
  uint32_t missed, overrun; // expiries since the last signal was sent; of the last one taken
};
static struct hd_timer timers[MAX_TIMERS]; // the first three are ITIMER_REAL, _VIRTUAL, _PROF

static void begin(void) {
  if (hd.ntimers) hd_fill(timers, 0, sizeof timers);
  hd.ntimers = 0;
}

static void thread_gone(struct hd_thread *t) {
  if (!hd.ntimers) return;
  for (uint32_t i = 0; i < MAX_TIMERS; i++)
    if (timers[i].used && timers[i].target == t->index) timers[i].target = NOBODY;
}

static struct hd_thread *thread_of(const struct hd_timer *tm) { return &hd_threads[tm->thread]; }

// It cannot fire until hd_timer.
static void stop(struct hd_thread *u, const struct hd_timer *tm) {
  hd_unblock(u);
  hd_del(&hd.enabled, u->index);
  hd_pend(u, tm->notify == SIGEV_THREAD ? HD_OP_THREAD_CREATE : HD_OP_TIMER_EXPIRE, tm->set_at, 0);
  hd_block_on(u, (uint64_t)u, 0);
}

static void fire(struct hd_thread *u);
static void taken(struct hd_timer *tm, siginfo_t *info);

static void make(struct hd_timer *tm, uint64_t pc) {
  struct hd_thread *t = hd_op(HD_OP_THREAD_CREATE, pc, 0);
  struct hd_thread *u = hd_thread_new(t, false);
  u->fs = 0;
  u->timer = tm;
  u->fires = fire;
  hd.nlive--; // it keeps no process alive
  hd.ntimers++;
  tm->used = true;
  tm->thread = u->index;
  tm->set_at = pc;
  hd_commit(t, u->number, 0);
  hd_pend(u, HD_OP_THREAD_START, pc, 0);
  hd_note(u, HD_OP_THREAD_START, 0, 0, 0);
  stop(u, tm);
}

static uint64_t left(const struct hd_timer *tm) {
  const struct hd_thread *u = thread_of(tm);
  if (!tm->used || !u->wait.timed) return 0;
  return u->wait.deadline > hd.vtime ? u->wait.deadline - hd.vtime : 1; // 0 would mean that it is not set
}

static void arm(struct hd_timer *tm, uint64_t ns, uint64_t interval, uint64_t pc) {
  struct hd_thread *t = hd_op(HD_OP_TIMER_SET, pc, 0), *u = thread_of(tm);
  t->pend.aux = u->number + 1;
  if (!tm->used) { // another thread has deleted it
    hd_commit(t, 0, EINVAL);
    return;
  }
  tm->interval = interval;
  tm->missed = 0;
  tm->set_at = pc;
  stop(u, tm);
  if (ns) {
    struct hd_deadline d = { hd.vtime + ns };
    hd_timer(u, &d);
  }
  hd_update(HD_TIMERS);
  hd_progress(t);
  hd_commit(t, ns, 0);
}

// When the end of a child that is running now may show. Children that run at the same time end at
// the same times, in no order.
static uint64_t child_shows(void) { return (hd.vtime / CHILD_TAKES + 2) * CHILD_TAKES; }

// No thread is enabled until then, now or after time has passed.
static bool nobody_else(const struct hd_thread *u) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    if ((hd.enabled.w[w] | hd.timers.w[w]) & ~(w == u->index / 64 ? 1ull << u->index % 64 : 0)) return false;
  return true;
}

static void fire(struct hd_thread *u) {
  struct hd_timer *tm = u->timer;
  uint64_t deadline = u->wait.deadline;
  hd_time_jump(deadline);
  bool again = hd_signal_pending_of(tm);
  hd_progress(u);
  struct hd_thread *new = NULL;
  struct hd_signal s = { .sig = tm->sig, .target = tm->target, .sender = u->number + 1, .value = tm->value, .timer = tm, .taken = taken };
  s.code = tm - timers < INTERVAL_TIMERS ? SI_KERNEL : SI_TIMER;
  if (tm->child) {
    bool over = tm->over(tm->child, nobody_else(u), &s);
    hd_commit(u, over ? (uint64_t)tm->sig : 0, 0);
    if (over) {
      hd_timer_forget(tm);
      hd_signal_generate(&s, tm->set_at);
      return;
    }
    stop(u, tm); // other threads may run, and time may pass
    struct hd_deadline d = { child_shows() };
    hd_timer(u, &d);
    hd_update(HD_TIMERS);
    hd_policy_arrive(u);
    return;
  }
  if (tm->notify == SIGEV_THREAD) {
    new = hd_spawn(u, (void *(*)(void *))tm->fn, tm->value.sival_ptr, true);
    new->signals.mask = 0; // as in glibc
    u->pend.obj = new->fs;
    hd_commit(u, new->number, 0);
  } else {
    bool one = tm->target < HD_MAX_THREADS, none = tm->notify == SIGEV_NONE || tm->target == NOBODY;
    u->pend.aux = one ? hd_threads[tm->target].number + 1 : 0;
    hd_commit(u, none ? 0 : (uint64_t)tm->sig, 0);
  }
  stop(u, tm);
  if (tm->interval) {
    struct hd_deadline d = { deadline + tm->interval };
    if (d.vtime <= hd.vtime) {
      uint64_t n = (hd.vtime - d.vtime) / tm->interval + 1;
      tm->missed += (uint32_t)n;
      d.vtime += n * tm->interval;
    }
    hd_timer(u, &d);
  }
  hd_update(HD_TIMERS);
  hd_policy_arrive(u);
  if (new) hd_policy_arrive(new);
  if (tm->notify == SIGEV_THREAD || tm->notify == SIGEV_NONE || tm->target == NOBODY) return;
  if (again) { tm->missed++; return; }
  hd_signal_generate(&s, tm->set_at);
}

static void taken(struct hd_timer *tm, siginfo_t *info) {
  tm->overrun = tm->missed;
  tm->missed = 0;
  if (info->si_code != SI_TIMER) return;
  info->si_timerid = (int)(tm - timers);
  info->si_overrun = (int)tm->overrun;
  info->si_value = tm->value;
}

// ---- the ends of child processes
struct hd_timer *hd_timer_child(int child, bool (*over)(int child, bool patient, struct hd_signal *s), uint64_t pc) {
  struct hd_timer *tm = NULL;
  for (uint32_t i = INTERVAL_TIMERS; i < MAX_TIMERS && !tm; i++)
    if (!timers[i].used) tm = &timers[i];
  if (!tm) hd_unsupported("more than 61 timers and child processes at a time, while SIGCHLD is handled");
  hd_fill(tm, 0, sizeof *tm);
  tm->notify = SIGEV_SIGNAL;
  tm->sig = SIGCHLD;
  tm->target = HD_PROCESS;
  tm->child = child;
  tm->over = over;
  make(tm, pc);
  struct hd_deadline d = { child_shows() };
  stop(thread_of(tm), tm);
  hd_timer(thread_of(tm), &d);
  hd_update(HD_TIMERS);
  return tm;
}

void hd_timer_forget(struct hd_timer *tm) {
  stop(thread_of(tm), tm);
  tm->used = false;
  hd_update(HD_TIMERS);
  hd_slot_retire(thread_of(tm));
}

// ---- alarm and interval timers
static struct hd_timer *interval_timer(int which, uint64_t pc) {
  static const int signals[INTERVAL_TIMERS] = { SIGALRM, SIGVTALRM, SIGPROF };
  struct hd_timer *tm = &timers[which];
  if (!tm->used) {
    tm->notify = SIGEV_SIGNAL;
    tm->sig = signals[which];
    tm->target = HD_PROCESS;
    make(tm, pc);
  }
  return tm;
}

static uint64_t alarm_in(uint64_t ns, uint64_t interval, uint64_t pc) {
  struct hd_timer *tm = &timers[ITIMER_REAL];
  uint64_t before = left(tm);
  if (ns || tm->used) arm(interval_timer(ITIMER_REAL, pc), ns, interval, pc);
  return before;
}

HD_INTERPOSE(unsigned, alarm, (unsigned seconds), (seconds)) {
  return (unsigned)((alarm_in(seconds * (uint64_t)SECOND, 0, HD_RA) + SECOND - 1) / SECOND);
}

HD_INTERPOSE(useconds_t, ualarm, (useconds_t us, useconds_t interval), (us, interval)) {
  return (useconds_t)((alarm_in(us * 1000ull, interval * 1000ull, HD_RA) + 999) / 1000);
}

static bool good(const struct timeval *tv) { return tv->tv_sec >= 0 && tv->tv_usec >= 0 && tv->tv_usec < 1000000; }
static uint64_t of_timeval(const struct timeval *tv) { return (uint64_t)tv->tv_sec * SECOND + (uint64_t)tv->tv_usec * 1000; }
static struct timeval timeval(uint64_t ns) {
  uint64_t us = (ns + 999) / 1000;
  return (struct timeval){ (time_t)(us / 1000000), (suseconds_t)(us % 1000000) };
}

static void read_timer(const struct hd_timer *tm, struct itimerval *out, uint64_t pc) {
  hd_refresh(out, sizeof *out, pc);
  out->it_value = timeval(left(tm));
  out->it_interval = timeval(tm->interval);
}

HD_INTERPOSE(int, getitimer, (__itimer_which_t which, struct itimerval *now), (which, now)) {
  if ((unsigned)which >= INTERVAL_TIMERS) { errno = EINVAL; return -1; }
  read_timer(&timers[which], now, HD_RA);
  return 0;
}

HD_INTERPOSE(int, setitimer, (__itimer_which_t which, const struct itimerval *restrict new, struct itimerval *restrict old), (which, new, old)) {
  struct itimerval to;
  hd_fetch(&to, new, sizeof to, HD_RA);
  if ((unsigned)which >= INTERVAL_TIMERS || !good(&to.it_value) || !good(&to.it_interval)) { errno = EINVAL; return -1; }
  if (old) read_timer(&timers[which], old, HD_RA);
  uint64_t ns = of_timeval(&to.it_value);
  if (ns || timers[which].used) arm(interval_timer((int)which, HD_RA), ns, of_timeval(&to.it_interval), HD_RA);
  return 0;
}

void hd_timers_pass_on(void) {
  for (int i = 0; i < INTERVAL_TIMERS; i++) {
    struct itimerval v = { .it_value = timeval(left(&timers[i])), .it_interval = timeval(timers[i].interval) };
    if (left(&timers[i])) hd_sys(SYS_setitimer, i, &v, 0);
  }
}

// ---- POSIX timers
static struct hd_timer *timer_of(timer_t id) {
  uint64_t i = (uint64_t)id - 1;
  return i >= INTERVAL_TIMERS && i < MAX_TIMERS && timers[i].used ? &timers[i] : NULL;
}

static int result(int err) {
  if (err) errno = err;
  return err ? -1 : 0;
}

static int create(int clock, struct sigevent *event, timer_t *id, uint64_t pc) {
  struct hd_timer *tm = NULL;
  for (uint32_t i = INTERVAL_TIMERS; i < MAX_TIMERS && !tm; i++)
    if (!timers[i].used) tm = &timers[i];
  if (!tm) hd_unsupported("more than 61 POSIX timers at a time");
  struct sigevent e;
  if (event) {
    hd_fetch(&e, event, sizeof e, pc);
  } else {
    e.sigev_notify = SIGEV_SIGNAL;
    e.sigev_signo = SIGALRM;
    e.sigev_value.sival_ptr = (void *)(tm - timers + 1);
  }
  uint32_t target = HD_PROCESS;
  switch (e.sigev_notify) {
  case SIGEV_NONE: break;
  case SIGEV_THREAD: break;
  case SIGEV_THREAD_ID: {
    const struct hd_thread *to = hd_thread_numbered(e._sigev_un._tid == hd_pid() ? 0 : (uint32_t)(e._sigev_un._tid - HD_TID_BASE));
    if (!to || to->fires || to->ended) return EINVAL;
    target = to->index;
  }
    // fall through
  case SIGEV_SIGNAL:
    if (!hd_signal_valid(e.sigev_signo)) return EINVAL;
    break;
  default: return EINVAL;
  }
  if (clock < 0 || clock > CLOCK_TAI) return EINVAL;
  hd_refresh(id, sizeof *id, pc);
  hd_fill(tm, 0, sizeof *tm);
  tm->clock = clock;
  tm->notify = e.sigev_notify;
  tm->sig = e.sigev_signo;
  tm->value = e.sigev_value;
  tm->fn = (void *)e.sigev_notify_function;
  tm->target = target;
  make(tm, pc);
  *id = (timer_t)(tm - timers + 1);
  return 0;
}

HD_INTERPOSE(int, timer_create, (clockid_t clock, struct sigevent *restrict event, timer_t *restrict id), (clock, event, id)) {
  return result(create(clock, event, id, HD_RA));
}

static struct timespec timespec(uint64_t ns) { return (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) }; }
static bool sensible(const struct timespec *ts) { return ts->tv_sec >= 0 && ts->tv_nsec >= 0 && ts->tv_nsec < SECOND; }
static uint64_t of_timespec(const struct timespec *ts) { return (uint64_t)ts->tv_sec * SECOND + (uint64_t)ts->tv_nsec; }

static int gettime(timer_t id, struct itimerspec *now, uint64_t pc) {
  struct hd_timer *tm = timer_of(id);
  if (!tm) return EINVAL;
  hd_refresh(now, sizeof *now, pc);
  now->it_value = timespec(left(tm));
  now->it_interval = timespec(tm->interval);
  return 0;
}

HD_INTERPOSE(int, timer_gettime, (timer_t id, struct itimerspec *now), (id, now)) { return result(gettime(id, now, HD_RA)); }

HD_INTERPOSE(int, timer_settime, (timer_t id, int flags, const struct itimerspec *restrict new, struct itimerspec *restrict old), (id, flags, new, old)) {
  struct hd_timer *tm = timer_of(id);
  struct itimerspec to;
  hd_fetch(&to, new, sizeof to, HD_RA);
  if (!tm || !sensible(&to.it_value) || !sensible(&to.it_interval)) return result(EINVAL);
  if (old) gettime(id, old, HD_RA);
  uint64_t ns = of_timespec(&to.it_value);
  if (ns && flags & TIMER_ABSTIME) {
    struct hd_deadline d;
    hd_deadline(&d, tm->clock, &to.it_value);
    ns = d.vtime > hd.vtime ? d.vtime - hd.vtime : 1;
  }
  arm(tm, ns, of_timespec(&to.it_interval), HD_RA);
  return 0;
}

HD_INTERPOSE(int, timer_getoverrun, (timer_t id), (id)) {
  struct hd_timer *tm = timer_of(id);
  return tm ? (int)tm->overrun : result(EINVAL);
}

HD_INTERPOSE(int, timer_delete, (timer_t id), (id)) {
  struct hd_timer *tm = timer_of(id);
  if (!tm) return result(EINVAL);
  struct hd_thread *t = hd_op(HD_OP_TIMER_DELETE, HD_RA, 0), *u = thread_of(tm);
  t->pend.aux = u->number + 1;
  if (!tm->used) { // another thread was faster
    hd_commit(t, 0, EINVAL);
    return result(EINVAL);
  }
  stop(u, tm);
  tm->used = false;
  hd_update(HD_TIMERS);
  hd_progress(t);
  hd_commit(t, 0, 0);
  hd_slot_retire(u);
  return 0;
}

// ---- for the scheduler
static bool expired(const struct hd_thread *u) { return u->wait.timed_out; }

static const struct hd_operation operations[] = {
  { .op = HD_OP_TIMER_EXPIRE, .enabled = expired },
  { .op = HD_OP_THREAD_CREATE, .enabled = expired }, // a timer that starts a thread
};

const struct hd_registration hd_timers = { HD_OPERATIONS(operations), .begin = begin, .thread_gone = thread_gone };
