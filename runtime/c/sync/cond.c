// cond.c: condition variables, modelled whole: a wait releases the mutex and enqueues in
// one event, and takes the mutex again in another. Between them it is woken, by somebody or
// on its own: running out of time and waking up spuriously are events that need no mutex
// (core/detour.c). The object itself holds only its
// clock (glibc's bit) and whether it was destroyed; its waiters are in the threads.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "core/rt.h"
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

// A signal handler ran in the wait and did not come back to it, because the thread was
// cancelled there or ends: it has the mutex again, as if it had been cancelled in the wait.
static void unwound(struct waiting *w) {
  if (!w->active || !hd_active()) return;
  struct hd_thread *t = w->t;
  hd_pend(t, HD_OP_COND_WAKE, w->pc, w->cond);
  t->pend.aux = w->mutex;
  t->granted = true;
  hd_need(t, w->cond, w->mutex);
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
    hd_misuse(pc, (uint64_t)mutex, hd_without_held((uint64_t)mutex) ? "condition wait with a mutex whose lock was left out: the wait needs it" : "condition wait with a mutex that the thread does not hold");
  uint32_t count = hd_mutex_release_all((uint64_t)mutex);
  hd_commit(t, 0, 0);
  hd_update((uint64_t)mutex);

  hd_pend(t, HD_OP_COND_WAKE, pc, (uint64_t)c);
  t->pend.aux = (uint64_t)mutex;
  t->granted = false;
  t->arrival = ++hd.arrivals;
  hd_need(t, (uint64_t)c, (uint64_t)mutex);
  if (until) hd_timer(t, until);
  struct waiting w __attribute__((cleanup(unwound))) = { t, (uint64_t)c, (uint64_t)mutex, pc, count, true };
  // A thread that was woken has had its wake-up; then it must not be cancelled here.
  bool cancelled = hd_cancel_point(t) && !t->granted;
  w.active = false;
  hd_check_live(mutex, pc);
  int taken = hd_mutex_take((uint64_t)mutex, t, count);
  int r = cancelled ? ECANCELED : taken ? taken : t->granted ? 0 : ETIMEDOUT;
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

HD_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  return hd_active() ? wait(c, m, HD_RA, NULL) : REAL(pthread_cond_wait)(c, m);
}

HD_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *abs) {
  if (!hd_active()) return REAL(pthread_cond_timedwait)(c, m, abs);
  bool monotonic = usable(c, HD_RA)->wrefs & CLOCK_BIT;
  return hd_cond_timedwait(c, m, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, abs, HD_RA);
}

HD_EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *abs) {
  return hd_active() ? hd_cond_timedwait(c, m, clock, abs, HD_RA) : REAL(pthread_cond_clockwait)(c, m, clock, abs);
}

int hd_cond_signal(void *c, uint64_t pc) {
  usable(c, pc);
  if (hd_skip(pc)) return 0;
  struct hd_thread *t = hd_op(HD_OP_COND_SIGNAL, pc, (uint64_t)c);
  usable(c, pc);
  uint32_t i = hd_policy_waiter(HD_OP_COND_WAKE, (uint64_t)c, true);
  if (i != ~0u) {
    hd_grant(&hd_threads[i]);
    hd_progress(t);
  }
  hd_commit(t, i == ~0u ? 0 : hd_threads[i].number + 1, 0);
  hd_update((uint64_t)c);
  return 0;
}

HD_EXPORT int pthread_cond_signal(pthread_cond_t *c) {
  return hd_active() ? hd_cond_signal(c, HD_RA) : REAL(pthread_cond_signal)(c);
}

int hd_cond_broadcast(void *c, uint64_t pc) {
  usable(c, pc);
  if (hd_skip(pc)) return 0;
  struct hd_thread *t = hd_op(HD_OP_COND_BROADCAST, pc, (uint64_t)c);
  usable(c, pc);
  uint32_t n = 0;
  for (uint32_t i; (i = hd_policy_waiter(HD_OP_COND_WAKE, (uint64_t)c, false)) != ~0u; n++) hd_grant(&hd_threads[i]);
  if (n) hd_progress(t);
  hd_commit(t, n, 0);
  hd_update((uint64_t)c);
  return 0;
}

HD_EXPORT int pthread_cond_broadcast(pthread_cond_t *c) {
  return hd_active() ? hd_cond_broadcast(c, HD_RA) : REAL(pthread_cond_broadcast)(c);
}

int hd_cond_init(void *c, const void *attr, uint64_t pc) {
  hd_refresh(c, sizeof(pthread_cond_t), pc);
  struct hd_thread *t = hd_op(HD_OP_COND_INIT, pc, (uint64_t)c);
  int r = REAL(pthread_cond_init)(c, attr);
  hd_commit(t, 0, r);
  return r;
}

HD_EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
  return hd_active() ? hd_cond_init(c, a, HD_RA) : REAL(pthread_cond_init)(c, a);
}

int hd_cond_destroy(void *p, uint64_t pc) {
  struct cond *c = usable(p, pc);
  struct hd_thread *t = hd_op(HD_OP_COND_DESTROY, pc, (uint64_t)p);
  usable(c, pc);
  // POSIX allows it as soon as nobody is blocked: woken threads may still be on their way.
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (!u->ended && u->pend.op == HD_OP_COND_WAKE && u->needs == (uint64_t)c && !u->granted && !u->timed_out)
      hd_misuse(pc, (uint64_t)c, "destroy of a condition variable that a thread waits on");
  }
  hd_refresh(c, sizeof *c, pc);
  c->destroyed = DESTROYED;
  hd_commit(t, 0, 0);
  return 0;
}

HD_EXPORT int pthread_cond_destroy(pthread_cond_t *c) {
  return hd_active() ? hd_cond_destroy(c, HD_RA) : REAL(pthread_cond_destroy)(c);
}
