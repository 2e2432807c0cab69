// cond.c: condition variables, modelled whole: a wait releases the mutex and enqueues in
// one event, and reacquires the mutex in another. In between it is signalled, times out or
// wakes spuriously; the last two are events that need no mutex (core/detour.c). The object holds
// only its clock (glibc's bit) and whether it was destroyed; the threads record what they wait on.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "core/cancellation.h"
#include "core/libc.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/policy.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/virtual_time.h"
#include "memory/access.h"
#include "sync/sync.h"

enum { DESTROYED = 0x44454144, CLOCK_BIT = 2 };
struct cond { uint32_t pad[9]; uint32_t wrefs; uint32_t signals0, destroyed; };

static HD_PROGACCESS uint32_t mark_of(volatile struct cond *c) {
  (void)c->wrefs;
  return c->destroyed;
}

static struct cond *usable(void *p, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_check_live(p, pc);
  if (mark_of(p) == DESTROYED) hd_misuse(pc, (uint64_t)p, "use of a destroyed condition variable");
  return p;
}

struct waiting { struct hd_thread *t; uint64_t cond, mutex, pc; uint32_t count; bool active; };

// A signal handler that ran during the wait did not return to it, because the thread was
// cancelled there or is ending: the thread reacquires the mutex, as if cancelled in the wait.
static void unwound(struct waiting *w) {
  if (!w->active || !hd_active()) return;
  struct hd_thread *t = w->t;
  hd_pend(t, HD_OP_COND_WAKE, w->pc, w->cond);
  t->pend.aux = w->mutex;
  t->wait.woken = true;
  hd_block_on(t, w->cond, w->mutex);
  hd_point(t);
  hd_check_live((void *)w->mutex, w->pc);
  hd_mutex_take(w->mutex, t, w->count);
  hd_commit(t, 0, ECANCELED);
  hd_update(w->mutex);
}

static int wait(void *p, void *mutex, uint64_t pc, const struct hd_deadline *until) {
  struct cond *c = usable(p, pc);
  struct hd_thread *t = hd.cur;
  hd_check_live(mutex, pc);
  hd_refresh(mutex, sizeof(pthread_mutex_t), pc);
  hd_pend(t, HD_OP_COND_WAIT, pc, (uint64_t)c);
  t->pend.aux = (uint64_t)mutex;
  hd_point(t);
  usable(c, pc);
  hd_check_live(mutex, pc);
  if (!hd_mutex_held((uint64_t)mutex, t))
    hd_misuse(pc, (uint64_t)mutex, hd_omit_held((uint64_t)mutex) ? "condition wait with a mutex whose lock was omitted: the wait needs it" : "condition wait with a mutex that the thread does not hold");
  uint32_t count = hd_mutex_release_all((uint64_t)mutex);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)mutex);

  hd_pend(t, HD_OP_COND_WAKE, pc, (uint64_t)c);
  t->pend.aux = (uint64_t)mutex;
  t->wait.woken = false;
  t->wait.arrival = ++hd.arrivals;
  hd_block_on(t, (uint64_t)c, (uint64_t)mutex);
  if (until) hd_timer(t, until);
  struct waiting w __attribute__((cleanup(unwound))) = { t, (uint64_t)c, (uint64_t)mutex, pc, count, true };
  // A woken thread has consumed its wake-up and must not be cancelled here.
  bool cancelled = hd_cancel_point(t) && !t->wait.woken;
  w.active = false;
  hd_check_live(mutex, pc);
  int taken = hd_mutex_take((uint64_t)mutex, t, count);
  int r = cancelled ? ECANCELED : taken ? taken : t->wait.woken ? 0 : ETIMEDOUT;
  hd_commit(t, 0, r);
  hd_update((uint64_t)mutex);
  if (cancelled) hd_cancel_act(t);
  return r;
}

int hd_cond_wait(void *c, void *m, uint64_t pc) { return wait(c, m, pc, NULL); }

int hd_cond_timedwait(void *c, void *m, int clock, const struct timespec *abs, uint64_t pc) {
  struct hd_deadline d;
  if (!hd_wait_clock(clock) || !hd_deadline(&d, clock, abs)) return EINVAL;
  return wait(c, m, pc, &d);
}

HD_INTERPOSE(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m)) { return wait(c, m, HD_RA, NULL); }

HD_INTERPOSE(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *abs), (c, m, abs)) {
  bool monotonic = usable(c, HD_RA)->wrefs & CLOCK_BIT;
  return hd_cond_timedwait(c, m, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, abs, HD_RA);
}

HD_INTERPOSE(int, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *abs), (c, m, clock, abs)) {
  return hd_cond_timedwait(c, m, clock, abs, HD_RA);
}

int hd_cond_signal(void *c, uint64_t pc) {
  usable(c, pc);
  if (hd_omits(pc)) return 0;
  struct hd_thread *t = hd_op(HD_OP_COND_SIGNAL, pc, (uint64_t)c);
  usable(c, pc);
  uint32_t i = hd_policy_waiter(HD_OP_COND_WAKE, (uint64_t)c, true);
  if (i != ~0u) {
    hd_wake(&hd_threads[i]);
    hd_progress(t);
  }
  hd_commit(t, i == ~0u ? 0 : hd_threads[i].number + 1, 0);
  hd_update((uint64_t)c);
  return 0;
}

HD_INTERPOSE(int, pthread_cond_signal, (pthread_cond_t *c), (c)) { return hd_cond_signal(c, HD_RA); }

int hd_cond_broadcast(void *c, uint64_t pc) {
  usable(c, pc);
  if (hd_omits(pc)) return 0;
  struct hd_thread *t = hd_op(HD_OP_COND_BROADCAST, pc, (uint64_t)c);
  usable(c, pc);
  uint32_t n = 0;
  for (uint32_t i; (i = hd_policy_waiter(HD_OP_COND_WAKE, (uint64_t)c, false)) != ~0u; n++) hd_wake(&hd_threads[i]);
  if (n) hd_progress(t);
  hd_commit(t, n, 0);
  hd_update((uint64_t)c);
  return 0;
}

HD_INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t *c), (c)) { return hd_cond_broadcast(c, HD_RA); }

int hd_cond_init(void *c, const void *attr, uint64_t pc) {
  hd_refresh(c, sizeof(pthread_cond_t), pc);
  if (hd_access_exempts(pc)) return REAL(pthread_cond_init)(c, attr); // others may spin until it is done
  struct hd_thread *t = hd_op(HD_OP_COND_INIT, pc, (uint64_t)c);
  int r = REAL(pthread_cond_init)(c, attr);
  hd_commit(t, 0, r);
  return r;
}

HD_INTERPOSE(int, pthread_cond_init, (pthread_cond_t *c, const pthread_condattr_t *a), (c, a)) { return hd_cond_init(c, a, HD_RA); }

int hd_cond_destroy(void *p, uint64_t pc) {
  struct cond *c = usable(p, pc);
  struct hd_thread *t = hd_op(HD_OP_COND_DESTROY, pc, (uint64_t)p);
  usable(c, pc);
  // POSIX allows it once no thread is blocked; woken threads may not have returned yet.
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (!u->ended && u->pend.op == HD_OP_COND_WAKE && u->wait.on == (uint64_t)c && !u->wait.woken && !u->wait.timed_out)
      hd_misuse(pc, (uint64_t)c, "destroy of a condition variable that a thread waits on");
  }
  hd_refresh(c, sizeof *c, pc);
  c->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}

HD_INTERPOSE(int, pthread_cond_destroy, (pthread_cond_t *c), (c)) { return hd_cond_destroy(c, HD_RA); }

// ---- for the scheduler
//
// A wait ends by acquiring the mutex, whose memory may have been released, and so may the condition
// variable's once the thread was woken.
static bool wake_enabled(const struct hd_thread *u) {
  return (u->wait.woken || u->wait.timed_out || hd_cancel_due(u)) && (hd_freed(u->pend.aux) || hd_mutex_free(u->pend.aux));
}
static uint32_t holder(const struct hd_thread *u, uint64_t *object) {
  uint32_t owner = u->wait.woken || u->wait.timed_out ? hd_mutex_owner(u->pend.aux) : 0;
  if (owner) *object = u->pend.aux;
  return owner;
}

static const struct hd_operation operations[] = {
  { .op = HD_OP_COND_WAKE, .enabled = wake_enabled, .holder = holder, .timeout_event = true, .spurious = true },
};

const struct hd_registration hd_conds = { HD_OPERATIONS(operations) };
